"""Meshes and poses of a robot: links, wheels, belts, chains, and the visuals of a URDF."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from segtrack.description import Frame, TrackSpec, mesh_file, read_vector
from segtrack.engine import Drawing, find_track_model
from segtrack.geometry import Arc, Cylinder, Placed, inner_outline, outer_outline, prism, quaternion_of
from segtrack.rendering.look import (
    OnBelt,
    OnBodies,
    OnLink,
    OnWheel,
    TrackLook,
    VehicleLook,
    VehiclePose,
    VisiblePart,
)
from segtrack.rendering.mesh import (
    COLOURS,
    Colour,
    ColouredMesh,
    ball,
    box,
    convex,
    from_file,
    join,
    of_solid,
    ring,
    wheel,
)
from segtrack.robot import Robot, Track

if TYPE_CHECKING:
    from segtrack.chain import TrackDesign


def urdf_meshes(file: Path) -> Iterator[tuple[str, ColouredMesh]]:
    """Yield the visuals of a URDF file: name of the link, and a mesh in the link's frame."""
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
        return COLOURS["body"]
    red, green, blue = (255 * float(word) for word in tag.get("rgba", "").split()[:3])
    return red, green, blue


def _urdf_shape(shape: ElementTree.Element, folder: Path, colour: Colour) -> ColouredMesh:
    """Mesh of one URDF geometry element, in the geometry's own frame."""
    upright = Rotation.from_euler("x", 90, degrees=True).as_matrix()
    match shape.tag:
        case "box":
            return box(np.array(read_vector(shape, "size")) / 2, colour)
        case "mesh":
            scale = [float(word) for word in shape.get("scale", "1").split()]
            return from_file(str(mesh_file(shape.get("filename", ""), folder)), scale, colour)
        case "sphere":
            radius = float(shape.get("radius", "0"))
            return ball(radius, colour)
    size = Cylinder(float(shape.get("radius", "0")), float(shape.get("length", "0")))
    return of_solid(size, colour).moved(upright, (0.0, 0.0, 0.0))


_WHEEL = COLOURS["wheel"], COLOURS["spoke"]
_STRIPES, _STRIPE = 24, (0.008, 0.001)
"""Stripes on a belt without grousers, to see it move; their length along the belt and height [m]."""


def look_of(robot: Robot) -> VehicleLook:
    """Return the meshes of a robot's links, belts, wheels and chains."""
    links = robot.link_names
    numbers = {name: number for number, name in enumerate(links)}
    tracks = tuple(_track_look(track, numbers) for track in robot.tracks.values())
    parts, bodies = list(_body(robot, numbers)), 0
    for number, track in enumerate(robot.tracks.values()):
        if track.has_chain:
            parts += _chain(track, bodies)
            design = track.chain_design
            bodies += len(design.kinds) + len(design.running_gear.wheels)
        else:
            parts += _belt(track, number, tracks[number], robot.track_model)
    return VehicleLook(robot.name, links, tracks, bodies, tuple(parts))


def read_pose(robot: Robot) -> VehiclePose:
    """Return the robot's present pose, in the layout of `look_of`."""
    links = robot.link_poses()
    tracks = list(robot.tracks.values())
    travels = np.array([track.travel for track in tracks])
    bodies = [_chain_poses(track) for track in tracks if track.has_chain]
    return VehiclePose(links, travels, np.concatenate([np.empty((0, 7)), *bodies]))


def _track_look(track: Track, numbers: Mapping[str, int]) -> TrackLook:
    spec, flipper = track.spec, track.flipper
    link = numbers[spec.mount.parent if flipper is None else flipper]
    return TrackLook(track.name, link, spec.mount.frame, spec.belt_path)


def _body(robot: Robot, numbers: Mapping[str, int]) -> Iterator[VisiblePart]:
    """Visible parts of the body: its box, or the visuals of its URDF's links."""
    body = robot.description.body
    if body.size is not None:
        yield VisiblePart(box(np.array(body.size) / 2, COLOURS["body"]), OnLink(0))
        return
    assert body.urdf is not None
    for name, mesh in urdf_meshes(Path(body.urdf)):
        yield VisiblePart(mesh, OnLink(numbers[name]))


def _belt(track: Track, number: int, look: TrackLook, model: str) -> Iterator[VisiblePart]:
    """Visible parts of one belt: its surface, grousers or stripes, and pulleys."""
    spec, path = track.spec, track.spec.belt_path
    drawing = find_track_model(model).drawing
    if drawing != "wheels":
        inner = inner_outline(path, spec.belt.thickness)
        belt = ring(outer_outline(path), inner, spec.width, _colour_of(track, "belt"))
        if all(segment.turn >= 0 for segment in path.segments):
            inside = [np.insert(inner, 1, y, axis=1) for y in (-0.2 * spec.width, 0.2 * spec.width)]
            belt = join([belt, convex(np.concatenate(inside), _colour_of(track, "plate"))])
        yield VisiblePart(belt.moved(look.mount.rotation, look.mount.origin), OnLink(look.link))
    for mesh, at in _on_belt(spec, drawing):
        yield VisiblePart(mesh, OnBelt(number, at))
    wheels = _aligned_wheels(spec, model) if drawing == "wheels" else _pulleys(spec)
    for mesh, center, radius in wheels:
        yield VisiblePart(mesh, OnWheel(number, center, radius))


