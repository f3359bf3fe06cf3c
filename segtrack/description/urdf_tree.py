"""Links of a vehicle's body and flippers as elements of a URDF, the same for every program that reads it.

PyBullet's parser stops at lines longer than 1,024 characters, so every tag stands on a line of its own.
"""

from __future__ import annotations

import math
import struct
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from segtrack.description.grousers import mesh_triangles
from segtrack.description.mesh_files import mesh_file
from segtrack.description.urdf_checks import parent_link
from segtrack.geometry import Box, Cylinder, Hull, MassProperties, Placed, rotation_of, rpy_of

if TYPE_CHECKING:
    from segtrack.description.vehicle import FlipperSpec, VehicleDescription

TRACK_COLOUR = "0.16 0.17 0.19 1"
BODY_COLOUR = "0.85 0.45 0.12 1"
_STL_HEADER = 80
"""Bytes of a binary STL before the number of its triangles."""


def number_text(values: Iterable[float]) -> str:
    """Numbers of a URDF's attribute."""
    return " ".join(f"{value:.12g}" for value in values)


def set_inertial(link: Element, properties: MassProperties) -> None:
    """Set a link's inertial; what it had is replaced."""
    for old in link.findall("inertial"):
        link.remove(old)
    element = Element("inertial")
    link.insert(0, element)
    SubElement(element, "origin", xyz=number_text(properties.center), rpy="0 0 0")
    SubElement(element, "mass", value=number_text([properties.mass]))
    inertia = np.where(np.abs(properties.inertia) < 1e-12, 0.0, properties.inertia)
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia
    values = {"ixx": xx, "ixy": xy, "ixz": xz, "iyy": yy, "iyz": yz, "izz": zz}
    SubElement(element, "inertia", {key: number_text([value]) for key, value in values.items()})


def add_solid(link: Element, placed: Placed, colour: str, name: str, hull_file: str = "") -> None:
    """Add a solid to a link, to be seen and to collide.

    Args:
        link: Link to extend.
        placed: Solid in the x-z plane of the link.
        colour: Red, green, blue and opacity, in [0, 1].
        name: Name of its material, after `colour_`.
        hull_file: Mesh file of a hull.
    """
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
                lying = rotation_of((math.pi / 2, 0.0, 0.0))
                angles = rpy_of(rotation_of((0.0, placed.heading, 0.0)) @ lying)
            case Hull():
                SubElement(geometry, "mesh", filename=hull_file)
        SubElement(element, "origin", xyz=number_text((placed.x, 0.0, placed.z)), rpy=number_text(angles))
        element.append(geometry)
        if kind == "visual":
            material = SubElement(element, "material", name=f"colour_{name}")
            SubElement(material, "color", rgba=colour)


def mesh_as_obj(file: Path) -> str | None:
    """Text of a mesh file as OBJ; None for one that every program reads: an OBJ or a binary STL.

    PyBullet's own readers leave a link whose STL is text without a shape, and apply a COLLADA file's
    rotations, scales and nested nodes in part.

    Raises:
        InvalidValueError: It cannot be read.
    """
    suffix = file.suffix.lower()
    if suffix == ".obj" or (suffix == ".stl" and _is_binary_stl(file)):
        return None
    vertices, triangles = mesh_triangles(str(file))
    lines = [f"v {number_text(vertex)}" for vertex in vertices.tolist()]
    lines += ["f " + " ".join(str(i + 1) for i in triangle) for triangle in triangles.tolist()]
    return "\n".join(lines) + "\n"


def _is_binary_stl(file: Path) -> bool:
    """True for a header of 80 bytes, a count, and that many triangles of 50 bytes each."""
    size = file.stat().st_size
    if size < _STL_HEADER + 4:
        return False
    with file.open("rb") as stl:
        (count,) = struct.unpack("<I", stl.read(_STL_HEADER + 4)[_STL_HEADER:])
    return size == _STL_HEADER + 4 + 50 * count


def body_tree(vehicle: VehicleDescription, mesh_name: Callable[[Path], str]) -> Element:
    """URDF of a vehicle's body: the user's own, or a box; shapes without contact do not collide.

    Args:
        vehicle: Vehicle with the body.
        mesh_name: Function that returns the text for the path of a mesh file.
    """
    body = vehicle.body
    if body.urdf is not None:
        robot = ElementTree.parse(body.urdf).getroot()
        for mesh in robot.iterfind(".//mesh"):
            file = mesh_file(str(mesh.get("filename")), Path(body.urdf).parent)
            mesh.set("filename", mesh_name(file.resolve()))
        for link in robot.iterfind("link"):
            for shape in link.findall("collision") if link.get("name") in body.without_contact else ():
                link.remove(shape)
        return robot
    assert body.mass is not None and body.size is not None
    robot = Element("robot", name=vehicle.name)
    link = SubElement(robot, "link", name="body")
    set_inertial(link, MassProperties.of_box(body.mass, body.center_of_mass, body.size))
    add_solid(link, Placed(Box(body.size)), BODY_COLOUR, "body")
    return robot


def add_flipper(robot: Element, name: str, flipper: FlipperSpec, joint_name: str, velocity: str) -> None:
    """Add a flipper's link without its belts, and its joint.

    Args:
        robot: URDF to extend.
        name: Name of the flipper and of its link.
        flipper: Flipper of the vehicle file.
        joint_name: Name of its joint.
        velocity: Largest speed of the joint, as text [rad/s].
    """
    link = SubElement(robot, "link", name=name)
    set_inertial(link, MassProperties.of_box(flipper.mass, flipper.center_of_mass, flipper.size))
    joint = SubElement(robot, "joint", name=joint_name, type="revolute")
    attach(joint, parent_link(robot, flipper.mount.parent), name, flipper.mount.xyz, flipper.mount.rpy)
    SubElement(joint, "axis", xyz=f"0 {flipper.raise_axis} 0")
    low, high = flipper.limits
    limit = {"lower": low, "upper": high, "effort": flipper.max_torque}
    SubElement(joint, "limit", {key: number_text([value]) for key, value in limit.items()}, velocity=velocity)


def attach(joint: Element, parent: str, child: str, xyz: Iterable[float], rpy: Iterable[float]) -> None:
    """Set a joint's links, and its frame in that of the parent: origin [m], roll, pitch, yaw [rad]."""
    SubElement(joint, "parent", link=parent)
    SubElement(joint, "child", link=child)
    SubElement(joint, "origin", xyz=number_text(xyz), rpy=number_text(rpy))
