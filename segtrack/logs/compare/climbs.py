"""A table of trials simulated: outcomes, what flips them, step limits, and what of the table cannot be.

Before a trial is simulated, the table is held against physics and its vehicles.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from segtrack.description import VehicleDescription, vehicle_length
from segtrack.engine import EngineName, resolve
from segtrack.errors import ClimbsFileError, InvalidValueError, Phrase, Problem
from segtrack.experiments import FRONT_FLIPPERS_DEG, REAR_FLIPPERS_DEG, Workers
from segtrack.logs.compare.climb_table import TYPICAL_SPEED, ClimbTable, ClimbTrial, fitting_unit
from segtrack.logs.compare.climb_trials import (
    NOMINAL,
    ClimbsResult,
    Condition,
    Limit,
    LimitResult,
    TrialResult,
    Variant,
    load_once,
    outcome_of,
    robot_limit,
    simulated_limit,
    variants_of,
)
from segtrack.logs.compare.uncertainty import COVERAGE


class ClimbsInterrupted(KeyboardInterrupt):
    """Ctrl-C while trials are simulated; carries what there is so far."""

    def __init__(self, result: ClimbsResult) -> None:
        """Keep the trials and limits that are whole."""
        super().__init__()
        self.result = result


class ClimbJob(NamedTuple):
    """A climb of a step of a height [m]."""

    condition: Condition
    variant: Variant
    height: float


class LimitJob(NamedTuple):
    """A search for a limit; highest step of the table and a height near the limit, 0 for none [m]."""

    condition: Condition
    variant: Variant
    highest: float
    start: float


Job = ClimbJob | LimitJob


@dataclass(frozen=True)
class Plan:
    """Simulations of a table.

    Attributes:
        table: The table.
        conditions: Condition of each trial.
        uncertain: Standard deviations, by name.
        notes: Remarks on what may be right of the table, a sentence each.
    """

    table: ClimbTable
    conditions: tuple[Condition, ...]
    uncertain: Mapping[str, float]
    notes: tuple[str, ...] = ()

    @property
    def variants(self) -> tuple[Variant, ...]:
        """Variants of each simulation, the nominal one first."""
        return variants_of(self.uncertain)

    @property
    def groups(self) -> tuple[Condition, ...]:
        """Each condition once."""
        return tuple(dict.fromkeys(self.conditions))

    @property
    def highest(self) -> float:
        """The highest step [m]."""
        return max(trial.height for trial in self.table.trials)

    @property
    def job_count(self) -> int:
        """Number of climbs and searches."""
        return len(self.climbs) + len(self.groups) * len(self.limit_variants)

    @property
    def limit_variants(self) -> tuple[Variant, ...]:
        """Variants that a limit depends on: all but those of the height."""
        return tuple(variant for variant in self.variants if variant.input != "height")

    @property
    def climbs(self) -> tuple[ClimbJob, ...]:
        """Each condition and height once, with every variant."""
        pairs = zip(self.conditions, self.table.trials, strict=True)
        places = dict.fromkeys((condition, trial.height) for condition, trial in pairs)
        return tuple(ClimbJob(c, variant, height) for c, height in places for variant in self.variants)


def plan_climbs(
    table: ClimbTable,
    vehicle: str | None = None,
    uncertain: Mapping[str, float] | None = None,
    *,
    engine: EngineName | None = None,
    track_model: str | None = None,
) -> Plan:
    """Plan the simulations of a table, and check them.

    Args:
        table: The table.
        vehicle: Bundled name or vehicle file, of trials that have none; the table's if not given.
        uncertain: Standard deviations by name, over the table's.
        engine: Name of the engine; native where it runs the track model.
        track_model: Name of the track model; compliant in the native engine.

    Raises:
        ClimbsFileError: The trials contradict physics or their vehicles.
        SegtrackError: No vehicle, or one that cannot do what a trial asks; no such engine or track model.
    """
    chosen = vehicle if vehicle is not None else table.vehicle
    if chosen is None and any(trial.vehicle is None for trial in table.trials):
        raise InvalidValueError("vehicle of the trials", "given by --vehicle or the table", Phrase("none"))
    if engine is None and track_model is None:
        engine = "native"
    built = resolve(engine, track_model)
    stds = {**table.uncertain, **(uncertain or {})}
    conditions = tuple(Condition.of(trial, chosen or "", *built) for trial in table.trials)
    pairs = list(zip(table.trials, conditions, strict=True))
    driven = [DrivenTrial(trial, condition, load_once(condition.vehicle)) for trial, condition in pairs]
    if problems := list(contradictions(driven)):
        raise ClimbsFileError(table.title or "trials", problems)
    for trial, condition in pairs:
        condition.check(trial.height, stds)
    return Plan(table, conditions, stds, tuple(remarks(driven)))


def run_climbs(
    plan: Plan, workers: int | None = None, on_done: Callable[[], object] = lambda: None
) -> ClimbsResult:
    """Simulate a table of trials.

    Args:
        plan: Simulations of the table.
        workers: Processes; as many as there are cores if not given.
        on_done: Called after each of the plan's jobs.

    Raises:
        ClimbsInterrupted: Ctrl-C.
    """
    done: dict[Job, str | Limit] = {}

    def run(pool: Workers, jobs: list[Job]) -> None:
        def note(index: int, found: str | Limit) -> None:
            done[jobs[index]] = found
            on_done()

        pool.run(run_job, jobs, note)

    try:
        with Workers(workers) as pool:
            nominal = [LimitJob(group, NOMINAL, plan.highest, 0.0) for group in plan.groups]
            run(pool, [*nominal, *plan.climbs])
            run(pool, _variant_limits(plan, done))
    except KeyboardInterrupt:
        raise ClimbsInterrupted(_result(plan, done, finished=False)) from None
    return _result(plan, done, finished=True)


def run_job(job: Job) -> str | Limit:
    """Run a climb or the search for a limit."""
    if isinstance(job, ClimbJob):
        return outcome_of(job.condition, job.height, job.variant)

    def climbs(height: float) -> bool:
        return outcome_of(job.condition, height, job.variant) == "climbed"

    return simulated_limit(climbs, job.highest, job.start)


def _variant_limits(plan: Plan, done: Mapping[Job, str | Limit]) -> list[Job]:
    """Searches with each variant, from where the nominal limit is."""
    jobs: list[Job] = []
    for group in plan.groups:
        limit = done[LimitJob(group, NOMINAL, plan.highest, 0.0)]
        assert isinstance(limit, Limit)
        for variant in plan.limit_variants[1:]:
            jobs.append(LimitJob(group, variant, plan.highest, limit.height or limit.low))
    return jobs


def _result(plan: Plan, done: Mapping[Job, str | Limit], finished: bool) -> ClimbsResult:
    trials = []
    for condition, trial in zip(plan.conditions, plan.table.trials, strict=True):
        jobs = {variant.name: ClimbJob(condition, variant, trial.height) for variant in plan.variants}
        if all(job in done for job in jobs.values()):
            outcomes = {name: str(done[job]) for name, job in jobs.items()}
            trials.append(TrialResult(trial, condition, outcomes))
    limits = [limit for group in plan.groups if (limit := _limit(plan, done, group)) is not None]
    return ClimbsResult(plan.table, plan.uncertain, tuple(trials), tuple(limits), finished, plan.notes)


def _limit(plan: Plan, done: Mapping[Job, str | Limit], group: Condition) -> LimitResult | None:
    """The limit of a condition; None if its simulations are not done."""
    found = {
        job.variant.name: limit
        for job, limit in done.items()
        if isinstance(job, LimitJob) and job.condition == group and isinstance(limit, Limit)
    }
    if len(found) < len(plan.limit_variants):
        return None
    own = [trial for trial, c in zip(plan.table.trials, plan.conditions, strict=True) if c == group]
    robot = robot_limit(
        [trial.height for trial in own],
        [trial.outcome == "climbed" for trial in own],
        COVERAGE * plan.uncertain.get("height", 0.0),
    )
    nominal = found[""]
    pairs = {"half the time step": (nominal, found["half the time step"])}
    pairs |= {
        name: (found[f"{name} lower"], found[f"{name} higher"]) for name in plan.uncertain if name != "height"
    }
    by, down = dict[str, float | None](), dict[str, float]()
    for name, pair in pairs.items():
        heights = [limit.height for limit in pair if limit.height is not None]
        if len(heights) == len(pair):
            whole = abs(heights[0] - heights[1])
            by[name] = whole if pair[0] is nominal else whole / 2
        else:
            by[name] = None
            down[name] = max([0.0, *((nominal.height or nominal.low) - height for height in heights)])
    return LimitResult(group, robot, nominal, by, down)


_TYPICAL_HEIGHT = 0.3
"""Height of a typical step over the length of its vehicle [-]."""
_TRIED = 2.0
"""Height over the length of the vehicle, beyond which nobody tries a step."""
_LOW = 0.02
"""Height over the length of the vehicle, below which a step is none to speak of."""
_FASTER = 1.05
"""Speed over that of the drives, beyond which the belts cannot have had it."""
_ROUND_RAD, _NEAR_RAD = math.pi / 12, 0.005
"""Angles in radians are known by being multiples of 15 deg, but for rounding [rad]."""
_DEFAULTS = {
    "front_flippers_deg": f"{FRONT_FLIPPERS_DEG:g}",
    "rear_flippers_deg": f"{REAR_FLIPPERS_DEG:g}",
    "friction": "the vehicle file's",
}


class DrivenTrial(NamedTuple):
    """A trial, what it is driven with, and its vehicle."""

    trial: ClimbTrial
    condition: Condition
    vehicle: VehicleDescription

    @property
    def length(self) -> float:
        """Length of the vehicle, its flippers stretched out [m]."""
        return vehicle_length(self.vehicle)

    @property
    def top_speed(self) -> float:
        """Largest speed of its belts [m/s]."""
        return max(track.spec.drive.top_speed for track in self.vehicle.mounted_tracks())


def contradictions(driven: Sequence[DrivenTrial]) -> Iterator[Problem]:
    """Yield what cannot be: what a vehicle cannot do, and outcomes that are the wrong way round."""
    yield from _too_high(driven)
    yield from _too_fast(driven)
    yield from _radians(driven)
    for condition, own in _groups(driven):
        climbed, failed = (_heights(own, outcome) for outcome in ("climbed", "failed"))
        if len(set(climbed)) > 1 and len(set(failed)) > 1 and min(climbed) > max(failed):
            yield Problem(
                "outcome",
                f"must fall with height, got climbed from {min(climbed):g} m and failed up to "
                f"{max(failed):g} m ({condition.words}): are climbed and failed swapped?",
            )


def remarks(driven: Sequence[DrivenTrial]) -> Iterator[str]:
    """Yield what may be right and should be known to whoever reads the result."""
    trials = [each.trial for each in driven]
    for name, value in _DEFAULTS.items():
        empty = [i for i, trial in enumerate(trials, 1) if getattr(trial, name) is None]
        if empty and len(empty) < len(trials):
            yield f"{name} is empty in trials {_numbers(empty)}, which are driven with {value}"
    heights = {trial.height for trial in trials}
    for name in ("speed", "friction"):
        values = {getattr(trial, name) for trial in trials} - {None}
        if len(heights) == 1 and len(values) > 2:
            yield f"height is {heights.pop():g} m in all trials while {name} varies: are they swapped?"
            break
    for condition, own in _groups(driven):
        yield from _repeats(condition, own)
    longest = max(each.length for each in driven)
    highest = max(trial.height for trial in trials)
    if highest < _LOW * longest:
        yield f"no step is higher than {highest:g} m, beside a vehicle of {longest:.2g} m: is it in metres?"
    yield from _beyond_limits(driven)
    yield from _fine_angles(driven)


def _too_high(driven: Sequence[DrivenTrial]) -> Iterator[Problem]:
    """Steps higher than a vehicle is long, climbed, or so high that nobody would try."""
    wrong = [
        (i, each)
        for i, each in enumerate(driven, 1)
        if each.trial.height > each.length * (1.0 if each.trial.outcome == "climbed" else _TRIED)
    ]
    if not wrong:
        return
    first = wrong[0][1]
    heights = [each.trial.height for each in driven]
    own = [each.trial.height for _, each in wrong]
    expected = f"must be in metres and below {first.length:.2g} m, the length of {first.vehicle.name}"
    if 2 * len(wrong) > len(driven):
        unit = fitting_unit("height", heights, _TRIED * first.length, _TYPICAL_HEIGHT * first.length)
        end = "" if unit is None else f": {unit}"
        yield Problem("height", f"{expected}, got {min(heights):g} to {max(heights):g}{end}")
        return
    likely = max((height for height in heights if height not in own), default=None)
    for i, each in wrong:
        height, end = each.trial.height, ""
        if likely is not None:
            ratios = {height / 10**k: abs(math.log(height / 10**k / likely)) for k in (1, 2, 3)}
            end = f": {min(ratios, key=ratios.__getitem__):g} would fit"
        yield Problem("height", f"{expected}, got {height:g} in trial {i}{end}")


def _too_fast(driven: Sequence[DrivenTrial]) -> Iterator[Problem]:
    """Speeds of the table that the drives do not reach; by default a vehicle goes as fast as they do."""
    told = [each for each in driven if "speed" in each.trial.model_fields_set]
    wrong = [each for each in told if each.trial.speed > _FASTER * each.top_speed]
    if wrong:
        first, speeds = wrong[0], sorted({each.trial.speed for each in wrong})
        unit = fitting_unit("speed", speeds, first.top_speed, TYPICAL_SPEED)
        got = f"{speeds[0]:g}" + (f" to {speeds[-1]:g}" if len(speeds) > 1 else "")
        end = "" if unit is None else f": {unit}"
        drives = f"at most {first.top_speed:.3g} m/s, which the drives of {first.vehicle.name} reach"
        yield Problem("speed", f"must be {drives}, got {got}{end}")


def _angles(driven: Sequence[DrivenTrial], name: str) -> list[float]:
    """Angles of a column that are not 0 [deg]."""
    return [value for each in driven if (value := getattr(each.trial, name))]


def _radians(driven: Sequence[DrivenTrial]) -> Iterator[Problem]:
    for name in ("front_flippers_deg", "rear_flippers_deg"):
        angles = _angles(driven, name)
        if angles and max(map(abs, angles)) <= math.pi + _NEAR_RAD and all(map(_is_round_in_rad, angles)):
            largest = max(angles, key=abs)
            unit = f"`rad` would fit, {math.degrees(largest):.0f} deg"
            header = f"(`{name.removesuffix('_deg')} [rad]` in the header of a CSV file)"
            yield Problem(name, f"must be in degrees, got at most {largest:g}: {unit} {header}")


def _is_round_in_rad(angle: float) -> bool:
    return abs(math.remainder(angle, _ROUND_RAD)) < _NEAR_RAD and not float(angle).is_integer()


def _fine_angles(driven: Sequence[DrivenTrial]) -> Iterator[str]:
    for name in ("front_flippers_deg", "rear_flippers_deg"):
        angles = _angles(driven, name)
        if angles and max(map(abs, angles)) <= math.pi and not all(float(a).is_integer() for a in angles):
            yield f"{name} is at most {max(angles, key=abs):g} deg: is it in radians?"


def _beyond_limits(driven: Sequence[DrivenTrial]) -> Iterator[str]:
    found: dict[str, None] = {}
    for each in driven:
        for flipper in each.vehicle.flippers.values():
            name = f"{flipper.tip_direction}_flippers_deg"
            angle, (low, high) = getattr(each.trial, name, None), map(math.degrees, flipper.limits)
            if angle is not None and not low - 1e-6 <= angle <= high + 1e-6:
                limit = high if angle > high else low
                found[
                    f"{name} of {angle:g} is beyond the limit of {each.vehicle.name}, driven with {limit:.0f}"
                ] = None
    yield from found


def _groups(driven: Sequence[DrivenTrial]) -> Iterator[tuple[Condition, list[DrivenTrial]]]:
    for condition in dict.fromkeys(each.condition for each in driven):
        yield condition, [each for each in driven if each.condition == condition]


def _heights(driven: Sequence[DrivenTrial], outcome: str) -> list[float]:
    return [each.trial.height for each in driven if each.trial.outcome == outcome]


def _repeats(condition: Condition, own: Sequence[DrivenTrial]) -> Iterator[str]:
    """Repeats of one trial that end differently."""
    climbed, failed = (Counter(_heights(own, outcome)) for outcome in ("climbed", "failed"))
    for height in sorted(climbed.keys() & failed.keys()):
        ends = f"{climbed[height]} times climbed and {failed[height]} times failed"
        yield f"a step of {height:g} m is {ends} ({condition.words}): near the limit, or a mistake"
    for height in sorted({each.trial.height for each in own}):
        published = {each.trial.simulation for each in own if each.trial.height == height} - {None}
        if len(published) > 1:
            yield f"another simulation of a step of {height:g} m ends both ways ({condition.words})"


def _numbers(indices: Sequence[int]) -> str:
    shown = ", ".join(map(str, indices[:6]))
    return shown if len(indices) <= 6 else f"{shown} and {len(indices) - 6} more"
