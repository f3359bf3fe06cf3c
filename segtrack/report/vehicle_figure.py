"""Drawing of a vehicle file: side view, top view, and each kind of track with its segments named."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from numpy.typing import NDArray

from segtrack.description import (
    PlacedTrack,
    TrackSpec,
    VehicleDescription,
    bounding_box,
    place_tracks,
    segments_dip,
)
from segtrack.geometry import Arc, inner_outline, normal_of
from segtrack.report.side_view import (
    FILL,
    Role,
    body_outlines,
    colour_of,
    grouser_outlines,
    label_axes,
    new_figure,
    paint,
    side_view,
)

Array = NDArray[np.float64]
_WIDTH = 13.0
_DIMENSION = {"arrowstyle": "<|-|>", "color": "black", "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0}


@dataclass(frozen=True)
class _Kind:
    """Tracks that differ only in mount and contact side."""

    spec: TrackSpec
    names: tuple[str, ...]


def draw_vehicle(vehicle: VehicleDescription, mass: float) -> Figure:
    """Draw a vehicle, flippers at angle 0.

    Args:
        vehicle: Vehicle to draw.
        mass: Mass of the whole vehicle [kg].
    """
    low, high = bounding_box(vehicle, {})
    for axes in ((0, 1), (0, 2)):
        corners = np.concatenate([np.array([low, high])[:, axes], *body_outlines(vehicle, axes)])
        low[list(axes)], high[list(axes)] = corners.min(axis=0), corners.max(axis=0)
    size = high - low
    margin = 0.16 * float(max(size[0], size[1]))
    kinds = _kinds(vehicle)
    columns = min(len(kinds), 3)
    detail_rows = math.ceil(len(kinds) / columns)
    # Heights in the unit of metres per inch that the width allows.
    scale = _WIDTH * 0.86 / (float(size[0]) + 2 * margin)
    side, top = (scale * (float(extent) + 2 * margin) for extent in (size[2], size[1]))
    detail = 3.6 if columns > 1 else 4.6
    figure = new_figure(_WIDTH, side + top + detail * detail_rows + 1.2)
    rows = figure.add_gridspec(3, 1, height_ratios=[side, top, detail * detail_rows])
    figure.suptitle(
        f"{vehicle.name}: {mass:.4g} kg, {len(list(vehicle.mounted_tracks()))} tracks", fontsize=15
    )
    _draw_side(figure.add_subplot(rows[0]), vehicle, low, high, margin)
    _draw_top(figure.add_subplot(rows[1]), vehicle, low, high, margin)
    cells = rows[2].subgridspec(detail_rows, columns)
    for i, kind in enumerate(kinds):
        _draw_track(figure.add_subplot(cells[i // columns, i % columns]), kind)
    return figure


def _kinds(vehicle: VehicleDescription) -> list[_Kind]:
    """Kinds of the vehicle's tracks, by path, belt and grousers."""
    found: dict[str, tuple[TrackSpec, list[str]]] = {}
    for mounted in vehicle.mounted_tracks():
        key = mounted.spec.model_copy(update={"mount": vehicle.body}).model_dump_json(exclude={"mount"})
        found.setdefault(key, (mounted.spec, []))[1].append(mounted.name)
    return [_Kind(spec, tuple(names)) for spec, names in found.values()]


def _draw_side(axes: Axes, vehicle: VehicleDescription, low: Array, high: Array, margin: float) -> None:
    paint(axes, side_view(vehicle))
    if vehicle.body.mass is not None:
        x, _, z = vehicle.body.center_of_mass
        axes.plot(x, z, marker="P", color="white", markeredgecolor="black", markersize=9, zorder=5)
        axes.annotate(
            "body's centre of mass", (x, z), (6, 8), textcoords="offset points", fontsize=8, zorder=6
        )
    for flipper in vehicle.flippers.values():
        x, _, z = flipper.mount.xyz
        axes.plot(x, z, marker="o", color="white", markeredgecolor=FILL["flipper belt"][0], zorder=5)
    _measure_box(axes, low[[0, 2]], high[[0, 2]], 0.35 * margin)
    _frame(axes, "Side view", "xz", low[[0, 2]], high[[0, 2]], margin)


