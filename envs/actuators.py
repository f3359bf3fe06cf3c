"""Actions of an environment: what their entries command.

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

    def check(self, actions: Any, count: int | None = None) -> NDArray[np.float32]:
        """Return an action (n,), or those of a number of robots (count, n), clipped to [-1, 1].

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

    def commands(self, actions: NDArray[np.float32]) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """Return what actions (..., n) command.

        Returns:
            Speeds of the left and of the right belts (2, ...) [m/s]; turning speed of each flipper, by its
            name (...) [rad/s].
        """
        values = actions.T.astype(float)
        return values[:2] * self.belt_speed, {name: values[i] * top for name, i, top in self._turned}


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
