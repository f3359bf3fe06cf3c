"""A robot as triangle meshes where it is now, whichever engine moves it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from segtrack.description.frames import Frame
from segtrack.description.track import TrackSpec
from segtrack.description.urdf.reading import read_vector
from segtrack.geometry import solids as geometry
from segtrack.geometry.outline import inner_outline, outer_outline
from segtrack.geometry.path import Arc, BeltPath
from segtrack.geometry.rotation import rotation_about_y
from segtrack.rendering.mesh import (
    Colour,
    Mesh,
    ball,
    box,
    coloured,
    convex,
    from_file,
    join,
    of_solid,
    repeat_points,
    ring,
    wheel,
)
from segtrack.robot import Robot
from segtrack.robot.track import Track

BODY: Colour = (232, 163, 61)
BELT: Colour = (66, 74, 82)
FLIPPER_BELT: Colour = (50, 112, 158)
GROUSER: Colour = (34, 38, 42)
WHEEL: Colour = (150, 158, 166)
SPOKE: Colour = (112, 120, 128)
STRIPE: Colour = (150, 158, 166)
_PLATE: Colour = (176, 184, 192)
_STRIPES, _STRIPE = 24, (0.008, 0.001)
"""Stripes on a belt without grousers, to see it move; their length along the belt and height [m]."""


class Part(NamedTuple):
    """Something that moves.

    Attributes:
        mesh: Its triangles and their colours.
        points: Returns the mesh's points where they are now, in the world (n, 3) [m].
    """

    mesh: Mesh
    points: Callable[[], NDArray[np.float64]]


def vehicle_parts(robot: Robot) -> list[Part]:
    """Return body and tracks of a robot."""
    parts = _body(robot)
    for track in robot.tracks.values():
        parts.append(_chain(track) if track.has_chain else _belt(track, robot.track_model))
    return parts


def _body(robot: Robot) -> list[Part]:
    body = robot.description.body
    if body.size is not None:
        return [_link(box(np.array(body.size) / 2, BODY), partial(robot.model.link_frame, "body"))]
    assert body.urdf is not None
    return [_link(mesh, partial(robot.model.link_frame, name)) for name, mesh in urdf_meshes(Path(body.urdf))]


def _link(mesh: Mesh, frame: Callable[[], Frame]) -> Part:
    return Part(mesh, lambda: frame().points(mesh.points))


def urdf_meshes(file: Path) -> Iterator[tuple[str, Mesh]]:
    """What a URDF's links look like: name of the link, and a mesh in its frame."""
    robot = ElementTree.parse(file).getroot()
    colours = {name: tag for tag in robot.iterfind("material") if (name := tag.get("name")) is not None}
    for link in robot.iterfind("link"):
        meshes = []
        for visual in link.iterfind("visual"):
            colour, origin = _colour(visual.find("material"), colours), visual.find("origin")
            frame = Frame.at(read_vector(origin, "xyz"), read_vector(origin, "rpy"))
            for shape in visual.iterfind("geometry/*"):
                mesh = _urdf_shape(shape, file.parent, colour)
                meshes.append(mesh.moved(frame.rotation, frame.origin))
        if meshes:
            yield str(link.get("name")), join(meshes)


def _colour(material: ElementTree.Element | None, named: dict[str, ElementTree.Element]) -> Colour:
    if material is not None and material.find("color") is None:
        material = named.get(material.get("name", ""))
    tag = material.find("color") if material is not None else None
    if tag is None:
        return BODY
    red, green, blue = (255 * float(word) for word in tag.get("rgba", "").split()[:3])
    return red, green, blue


def _urdf_shape(shape: ElementTree.Element, folder: Path, colour: Colour) -> Mesh:
    upright = Rotation.from_euler("x", 90, degrees=True).as_matrix()
    match shape.tag:
        case "box":
            return box(np.array(read_vector(shape, "size")) / 2, colour)
        case "mesh":
            scale = read_vector(shape, "scale") if shape.get("scale") else (1.0, 1.0, 1.0)
            return from_file(str(folder / shape.get("filename", "")), scale, colour)
        case "sphere":
            radius = float(shape.get("radius", "0"))
            return ball(radius, colour)
    size = geometry.Cylinder(float(shape.get("radius", "0")), float(shape.get("length", "0")))
    return of_solid(size, colour).moved(upright, (0.0, 0.0, 0.0))


