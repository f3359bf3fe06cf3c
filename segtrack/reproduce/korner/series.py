"""An event run again and again, its size or its speed raised, until the vehicle fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from segtrack.description import VehicleDescription
from segtrack.errors import SegtrackError
from segtrack.events import (
    Assumptions,
    EventObstacle,
    EventResult,
    EventSetup,
    run_event,
)
from segtrack.reproduce.korner.paper import FRICTION
from segtrack.reproduce.korner.vehicle import (
    AS_PAPER,
    FittedChain,
    ModelChange,
    SprocketPlace,
    base_model,
    evaluation_model,
)
from segtrack.robot import Robot

TIME_STEP = 0.001
"""Step of the simulation [s]."""
Driving: TypeAlias = Literal["throttle", "creep", "launch"]
"""Way of driving: full throttle (4.2.2); one belt speed, with obstacles that are raised; or one that is \
raised itself (4.2.1). Before steps a vehicle begins at rest, elsewhere at its speed."""
CREEP = Assumptions.gap_speed
"""Belt speed of creeping, the paper's at gaps [m/s]."""
_PATH_INTERVAL = 5
"""Samples of 20 ms from one point of a path to the next."""


class SeriesTrial(NamedTuple):
    """One run.

    Attributes:
        tried: Size [m] or speed [m/s].
        passed: True if the vehicle got past the obstacle.
        ending: Outcome, and what limits a vehicle that did not pass.
        peak: Largest vertical acceleration at the driver's place, over that of gravity [-].
        filtered_peak: Largest behind the low pass, over that of gravity [-].
        peak_with: Limits found around the peak.
        path: Path of the body's origin, x and z in turn [m].
    """

    tried: float
    passed: bool
    ending: str
    peak: float
    filtered_peak: float
    peak_with: str
    path: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Series:
    """Runs of an event, from the lowest value up to the first that fails.

    Of speeds that is the first at which the vehicle does not pass, or whose filtered peak exceeds the limit;
    where the sprocket is moved, whose peak does.

    Attributes:
        name: Name of what is sought.
        obstacle: Obstacle; its size is the first of the values unless speeds are raised.
        values: Sizes [m] or speeds [m/s], rising.
        driving: Way of driving.
        speed: Belt speed [m/s]; the drives' largest if not given. Of `launch` the values are speeds.
        friction: Friction of tracks on the ground.
        place: Place of the evaluation model's sprocket; the base model if not given.
        change: Change of the model.
        time_step: Step of the simulation [s].
    """

    name: str
    obstacle: EventObstacle
    values: tuple[float, ...]
    driving: Driving = "throttle"
    speed: float | None = None
    friction: float = FRICTION
    place: SprocketPlace | None = None
    change: ModelChange = AS_PAPER
    time_step: float = TIME_STEP

    def setup(self, vehicle: VehicleDescription, value: float) -> EventSetup:
        """Return the event of a value."""
        launched = self.driving == "launch"
        return EventSetup(
            vehicle,
            self.obstacle if launched else self.obstacle.of_size(value),
            speed=value if launched else self.speed,
            friction=self.friction,
            engine="native",
            track_model="chain",
            time_step=self.time_step,
            driver=FullThrottle if self.driving == "throttle" else None,
        )


@dataclass(frozen=True)
class SeriesResult:
    """Runs of a series.

    Attributes:
        series: The series.
        trials: Its runs, in order.
        chain: Chain that was fitted to the sprocket's place; None of the base model.
        refused: Reason for which there is no such vehicle; empty otherwise.
    """

    series: Series
    trials: tuple[SeriesTrial, ...]
    chain: FittedChain | None = None
    refused: str = ""

    @property
    def largest(self) -> float | None:
        """Largest value that was passed; None if the first was not."""
        return max((trial.tried for trial in self.trials if trial.passed), default=None)

    @property
    def failed(self) -> SeriesTrial | None:
        """First run that did not pass; None if all did."""
        return next((trial for trial in self.trials if not trial.passed), None)

    @property
    def limit(self) -> float | None:
        """Largest size that was passed [m], or speed at which the peak crosses the limit [m/s].

        None if the first value is beyond it, or none is.
        """
        if self.series.driving == "launch":
            return self.limiting_speed(lambda trial: trial.peak)
        return self.largest if self.failed else None

    def limiting_speed(self, measure: Callable[[SeriesTrial], float]) -> float | None:
        """Speed at which a measure first crosses the limit, by interpolation; None if it does not."""
        limit = Assumptions.peak_limit
        for before, after in zip(self.trials, self.trials[1:], strict=False):
            low, high = measure(before), measure(after)
            if low <= limit < high:
                return before.tried + (limit - low) / (high - low) * (after.tried - before.tried)
        return None


class FullThrottle:
    """Driver who opens the throttles at once, and does not steer."""

    def __init__(self, speed: float) -> None:
        """Take a seat; the speed is not held."""

    def __call__(self, robot: Robot, time: float) -> None:
        """Open the throttles."""
        robot.set_throttle(1.0, 1.0)


def run_series(series: Series) -> SeriesResult:
    """Run a series; a place of the sprocket that cannot be is a result, too."""
    if series.place is None:
        with base_model(series.change) as vehicle:
            return SeriesResult(series, _raise(series, vehicle))
    try:
        with evaluation_model(series.place, series.change) as (vehicle, chain):
            return SeriesResult(series, _raise(series, vehicle), chain)
    except SegtrackError as error:
        return SeriesResult(series, (), None, str(error))


def _raise(series: Series, vehicle: VehicleDescription) -> tuple[SeriesTrial, ...]:
    trials: list[SeriesTrial] = []
    for value in series.values:
        trials.append(_trial(value, run_event(series.setup(vehicle, value))))
        # Where the sprocket is moved the first crossing is enough.
        peak = trials[-1].filtered_peak if series.place is None else trials[-1].peak
        over = series.driving == "launch" and peak > Assumptions.peak_limit
        if not trials[-1].passed or over:
            break
    return tuple(trials)


def _trial(value: float, result: EventResult) -> SeriesTrial:
    path = np.round(result.motion["position"][::_PATH_INTERVAL, ::2], 4)
    return SeriesTrial(
        value,
        result.passed,
        ", ".join((result.outcome, *result.limited_by)),
        result.ridden.peak,
        result.ridden.filtered_peak,
        ", ".join(result.peak_with),
        tuple(map(tuple, path.tolist())),
    )
