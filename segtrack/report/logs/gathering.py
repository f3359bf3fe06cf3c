"""Gather a report's content from a mapped log, its replay and their comparison."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence

import numpy as np

from segtrack.description import VehicleDescription, find_vehicle
from segtrack.errors import FileAccessError
from segtrack.logs.compare import (
    COVERAGE,
    LABELS,
    PLACE,
    SETTING,
    Comparison,
    ErrorRow,
    Run,
    RunComparison,
    SampledMotion,
)
from segtrack.logs.fit import PARAMETERS, unfitted_hash, values_of
from segtrack.logs.mapping import Finding, LoadedTerrain, MappedLog
from segtrack.logs.replay import Replay
from segtrack.recording import versions
from segtrack.report.logs.content import Evidence, Input, Instant, ReportContent, judge_maturity
from segtrack.robot import QUANTITIES, quantity_of

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
