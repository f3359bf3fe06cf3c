"""What a source sees of a motion, so that another source that sees it, too, can be laid over it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from segtrack.logs.motion import Motion, Signal, same_signs

Seen = Literal["turning", "pitch", "yaw", "speed"]
SEEN: tuple[Seen, ...] = ("turning", "pitch", "yaw", "speed")
"""What two sources can both see, that which says most first: turning in space, its parts, forward speed."""


@dataclass(frozen=True, eq=False)
class View:
    """One thing as one source sees it.

    Attributes:
        what: Turning in space, pitch, yaw or forward speed.
        is_rate: Whether values are rates; otherwise they are what changes at that rate.
        times: On the source's clock, ascending (n,) [s].
        values: Of turning quaternions (x, y, z, w) of the sensor in its world (n, 4), or angular velocity in
            the sensor's frame (n, 3) [rad/s]; of a pitch or yaw angles (n,) [rad] or rates [rad/s]; of speed
            the way (n,) [m] or the speed [m/s].
    """

    what: Seen
    is_rate: bool
    times: NDArray[np.float64]
    values: NDArray[np.float64]

    @property
    def is_turning(self) -> bool:
        """Whether it is of turning in space."""
        return self.what == "turning"

    def less(self, bias: NDArray[np.float64] | float) -> View:
        """The view of a rate with a bias taken off."""
        return replace(self, values=self.values - bias)

    def alike(self, values: NDArray[np.float64]) -> View:
        """A view of other values at the same times; for orientations of small rotation vectors (n, 3)."""
        if self.is_turning and not self.is_rate:
            values = Rotation.from_rotvec(values).as_quat()
        return replace(self, values=values.reshape(self.values.shape))

    def smoothed(self, width: float) -> View:
        """The view with each value a mean over so long before and after it, nearer ones weighed more [s]."""
        if width <= 0:
            return self
        values = (
            same_signs(self.values) if self.values.ndim > 1 and self.values.shape[1] == 4 else self.values
        )
        columns = values.reshape(len(self.times), -1).T
        for _ in range(2):
            columns = np.stack([_box_mean(self.times, column, width / 2) for column in columns])
        smooth = columns.T.reshape(values.shape)
        if self.is_turning and not self.is_rate:
            smooth = smooth / np.linalg.norm(smooth, axis=1, keepdims=True)
        return replace(self, values=smooth)

    def shifted(self, offset: float) -> View:
        """The view with an offset added to its times [s]."""
        return replace(self, times=self.times + offset)


def views_of(source: Motion, *, rates_first: bool) -> Mapping[Seen, View]:
    """What a source sees, each thing by one of its signals.

    Args:
        source: All signals on one clock.
        rates_first: Take turning in space from a gyroscope where there is one, whose noise is white, rather
            than from an orientation, whose noise has been filtered.
    """
    turning = (_angular_velocity(source), _orientation(source))
    views = (
        next(filter(None, turning if rates_first else reversed(turning)), None),
        _angle(source, "pitch") or _component(source, "pitch", 1, -1.0),
        _angle(source, "yaw") or _yaw_rate(source),
        _speed(source),
    )
    return {view.what: view for view in views if view is not None}


def _angular_velocity(motion: Motion) -> View | None:
    rates = motion.signals.get("angular_velocity")
    return None if rates is None else View("turning", True, rates.times, rates.values)


def _orientation(motion: Motion) -> View | None:
    if (orientation := motion.signals.get("orientation")) is not None:
        return View("turning", False, orientation.times, orientation.values)
    angles = [motion.signals.get(name) for name in ("roll", "pitch", "yaw")]
    if not _at_one_time(angles):
        return None
    roll, pitch, yaw = (signal.values for signal in angles)  # type: ignore[union-attr]
    turned = Rotation.from_euler("ZYX", np.stack([yaw, -pitch, roll], axis=1)).as_quat()
    return View("turning", False, angles[0].times, turned)  # type: ignore[union-attr]


def _angle(motion: Motion, name: Seen) -> View | None:
    angle = motion.angle(name)
    return None if angle is None else View(name, False, angle.times, angle.values)


def _component(motion: Motion, name: Seen, axis: int, sign: float) -> View | None:
    """A part of an angular velocity in the body frame, as an angle's rate: so it is while roll is small."""
    rates = motion.signals.get("angular_velocity")
    return None if rates is None else View(name, True, rates.times, sign * rates.values[:, axis])


def _yaw_rate(motion: Motion) -> View | None:
    if (rate := motion.signals.get("yaw_rate")) is not None:
        return View("yaw", True, rate.times, rate.values)
    if (part := _component(motion, "yaw", 2, 1.0)) is not None:
        return part
    belts = _belts(motion)
    if belts is None:
        return None
    left, right = belts  # A metre apart: how far they really are is found with the clock.
    return View("yaw", True, left.times, right.values - left.values)


def _speed(motion: Motion) -> View | None:
    if (velocity := motion.signals.get("velocity")) is not None:
        return View("speed", True, velocity.times, velocity.values[:, 0])
    belts = _belts(motion)
    if belts is not None:
        return View("speed", True, belts[0].times, (belts[0].values + belts[1].values) / 2)
    position, turned = motion.signals.get("position"), motion.signals.get("orientation")
    if position is None or turned is None or not _at_one_time([position, turned]):
        return None
    forward = Rotation.from_quat(turned.values).apply([1.0, 0.0, 0.0])
    steps = np.sum(np.diff(position.values, axis=0) * (forward[1:] + forward[:-1]) / 2, axis=1)
    return View("speed", False, position.times, np.concatenate([[0.0], np.cumsum(steps)]))


def _belts(motion: Motion) -> tuple[Signal, Signal] | None:
    """Both sides' belt speeds, measured ones if there are, at the times of the left one."""
    for name in ("belt_speed", "belt_speed_command"):
        left, right = (motion.signals.get(f"{name}.{side}") for side in ("left", "right"))
        if left is not None and right is not None:
            return left, replace(right, times=left.times, values=right.at(left.times))
    return None


def _at_one_time(signals: list[Signal | None]) -> bool:
    """Whether there are all of these, with the same times."""
    first, *others = signals
    return first is not None and all(
        other is not None and np.array_equal(other.times, first.times) for other in others
    )


def _box_mean(times: NDArray[np.float64], values: NDArray[np.float64], reach: float) -> NDArray[np.float64]:
    """Mean of what is linear between samples, from a reach [s] before each to as much after it."""
    reach_there = np.minimum(reach, np.minimum(times - times[0], times[-1] - times))
    sums = np.concatenate([[0.0], np.cumsum((values[1:] + values[:-1]) / 2 * np.diff(times))])

    def integral(at: NDArray[np.float64]) -> NDArray[np.float64]:
        i = np.clip(np.searchsorted(times, at, side="right") - 1, 0, len(times) - 2)
        since = at - times[i]
        slope = (values[i + 1] - values[i]) / (times[i + 1] - times[i])
        return sums[i] + values[i] * since + slope * since**2 / 2

    inside = reach_there > 0
    means = values.copy()
    spans = 2 * reach_there[inside]
    means[inside] = (
        integral((times + reach_there)[inside]) - integral((times - reach_there)[inside])
    ) / spans
    return means
