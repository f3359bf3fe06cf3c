"""Actions: commanded belt speeds and turning speeds of the flippers.

| entry | commands | at 1 |
|---|---|---|
| left, right | speed of the belts of that side, flippers' included | `belt_speed` [m/s] forward |
| front, rear (pairs) or each flipper's name (each) | turning speed | the flipper's fastest [rad/s], tip up |
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from segtrack.description import VehicleDescription
from segtrack.errors import InvalidValueError, Phrase, UnknownNameError, finite
from segtrack.robot import Robot

FlipperGroups = Literal["pairs", "each"]
_GROUPS = ("pairs", "each")


class Actuators:
    """Commands of an action's entries.

    Attributes:
        names: Names of the entries.
        belt_speed: Belt speed at action 1 [m/s].
        space: Space of the actions, [-1, 1] in each entry.
    """

    def __init__(self, vehicle: VehicleDescription, belt_speed: float, flippers: FlipperGroups) -> None:
        """Lay the entries out.

        Args:
            vehicle: Vehicle that is driven.
            belt_speed: Belt speed at action 1 [m/s].
            flippers: Coupled `pairs` (front, rear), or `each` for itself.

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
        self.space = spaces.Box(-1.0, 1.0, (len(self.names),), np.float32)

    def check(self, action: Any) -> NDArray[np.float32]:
        """Return an action as an array (n,), clipped to [-1, 1].

        Raises:
            InvalidValueError: Of another shape, or not finite numbers.
        """
        try:
            given = np.asarray(action)
        except ValueError:  # Ragged.
            given = np.asarray(None)
        if given.dtype.kind not in "fiu":
            raise InvalidValueError("action", f"{len(self.names)} numbers", action)
        array = given.astype(np.float32)
        if array.shape != (len(self.names),):
            expected = f"of shape {self.space.shape}: {', '.join(self.names)}"
            raise InvalidValueError("action", expected, Phrase(f"shape {array.shape}"))
        for name, value in zip(self.names, array.tolist(), strict=True):
            if not math.isfinite(value):
                raise InvalidValueError(f"action entry {name}", "a finite number", value)
        return array.clip(-1.0, 1.0)

    def apply(self, robot: Robot, action: NDArray[np.float32]) -> None:
        """Command a robot."""
        values = action.tolist()
        robot.set_belt_speed(values[0] * self.belt_speed, values[1] * self.belt_speed)
        speeds = {}
        for flipper, entry, fastest in self._turned:
            speeds[flipper] = values[entry] * fastest
        robot.set_flipper_speeds(**speeds)


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
