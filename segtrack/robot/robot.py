"""Vehicle in a running simulation: commands in, state out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from segtrack.description import VehicleDescription
from segtrack.description.frames import Frame, TrackOffsets
from segtrack.engine import ActuatorState, BeltContacts, BeltState, Bodies, FrameMotion, Pedals, VehicleModel
from segtrack.errors import InvalidValueError, UnknownNameError, finite, finite_vector
from segtrack.robot.flipper import Flipper
from segtrack.robot.joint import Joint, NamedJoints
from segtrack.robot.state import RobotState, attitude_of
from segtrack.robot.track import Track, angle_of, check_pedals, check_pose
from segtrack.terrain import Terrain

Model = TypeVar("Model", bound=VehicleModel, covariant=True)


class Robot(Generic[Model]):
    """A vehicle that has been added to a simulation.

    Attributes:
        model: The vehicle in its engine.
        track_model: Name of its track model.
        tracks: Its tracks by full name.
        flippers: Its flippers by name.
        joints: Joints of its body's URDF that move, by name.
    """

    def __init__(self, model: Model, track_model: str) -> None:
        """Take an engine's vehicle; users call `World.add_vehicle` or `attach`."""
        self.model, self.track_model = model, track_model
        self.tracks = {track.mounted.name: Track(track) for track in model.tracks}
        self.flippers = {flipper.name: Flipper(flipper) for flipper in model.flippers}
        joints = {joint.design.name: Joint(joint) for joint in model.joints}
        self.joints = NamedJoints(self.name, joints)
        self._belts = [(t.model, t.side, t.spec.drive.top_speed) for t in self.tracks.values()]

    @property
    def description(self) -> VehicleDescription:
        """Description that it was built from."""
        return self.model.description

    @property
    def name(self) -> str:
        """Name of the vehicle."""
        return self.description.name

    @property
    def mass(self) -> float:
        """Mass of all its bodies [kg]."""
        return self.model.mass

    @property
    def state(self) -> RobotState:
        """Pose and velocity of its body, now."""
        body = self.model.body_motion()
        x, y, z = body.position.tolist()
        vx, vy, vz = body.velocity.tolist()
        wx, wy, wz = body.angular_velocity.tolist()
        attitude = attitude_of(body.rotation)
        return RobotState((x, y, z), body.orientation, (vx, vy, vz), (wx, wy, wz), *attitude)

    @property
    def energy(self) -> float:
        """Work that all belt drives have done [J]."""
        return sum(state.energy for state in self.read_tracks().values())

    @property
    def body_id(self) -> int:
        """PyBullet's unique id of its own body.

        Raises:
            NotReadyError: Its engine is not PyBullet.
        """
        return self.model.pybullet_body[0]

    @property
    def links(self) -> dict[str, int]:
        """PyBullet's link index by link name; the root is -1.

        Raises:
            NotReadyError: Its engine is not PyBullet.
        """
        return self.model.pybullet_body[1]

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of its links: the body's, then the flippers."""
        return self.model.link_names

    def read_tracks(self) -> dict[str, BeltState]:
        """Return the state of every belt by the track's full name: one reading of all of them."""
        return {name: track.state for name, track in self.tracks.items()}

    def read_belt_contacts(self) -> list[BeltContacts]:
        """Read contacts of belts that PyBullet collides, as the latest step left them.

        Returns:
            Contacts of each part of a belt that touches something.

        Raises:
            NotReadyError: Its engine is not PyBullet.
            InvalidValueError: Something else than a track touches.
            DisconnectedError: The client is gone.
        """
        return self.model.read_belt_contacts()

    def body_motion(self) -> FrameMotion:
        """Return pose and velocity of the body frame."""
        return self.model.body_motion()

    def bodies(self) -> Bodies:
        """Return masses, positions and velocities of all its rigid bodies."""
        return self.model.bodies()

    def link_frame(self, name: str) -> Frame:
        """Return the frame of a link of the body's URDF in the world."""
        return self.model.link_frame(name)

    def link_poses(self) -> NDArray[np.float64]:
        """Return frames of `link_names` in the world: origin [m], quaternion (x, y, z, w), (n, 7)."""
        return self.model.link_poses()

    def update_terrain(self, terrains: Sequence[Terrain]) -> None:
        """Let belts that find their contacts themselves stand on other terrains; for somebody else's loop.

        Raises:
            NotReadyError: Its engine is not PyBullet.
        """
        self.model.update_terrain(terrains)

    def read_actuators(self) -> ActuatorState:
        """Return the state of all belts and flippers in one reading, in the order of the description."""
        return self.model.read_actuators()

    def set_belt_speed(self, left: float, right: float) -> None:
        """Command the belts of each side, flippers' included; a belt in the middle gets the mean [m/s].

        Faster commands than a drive's top speed are clipped to it.

        Raises:
            InvalidValueError: A command is not a finite number.
        """
        speeds = {
            "left": finite("left belt speed [m/s]", left),
            "right": finite("right belt speed [m/s]", right),
        }
        speeds["center"] = (speeds["left"] + speeds["right"]) / 2
        for belt, side, top_speed in self._belts:
            belt.set_speed(min(max(speeds[side], -top_speed), top_speed))

    def set_throttle(
        self, left: float, right: float, *, left_brake: float = 0.0, right_brake: float = 0.0
    ) -> None:
        """Let throttles and brakes of each side rule the belts, until speeds are commanded.

        A belt in the middle gets the means; see `Track.set_throttle`.

        Args:
            left: Throttle of the left side, in [-1, 1]; a negative one drives backwards.
            right: Throttle of the right side.
            left_brake: Brake of the left side, in [0, 1].
            right_brake: Brake of the right side.

        Raises:
            InvalidValueError: Not a finite number, or a negative brake.
        """
        pedals = {
            "left": check_pedals("the left side", left, left_brake),
            "right": check_pedals("the right side", right, right_brake),
        }
        pedals["center"] = Pedals(*((a + b) / 2 for a, b in zip(*pedals.values(), strict=True)))
        for belt, side, _ in self._belts:
            belt.set_pedals(pedals[side])

    def drive(self, linear: float, angular: float) -> None:
        """Command a twist, by belt speeds v - w y / e at a side's distance y to the left.

        e is the description's `steering_efficiency`. At 1 belts are taken never to slip sideways, and a
        vehicle turns too slowly. Measured for how the vehicle turns (track model, flippers, friction of
        the ground, lateral friction), the twist is met on flat ground; nothing is fed back. Where a belt
        is clipped to its drive's top speed, the twist is not met.

        Args:
            linear: Forward [m/s].
            angular: About the body's z axis, left positive [rad/s].

        Raises:
            InvalidValueError: A command is not a finite number.
        """
        linear, angular = finite("linear speed [m/s]", linear), finite("angular speed [rad/s]", angular)
        turning, vehicle = angular / self.description.steering_efficiency, self.description
        offsets = TrackOffsets(vehicle.side_offset("left") or 0.0, vehicle.side_offset("right") or 0.0)
        self.set_belt_speed(*offsets.belt_speeds(linear, turning))

    def set_flippers(self, **angles: float) -> None:
        """Move flippers to angles [rad], by name; tips raised positive, clipped to their limits.

        Raises:
            UnknownNameError: There is no such flipper.
            InvalidValueError: An angle is not a finite number.
        """
        chosen = [(self._flipper(name), angle_of(name, angle)) for name, angle in angles.items()]
        for flipper, angle in chosen:
            flipper.set_angle(angle)

    def set_flipper_speeds(self, **speeds: float) -> None:
        """Turn flippers at speeds [rad/s], by name; raising positive, clipped to their fastest.

        Raises:
            UnknownNameError: There is no such flipper.
            InvalidValueError: A speed is not a finite number.
        """
        chosen = []
        for name, speed in speeds.items():
            if name not in self.flippers:
                raise self._unknown_flipper(name)
            chosen.append((self.flippers[name].model, finite(f"speed of flipper {name} [rad/s]", speed)))
        for flipper, speed in chosen:
            top_speed = flipper.spec.max_speed
            flipper.set_speed(min(max(speed, -top_speed), top_speed))

    def apply_force(self, force: Sequence[float], point: Sequence[float] | None = None) -> None:
        """Apply a force to the body in each step from now on, until it is set again.

        Args:
            force: Force in the world (3,) [N]; zero ends it.
            point: Point of action, fixed in the world (3,) [m]; the body frame's present origin if not given.

        Raises:
            InvalidValueError: Not so many finite numbers.
        """
        pushed = finite_vector("force [N]", force, 3)
        at = self.body_motion().position.tolist() if point is None else point
        self.model.apply_force(pushed, finite_vector("point [m]", at, 3))

    def bounds(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Smallest and largest corner (3,) of the box around all its bodies, in the world [m]."""
        return self.model.bounds()

    def reset_base_pose(
        self, position: Sequence[float], orientation: Sequence[float] = (0.0, 0.0, 0.0, 1.0)
    ) -> None:
        """Set the body frame's pose in the world, at rest; joints stay as they are.

        Args:
            position: (3,) [m].
            orientation: Quaternion (x, y, z, w).

        Raises:
            InvalidValueError: Not so many finite numbers, or a quaternion of zeros.
        """
        self.model.place(*check_pose(position, orientation))

    def set_velocity(self, forward: float) -> None:
        """Let it move forward along its body's x axis [m/s], as if it had driven so for a while.

        Poses stay as they are; belts, wheels and shoes run so that nothing slips on flat ground, and flippers
        and other joints stand still. Its belts are commanded to keep the speed, within what drives reach.

        Raises:
            InvalidValueError: Not a finite number, or its body is fixed to the world.
        """
        speed = finite("forward velocity [m/s]", forward)
        if self.description.body.fixed:
            raise InvalidValueError(f"forward velocity of {self.name} [m/s]", "0, as it is fixed", forward)
        self.model.set_velocity(speed)
        self.set_belt_speed(speed, speed)

    def before_step(self) -> None:
        """Prepare for the next step of somebody else's loop; to be called exactly once before each.

        A second call before the same step would take belts through that step twice; see `segtrack.attach`.

        Raises:
            DivergedError: The robot is no longer finite, or absurdly fast.
            DisconnectedError: The client is gone.
            NotReadyError: The engine has no loop but its own.
        """
        self.model.before_step()

    def _flipper(self, name: str) -> Flipper:
        if name not in self.flippers:
            raise self._unknown_flipper(name)
        return self.flippers[name]

    def _unknown_flipper(self, name: str) -> UnknownNameError:
        return UnknownNameError(f"flipper of {self.name}", name, self.flippers)
