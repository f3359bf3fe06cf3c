"""What a report on a log says: a small model of its own, made of a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from segtrack.description import VehicleDescription
from segtrack.logs import Motion
from segtrack.report.logs.maturity import Maturity
from segtrack.terrain import Terrain

Run = Literal["commanded", "measured"]
"""By which belt and flipper motion of the log a simulation is driven."""
Verdict = Literal["within", "beyond", "unknown"]
"""Whether an error is within its validation uncertainty; unknown where that is."""


class Span(NamedTuple):
    """A part of a drive.

    Attributes:
        name: Of the phase.
        start: On the motion's clock [s].
        end: On the motion's clock [s].
    """

    name: str
    start: float
    end: float


class Instant(NamedTuple):
    """When both robots are drawn.

    Attributes:
        name: What happens there.
        time: On the motion's clock [s].
    """

    name: str
    time: float


@dataclass(frozen=True)
class ErrorRow:
    """A quantity of the whole drive, or of a phase of it.

    Attributes:
        run: Which simulation.
        phase: Its name, or `whole`.
        quantity: What is compared, in words.
        unit: Of all numbers.
        logged: D of ASME V&V 20; None where the error alone is known, as of distances.
        simulated: S; None likewise.
        error: E = S - D.
        uncertainty: u_val, of numerics, inputs and data together, one standard deviation; None if unknown.
        interval: Of the error, 95 % by block bootstrap; None if there is none.
        verdict: Of the error against its uncertainty.
    """

    run: Run
    phase: str
    quantity: str
    unit: str
    logged: float | None
    simulated: float | None
    error: float
    uncertainty: float | None
    interval: tuple[float, float] | None
    verdict: Verdict


class Input(NamedTuple):
    """A file that the report was made from.

    Attributes:
        role: Log, mapping, vehicle or terrain.
        name: Of the file, without its folder.
        sha256: Of its bytes.
    """

    role: str
    name: str
    sha256: str


@dataclass(frozen=True, eq=False)
class ReportContent:
    """Everything that a report on a log says.

    Attributes:
        vehicle: What drove in simulation.
        terrains: What it drove on.
        logged: In the terrain's frame.
        simulated: By run.
        phases: In their order; none where no obstacle is.
        instants: When both robots are drawn.
        rows: Errors.
        maturity: Level that the evidence earns.
        inputs: Files.
        settings: What else the numbers depend on, in words, by name; engine, seed, time step.
        versions: Of segtrack and of what it stands on.
        notes: What was assumed and noted on the way: clocks, alignment, damage.
    """

    vehicle: VehicleDescription
    terrains: tuple[Terrain, ...]
    logged: Motion
    simulated: Mapping[Run, Motion]
    phases: tuple[Span, ...]
    instants: tuple[Instant, ...]
    rows: tuple[ErrorRow, ...]
    maturity: Maturity
    inputs: tuple[Input, ...]
    settings: Mapping[str, str]
    versions: Mapping[str, str]
    notes: tuple[str, ...]
