"""Segments and a link chain side by side, as a picture."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from segtrack.experiments.okada.table_4 import Case
from segtrack.experiments.segments_vs_chain import MODELS, VEHICLE, Model, SegmentsVsChain
from segtrack.experiments.traction import SPEED
from segtrack.report.style import SEGMENT_COLOURS, new_figure

COLOURS = dict(zip(MODELS, SEGMENT_COLOURS, strict=False))
_WINDOW = 0.5
"""Of the drive on flat ground [s]."""


def draw_segments_vs_chain(result: SegmentsVsChain) -> Figure:
    """Flat ground, slope and hitch in a row, the climbs below it, each with what it should be."""
    figure = new_figure(16.0, 9.0)
    agree, count = sum(line.agree for line in result.lines), len(result.lines)
    cases = len(result.scenes["segments"].climbs.cases)
    figure.suptitle(
        f"Segments (blue) and link chain (red): {agree} of {count} quantities agree, "
        f"{result.same_outcomes} of {cases} climbs end alike",
        fontsize=15,
    )
    cells = figure.add_gridspec(1 + math.ceil(cases / 3), 12)
    panels = (_draw_speed, _draw_force, _draw_slide, _draw_pulls)
    for i, draw in enumerate(panels):
        draw(figure.add_subplot(cells[0, 3 * i : 3 * i + 3]), result)
    for i in range(cases):
        row, column = divmod(i, 3)
        axes = figure.add_subplot(cells[1 + row, 4 * column : 4 * column + 4])
        _draw_climb(axes, {model: result.scenes[model].climbs.cases[i] for model in MODELS})
    return figure


def _draw_speed(axes: Axes, result: SegmentsVsChain) -> None:
    for model in MODELS:
        flat = result.scenes[model].flat
        axes.plot(flat.time, flat.speed, color=COLOURS[model], linewidth=1.2)
    _reference(axes, SPEED, "commanded")
    axes.set_xlim(0.0, _WINDOW)
    _label(axes, f"{VEHICLE} on flat ground", "time [s]", "speed [m/s]")


def _draw_force(axes: Axes, result: SegmentsVsChain) -> None:
    weight = result.scenes["segments"].flat.weight
    for model in MODELS:
        scenes = result.scenes[model]
        for drive in (scenes.flat, scenes.hill):
            axes.plot(drive.time, drive.force, color=COLOURS[model], linewidth=1.0)
    hill = result.scenes["segments"].hill
    _reference(axes, 0.0, "")
    _reference(axes, weight * math.sin(hill.slope), f"m g sin {math.degrees(hill.slope):.0f} deg")
    axes.set_xlim(0.0, _WINDOW)
    _label(axes, "drives, on the flat and up a slope", "time [s]", "force of all drives [N]")


def _draw_slide(axes: Axes, result: SegmentsVsChain) -> None:
    for model in MODELS:
        slide = result.scenes[model].slide
        axes.plot(np.degrees(slide.slope), 1000 * slide.speed, color=COLOURS[model], linewidth=1.2)
        axes.plot(math.degrees(slide.angle), 1000 * slide.speed[slide.onset], "o", color=COLOURS[model])
    axes.axvline(
        math.degrees(math.atan(result.friction)),
        color="black",
        linestyle="--",
        linewidth=1.0,
        label="atan mu",
    )
    axes.set_ylim(-2.0, 30.0)
    _label(axes, "braked on a slope that grows steeper", "slope [deg]", "speed down it [mm/s]")


def _draw_pulls(axes: Axes, result: SegmentsVsChain) -> None:
    for model in MODELS:
        pulls = result.scenes[model].pulls
        axes.plot([p.slip for p in pulls], [p.pull for p in pulls], "o-", color=COLOURS[model])
    limit = result.friction * result.scenes["segments"].flat.weight
    _reference(axes, limit, "mu m g")
    axes.axhspan(0.95 * limit, 1.05 * limit, color="black", alpha=0.07, linewidth=0, label="5 %")
    axes.set_xscale("log")
    axes.set_ylim(0.0, 1.2 * limit)
    _label(axes, "pull on a hitch", "slip [-]", "pull [N]")


def _draw_climb(axes: Axes, cases: Mapping[Model, Case]) -> None:
    for model, case in cases.items():
        path = case.climb.trajectory
        axes.plot(path.time, np.degrees(path.pitch), color=COLOURS[model], linewidth=1.2)
        place, end = (0.0, "left") if model == MODELS[0] else (1.0, "right")
        words = f"{model}: {case.climb.outcome}, {case.climb.duration:.1f} s"
        axes.text(place, 1.02, words, color=COLOURS[model], ha=end, transform=axes.transAxes)
    line = cases["segments"].published
    robot = "climbed" if line.real else "failed"
    title = f"quince, {line.front_sub_track_deg:.0f} deg, {line.step * 1000:.0f} mm (robot: {robot})"
    _label(axes, title, "time [s]", "pitch [deg]", pad=20.0)


def _reference(axes: Axes, value: float, label: str) -> None:
    axes.axhline(value, color="black", linestyle="--", linewidth=1.0, label=label or None)


def _label(axes: Axes, title: str, x: str, y: str, pad: float = 6.0) -> None:
    axes.set_title(title, loc="left", fontsize=11, pad=pad)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.25)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(loc="best", fontsize=9)
