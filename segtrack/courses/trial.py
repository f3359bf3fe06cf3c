"""Trial: repetitions of a course by one operator, credited or not by its rules; its clock stops at faults."""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from segtrack.courses.course import Course
from segtrack.courses.result import (
    RATE_UNITS,
    Attempt,
    Fault,
    Result,
    TrialOutcome,
    count_completed,
    count_failed,
    rate,
    void_time,
)
from segtrack.errors import InvalidValueError, NotReadyError, finite

State = Literal["running", "paused", "passed", "failed", "abandoned"]
_MADE_UP_FOR = 0.1
"""Delay that does not count: a short one is made up for by the ticks after it [s]."""

SourceStatus = Literal["second hand", "from memory", "own choice"]

_GUIDE = (
    "Jacoff et al., Guide for Evaluating, Purchasing, and Training with Response Robots Using "
    "DHS-NIST-ASTM Standard Test Methods, NIST 2014"
)


class NumberSource(NamedTuple):
    """Source of a default value.

    Attributes:
        text: Citation, or reason.
        status: `second hand`: read in notes on the source; `from memory`: no source was found;
            `own choice`: no source was looked for.
    """

    text: str
    status: SourceStatus


SOURCES: Mapping[str, NumberSource] = {
    "allowed_failures": NumberSource(_GUIDE + ", pp. 11, 17", "second hand"),
    "reliability": NumberSource(_GUIDE, "second hand"),
    "confidence": NumberSource(_GUIDE, "second hand"),
    "pass_fraction": NumberSource("no source was found for a fraction of an expert's rate", "from memory"),
    "fall_angle": NumberSource("steeper than any slope of the courses", "own choice"),
    "touch_distance": NumberSource("stiff contacts stop a belt just before the wall", "own choice"),
    "real_time_factor": NumberSource("an operator gains 2 % of time to think at most", "own choice"),
}
"""Sources of the fields of `ScoringSettings`, by name."""


@dataclass(frozen=True)
class ScoringSettings:
    """Settings of a score; the defaults' sources are in `SOURCES`.

    Attributes:
        allowed_failures: Number of failures that still pass, by repetitions tried.
        reliability: Probability of completing a repetition, to be shown by the trial [-].
        confidence: Confidence to show it with [-].
        pass_fraction: Ratio of a trained operator's rate to an expert's under equal conditions [-].
        fall_angle: Roll or pitch beyond which a vehicle counts as fallen [rad].
        touch_distance: Distance below which a wall counts as touched [m].
        real_time_factor: Simulated over elapsed time below which a repetition is void [-].
    """

    allowed_failures: Mapping[int, int] = field(
        default_factory=lambda: MappingProxyType({10: 0, 20: 1, 30: 3})
    )
    reliability: float = 0.8
    confidence: float = 0.8
    pass_fraction: float = 0.8
    fall_angle: float = math.radians(75)
    touch_distance: float = 0.003
    real_time_factor: float = 0.98

    def __post_init__(self) -> None:
        """Check the settings' ranges.

        Raises:
            InvalidValueError: A number outside its range.
        """
        for name in ("reliability", "confidence"):
            if not 0 < finite(name, getattr(self, name)) < 1:
                raise InvalidValueError(name, "in (0, 1)", getattr(self, name))
        fractions = (("pass_fraction", ""), ("real_time_factor", ""))
        for name, unit in (*fractions, ("fall_angle", " [rad]"), ("touch_distance", " [m]")):
            if finite(f"{name}{unit}", getattr(self, name)) < 0:
                raise InvalidValueError(f"{name}{unit}", "at least 0", getattr(self, name))
        if not self.allowed_failures or any(
            not 0 <= failures < tried for tried, failures in self.allowed_failures.items()
        ):
            expected = "fewer failures than repetitions, at least once"
            raise InvalidValueError("allowed_failures", expected, dict(self.allowed_failures))


