"""Findings of a mapped log as tables."""

from __future__ import annotations

from rich.markup import escape
from rich.table import Table

from segtrack.logs.plausibility import Finding, Plausibility


def findings_tables(found: Plausibility) -> list[Table]:
    """Return a table of what contradicts something, if anything does, and one of what was compared."""
    tables = []
    if found.notes:
        table = Table("finding", "what contradicts what", title=f"{escape(found.log)}: to look at")
        for finding in found.findings:
            table.add_row(escape(f"{finding.name}\n{weight_of(finding)}"), escape(str(finding)))
        for name in found.stale:
            table.add_row(escape(name), "accepted by the mapping, and not found")
        tables.append(table)
    consistent = [seen for seen in found.observations if not seen.contradiction]
    if consistent:
        table = Table("compared", "seen", title=f"{escape(found.log)}: contradicts nothing")
        for seen in consistent:
            table.add_row(escape(seen.name), escape(seen.state))
        tables.append(table)
    return tables


def weight_of(finding: Finding) -> str:
    """Say how much a finding weighs, in words."""
    if finding.reason is not None:
        return "accepted"
    return "beyond doubt" if finding.seen.certain else "doubtful"
