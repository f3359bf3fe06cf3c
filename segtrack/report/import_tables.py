"""Terminal tables of an imported robot: what was found, guessed and missing, and its trial drive."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import get_args

from rich.markup import escape
from rich.table import Table

from segtrack.importing import Certainty, ImportFinding, TrialDrive

_STYLES = {"sure": "green", "given": "green", "guessed": "yellow", "missing": "red", "remark": "cyan"}


def findings_table(findings: Iterable[ImportFinding], name: str) -> Table:
    """Return a table of findings, those of many tracks that say the same in one row.

    Args:
        findings: Findings of an import.
        name: Name of the robot.
    """
    table = Table("", "what", "value", "from", title=f"{name}: found, guessed and missing")
    rows: dict[tuple[Certainty, str, str, str], list[str]] = {}
    for finding in findings:
        owner, _, what = finding.what.partition(": ")
        key = (finding.certainty, what, finding.value, finding.source)
        rows.setdefault(key if what else (finding.certainty, "", finding.value, finding.source), []).append(
            owner
        )
    for certainty in get_args(Certainty):
        for (own, what, value, source), owners in rows.items():
            if own == certainty:
                together = _together(owners)
                cells = f"{together}: {what}" if what else together, value, source
                style = _STYLES[certainty]
                table.add_row(f"[{style}]{certainty}[/{style}]", *map(escape, cells))
    return table


def _together(owners: list[str]) -> str:
    """Names of owners, with the kind that they share once: `track left, right`."""
    kinds = {owner.partition(" ")[0] for owner in owners}
    if len(owners) == 1 or len(kinds) > 1:
        return ", ".join(owners)
    kind = kinds.pop()
    return f"{kind} {', '.join(owner.partition(' ')[2] for owner in owners)}"


def trial_table(trial: TrialDrive, name: str) -> Table:
    """Return a table of an imported robot's trial drive.

    Args:
        trial: Result of the drive.
        name: Name of the robot.
    """
    table = Table("trial drive, flat ground", "", "target", title=f"{name} in the native engine")
    table.add_row("weight on belts, over weight", f"{trial.belt_share:.2f}", "1.00")
    table.add_row(
        "0.5 m straight on", f"{trial.distance:.3f} m, {trial.drift * 1e3:+.1f} mm to the left", "0.5 m"
    )
    table.add_row("turn to the right, 2 s", f"{math.degrees(trial.turned):.1f} deg", "")
    over = (
        "not known: friction hardly turns it" if trial.over_friction is None else f"{trial.over_friction:.3f}"
    )
    table.add_row("yaw rate over that of planar friction", over, "1 within 3 %")
    return table
