"""A robot as a look and a pose, whichever engine moves it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from segtrack.description.track import TrackSpec
from segtrack.geometry import solids as geometry
from segtrack.geometry.outline import inner_outline, outer_outline
from segtrack.geometry.path import Arc
from segtrack.geometry.rotation import quaternion_of
from segtrack.rendering.look import (
    OnBelt,
    OnBodies,
    OnLink,
    OnWheel,
    Part,
    TrackLook,
    VehicleLook,
    VehiclePose,
)
from segtrack.rendering.mesh import BODY, Colour, Mesh, box, convex, join, of_solid, ring, wheel
from segtrack.rendering.urdf_visuals import urdf_meshes
from segtrack.robot import Robot
from segtrack.robot.track import Track

if TYPE_CHECKING:  # Numba takes half a second to import.
    from segtrack.chain.design import TrackDesign

BELT: Colour = (66, 74, 82)
FLIPPER_BELT: Colour = (50, 112, 158)
GROUSER: Colour = (34, 38, 42)
WHEEL: Colour = (150, 158, 166)
SPOKE: Colour = (112, 120, 128)
STRIPE: Colour = (150, 158, 166)
_PLATE: Colour = (176, 184, 192)
_STRIPES, _STRIPE = 24, (0.008, 0.001)
"""Stripes on a belt without grousers, to see it move; their length along the belt and height [m]."""


def look_of(robot: Robot) -> VehicleLook:
    """Return what a robot looks like."""
    links = robot.model.link_names
    numbers = {name: number for number, name in enumerate(links)}
    tracks = tuple(_track_look(track, numbers) for track in robot.tracks.values())
    parts, bodies = list(_body(robot, numbers)), 0
    for number, track in enumerate(robot.tracks.values()):
        if track.has_chain:
            parts += _chain(track, bodies)
            bodies += _body_count(track.chain_design)
        else:
            parts += _belt(track, number, tracks[number], robot.track_model)
    return VehicleLook(robot.name, links, tracks, bodies, tuple(parts))


def read_pose(robot: Robot) -> VehiclePose:
    """Return where a robot is now, for the look that `look_of` gives."""
    links = robot.model.link_poses()
    tracks = list(robot.tracks.values())
    travels = np.array([track.travel for track in tracks])
    bodies = [_chain_poses(track) for track in tracks if track.has_chain]
    return VehiclePose(links, travels, np.concatenate([np.empty((0, 7)), *bodies]))


def _track_look(track: Track, numbers: Mapping[str, int]) -> TrackLook:
    spec, flipper = track.spec, track.model.mounted.flipper
    link = numbers[spec.mount.parent if flipper is None else flipper]
    return TrackLook(track.name, link, spec.mount.frame, spec.belt_path)


def _body(robot: Robot, numbers: Mapping[str, int]) -> Iterator[Part]:
    body = robot.description.body
    if body.size is not None:
        yield Part(box(np.array(body.size) / 2, BODY), OnLink(0))
        return
    assert body.urdf is not None
    for name, mesh in urdf_meshes(Path(body.urdf)):
        yield Part(mesh, OnLink(numbers[name]))


def _belt(track: Track, number: int, look: TrackLook, model: str) -> Iterator[Part]:
    spec, path = track.spec, track.spec.belt_path
    if not model.startswith("wheels"):
        inner = inner_outline(path, spec.belt.thickness)
        belt = ring(outer_outline(path), inner, spec.width, _belt_colour(track))
        if all(segment.turn >= 0 for segment in path.segments):
            inside = [np.insert(inner, 1, y, axis=1) for y in (-0.2 * spec.width, 0.2 * spec.width)]
            belt = join([belt, convex(np.concatenate(inside), _PLATE)])
        yield Part(belt.moved(look.mount.rotation, look.mount.origin), OnLink(look.link))
    for mesh, at in _on_belt(spec, model):
        yield Part(mesh, OnBelt(number, at))
    for mesh, center, radius in _wheels(spec, model):
        yield Part(mesh, OnWheel(number, center, radius))


def _belt_colour(track: Track) -> Colour:
    return FLIPPER_BELT if track.model.mounted.flipper is not None else BELT


def _on_belt(spec: TrackSpec, model: str) -> list[tuple[Mesh, NDArray[np.float64]]]:
    """What rides on a belt, and the belt coordinates of each [m]: grousers, or stripes on a smooth belt."""
    if model.startswith("wheels"):
        return []
    if spec.grousers is None or model in ("smooth", "surface"):
        length, height = _STRIPE
        stripe = box((length / 2, spec.width / 2, height), STRIPE)
        return [(stripe, np.arange(_STRIPES) * spec.belt_path.perimeter / _STRIPES)]
    shapes = spec.grousers.shapes
    places = spec.footprints()
    kinds = []
    for i, shape in enumerate(shapes):
        solid, lift = shape.kind.solid(shape.width or spec.width, shape.crown)
        mesh = of_solid(solid, GROUSER).moved(np.eye(3), (0.0, 0.0, lift))
        at = np.array([place.coordinate for place in places if place.index % len(shapes) == i])
        kinds.append((mesh, at))
    return kinds


def _wheels(spec: TrackSpec, model: str) -> Iterator[tuple[Mesh, tuple[float, float, float], float]]:
    """Wheels of a track: mesh, centre (3,) [m], and belt travel per angle [m/rad]."""
    if model.startswith("wheels"):
        from segtrack.bullet.loader import track_model  # With PyBullet, whose model it is.

        for link in track_model(model).track_links(spec):
            for placed in link.shapes:
                if isinstance(placed, geometry.Placed):
                    yield of_solid(placed.solid, WHEEL, SPOKE), (link.x, 0.0, link.z), 1 / link.ratio
        return
    for segment in spec.belt_path.segments:
        if isinstance(segment, Arc) and segment.turn > 0:
            radius = segment.radius - spec.belt.thickness
            x, z = map(float, segment.center)
            yield wheel(radius, 0.96 * spec.width, WHEEL, SPOKE), (x, 0.0, z), segment.radius


def _chain(track: Track, first: int) -> Iterator[Part]:
    """Shoes of a chain by kind, then its wheels; as bodies from number `first` on."""
    design = track.chain_design
    for kind, tread in enumerate(design.treads):
        plate = box((tread.length / 2, tread.width / 2, tread.thickness / 2), _belt_colour(track))
        shoe = [plate.moved(np.eye(3), (tread.x, 0.0, tread.outer - tread.thickness / 2))]
        if (bar := tread.grouser) is not None:
            solid = geometry.prism(bar.base, bar.top, bar.height, tread.width, 0.0)
            shoe.append(of_solid(solid, GROUSER).moved(np.eye(3), (tread.x + bar.x, 0.0, tread.outer)))
        yield Part(join(shoe), OnBodies(first + np.flatnonzero(design.kinds == kind)))
    width = max(tread.width for tread in design.treads)
    for i, radius in enumerate(_wheel_radii(design)):
        number = first + len(design.kinds) + i
        yield Part(wheel(radius, 0.6 * width, WHEEL, SPOKE), OnBodies(np.array([number])))


def _wheel_radii(design: TrackDesign) -> list[float]:
    """Where the chain lies on its wheels (W,) [m]."""
    gear = design.running_gear
    radii = [min(radius for _, radius in item.profile) for item in gear.wheels]
    if gear.sprocket is not None:
        radii[gear.driven] = design.pitch_radius
    return radii


def _body_count(design: TrackDesign) -> int:
    return len(design.kinds) + len(design.running_gear.wheels)


def _chain_poses(track: Track) -> NDArray[np.float64]:
    """Shoes of a chain, then its wheels, turned by its travel: as in `VehiclePose.bodies`."""
    pose = track.read_chain_pose()
    angles = track.travel / np.array(_wheel_radii(track.chain_design))
    (x, y, z, w), sine, cosine = quaternion_of(pose.rotation), np.sin(angles / 2), np.cos(angles / 2)
    # The track frame, turned about its own y axis.
    turned = (x * cosine - z * sine, y * cosine + w * sine, z * cosine + x * sine, w * cosine - y * sine)
    wheels = np.column_stack([pose.wheels, *turned])
    return np.vstack([np.hstack([pose.positions, pose.orientations]), wheels])
