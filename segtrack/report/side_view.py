"""A vehicle as polygons seen from its right side, x forward and z up. Pure geometry."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from segtrack.description import VehicleDescription
from segtrack.description.frames import body_shapes
from segtrack.description.placement import PlacedTrack, place_tracks
from segtrack.description.track import TrackSpec
from segtrack.engine.track_models import find_track_model
from segtrack.errors import InvalidValueError
from segtrack.geometry.grousers import place_grousers
from segtrack.geometry.path import inner_outline, outer_outline
from segtrack.geometry.solids import Placed, turn_and_move

Role = Literal["body", "inside", "belt", "flipper inside", "flipper belt", "grouser", "wheel"]


@dataclass(frozen=True)
class Polygon:
    """A closed outline with a meaning.

    Attributes:
        role: What it shows.
        points: Corners (n, 2) in (x, z) [m].
        y: How far to the left it lies; larger is farther from the eye [m].
    """

    role: Role
    points: NDArray[np.float64]
    y: float


@dataclass(frozen=True)
class SidePose:
    """Pose of a vehicle in a side view.

    Attributes:
        x: X of the body frame [m].
        z: Z of the body frame [m].
        pitch: Nose up positive [rad].
        flippers: Angle by flipper [rad].
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
    """Outline a vehicle, the farthest polygon first.

    Args:
        vehicle: The vehicle.
        pose: Where it is, and how its flippers and belts stand.
        model: Track model; it says whether there are grousers or wheels.
        chains: Shoes and wheels where they are in the world, instead of the belts.

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
    """The body in two of its axes, a convex polygon (n, 2) for each of its shapes [m].

    Of a URDF's links those shapes that collide, of a link without any those that are seen; joints at 0.
    Meshes that cannot be read are left out.
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
        with suppress(InvalidValueError):
            points = shape.frame.points(shape.corners())[:, plane]
            outlines.append(points[ConvexHull(points).vertices])
    return outlines


def grouser_outlines(spec: TrackSpec, travel: float) -> list[NDArray[np.float64]]:
    """The grousers of a belt after some travel [m], as polygons (n, 2) in the track plane [m]."""
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
        from segtrack.bullet.loader import track_builder  # With PyBullet, whose model it is.

        links = track_builder(model).track_links(spec)
        plane += [("wheel", outline) for link in links for outline in link.outlines]
    return [Polygon(role, track.frame.plane_points(points)[:, [0, 2]], y) for role, points in plane]
