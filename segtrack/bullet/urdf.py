"""A vehicle as URDF text: the links of body, flippers and tracks, with their masses and inertias.

Body and flippers are those of `segtrack.description`; here are the belts, as PyBullet needs them.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

import numpy as np
from scipy.optimize import linprog
from scipy.spatial import ConvexHull, HalfspaceIntersection

from segtrack.bullet.belts import slider_groups
from segtrack.description import (
    TRACK_COLOUR,
    Frame,
    Mount,
    TrackSpec,
    VehicleDescription,
    add_flipper,
    add_solid,
    attach,
    body_tree,
    impossible_moments,
    link_frames,
    link_masses,
    mesh_as_obj,
    number_text,
    parent_link,
    read_inertial,
    set_inertial,
    weighing_links,
)
from segtrack.errors import InvalidValueError, Phrase
from segtrack.geometry import Hull, MassProperties, Placed, SegmentLink, rotation_of, rpy_of, uniform_belt

_HULL_MARGIN = 1e-3
"""PyBullet inflates a URDF's convex hulls by this [m], and offers no way to say otherwise."""


def add_shape(link: Element, placed: Placed, name: str, meshes: dict[str, str]) -> None:
    """Add a solid of a track to a link, to be seen and to collide; a hull's mesh file goes into `meshes`."""
    hull_file = _mesh_file(placed.solid, meshes) if isinstance(placed.solid, Hull) else ""
    add_solid(link, placed, TRACK_COLOUR, name, hull_file)


def readable_mesh(file: Path, meshes: dict[str, str]) -> str:
    """A mesh file that PyBullet can read: the user's own, or the name of an OBJ of it in `meshes`.

    What cannot be read stays: it is seen only, and left out.
    """
    try:
        text = mesh_as_obj(file)
    except InvalidValueError:
        return str(file)
    if text is None:
        return str(file)
    name = next((name for name, known in meshes.items() if known == text), f"mesh_{len(meshes)}.obj")
    meshes[name] = text
    return name


def _mesh_file(hull: Hull, meshes: dict[str, str]) -> str:
    """The OBJ file of a hull, written once however many grousers share it."""
    text = _obj(hull)
    file = next((file for file, known in meshes.items() if known == text), f"grouser_{len(meshes)}.obj")
    meshes[file] = text
    return file


@cache
def _obj(hull: Hull) -> str:
    """The hull as OBJ, with its faces moved in by the margin that Bullet adds to them again."""
    faces = ConvexHull(np.asarray(hull.vertices)).equations
    normals, offsets = faces[:, :3], faces[:, 3]
    # Chebyshev centre: maximise r with n.x + d + r <= 0.
    rows = np.hstack([normals, np.ones((len(faces), 1))])
    *center, inradius = linprog([0, 0, 0, -1], rows, -offsets, bounds=[(None, None)] * 3 + [(0, None)]).x
    inset = min(_HULL_MARGIN, inradius / 2)
    inner = HalfspaceIntersection(np.hstack([normals, offsets[:, None] + inset]), np.asarray(center))
    points = np.unique(np.round(inner.intersections, 9), axis=0)
    convex = ConvexHull(points)
    lines = [f"v {number_text(point)}" for point in points]
    for triangle, plane in zip(convex.simplices, convex.equations, strict=True):
        a, b, c = points[triangle]
        order = triangle if np.dot(np.cross(b - a, c - a), plane[:3]) > 0 else triangle[::-1]
        lines.append("f " + " ".join(str(i + 1) for i in order))
    return "\n".join(lines) + "\n"


_NEGLIGIBLE = MassProperties.of(1e-6, (0.0, 0.0, 0.0), 1e-9 * np.eye(3))
"""Mass properties for a user's link without a mass, to which PyBullet would give 1 kg."""


@dataclass(frozen=True)
class InertialParent:
    """URDF link whose inertia carries a track: its parent, or the link that the parent is fixed to.

    Attributes:
        link: The link.
        frame: Frame of the track's parent in that of the link; None if they are the same link.
    """

    link: Element
    frame: Frame | None

    @classmethod
    def of(cls, robot: Element, parent: str) -> InertialParent:
        """Find the link whose inertia carries a track that is mounted on a link."""
        name = weighing_links(robot)[parent]
        assert name is not None, "a description's tracks are on links with a mass, or fixed to one"
        frames = link_frames(robot)
        return cls(_link(robot, name), None if name == parent else frames[parent].seen_from(frames[name]))

    def seen(self, spec: TrackSpec, properties: MassProperties) -> MassProperties:
        """The properties of a track's part, given in the track frame, in the link's frame."""
        seen = properties.transformed(rotation_of(spec.mount.rpy), np.asarray(spec.mount.xyz))
        return seen if self.frame is None else seen.transformed(self.frame.rotation, self.frame.origin)


