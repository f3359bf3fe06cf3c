"""Maturity level after NG-NRMM that a comparison earns, and what the log tests of the vehicle."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from segtrack.description import VehicleDescription
from segtrack.logs.compare import (
    LABELS,
    PLACE,
    Comparison,
    ErrorRow,
    Run,
    RunComparison,
    SampledMotion,
    WrongValue,
)
from segtrack.logs.fit import PARAMETERS, unfitted_hash, values_of
from segtrack.logs.mapping import MappedLog
from segtrack.logs.replay import Replay

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


class SoughtValue(NamedTuple):
    """A wrong value of a parameter, and the error that would tell it best.

    Attributes:
        wrong: The wrong value, and what it would change that error by.
        quantity: Quantity of the error.
        run: Simulation of the error.
    """

    wrong: WrongValue
    quantity: str
    run: Run

    def __str__(self) -> str:
        """Sentence without a stop."""
        name, value, unit = self.wrong[:3]
        told = f"would be seen, in {self.quantity}" if self.wrong.is_seen else "would not be seen"
        return f"{name} {value:.3g} {unit} {told}".replace(" - ", " ")

    def summary(self) -> dict[str, object]:
        """Return a JSON-serialisable dict."""
        return {
            **self.wrong._asdict(),
            "is_seen": self.wrong.is_seen,
            "quantity": self.quantity,
            "run": self.run,
        }


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
        too_wide: Quantities that inputs, clocks, bias, drift and belts' scale make too uncertain, in words.
        varied: Parameters of the vehicle that are stated as uncertain.
        wrong_values: Wrong values of these, and what of the quantities that agree would show them.
        elsewhere: Wrong values, and what would show them, by the other simulation of the log, whose agreement
            is no part of a level.
        not_varied: Parameters that the vehicle has and that are not stated as uncertain.
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
    varied: tuple[str, ...] = ()
    wrong_values: tuple[SoughtValue, ...] = ()
    elsewhere: tuple[SoughtValue, ...] = ()
    not_varied: tuple[str, ...] = ()

    @property
    def tested(self) -> tuple[str, ...]:
        """Parameters of which all wrong values would be seen."""
        return _seen_of(self.wrong_values)

    @property
    def tested_elsewhere(self) -> tuple[str, ...]:
        """Parameters that the other simulation of the log tests."""
        return _seen_of(self.elsewhere)

    @property
    def not_tested(self) -> tuple[str, ...]:
        """Parameters that are stated as uncertain, of which a wrong value would not be seen."""
        return tuple(name for name in self.varied if name not in self.tested)


def _seen_of(values: Sequence[SoughtValue]) -> tuple[str, ...]:
    names = dict.fromkeys(sought.wrong.parameter for sought in values)
    unseen = {sought.wrong.parameter for sought in values if not sought.wrong.is_seen}
    return tuple(name for name in names if name not in unseen)


@dataclass(frozen=True)
class Maturity:
    """A level, and why.

    Attributes:
        level: Level that the evidence earns; None if it earns none.
        kind: Highest level that evidence of this kind could earn; None if it is not known what it is.
        reasons: Sentences.
        evidence: Evidence that it was judged by.
    """

    level: int | None
    kind: int | None
    reasons: tuple[str, ...]
    evidence: Evidence

    def summary(self) -> dict[str, object]:
        """Everything as plain values with the names that JSON has."""
        return {
            "level": self.level,
            "at_most": self.kind,
            "meaning": None if self.level is None else LEVELS[self.level],
            "reasons": list(self.reasons),
            "tested": list(self.evidence.tested),
            "not_tested": list(self.evidence.not_tested),
            "not_varied": list(self.evidence.not_varied),
            "wrong_values": [sought.summary() for sought in self.evidence.wrong_values],
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
    its uncertainty was stated to be large. Agreement says nothing of a parameter that the log does not test:
    a level needs one whose wrong values, half and one and a half of it, would have been seen.
    """
    kind, why = _kind(evidence)
    agreement = tuple(_agreement(evidence))
    disagreement = tuple(_disagreement(evidence))
    agrees = evidence.judged == evidence.within > 0 and not evidence.unjudged and not disagreement
    agrees = agrees and bool(evidence.tested)
    reasons = (*why, *agreement, *disagreement, *_what_is_tested(evidence))
    if kind is None or (kind == 4 and (evidence.physical or not _is_other_code(evidence.code))):
        return Maturity(None, kind, reasons, evidence)
    if not agrees:
        return Maturity(None, kind, (*reasons, f"Level {kind} is not earned."), evidence)
    return Maturity(kind, kind, reasons, evidence)


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
        of = "inputs, clocks, bias, drift and belts' scale"
        yield f"Uncertainties of {of} are too large to judge by, a tenth of a quantity is allowed: {what}."


