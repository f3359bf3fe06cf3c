"""Findings: what an import found, where it is from, and how sure it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

Certainty = Literal["sure", "given", "guessed", "missing", "remark"]


@dataclass(frozen=True)
class ImportFinding:
    """One thing found in a robot's file, or missing there.

    Attributes:
        certainty: `sure` as the file says so, `given` by the user, `guessed` by a rule or a default,
            `missing` in the file, or `remark` on something to look at.
        what: Subject, e.g. `track left: width`.
        value: Value with its unit, or what was done.
        source: Link, joint, mesh, plugin or rule that it is from.
    """

    certainty: Certainty
    what: str
    value: str
    source: str


@dataclass
class Findings:
    """List of findings, in the order in which they were made; one that is there already is not repeated."""

    found: list[ImportFinding] = field(default_factory=list)

    def add(self, certainty: Certainty, what: str, value: str, source: str) -> None:
        """Add a finding."""
        finding = ImportFinding(certainty, what, value, source)
        if finding not in self.found:
            self.found.append(finding)

    def __iter__(self) -> Iterator[ImportFinding]:
        """Findings in their order."""
        return iter(self.found)
