"""Climbs simulated under a condition with one thing off, and their agreement with the robot's outcomes.

Results for a table of trials: confusion, and the highest step that is climbed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import binomtest, chi2

from segtrack.description import VehicleDescription, load_vehicle
from segtrack.engine import EngineName
from segtrack.errors import DivergedError, InvalidValueError, Phrase
from segtrack.experiments import FRONT_FLIPPERS_DEG, REAR_FLIPPERS_DEG, ClimbSetup, run_climb
from segtrack.logs.compare.climb_table import ClimbTable, ClimbTrial, Outcome
from segtrack.logs.compare.simulations import VEHICLE_INPUTS, shifted
from segtrack.logs.compare.uncertainty import COVERAGE
from segtrack.logs.statistics import CONFIDENCE

TIME_STEP = 0.001
"""Time step of the simulations, but for those with half of it [s]."""
_SIDES = ("lower", -COVERAGE), ("higher", COVERAGE)


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


def variants_of(stds: Mapping[str, float]) -> tuple[Variant, ...]:
    """Nothing off; half of the time step; and each input `COVERAGE` standard deviations lower and higher."""
    off = [Variant(f"{name} {w}", name, by * std) for name, std in stds.items() for w, by in _SIDES]
    return (NOMINAL, Variant("half the time step", time_step=TIME_STEP / 2), *off)


load_once = lru_cache(load_vehicle)


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
        own = trial.model_dump(include={"front_flippers_deg", "rear_flippers_deg", "speed", "friction"})
        return cls(
            vehicle if trial.vehicle is None else trial.vehicle, **own, engine=engine, track_model=track_model
        )

    @property
    def words(self) -> str:
        """It in words, without engine and track model."""
        parts = [Path(self.vehicle).stem]
        for end, angle in (("front", self.front_flippers_deg), ("rear", self.rear_flippers_deg)):
            if angle is not None:
                parts.append(f"{end} flippers {angle:g} deg")
        friction = [] if self.friction is None else [f"friction {self.friction:g}"]
        return ", ".join([*parts, f"{self.speed:g} m/s", *friction])

    def setup(self, height: float, variant: Variant = NOMINAL) -> ClimbSetup:
        """The climb of a step of a height [m].

        Raises:
            SegtrackError: No such vehicle, no flippers where an angle is given, or the vehicle cannot have
                the variant.
        """
        vehicle, off = load_once(self.vehicle), {variant.input: variant.by}
        speed, friction = self.speed + off.get("speed", 0.0), self.friction
        if variant.input == "friction" and friction is not None:
            friction += variant.by
        elif variant.input in VEHICLE_INPUTS:
            vehicle = shifted(vehicle, variant.input, variant.by)
        front, rear = off.get("front_flippers_deg", 0.0), off.get("rear_flippers_deg", 0.0)
        return ClimbSetup(
            vehicle=vehicle,
            step=height + off.get("height", 0.0),
            flippers=_angle(vehicle, "front", self.front_flippers_deg, FRONT_FLIPPERS_DEG, front),
            rear_flippers=_angle(vehicle, "rear", self.rear_flippers_deg, REAR_FLIPPERS_DEG, rear),
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


def outcome_of(condition: Condition, height: float, variant: Variant = NOMINAL) -> str:
    """Simulate a climb of a step of a height [m]; returns the outcome of `segtrack climb`, or `diverged`."""
    try:
        return run_climb(condition.setup(height, variant)).outcome
    except DivergedError:
        return "diverged"


def _angle(
    vehicle: VehicleDescription, end: str, given: float | None, own: float, off: float
) -> float | None:
    """Angle of the flippers at an end [rad]; None for a vehicle that is not asked for any and has none."""
    if given is None and all(flipper.tip_direction != end for flipper in vehicle.flippers.values()):
        return None
    return math.radians((own if given is None else given) + off)


@dataclass(frozen=True)
class TrialResult:
    """A trial and its simulations.

    Attributes:
        trial: Trial of the table.
        condition: Vehicle, flippers and speed of the trial.
        outcomes: Outcome of each variant, by its name; the nominal one has an empty name.
    """

    trial: ClimbTrial
    condition: Condition
    outcomes: Mapping[str, str]

    @property
    def nominal(self) -> str:
        """Outcome of the nominal simulation."""
        return self.outcomes[""]

    @property
    def simulated(self) -> Outcome:
        """The nominal outcome as a table has it."""
        return "climbed" if self.nominal == "climbed" else "failed"

    @property
    def flips(self) -> tuple[str, ...]:
        """Variants that end otherwise, by name; all that diverged among them."""
        climbed = self.nominal == "climbed"
        others = self.outcomes.items()
        return tuple(name for name, end in others if end == "diverged" or (end == "climbed") != climbed)

    @property
    def predicted(self) -> Predicted:
        """The simulated outcome, where nothing that is uncertain flips it."""
        return "undecided" if self.flips else self.simulated

    @property
    def agrees(self) -> bool:
        """True if the nominal outcome is the robot's."""
        return self.simulated == self.trial.outcome

    def summary(self) -> dict[str, object]:
        """Return a JSON-serialisable dict."""
        return {
            **self.trial.model_dump(exclude={"simulation"}),
            "vehicle": self.condition.vehicle,
            "published_simulation": self.trial.simulation,
            "simulated": self.simulated,
            "ended": self.nominal,
            "predicted": self.predicted,
            "flips": list(self.flips),
        }


