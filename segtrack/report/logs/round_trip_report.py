"""A climb that was spoilt and recovered, as a table and a picture."""

from __future__ import annotations

from matplotlib.figure import Figure
from rich.markup import escape
from rich.table import Table

from segtrack.logs.round_trip import RoundTrip
from segtrack.report.style import SEGMENT_COLOURS, new_figure


def round_trip_table(result: RoundTrip) -> Table:
    """Truth, errors and margins of each quantity, and how many intervals of 95 % hold the truth."""
    table = Table(title="A simulated climb, spoilt and recovered")
    for header in ("", "truth", "mean\nerror", "rms\nerror", "largest\nerror", "margin", "held", "not\nseen"):
        table.add_column(header, no_wrap=True)
    for name, truth in result.truth.items():
        numbers = (*(result.error_sizes(name) or (None, None, None)), result.margin(name))
        shown = ("-" if number is None else f"{number:.2g}" for number in numbers)
        held = f"{result.held(name)} of {len(result.estimates[name])}"
        table.add_row(escape(name), f"{truth:.4g}", *shown, held, str(result.not_seen(name)))
    return table


def draw_round_trip(result: RoundTrip) -> Figure:
    """Draw each quantity's estimates with their intervals, those that miss the truth in another colour."""
    figure = new_figure(13.0, 8.0)
    names = list(result.truth)
    for axes, name in zip(figure.subplots(2, -(-len(names) // 2)).flat, names, strict=False):
        truth, estimates = result.truth[name], sorted(result.seen(name), key=lambda each: each.value)
        for is_held, colour in ((True, SEGMENT_COLOURS[0]), (False, SEGMENT_COLOURS[1])):
            rows = [i for i, estimate in enumerate(estimates) if estimate.holds(truth) == is_held]
            chosen = [estimates[i] for i in rows]
            axes.hlines(rows, [e.low for e in chosen], [e.high for e in chosen], color=colour, linewidth=1.0)
            axes.plot([e.value for e in chosen], rows, ".", color=colour, markersize=3)
        axes.axvline(truth, color="black", linewidth=1.0)
        title = f"{result.held(name)} of {len(result.estimates[name])} hold"
        if not_seen := result.not_seen(name):
            title += f", {not_seen} not seen"
        axes.set_title(title, loc="left", fontsize=10)
        axes.set_xlabel(name)
        axes.locator_params(axis="x", nbins=4)
        axes.set_yticks([])
    return figure
