"""Steady turns beside simulated ones, as a table for the terminal."""

from __future__ import annotations

from rich.table import Table

from segtrack.logs.steady.compare import Spread, SteadyComparison

_SLIPS = ("slip_velocity.left", "slip_velocity.right")


def turns_table(comparison: SteadyComparison) -> Table:
    """Measured over simulated yaw rates and errors of slip, for all turns and by class."""
    table = Table(
        "turns",
        "n",
        "yaw rate / no slip,\nmeasured, simulated",
        "measured /\nsimulated, 95 %",
        "slip, simulated - measured [mm/s]\nleft, right: median (rms)",
        title=comparison.simulated.name,
    )
    for i, group in enumerate(comparison.groups):
        slips = [
            f"{1e3 * group.difference[key].median:+.1f} ({1e3 * group.rmse[key]:.1f})"
            for key in _SLIPS
            if key in group.difference
        ]
        table.add_row(
            group.name,
            str(len(group.rows)),
            f"{_median(group.measured_ratio)}, {_median(group.simulated_ratio)}",
            _with_interval(group.ratio),
            ", ".join(slips) or "-",
            end_section=i == 0,
        )
    return table


def _median(spread: Spread | None) -> str:
    return "-" if spread is None else f"{spread.median:.2f}"


def _with_interval(spread: Spread | None) -> str:
    if spread is None:
        return "-"
    return f"{spread.median:.2f} ({spread.interval[0]:.2f} to {spread.interval[1]:.2f})"