@dataclass(frozen=True)
class LimitResult:
    """The step limit under one condition.

    Attributes:
        condition: Vehicle, flippers and speed.
        robot: Limit of the robot, by its outcomes.
        nominal: Limit of the nominal simulation.
        by: Change of the limit with each input `COVERAGE` standard deviations off, half of what is between
            lower and higher, and half the time step [m]; None where a limit of these is open.
        down: Change downwards by each of the latter [m].
    """

    condition: Condition
    robot: Limit
    nominal: Limit
    by: Mapping[str, float | None]
    down: Mapping[str, float] = field(default_factory=dict)

    @property
    def simulated(self) -> Limit:
        """Limit of the simulation, its interval widened by all inputs, in quadrature; open where one is."""
        if self.nominal.height is None or self.nominal.high is None:
            return self.nominal
        moved = [by for by in self.by.values() if by is not None]
        low = self.nominal.low - math.hypot(*moved, *self.down.values())
        high = None if None in self.by.values() else self.nominal.high + math.hypot(*moved)
        return Limit(self.nominal.height, max(low, 0.0), high, self.nominal.method)

    @property
    def agrees(self) -> bool:
        """True if the two intervals have a height in common."""
        one, other = self.simulated, self.robot
        ends = ((one.low, other.high), (other.low, one.high))
        return all(high is None or low <= high for low, high in ends)

    def summary(self) -> dict[str, object]:
        """Return a JSON-serialisable dict."""
        return {
            "condition": self.condition.words,
            "robot": self.robot.summary(),
            "simulation": self.simulated.summary(),
            "moved_by": dict(self.by),
            "agrees": self.agrees,
        }


@dataclass(frozen=True)
class ClimbsResult:
    """A table of trials, simulated.

    Attributes:
        table: The table.
        uncertain: Standard deviations of what the trials were driven with, by name.
        trials: Trials that are simulated with all variants, in the table's order.
        limits: Limits by condition, in the table's order.
        finished: True if everything was simulated.
        notes: Remarks on what may be right of the table, a sentence each.
    """

    table: ClimbTable
    uncertain: Mapping[str, float]
    trials: tuple[TrialResult, ...]
    limits: tuple[LimitResult, ...]
    finished: bool = True
    notes: tuple[str, ...] = ()

    @property
    def confusion(self) -> Confusion:
        """Predictions, by how the robot's trials ended."""
        return Confusion.of((result.trial.outcome, result.predicted) for result in self.trials)

    @property
    def nominal_confusion(self) -> Confusion:
        """Confusion of the nominal simulations."""
        return Confusion.of((result.trial.outcome, result.simulated) for result in self.trials)

    @property
    def published_confusion(self) -> Confusion | None:
        """Confusion of the simulation in the table; None if it has none."""
        pairs = [(t.outcome, t.simulation) for t in self.table.trials if t.simulation is not None]
        return Confusion.of(pairs) if pairs else None

    def summary(self) -> dict[str, object]:
        """Return a JSON-serialisable dict."""
        published = self.published_confusion
        return {
            "title": self.table.title,
            "source": self.table.source,
            "uncertain": dict(self.uncertain) or "not given",
            "coverage": COVERAGE,
            "finished": self.finished,
            "notes": list(self.notes),
            "trials": [result.summary() for result in self.trials],
            "confusion": self.confusion.summary(),
            "nominal_confusion": self.nominal_confusion.summary(),
            "published_confusion": None if published is None else published.summary(),
            "limits": [limit.summary() for limit in self.limits],
        }


