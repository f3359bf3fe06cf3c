"""Actions of an environment: mapping of their entries to commands.

| entry | commands | at 1 |
|---|---|---|
| left, right | speed of the belts of that side, flippers' included | `belt_speed` [m/s] forward |
| front, rear (pairs) or each flipper's name (each) | turning speed | the flipper's fastest [rad/s], tip up |
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from segtrack.description import VehicleDescription
from segtrack.errors import InvalidValueError, Phrase, UnknownNameError, finite
from segtrack.robot import Robot

if TYPE_CHECKING:
    from segtrack.batch import Batch  # With numba, which takes half a second to import.

FlipperGroups = Literal["pairs", "each"]
_GROUPS = ("pairs", "each")


class ActionMapping(ABC):
    """Base class of mappings from actions to commands. It holds no state of an episode.

    Attributes:
        names: Names of the action's entries.
        belt_speed: Belt speed at action 1 [m/s]; policies trained at another one are refused.
            None if no single number applies.
    """

    names: tuple[str, ...]
    belt_speed: float | None = None

    @property
    def space(self) -> spaces.Space[NDArray[np.float32]]:
        """Space of the actions, [-1, 1] in each entry."""
        return spaces.Box(-1.0, 1.0, (len(self.names),), np.float32)

    @abstractmethod
    def command(self, robots: Robot | Batch, actions: NDArray[np.float64]) -> None:
        """Command a robot, or the N vehicles of a batch, for a control step.

        Commands of both have the same names, and take a number or an array (N,): `set_belt_speed`, `drive`,
        `set_flipper_speeds`, `set_joints`, `set_joint_speeds`. What is not commanded anew stays as it was.

        Args:
            robots: Robot, or batch of N vehicles.
            actions: Action of the robot (n,), or actions of the batch (N, n), in [-1, 1].
        """

    def check(self, actions: Any, count: int | None = None) -> NDArray[np.float32]:
        """Check an action (n,), or actions of `count` robots (count, n), and clip them to [-1, 1].

        Raises:
            InvalidValueError: Of another shape, or not finite numbers.
        """
        shape = (len(self.names),) if count is None else (count, len(self.names))
        what = "action" if count is None else "actions"
        try:
            given = np.asarray(actions)
        except ValueError:  # Ragged.
            given = np.asarray(None)
        if given.dtype.kind not in "fiu":
            raise InvalidValueError(what, f"{math.prod(shape)} numbers", actions)
        array = given.astype(np.float32)
        if array.shape != shape:
            expected = f"of shape {shape}: {', '.join(self.names)}"
            raise InvalidValueError(what, expected, Phrase(f"shape {array.shape}"))
        if not np.isfinite(array).all():
            *robot, entry = np.argwhere(~np.isfinite(array))[0].tolist()
            where = "".join(f" of robot {i}" for i in robot)
            value = float(array[(*robot, entry)])
            raise InvalidValueError(f"action entry {self.names[entry]}{where}", "a finite number", value)
        return array.clip(-1.0, 1.0)


class Actuators(ActionMapping):
    """Action mapping to belt speeds of each side, and flipper speeds."""

    belt_speed: float

    def __init__(self, vehicle: VehicleDescription, belt_speed: float, flippers: FlipperGroups) -> None:
        """Choose the action's entries for a vehicle.

        Args:
            vehicle: Vehicle to command.
            belt_speed: Belt speed at action 1 [m/s].
            flippers: `pairs` to couple left and right flippers (front, rear), or `each` by itself.

        Raises:
            UnknownNameError: No such grouping.
        """
        if flippers not in _GROUPS:
            raise UnknownNameError("flipper grouping", flippers, _GROUPS)
        self.belt_speed = belt_speed
        parts = vehicle.flippers
        groups: dict[str, tuple[str, ...]] = {name: (name,) for name in parts}
        if flippers == "pairs":
            ends = {part.tip_direction: None for part in parts.values()}
            groups = {e: tuple(n for n, p in parts.items() if p.tip_direction == e) for e in ends}
        self.names = ("left", "right", *groups)
        grouped = enumerate(groups.values(), start=2)
        self._turned = [(name, i, parts[name].max_speed) for i, names in grouped for name in names]

    def command(self, robots: Robot | Batch, actions: NDArray[np.float64]) -> None:
        """Command speeds of belts and flippers."""
        values: Any = actions.T if actions.ndim > 1 else actions.tolist()  # A robot's are quicker as floats.
        robots.set_belt_speed(values[0] * self.belt_speed, values[1] * self.belt_speed)
        robots.set_flipper_speeds(**{name: values[i] * top for name, i, top in self._turned})


def check_belt_speed(speed: float, vehicle: VehicleDescription) -> float:
    """Check the belt speed at action 1 [m/s].

    Raises:
        InvalidValueError: Not positive and finite, or faster than the slowest drive.
    """
    top = min(track.spec.drive.top_speed for track in vehicle.mounted_tracks())
    if not 0 < finite("belt_speed [m/s]", speed) <= top:
        raise InvalidValueError(
            "belt_speed [m/s]", f"above 0 and at most {top:g}, the slowest drive's", speed
        )
    return float(speed)


def check_mapping(actions: object) -> ActionMapping:
    """Check that an environment can use an action mapping, and return it.

    Raises:
        InvalidValueError: Not an `ActionMapping`, or one whose names are not a word for each entry.
    """
    if not isinstance(actions, ActionMapping):
        raise InvalidValueError("actions", "an ActionMapping", actions)
    names = getattr(actions, "names", None)
    words = isinstance(names, tuple) and all(isinstance(name, str) for name in names)
    if not words or not names or len(set(names)) < len(names):
        raise InvalidValueError(f"names of {type(actions).__name__}", "a tuple of a word an entry", names)
    return actions
