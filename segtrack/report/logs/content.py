"""Content of a report of a log, and its rows as tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from rich.markup import escape
from rich.table import Table

from segtrack.description import VehicleDescription
from segtrack.logs import Motion
from segtrack.logs.compare import ErrorRow, Phase
from segtrack.logs.compare.comparison import Run
from segtrack.report.logs.maturity import LEVELS, Maturity
from segtrack.terrain import Terrain


class Instant(NamedTuple):
    """Instant at which both robots are drawn.

    Attributes:
        name: What happens there.
        time: On the motion's clock [s].
    """

    name: str
    time: float


class Input(NamedTuple):
    """A file that the report was made from.

    Attributes:
        role: Log, mapping, vehicle or terrain.
        name: Name of the file, without its folder.
        sha256: Sha256 of its bytes.
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
        logged: Logged, in the terrain's frame.
        simulated: Simulated, by run.
        phases: Phases of the log, in their order.
        instants: When both robots are drawn.
        rows: Errors.
        maturity: Level that the evidence earns.
        stated: Standard deviations that the user gave, in words.
        inputs: Files.
        settings: What else the numbers depend on, in words, by name; engine, seed, time step.
        versions: Versions of segtrack and of what it stands on.
        notes: What was assumed and noted on the way: clocks, alignment, damage.
    """

    vehicle: VehicleDescription
    terrains: tuple[Terrain, ...]
    logged: Motion
    simulated: Mapping[Run, Motion]
    phases: tuple[Phase, ...]
    instants: tuple[Instant, ...]
    rows: tuple[ErrorRow, ...]
    maturity: Maturity
    inputs: tuple[Input, ...]
    settings: Mapping[str, str]
    versions: Mapping[str, str]
    notes: tuple[str, ...]
    stated: tuple[str, ...] = ()


def report_tables(content: ReportContent) -> list[Table]:
    """Level and reasons; then a line for each run and phase."""
    maturity = content.maturity
    level = "none" if maturity.level is None else f"{maturity.level}: {LEVELS[maturity.level]}"
    head = Table(
        "maturity level", escape(level), title=f"{content.logged.name} beside {content.vehicle.name}"
    )
    for reason in maturity.reasons:
        head.add_row("", escape(reason))
    head.add_row("", escape(f"Uncertainties given: {', '.join(content.stated) or 'none'}."))
    errors = Table("driven by", "phase", "within", "beyond", "unknown", title="errors against u_val")
    for run, phase in dict.fromkeys((row.run, row.phase) for row in content.rows):
        verdicts = [row.verdict for row in content.rows if (row.run, row.phase) == (run, phase)]
        errors.add_row(run, phase, *(str(verdicts.count(name)) for name in ("within", "beyond", "unknown")))
    return [head, errors]
