"""Command `segtrack log list`: reports on logs in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from segtrack.cli.output import JsonFlag, command, finish, path


@command
def list_reports(
    folder: Annotated[
        Path, typer.Argument(parser=path, help="Folder with reports in it, or in folders below it.")
    ] = Path("out"),
    as_json: JsonFlag = False,
) -> None:
    """List the reports in a folder: errors within their uncertainty, level, and a page of links there."""
    from segtrack.report import Outcome
    from segtrack.report.logs import find_reports, listing_html, listing_summary, listing_table

    entries, notes = find_reports(folder)
    files = {"reports.html": listing_html(entries)}
    finish(Outcome(listing_table(entries), listing_summary(entries), files, notes), folder, as_json)
