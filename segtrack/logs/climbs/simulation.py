"""Climbs in simulation: a condition, what of it is off, and a height."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from segtrack.description import VehicleDescription, load_vehicle
from segtrack.engine import EngineName
from segtrack.errors import DivergedError, InvalidValueError, Phrase
from segtrack.experiments.climb import run_climb
from segtrack.experiments.climb_result import FRONT_FLIPPERS_DEG, REAR_FLIPPERS_DEG, ClimbSetup
from segtrack.logs.climbs.table import ClimbTrial
from segtrack.logs.compare.stated import VEHICLE_INPUTS, shifted
from segtrack.logs.compare.uncertainty import COVERAGE

TIME_STEP = 0.001
"""Time step of the simulations, but for those with half of it [s]."""


class Variant(NamedTuple):
    """Deviation of a simulation from the table.

    Attributes:
        name: Description; empty for the nominal simulation.
        input: Name of the input that deviates; empty for none.
        by: Deviation in its unit.
        time_step: [s]
    """

    name: str = ""
    input: str = ""
    by: float = 0.0
    time_step: float = TIME_STEP


NOMINAL = Variant()


@dataclass(frozen=True)
class Condition:
    """Conditions of a trial, but for the step's height.

    Attributes:
        vehicle: Bundled name or vehicle file.
        front_flippers_deg: Angle of the front flippers [deg]; None for those of `segtrack climb`.
        rear_flippers_deg: Likewise of the rear flippers.
        speed: Belt speed [m/s].
        friction: None for the vehicle file's.
        engine: Name of the engine.
        track_model: Name of the track model.
    """

    vehicle: str
    front_flippers_deg: float | None
    rear_flippers_deg: float | None
    speed: float
    friction: float | None
    engine: EngineName = "native"
    track_model: str = "compliant"

    @classmethod
    def of(cls, trial: ClimbTrial, vehicle: str, engine: EngineName, track_model: str) -> Condition:
        """The condition of a trial, with a vehicle where the trial names none."""
        return cls(
            trial.vehicle if trial.vehicle is not None else vehicle,
            trial.front_flippers_deg,
            trial.rear_flippers_deg,
            trial.speed,
            trial.friction,
            engine,
            track_model,
        )

    @property
    def words(self) -> str:
        """It in words, without engine and track model."""
        parts = [Path(self.vehicle).stem]
        for end, angle in (("front", self.front_flippers_deg), ("rear", self.rear_flippers_deg)):
            if angle is not None:
                parts.append(f"{end} flippers {angle:g} deg")
        parts.append(f"{self.speed:g} m/s")
        if self.friction is not None:
            parts.append(f"friction {self.friction:g}")
        return ", ".join(parts)

    def setup(self, height: float, variant: Variant = NOMINAL) -> ClimbSetup:
        """The climb of a step of a height [m].

        Raises:
            SegtrackError: No such vehicle, no flippers where an angle is given, or the vehicle cannot have
                the variant.
        """
        vehicle = _load(self.vehicle)
        off = {variant.input: variant.by}
        speed, friction = self.speed + off.get("speed", 0.0), self.friction
        if variant.input == "friction" and friction is not None:
            friction += variant.by
        elif variant.input in VEHICLE_INPUTS:
            vehicle = shifted(vehicle, variant.input, variant.by)
        front, rear = (
            _angle(vehicle, end, given, default, off.get(f"{end}_flippers_deg", 0.0))
            for end, given, default in (
                ("front", self.front_flippers_deg, FRONT_FLIPPERS_DEG),
                ("rear", self.rear_flippers_deg, REAR_FLIPPERS_DEG),
            )
        )
        return ClimbSetup(
            vehicle=vehicle,
            step=height + off.get("height", 0.0),
            flippers=front,
            rear_flippers=rear,
            speed=speed,
            friction=friction,
            engine=self.engine,
            track_model=self.track_model,
            time_step=variant.time_step,
        )

    def check(self, height: float, variants: Mapping[str, float]) -> None:
        """See to it, before the work begins, that everything of it can be simulated.

        Raises:
            SegtrackError: See `setup`.
        """
        for variant in variants_of(variants):
            setup = self.setup(height, variant)
            setup.flipper_angles(setup.load_vehicle())
            for what, value in (("height [m]", setup.step), ("speed [m/s]", setup.speed)):
                if value <= 0:
                    got = Phrase(f"{value:g}" + (f" with {variant.name}" if variant.name else ""))
                    raise InvalidValueError(what, "greater than 0", got)


def variants_of(stds: Mapping[str, float]) -> tuple[Variant, ...]:
    """Nothing off; half of the time step; and each input `COVERAGE` standard deviations lower and higher."""
    off = [
        Variant(f"{name} {word}", name, sign * COVERAGE * std)
        for name, std in stds.items()
        for word, sign in (("lower", -1.0), ("higher", 1.0))
    ]
    return (NOMINAL, Variant("half the time step", time_step=TIME_STEP / 2), *off)


def outcome_of(condition: Condition, height: float, variant: Variant = NOMINAL) -> str:
    """Simulate a climb of a step of a height [m]; returns the outcome of `segtrack climb`, or `diverged`."""
    try:
        return run_climb(condition.setup(height, variant)).outcome
    except DivergedError:
        return "diverged"


def _angle(
    vehicle: VehicleDescription, end: str, given: float | None, default: float, off: float
) -> float | None:
    """Angle of the flippers at an end [rad]; None for a vehicle that is not asked for any and has none."""
    if given is None and all(flipper.tip_direction != end for flipper in vehicle.flippers.values()):
        return None
    return math.radians((default if given is None else given) + off)


@lru_cache
def _load(vehicle: str) -> VehicleDescription:
    return load_vehicle(vehicle)
