"""Drawing of a course: top view, and section along the path through its gates."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LightSource
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from segtrack.courses import Course, Wall, Zone
from segtrack.report.side_view import GROUND, GROUND_EDGE, SEGMENT_COLOURS, new_figure
from segtrack.terrain import StaticBody, column_of

_WIDTH = 13.0
_SAMPLES = 1200
"""Distances between samples of heights along the course, and along the path."""
_WALL, _GATE, _START = "#4a4f55", SEGMENT_COLOURS[0], SEGMENT_COLOURS[1]
_SOIL = "#c79a52"
_BELOW = 0.1
"""Depth below the floor to which the cut is drawn [m]."""
_BEYOND = 0.6
"""Distance that the path is drawn beyond the last gate's middle [m]."""


class _Path(NamedTuple):
    """Polyline from the start to each gate that is not on it yet.

    Attributes:
        points: Points in the world (n, 2) [m].
        along: Distance from the start along the line (n,) [m].
        stops: Distances of the start and the gates along the line [m].
        labels: Labels of the stops.
    """

    points: NDArray[np.float64]
    along: NDArray[np.float64]
    stops: list[float]
    labels: list[str]


def draw_course(course: Course) -> Figure:
    """Draw a course at its setting: top view with walls, start and gates, and section along its path."""
    bounds, path = course.bounds, _path(course)
    tall = max([wall.top for wall in course.walls] + [gate.z_min for gate in course.gates]) + 0.4
    scale = _WIDTH * 0.9 / bounds.length
    top = min(scale * bounds.width, 9.0)
    side = max(_WIDTH * 0.9 / max(path.along[-1], 0.1) * (tall + _BELOW), 1.0)
    figure = new_figure(_WIDTH, top + side + 1.6)
    rows = figure.add_gridspec(2, 1, height_ratios=[top, side])
    setting = course.setting
    raised = "" if setting is None else f", {setting.name} {setting.value:g} {setting.unit}"
    figure.suptitle(f"{course.title}{raised}", fontsize=15)
    _draw_top(figure, figure.add_subplot(rows[0]), course)
    _draw_cut(figure.add_subplot(rows[1]), course, path, tall)
    return figure


def _path(course: Course) -> _Path:
    """Polyline of a course's section."""
    corners, labels, seen = [(course.start.x, course.start.y)], ["start"], set()
    for number, gate in enumerate(course.gates, 1):
        if (gate.x, gate.y) not in seen and not gate.contains(*corners[0], gate.z_min):
            corners.append((gate.x, gate.y))
            labels.append(str(number))
        seen.add((gate.x, gate.y))
    places = np.array(corners)
    stops = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(places, axis=0), axis=1))])
    along = np.linspace(0.0, stops[-1] + _BEYOND, _SAMPLES)
    points = np.stack([np.interp(along, stops, places[:, k]) for k in (0, 1)], axis=1)
    if len(corners) > 1:
        ahead = (places[-1] - places[-2]) / (stops[-1] - stops[-2])
        points += np.maximum(along - stops[-1], 0.0)[:, None] * ahead
    return _Path(points, along, stops.tolist(), labels)


def _bodies(course: Course) -> list[StaticBody]:
    """Bodies on the floor, except walls."""
    solids = [body for body in course.terrains if isinstance(body, StaticBody)]
    return solids[:-1] if course.walls else solids


