"""How fast does a tracked vehicle turn on the spot? Against the closed form for a uniform-pressure track.

Two belts of length L and gauge B run at +v and -v. A point of a belt's ground line, x from
its middle, slides at (v - w B/2, w x) over the ground for a turning rate w. With
isotropic Coulomb friction under uniform pressure, and a = (v - w B/2) / w, the moments about
the middle balance where

    a (B + a) asinh(h / a) = h sqrt(a^2 + h^2),    h = L/2,

so that w = v / (a + B/2); friction and weight drop out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from segtrack.description import VehicleDescription, load_vehicle
from segtrack.engine import EngineName
from segtrack.errors import InvalidValueError, finite
from segtrack.terrain import Plane
from segtrack.world import World, resolve

GAUGES = (0.30, 0.445, 0.70)
"""Distances between the tracks of a PackBot, the middle one its own [m]."""
_SPIN_UP, _MEASURED = 0.5, 2.0


@dataclass(frozen=True)
class TurningCase:
    """One vehicle turning on the spot.

    Attributes:
        gauge: Distance between the tracks' middles [m].
        length: Of a ground line [m].
        closed_form: Turning rate of uniform-pressure tracks [rad/s].
        left: Turning rate to the left [rad/s].
        right: Turning rate to the right [rad/s], positive.
    """

    gauge: float
    length: float
    closed_form: float
    left: float
    right: float

    @property
    def ratio(self) -> float:
        """Measured over closed form, mean of both directions."""
        return (self.left + self.right) / 2 / self.closed_form


def uniform_pressure_turning_rate(speed: float, gauge: float, length: float) -> float:
    """Turning rate [rad/s] on the spot of two uniform-pressure tracks.

    Args:
        speed: Of the belts, one forward and one backward [m/s].
        gauge: Distance between the tracks' middles [m], > 0.
        length: Of each ground line [m], > 0.

    Raises:
        InvalidValueError: A length that is not positive.
    """
    for what, value in (("gauge [m]", gauge), ("length [m]", length)):
        if finite(what, value) <= 0:
            raise InvalidValueError(what, "positive", value)
    half = length / 2

    def imbalance(a: float) -> float:
        return a * (gauge + a) * math.asinh(half / a) - half * math.hypot(a, half)

    offset = float(brentq(imbalance, 1e-9 * length, 1e3 * length))
    return finite("speed [m/s]", speed) / (offset + gauge / 2)


def measure_turning(
    gauges: Sequence[float] = GAUGES,
    speed: float = 0.2,
    *,
    engine: EngineName | None = None,
    track_model: str | None = None,
    on_case: Callable[[], object] = lambda: None,
) -> tuple[TurningCase, ...]:
    """Turn PackBots of several gauges on the spot.

    Args:
        gauges: Distances between the tracks [m].
        speed: Belt speed [m/s].
        engine: What simulates them; what runs the track model if not given.
        track_model: How tracks are built; the engine's default if not given.
        on_case: Called after each gauge.
    """
    chosen = resolve(engine, track_model)
    cases = []
    for gauge in gauges:
        vehicle = _with_gauge(load_vehicle("packbot"), gauge)
        path = vehicle.tracks["left"].belt_path
        length = path.segments[path.ground].length
        expected = uniform_pressure_turning_rate(speed, gauge, length)
        left, right = (_turning_rate(vehicle, sign * speed, *chosen) for sign in (1, -1))
        cases.append(TurningCase(gauge, length, expected, left, -right))
        on_case()
    return tuple(cases)


def _with_gauge(vehicle: VehicleDescription, gauge: float) -> VehicleDescription:
    tracks = {}
    for name, track in vehicle.tracks.items():
        x, y, z = track.mount.xyz
        mount = track.mount.model_copy(update={"xyz": (x, math.copysign(gauge / 2, y), z)})
        tracks[name] = track.model_copy(update={"mount": mount})
    return vehicle.model_copy(update={"tracks": tracks})


def _turning_rate(vehicle: VehicleDescription, speed: float, engine: EngineName, track_model: str) -> float:
    """Mean turning rate [rad/s], left positive, once it turns steadily."""
    with World(engine=engine) as world:
        world.add_terrain(Plane())
        robot = world.add_vehicle(vehicle, track_model=track_model)
        robot.set_belt_speed(-speed, speed)
        world.run(_SPIN_UP)
        yaws: list[float] = []
        world.run(_MEASURED, on_step=lambda: yaws.append(robot.state.yaw))
        turned = np.unwrap(yaws)
        return float((turned[-1] - turned[0]) / (_MEASURED - world.time_step))
