"""Outcome of a command: printed tables or JSON, and files to write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from rich.table import Table

from segtrack.files import write_csv, write_figure, write_json, write_text


@dataclass(frozen=True)
class Outcome:
    """Result of a command, ready to be printed and written.

    Attributes:
        tables: Tables for the terminal.
        summary: JSON-serialisable object, printed in place of the tables with `--json`.
        files: Contents of the files to write, by name: a figure, a JSON object, text, or rows of equal
            keys for a CSV file.
        notes: Lines for standard error.
        interrupted: Line for standard error if the work was interrupted; else empty.
    """

    tables: Table | Sequence[Table]
    summary: Mapping[str, Any]
    files: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()
    interrupted: str = ""

    def write(self, folder: Path) -> list[Path]:
        """Write the files and return their paths.

        Raises:
            FileAccessError: A file cannot be written.
        """
        return [_write(folder / name, content) for name, content in self.files.items()]


def _write(path: Path, content: Any) -> Path:
    """Write a figure, JSON object, text or table to a file."""
    if isinstance(content, Figure):
        return write_figure(path, content)
    if isinstance(content, Mapping):
        return write_json(path, content)
    if isinstance(content, str):
        return write_text(path, content)
    return write_csv(path, list(content[0]), (list(row.values()) for row in content))
