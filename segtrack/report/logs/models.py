"""Fits with several track models side by side, as tables, a figure and an outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from rich.table import Table

from segtrack.logs.fit import Fit, SharedEstimate, compare_models, with_unit
from segtrack.report.logs.fit import fit_outcome, fit_tables
from segtrack.report.outcome import Outcome
from segtrack.report.side_view import SEGMENT_COLOURS, label_axes, new_figure


def models_table(shared: Sequence[SharedEstimate]) -> Table:
    """Values by model, and the interval that has the discrepancy between them."""
    models = list(shared[0].by_model)
    table = Table(
        "parameter", *models, "together", "discrepancy", "95 % interval", title="Track models side by side"
    )
    for each in shared:
        own = [
            f"{e.value:.4g}" + ("" if e.std is None else f" ({e.std:.2g})") for e in each.by_model.values()
        ]
        joint = ["-", "-", "fewer than two models bound it"]
        if each.value is not None and each.interval is not None:
            low, high = each.interval
            joint = [
                with_unit(each.value, each.unit),
                f"{each.discrepancy:.2g}",
                f"{low:.4g} to {high:.4g}",
            ]
        table.add_row(each.name, *own, *joint)
    return table


def draw_models(shared: Sequence[SharedEstimate]) -> Figure:
    """Intervals of each parameter by model, and together."""
    figure = new_figure(3.6 * len(shared), 0.9 + 0.45 * (len(shared[0].by_model) + 1))
    for axes, each in zip(figure.subplots(1, len(shared), squeeze=False)[0], shared, strict=True):
        rows = [(model, e.value, e.interval) for model, e in each.by_model.items()]
        if each.value is not None and each.interval is not None:
            rows.append(("together", each.value, each.interval))
        for k, (_, value, (low, high)) in enumerate(rows):
            axes.plot([low, high], [-k, -k], color=SEGMENT_COLOURS[k % len(SEGMENT_COLOURS)], linewidth=2.5)
            axes.plot([value], [-k], "o", color=SEGMENT_COLOURS[k % len(SEGMENT_COLOURS)])
        axes.set_yticks([-k for k in range(len(rows))], [name for name, *_ in rows])
        label_axes(axes, f"{each.name} [{each.unit}]", "")
    return figure


def models_outcome(fits: Mapping[str, Fit]) -> Outcome:
    """Describe fits with several track models.

    Args:
        fits: Finished fits to the same logs, by the name of their track model.
    """
    shared, tables, files = compare_models(fits), list[Table](), dict[str, Any]()
    for model, found in fits.items():
        files |= {f"{model}/{name}": content for name, content in fit_outcome(found).files.items()}
        for table in fit_tables(found):
            table.title = f"{model}: {table.title}"
            tables.append(table)
    summary = {
        "models": {model: found.summary() for model, found in fits.items()},
        "parameters": [each.summary() for each in shared],
    }
    files |= {"models.json": summary, "models.png": draw_models(shared)}
    return Outcome([*tables, models_table(shared)], summary, files)