def _colour_of(track: Track, material: Literal["belt", "plate"]) -> Colour:
    if track.flipper is None:
        return COLOURS[material]
    return COLOURS["flipper belt" if material == "belt" else "flipper plate"]


def _on_belt(spec: TrackSpec, drawing: Drawing) -> list[tuple[ColouredMesh, NDArray[np.float64]]]:
    """Meshes that move with a belt, and their belt coordinates [m]: grousers, or stripes on a smooth belt."""
    if drawing == "wheels":
        return []
    if spec.grousers is None or drawing == "stripes":
        length, height = _STRIPE
        stripe = box((length / 2, spec.width / 2, height), COLOURS["stripe"])
        return [(stripe, np.arange(_STRIPES) * spec.belt_path.perimeter / _STRIPES)]
    shapes = spec.grousers.shapes
    places = spec.footprints()
    kinds = []
    for i, shape in enumerate(shapes):
        solid, lift = shape.kind.solid(shape.width or spec.width, shape.crown)
        mesh = of_solid(solid, COLOURS["grouser"]).moved(np.eye(3), (0.0, 0.0, lift))
        at = np.array([place.coordinate for place in places if place.index % len(shapes) == i])
        kinds.append((mesh, at))
    return kinds


def _aligned_wheels(
    spec: TrackSpec, model: str
) -> Iterator[tuple[ColouredMesh, tuple[float, float, float], float]]:
    """Wheels of a `wheels:N` model: mesh, centre (3,) [m], and belt travel per angle [m/rad]."""
    from segtrack.bullet import track_builder

    for link in track_builder(model).track_links(spec):
        for placed in link.shapes:
            if isinstance(placed, Placed):
                yield (of_solid(placed.solid, *_WHEEL), (link.x, 0.0, link.z), 1 / link.ratio)


def _pulleys(spec: TrackSpec) -> Iterator[tuple[ColouredMesh, tuple[float, float, float], float]]:
    """Pulleys of a belt: mesh, centre (3,) [m], and belt travel per angle [m/rad]."""
    for segment in spec.belt_path.segments:
        if isinstance(segment, Arc) and segment.turn > 0:
            radius = segment.radius - spec.belt.thickness
            x, z = map(float, segment.center)
            yield (wheel(radius, 0.96 * spec.width, *_WHEEL), (x, 0.0, z), segment.radius)


def _chain(track: Track, first: int) -> Iterator[VisiblePart]:
    """Yield the shoes of a chain by kind, then its wheels; their body indices start at `first`."""
    design = track.chain_design
    for kind, tread in enumerate(design.treads):
        plate = box((tread.length / 2, tread.width / 2, tread.thickness / 2), _colour_of(track, "belt"))
        shoe = [plate.moved(np.eye(3), (tread.x, 0.0, tread.outer - tread.thickness / 2))]
        if (bar := tread.grouser) is not None:
            solid = prism(bar.base, bar.top, bar.height, tread.width, 0.0)
            shoe.append(
                of_solid(solid, COLOURS["grouser"]).moved(np.eye(3), (tread.x + bar.x, 0.0, tread.outer))
            )
        yield VisiblePart(join(shoe), OnBodies(first + np.flatnonzero(design.kinds == kind)))
    width = max(tread.width for tread in design.treads)
    for i, radius in enumerate(_wheel_radii(design)):
        number = first + len(design.kinds) + i
        yield VisiblePart(wheel(radius, 0.6 * width, *_WHEEL), OnBodies(np.array([number])))


def _wheel_radii(design: TrackDesign) -> list[float]:
    """Radii at which the chain lies on its wheels (W,) [m]."""
    gear = design.running_gear
    radii = [min(radius for _, radius in item.profile) for item in gear.wheels]
    if gear.sprocket is not None:
        radii[gear.driven] = design.pitch_radius
    return radii


def _chain_poses(track: Track) -> NDArray[np.float64]:
    """Frames of a chain's shoes and wheels, wheels turned by the travel: as in `VehiclePose.bodies`."""
    pose = track.read_chain_pose()
    angles = track.travel / np.array(_wheel_radii(track.chain_design))
    (x, y, z, w), sine, cosine = quaternion_of(pose.rotation), np.sin(angles / 2), np.cos(angles / 2)
    # The track frame, turned about its own y axis.
    turned = (x * cosine - z * sine, y * cosine + w * sine, z * cosine + x * sine, w * cosine - y * sine)
    wheels = np.column_stack([pose.wheels, *turned])
    return np.vstack([np.hstack([pose.positions, pose.orientations]), wheels])
