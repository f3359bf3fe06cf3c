"""Tables as wide as the terminal: rich cuts cells off that do not fit, here none is lost."""

from __future__ import annotations

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text


def fit_table(table: Table, console: Console) -> Table:
    """Return a table that fits a console, each cell whole.

    Columns are as wide as their cells, or else at least as their longest words, between which cells are
    wrapped. Where even words do not fit beside each other, each row becomes a block of lines, one for
    each column that has something in it.
    """
    columns = table.columns
    ranges = [_range(console, [column.header, *column.cells], column.no_wrap) for column in columns]
    room = console.width - _around(table)
    spare = room - sum(low for low, _ in ranges)
    wanted = sum(high - low for low, high in ranges)
    if spare >= wanted:
        return table
    if spare >= 0:
        for column, (low, high) in zip(columns, ranges, strict=True):
            column.width = low + spare * (high - low) // wanted
        return table
    return _fold(table) if len(columns) == 2 else fit_table(_blocks(table), console)


def _blocks(table: Table) -> Table:
    """A table of two columns, header and cell, with a section for each row."""
    blocks = Table(title=table.title, show_header=False)
    blocks.add_column()
    blocks.add_column()
    for row in zip(*(column.cells for column in table.columns), strict=True):
        for column, cell in zip(table.columns, row, strict=True):
            if str(cell):
                header = str(column.header).replace("-\n", "").replace("\n", " ")
                blocks.add_row(header, cell)
        blocks.add_section()
    return blocks


def _fold(table: Table) -> Table:
    """The same table, whose words are broken where they must."""
    for column in table.columns:
        column.overflow = "fold"
    return table


def _range(console: Console, cells: list[object], no_wrap: bool) -> tuple[int, int]:
    """Width of the longest word, or line if lines are not wrapped, and of the longest line."""
    texts = [Text.from_markup(str(cell)) for cell in cells]
    sizes = [Measurement.get(console, console.options.update(width=10**4), text) for text in texts]
    high = max(size.maximum for size in sizes)
    return (high if no_wrap else max(size.minimum for size in sizes)), high


def _around(table: Table) -> int:
    """Width of what is no cell: borders and padding."""
    _, right, _, left = table.padding
    borders = len(table.columns) + 1 if table.box is not None else 0
    return borders + len(table.columns) * (left + right)
