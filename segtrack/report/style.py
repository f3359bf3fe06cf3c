"""Style of figures: colours, and the painting of polygons and ground."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from segtrack.report.side_view import Polygon, Role
from segtrack.terrain import Terrain, profile

FILL: dict[Role, tuple[str, float]] = {
    "body": ("#e8a33d", 1.0),
    "inside": ("#9aa3ab", 0.45),
    "belt": ("#2f353b", 1.0),
    "flipper inside": ("#8fb8d8", 0.55),
    "flipper belt": ("#245a80", 1.0),
    "grouser": ("#15181b", 1.0),
    "wheel": ("#5b6670", 0.55),
}
"""Colour and opacity by what a polygon shows."""
GROUND = "#d9cfc1"
GROUND_EDGE = "#7a6a55"
SEGMENT_COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#8c564b",
    "#7f7f7f",
)
"""Told apart by most eyes (Okabe and Ito)."""


def new_figure(width: float, height: float) -> Figure:
    """A figure of a size in inches, with its parts kept from overlapping."""
    return Figure(figsize=(width, height), layout="constrained")


def label_axes(axes: Axes, x: str, y: str, title: str = "", size: float = 11.0) -> None:
    """Name the axes of a plot, draw a faint grid, and put a title of a font size on the left."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if title:
        axes.set_title(title, loc="left", fontsize=size)
    axes.grid(alpha=0.25)


def paint(axes: Axes, polygons: Iterable[Polygon], zorder: float = 2.0) -> None:
    """Paint polygons in their order."""
    for i, (role, alike) in enumerate(groupby(polygons, lambda polygon: polygon.role)):
        colour, opacity = FILL[role]
        outlines = [polygon.points for polygon in alike]
        patch = PolyCollection(outlines, facecolors=colour, alpha=opacity, linewidths=0)
        patch.set_zorder(zorder + i * 1e-3)
        axes.add_collection(patch)


def paint_ground(axes: Axes, terrain: Terrain, x_min: float, x_max: float, z_min: float) -> None:
    """Paint a terrain's cut along y = 0, down to `z_min` [m]."""
    outline = profile(terrain, x_min, x_max)
    axes.fill_between(outline.x, z_min, outline.z, color=GROUND, linewidth=0, zorder=1)
    axes.plot(outline.x, outline.z, color=GROUND_EDGE, linewidth=1.2, zorder=1.5)