def _draw_top(figure: Figure, axes: Axes, course: Course) -> None:
    """Draw the top view."""
    bounds = course.bounds
    x_min, x_max = bounds.x - bounds.length / 2, bounds.x + bounds.length / 2
    y_min, y_max = bounds.y - bounds.width / 2, bounds.y + bounds.width / 2
    x = np.linspace(x_min, x_max, _SAMPLES)
    y = np.linspace(y_min, y_max, max(int(_SAMPLES * bounds.width / bounds.length), 2))
    heights = np.zeros((len(y), len(x)))
    for body in _bodies(course):
        heights = np.maximum(heights, body.height_at(*np.meshgrid(x, y)))
    cell = float(x[1] - x[0])
    shade = LightSource(azdeg=315, altdeg=50).hillshade(heights, vert_exag=1.0, dx=cell, dy=cell)
    extent = (x_min, x_max, y_min, y_max)
    image = axes.imshow(
        heights, origin="lower", extent=extent, cmap="YlOrBr", vmin=0, interpolation="nearest"
    )
    axes.imshow(shade, origin="lower", extent=extent, cmap="gray", vmin=0, vmax=1, alpha=0.35)
    for wall in course.walls:
        axes.add_patch(Polygon(_corners(wall), closed=True, facecolor=_WALL))
    numbers: dict[tuple[float, float], list[str]] = {}
    for number, gate in enumerate(course.gates, 1):
        numbers.setdefault((gate.x, gate.y), []).append(str(number))
        patch = Polygon(_corners(gate), closed=True, facecolor=_GATE, alpha=0.12, zorder=3)
        axes.add_patch(patch)
        axes.add_patch(
            Polygon(_corners(gate), closed=True, fill=False, edgecolor=_GATE, linestyle="--", zorder=3)
        )
    for (gate_x, gate_y), called in numbers.items():
        axes.annotate(
            "gate " + ", ".join(called), (gate_x, gate_y), (0, 14), textcoords="offset points", ha="center",
            color=_GATE, weight="bold", zorder=4, path_effects=[withStroke(linewidth=3, foreground="white")],
        )  # fmt: skip
    start = course.start
    tip = start.x + 0.35 * math.cos(start.yaw), start.y + 0.35 * math.sin(start.yaw)
    arrow = {"arrowstyle": "-|>", "color": _START, "linewidth": 2.5, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", tip, (start.x, start.y), arrowprops=arrow, zorder=5)
    axes.plot(start.x, start.y, "o", color=_START, markersize=6, zorder=5)
    axes.set(xlim=(x_min, x_max), ylim=(y_min, y_max), aspect="equal", xlabel="x [m]", ylabel="y [m]")
    figure.colorbar(image, ax=axes, label="height [m]", fraction=0.025, pad=0.01)


def _draw_cut(axes: Axes, course: Course, path: _Path, tall: float) -> None:
    """Draw the section along a path, up to a height `tall` [m]."""
    axes.axhspan(-_BELOW, 0.0, color=GROUND, linewidth=0)
    axes.axhline(0.0, color=GROUND_EDGE, linewidth=1.0)
    for body in _bodies(course):
        colour = GROUND if body.soil is None else _SOIL
        for solid in body.parts:
            low, high = column_of(solid).span(*path.points.T)
            met = (low <= high) & (high > 0)
            axes.fill_between(
                path.along, np.maximum(low, -_BELOW), high, where=met,
                facecolor=colour, edgecolor=GROUND_EDGE, linewidth=0.8,
            )  # fmt: skip
    for stop, label in zip(path.stops, path.labels, strict=True):
        colour = _START if label == "start" else _GATE
        axes.axvline(stop, color=colour, linestyle="--", linewidth=1.0)
        axes.annotate(
            label if label == "start" else f"gate {label}", (stop, tall), (4, -12),
            textcoords="offset points", color=colour,
        )  # fmt: skip
    axes.set(
        xlim=(path.along[0], path.along[-1]), ylim=(-_BELOW, tall), aspect="equal",
        xlabel="along the path [m]", ylabel="z [m]",
    )  # fmt: skip


def _corners(place: Zone | Wall) -> NDArray[np.float64]:
    """Corners of a rectangle in plan (4, 2) [m]."""
    turn = np.array([[math.cos(place.yaw), -math.sin(place.yaw)], [math.sin(place.yaw), math.cos(place.yaw)]])
    halves = np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)]) * (place.length / 2, place.width / 2)
    return np.asarray(halves @ turn.T + (place.x, place.y))