def _what_is_tested(evidence: Evidence) -> Iterator[str]:
    """Sentences on what the log tests, which a level is about, and what not."""
    if not evidence.varied:
        yield "Nothing says what this log tests: no parameter of the vehicle is stated as uncertain."
    else:
        values = "; ".join(map(str, evidence.wrong_values)) or "nothing agrees that would show any"
        yield f"Wrong values: {values}."
        yield f"Tested by this log: {', '.join(evidence.tested) or 'no parameter of the vehicle'}."
    if evidence.not_tested:
        yield f"Not tested by this log: {', '.join(evidence.not_tested)}."
    others = [name for name in evidence.tested_elsewhere if name not in evidence.tested]
    if others:
        run, names = evidence.elsewhere[0].run, ", ".join(others)
        yield f"The simulation by {run} belts, whose agreement is not judged here, would tell {names}."
    if evidence.not_varied:
        yield f"Not stated as uncertain, so not tested either: {', '.join(evidence.not_varied)}."


_EQUAL = 1e-6
"""Ratio within which two values of a parameter are one."""
_MAX_STATED_FRACTION = 0.1
"""Largest stated uncertainty, relative to the quantity, that leaves agreement certain [-]."""
_NO_ERROR = 1e-12
"""Change of an error below which there is none, in whatever unit."""
_END = 0.5
"""Time by which a simulation may end before its log: the comparison bridges such gaps [s]."""


def evidence_of(
    mapped: MappedLog, replay: Replay, comparison: Comparison, changed: Sequence[str]
) -> Evidence:
    """Collect the evidence that files give for a comparison."""
    file = mapped.mapping.file
    fit = replay.scene.vehicle.calibration
    run: Run = "measured" if replay.measured is not None else "commanded"
    judged = comparison.runs[run]
    whole = [row for row in judged.rows if row.phase == "whole" and not row.is_imposed]
    known = [row for row in whole if row.verdict != "unknown"]
    others = [row for name, other in comparison.runs.items() if name != run for row in other.rows]
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
        varied=tuple(name for name in comparison.inputs if name in PARAMETERS),
        wrong_values=tuple(_sought(known)),
        elsewhere=tuple(_sought([row for row in others if row.phase == "whole"])),
        not_varied=tuple(name for name in values_of(replay.scene.vehicle) if name not in comparison.inputs),
    )


def _sought(rows: Sequence[ErrorRow]) -> Iterator[SoughtValue]:
    """Yield each wrong value with the row that would tell it best, of those that agree.

    What makes a row disagree is not known, and could hide a wrong value as well.
    """
    best: dict[tuple[str, float], SoughtValue] = {}
    for row in rows:
        if row.verdict != "within":
            continue
        for wrong in row.wrong_values:
            key, found = (wrong.parameter, wrong.value), SoughtValue(wrong, row.quantity, row.run)
            if key not in best or _clarity(found) > _clarity(best[key]):
                best[key] = found
    yield from best.values()


def _clarity(sought: SoughtValue) -> float:
    return (sought.wrong.change or 0.0) / max(sought.wrong.needed, _NO_ERROR)


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
    """Quantities that agree by uncertain inputs or data, where that is large beside them and all other."""
    for row in rows:
        given, rest = _given(row)
        size = _size(row, logged)
        if row.verdict == "within" and row.error and given > max(_MAX_STATED_FRACTION * size, rest):
            yield f"{row.quantity} +- {given:.3g} {row.unit} of {size:.3g}"


def _given(row: ErrorRow) -> tuple[float, float]:
    """Standard uncertainty of a row by inputs and data, stated, assumed or fitted, and by all else."""
    parts = row.parts
    stated = [std for name, std in parts.inputs.items() if name != PLACE]
    stated += [parts.data.get(part) for part in ("clock", "bias", "drift", "scale")]
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