@dataclass(frozen=True)
class Situation:
    """State of a vehicle and its simulation, as input to a trial.

    Attributes:
        time: Simulated time, never decreasing [s].
        position: Origin of the body frame in the world (3,) [m].
        roll: Roll about the body's x axis [rad].
        pitch: Elevation of the body's x axis [rad].
        touching_wall: True while a wall is touched.
        wall_clock: Wall clock [s]; None if not run in real time.
        late: True if the simulation is more than a tick late.
        commanded: False while no commands arrive from the driver.
    """

    time: float
    position: tuple[float, float, float]
    roll: float = 0.0
    pitch: float = 0.0
    touching_wall: bool = False
    wall_clock: float | None = None
    late: bool = False
    commanded: bool = True


@dataclass(frozen=True)
class TrialEvent:
    """Event of a trial.

    Attributes:
        clock: Elapsed time of the trial [s].
        kind: Kind of the event.
        text: Description for people.
    """

    clock: float
    kind: Literal["gate", "repetition", "fault", "void", "restart", "pause", "level", "end"]
    text: str


@dataclass
class Pace:
    """Pace of a simulation: simulated and elapsed time.

    Attributes:
        simulated: Simulated time [s].
        wall_time: Elapsed wall time [s].
    """

    simulated: float = 0.0
    wall_time: float = 0.0

    def add(self, simulated: float, wall_time: float) -> None:
        """Add simulated and elapsed time [s]."""
        self.simulated, self.wall_time = self.simulated + simulated, self.wall_time + wall_time

    @property
    def real_time_factor(self) -> float:
        """Simulated over elapsed time [-]; 1 before any time has elapsed."""
        return self.simulated / self.wall_time if self.wall_time > 0 else 1.0

    def is_below(self, factor: float) -> bool:
        """Return whether the real-time factor is below a value, over a time long enough to tell."""
        return self.real_time_factor < factor and self.wall_time - self.simulated > _MADE_UP_FOR


