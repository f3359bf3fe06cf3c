"""Tables and figures of a study."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from rich.markup import escape
from rich.table import Table

from segtrack.experiments import EventInstant, ParameterRange, RunJob, StudyFile, StudyResult
from segtrack.report.load_figure import draw_instants
from segtrack.report.side_view import SEGMENT_COLOURS, label_axes, new_figure

_ROWS = 40
"""Designs that are printed; all are in the files."""


def study_tables(result: StudyResult) -> list[Table]:
    """Return the designs with their results, and any sensitivities."""
    study = result.study
    obstacle, raised = study.event.obstacle, study.search is not None and study.search.raised == "size"
    what = obstacle.name if raised else obstacle.title
    title = escape(f"{result.head['vehicle_file']}, {what}: {len(result.rows)} runs")
    left_out = len(result.found) - _ROWS
    table = Table(title=title, caption=f"and {left_out} more, in the files" if left_out > 0 else None)
    for name, parameter in study.parameters.items():
        table.add_column(_label(name, parameter))
    table.add_column(study.result_name)
    table.add_column("because")
    for values, found in list(zip(result.values.tolist(), result.found, strict=True))[:_ROWS]:
        value = "none" if found.value is None else f"{found.value:.4g}"
        table.add_row(*(f"{each:.4g}" for each in values), value, escape(found.reason.splitlines()[0]))
    tables = [table]
    if result.sensitivities:
        names = list(next(iter(result.sensitivities.values())))
        measures = Table("parameter", *names, title=escape(f"Sensitivity of the {study.result_name}"))
        for name, values in result.sensitivities.items():
            measures.add_row(name, *(f"{values[each]:.3g}" for each in names))
        tables.append(measures)
    return tables


def _label(name: str, parameter: ParameterRange) -> str:
    """Label of a parameter, saying how its values change the file's."""
    return {"value": name, "offset": f"{name} (added)", "factor": f"{name} (factor)"}[parameter.change]


def draw_study(result: StudyResult) -> Figure:
    """Draw results over parameters: a heat map for a grid of two, else a panel for each parameter."""
    parameters = list(result.study.parameters.items())
    results = np.array([np.nan if value is None else value for value in result.results])
    if len(parameters) == 2 and result.study.design.method == "grid":
        figure = new_figure(8.0, 6.0)
        _draw_map(figure, figure.add_subplot(), result, parameters, results)
    else:
        figure = new_figure(max(4.0 * len(parameters), 6.0), 4.5)
        for i, (name, parameter) in enumerate(parameters):
            axes = figure.add_subplot(1, len(parameters), i + 1)
            _draw_panel(axes, result.values[:, i], results)
            label_axes(axes, _label(name, parameter), result.study.result_name if i == 0 else "")
    figure.suptitle(f"{result.head['vehicle_file']}: {result.study.event.obstacle.name}")
    return figure


def _draw_map(
    figure: Figure,
    axes: Axes,
    result: StudyResult,
    parameters: Sequence[tuple[str, ParameterRange]],
    results: NDArray[np.float64],
) -> None:
    (x_name, x), (y_name, y) = parameters
    grid = results.reshape(x.count, y.count).T
    values = result.values.reshape(x.count, y.count, 2)
    across, up = values[:, 0, 0], values[0, :, 1]
    axes.set_facecolor("#dddddd")
    image = axes.pcolormesh(across, up, np.ma.masked_invalid(grid), shading="nearest", cmap="viridis")
    figure.colorbar(image, ax=axes, label=result.study.result_name)
    middle = np.nanmean(grid) if np.isfinite(grid).any() else 0.0
    for (row, column), value in np.ndenumerate(grid):
        text = f"{value:.3g}" if np.isfinite(value) else "none"
        colour = "black" if not value < middle else "white"
        axes.text(
            float(across[column]), float(up[row]), text, ha="center", va="center", fontsize=8, color=colour
        )
    axes.set_xticks(across)
    axes.set_yticks(up)
    label_axes(axes, _label(x_name, x), _label(y_name, y))
    axes.grid(visible=False)


def _draw_panel(axes: Axes, values: NDArray[np.float64], results: NDArray[np.float64]) -> None:
    there = np.isfinite(results)
    axes.plot(values[there], results[there], "o", color=SEGMENT_COLOURS[0], markersize=4)
    if there.any() and not there.all():
        lowest = np.full(np.count_nonzero(~there), results[there].min())
        axes.plot(values[~there], lowest, "x", color=SEGMENT_COLOURS[1], label="no result")
        axes.legend(fontsize=8)


def row_at_instant(study: StudyFile, job: RunJob, instant: EventInstant) -> dict[str, Any]:
    """Return a study row's parameter values, its vehicle's state at an instant, and its outcome."""
    result, parameters = instant.result, dict(zip(study.parameters, job.values, strict=True))
    x, _, z = result.motion["position"][instant.sample].tolist()
    pitch = math.degrees(result.motion["pitch"][instant.sample])
    at = {"time": instant.time, "x": x, "z": z, "pitch_deg": pitch}
    ending = {"outcome": result.outcome, "limited_by": ", ".join(result.limited_by)}
    tried = {} if job.tried is None else {"tried": job.tried}
    return {**parameters, **tried, **at, **ending}


def beside_table(names: Sequence[str], seen: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table of several rows' `row_at_instant`, a column for each row."""
    table = Table("", *names, title=f"{' and '.join(names)} at the same instant")
    for name in seen[0]:
        cells = [row[name] for row in seen]
        table.add_row(name, *(f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in cells))
    return table


def draw_rows(
    names: Sequence[str], seen: Sequence[Mapping[str, Any]], instants: Sequence[EventInstant]
) -> Figure:
    """Draw rows of a study side by side at one instant.

    Args:
        names: Names of the rows.
        seen: `row_at_instant` of each row.
        instants: State of each row's vehicle at the instant.
    """
    titles = []
    for name, row, instant in zip(names, seen, instants, strict=True):
        own = list(row)[: list(row).index("time")]
        values = ", ".join(f"{parameter} {row[parameter]:.4g}" for parameter in own)
        titles.append(f"{name}: {values}\nt = {instant.time:.2f} s, in the end {row['outcome']}")
    figure = draw_instants(instants, titles, columns=2)
    result = instants[0].result
    figure.suptitle(f"{result.vehicle.name} at a {result.setup.obstacle.title}")
    return figure
