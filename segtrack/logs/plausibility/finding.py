"""Findings: contradictions in a mapped log, and the mapping lines that would explain them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from segtrack.errors import SegtrackError

_HINT = "mend the mapping, or let it say why this may stand: accepted: [{finding: ..., reason: ...}]"


class ImplausibleLogError(SegtrackError):
    """A mapped log that contradicts physics, its vehicle or its terrain beyond doubt."""

    def __init__(self, findings: Iterable[str]) -> None:
        """List the contradictions, a line each with its log, and say how they may stand."""
        self.findings = tuple(findings)
        super().__init__("\n".join([*self.findings, _HINT]))


@dataclass(frozen=True)
class Observation:
    """Result of one check, whether there is something to say against it or not.

    Attributes:
        name: Name of the check, by which mappings accept what it finds.
        subjects: Quantities of the mapping that it compares, the one that is more likely wrong first.
        state: Sentence on what was seen.
        contradiction: End of the sentence, on what this contradicts; empty if it contradicts nothing.
        certain: True for a contradiction beyond doubt.
        size: Ratio to what is possible [-].
        misfit: Distance from what would be expected, whether that contradicts anything or not [-].
        care: Line of the mapping file that would take care of it by itself, as path, key and value.
    """

    name: str
    subjects: tuple[str, ...]
    state: str
    contradiction: str = ""
    certain: bool = False
    size: float = 1.0
    misfit: float = 0.0
    care: tuple[str, str, Any] | None = None

    @property
    def path(self) -> str:
        """Path of the first subject in the mapping file."""
        return f"quantities.{self.subjects[0]}"


@dataclass(frozen=True)
class Remedy:
    """Change of a mapping that would explain a finding.

    Attributes:
        lines: Entries of the mapping file, `path: value`.
        effect: Sentence on what the check would see then.
        other: Lines of another change that would explain as much; empty if none does.
    """

    lines: tuple[str, ...]
    effect: str
    other: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The lines and their effect, as the end of a sentence."""
        first, second = (" with ".join(f"`{line}`" for line in lines) for lines in (self.lines, self.other))
        return f"{first}{f' or {second}' if second else ''} would fit: {self.effect}"


@dataclass(frozen=True)
class Finding:
    """Contradiction in a mapped log.

    Attributes:
        seen: The check's result.
        remedy: Change that would explain it; None if none that was tried does.
        reason: Reason for which the mapping accepts it; None if it does not.
    """

    seen: Observation
    remedy: Remedy | None = None
    reason: str | None = None

    @property
    def name(self) -> str:
        """Name of the check."""
        return self.seen.name

    @property
    def refuses(self) -> bool:
        """True if results would not be worth having: it is beyond doubt, and not accepted."""
        return self.seen.certain and self.reason is None

    def __str__(self) -> str:
        """The finding as a sentence."""
        seen = self.seen
        told = f"{seen.path}: {seen.name}: {seen.state}, {seen.contradiction}"
        if self.reason is not None:
            return f"{told} (accepted: {self.reason})"
        return told if self.remedy is None else f"{told}; {self.remedy}"

    def record(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict."""
        seen, remedy = self.seen, self.remedy
        return {
            "finding": seen.name,
            "quantities": list(seen.subjects),
            "seen": seen.state,
            "contradiction": seen.contradiction,
            "certain": seen.certain,
            "remedy": None if remedy is None else {**vars(remedy)},
            "accepted": self.reason,
        }


@dataclass(frozen=True)
class Plausibility:
    """Result of all checks of a mapped log.

    Attributes:
        log: Name of the log.
        observations: Results of the checks that the log has the quantities for.
        findings: Contradictions, the certain ones first.
        stale: Findings that the mapping accepts and that there are not.
    """

    log: str
    observations: tuple[Observation, ...]
    findings: tuple[Finding, ...] = ()
    stale: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """All findings as sentences, and what the mapping accepts in vain."""
        vain = (f"accepted: {name}: is not found in this log" for name in self.stale)
        return (*map(str, self.findings), *vain)

    def record(self) -> list[dict[str, Any]]:
        """Return the findings as JSON-serialisable dicts."""
        return [finding.record() for finding in self.findings]


def refuse(found: Iterable[Plausibility]) -> None:
    """End what would build on logs with contradictions beyond doubt.

    Raises:
        ImplausibleLogError: There is one that its mapping does not accept; all of them are listed.
    """
    refusing = [f"{each.log}: {finding}" for each in found for finding in each.findings if finding.refuses]
    if refusing:
        raise ImplausibleLogError(refusing)