def _belt(track: Track, model: str) -> Part:
    spec, path = track.spec, track.spec.belt_path
    mount = spec.mount.frame
    riding, rounds = _on_belt(spec, model), list(_wheels(spec, model))
    fixed = coloured([], [], BODY)
    if not model.startswith("wheels"):
        colour = FLIPPER_BELT if track.model.mounted.flipper is not None else BELT
        inner = inner_outline(path, spec.belt.thickness)
        fixed = ring(outer_outline(path), inner, spec.width, colour)
        if all(segment.turn >= 0 for segment in path.segments):
            inside = [np.insert(inner, 1, y, axis=1) for y in (-0.2 * spec.width, 0.2 * spec.width)]
            fixed = join([fixed, convex(np.concatenate(inside), _PLATE)])

    meshes = [fixed, *(mesh.times(len(at)) for mesh, at in riding), *(mesh for mesh, _, _ in rounds)]

    def points() -> NDArray[np.float64]:
        parent, travel = track.model.parent_motion(), track.travel
        rotation = parent.rotation @ mount.rotation
        origin = parent.position + parent.rotation @ mount.origin
        places = [fixed.points]
        places += [repeat_points(mesh.points, *_places(path, at + travel)) for mesh, at in riding]
        places += [mesh.points @ rotation_about_y(travel / r).T + middle for mesh, middle, r in rounds]
        return np.concatenate(places) @ rotation.T + origin

    return Part(join(meshes), points)


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


def _places(path: BeltPath, at: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rotations (n, 3, 3) and origins (n, 3) [m] of footprints at belt coordinates (n,) [m]."""
    headings = path.heading(at)
    cos, sin, zero, one = np.cos(headings), np.sin(headings), np.zeros(len(at)), np.ones(len(at))
    rows = [[cos, zero, sin], [zero, one, zero], [-sin, zero, cos]]
    rotations = np.moveaxis(np.array(rows), -1, 0)
    return rotations, np.insert(path.point(at), 1, 0.0, axis=1)


def _chain(track: Track) -> Part:
    design = track.chain_design
    colour = FLIPPER_BELT if track.model.mounted.flipper is not None else BELT
    shoes = []
    for tread in design.treads:
        plate = box((tread.length / 2, tread.width / 2, tread.thickness / 2), colour)
        parts = [plate.moved(np.eye(3), (tread.x, 0.0, tread.outer - tread.thickness / 2))]
        if (bar := tread.grouser) is not None:
            solid = geometry.prism(bar.base, bar.top, bar.height, tread.width, 0.0)
            parts.append(of_solid(solid, GROUSER).moved(np.eye(3), (tread.x + bar.x, 0.0, tread.outer)))
        shoes.append(join(parts))
    gear, width = design.running_gear, max(tread.width for tread in design.treads)
    radii = [min(radius for _, radius in item.profile) for item in gear.wheels]
    if gear.sprocket is not None:
        radii[gear.driven] = design.pitch_radius
    wheels = [wheel(radius, 0.6 * width, WHEEL, SPOKE) for radius in radii]
    mount = track.spec.mount.frame

    of_kind = [np.flatnonzero(design.kinds == kind) for kind in range(len(shoes))]
    meshes = [shoe.times(len(mine)) for shoe, mine in zip(shoes, of_kind, strict=True)]

    def points() -> NDArray[np.float64]:
        reading, travel = track.read_chain(), track.travel
        rotations = Rotation.from_quat(reading.orientations).as_matrix()
        frame = track.model.parent_motion().rotation @ mount.rotation
        places = [
            repeat_points(shoe.points, rotations[mine], reading.positions[mine])
            for shoe, mine in zip(shoes, of_kind, strict=True)
        ]
        for mesh, radius, centre in zip(wheels, radii, reading.wheels, strict=True):
            places.append(mesh.points @ (frame @ rotation_about_y(travel / radius)).T + centre)
        return np.concatenate(places)

    return Part(join([*meshes, *wheels]), points)
