"""Terminal table of an exported vehicle: what its file says otherwise, or not at all."""

from __future__ import annotations

from collections.abc import Iterable

from rich.markup import escape
from rich.table import Table

from segtrack.exporting import ExportRemark, Fate

_STYLES: dict[Fate, str] = {"changed": "yellow", "lost": "red"}


def export_table(remarks: Iterable[ExportRemark], title: str) -> Table:
    """Return a table of an export's remarks.

    Args:
        remarks: Remarks of an export.
        title: Title of the table.
    """
    table = Table("", "what", "in the vehicle", "in the file", title=escape(title))
    for remark in remarks:
        style = _STYLES[remark.fate]
        cells = map(escape, (remark.what, remark.value, remark.instead))
        table.add_row(f"[{style}]{remark.fate}[/{style}]", *cells)
    return table
