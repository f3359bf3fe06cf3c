"""A vehicle as polygons seen from its right side, x forward and z up. Pure geometry."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from segtrack.description import VehicleDescription
from segtrack.description.placement import PlacedTrack, place_tracks
from segtrack.description.track import TrackSpec
from segtrack.geometry.grousers import place_grousers
from segtrack.geometry.outline import inner_outline, outer_outline
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
class Pose:
    """What a side view depends on.

    Attributes:
        x: Of the body frame [m].
        z: Of the body frame [m].
        pitch: Nose up positive [rad].
        flippers: Angle by flipper [rad].
        travel: Belt travel by the track's full name [m].
    """

    x: float
    z: float
    pitch: float
    flippers: Mapping[str, float]
    travel: Mapping[str, float]


HOME = Pose(0.0, 0.0, 0.0, {}, {})
"""A vehicle in its own body frame."""


def side_view(
    vehicle: VehicleDescription,
    pose: Pose = HOME,
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
    polygons = []
    if vehicle.body.size is not None:
        half_x, _, half_z = np.asarray(vehicle.body.size) / 2
        corners = np.array([[-half_x, -half_z], [half_x, -half_z], [half_x, half_z], [-half_x, half_z]])
        polygons.append(Polygon("body", corners, 0.0))
    for track in place_tracks(vehicle, pose.flippers) if chains is None else ():
        polygons += _track(track, pose.travel.get(track.mounted.name, 0.0), model)
    cos, sin = math.cos(pose.pitch), math.sin(pose.pitch)
    turn = np.array([[cos, sin], [-sin, cos]])
    moved = [Polygon(p.role, p.points @ turn + (pose.x, pose.z), p.y) for p in polygons]
    return sorted([*moved, *(chains or ())], key=lambda polygon: (-polygon.y, polygon.role != "body"))


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
    if model in ("segments", "plates", "compliant"):
        plane += [("grouser", outline) for outline in grouser_outlines(spec, travel)]
    elif model.startswith("wheels"):
        from segtrack.bullet.loader import track_model  # With PyBullet, whose model it is.

        links = track_model(model).track_links(spec)
        plane += [("wheel", outline) for link in links for outline in link.outlines]
    return [Polygon(role, track.frame.plane_points(points)[:, [0, 2]], y) for role, points in plane]
