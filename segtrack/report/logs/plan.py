"""Planned drives: which of them would tell which parameter, as a table and a figure."""

from __future__ import annotations

import numpy as np
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from rich.markup import escape
from rich.table import Table

from segtrack.logs.compare import DrivePlan
from segtrack.report.logs.compare import shown_unit
from segtrack.report.side_view import new_figure


def plan_table(plan: DrivePlan) -> Table:
    """Table of a row for each parameter: each drive's change over what would be seen, and the best drive."""
    caption = "\n".join(f"{drive.name}: {drive.meaning}." for drive in plan.drives)
    title = (
        f"{plan.vehicle}: change by the less visible wrong value, over what the noise hides; told from 1 on"
    )
    table = Table(title=title, caption=caption, caption_justify="left")
    for header in ("parameter", "wrong values", *(drive.name for drive in plan.drives), "told best by"):
        table.add_column(header)
    for parameter in plan.parameters:
        if parameter in plan.told:
            table.add_row(parameter, *([""] * (1 + len(plan.drives))), "told by a log already")
            continue
        tests = plan.of(plan.drives[0].name, parameter)
        values = " and ".join(f"{test.value:.3g}" for test in tests)
        unit = "" if not tests or tests[0].unit == "-" else f" {tests[0].unit}"
        ratios = (plan.ratio(drive.name, parameter) for drive in plan.drives)
        cells = [_cell(ratio) for ratio in ratios]
        table.add_row(parameter, escape(f"{values}{unit}"), *cells, escape(_best(plan, parameter)))
    return table


def _cell(ratio: float | None) -> str:
    if ratio is None:
        return "-"
    shown = _shown(ratio)
    return f"[bold]{shown}[/bold]" if ratio > 1.0 else shown


def _shown(ratio: float) -> str:
    if ratio >= 100:
        return f"{ratio:.0f}"
    return f"{ratio:.2g}" if ratio >= 0.01 else "0"


def _best(plan: DrivePlan, parameter: str) -> str:
    """The best drive, with the quantity that would tell the less visible wrong value."""
    best = plan.best(parameter)
    if best is None:
        return "none of these"
    test = min(
        (test for test in plan.of(best.name, parameter) if not test.failed), key=lambda test: test.ratio
    )
    unit, factor = shown_unit(test.unit_of_change)
    change = f"{factor * test.change:.2g} {unit}".removesuffix(" -")
    return f"{best.name}: {test.quantity}, {change}"


def draw_plan(plan: DrivePlan) -> Figure:
    """Draw a field for each parameter and drive, coloured by its change over what is seen."""
    names = [name for name in plan.parameters if name not in plan.told]
    figure = new_figure(1.6 + 1.3 * len(plan.drives), 1.6 + 0.36 * max(len(names), 1))
    axes = figure.add_subplot()
    ratios = [[plan.ratio(drive.name, name) for drive in plan.drives] for name in names]
    values = np.array([[np.nan if ratio is None else ratio for ratio in row] for row in ratios])
    values = values.reshape(len(names), len(plan.drives))
    shown = np.log10(np.clip(values, 0.1, 10.0))
    axes.imshow(shown, cmap="PiYG", norm=Normalize(-1.8, 1.8), aspect="auto")
    for i, row in enumerate(ratios):
        for j, ratio in enumerate(row):
            text = "-" if ratio is None else _shown(ratio)
            axes.text(j, i, text, ha="center", va="center", fontsize=9)
    axes.set_xticks(range(len(plan.drives)), [drive.name for drive in plan.drives])
    axes.set_yticks(range(len(names)), names)
    axes.set_title("change over what the noise hides; told above 1", loc="left", fontsize=10)
    return figure
