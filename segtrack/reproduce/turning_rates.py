"""Turning rates beside a closed form and beside planar friction under the vehicle's own loads."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from scipy.optimize import brentq

from segtrack.description import VehicleDescription, load_vehicle
from segtrack.engine import EngineName
from segtrack.errors import InvalidValueError, UnknownNameError, finite
from segtrack.experiments import steering
from segtrack.experiments.steering import Rig, Steered
from segtrack.experiments.variants import with_gauge
from segtrack.world import resolve

TRACK_MODELS = ("segments", "compliant", "chain")
"""Track models that are compared."""
GAUGES = (0.30, 0.445, 0.70)
"""Distances between the tracks of a PackBot, the middle one its own [m]."""
RAISED = 1.0
"""Angle of raised flippers [rad]."""
RADII = (0.5, 1.0, 2.0)
"""Radii of arcs [m]."""
SCENES = ("spot", "slope", "arcs")
MAX_SPEED = 100.0
"""Fastest belts [m/s]; a robot above this speed counts as diverged."""


@dataclass(frozen=True)
class TurningCase:
    """One vehicle that turned.

    Attributes:
        vehicle: What it is, in words.
        scene: What it did, in words.
        rig: What it was, and what simulated it.
        steered: How it moved, and how planar friction under its loads would have moved it.
        uniform: Closed form for uniform pressure, yaw rate over that without slip [-]; None but for
            turns on the spot.
    """

    vehicle: str
    scene: str
    rig: Rig
    steered: Steered
    uniform: float | None

    @property
    def steering_efficiency(self) -> float | None:
        """Value for the vehicle file; None where it is not measured: not on the spot, or no turn."""
        efficiency = round(self.steered.over_no_slip, 3)
        return efficiency if self.uniform is not None and 0 < efficiency <= 1 else None

    def record(self) -> dict[str, object]:
        """Everything as plain values with the names that JSON has."""
        steered = self.steered
        return {
            "vehicle": self.vehicle,
            "scene": self.scene,
            "track_model": self.rig.track_model,
            "engine": resolve(self.rig.engine, self.rig.track_model)[0],
            "belt_speeds": list(steered.belts),
            "yaw_rate": steered.measured.yaw_rate,
            "over_no_slip": steered.over_no_slip,
            "steering_efficiency": self.steering_efficiency,
            "uniform_pressure_over_no_slip": self.uniform,
            "planar_friction_over_no_slip": steered.expected.yaw_rate / steered.no_slip_rate,
            "over_planar_friction": steered.over_expected,
            "slip": list(steered.measured.slip),
            "planar_friction_slip": list(steered.expected.slip),
            "creep": steered.measured.creep,
            "planar_friction_creep": steered.expected.creep,
            "real_time_factor": steered.real_time_factor,
        }


def uniform_pressure_turning_rate(speed: float, gauge: float, length: float) -> float:
    """Turning rate [rad/s] on the spot of two uniform-pressure tracks.

    Args:
        speed: Speed of the belts, one forward and one backward [m/s].
        gauge: Distance between the tracks' middles [m], > 0.
        length: Length of each ground line [m], > 0.

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


Vehicles = dict[str, tuple[VehicleDescription, dict[str, float]]]
"""Descriptions and the angles of their flippers [rad], by what they are in words."""


def compared_vehicles() -> Vehicles:
    """PackBot with three gauges, Quince with flippers up and flat."""
    packbot = load_vehicle("packbot")
    vehicles: Vehicles = {f"packbot, gauge {gauge:g} m": (with_gauge(packbot, gauge), {}) for gauge in GAUGES}
    return vehicles | with_flippers("quince")


def with_flippers(name: str | Path) -> Vehicles:
    """A vehicle, bundled or of a file, with its flippers up and flat if it has any."""
    vehicle = load_vehicle(name)
    if not vehicle.flippers:
        return {vehicle.name: (vehicle, {})}
    return {
        f"{vehicle.name}, flippers {how}": (vehicle, dict.fromkeys(vehicle.flippers, angle))
        for how, angle in (("up", RAISED), ("flat", 0.0))
    }


def run_turning(
    vehicle: str | Path | None = None,
    track_models: Sequence[str] = TRACK_MODELS,
    scenes: Sequence[str] = ("spot",),
    speeds: Sequence[float] = (steering.SPEED,),
    engine: EngineName | None = None,
    on_case: Callable[[], object] = lambda: None,
) -> tuple[TurningCase, ...]:
    """Let vehicles turn to the left, with each of some track models.

    Args:
        vehicle: Name of a bundled one, or path of a vehicle file; `compared_vehicles` if not given.
        track_models: Names of track models.
        scenes: spot, slope or arcs.
        speeds: Belt speeds [m/s], > 0.
        engine: native or pybullet; the one that runs each track model if not given.
        on_case: Called after each of `case_count`.

    Raises:
        UnknownNameError: No such scene, vehicle, track model or engine.
        InvalidValueError: A speed that is not positive, an engine that does not run a track model, or a
            vehicle that cannot be steered so.
    """
    for scene in scenes:
        if scene not in SCENES:
            raise UnknownNameError("scene", scene, SCENES)
    for speed in speeds:
        if finite("belt speed [m/s]", speed) <= 0:
            raise InvalidValueError("belt speed [m/s]", "greater than 0", speed)
        if speed > MAX_SPEED:
            raise InvalidValueError("belt speed [m/s]", f"at most {MAX_SPEED:g}", speed)
    for track_model in track_models:
        resolve(engine, track_model)
    cases = []
    for name, (description, flippers) in _vehicles(vehicle).items():
        for track_model in track_models:
            rig = Rig(description, flippers, track_model, engine)
            for speed in speeds:
                for scene, steered, uniform in _cases(rig, scenes, speed):
                    cases.append(TurningCase(name, scene, rig, steered, uniform))
                    on_case()
    return tuple(cases)


def case_count(
    vehicle: str | Path | None, track_models: Sequence[str], scenes: Sequence[str], speeds: Sequence[float]
) -> int:
    """Return the number of cases of `run_turning`."""
    each = sum(len(RADII) if scene == "arcs" else 1 for scene in scenes)
    return len(_vehicles(vehicle)) * len(track_models) * len(speeds) * each


def _vehicles(vehicle: str | Path | None) -> Vehicles:
    return compared_vehicles() if vehicle is None else with_flippers(vehicle)


def _cases(rig: Rig, scenes: Sequence[str], speed: float) -> Iterator[tuple[str, Steered, float | None]]:
    """Each scene's name, how the rig steered, and the closed form over no slip."""
    if "spot" in scenes:
        uniform = uniform_pressure_turning_rate(1.0, rig.gauge, rig.ground_length) * rig.gauge / 2
        yield "on the spot", steering.turn_on_the_spot(rig, speed), uniform
    if "slope" in scenes:
        angle = f"{math.degrees(steering.SLOPE):.0f} deg slope"
        yield angle, steering.turn_on_a_slope(rig, speed), None
    for radius in RADII if "arcs" in scenes else ():
        yield f"arc of {radius:g} m", steering.drive_an_arc(rig, radius, speed), None
