"""A vehicle in a running simulation: commands in, state out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from segtrack.description import VehicleDescription
from segtrack.engine import VehicleModel
from segtrack.errors import UnknownNameError, finite, finite_vector
from segtrack.robot.checks import angle_of, check_pose, speed_of
from segtrack.robot.flipper import Flipper
from segtrack.robot.state import RobotState
from segtrack.robot.track import Track

Model = TypeVar("Model", bound=VehicleModel, covariant=True)


class Robot(Generic[Model]):
    """A vehicle that has been added to a simulation.

    Attributes:
        model: The vehicle in its engine; PyBullet's ids are there.
        track_model: How its tracks are built.
        tracks: Its tracks by full name.
        flippers: Its flippers by name.
    """

    def __init__(self, model: Model, track_model: str) -> None:
        """Take an engine's vehicle; users call `World.add_vehicle` or `attach`."""
        self.model, self.track_model = model, track_model
        self.tracks = {track.mounted.name: Track(track) for track in model.tracks}
        self.flippers = {flipper.name: Flipper(flipper) for flipper in model.flippers}

    @property
    def description(self) -> VehicleDescription:
        """What it was built from."""
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
        return RobotState.of(self.model.body_motion())

    @property
    def energy(self) -> float:
        """Work that all belt drives have done [J]."""
        return sum(track.energy for track in self.tracks.values())

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
        for track in self.tracks.values():
            track.set_speed(speeds[track.side])

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
        turning = angular / self.description.steering_efficiency
        self.set_belt_speed(linear - turning * self._gauge("left"), linear - turning * self._gauge("right"))

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
        chosen = [(self._flipper(name), speed_of(name, speed)) for name, speed in speeds.items()]
        for flipper, speed in chosen:
            flipper.set_speed(speed)

    def apply_force(self, force: Sequence[float], point: Sequence[float] | None = None) -> None:
        """Apply a force to the body in each step from now on, until it is set again.

        Args:
            force: In the world (3,) [N]; zero ends it.
            point: Where it acts, fixed in the world (3,) [m]; the body frame's present origin if not given.

        Raises:
            InvalidValueError: Not so many finite numbers.
        """
        pushed = finite_vector("force [N]", force, 3)
        at = self.model.body_motion().position.tolist() if point is None else point
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
            raise UnknownNameError(f"flipper of {self.name}", name, self.flippers)
        return self.flippers[name]

    def _gauge(self, side: str) -> float:
        """Mean y of a side's tracks on the body, or of its flippers if there are none [m]."""
        tracks = [t for t in self.description.mounted_tracks() if t.side == side]
        tracks = [t for t in tracks if t.flipper is None] or tracks
        return sum(t.y for t in tracks) / len(tracks) if tracks else 0.0
