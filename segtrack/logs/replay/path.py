"""Paths of logged vehicles in the plane, by positions or by odometry of their belts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import cumulative_trapezoid, trapezoid
from scipy.spatial.transform import Rotation

from segtrack.description import SteeringByLoads, Values, VehicleDescription
from segtrack.logs.mapping import SIDES
from segtrack.robot import Motion, Signal

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


def _driven_twist(
    vehicle: VehicleDescription, flippers: Mapping[str, float], left: Values, right: Values
) -> tuple[Values, Values]:
    """Forward speed [m/s] and yaw rate [rad/s] of belt speeds [m/s]: the inverse of `Robot.drive`.

    The yaw rate is that of belts which do not slip, times the steering efficiency with flippers at angles
    [rad]; 0 for a vehicle without two sides.
    """
    offsets = vehicle.track_offsets
    if offsets is None:
        return (left + right) / 2, 0.0 * left
    linear, angular = offsets.twist(left, right)
    return linear, angular * SteeringByLoads(vehicle).efficiency(flippers)


class Way(NamedTuple):
    """Way of a vehicle along its heading.

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


AVERAGED = 0.5
"""A pose is taken from a straight line through what was logged in this time before or after it [s]."""
_LEAST = 4
"""Samples through which a line is drawn; with fewer the pose is what is between its neighbours."""


class Place(NamedTuple):
    """A pose in the plane.

    Attributes:
        x: [m]
        y: [m]
        yaw: About the z axis, left positive [rad].
    """

    x: float
    y: float
    yaw: float


class LoggedPath(NamedTuple):
    """Path of a vehicle in the plane, in the frame of its log.

    Attributes:
        place: x, y and anything else (n, k) [m].
        yaw: Continuous (n,) [rad].
    """

    place: Signal
    yaw: Signal

    def near(self, time: float, first: float, last: float) -> Place:
        """Pose at a time by straight lines through what was logged from a first to a last time [s]."""
        x, y = (_line(Signal(self.place.times, v), time, first, last) for v in self.place.values.T[:2])
        return Place(x, y, _line(self.yaw, time, first, last))


def _line(signal: Signal, time: float, first: float, last: float) -> float:
    inside = (signal.times >= first) & (signal.times <= last)
    if np.sum(inside) < _LEAST:
        return float(signal.at(time))
    since = signal.times[inside] - time
    basis = np.stack([np.ones(len(since)), since], axis=1)
    return float(np.linalg.lstsq(basis, signal.values[inside], rcond=None)[0][0])


def logged_path(motion: Motion, belts: Belts, vehicle: VehicleDescription) -> LoggedPath:
    """The path of a log: its positions, or where there are none that of belts which do not slip.

    The heading is the logged one. Without, it is the direction of travel between positions, which is then
    taken to be straight, or what the difference of the belts and the vehicle's steering efficiency give, its
    flippers at their median angles.
    """
    yaw, position, way = motion.angle("yaw"), motion.signals.get("position"), way_of(motion, belts)
    if position is not None and way is not None:
        still = Signal(position.times, np.full(len(position.times), way.drift))
        return LoggedPath(position, still if yaw is None else yaw)
    angles = {name: float(np.median(a)) for name, a in motion.by_name("flipper_angle").items()}
    speed, rates = _driven_twist(vehicle, angles, *belts.speeds.T)
    if yaw is None:
        yaw = Signal(belts.times, np.asarray(cumulative_trapezoid(rates, belts.times, initial=0.0)))
    heading = yaw.at(belts.times)
    velocity = speed[:, None] * np.stack([np.cos(heading), np.sin(heading)], axis=1)
    places = cumulative_trapezoid(velocity, belts.times, axis=0, initial=0.0)
    return LoggedPath(Signal(belts.times, np.asarray(places)), yaw)


class Shift(NamedTuple):
    """A turn about z and a shift in x and y, from one frame to another.

    Attributes:
        angle: Angle of the turn [rad].
        x: Shift along x after it [m].
        y: Shift along y after it [m].
    """

    angle: float = 0.0
    x: float = 0.0
    y: float = 0.0

    @classmethod
    def between(cls, here: Place, there: Place) -> Shift:
        """Return the shift from one pose to another."""
        turned = cls(there.yaw - here.yaw).of(here)
        return cls(there.yaw - here.yaw, there.x - turned.x, there.y - turned.y)

    def of(self, place: Place) -> Place:
        """A pose, moved."""
        cosine, sine = math.cos(self.angle), math.sin(self.angle)
        x, y = cosine * place.x - sine * place.y, sine * place.x + cosine * place.y
        return Place(x + self.x, y + self.y, place.yaw + self.angle)

    def moved(self, motion: Motion) -> Motion:
        """A motion in the other frame: its position, orientation and yaw; its heights and pitch stay."""
        return motion.with_signals(dict(self._signals(motion)))

    def _signals(self, motion: Motion) -> Iterator[tuple[str, Signal]]:
        if (position := motion.signals.get("position")) is not None:
            cosine, sine = math.cos(self.angle), math.sin(self.angle)
            x, y, z = position.values.T
            moved = [cosine * x - sine * y + self.x, sine * x + cosine * y + self.y, z]
            yield "position", replace(position, values=np.stack(moved, axis=1))
        if (orientation := motion.signals.get("orientation")) is not None:
            turned = Rotation.from_euler("z", self.angle) * Rotation.from_quat(orientation.values)
            yield "orientation", replace(orientation, values=turned.as_quat())
        if (yaw := motion.signals.get("yaw")) is not None:
            yield "yaw", replace(yaw, values=yaw.values + self.angle)


_AT_FIRST = 0.1
"""Over which belts have their first speed, as a mean [s]."""


def first_speeds(motion: Motion, begin: float) -> tuple[float, float]:
    """Speeds of both sides' belts from a time on [m/s], with belts: measured, or commanded if need be."""
    belts = belts_of(motion)
    assert belts is not None
    end = begin + _AT_FIRST
    inside = belts.times[(belts.times > begin) & (belts.times < end)]
    times = np.concatenate([[begin], inside, [end]])
    left, right = (trapezoid(np.interp(times, belts.times, speed), times) for speed in belts.speeds.T)
    return float(left) / _AT_FIRST, float(right) / _AT_FIRST


def odometry_arc(
    vehicle: VehicleDescription, flippers: Mapping[str, float], speeds: Sequence[float], duration: float
) -> Place:
    """Pose to which belts at speeds, left and right [m/s], take a vehicle from the origin in a time [s].

    Its flippers are at angles by name [rad]; 0 if not given.
    """
    left, right = speeds
    linear, rate = _driven_twist(vehicle, flippers, left, right)
    turn = rate * duration
    chord = linear * duration * float(np.sinc(turn / 2 / np.pi))
    return Place(chord * math.cos(turn / 2), chord * math.sin(turn / 2), turn)
