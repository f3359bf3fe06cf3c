"""Where belts that do not slip would take a vehicle, and how far it was behind them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import cumulative_trapezoid

from segtrack.description import VehicleDescription
from segtrack.logs.motion import Motion

SIDES = ("left", "right")
BELTS = ("belt_speed", "belt_speed_command")

Array = NDArray[np.float64]


class Belts(NamedTuple):
    """Belt speeds of both sides at common times.

    Attributes:
        times: (n,) [s]
        speeds: Left and right (n, 2) [m/s].
    """

    times: Array
    speeds: Array

    @property
    def travel(self) -> Array:
        """Mean of both sides since the first time (n,) [m]."""
        return np.asarray(cumulative_trapezoid(self.speeds.mean(axis=1), self.times, initial=0.0))


def belts_of(motion: Motion) -> Belts | None:
    """Belt speeds as measured, or as commanded where that is all there is; None where there is neither."""
    for name in BELTS:
        signals = [motion.signals.get(f"{name}.{side}") for side in SIDES]
        if all(signal is not None for signal in signals):
            left, right = (signal for signal in signals if signal is not None)
            begin, end = max(left.times[0], right.times[0]), min(left.times[-1], right.times[-1])
            inside = left.times[(left.times >= begin) & (left.times <= end)]
            times = np.unique(np.concatenate([[begin], inside, [end]]))
            return Belts(times, np.stack([left.at(times), right.at(times)], axis=1)) if begin < end else None
    return None


def gauge(vehicle: VehicleDescription) -> float:
    """Distance of the tracks of both sides [m]; infinite where there is only one in the middle."""
    sides: dict[str, list[float]] = {"left": [], "right": []}
    for track in vehicle.mounted_tracks():
        if track.side != "center":
            sides[track.side].append(track.y)
    return float(np.mean(sides["left"]) - np.mean(sides["right"])) if all(sides.values()) else np.inf


class Way(NamedTuple):
    """How far a vehicle went along its heading.

    Attributes:
        times: (n,) [s]
        way: Since the first time (n,) [m].
        drift: Angle to the direction of travel from the logged heading, or from the x axis without one [rad].
    """

    times: Array
    way: Array
    drift: float


def way_of(motion: Motion, belts: Belts) -> Way | None:
    """Way over the ground by the log's positions, or by its velocity; None where it has neither.

    Steps between positions count along the heading, turned by the one angle that makes most of them:
    the frames of heading and position may differ. Without a heading the way is taken to be straight.
    """
    position, velocity = motion.signals.get("position"), motion.signals.get("velocity")
    if position is not None and len(position.times) > 1:
        heading = motion.angle("yaw")
        times, steps = position.times, np.diff(position.values[:, :2], axis=0)
        middle = (times[1:] + times[:-1]) / 2
        yaw = heading.at(middle) if heading is not None else np.zeros(len(middle))
        along = steps[:, 0] * np.cos(yaw) + steps[:, 1] * np.sin(yaw)
        aside = steps[:, 1] * np.cos(yaw) - steps[:, 0] * np.sin(yaw)
        forward = np.sign(np.diff(np.interp(times, belts.times, belts.travel)))
        drift = float(np.arctan2(forward @ aside, forward @ along))
        way = np.concatenate([[0.0], np.cumsum(along * np.cos(drift) + aside * np.sin(drift))])
        return Way(times, way, drift)
    if velocity is not None and len(velocity.times) > 1:
        way = cumulative_trapezoid(velocity.values[:, 0], velocity.times, initial=0.0)
        return Way(velocity.times, np.asarray(way), 0.0)
    return None