def subtract_reflected_mass(parent: InertialParent, spec: TrackSpec) -> None:
    """Move the drive's reflected mass from what carries the track to the belt.

    The parent keeps the shape of its inertia, and the vehicle its mass and centre of mass.
    """
    element = parent.link
    reflected = parent.seen(spec, uniform_belt(spec.belt_path, spec.width, spec.drive.reflected_mass))
    own = read_inertial(element)
    mass = own.mass - reflected.mass
    assert mass > 0, "a description's bodies outweigh their drives' reflected mass"
    center, inertia = (own.first_moment - reflected.first_moment) / mass, own.inertia * mass / own.mass
    set_inertial(element, MassProperties.of(mass, center, inertia))


def balance_inertia(
    parent: InertialParent, spec: TrackSpec, mass: float, links: Sequence[SegmentLink]
) -> None:
    """Give what carries a track what its links leave out.

    They leave it out of the properties of a uniform belt of a mass [kg].
    """
    belt = uniform_belt(spec.belt_path, spec.width, mass)
    for link in links:
        belt = belt - link.properties
    set_inertial(parent.link, read_inertial(parent.link) + parent.seen(spec, belt))


def refuse_bad_inertia(robot: Element) -> None:
    """Refuse what Bullet would silently replace by no inertia at all."""
    for link in robot.iterfind("link"):
        moments = impossible_moments(link.find("inertial"))
        if moments is not None:
            what = f"principal moments of inertia of link {link.get('name')} [kg m^2]"
            got = Phrase(", ".join(f"{moment:.3g}" for moment in moments))
            raise InvalidValueError(what, "positive, and none above the sum of the other two", got)


def _link(robot: Element, name: str) -> Element:
    return next(link for link in robot.iterfind("link") if link.get("name") == name)


_UNLIMITED = "1e9"
LATERAL_SHARE = 1e-4
"""Share of mass and inertia of its links that a slider across the track has."""


@dataclass(frozen=True)
class UrdfModel:
    """A vehicle as files.

    Attributes:
        text: The URDF.
        meshes: OBJ files that the text names, by file name.
        prefixes: Beginning of the names of a track's links and joints, and of a flipper's joint, by the
            part's full name: that name, lengthened where the body's URDF has such links or joints.
    """

    text: str
    meshes: dict[str, str]
    prefixes: dict[str, str] = field(default_factory=dict)

    def write(self, folder: Path, name: str) -> Path:
        """Write URDF and meshes into a folder; returns the URDF's path."""
        for file, text in self.meshes.items():
            (folder / file).write_text(text, encoding="utf-8")
        path = folder / f"{name}.urdf"
        path.write_text(self.text, encoding="utf-8")
        return path


def joint_name(track: str, link: str) -> str:
    """Name of the joint that carries a track's link."""
    return f"{track}_{link}_joint"


def lateral_joint_name(track: str, link: str) -> str:
    """Name of the joint of the slider across the track.

    The slider carries a track's link, and what rides with it.
    """
    return joint_name(track, f"{link}_lateral")


def flipper_joint_name(flipper: str) -> str:
    """Name of the joint that carries a flipper."""
    return f"{flipper}_joint"


def _free_prefix(robot: Element, part: str, endings: Iterable[str]) -> str:
    """The name of a part, with underscores behind it as long as something has one of the names it makes.

    Args:
        robot: URDF with the names that are taken.
        part: Name of the part.
        endings: What follows the prefix in the names that the part needs.
    """
    taken = {element.get("name") for tag in ("link", "joint") for element in robot.iterfind(tag)}
    needed = list(endings)
    while any(f"{part}{ending}" in taken for ending in needed):
        part += "_"
    return part