def _draw_top(axes: Axes, vehicle: VehicleDescription, low: Array, high: Array, margin: float) -> None:
    outlines = body_outlines(vehicle, (0, 1))
    axes.add_collection(
        PolyCollection(outlines, facecolors=FILL["body"][0], edgecolors="black", linewidths=0.4, zorder=1)
    )
    for track in place_tracks(vehicle, {}):
        _track_from_above(axes, track)
        _forward(axes, track)
    _measure_box(axes, low, high, 0.35 * margin)
    _frame(axes, "Top view", "xy", low, high, margin)


def _track_from_above(axes: Axes, track: PlacedTrack) -> None:
    """Draw a belt and the grousers on its upper side from above."""
    spec = track.mounted.spec
    half = spec.width / 2
    outline = spec.belt_path.outline()
    edges = [(float(outline[:, 0].min()), 0.0), (float(outline[:, 0].max()), 0.0)]
    role: Role = "flipper belt" if track.mounted.flipper is not None else "belt"
    corners = np.array([[*edges[0], -half], [*edges[1], -half], [*edges[1], half], [*edges[0], half]])
    rectangle = track.frame.points(corners[:, [0, 2, 1]])[:, :2]
    axes.add_collection(PolyCollection([rectangle], facecolors=FILL[role][0], alpha=0.75, zorder=2))
    strips = []
    for grouser in grouser_outlines(spec, 0.0):
        if grouser[:, 1].mean() < np.mean([outline[:, 1].min(), outline[:, 1].max()]):
            continue
        x_min, x_max = grouser[:, 0].min(), grouser[:, 0].max()
        box = np.array([[x_min, -half, 0], [x_max, -half, 0], [x_max, half, 0], [x_min, half, 0]])
        strips.append(track.frame.points(box)[:, :2])
    axes.add_collection(PolyCollection(strips, facecolors=FILL["grouser"][0], zorder=3))


def _forward(axes: Axes, track: PlacedTrack) -> None:
    """Draw an arrow on a belt seen from above, in its driving direction."""
    outline = track.mounted.spec.belt_path.outline()
    middle = track.frame.plane_points((outline.min(axis=0) + outline.max(axis=0))[None] / 2)[0, :2]
    along = 0.25 * float(np.ptp(outline[:, 0])) * track.frame.push[:2]
    arrow = {"arrowstyle": "-|>", "color": "white", "linewidth": 1.6, "mutation_scale": 14}
    (x, y), (dx, dy) = middle.tolist(), along.tolist()
    axes.annotate("", (x + dx, y + dy), (x - dx, y - dy), arrowprops=arrow, zorder=6).set_gid("forward")


