"""Commands to a robot, or to the vehicles of a batch: checked, named and clipped alike."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segtrack.description import VehicleDescription
from segtrack.description.joints import JointDesign
from segtrack.errors import InvalidValueError, NotReadyError, finite, known_name

JointKind = Literal["flipper", "moving joint"]
"""Joints that are commanded by name: flippers, and those of the body's URDF that move."""


class CommandLimits(NamedTuple):
    """Limits to which commands are clipped: the file's numbers; those of a batch have an axis before these.

    Attributes:
        belt_speeds: Top speeds of the belts (T,) [m/s].
        positions: Least and largest positions of the joints, flippers first (J, 2) [rad or m].
        speeds: Largest speeds of flippers and of the joints' servos, 0 without one (J,) [rad/s or m/s].
    """

    belt_speeds: NDArray[np.float64]
    positions: NDArray[np.float64]
    speeds: NDArray[np.float64]

    @classmethod
    def of(cls, vehicle: VehicleDescription, joints: Sequence[JointDesign]) -> CommandLimits:
        """Return those of a vehicle with these joints."""
        flippers, servos = vehicle.flippers.values(), [joint.servo for joint in joints]
        positions = [flipper.limits for flipper in flippers] + [joint.limits for joint in joints]
        speeds = [flipper.max_speed for flipper in flippers] + [s.max_speed if s else 0.0 for s in servos]
        belts = [track.spec.drive.top_speed for track in vehicle.mounted_tracks()]
        return cls(np.array(belts), np.reshape(positions, (-1, 2)), np.array(speeds, dtype=float))

    def rows(self, chosen: NDArray[np.intp]) -> CommandLimits:
        """Return those of vehicles by the indices of rows of these (N,)."""
        return CommandLimits(*(values[chosen] for values in self))


class CommandReader(Protocol):
    """Reads what a user gives for a quantity."""

    def __call__(self, what: str, given: Any, /, *, least: float = -np.inf) -> Any:
        """Return a finite number, or (N,) numbers.

        Args:
            what: Quantity, with its unit, for the message.
            given: Number; for N vehicles one for all, or one for each.
            least: Smallest number that is taken, 0 if any.

        Raises:
            InvalidValueError: Not such numbers.
        """


