"""Side view of a vehicle as polygons, and the style of figures: colours, axes, ground."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from segtrack.description import PlacedTrack, TrackSpec, VehicleDescription, body_shapes, place_tracks
from segtrack.engine import find_track_model
from segtrack.errors import InvalidValueError
from segtrack.geometry import Placed, inner_outline, outer_outline, place_grousers, turn_and_move
from segtrack.terrain import Terrain, profile

Role = Literal["body", "inside", "belt", "flipper inside", "flipper belt", "grouser", "wheel"]


@dataclass(frozen=True)
class Polygon:
    """Closed outline of one part in a side view.

    Attributes:
        role: Kind of the part.
        points: Corners (n, 2) in (x, z) [m].
        y: Lateral place; larger is farther from the viewer [m].
    """

    role: Role
    points: NDArray[np.float64]
    y: float


@dataclass(frozen=True)
class SidePose:
    """Pose of a vehicle in a side view.

    Attributes:
        x: World x of the body frame [m].
        z: World z of the body frame [m].
        pitch: Pitch, nose up positive [rad].
        flippers: Flipper angles by name [rad].
        travel: Belt travel by the track's full name [m].
    """

    x: float
    z: float
    pitch: float
    flippers: Mapping[str, float]
    travel: Mapping[str, float]


HOME = SidePose(0.0, 0.0, 0.0, {}, {})
"""A vehicle in its own body frame."""


def side_view(
    vehicle: VehicleDescription,
    pose: SidePose = HOME,
    model: str = "segments",
    chains: Sequence[Polygon] | None = None,
) -> list[Polygon]:
    """Outline a vehicle from its right side, farthest polygon first.

    Args:
        vehicle: Description of the vehicle.
        pose: Pose of the body, angles of the flippers and travel of the belts.
        model: Track model, which decides whether grousers or wheels are drawn.
        chains: Shoes and wheels of link chains in the world, in place of the belts.

    Returns:
        Polygons in the order in which to paint them.
    """
    polygons = [Polygon("body", outline, 0.0) for outline in body_outlines(vehicle, (0, 2))]
    for track in place_tracks(vehicle, pose.flippers) if chains is None else ():
        polygons += _track(track, pose.travel.get(track.mounted.name, 0.0), model)
    cos, sin = math.cos(pose.pitch), math.sin(pose.pitch)
    turn = np.array([[cos, sin], [-sin, cos]])
    moved = [Polygon(p.role, p.points @ turn + (pose.x, pose.z), p.y) for p in polygons]
    return sorted([*moved, *(chains or ())], key=lambda polygon: (-polygon.y, polygon.role != "body"))


def body_outlines(vehicle: VehicleDescription, plane: tuple[int, int]) -> list[NDArray[np.float64]]:
    """Outline of the body in two of its axes: a convex polygon (n, 2) for each of its shapes [m].

    Collision shapes of a URDF's links, or visual ones of links without any; joints are at 0.
    Meshes that cannot be read are left out, and flat shapes seen from their edge.
    """
    body = vehicle.body
    if body.urdf is None:
        signs = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
        return [signs * np.asarray(body.size)[list(plane)] / 2]
    shapes = list(body_shapes(body.urdf, "collision"))
    colliding = {link for link, _ in shapes}
    shapes += [(link, shape) for link, shape in body_shapes(body.urdf, "visual") if link not in colliding]
    outlines = []
    for _, shape in shapes:
        with suppress(InvalidValueError, QhullError):
            points = shape.frame.points(shape.corners())[:, plane]
            outlines.append(points[ConvexHull(points).vertices])
    return outlines


def grouser_outlines(spec: TrackSpec, travel: float) -> list[NDArray[np.float64]]:
    """Outlines of a belt's grousers after a travel [m]: polygons (n, 2) in (x, z) of the track frame [m]."""
    if spec.grousers is None:
        return []
    path, shapes = spec.belt_path, spec.grousers.shapes
    profiles = []
    for shape in shapes:
        solid, lift = shape.kind.solid(shape.width or spec.width, shape.crown)
        profiles.append(Placed(solid, z=lift).outline)
    outlines = []
    for footprint in place_grousers(path, spec.grousers.count, len(shapes)):
        at = footprint.coordinate + travel
        if path.names[int(path.segment_of(at))] in spec.omit_segments:
            continue
        heading = float(path.heading(at)[0])
        profile = profiles[footprint.index % len(profiles)]
        outlines.append(turn_and_move(profile, path.point(at)[0], heading))
    return outlines


def _track(track: PlacedTrack, travel: float, model: str) -> list[Polygon]:
    """Polygons of one track in the side view, by its track model."""
    spec, y = track.mounted.spec, track.mounted.y
    on_flipper = track.mounted.flipper is not None
    outer, inner = outer_outline(spec.belt_path), inner_outline(spec.belt_path, spec.belt.thickness)
    band = np.concatenate([outer, outer[:1], inner[:1], inner[::-1]])
    plane: list[tuple[Role, NDArray[np.float64]]] = [
        ("flipper inside" if on_flipper else "inside", inner),
        ("flipper belt" if on_flipper else "belt", band),
    ]
    drawing = find_track_model(model).drawing
    if drawing == "grousers":
        plane += [("grouser", outline) for outline in grouser_outlines(spec, travel)]
    elif drawing == "wheels":
        from segtrack.bullet import track_builder  # With PyBullet, whose model it is.

        links = track_builder(model).track_links(spec)
        plane += [("wheel", outline) for link in links for outline in link.outlines]
    return [Polygon(role, track.frame.plane_points(points)[:, [0, 2]], y) for role, points in plane]


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
    "#f0e442",
)
"""Told apart by most eyes (Okabe and Ito)."""


def colour_of(i: int) -> str:
    """The i-th of `SEGMENT_COLOURS`, cyclically."""
    return SEGMENT_COLOURS[i % len(SEGMENT_COLOURS)]


def new_figure(width: float, height: float) -> Figure:
    """Make a figure of a size in inches with constrained layout."""
    return Figure(figsize=(width, height), layout="constrained")


def label_axes(axes: Axes, x: str, y: str, title: str = "", size: float = 11.0) -> None:
    """Label the axes of a plot, draw a faint grid, and set a left-aligned title of a font size."""
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
    """Paint a terrain's section along y = 0, down to `z_min` [m]."""
    outline = profile(terrain, x_min, x_max)
    axes.fill_between(outline.x, z_min, outline.z, color=GROUND, linewidth=0, zorder=1)
    axes.plot(outline.x, outline.z, color=GROUND_EDGE, linewidth=1.2, zorder=1.5)
