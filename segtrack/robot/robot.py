"""Vehicle in a running simulation: commands in, state out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from segtrack.description import Frame, SteeringByLoads, TrackOffsets, VehicleDescription
from segtrack.engine import ActuatorState, BeltContacts, BeltState, Bodies, FrameMotion, VehicleModel
from segtrack.errors import InvalidValueError, finite, finite_vector, known_name
from segtrack.robot.commands import CommandLimits, Commands
from segtrack.robot.flipper import Flipper
from segtrack.robot.joint import Joint
from segtrack.robot.parts import NamedParts
from segtrack.robot.state import RobotState, attitude_of
from segtrack.robot.track import Track, check_pose
from segtrack.terrain import Terrain, terrains_of

Model = TypeVar("Model", bound=VehicleModel, covariant=True)


@dataclass(frozen=True, eq=False)
class BeltSnapshot:
    """Belts, commands and work of a robot, which PyBullet's own saved state lacks; see `Robot.save`.

    Attributes:
        model: The vehicle in its engine.
        state: Its part of the state.
    """

    model: VehicleModel
    state: Any


class Robot(Generic[Model]):
    """A vehicle that has been added to a simulation.

    Attributes:
        model: The vehicle in its engine.
        track_model: Name of its track model.
    """

    __slots__ = (
        "_commands",
        "_flippers",
        "_joints",
        "_offsets",
        "_steering",
        "_tracks",
        "model",
        "track_model",
    )

    def __init__(self, model: Model, track_model: str) -> None:
        """Take an engine's vehicle; users call `World.add_vehicle` or `attach`."""
        self.model, self.track_model = model, track_model
        vehicle, designs = model.description, model.joint_designs
        own = self._commands = Commands(vehicle, designs, CommandLimits.of(vehicle, designs))
        mounted, named = enumerate(vehicle.mounted_tracks()), enumerate(vehicle.flippers.items())
        tracks = {track.name: Track(model, t, track, own) for t, track in mounted}
        flippers = {name: Flipper(model, j, name, spec, own) for j, (name, spec) in named}
        joints = {each.name: Joint(model, j, each, own) for j, each in enumerate(designs, len(flippers))}
        self._tracks = NamedParts(f"track of {self.name}", tracks)
        self._flippers = NamedParts(f"flipper of {self.name}", flippers)
        self._joints = NamedParts(f"moving joint of {self.name}", joints)
        self._steering = SteeringByLoads(vehicle)
        self._offsets = TrackOffsets(vehicle.side_offset("left") or 0.0, vehicle.side_offset("right") or 0.0)

    @property
    def tracks(self) -> NamedParts[Track]:
        """Its tracks by full name."""
        return self._tracks

    @property
    def flippers(self) -> NamedParts[Flipper]:
        """Its flippers by name."""
        return self._flippers

    @property
    def joints(self) -> NamedParts[Joint]:
        """Joints of its body's URDF that move, by name."""
        return self._joints

    @property
    def description(self) -> VehicleDescription:
        """Description that it was built from."""
        return self.model.description

    @property
    def name(self) -> str:
        """Name of the vehicle."""
        return self.description.name

    def set_belt_speed(self, left: float, right: float) -> None:
        """Command the belts of each side, flippers' included; a belt in the middle gets the mean [m/s].

        Faster commands than a drive's top speed are clipped to it.

        Raises:
            InvalidValueError: A command is not a finite number.
        """
        self.model.command_belts(slice(None), self._commands.belt_speeds(left, right))

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
        pedals = self._commands.pedals(left, right, left_brake, right_brake)
        self.model.command_pedals(slice(None), pedals)

    def drive(self, linear: float, angular: float) -> None:
        """Command a twist, by belt speeds v - w y / e at a side's distance y to the left.

        e is the steering efficiency at the present angles of the flippers, reckoned from loads and planar
        Coulomb friction, or the description's `steering_efficiency` if it gives one. With it the yaw rate
        is met on level ground; nothing is fed back. Where a belt is clipped to its drive's top speed, or
        something else than belts carries weight, the twist is not met.

        Args:
            linear: Forward [m/s].
            angular: About the body's z axis, left positive [rad/s].

        Raises:
            InvalidValueError: A command is not a finite number.
        """
        linear, turning = self._commands.twist(linear, angular)
        if turning:
            turning /= self._steering.efficiency({name: f.angle for name, f in self.flippers.items()})
        self.set_belt_speed(*self._offsets.belt_speeds(linear, turning))

    def set_flippers(self, **angles: float) -> None:
        """Move flippers to angles [rad], by name; tips raised positive, clipped to their limits.

        Raises:
            UnknownNameError: There is no such flipper.
            InvalidValueError: An angle is not a finite number.
        """
        for joint, value in self._commands.named("flipper", False, angles):
            self.model.command_joint(joint, False, float(value))

    def set_flipper_speeds(self, **speeds: float) -> None:
        """Turn flippers at speeds [rad/s], by name; raising positive, clipped to their fastest.

        Raises:
            UnknownNameError: There is no such flipper.
            InvalidValueError: A speed is not a finite number.
        """
        for joint, value in self._commands.named("flipper", True, speeds):
            self.model.command_joint(joint, True, float(value))

    def set_joints(self, **positions: float) -> None:
        """Let servos move joints of the body's URDF to positions [rad] or [m], by name.

        Positions are clipped to the joints' limits.

        Raises:
            UnknownNameError: There is no such joint.
            NotReadyError: It has no servo, or follows another joint.
            InvalidValueError: A position is not a finite number.
        """
        for joint, value in self._commands.named("moving joint", False, positions):
            self.model.command_joint(joint, False, float(value))

    def set_joint_speeds(self, **speeds: float) -> None:
        """Let servos move joints of the body's URDF at speeds [rad/s] or [m/s], by name.

        Raises:
            UnknownNameError: There is no such joint.
            NotReadyError: It has no servo, or follows another joint.
            InvalidValueError: A speed is not a finite number.
        """
        for joint, value in self._commands.named("moving joint", True, speeds):
            self.model.command_joint(joint, True, float(value))

    def apply_force(self, force: Sequence[float], point: Sequence[float] | None = None) -> None:
        """Apply a force to the body in each step from now on, until it is set again.

        Args:
            force: Force in the world (3,) [N]; zero ends it.
            point: Point of action, fixed in the world (3,) [m]; the body frame's present origin if not given.

        Raises:
            InvalidValueError: Not so many finite numbers.
        """
        pushed = finite_vector("force [N]", force, 3)
        at = self.model.body_motion().position.tolist() if point is None else point
        self.model.apply_force(pushed, finite_vector("point [m]", at, 3))

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
    def links(self) -> NamedParts[int]:
        """PyBullet's link index by link name; the root is -1.

        Raises:
            NotReadyError: Its engine is not PyBullet.
        """
        return NamedParts(f"link of {self.name}", self.model.pybullet_body[1])

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
        """Return the frame of one of `link_names` in the world.

        Raises:
            UnknownNameError: There is no such link.
        """
        return self.model.link_frame(known_name(f"link of {self.name}", name, self.link_names))

    def link_poses(self) -> NDArray[np.float64]:
        """Return frames of `link_names` in the world: origin [m], quaternion (x, y, z, w), (n, 7)."""
        return self.model.link_poses()

    def update_terrain(self, terrains: Terrain | Sequence[Terrain]) -> None:
        """Let belts that find their contacts themselves stand on other terrains; for somebody else's loop.

        Raises:
            InvalidValueError: Not terrains.
            NotReadyError: A world or the native engine has its terrain.
        """
        self.model.update_terrain(terrains_of(terrains))

    def read_actuators(self) -> ActuatorState:
        """Return the state of all belts, flippers and joints in one reading, in the description's order."""
        return self.model.read_actuators()

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
        """Prepare for the next step of somebody else's loop, see `segtrack.attach`, `segtrack.mujoco.attach`.

        It is called before each step in PyBullet, and between `mj_step1` and `mj_step2` in MuJoCo.

        Raises:
            DivergedError: The robot is no longer finite, or absurdly fast.
            DisconnectedError: The client is gone.
            RemovedError: Its bodies are gone, by `resetSimulation` or `removeBody`.
            NotReadyError: A world or the native engine takes the steps; or the robot moves, and no step has
                been taken since the last call. Several steps between two calls are a warning, in time.
        """
        self.model.before_step()

    def save(self) -> BeltSnapshot:
        """Save what PyBullet's `saveState`, or MuJoCo's `mj_getState`, lacks, beside it in somebody's loop.

        A world saves everything by itself, see `World.save`.

        Raises:
            NotReadyError: A world of MuJoCo, or the native engine, saves everything by itself.
            RemovedError: Its bodies are gone.
            DisconnectedError: The client is gone.
        """
        return BeltSnapshot(self.model, self.model.snapshot())

    def restore(self, snapshot: BeltSnapshot) -> None:
        """Go back to what `save` gave, after PyBullet's `restoreState` or MuJoCo's `mj_setState`.

        Raises:
            InvalidValueError: Not one that this robot saved.
            RemovedError: Its bodies are gone.
            DisconnectedError: The client is gone.
        """
        if not isinstance(snapshot, BeltSnapshot) or snapshot.model is not self.model:
            raise InvalidValueError("snapshot", "one that this robot saved", snapshot)
        self.model.restore(snapshot.state)
