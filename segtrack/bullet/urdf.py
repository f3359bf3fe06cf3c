"""A vehicle as URDF text: the body's links, flippers, and the links of its tracks.

PyBullet's parser stops at lines longer than 1,024 characters, so every tag stands
on a line of its own.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

import numpy as np
from scipy.optimize import linprog
from scipy.spatial import ConvexHull, HalfspaceIntersection

from segtrack.bullet.urdf_inertia import (
    InertialParent,
    balance_inertia,
    fill_massless_links,
    number_text,
    refuse_bad_inertia,
    set_inertial,
    subtract_reflected_mass,
)
from segtrack.description.track import TrackSpec
from segtrack.description.urdf_checks import parent_link
from segtrack.description.vehicle import FlipperSpec, VehicleDescription
from segtrack.geometry.links import SegmentLink
from segtrack.geometry.mass import MassProperties
from segtrack.geometry.rotation import rotation_of, rpy_of
from segtrack.geometry.solids import Box, Cylinder, Hull, Placed

_BODY_COLOUR = "0.85 0.45 0.12 1"
_TRACK_COLOUR = "0.16 0.17 0.19 1"
_UNLIMITED = "1e9"
_HULL_MARGIN = 1e-3
"""PyBullet inflates a URDF's convex hulls by this [m], and offers no way to say otherwise."""


@dataclass(frozen=True)
class UrdfModel:
    """A vehicle as files.

    Attributes:
        text: The URDF.
        meshes: OBJ files that the text names, by file name.
    """

    text: str
    meshes: dict[str, str]

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


def flipper_joint_name(flipper: str) -> str:
    """Name of the joint that carries a flipper."""
    return f"{flipper}_joint"


def build_urdf(vehicle: VehicleDescription, links_of: Mapping[str, Sequence[SegmentLink]]) -> UrdfModel:
    """Write a vehicle as URDF.

    Args:
        vehicle: The vehicle.
        links_of: The links of each mounted track, by the track's full name.

    Returns:
        The text and the meshes that it needs.

    Raises:
        InvalidValueError: A link is left with an inertia that no body can have.
    """
    meshes: dict[str, str] = {}
    robot = _body(vehicle)
    for name, flipper in vehicle.flippers.items():
        _add_flipper(robot, name, flipper)
    parents = {t.name: t.flipper or parent_link(robot, t.spec.mount.parent) for t in vehicle.mounted_tracks()}
    carriers = {name: InertialParent.of(robot, parent) for name, parent in parents.items()}
    fill_massless_links(robot)
    for mounted in vehicle.mounted_tracks():
        subtract_reflected_mass(carriers[mounted.name], mounted.spec)
    for mounted in vehicle.mounted_tracks():
        parent, links = parents[mounted.name], links_of[mounted.name]
        for link in links:
            add_segment(robot, mounted.name, mounted.spec, parent, link, meshes)
        balance_inertia(carriers[mounted.name], mounted.spec, links)
    refuse_bad_inertia(robot)
    ElementTree.indent(robot)
    return UrdfModel(ElementTree.tostring(robot, encoding="unicode") + "\n", meshes)


def _body(vehicle: VehicleDescription) -> Element:
    body = vehicle.body
    if body.urdf is not None:
        robot = ElementTree.parse(body.urdf).getroot()
        for mesh in robot.iterfind(".//mesh"):
            file = str(mesh.get("filename")).removeprefix("package://")
            mesh.set("filename", str((Path(body.urdf).parent / file).resolve()))
        return robot
    assert body.mass is not None and body.size is not None
    robot = Element("robot", name=vehicle.name)
    link = SubElement(robot, "link", name="body")
    set_inertial(link, MassProperties.of_box(body.mass, body.center_of_mass, body.size))
    _shape(link, Placed(Box(body.size)), _BODY_COLOUR, "body", {})
    return robot


def _add_flipper(robot: Element, name: str, flipper: FlipperSpec) -> None:
    link = SubElement(robot, "link", name=name)
    set_inertial(link, MassProperties.of_box(flipper.mass, flipper.center_of_mass, flipper.size))
    joint = SubElement(robot, "joint", name=flipper_joint_name(name), type="revolute")
    _attach(joint, parent_link(robot, flipper.mount.parent), name, flipper.mount.xyz, flipper.mount.rpy)
    SubElement(joint, "axis", xyz=f"0 {flipper.raise_axis} 0")
    low, high = flipper.limits
    SubElement(
        joint,
        "limit",
        lower=number_text([low]),
        upper=number_text([high]),
        effort=number_text([flipper.max_torque]),
        velocity=_UNLIMITED,
    )


def add_segment(
    robot: Element, track: str, spec: TrackSpec, parent: str, link: SegmentLink, meshes: dict[str, str]
) -> None:
    """Add a link of a track and its joint to a parent link; hulls that it needs go into `meshes`."""
    name = f"{track}_{link.name}"
    element = SubElement(robot, "link", name=name)
    set_inertial(element, link.own_properties)
    for i, shape in enumerate(link.shapes):
        _shape(element, shape, _TRACK_COLOUR, f"{name}_{i}", meshes)
    rotation = rotation_of(spec.mount.rpy)
    origin = rotation @ np.array([link.x, 0.0, link.z]) + spec.mount.xyz
    rpy = rpy_of(rotation @ rotation_of((0.0, link.heading, 0.0)))
    kind = "prismatic" if link.joint == "slider" else "continuous"
    joint = SubElement(robot, "joint", name=joint_name(track, link.name), type=kind)
    _attach(joint, parent, name, origin, rpy)
    SubElement(joint, "axis", xyz="1 0 0" if link.joint == "slider" else "0 1 0")
    SubElement(joint, "limit", lower="1", upper="-1", effort=_UNLIMITED, velocity=_UNLIMITED)


def _attach(joint: Element, parent: str, child: str, xyz: Iterable[float], rpy: Iterable[float]) -> None:
    SubElement(joint, "parent", link=parent)
    SubElement(joint, "child", link=child)
    SubElement(joint, "origin", xyz=number_text(xyz), rpy=number_text(rpy))


def _shape(link: Element, placed: Placed, colour: str, name: str, meshes: dict[str, str]) -> None:
    for kind in ("visual", "collision"):
        element = SubElement(link, kind)
        geometry = Element("geometry")
        angles = (0.0, placed.heading, 0.0)
        match placed.solid:
            case Box(size):
                SubElement(geometry, "box", size=number_text(size))
            case Cylinder(radius, length):
                # A URDF cylinder lies along z; ours lies along y.
                SubElement(geometry, "cylinder", radius=number_text([radius]), length=number_text([length]))
                angles = rpy_of(
                    rotation_of((0.0, placed.heading, 0.0)) @ rotation_of((math.pi / 2, 0.0, 0.0))
                )
            case Hull() as hull:
                SubElement(geometry, "mesh", filename=_mesh_file(hull, meshes))
        SubElement(element, "origin", xyz=number_text((placed.x, 0.0, placed.z)), rpy=number_text(angles))
        element.append(geometry)
        if kind == "visual":
            material = SubElement(element, "material", name=f"colour_{name}")
            SubElement(material, "color", rgba=colour)


def _mesh_file(hull: Hull, meshes: dict[str, str]) -> str:
    """The OBJ file of a hull, written once however many grousers share it."""
    text = _obj(hull)
    for file, existing in meshes.items():
        if existing == text:
            return file
    file = f"grouser_{len(meshes)}.obj"
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
