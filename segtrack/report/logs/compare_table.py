"""A simulated log beside the measured one, as tables for the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rich.markup import escape
from rich.table import Table

from segtrack.logs.compare import CLIMB_PHASES, COVERAGE, AreaRow, Comparison, ErrorRow, RunComparison

_SHOWN = {"rad": ("deg", math.degrees(1.0)), "m": ("mm", 1e3), "m/s": ("mm/s", 1e3)}
"""Unit and factor that numbers are shown with, by their unit."""


def compare_tables(comparison: Comparison) -> list[Table]:
    """Phases; each run's errors of the whole and by phase; actuator and contact error; currents."""
    tables = [_phases(comparison)]
    for run in comparison.runs.values():
        tables += [*_whole(run), *_by_phase(run)]
    if comparison.split:
        tables.append(_split(comparison))
    if any(run.currents for run in comparison.runs.values()):
        tables.append(_currents(comparison))
    return tables


def area_table(rows: Sequence[AreaRow]) -> Table:
    """Distributions of repeats: what was simulated against what was measured."""
    title = "Area between the distributions of simulated and logged numbers over repeats"
    table = Table("driven by", "phase", "quantity", "logged", "simulated", "area, 95 %", title=title)
    for row in rows:
        unit, factor = shown_unit(row.unit)
        means = (f"{_number(factor * sum(v) / len(v))}" for v in (row.logged, row.simulated))
        low, high = (_number(factor * end) for end in row.interval)
        area = f"{_number(factor * row.area)} ({low} to {high}) {unit}".rstrip(" -")
        table.add_row(row.run, row.phase, row.quantity, *means, area)
    return table


def shown_unit(unit: str) -> tuple[str, float]:
    """Unit that numbers are shown in, and their factor."""
    return _SHOWN.get(unit, (unit, 1.0))


def _phases(comparison: Comparison) -> Table:
    runs = list(comparison.runs.values())
    table = Table("phase", "log [s]", *(f"{run.run} [s]" for run in runs), title=f"{comparison.name}: phases")
    found = [runs[0].logged_phases, *(run.simulated_phases for run in runs)] if runs else []
    names = [name for name in (*CLIMB_PHASES, "drive") if any(phases.find(name) for phases in found)]
    for name in names:
        cells = []
        for phases in found:
            phase = phases.find(name)
            cells.append("-" if phase is None else f"{phase.begin:.2f} to {phase.end:.2f}")
        table.add_row(name, *cells)
    return table


def _whole(run: RunComparison) -> Iterator[Table]:
    """Errors of the whole drive, and what makes them uncertain; apart, since terminals are narrow."""
    title = f"Driven by {run.run} belts, whole: error (of the range), and {COVERAGE:g} standard uncertainties"
    errors = Table("", "log", "simulated", "error", f"{COVERAGE:g} u", "", title=title)
    title = f"Driven by {run.run} belts, whole: interval of the error, and standard uncertainties"
    parts = Table("", "95 %", "u num", "u input", "u data", title=title)
    for row in run.rows:
        if row.phase == "whole":
            unit, factor = shown_unit(row.unit)
            quantity = escape(f"{row.quantity} [{unit}]")
            seen = ("" if v is None else _number(factor * v) for v in (row.logged, row.simulated))
            spread = None if row.uncertainty is None else COVERAGE * row.uncertainty
            error = _number(factor * row.error) + _fraction(row)
            errors.add_row(quantity, *seen, error, _part(spread, factor), _verdict(row))
            parts.add_row(quantity, *_parts(row, factor))
    yield errors
    yield parts


def _parts(row: ErrorRow, factor: float) -> Iterator[str]:
    """Interval of an error, and its uncertainties by numerics, inputs and data."""
    parts = row.parts
    yield "" if row.interval is None else " to ".join(_number(factor * end) for end in row.interval)
    yield _part(parts.numerics and parts.numerics.value, factor) if parts.is_refined else "not tried"
    yield _part(parts.input, factor) if parts.inputs else "not given"
    yield _part(parts.datum, factor)


def _by_phase(run: RunComparison) -> Iterator[Table]:
    names = [name for name in CLIMB_PHASES if run.logged_phases.find(name) is not None]
    if not names:
        return
    title = f"Driven by {run.run} belts, by phase: error +- {COVERAGE:g} standard uncertainties; * beyond"
    table = Table("", *names, title=title)
    quantities = dict.fromkeys((row.quantity, row.unit) for row in run.rows if row.phase in names)
    for quantity, unit in quantities:
        shown, factor = shown_unit(unit)
        rows = (run.find(quantity, name) for name in names)
        table.add_row(
            escape(f"{quantity} [{shown}]"), *("" if row is None else _cell(row, factor) for row in rows)
        )
    yield table


def _split(comparison: Comparison) -> Table:
    title = "Whole: what the actuators do (commanded against measured belts), and what the ground does"
    table = Table("", "commanded", "measured: contact", "difference: actuators", title=title)
    for row in comparison.split:
        if row.phase == "whole":
            unit, factor = shown_unit(row.unit)
            values = (row.commanded, row.measured, row.actuator)
            table.add_row(escape(f"{row.quantity} [{unit}]"), *(_number(factor * value) for value in values))
    return table


def _currents(comparison: Comparison) -> Table:
    table = Table(
        "driven by", "side", "force per current [N/A]", "correlation", "of so many independent samples",
        title="Simulated force of the drives over logged motor current: only the shape is compared",
    )  # fmt: skip
    for run in comparison.runs.values():
        for fit in run.currents:
            table.add_row(
                run.run,
                fit.side,
                f"{fit.force_per_current:.3g}",
                f"{fit.correlation:.2f}",
                f"{fit.independent:.0f}",
            )
    return table


def _number(value: float) -> str:
    return "0" if abs(value) < 5e-7 else f"{value:.3g}"


def _part(value: float | None, factor: float) -> str:
    return "unknown" if value is None else _number(factor * value)


def _fraction(row: ErrorRow) -> str:
    return "" if row.range_fraction is None else f" ({row.range_fraction:.1%})"


def _verdict(row: ErrorRow) -> str:
    return {"within": "within", "beyond": "[bold]beyond[/bold]", "unknown": "unknown"}[row.verdict]


def _cell(row: ErrorRow, factor: float) -> str:
    u = row.uncertainty
    spread = " +- ?" if u is None else f" +- {_number(COVERAGE * factor * u)}"
    return _number(factor * row.error) + spread + (" *" if row.verdict == "beyond" else "")
