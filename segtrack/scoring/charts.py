"""Pictures of a report, as parts of its page."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from segtrack.html import inline_svg
from segtrack.scoring.result import Outcome, Result

OUTCOME_COLOURS: dict[Outcome, str] = {"passed": "#009e73", "failed": "#d55e00", "abandoned": "#7f7f7f"}
"""Told apart by most eyes (Okabe and Ito)."""
_COMPLETED, _FAULT, _EXPERT = "#0072b2", "#d55e00", "#cc79a7"
_SIZE = (6.4, 2.4)
"""Width and height [inch]."""


def rate_chart(results: Sequence[Result], expert_rate: float | None, pass_fraction: float) -> str:
    """Draw the rates of trials of one course, setting and vehicle, one after another.

    Args:
        results: The trials, at least one.
        expert_rate: In the same unit; None if no expert is named.
        pass_fraction: Of the expert's rate.

    Returns:
        The picture as an `svg` element.
    """
    figure = Figure(figsize=_SIZE, layout="constrained")
    axes = figure.add_subplot()
    rates = [result.rate for result in results]
    axes.plot(range(1, len(results) + 1), rates, color="#9aa3ab", linewidth=1, zorder=1)
    for outcome, colour in OUTCOME_COLOURS.items():
        mine = [(i, result.rate) for i, result in enumerate(results, 1) if result.outcome == outcome]
        if mine:
            axes.scatter(*zip(*mine, strict=True), color=colour, label=outcome, zorder=2)
    if expert_rate is not None:
        axes.axhline(expert_rate, color=_EXPERT, label="expert")
        axes.axhline(
            pass_fraction * expert_rate,
            color=_EXPERT,
            linestyle="--",
            label=f"{pass_fraction:.0%} of the expert",
        )
    axes.set(xlabel="trial", ylabel=f"rate [{results[0].rate_unit}]", xlim=(0.5, len(results) + 0.5))
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    return inline_svg(figure, "Rate of each trial")


def repetition_chart(result: Result) -> str:
    """Draw how long each repetition of a trial took; returns the picture as an `svg` element."""
    figure = Figure(figsize=_SIZE, layout="constrained")
    axes = figure.add_subplot()
    for faulty, colour, label in ((False, _COMPLETED, "completed"), (True, _FAULT, "not credited")):
        mine = [
            (number, attempt.duration)
            for number, attempt in enumerate(result.attempts, 1)
            if (attempt.fault is not None) == faulty
        ]
        if mine:
            axes.bar(*zip(*mine, strict=True), color=colour, label=label, hatch="//" if faulty else None)
    axes.set(xlabel="repetition", ylabel="time [s]", xlim=(0.4, max(10, len(result.attempts)) + 0.6))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    return inline_svg(figure, "Time of each repetition of the latest trial")
