"""Content of a report of a log, with the maturity level after NG-NRMM that its comparison earns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from rich.markup import escape
from rich.table import Table

from segtrack.description import VehicleDescription
from segtrack.logs import Motion
from segtrack.logs.compare import ErrorRow, Phase, Run
from segtrack.logs.mapping import Finding
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
    if kind is None or (kind == 4 and (evidence.physical or not evidence.code)):
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
