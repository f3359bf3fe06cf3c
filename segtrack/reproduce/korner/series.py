"""Series of runs of one event with rising obstacle size or speed, until the vehicle fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from segtrack.description import VehicleDescription
from segtrack.errors import SegtrackError
from segtrack.experiments import (
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
    """One run of a series.

    Attributes:
        tried: Obstacle size [m] or speed [m/s].
        passed: True if the vehicle got past the obstacle.
        ending: Outcome, with the limits that held a vehicle which did not pass.
        peak: Largest vertical acceleration at the driver's place over gravity [-].
        filtered_peak: Largest low-pass filtered acceleration over gravity [-].
        peak_with: Limits that held the vehicle around the peak.
        path: Path of the body frame's origin: x and z alternating [m].
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
    """Runs of an event with rising value, up to the first that fails.

    Of speeds that is the first at which the vehicle does not pass, or whose filtered peak exceeds the limit;
    where the sprocket is moved, whose peak does.

    Attributes:
        name: Name of the limit that is sought.
        obstacle: Obstacle; its size is the first of the values, unless speeds are raised.
        values: Sizes [m] or speeds [m/s], rising.
        driving: Driving mode.
        speed: Belt speed [m/s]; by default the drives' largest. For `launch` the values are speeds.
        friction: Friction coefficient of tracks on the ground [-].
        place: Sprocket place of the evaluation model; None for the base model.
        change: Change of the paper's model.
        time_step: Time step of the simulation [s].
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
        """Return the event for one value of the series."""
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
    """Results of a series.

    Attributes:
        series: Series that was run.
        trials: Runs of the series, in order.
        chain: Chain fitted to the sprocket's place; None for the base model.
        refused: Reason why the vehicle cannot be built; empty if it can.
    """

    series: Series
    trials: tuple[SeriesTrial, ...]
    chain: FittedChain | None = None
    refused: str = ""

    @property
    def largest(self) -> float | None:
        """Largest value passed; None if the first run failed."""
        return max((trial.tried for trial in self.trials if trial.passed), default=None)

    @property
    def failed(self) -> SeriesTrial | None:
        """First run that failed; None if all passed."""
        return next((trial for trial in self.trials if not trial.passed), None)

    @property
    def limit(self) -> float | None:
        """Largest size passed [m], or speed at which the peak crosses the limit [m/s].

        None if the first value is beyond it, or none is.
        """
        if self.series.driving == "launch":
            return self.limiting_speed(lambda trial: trial.peak)
        return self.largest if self.failed else None

    def limiting_speed(self, measure: Callable[[SeriesTrial], float]) -> float | None:
        """Speed at which a measure first crosses the limit, by interpolation [m/s]; None if it never does."""
        limit = Assumptions.peak_limit
        for before, after in zip(self.trials, self.trials[1:], strict=False):
            low, high = measure(before), measure(after)
            if low <= limit < high:
                return before.tried + (limit - low) / (high - low) * (after.tried - before.tried)
        return None


class FullThrottle:
    """Driver with full throttle on both sides, who never steers."""

    def __init__(self, speed: float) -> None:
        """Prepare to drive a robot; the speed is ignored."""

    def __call__(self, robot: Robot, time: float) -> None:
        """Command full throttle on both sides."""
        robot.set_throttle(1.0, 1.0)


def run_series(series: Series) -> SeriesResult:
    """Run a series; an impossible sprocket place is a result, too."""
    if series.place is None:
        with base_model(series.change) as vehicle:
            return SeriesResult(series, _raise(series, vehicle))
    try:
        with evaluation_model(series.place, series.change) as (vehicle, chain):
            return SeriesResult(series, _raise(series, vehicle), chain)
    except SegtrackError as error:
        return SeriesResult(series, (), None, str(error))


def _raise(series: Series, vehicle: VehicleDescription) -> tuple[SeriesTrial, ...]:
    """Run the values in turn until one fails."""
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
    """Result of one run as a row."""
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
