"""Content of a report of a log, gathered from a mapped log, its replay and their comparison."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.markup import escape
from rich.table import Table

from segtrack.description import VehicleDescription, find_vehicle
from segtrack.errors import FileAccessError
from segtrack.logs import Motion
from segtrack.logs.compare import COVERAGE, SETTING, Comparison, ErrorRow, Phase, Run
from segtrack.logs.fit import PARAMETERS
from segtrack.logs.mapping import Finding, LoadedTerrain, MappedLog
from segtrack.logs.replay import Replay
from segtrack.recording import versions
from segtrack.report.logs.maturity import LEVELS, Maturity, evidence_of, judge_maturity
from segtrack.robot import QUANTITIES, quantity_of
from segtrack.terrain import Terrain


class Instant(NamedTuple):
    """Instant at which both robots are drawn.

    Attributes:
        name: Name of the event.
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
        vehicle: Vehicle that drove in simulation.
        terrains: Ground that it drove on.
        logged: Logged, in the terrain's frame.
        simulated: Simulated, by run.
        phases: Phases of the log, in their order.
        instants: Times at which both robots are drawn.
        rows: Errors.
        maturity: Level that the evidence earns.
        stated: Standard deviations that the user gave, in words.
        inputs: Files.
        settings: Other settings that the numbers depend on, in words, by name; engine, seed, time step.
        versions: Versions of segtrack and of what it stands on.
        notes: Assumptions and notes: clocks, alignment, damage.
        findings: Contradictions in the log, accepted ones among them.
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
    findings: tuple[Finding, ...] = ()


def report_tables(content: ReportContent) -> list[Table]:
    """Level and reasons; then a line for each run and phase."""
    maturity = content.maturity
    level = "none" if maturity.level is None else f"{maturity.level}: {LEVELS[maturity.level]}"
    head = Table(
        "maturity level", escape(level), title=f"{content.logged.name} beside {content.vehicle.name}"
    )
    for reason in maturity.reasons:
        head.add_row("", escape(reason))
    for finding in content.findings:
        head.add_row(escape(finding.name), escape(str(finding)))
    head.add_row("", escape(f"Uncertainties given: {', '.join(content.stated) or 'none'}."))
    errors = Table("driven by", "phase", "within", "beyond", "unknown", title="errors against u_val")
    for run, phase in dict.fromkeys((row.run, row.phase) for row in content.rows):
        verdicts = [row.verdict for row in content.rows if (row.run, row.phase) == (run, phase)]
        errors.add_row(run, phase, *(str(verdicts.count(name)) for name in ("within", "beyond", "unknown")))
    return [head, errors]


def gather(
    mapped: MappedLog,
    replay: Replay,
    comparison: Comparison,
    changed: Sequence[str] = (),
    findings: tuple[Finding, ...] = (),
) -> ReportContent:
    """Make a report's content.

    Args:
        mapped: The log.
        replay: Replay of it.
        comparison: Comparison of both.
        changed: Changes since the vehicle was fitted, as the user states them.
        findings: Contradictions in the log.

    Raises:
        FileAccessError: The vehicle file cannot be read again.
    """
    phases = next((run.logged_phases.phases for run in comparison.runs.values()), ())
    simulated = {run: motion.simulated.motion for run, motion in comparison.runs.items()}
    settings, scene = replay.settings, replay.scene
    vehicle = mapped.mapping.file.vehicle
    mapping_sha256 = hashlib.sha256(mapped.mapping.text.encode()).hexdigest()
    raised = "" if scene.terrain.setting is None else f", {scene.terrain.setting:g}"
    return ReportContent(
        vehicle=scene.vehicle,
        terrains=scene.terrain.terrains,
        logged=replay.logged,
        simulated=simulated,
        phases=phases,
        instants=tuple(_instants(replay, comparison)),
        rows=comparison.rows,
        maturity=judge_maturity(evidence_of(mapped, replay, comparison, changed)),
        stated=tuple(_stated(mapped, scene.terrain, comparison)),
        inputs=(
            Input("log", mapped.motion.name, mapped.log.sha256),
            Input("mapping", ", ".join((mapped.mapping.name, *mapped.mapping.stated)), mapping_sha256),
            *(() if vehicle is None else (_vehicle_file(vehicle),)),
            Input("terrain", f"{scene.terrain.name}{raised}", scene.terrain.sha256),
        ),
        settings={
            "engine": scene.engine,
            "track model": scene.track_model,
            "time step": f"{1e3 * settings.time_step:g} ms",
            "positions aligned at": comparison.alignment,
            "coverage": f"{COVERAGE:g} standard uncertainties",
            "seed": "of noise and bootstrap fixed: a report made again says the same",
        },
        versions=versions(),
        notes=tuple(_notes(mapped, replay, comparison)),
        findings=findings,
    )


