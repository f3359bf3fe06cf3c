"""Side views of vehicles at instants of an event: loads on shoes and wheels, and tension of link chains."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from segtrack.chain import ChainReading, TrackDesign
from segtrack.experiments import END, EventInstant, EventResult
from segtrack.report.chain_figure import pose_at_sample
from segtrack.report.chain_view import chain_polygons, paint_chain, tracks_of_one_side
from segtrack.report.side_view import (
    SEGMENT_COLOURS,
    Polygon,
    label_axes,
    new_figure,
    paint,
    paint_ground,
    side_view,
)

_GROUND, _TENSION = "YlOrRd", "viridis"
"""Colour maps of the load on shoes, and of tension."""
_LONGEST = 0.22
"""Length of the longest arrow over the width of what is seen [-]."""
_WORDS = 0.12
"""Fraction of the largest force from which an arrow bears its number [-]."""
_AWAY = 0.5
"""Distance of the line that shows tension from the middle of shoes, over their pitch [-]."""
_MARGIN = 0.2
"""Ground before and behind the vehicle, over its length [-]."""
_BELOW = 0.12
"""What is seen below and above the vehicle, over its length [-]."""


def draw_loads(result: EventResult) -> Figure:
    """Draw a vehicle on link chains, with loads, at the instants that its event kept.

    The end of an event that was passed is left out: the vehicle is on flat ground again.
    """
    names: dict[float, list[str]] = {}
    for name, chains in result.chains.items():
        if name != END or not result.passed:
            names.setdefault(float(chains.time[0]), []).append(name)
    instants = [EventInstant(result, time, result.chains[own[0]]) for time, own in names.items()]
    titles = [f"{' and '.join(own)}, t = {time:.2f} s" for time, own in names.items()]
    figure = draw_instants(instants, titles, columns=1)
    figure.suptitle(f"{result.vehicle.name} at a {result.setup.obstacle.title}: {result.outcome}")
    return figure


def draw_instants(instants: Sequence[EventInstant], titles: Sequence[str], columns: int) -> Figure:
    """Draw vehicles at several instants, row by row, on common scales.

    Shoes are coloured by their load on the ground, a line around them by the tension between them, and an
    arrow at each wheel is the chain's force on it, in the plane of the picture.

    Args:
        instants: Instants, at least one.
        titles: Title of each picture.
        columns: Number of pictures in a row.
    """
    windows = [_window(instant) for instant in instants]
    width = max(right - left for (left, right), _ in windows)
    bottom = min(low for _, (low, _) in windows)
    height = max(high for _, (_, high) in windows) - bottom
    rows = -(-len(instants) // columns)
    across = 12.0 / columns
    shown = any(instant.chains is not None for instant in instants)
    figure = new_figure(12.0 + 3.0 * shown, rows * (across * height / width + 0.6) + 0.6)
    figure.set_layout_engine("compressed")  # Of pictures with an aspect.
    scale = _Scale(instants, width)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, instant, title, (x, _) in zip(panels, instants, titles, windows, strict=False):
        _draw_instant(axes, instant, scale, (float(np.mean(x)), bottom), (width, height))
        axes.set_title(title, loc="left", fontsize=11)
    for axes in panels[len(instants) :]:
        axes.set_axis_off()
    if shown:
        words = f"arrows: force of the chain on each wheel [{scale.unit}], green where it drives or tensions"
        figure.supxlabel(words, fontsize=10)
        bars = (
            (scale.ground, _GROUND, "load of a shoe on the ground"),
            (scale.tension, _TENSION, "tension, line around the shoes"),
        )
        for greatest, colours, label in bars:
            figure.colorbar(
                ScalarMappable(Normalize(0.0, greatest), colours),
                ax=panels.tolist(),
                label=f"{label} [{scale.unit}]",
                aspect=60,
            )
    return figure


class _Scale:
    """Largest values over all instants, for common scales."""

    def __init__(self, instants: Sequence[EventInstant], width: float) -> None:
        readings = [
            reading
            for instant in instants
            if instant.chains is not None
            for track in tracks_of_one_side(instant.result.vehicle)
            for reading in instant.chains.readings[track.name]
        ]
        self.wheel = max((float(_in_plane(reading).max()) for reading in readings), default=0.0) or 1.0
        self.factor, self.unit = (1e-3, "kN") if self.wheel >= 1000.0 else (1.0, "N")
        self.ground = self.factor * max((float(r.ground_force.max()) for r in readings), default=0.0) or 1.0
        self.tension = self.factor * max((float(r.tension.max()) for r in readings), default=0.0) or 1.0
        self.metres = _LONGEST * width / self.wheel
        """Length of an arrow for its force [m/N]."""


def _in_plane(reading: ChainReading) -> NDArray[np.float64]:
    """Magnitude of the force on each wheel in the plane of the picture (W,) [N]."""
    magnitude: NDArray[np.float64] = np.linalg.norm(reading.wheel_forces[:, [0, 2]], axis=1)
    return magnitude


def _window(instant: EventInstant) -> tuple[tuple[float, float], tuple[float, float]]:
    """Visible range in world x and in world z of one instant [m]."""
    points = np.concatenate([polygon.points for polygon in _polygons(instant)])
    low, high = points.min(axis=0), points.max(axis=0)
    beside, below = _MARGIN * float(high[0] - low[0]), _BELOW * float(high[0] - low[0])
    left, right = float(low[0]) - beside, float(high[0]) + beside
    return (left, right), (float(low[1]) - below, float(high[1]) + below)


def _polygons(instant: EventInstant) -> list[Polygon]:
    result = instant.result
    chains = None if instant.chains is None else chain_polygons(result.vehicle, instant.chains, 0)
    pose = pose_at_sample(result.motion, instant.sample)
    return side_view(result.vehicle, pose, result.track_model, chains)


def _draw_instant(
    axes: Axes,
    instant: EventInstant,
    scale: _Scale,
    place: tuple[float, float],
    size: tuple[float, float],
) -> None:
    """Draw a vehicle in a window given by its middle in x, its lower end in z, and its size [m]."""
    left, right, low = place[0] - size[0] / 2, place[0] + size[0] / 2, place[1]
    paint_ground(axes, instant.result.terrain, left, right, low)
    paint(axes, _polygons(instant))
    if instant.chains is not None:
        for layer, track in enumerate(tracks_of_one_side(instant.result.vehicle)):
            (reading,) = instant.chains.readings[track.name]
            _draw_track(axes, instant.chains.designs[track.name], reading, scale, 3.0 + layer)
    axes.set_xlim(left, right)
    axes.set_ylim(low, low + size[1])
    axes.set_aspect("equal")
    label_axes(axes, "x [m]", "z [m]")


def _draw_track(axes: Axes, design: TrackDesign, reading: ChainReading, scale: _Scale, zorder: float) -> None:
    """Draw a chain, its shoes coloured by load, with its tension and the forces on its wheels."""
    paint_chain(axes, design, reading, scale.factor * reading.ground_force, _GROUND, scale.ground, zorder)
    outwards = Rotation.from_quat(reading.orientations).as_matrix()[:, [0, 2], 2]
    places = reading.positions[:, [0, 2]] + _AWAY * design.chain.shoe.pitch * outwards
    line = LineCollection(
        list(np.stack([np.roll(places, 1, axis=0), places], axis=1)), cmap=_TENSION, linewidths=3
    )
    line.set_array(scale.factor * reading.tension)
    line.set_clim(0.0, scale.tension)
    line.set_zorder(zorder + 0.3)
    axes.add_collection(line)
    ends_of_belt = {design.running_gear.driven} | {
        w for w, wheel in enumerate(design.running_gear.wheels) if wheel.tensioner is not None
    }
    for w, (center, force) in enumerate(zip(reading.wheels, reading.wheel_forces, strict=True)):
        start, pull = center[[0, 2]], force[[0, 2]]
        size = float(np.linalg.norm(pull))
        if size < _WORDS * scale.wheel:
            continue
        tip, colour = start + scale.metres * pull, SEGMENT_COLOURS[2 if w in ends_of_belt else 0]
        arrow = FancyArrowPatch(start, tip, arrowstyle="-|>", mutation_scale=12, color=colour, linewidth=2)
        arrow.set_zorder(8.0)
        axes.add_patch(arrow)
        axes.annotate(
            f"{scale.factor * size:.3g}",
            tip + 0.04 * scale.metres * scale.wheel * pull / size,
            fontsize=8,
            color=colour,
            ha="center",
            va="bottom" if pull[1] >= 0 else "top",
            zorder=9,
            bbox={"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 0.8},
        )
