"""Content of a report of a log, gathered from a mapped log, its replay and their comparison.

It has the maturity level after NG-NRMM that the comparison earns.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from rich.markup import escape
from rich.table import Table

from segtrack.description import VehicleDescription, find_vehicle
from segtrack.errors import FileAccessError
from segtrack.logs import Motion
from segtrack.logs.compare import (
    COVERAGE,
    LABELS,
    PLACE,
    SETTING,
    Comparison,
    ErrorRow,
    Phase,
    Run,
    RunComparison,
    SampledMotion,
)
from segtrack.logs.fit import PARAMETERS, unfitted_hash, values_of
from segtrack.logs.mapping import Finding, LoadedTerrain, MappedLog
from segtrack.logs.replay import Replay
from segtrack.recording import versions
from segtrack.robot import QUANTITIES, quantity_of
from segtrack.terrain import Terrain

LEVELS: Mapping[int, str] = MappingProxyType(
    {
        1: "demonstration of a consistent model",
        2: "demonstration of sensitivity to parameters",
        3: "verification by an independent user",
        4: "cross-code verification: against another accepted simulation",
        5: "calibration to a test of a physical vehicle",
        6: "validation: blind correlation with a test of a physical vehicle",
        7: "validation after a change: blind correlation, with a system parameter changed",
    }
)
"""Meaning of each level, in short."""
SOURCE = "NG-NRMM (Balling et al. 2019), table 2.2 of Koerner 2024"


@dataclass(frozen=True)
class Evidence:
    """Evidence about a log, and about the vehicle that is compared with it.

    Attributes:
        physical: True if the log is of a physical robot, as its mapping says; None if it does not say.
        code: Simulator of a log that is none, as its mapping says; empty if it does not say.
        log: Its SHA-256.
        fitted_logs: SHA-256 of those that the vehicle was fitted to; None for one that was not fitted.
        changed: Differences from that fit, in words, as the files show them: terrain, parameters not fitted.
        overwritten: Fitted parameters that have other values in the vehicle file now, in words.
        other_model: Engine and track model, in words, where they are not those of the fit.
        stated: Changes on purpose, as the user states them.
        judged: Quantities of the whole drive whose uncertainty is known.
        within: Judged quantities that agree within their uncertainty.
        unjudged: Quantities of the whole drive without a known uncertainty.
        cut: Reasons for which the simulation is not of the whole log, sentences.
        missing: Numbers that log or simulation has and the other lacks, in words.
        too_wide: Quantities that what the user stated makes too uncertain, in words.
    """

    physical: bool | None
    code: str
    log: str
    fitted_logs: tuple[str, ...] | None
    changed: tuple[str, ...]
    overwritten: tuple[str, ...]
    stated: tuple[str, ...]
    judged: int
    within: int
    unjudged: int = 0
    other_model: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    too_wide: tuple[str, ...] = ()


@dataclass(frozen=True)
class Maturity:
    """A level, and why.

    Attributes:
        level: Level that the evidence earns; None if it earns none.
        kind: Highest level that evidence of this kind could earn; None if it is not known what it is.
        reasons: Sentences.
    """

    level: int | None
    kind: int | None
    reasons: tuple[str, ...]

    def summary(self) -> dict[str, object]:
        """Everything as plain values with the names that JSON has."""
        return {
            "level": self.level,
            "at_most": self.kind,
            "meaning": None if self.level is None else LEVELS[self.level],
            "reasons": list(self.reasons),
            "source": SOURCE,
        }


def judge_maturity(evidence: Evidence) -> Maturity:
    """The level that evidence earns; no option decides it alone.

    Levels are those of O. Balling et al., "AVT-248 Next-Generation NATO Reference Mobility Model (NG-NRMM)
    Development", NATO STO, 2019, as table 2.2 of A. Koerner, "Influence of Track-Assembly Geometry on
    Mobility Over Rigid Terrain", Chalmers, 2024, has them. There they were assigned to teams "based on their
    performance", by what rule is not said. The rule here is our own: a level is earned by evidence of its
    kind, if all quantities of the whole drive agree with the log within their uncertainty. One without a
    known uncertainty does not agree, nor does one that log or simulation lacks, nor one that agrees because
    its uncertainty was stated to be large.
    """
    kind, why = _kind(evidence)
    agreement = tuple(_agreement(evidence))
    disagreement = tuple(_disagreement(evidence))
    agrees = evidence.judged == evidence.within > 0 and not evidence.unjudged and not disagreement
    reasons = (*why, *agreement, *disagreement)
    if kind is None or (kind == 4 and (evidence.physical or not _is_other_code(evidence.code))):
        return Maturity(None, kind, reasons)
    if not agrees:
        return Maturity(None, kind, (*reasons, f"Level {kind} is not earned."))
    return Maturity(kind, kind, reasons)


def _kind(evidence: Evidence) -> tuple[int | None, tuple[str, ...]]:
    """Highest level for evidence of this kind, and why."""
    if evidence.physical is None:
        return None, ("The mapping does not say whether the log is of a physical robot (`recorded`).",)
    if not evidence.physical:
        if not evidence.code:
            return 4, ("The log was simulated, and its mapping does not say by what code.",)
        if not _is_other_code(evidence.code):
            return 4, ("The log was simulated by segtrack itself: it is no other code that agrees.",)
        told = "it tells how codes agree, not how a robot drives"
        return 4, (f"The log was simulated, by {evidence.code}: {told}.",)
    if evidence.fitted_logs is None:
        reason = "The log is of a physical robot, and the vehicle file knows of no fit to any log."
        if not evidence.stated:
            return 6, (reason,)
        said = "; ".join(evidence.stated)
        lacks = f"A change is stated ({said}), but there is no fit that it could have been a change after."
        return 6, (reason, lacks)
    known = evidence.log in evidence.fitted_logs
    whose = "one of those" if known else "none of those"
    first = f"The log is of a physical robot, and {whose} that the vehicle was fitted to."
    if evidence.overwritten:
        said = "; ".join(evidence.overwritten)
        undone = f"Fitted parameters have other values in the vehicle file now ({said}), of unknown origin."
        return 4, (first, undone)
    if evidence.other_model:
        return 4 if known else 6, (first, f"The fit was of another model: {'; '.join(evidence.other_model)}.")
    if known:
        return 5, (first,)
    return _after_a_change(evidence, first)


def _is_other_code(code: str) -> bool:
    return bool(code) and not code.strip().lower().startswith("segtrack")


def _after_a_change(evidence: Evidence, blind: str) -> tuple[int, tuple[str, ...]]:
    seen, stated = "; ".join(evidence.changed), "; ".join(evidence.stated)
    if seen and stated:
        return 7, (blind, f"Since the fit there was a change: {stated}. The files differ in: {seen}.")
    if seen:
        return 6, (blind, f"The files differ from those of the fit in: {seen}; no change is stated.")
    if stated:
        return 6, (blind, f"A change is stated ({stated}), but the files are those of the fit.")
    return 6, (blind,)


def _agreement(evidence: Evidence) -> Iterator[str]:
    if not evidence.judged:
        yield "No quantity of the whole drive has a known uncertainty."
        return
    said = f"{evidence.within} of {evidence.judged} quantities of the whole drive agree within u_val"
    yield said + (f"; that of {evidence.unjudged} more is not known." if evidence.unjudged else ".")


def _disagreement(evidence: Evidence) -> Iterator[str]:
    """Reasons against agreement, whatever the quantities say that there are."""
    yield from evidence.cut
    if evidence.missing:
        yield f"Only one of log and simulation has: {', '.join(evidence.missing)}."
    if evidence.too_wide:
        what = "; ".join(evidence.too_wide)
        yield f"Stated uncertainties are too large to judge by, a tenth of a quantity is allowed: {what}."


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


_EQUAL = 1e-6
"""Ratio within which two values of a parameter are one."""
_IMPOSED = "belt speed", "flipper"
"""Quantities that a simulation by measured belts has from the log."""
_MAX_STATED_FRACTION = 0.1
"""Largest stated uncertainty, relative to the quantity, that leaves agreement certain [-]."""
_END = 0.5
"""Time by which a simulation may end before its log: the comparison bridges such gaps [s]."""


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


def evidence_of(
    mapped: MappedLog, replay: Replay, comparison: Comparison, changed: Sequence[str]
) -> Evidence:
    """Collect the evidence that files give for a comparison."""
    file = mapped.mapping.file
    fit = replay.scene.vehicle.calibration
    run: Run = "measured" if replay.measured is not None else "commanded"
    judged = comparison.runs[run]
    whole = [row for row in judged.rows if row.phase == "whole"]
    if run == "measured":
        whole = [row for row in whole if not row.quantity.startswith(_IMPOSED)]
    known = [row for row in whole if row.verdict != "unknown"]
    return Evidence(
        physical=None if file.recorded is None else file.recorded == "physical robot",
        code=file.code or "",
        log=mapped.log.sha256,
        fitted_logs=None if fit is None else tuple(log.sha256 for log in fit.logs.values()),
        changed=tuple(_changes(replay)),
        overwritten=tuple(_overwritten(replay.scene.vehicle)),
        stated=tuple(changed),
        judged=len(known),
        within=sum(row.verdict == "within" for row in known),
        unjudged=len(whole) - len(known),
        other_model=tuple(_other_model(replay)),
        cut=tuple(_cut(replay, run)),
        missing=tuple(_missing(judged)),
        too_wide=tuple(_too_wide(whole, judged.logged)),
    )


def _cut(replay: Replay, run: Run) -> Iterator[str]:
    """Why a simulation is not of the whole log."""
    if run in replay.diverged:
        yield f"The simulation by {run} belts broke down: {replay.diverged[run]}."
    simulated = getattr(replay, run)
    end, log_end = (
        max(float(signal.times[-1]) for signal in motion.signals.values())
        for motion in (simulated, replay.logged)
    )
    if end < log_end - _END:
        yield f"The simulation by {run} belts ends at {end:.4g} s, the log at {log_end:.4g} s."


def _missing(judged: RunComparison) -> Iterator[str]:
    """Numbers of the whole drive that only one motion has, of those that take a climb."""
    logged, simulated = judged.logged_phases.time_to_crest, judged.simulated_phases.time_to_crest
    if judged.find("peak pitch") is not None and (logged is None) != (simulated is None):
        yield f"time to crest (the {'simulation' if logged is None else 'log'})"


def _too_wide(rows: Sequence[ErrorRow], logged: SampledMotion) -> Iterator[str]:
    """Quantities that agree by stated uncertainty, where that is large beside them and all other."""
    for row in rows:
        given, rest = _given(row)
        size = _size(row, logged)
        if row.verdict == "within" and row.error and given > max(_MAX_STATED_FRACTION * size, rest):
            yield f"{row.quantity} +- {given:.3g} {row.unit} of {size:.3g}"


def _given(row: ErrorRow) -> tuple[float, float]:
    """Standard uncertainty of a row by what users state of inputs and log, and by all else."""
    parts = row.parts
    stated = [std for name, std in parts.inputs.items() if name != PLACE]
    stated += [parts.data.get(part) for part in ("clock", "bias", "drift")]
    numerics = None if parts.numerics is None else parts.numerics.value
    others = [parts.inputs.get(PLACE), parts.data.get("noise"), numerics]
    given, rest = (math.hypot(*(std for std in stds if std is not None)) for stds in (stated, others))
    return given, rest


def _size(row: ErrorRow, logged: SampledMotion) -> float:
    """Size of a quantity in the log: 1 for a ratio, a number's own, over time its range or farthest way."""
    if row.unit == "-":
        return 1.0
    if row.logged is not None:
        return abs(row.logged)
    if row.range_fraction:
        return row.error / row.range_fraction
    if row.quantity == LABELS["position"] and logged.position is not None:
        return float(np.linalg.norm(np.nanmax(logged.position, axis=0) - np.nanmin(logged.position, axis=0)))
    moved = logged.displacements() if row.quantity == LABELS["displacement"] else None
    return 0.0 if moved is None else float(np.nanmax(np.linalg.norm(moved, axis=1)))


