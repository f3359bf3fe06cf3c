"""Recorded turns beside simulated ones, as a table and a picture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from rich.table import Table

from segtrack.logs.steady.maxxii import LENGTHS, SimulatedTurns, quartiles
from segtrack.report.style import SEGMENT_COLOURS, new_figure

_MARKERS = "os^Dv<>"


def maxxii_table(results: Sequence[SimulatedTurns]) -> Table:
    """Medians of yaw rates over those without slip; of measured over simulated, and its quartiles."""
    table = Table(title="Steady turns of MAXXII: yaw rates over those without slip")
    headers = (
        "",
        "length\n[m]",
        "turns",
        "simu-\nlated",
        "mea-\nsured",
        "measured /\nsimulated",
        "x real\ntime",
    )
    for header in headers:
        table.add_column(header, no_wrap=True)
    model = ""
    for result in results:
        if model != (model := result.model):
            table.add_section()
        low, middle, high = quartiles(result.measured_over_simulated)
        table.add_row(
            result.model,
            f"{result.length:g}",
            str(len(result.rows)),
            f"{np.median(result.over_no_slip):.2f}",
            f"{np.median(result.measured_over_no_slip):.2f}",
            f"{middle:.2f} ({low:.2f}-{high:.2f})",
            "" if result.real_time_factor is None else f"{result.real_time_factor:.1f}",
        )
    return table


def draw_maxxii(results: Sequence[SimulatedTurns]) -> Figure:
    """Each turn, simulated over measured; and the distribution of measured over simulated yaw rates.

    Contact lengths but the middle one are shown as a band between their medians.
    """
    figure = new_figure(12.0, 5.0)
    turns, ratios = figure.subplots(1, 2)
    models = list(dict.fromkeys(result.model for result in results))
    for i, model in enumerate(models):
        colour, marker = SEGMENT_COLOURS[i], _MARKERS[i % len(_MARKERS)]
        of_model = [result for result in results if result.model == model]
        middle = next(result for result in of_model if result.length == LENGTHS[1])
        label = f"{model}, {len(middle.rows)} turns"
        turns.plot(
            middle.measured_over_no_slip, middle.over_no_slip, marker, color=colour, label=label, alpha=0.5
        )
        ordered = np.sort(middle.measured_over_simulated)
        shares = (np.arange(len(ordered)) + 0.5) / len(ordered)
        ratios.plot(ordered, shares, color=colour, label=label)
        medians = [float(np.median(result.measured_over_simulated)) for result in of_model]
        if len(medians) > 1:
            ratios.axvspan(min(medians), max(medians), color=colour, alpha=0.12, linewidth=0)
    turns.plot([0, 1.2], [0, 1.2], color="black", linewidth=0.8, linestyle=":")
    turns.set_xlabel("measured yaw rate / without slip [-]")
    turns.set_ylabel("simulated yaw rate / without slip [-]")
    turns.set_xlim(0, 1.2)
    turns.set_ylim(0, 1.2)
    turns.set_title(f"each turn, contact length {LENGTHS[1]:g} m", loc="left", fontsize=11)
    ratios.axvline(1.0, color="black", linewidth=0.8, linestyle=":")
    ratios.set_xlabel("measured / simulated yaw rate [-]")
    ratios.set_ylabel("fraction of turns below [-]")
    ratios.set_xlim(0.5, 2.0)
    bands = f"bands: medians for contact lengths of {LENGTHS[0]:g} to {LENGTHS[-1]:g} m"
    ratios.set_title(bands, loc="left", fontsize=11)
    for axes in (turns, ratios):
        axes.grid(alpha=0.25)
        axes.legend(fontsize=9)
    return figure
