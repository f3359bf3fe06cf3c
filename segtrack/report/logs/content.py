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
from segtrack.logs.mapping import SIDES, Finding, LoadedTerrain, MappedLog
from segtrack.logs.replay import Replay
from segtrack.recording import versions
from segtrack.report.logs.maturity import LEVELS, Maturity, evidence_of, judge_maturity
from segtrack.robot import quantity_of
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
        estimated: Standard deviations that were estimated from the log, in words.
        assumed: Standard deviations that neither says, in words.
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
    estimated: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def agreement(self) -> str:
        """Quantities of the whole drive by verdict, of the run that is judged; empty for none."""
        run = "measured" if any(row.run == "measured" for row in self.rows) else "commanded"
        whole = [row for row in self.rows if (row.run, row.phase) == (run, "whole")]
        groups = {
            "agree": [row for row in whole if not row.is_imposed and row.verdict == "within"],
            "do not agree": [row for row in whole if not row.is_imposed and row.verdict == "beyond"],
            "not known": [row for row in whole if not row.is_imposed and row.verdict == "unknown"],
            "imposed by the log, and not judged": [row for row in whole if row.is_imposed],
        }
        parts = [
            f"{what}: {', '.join(row.quantity for row in rows)}" for what, rows in groups.items() if rows
        ]
        return f"By {run} belts {'; '.join(parts)}." if parts else ""


def report_tables(content: ReportContent) -> list[Table]:
    """Level and reasons; then a line for each run and phase."""
    maturity = content.maturity
    about = f"; about {', '.join(maturity.evidence.tested)}"
    level = "none" if maturity.level is None else f"{maturity.level}: {LEVELS[maturity.level]}{about}"
    head = Table(
        "maturity level", escape(level), title=f"{content.logged.name} beside {content.vehicle.name}"
    )
    for reason in maturity.reasons:
        head.add_row("", escape(reason))
    for finding in content.findings:
        head.add_row(escape(finding.name), escape(str(finding)))
    head.add_row("", escape(content.agreement))
    head.add_row("", escape(f"Uncertainties given: {', '.join(content.stated) or 'none'}."))
    if content.estimated:
        head.add_row("", escape(f"Estimated from the log: {', '.join(content.estimated)}."))
    if content.assumed:
        head.add_row("", escape(f"Assumed: {', '.join(content.assumed)}."))
    errors = Table("driven by", "phase", "within", "beyond", "unknown", title="errors by phase")
    for run, phase in dict.fromkeys((row.run, row.phase) for row in content.rows):
        verdicts = [row.verdict for row in content.rows if (row.run, row.phase) == (run, phase)]
        errors.add_row(run, phase, *(str(verdicts.count(name)) for name in ("within", "beyond", "unknown")))
    return [head, errors, _verdicts(content.rows)]


def _verdicts(rows: Sequence[ErrorRow]) -> Table:
    """Verdict of each quantity by run: of the whole drive, and the phases in which it is another."""
    runs = list(dict.fromkeys(row.run for row in rows))
    names = [f"by {run} belts" for run in runs]
    table = Table("quantity", *names, title=f"errors against {COVERAGE:g} u_val")
    for quantity in dict.fromkeys(row.quantity for row in rows):
        own = [[row for row in rows if (row.run, row.quantity) == (run, quantity)] for run in runs]
        table.add_row(escape(quantity), *map(_verdict, own))
    return table


def _verdict(rows: Sequence[ErrorRow]) -> str:
    """Verdict of a quantity in the whole drive, or else its first phase, then phases with another one."""
    if not rows:
        return ""
    phases: dict[str, list[str]] = {}
    for row in rows:
        if row.verdict != rows[0].verdict:
            phases.setdefault(row.verdict, []).append(row.phase)
    imposed = " (imposed)" if rows[0].is_imposed else ""
    others = (f"{verdict} in {', '.join(names)}" for verdict, names in phases.items())
    return "; ".join([rows[0].verdict + imposed, *others])


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
        estimated=tuple(_estimated(mapped, comparison)),
        assumed=tuple(_assumed(comparison)),
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
    data, fitted = comparison.data, mapped.time_uncertainties
    yield from (f"clock of {source} {times}" for source, times in data.clocks.items() if source not in fitted)
    yield from (f"bias of {name} {std:g} {_unit(name)}" for name, std in data.bias.items())
    yield from (f"drift of {name} {std:g} {_unit(name)} a second" for name, std in data.drift.items())
    yield from (f"noise of {key} {std:g} {_unit(key)}" for key, std in _given_noise(mapped).items())
    if _has_belts(comparison) and not data.assumes_belt_scale:
        yield _scale_of_belts(data.belt_scale)


def _assumed(comparison: Comparison) -> Iterator[str]:
    """Standard deviations that neither the user gave nor the log tells, in words."""
    if _has_belts(comparison) and comparison.data.assumes_belt_scale:
        yield _scale_of_belts(comparison.data.belt_scale)


def _has_belts(comparison: Comparison) -> bool:
    runs = comparison.runs.values()
    return any(run.logged.values(f"belt_speed.{side}") is not None for run in runs for side in SIDES)


def _scale_of_belts(std: float) -> str:
    return f"scale of the belts {100 * std:g} %"


def _estimated(mapped: MappedLog, comparison: Comparison) -> Iterator[str]:
    """Standard deviations that were estimated from the log, in words."""
    clocks = comparison.data.clocks
    yield from (f"clock of {name} {clocks[name]}" for name in mapped.time_uncertainties if name in clocks)
    given = _given_noise(mapped)
    for key, signal in mapped.motion.signals.items():
        if signal.std is not None and key not in given:
            yield f"noise of {key} {signal.std:.2g} {_unit(key)}"


def _given_noise(mapped: MappedLog) -> dict[str, float]:
    """Noise of signals that the mapping states, by key."""
    said = {path: reference.std for path, reference in mapped.mapping.file.quantities.references()}
    stds = {key: said.get(key, said.get(key.rpartition(".")[0])) for key in mapped.motion.signals}
    return {key: std for key, std in stds.items() if std is not None}


def _unit(key: str) -> str:
    """Unit of a quantity's errors: those of an orientation are turns about axes."""
    return "rad" if key == "orientation" else quantity_of(key).unit


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
    yield from mapped.notes
    for fit in mapped.clocks:
        yield (
            f"Clock of {fit.source} put on {fit.reference} by {fit.by}: offset {fit.offset.value:.4g} "
            f"+- {fit.offset.margin:.2g} s, skew {fit.skew.value:.3g} +- {fit.skew.margin:.2g}; standard "
            f"deviation of its times {mapped.time_uncertainties[fit.source]}"
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
