"""What a report says, gathered from a mapped log, its replay and their comparison."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from segtrack.description import VehicleDescription, find_vehicle
from segtrack.errors import FileAccessError
from segtrack.logs.compare import COVERAGE, Comparison, ErrorRow
from segtrack.logs.fit.parameters import values_of
from segtrack.logs.mapping import MappedLog
from segtrack.logs.replay import Replay
from segtrack.recording.versions import versions
from segtrack.report.logs.content import Input, Instant, ReportContent
from segtrack.report.logs.maturity import Evidence, judge_maturity

_EQUAL = 1e-6
"""Ratio within which two values of a parameter are one."""
_IMPOSED = "belt speed", "flipper"
"""Quantities that a simulation by measured belts has from the log."""


def gather(
    mapped: MappedLog, replay: Replay, comparison: Comparison, changed: Sequence[str] = ()
) -> ReportContent:
    """Make a report's content.

    Args:
        mapped: The log.
        replay: Of it.
        comparison: Of both.
        changed: What the user says was changed since the vehicle was fitted.

    Raises:
        FileAccessError: The vehicle file cannot be read again.
    """
    phases = next((run.logged_phases.phases for run in comparison.runs.values()), ())
    simulated = {run: motion.simulated.motion for run, motion in comparison.runs.items()}
    settings, scene = replay.settings, replay.scene
    vehicle = mapped.mapping.vehicle
    raised = "" if scene.terrain.setting is None else f", {scene.terrain.setting:g}"
    return ReportContent(
        vehicle=scene.vehicle,
        terrains=scene.terrain.terrains,
        logged=replay.logged,
        simulated=simulated,
        phases=phases,
        instants=tuple(_instants(replay, comparison)),
        rows=comparison.rows,
        maturity=judge_maturity(evidence_of(mapped, replay, comparison.rows, changed)),
        inputs=(
            Input("log", mapped.log.path.name, mapped.log.sha256),
            Input("mapping", mapped.mapping.name, _hash(mapped.mapping.text.encode())),
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
    )


def evidence_of(
    mapped: MappedLog, replay: Replay, rows: Sequence[ErrorRow], changed: Sequence[str]
) -> Evidence:
    """What the files tell of how much a comparison is worth."""
    file = mapped.mapping.file
    fit = replay.scene.vehicle.calibration
    run = "measured" if replay.measured is not None else "commanded"
    whole = [row for row in rows if row.run == run and row.phase == "whole"]
    if run == "measured":
        whole = [row for row in whole if not row.quantity.startswith(_IMPOSED)]
    known = [row for row in whole if row.verdict != "unknown"]
    return Evidence(
        physical=None if file.recorded is None else file.recorded == "physical robot",
        code=file.code or "",
        log=mapped.log.sha256,
        fitted_logs=None if fit is None else tuple(log.sha256 for log in fit.logs.values()),
        changed=() if fit is None else tuple(_changes(replay)),
        overwritten=() if fit is None else tuple(_overwritten(replay.scene.vehicle)),
        stated=tuple(changed),
        judged=len(known),
        within=sum(row.verdict == "within" for row in known),
        unjudged=len(whole) - len(known),
    )


def _changes(replay: Replay) -> Iterator[str]:
    """How terrain and vehicle differ from those of the fit, fitted parameters aside."""
    fit = replay.scene.vehicle.calibration
    assert fit is not None
    known = {log.terrain_sha256 for log in fit.logs.values()}
    if replay.scene.terrain.sha256 not in known:
        yield f"terrain {replay.scene.terrain.name}"
    now = values_of(replay.scene.vehicle)
    for name, value in fit.others.items():
        if name in now and not _same(now[name], value):
            yield f"{name} {now[name]:.4g}, then {value:.4g}"


def _overwritten(vehicle: VehicleDescription) -> Iterator[str]:
    fit, now = vehicle.calibration, values_of(vehicle)
    assert fit is not None
    for name, parameter in fit.parameters.items():
        if name in now and not _same(now[name], parameter.value):
            yield f"{name} {now[name]:.4g}, fitted {parameter.value:.4g}"


def _same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=_EQUAL, abs_tol=1e-9)


def _instants(replay: Replay, comparison: Comparison) -> Iterator[Instant]:
    """When both robots are drawn: by the log's phases, or evenly where nothing is climbed."""
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
    return Input("vehicle", path.name, _hash(_bytes(path)))


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileAccessError("read", path, error.strerror or str(error)) from None


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
