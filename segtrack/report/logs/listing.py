"""List of the reports on logs in a folder, as a table and a page with links."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.markup import escape
from rich.table import Table

from segtrack.errors import InvalidValueError, Phrase
from segtrack.html import render_page

SUMMARY, PAGE = "report.json", "report.html"
"""Names of a report's files."""


class ReportEntry(NamedTuple):
    """A report, in short.

    Attributes:
        page: Path of its page, from the folder that is listed.
        log: Name of the log.
        vehicle: Name of the vehicle.
        terrain: Name of the terrain, with its setting.
        written: Date of the report.
        level: Maturity level that is earned; None if none is.
        agreement: Number of the whole drive's errors by run and verdict: within, beyond, unknown.
    """

    page: str
    log: str
    vehicle: str
    terrain: str
    written: str
    level: int | None
    agreement: Mapping[str, Mapping[str, int]]

    def counts(self, run: str) -> str:
        """Errors of a run within, beyond and of unknown uncertainty, in words; empty for no such run."""
        found = self.agreement.get(run, {})
        return ", ".join(
            f"{found[name]} {name}" for name in ("within", "beyond", "unknown") if found.get(name)
        )


def find_reports(folder: Path) -> tuple[list[ReportEntry], list[str]]:
    """Return the reports in a folder and those below it, and sentences on files that are none.

    Raises:
        InvalidValueError: There is no report.
    """
    entries, notes = [], []
    for path in sorted(folder.rglob(SUMMARY)):
        try:
            entries.append(_entry(folder, path))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            notes.append(f"{path} is no report of a log, and is left out")
    if not entries:
        raise InvalidValueError(
            "FOLDER", f"one with reports of logs ({SUMMARY})", Phrase(f"{folder} with none")
        )
    return entries, notes


def _entry(folder: Path, path: Path) -> ReportEntry:
    found = json.loads(path.read_text("utf-8"))
    counts: dict[str, Counter[str]] = {}
    for error in found["errors"]:
        if error["phase"] == "whole":
            counts.setdefault(error["run"], Counter())[error["verdict"]] += 1
    (terrain,) = (each["name"] for each in found["inputs"] if each["role"] == "terrain")
    page = path.with_name(PAGE).relative_to(folder).as_posix()
    level = found["maturity"]["level"]
    return ReportEntry(page, found["log"], found["vehicle"], terrain, found["written"], level, counts)


def listing_table(entries: Sequence[ReportEntry]) -> Table:
    """Table of reports."""
    table = Table("log", "vehicle", "terrain", "level", "by commanded belts", "by measured belts", "page")
    for entry in entries:
        level = "none" if entry.level is None else str(entry.level)
        told = entry.log, entry.vehicle, entry.terrain, level
        table.add_row(*map(escape, (*told, entry.counts("commanded"), entry.counts("measured"), entry.page)))
    return table


def listing_html(entries: Sequence[ReportEntry]) -> str:
    """Return a page with a row and a link for each report.

    Raises:
        MissingPackageError: Jinja2 is not installed.
    """
    return render_page("segtrack.report.logs", "listing.html", {"entries": entries}, extra="logs")


def listing_summary(entries: Sequence[ReportEntry]) -> dict[str, Any]:
    """Return the entries as a JSON-serialisable dict."""
    return {"reports": [entry._asdict() for entry in entries]}
