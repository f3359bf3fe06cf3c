"""How fast logs are read and compared, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from segtrack.logs.speed import RATE, SpeedRow


def log_speed_table(rows: Sequence[SpeedRow]) -> Table:
    """Size, time, and what we aimed at for an hour."""
    table = Table(title=f"{rows[0].samples / RATE / 60:.3g} min at {RATE} Hz, 20 channels")
    for header in ("", "MB", "processor [s]", "clock [s]", "aimed at for an hour [s]"):
        table.add_column(header)
    for row in rows:
        size = "" if row.megabytes is None else f"{row.megabytes:.3g}"
        table.add_row(row.what, size, f"{row.processor:.3g}", f"{row.clock:.3g}", f"{row.target:g}")
    return table