Predicted = Literal["climbed", "failed", "undecided"]
OUTCOMES: tuple[Outcome, ...] = ("climbed", "failed")
PREDICTIONS: tuple[Predicted, ...] = ("climbed", "failed", "undecided")


class Rate(NamedTuple):
    """Number of trials with a property, and their ratio.

    Attributes:
        hits: So many ...
        trials: ... of so many.
        value: Their ratio; None without trials.
        interval: 95 % interval of the ratio (Wilson 1927); None without trials.
    """

    hits: int
    trials: int
    value: float | None
    interval: tuple[float, float] | None

    @classmethod
    def of(cls, hits: int, trials: int) -> Rate:
        """The rate with its interval."""
        if not trials:
            return cls(hits, trials, None, None)
        interval = binomtest(hits, trials).proportion_ci(CONFIDENCE, method="wilson")
        return cls(hits, trials, hits / trials, (float(interval.low), float(interval.high)))

    def summary(self) -> dict[str, object]:
        """Return a JSON-serialisable dict."""
        interval = None if self.interval is None else list(self.interval)
        return {"hits": self.hits, "trials": self.trials, "value": self.value, "interval_95": interval}


@dataclass(frozen=True)
class Confusion:
    """Numbers of trials by the robot's outcome and the predicted one.

    Attributes:
        counts: Number of trials by the robot's outcome and the predicted one.
    """

    counts: dict[tuple[Outcome, Predicted], int]

    @classmethod
    def of(cls, pairs: Iterable[tuple[Outcome, Predicted]]) -> Confusion:
        """Count pairs of the robot's outcome and the predicted one."""
        counted = Counter(pairs)
        return cls({(o, p): counted[o, p] for o in OUTCOMES for p in PREDICTIONS})

    @property
    def agreement(self) -> Rate:
        """Decided trials that end as the robot's, among all decided ones."""
        hits = sum(self.counts[o, o] for o in OUTCOMES)
        return Rate.of(hits, sum(self._decided(o) for o in OUTCOMES))

    @property
    def climbed(self) -> Rate:
        """Decided trials that robot and simulation climb, among those that the robot climbs."""
        return Rate.of(self.counts["climbed", "climbed"], self._decided("climbed"))

    @property
    def failed(self) -> Rate:
        """Decided trials that robot and simulation fail, among those that the robot fails."""
        return Rate.of(self.counts["failed", "failed"], self._decided("failed"))

    @property
    def undecided(self) -> int:
        """Trials that the simulation does not decide."""
        return sum(self.counts[o, "undecided"] for o in OUTCOMES)

    def _decided(self, outcome: Outcome) -> int:
        return self.counts[outcome, "climbed"] + self.counts[outcome, "failed"]

    def summary(self) -> dict[str, object]:
        """Return a JSON-serialisable dict."""
        return {
            "counts": {f"robot_{o}": {p: self.counts[o, p] for p in PREDICTIONS} for o in OUTCOMES},
            "agreement": self.agreement.summary(),
            "climbed": self.climbed.summary(),
            "failed": self.failed.summary(),
            "undecided": self.undecided,
        }


Method = Literal["bracket", "logistic", "bisection"]
RESOLUTION = 1 / 200
"""Resolution of a bisected limit, as a fraction of the highest step that was tried."""
SCAN = 1 / 8
"""Fraction of the highest step that was tried, by which steps rise until one is not climbed."""
_HIGHEST = 2.0
"""Times the highest step that was tried, above which no limit is looked for."""
_FAR = 10.0
"""Times the range of heights, beyond which an interval is open."""


