"""A table of trials simulated: outcomes, what flips them, and step limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from segtrack.engine import EngineName, resolve
from segtrack.errors import ClimbsFileError, InvalidValueError, Phrase
from segtrack.experiments import Workers
from segtrack.logs.climbs.agreement import Limit, robot_limit, simulated_limit
from segtrack.logs.climbs.plausible import DrivenTrial, contradictions, remarks
from segtrack.logs.climbs.simulation import (
    NOMINAL,
    ClimbsResult,
    Condition,
    LimitResult,
    TrialResult,
    Variant,
    load_once,
    outcome_of,
    variants_of,
)
from segtrack.logs.climbs.table import ClimbTable
from segtrack.logs.compare import COVERAGE


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
