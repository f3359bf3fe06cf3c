"""What a report on a log says: a small model of its own, made of a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from segtrack.description import VehicleDescription
from segtrack.logs import Motion
from segtrack.logs.compare import ErrorRow, Phase
from segtrack.logs.compare.comparison import Run
from segtrack.report.logs.page.maturity import Maturity
from segtrack.terrain import Terrain


class Instant(NamedTuple):
    """When both robots are drawn.

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
        phases: Of the log, in their order.
        instants: When both robots are drawn.
        rows: Errors.
        maturity: Level that the evidence earns.
        stated: Standard deviations that the user gave, in words.
        inputs: Files.
        settings: What else the numbers depend on, in words, by name; engine, seed, time step.
        versions: Of segtrack and of what it stands on.
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