def build_urdf(
    vehicle: VehicleDescription, links_of: Mapping[str, Sequence[SegmentLink]], lateral: bool = False
) -> UrdfModel:
    """Write a vehicle as URDF.

    Args:
        vehicle: The vehicle.
        links_of: The links of each mounted track, by the track's full name.
        lateral: Carry links by sliders across the track, see `slider_groups`.

    Returns:
        The text and the meshes that it needs.

    Raises:
        InvalidValueError: A link is left with an inertia that no body can have.
    """
    meshes: dict[str, str] = {}
    robot = body_tree(vehicle, lambda file: readable_mesh(file, meshes))
    prefixes = {}
    for name, flipper in vehicle.flippers.items():
        prefixes[name] = _free_prefix(robot, name, [flipper_joint_name("")])
        add_flipper(robot, name, flipper, flipper_joint_name(prefixes[name]), _UNLIMITED)
    parents = {t.name: t.flipper or parent_link(robot, t.spec.mount.parent) for t in vehicle.mounted_tracks()}
    inertial_parents = {name: InertialParent.of(robot, parent) for name, parent in parents.items()}
    for name, mass in link_masses(robot).items():
        if mass == 0:
            set_inertial(_link(robot, name), _NEGLIGIBLE)
    # Whole wheels and sprockets take more inertia than their link has, unless the belt has the drive's
    # mass, too.
    spread = [t for t in vehicle.mounted_tracks() if links_of[t.name] and not lateral]
    for mounted in spread:
        subtract_reflected_mass(inertial_parents[mounted.name], mounted.spec)
    for mounted in vehicle.mounted_tracks():
        parent, links = parents[mounted.name], links_of[mounted.name]
        mount = mounted.spec.mount
        groups = slider_groups(links) if lateral else []
        own = [link.name for link in links] + [f"{group[0].name}_lateral" for group in groups]
        endings = [f"_{name}" for name in own] + [joint_name("", name) for name in own]
        prefix = prefixes[mounted.name] = _free_prefix(robot, mounted.name, endings)
        for group in groups:
            slider = _add_slider(robot, prefix, mount, parent, group)
            for link in group:
                add_segment(robot, prefix, Mount(), slider, link, meshes, 1.0 - LATERAL_SHARE)
        carried = [link.name for group in groups for link in group]
        for link in links:
            if link.name not in carried:
                add_segment(robot, prefix, mount, parent, link, meshes)
        mass = mounted.spec.moving_mass if mounted in spread else mounted.spec.belt.mass
        balance_inertia(inertial_parents[mounted.name], mounted.spec, mass, links)
    refuse_bad_inertia(robot)
    ElementTree.indent(robot)
    return UrdfModel(ElementTree.tostring(robot, encoding="unicode") + "\n", meshes, prefixes)


def _add_slider(robot: Element, track: str, mount: Mount, parent: str, carried: Sequence[SegmentLink]) -> str:
    """Add a slider across a track that carries links, and takes `LATERAL_SHARE` of theirs.

    Returns its name.
    """
    joint_of = lateral_joint_name(track, carried[0].name)
    name = joint_of.removesuffix("_joint")
    properties = sum((link.properties for link in carried[1:]), start=carried[0].properties)
    set_inertial(SubElement(robot, "link", name=name), properties.scaled(LATERAL_SHARE))
    attach(_add_joint(robot, joint_of, "prismatic", "0 1 0"), parent, name, mount.xyz, mount.rpy)
    return name


def add_segment(
    robot: Element,
    track: str,
    mount: Mount,
    parent: str,
    link: SegmentLink,
    meshes: dict[str, str],
    share: float = 1.0,
) -> None:
    """Add a link of a track and its joint to a parent link.

    Args:
        robot: URDF to extend.
        track: Beginning of the names of its links and joints.
        mount: Pose of the track frame on the parent link.
        parent: Name of the link that carries it.
        link: Link to add.
        meshes: OBJ files by name, to which hulls that it needs are added.
        share: Share of the link's mass and inertia that it has itself.
    """
    rotation = rotation_of(mount.rpy)
    origin = rotation @ np.array([link.x, 0.0, link.z]) + mount.xyz
    rpy = rpy_of(rotation @ rotation_of((0.0, link.heading, 0.0)))
    name = f"{track}_{link.name}"
    element = SubElement(robot, "link", name=name)
    set_inertial(element, link.own_properties.scaled(share))
    for i, shape in enumerate(link.shapes):
        add_shape(element, shape, f"{name}_{i}", meshes)
    kind, axis = ("prismatic", "1 0 0") if link.joint == "slider" else ("continuous", "0 1 0")
    attach(_add_joint(robot, joint_name(track, link.name), kind, axis), parent, name, origin, rpy)


def _add_joint(robot: Element, name: str, kind: str, axis: str) -> Element:
    """Add a joint without limits."""
    joint = SubElement(robot, "joint", name=name, type=kind)
    SubElement(joint, "axis", xyz=axis)
    SubElement(joint, "limit", lower="1", upper="-1", effort=_UNLIMITED, velocity=_UNLIMITED)
    return joint
