"""Turning rates as a picture: simulated, under planar friction, and of uniform pressure."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from segtrack.experiments.steady_turns.turning import TurningCase
from segtrack.report.style import SEGMENT_COLOURS, new_figure

_WIDTH = 0.8
"""Of a vehicle's place, of which there is one a unit."""


def draw_turning(cases: tuple[TurningCase, ...]) -> Figure:
    """Yaw rates over those without slip, a panel for each scene; a mark for each belt speed, rising."""
    scenes = list(dict.fromkeys(case.scene for case in cases))
    models = list(dict.fromkeys(case.rig.track_model for case in cases))
    vehicles = list(dict.fromkeys(case.vehicle for case in cases))
    figure = new_figure(2.0 + 1.7 * len(vehicles), 0.8 + 3.2 * len(scenes))
    panels = figure.subplots(len(scenes), 1, sharex=True, squeeze=False)[:, 0]
    for axes, scene in zip(panels, scenes, strict=True):
        for place, vehicle in enumerate(vehicles):
            there = [case for case in cases if (case.scene, case.vehicle) == (scene, vehicle)]
            _draw_vehicle(axes, place, there, models)
        axes.set_title(scene, loc="left", fontsize=11)
        axes.set_ylabel("yaw rate / without slip [-]")
        axes.set_ylim(bottom=0)
        axes.grid(axis="y", alpha=0.25)
    panels[-1].set_xticks(range(len(vehicles)), [name.replace(", ", ",\n") for name in vehicles])
    handles = [
        Line2D([], [], marker="o", linestyle="", color=SEGMENT_COLOURS[i], label=model)
        for i, model in enumerate(models)
    ]
    own = "planar friction under these loads"
    handles += [
        Line2D([], [], marker="_", markersize=14, linestyle="", color="black", label=own),
        Line2D([], [], linestyle="--", color="black", label="uniform pressure"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure


def _draw_vehicle(axes: Axes, place: int, cases: list[TurningCase], models: list[str]) -> None:
    """One vehicle in one scene, around x = `place`."""
    step = _WIDTH / max(len(cases), 1)
    for i, case in enumerate(sorted(cases, key=lambda case: models.index(case.rig.track_model))):
        x = place - _WIDTH / 2 + (i + 0.5) * step
        colour = SEGMENT_COLOURS[models.index(case.rig.track_model)]
        expected = case.steered.expected.yaw_rate / case.steered.no_slip_rate
        axes.plot([x, x], [case.steered.over_no_slip, expected], color=colour, linewidth=1.0)
        axes.plot(x, case.steered.over_no_slip, "o", color=colour)
        axes.plot(x, expected, "_", color="black", markersize=14)
        if case.uniform is not None:
            axes.hlines(case.uniform, place - _WIDTH / 2, place + _WIDTH / 2, colors="black", linestyles="--")