def _stated(mapped: MappedLog, terrain: LoadedTerrain, comparison: Comparison) -> Iterator[str]:
    """Standard deviations that the user gave, in words."""
    for name, std in comparison.inputs.items():
        unit = terrain.setting_unit if name == SETTING else PARAMETERS[name].unit
        yield f"{name} {std:g} {unit}".removesuffix(" -")
    data, units = comparison.data, {name: quantity.unit for name, quantity in QUANTITIES.items()}
    yield from (f"clock of {source} {std:g} s" for source, std in data.clocks.items())
    yield from (f"bias of {name} {std:g} {units[name]}" for name, std in data.bias.items())
    yield from (f"drift of {name} {std:g} {units[name]} a second" for name, std in data.drift.items())
    for key, signal in mapped.motion.signals.items():
        if signal.std is not None:
            yield f"noise of {key} {signal.std:g} {quantity_of(key).unit}"


def _instants(replay: Replay, comparison: Comparison) -> Iterator[Instant]:
    """Times at which both robots are drawn: by the log's phases, or evenly where nothing is climbed."""
    runs = list(comparison.runs.values())
    if not runs:
        return
    phases, begin = runs[0].logged_phases, max(float(run.logged.times[0]) for run in runs)
    end = min(float(run.logged.times[-1]) for run in runs)
    lift, pivot, crest = (phases.find(name) for name in ("nose lift", "pivot", "crest"))
    if lift is None:
        for i, name in enumerate(("start", "", "middle", "")):
            yield Instant(name, begin + i / 4 * (end - begin))
    else:
        touch = replay.event if replay.event is not None else lift.begin
        yield Instant("first touch", touch)
        yield Instant("nose lift", (lift.begin + lift.end) / 2)
    if pivot is not None:
        yield Instant("pivot", pivot.begin)
    if crest is not None:
        yield Instant("crest", crest.begin)
    yield Instant("end", end)


def _notes(mapped: MappedLog, replay: Replay, comparison: Comparison) -> Iterator[str]:
    yield from (f"Log: {damage}" for damage in mapped.log.damage)
    yield from mapped.notes
    for fit in mapped.clocks:
        yield (
            f"Clock of {fit.source} put on {fit.reference} by {fit.by}: offset {fit.offset.value:.4g} "
            f"+- {fit.offset.margin:.2g} s, skew {fit.skew.value:.3g} +- {fit.skew.margin:.2g}"
        )
    log = replay.log
    if replay.settings.frame == "terrain":
        yield "Positions and headings are in the terrain's frame, as the mapping says: nothing is moved"
    elif log.event is not None:
        shown = " and ".join(log.shown_by) or "nothing"
        place = f", place along x +- {1e3 * log.x_std:.2g} mm" if log.x_std else ""
        yield (
            f"Log and terrain put together at the first touch, {log.event:.2f} +- {log.event_std:.2g} s, "
            f"shown by {shown}{place} (standard deviations); x, y and yaw are moved, pitch and height never"
        )
    else:
        yield "Log and terrain put together at the start; x, y and yaw are moved, pitch and height never"
    yield from log.notes
    yield from (f"Simulation by {run} belts: {reason}" for run, reason in replay.diverged.items())
    for run, compared in comparison.runs.items():
        yield from (f"By {run} belts: {note}" for note in compared.notes)
    if not comparison.finished:
        yield "Interrupted: uncertainties are of the simulations that were done"


def _vehicle_file(vehicle: str) -> Input:
    path = find_vehicle(vehicle)
    try:
        return Input("vehicle", path.name, hashlib.sha256(path.read_bytes()).hexdigest())
    except OSError as error:
        raise FileAccessError("read", path, error.strerror or str(error)) from None