def _other_model(replay: Replay) -> Iterator[str]:
    fit, scene = replay.scene.vehicle.calibration, replay.scene
    if fit is None:
        return
    if scene.engine != fit.engine:
        yield f"engine {scene.engine}, then {fit.engine}"
    if scene.track_model != fit.track_model:
        yield f"track model {scene.track_model}, then {fit.track_model}"


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


def _changes(replay: Replay) -> Iterator[str]:
    """Differences of terrain and vehicle from those of the fit, fitted parameters aside."""
    fit = replay.scene.vehicle.calibration
    if fit is None:
        return
    known = {log.terrain_sha256 for log in fit.logs.values()}
    if replay.scene.terrain.sha256 not in known:
        yield f"terrain {replay.scene.terrain.name}"
    now = values_of(replay.scene.vehicle)
    differing = {name for name, value in fit.others.items() if name in now and not _same(now[name], value)}
    for name in sorted(differing):
        yield f"{name} {now[name]:.4g}, then {fit.others[name]:.4g}"
    fitted = {name: parameter.value for name, parameter in fit.parameters.items()}
    if fit.unfitted_sha256 not in (None, unfitted_hash(replay.scene.vehicle, fitted)) and not differing:
        yield "the vehicle's description, in what no parameter names"


def _overwritten(vehicle: VehicleDescription) -> Iterator[str]:
    fit, now = vehicle.calibration, values_of(vehicle)
    if fit is None:
        return
    for name, parameter in fit.parameters.items():
        if name in now and not _same(now[name], parameter.value):
            yield f"{name} {now[name]:.4g}, fitted {parameter.value:.4g}"


def _same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=_EQUAL, abs_tol=1e-9)


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
    if log.event is not None:
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