def _draw_track(axes: Axes, kind: _Kind) -> None:
    """Draw one kind of track in its own frame: named coloured segments, seams, grousers, pulleys."""
    spec, path = kind.spec, kind.spec.belt_path
    outline = path.outline()
    low, high = outline.min(axis=0), outline.max(axis=0)
    size = high - low
    axes.fill(*inner_outline(path, spec.belt.thickness).T, color="#f1f3f5", zorder=1)
    axes.add_collection(
        PolyCollection(grouser_outlines(spec, 0.0), facecolors=FILL["grouser"][0], alpha=0.8, zorder=3)
    )
    for i, (name, segment) in enumerate(zip(path.names, path.segments, strict=True)):
        colour = colour_of(i)
        along = np.linspace(0, segment.length, 60)
        normal = normal_of(segment.heading_at(along))
        outer = segment.point_at(along)
        omitted = name in spec.omit_segments
        width, style = (1.2, ":") if omitted else (3.0, "-")
        axes.plot(*outer.T, color=colour, linewidth=width, linestyle=style, zorder=4)
        inwards = (0.3 if isinstance(segment, Arc) else 0.13) * float(size[1])
        place = outer[30] - inwards * normal[30]
        bold = {"fontsize": 9, "fontweight": "bold"}
        text: dict[str, Any] = {"color": colour, "ha": "center", "va": "center", **bold}
        axes.annotate(f"{name}\n(omitted)" if omitted else name, place, zorder=6, **text)
        seam = outer[0], outer[0] - 0.06 * float(size[1]) * normal[0]
        axes.add_collection(LineCollection([np.array(seam)], colors="black", linewidths=1.6, zorder=5))
        if isinstance(segment, Arc):
            axes.plot(*segment.center, marker="+", color=colour, markersize=9, zorder=4)
    axes.plot([], [], color="black", linewidth=1.6, marker="|", linestyle="none", label="seam")
    margin = 0.14 * float(max(size))
    shapes = spec.grousers.shapes if spec.grousers is not None else ()
    tip = max((shape.kind.height for shape in shapes), default=0.0)
    _measure_box(axes, low, high, tip + 0.3 * margin)
    _frame(axes, ", ".join(kind.names), "xz", low, high, margin + tip)
    axes.title.set_fontsize(10)
    axes.set_xlabel("x [m]\n" + "\n".join(_facts(spec)), fontsize=9)


def _facts(spec: TrackSpec) -> Sequence[str]:
    """Lines of facts that the drawing of a track cannot show."""
    path, drive = spec.belt_path, spec.drive
    radii = sorted({round(s.radius, 6) for s in path.segments if isinstance(s, Arc)})
    first = f"belt {path.perimeter:.4g} m round, {spec.width:g} m wide, {spec.belt.mass:g} kg"
    pulleys = f"radius {', '.join(f'{radius:g}' for radius in radii)} m"
    grousers = "no grousers"
    if spec.grousers is not None:
        heights = ", ".join(dict.fromkeys(f"{shape.kind.height:g}" for shape in spec.grousers.shapes))
        grousers = f"{spec.grousers.count} grousers, {heights} m high, every {spec.pitch * 1000:.3g} mm"
    facts = [
        first,
        f"{pulleys}; {grousers}",
        f"drive {drive.stall_force:.4g} N, {drive.top_speed:.3g} m/s; friction {spec.contact.friction:g}",
    ]
    dip = segments_dip(spec)
    if dip > 0:
        facts.append(f"not for track model segments: they would run {dip * 1e3:.2g} mm into the ground")
    return facts


def _measure_box(axes: Axes, low: Array, high: Array, gap: float) -> None:
    """Draw dimension lines in metres, at a gap below and beside corners (2,) [m]."""
    below, beside = low[1] - gap, high[0] + gap
    _measure(axes, (low[0], below), (high[0], below), (0, -3), ha="center", va="top")
    _measure(axes, (beside, low[1]), (beside, high[1]), (4, 0), ha="left", va="center", rotation=90)


def _measure(
    axes: Axes, start: tuple[float, float], end: tuple[float, float], offset: tuple[int, int], **style: Any
) -> None:
    axes.annotate("", start, end, arrowprops=_DIMENSION, zorder=7)
    middle, text = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2), f"{math.dist(start, end):.3f} m"
    axes.annotate(text, middle, offset, textcoords="offset points", fontsize=9, **style)


def _frame(axes: Axes, title: str, names: str, low: Array, high: Array, margin: float) -> None:
    """Set title, axis labels, and limits around corners (2,) [m]."""
    label_axes(axes, f"{names[0]} [m]", f"{names[1]} [m]", title)
    axes.set_xlim(low[0] - margin, high[0] + margin)
    axes.set_ylim(low[1] - margin, high[1] + margin)
    axes.set_aspect("equal")