class Trial:
    """Repetitions of a course, counted by the rules of trials.

    One repetition is passing all gates in their order. A fault ends a repetition without credit and pauses
    the clock until `restart`, when the vehicle is back at the start. The trial is passed as soon as the
    failures are few enough for the repetitions tried (none in 10, else one in 20, else three in 30), goes on
    where more repetitions can make up for them, and has failed where none can. A repetition in which the
    simulation was slower than real time is void: it is run again, and its time does not count.

    Attributes:
        course: Course of the trial.
        operator: Name of the operator.
        vehicle: Name of the vehicle.
        repetitions: Largest number of repetitions, one of the settings' levels.
        settings: Settings of the score.
        state: `running`, `paused` by a fault, or the trial's outcome.
        clock: Elapsed time of the running trial [s].
        attempts: Repetitions so far: completed, failed and void.
        events: Events so far.
        id: Permanent id of the trial.
    """

    def __init__(
        self,
        course: Course,
        operator: str,
        vehicle: str,
        repetitions: int = 10,
        settings: ScoringSettings | None = None,
    ) -> None:
        """Begin a trial; its clock starts with the first `update`.

        Raises:
            InvalidValueError: A number of repetitions that the settings have no rule for.
        """
        self.course, self.operator, self.vehicle = course, operator, vehicle
        self.settings = settings if settings is not None else ScoringSettings()
        levels = sorted(self.settings.allowed_failures)
        if repetitions not in levels:
            raise InvalidValueError("repetitions", " or ".join(map(str, levels)), repetitions)
        self.repetitions = repetitions
        self.state: State = "running"
        self.clock = 0.0
        self.attempts: list[Attempt] = []
        self.events: list[TrialEvent] = []
        self.id = secrets.token_hex(6)
        self._levels = [level for level in levels if level <= repetitions]
        self._time: float | None = None
        self._wall_clock: float | None = None
        self._pace = Pace()
        self._ticks = self._late = 0
        self._uncommanded = 0.0
        self._begun = 0.0
        self._gate = 0

    @property
    def completed(self) -> int:
        """Number of credited repetitions."""
        return count_completed(self.attempts)

    @property
    def failures(self) -> int:
        """Number of repetitions ended by a fault."""
        return count_failed(self.attempts)

    @property
    def slow(self) -> bool:
        """True if the present repetition is void unless the simulation catches up."""
        return self.state == "running" and self._pace.is_below(self.settings.real_time_factor)

    @property
    def next_gate(self) -> int:
        """Index of the gate to pass next."""
        return self._gate

    @property
    def repetition_time(self) -> float:
        """Time of the present repetition, which began at the end of the one before [s]."""
        return self.clock - self._begun

    @property
    def rate(self) -> float:
        """Rate of credited repetitions, [1/min] or [m/min] by the course's kind."""
        return rate(self.course.kind, self.attempts, self.course.distance, self.clock)

    def update(self, situation: Situation) -> list[TrialEvent]:
        """Judge the vehicle's situation, and return new events; does nothing unless the trial runs.

        Raises:
            InvalidValueError: The time is not finite, or goes back.
        """
        if self.state != "running":
            return []
        time = finite("time of the situation [s]", situation.time)
        if self._time is not None:
            if time < self._time:
                raise InvalidValueError("time of the situation [s]", f"at least {self._time}", time)
            self.clock += time - self._time
            self._uncommanded += 0.0 if situation.commanded else time - self._time
            if self._wall_clock is not None and situation.wall_clock is not None:
                self._pace.add(time - self._time, situation.wall_clock - self._wall_clock)
                self._ticks, self._late = self._ticks + 1, self._late + situation.late
        self._time, self._wall_clock = time, situation.wall_clock
        seen = len(self.events)
        fault = self._fault(situation)
        if fault is not None:
            self._end_attempt(fault)
        elif self.course.gates[self._gate].contains(*situation.position):
            self._pass_gate()
        return self.events[seen:]

    def ask_help(self) -> list[TrialEvent]:
        """Give up a repetition, because the operator asks for help: a fault.

        Raises:
            NotReadyError: The trial does not run.
        """
        if self.state != "running":
            raise NotReadyError("ask for help", f"the trial is {self.state}")
        seen = len(self.events)
        self._end_attempt("asked for help")
        return self.events[seen:]

    def restart(self) -> list[TrialEvent]:
        """Let the clock run on after a fault, with the vehicle back at the start.

        Raises:
            NotReadyError: The trial is not paused.
        """
        if self.state != "paused":
            raise NotReadyError("restart", f"the trial is {self.state}")
        self.state, self._time = "running", None
        return [self._tell("restart", f"repetition {self._tried + 1} begins at the start")]

    def note_pause(self) -> list[TrialEvent]:
        """Record a pause of the simulation, which gives time to think; does nothing unless the trial runs."""
        if self.state != "running":
            return []
        self._wall_clock = None
        return [self._tell("pause", "the simulation was paused")]

    def abandon(self) -> list[TrialEvent]:
        """End the trial now; the present repetition does not count.

        Raises:
            NotReadyError: It has ended.
        """
        if self.state not in ("running", "paused"):
            raise NotReadyError("abandon", f"the trial is {self.state}")
        return [self._end("abandoned", "abandoned")]

    def result(
        self,
        begun: str,
        conditions: Mapping[str, str] | None = None,
        recording: str | None = None,
        delay: float | None = None,
    ) -> Result:
        """Return the result; an unfinished trial counts as abandoned now.

        Args:
            begun: Date and time, ISO 8601.
            conditions: Further conditions by name.
            recording: Name of the recording's file.
            delay: 95 % quantile of the time from controls to picture [s].
        """
        outcome: TrialOutcome = "abandoned"
        if self.state != "running" and self.state != "paused":
            outcome = self.state
        setting = self.course.setting
        return Result(
            operator=self.operator,
            vehicle=self.vehicle,
            course=self.course.name,
            title=self.course.title,
            kind=self.course.kind,
            setting=None if setting is None else setting.value,
            setting_name=None if setting is None else setting.name,
            setting_unit=None if setting is None else setting.unit,
            distance=self.course.distance,
            repetitions=self.repetitions,
            attempts=tuple(self.attempts),
            elapsed=self.clock,
            outcome=outcome,
            pauses=sum(event.kind == "pause" for event in self.events),
            begun=begun,
            conditions=dict(conditions or {}),
            recording=recording,
            id=self.id,
            late=self._late / self._ticks if self._ticks else None,
            delay=delay,
            uncommanded=self._uncommanded,
        )

    def summary(self) -> dict[str, Any]:
        """Return the progress as a JSON-serialisable dict, with the last 20 events."""
        return {
            "operator": self.operator,
            "state": self.state,
            "repetitions": self.repetitions,
            "done": self.completed,
            "failures": self.failures,
            "clock": self.clock,
            "rate": self.rate,
            "rate_unit": RATE_UNITS[self.course.kind],
            "next_gate": self._gate,
            "events": [vars(event) for event in self.events[-20:]],
        }

    def _fault(self, situation: Situation) -> Fault | None:
        """Return the worst present fault; None without any."""
        limit, steepest = self.course.time_limit, self.settings.fall_angle
        if limit is not None and self.clock - void_time(self.attempts) >= limit:
            return "out of time"
        if max(abs(situation.roll), abs(situation.pitch)) > steepest or (
            situation.position[2] < self.course.lowest
        ):
            return "fell"
        if not self.course.bounds.contains(*situation.position):
            return "off course"
        return "touched a wall" if situation.touching_wall else None

    def _pass_gate(self) -> None:
        self._gate += 1
        self._tell("gate", f"gate {self._gate} of {len(self.course.gates)}")
        if self._gate == len(self.course.gates):
            self._end_attempt(None)

    @property
    def _tried(self) -> int:
        """Number of repetitions that count."""
        return self.completed + self.failures

    def _end_attempt(self, fault: Fault | None) -> None:
        """End the present repetition, by a fault or completed, and begin the next."""
        duration, pace, void = self.repetition_time, self._pace, self.slow
        number, wall_time = self._tried + 1, pace.wall_time or None
        self.attempts.append(
            Attempt(begun=self._begun, duration=duration, fault=fault, wall_time=wall_time, void=void)
        )
        self._begun, self._gate, self._pace = self.clock, 0, Pace()
        if void:
            text = f"repetition {number} is void, run it again: real-time factor {pace.real_time_factor:.2f}"
            self._tell("void", text)
        elif fault is None:
            self._tell("repetition", f"repetition {number} completed in {duration:.1f} s")
        else:
            self._tell("fault", f"repetition {number} not credited: {fault}")
        if fault is not None:
            self.state = "paused"
        if not void:
            self._judge(number, out_of_time=fault == "out of time")

    def _judge(self, tried: int, out_of_time: bool) -> None:
        """End the trial if the rules say so after `tried` repetitions."""
        allowed, failures = self.settings.allowed_failures, self.failures
        if tried in self._levels and failures <= allowed[tried]:
            self._end("passed", f"passed: {failures} of {tried} failed, {allowed[tried]} may")
        elif out_of_time:
            self._end("failed", f"failed: out of time after {tried} of {self.repetitions} repetitions")
        elif failures > (most := max(allowed[level] for level in self._levels)):
            self._end("failed", f"failed: {failures} of {tried} failed, {most} of {self.repetitions} may")
        elif tried in self._levels:
            level = next(level for level in self._levels if level > tried)
            self._tell("level", f"{failures} of {tried} failed: on to {level}, of which {allowed[level]} may")

    def _end(self, outcome: TrialOutcome, text: str) -> TrialEvent:
        self.state = outcome
        return self._tell("end", text)

    def _tell(self, kind: Any, text: str) -> TrialEvent:
        event = TrialEvent(self.clock, kind, text)
        self.events.append(event)
        return event


class Repetition(NamedTuple):
    """Repetition of a trial, reconstructed from its events.

    Attributes:
        splits: Times of the gates since the repetition began, in gate order [s].
        completed: True if it is credited.
    """

    splits: tuple[float, ...]
    completed: bool


def read_repetitions(events: Iterable[tuple[Any, float]]) -> list[Repetition]:
    """Reconstruct the repetitions of a trial, including the present one.

    Args:
        events: Kind and clock [s] of each event, in their order.
    """
    repetitions, splits, begun = [], list[float](), 0.0
    for kind, clock in events:
        if kind == "gate":
            splits.append(clock - begun)
        elif kind in ("repetition", "void", "fault"):
            repetitions.append(Repetition(tuple(splits), kind == "repetition"))
            splits, begun = [], clock
    return [*repetitions, Repetition(tuple(splits), False)]


def fastest(repetitions: Iterable[Repetition]) -> tuple[float, ...]:
    """Return the split times of the fastest completed repetition; empty without one."""
    completed = (each.splits for each in repetitions if each.completed and each.splits)
    return min(completed, key=lambda splits: splits[-1], default=())
