"""Where a log says that its vehicle was in the plane, and how that is put elsewhere."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import cumulative_trapezoid
from scipy.spatial.transform import Rotation

from segtrack.description import VehicleDescription
from segtrack.logs.motion import Motion, Signal
from segtrack.logs.replay.alignment.odometry import Belts, gauge, way_of

AVERAGED = 0.5
"""A pose is taken from a straight line through what was logged in this time before or after it [s]."""
_LEAST = 4
"""Samples through which a line is drawn; with fewer the pose is what is between its neighbours."""

Array = NDArray[np.float64]


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
    """Where a vehicle was in the plane, in the frame of its log.

    Attributes:
        place: x, y and anything else (n, k) [m].
        yaw: Continuous (n,) [rad].
    """

    place: Signal
    yaw: Signal

    def at(self, time: float) -> Place:
        """Pose at a time, between its neighbours."""
        x, y, *_ = self.place.at(time).tolist()
        return Place(x, y, float(self.yaw.at(time)))

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
    taken to be straight, or what the difference of the belts and the vehicle's `steering_efficiency` give.
    """
    yaw, position, way = motion.angle("yaw"), motion.signals.get("position"), way_of(motion, belts)
    if position is not None and way is not None:
        still = Signal(position.times, np.full(len(position.times), way.drift))
        return LoggedPath(position, still if yaw is None else yaw)
    if yaw is None:
        rates = (belts.speeds[:, 1] - belts.speeds[:, 0]) / gauge(vehicle) * vehicle.steering_efficiency
        yaw = Signal(belts.times, np.asarray(cumulative_trapezoid(rates, belts.times, initial=0.0)))
    heading, speed = yaw.at(belts.times), belts.speeds.mean(axis=1)
    velocity = speed[:, None] * np.stack([np.cos(heading), np.sin(heading)], axis=1)
    places = cumulative_trapezoid(velocity, belts.times, axis=0, initial=0.0)
    return LoggedPath(Signal(belts.times, np.asarray(places)), yaw)


class Shift(NamedTuple):
    """A turn about z and a shift in x and y, from one frame to another.

    Attributes:
        angle: Of the turn [rad].
        x: Of the shift after it [m].
        y: Of the shift after it [m].
    """

    angle: float = 0.0
    x: float = 0.0
    y: float = 0.0

    @classmethod
    def between(cls, here: Place, there: Place) -> Shift:
        """What brings one pose to another."""
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