class Commands:
    """Users' commands to one vehicle, whose numbers are (), or to N vehicles of a kind, whose are () or (N,).

    What is returned has tracks as its last axis: (T,), or (N, T). A command that is farther beyond a limit
    than the limits are apart is told by the logger `segtrack`, once for each quantity: it is likely in
    degrees, or in another unit than the quantity's.

    Attributes:
        read: Reads and checks numbers.
    """

    def __init__(
        self,
        vehicle: VehicleDescription,
        joints: Sequence[JointDesign],
        limits: CommandLimits,
        read: CommandReader = finite,
    ) -> None:
        """Begin with nothing told.

        Args:
            vehicle: Vehicle that is commanded.
            joints: Joints of its body's URDF that move.
            limits: Limits of the vehicle, or of N.
            read: Reads numbers.
        """
        self.read, self._whose, self._limits, self._designs = read, vehicle.name, limits, joints
        tracks = list(vehicle.mounted_tracks())
        self._tracks = [track.name for track in tracks]
        self._side_of = np.array([("left", "center", "right").index(track.side) for track in tracks])
        self._side_words = [f"{track.side} belt speed [m/s]" for track in tracks]
        self._flippers = {name: index for index, name in enumerate(vehicle.flippers)}
        moving = {joint.name: index for index, joint in enumerate(joints, start=len(self._flippers))}
        self._indices: dict[JointKind, dict[str, int]] = {"flipper": self._flippers, "moving joint": moving}
        self._position_words = [f"angle of flipper {name} [rad]" for name in self._flippers]
        self._speed_words = [f"speed of flipper {name} [rad/s]" for name in self._flippers]
        for joint in joints:
            unit = "m" if joint.kind == "prismatic" else "rad"
            self._position_words.append(f"position of joint {joint.name} [{unit}]")
            self._speed_words.append(f"speed of joint {joint.name} [{unit}/s]")
        self._told: set[str] = set()

    def of(self, limits: CommandLimits, read: CommandReader) -> Commands:
        """Commands to other vehicles of its kind, which are told with those to its own."""
        others = copy(self)
        others._limits, others.read = limits, read
        return others

    def belt_speeds(self, left: Any, right: Any) -> NDArray[np.float64]:
        """Speeds of the belts from those of the sides; a belt in the middle gets the mean [m/s]."""
        left, right = self.read("left belt speed [m/s]", left), self.read("right belt speed [m/s]", right)
        top, speeds = self._limits.belt_speeds, np.array([left, (left + right) / 2, right])
        return self.clip(self._side_words, speeds.T[..., self._side_of], -top, top)

    def belt_speed(self, track: int, given: Any) -> NDArray[np.float64]:
        """Speed of one belt [m/s]."""
        what, top = f"belt speed of {self._tracks[track]} [m/s]", self._limits.belt_speeds.T[track]
        return self.clip(what, self.read(what, given), -top, top)

    def pedals(self, left: Any, right: Any, left_brake: Any, right_brake: Any) -> NDArray[np.float64]:
        """Throttles and brakes of the tracks (..., T, 2) from those of the sides; in the middle the means."""
        left = self.pedals_of("the left side", left, left_brake)
        right = self.pedals_of("the right side", right, right_brake)
        both = [np.array([a, (a + b) / 2, b]).T for a, b in zip(left, right, strict=True)]
        return np.stack([values[..., self._side_of] for values in both], axis=-1)

    def pedals_of(self, whose: str, throttle: Any, brake: Any) -> tuple[NDArray[np.float64], ...]:
        """Throttle in [-1, 1] and brake in [0, 1] of what they drive, a track or the words for a side."""
        throttle_words, brake_words = f"throttle of {whose}", f"brake of {whose}"
        driven, held = self.read(throttle_words, throttle), self.read(brake_words, brake, least=0.0)
        return self.clip(throttle_words, driven, -1.0, 1.0), self.clip(brake_words, held, 0.0, 1.0)

    def twist(self, linear: Any, angular: Any) -> tuple[Any, Any]:
        """Forward speed [m/s] and yaw rate [rad/s]."""
        return self.read("linear speed [m/s]", linear), self.read("angular speed [rad/s]", angular)

    def named(
        self, kind: JointKind, as_speed: bool, given: Mapping[str, Any]
    ) -> list[tuple[int, NDArray[np.float64]]]:
        """Index among the joints, and speed [rad/s or m/s] or position [rad or m], of each that is named.

        Raises:
            UnknownNameError: There is no such flipper, or moving joint of the body's URDF.
            NotReadyError: It has no servo, or follows another joint.
        """
        indices, commands = self._indices[kind], []
        for name, value in given.items():
            joint = indices[known_name(f"{kind} of {self._whose}", name, indices)]
            commands.append((joint, self.joint(joint, as_speed, value)))
        return commands

    def start_angles(self, given: Mapping[str, Any] | None) -> list[NDArray[np.float64]]:
        """Angle of each flipper at the start [rad]; 0 where none is given.

        Raises:
            UnknownNameError: There is no such flipper.
            InvalidValueError: Not angles by name, or not numbers.
        """
        if given is not None and not isinstance(given, Mapping):
            raise InvalidValueError("flippers", "angles by name", given)
        angles = dict.fromkeys(self._flippers, 0.0) | dict(given or {})
        return [angle for _, angle in self.named("flipper", False, angles)]

    def joint(self, joint: int, as_speed: bool, given: Any) -> NDArray[np.float64]:
        """Speed [rad/s or m/s] at which a flipper or joint is to move, or position [rad or m] to go to.

        Raises:
            NotReadyError: A joint without a servo, or one that follows another.
        """
        if joint >= len(self._flippers):
            self._check_own(joint)
            design = self._designs[joint - len(self._flippers)]
            if design.servo is None:
                reason = f"it has no servo; joints.{design.name}.servo of the vehicle file gives it one"
                raise NotReadyError(f"command joint {design.name}", reason)
        if not as_speed:
            return self._position(joint, given)
        what, speed = self._speed_words[joint], self._limits.speeds.T[joint]
        return self.clip(what, self.read(what, given), -speed, speed)

    def place(self, joint: int, given: Any) -> NDArray[np.float64]:
        """Position [rad or m] at which a flipper or joint is put at once.

        Raises:
            NotReadyError: A joint that follows another.
        """
        self._check_own(joint)
        return self._position(joint, given)

    def _check_own(self, joint: int) -> None:
        """Refuse to move a joint that follows another one."""
        if joint >= len(self._flippers):
            design = self._designs[joint - len(self._flippers)]
            if design.mimicry is not None:
                reason = f"it follows joint {design.mimicry.leader}"
                raise NotReadyError(f"move joint {design.name}", reason)

    def _position(self, joint: int, given: Any) -> NDArray[np.float64]:
        what, (low, high) = self._position_words[joint], self._limits.positions.T[:, joint]
        return self.clip(what, self.read(what, given), low, high)

    def clip(
        self, what: str | Sequence[str], values: ArrayLike, low: ArrayLike, high: ArrayLike
    ) -> NDArray[np.float64]:
        """The values, or the limits that they are beyond.

        Args:
            what: Quantity, with its unit, for the message; or one for each of the last axis.
            values: Finite numbers.
            low: Smallest values, which broadcast with them.
            high: Largest values.
        """
        clipped = np.minimum(np.maximum(values, low), high)
        beyond = abs(values - clipped) > np.subtract(high, low)
        if beyond.any():
            self._tell(what, beyond, low, high)
        return clipped

    def _tell(
        self, what: str | Sequence[str], beyond: NDArray[np.bool_], low: ArrayLike, high: ArrayLike
    ) -> None:
        names, lows, highs = (np.broadcast_to(each, beyond.shape) for each in (what, low, high))
        for name in dict.fromkeys(names[beyond].tolist()):
            if name not in self._told:
                self._told.add(name)
                logging.getLogger("segtrack").warning(
                    "%s: %s is commanded far beyond its limits, %.4g to %.4g, and clipped to them: angles "
                    "are in radians, speeds in m/s and rad/s, pedals from 0 to 1 (told once a robot and "
                    "quantity)",
                    self._whose,
                    name,
                    lows[names == name].min(),
                    highs[names == name].max(),
                )