@dataclass(frozen=True)
class Limit:
    """The height above which steps are not climbed.

    Attributes:
        height: Best estimate [m]; None if it is not known, but for its interval.
        low: Lower end of its interval [m]; 0 if even the lowest step was not climbed.
        high: Upper end of its interval [m]; None if every step was climbed.
        method: `bracket` between the highest step climbed and the lowest not; `logistic` where these
            overlap, with its profile likelihood interval of 95 %; `bisection` in simulation.
    """

    height: float | None
    low: float
    high: float | None
    method: Method

    def summary(self) -> dict[str, object]:
        """Return a JSON-serialisable dict."""
        return dict(vars(self))


def robot_limit(heights: Sequence[float], climbed: Sequence[bool], spread: float = 0.0) -> Limit:
    """The limit that outcomes show.

    Args:
        heights: Heights of the steps [m].
        climbed: Outcomes, true for a step that was climbed.
        spread: Uncertainty of the heights, added to a bracket's ends [m].
    """
    h, up = np.asarray(heights, dtype=float), np.asarray(climbed, dtype=bool)
    below = float(h[up].max()) if up.any() else None
    above = float(h[~up].min()) if (~up).any() else None
    if above is None:
        assert below is not None
        return Limit(None, max(below - spread, 0.0), None, "bracket")
    if below is None:
        return Limit(None, 0.0, above + spread, "bracket")
    if below < above:
        return Limit((below + above) / 2, max(below - spread, 0.0), above + spread, "bracket")
    return _logistic(h, up)


def _logistic(heights: NDArray[np.float64], climbed: NDArray[np.bool_]) -> Limit:
    """Height of a step that is climbed as often as not, by a logistic curve that falls with height."""
    low, high = float(heights.min()), float(heights.max())
    width = max(high - low, 1e-3 * high)

    def mismatch(middle: float, log_scale: float) -> float:
        """Minus the logarithm of the likelihood."""
        steps = (heights - middle) / math.exp(log_scale)
        return float(np.logaddexp(0.0, np.where(climbed, steps, -steps)).sum())

    def profile(middle: float) -> float:
        bounds = math.log(1e-3 * width), math.log(1e2 * width)
        grid = np.linspace(*bounds, 25)
        best = grid[int(np.argmin([mismatch(middle, s) for s in grid]))]
        step = grid[1] - grid[0]
        found = minimize_scalar(
            lambda s: mismatch(middle, s),
            bounds=(max(best - step, bounds[0]), min(best + step, bounds[1])),
            method="bounded",
        )
        return float(found.fun)

    grid = np.linspace(low - width, high + width, 61)
    at = int(np.argmin([profile(middle) for middle in grid]))
    step = grid[1] - grid[0]
    best = minimize_scalar(profile, bounds=(grid[at] - step, grid[at] + step), method="bounded")
    allowed = float(best.fun) + chi2.ppf(CONFIDENCE, 1) / 2

    def end(sign: float) -> float | None:
        far = best.x + sign * _FAR * width
        if profile(far) < allowed:
            return None
        return float(brentq(lambda middle: profile(middle) - allowed, best.x, far, xtol=1e-5))

    lower = end(-1.0)
    return Limit(float(best.x), max(lower, 0.0) if lower is not None else 0.0, end(1.0), "logistic")


def simulated_limit(climbs: Callable[[float], bool], highest: float, start: float = 0.0) -> Limit:
    """The limit of a simulation: steps become higher until one is not climbed, then half way, and so on.

    Every step below that was tried is climbed, but for one that is the first of all.

    Args:
        climbs: Function that returns true if a step of a height [m] is climbed.
        highest: The highest step of the table [m], which gives the scale.
        start: A height near the limit [m]; 0 if none is known.

    Returns:
        The limit, between the highest step that was climbed and the lowest that was not.
    """
    stride, most = SCAN * highest, _HIGHEST * highest
    height = start if start > 0 else stride
    while start > 0 and height > 0 and not climbs(height):
        height -= stride
    low = max(height, 0.0) if start > 0 else 0.0
    high = low + stride
    while climbs(high):
        low, high = high, high + stride
        if high > most:
            return Limit(None, low, None, "bisection")
    while high - low > RESOLUTION * highest:
        middle = (low + high) / 2
        low, high = (middle, high) if climbs(middle) else (low, middle)
    return Limit((low + high) / 2, low, high, "bisection")
