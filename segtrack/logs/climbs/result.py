"""Results of the simulations of a table of trials."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from segtrack.logs.climbs.agreement import Confusion, Limit, Predicted
from segtrack.logs.climbs.simulation import Condition
from segtrack.logs.climbs.table import ClimbTable, ClimbTrial, Outcome
from segtrack.logs.compare.uncertainty import COVERAGE


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
        return tuple(
            name
            for name, outcome in self.outcomes.items()
            if outcome == "diverged" or (outcome == "climbed") != (self.nominal == "climbed")
        )

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
        mine, theirs = self.simulated, self.robot
        return (theirs.high is None or mine.low <= theirs.high) and (
            mine.high is None or theirs.low <= mine.high
        )

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
    """

    table: ClimbTable
    uncertain: Mapping[str, float]
    trials: tuple[TrialResult, ...]
    limits: tuple[LimitResult, ...]
    finished: bool = True

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
        pairs = [
            (trial.outcome, trial.simulation) for trial in self.table.trials if trial.simulation is not None
        ]
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
            "trials": [result.summary() for result in self.trials],
            "confusion": self.confusion.summary(),
            "nominal_confusion": self.nominal_confusion.summary(),
            "published_confusion": None if published is None else published.summary(),
            "limits": [limit.summary() for limit in self.limits],
        }
