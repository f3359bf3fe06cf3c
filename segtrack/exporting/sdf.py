"""A vehicle as an SDF model, with a link for each part and each belt, and gz-sim's plugins."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations_with_replacement
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from segtrack.description import TRACK_COLOUR, Frame, LinkShape, VehicleDescription, mesh_file, number_text
from segtrack.exporting.gazebo import add_text, plugins
from segtrack.exporting.mesh_copies import MeshCopies
from segtrack.exporting.parts import (
    Part,
    PartBelt,
    PartJoint,
    frame_of,
    free_name,
    standing_height,
    vehicle_parts,
)
from segtrack.geometry import Box, Cylinder, MassProperties, Solid, rpy_of

_VERSION, _WITH_MIMIC = "1.9", "1.11"
"""Version of the format; the first that has mimic joints."""


def sdf_tree(vehicle: VehicleDescription, meshes: MeshCopies) -> Element:
    """SDF of a vehicle.

    Args:
        vehicle: Vehicle.
        meshes: Copies of meshes, to which those of the body are added.
    """
    parts = vehicle_parts(vehicle)
    taken = {part.name for part in parts} | {belt.name for part in parts for belt in part.belts}
    joints = _renamed([part.joint for part in parts if part.joint is not None], taken)
    mimics = any(joint.mimics is not None for joint in joints)
    sdf = Element("sdf", version=_WITH_MIMIC if mimics else _VERSION)
    model = SubElement(sdf, "model", name=vehicle.name, canonical_link=parts[0].name)
    add_text(model, "pose", f"0 0 {number_text([standing_height(vehicle)])} 0 0 0")
    for part in parts:
        _add_part(model, part, meshes)
    for part, joint in zip(parts[1:], joints, strict=True):
        _add_joint(model, joint, parts[part.parent].name, part.name)
    for part in parts:
        for belt in part.belts:
            _add_fixed(model, belt.name, part.name, taken)
    if vehicle.body.fixed:
        _add_fixed(model, parts[0].name, "world", taken)
    names = {belt.mounted.name: belt.name for part in parts for belt in part.belts}
    model.extend(list(plugins(vehicle, parts[0].name, names, joints)))
    return sdf


def _renamed(joints: Iterable[PartJoint], taken: set[str]) -> tuple[PartJoint, ...]:
    """Joints by names that no link has, which SDF wants; these are taken then."""
    joints = tuple(joints)
    names = {}
    for joint in joints:
        wanted = f"{joint.name}_joint" if joint.name in taken else joint.name
        names[joint.name] = free_name(wanted, taken)
    return tuple(
        replace(
            joint,
            name=names[joint.name],
            mimics=None if joint.mimics is None else (names[joint.mimics[0]], *joint.mimics[1:]),
        )
        for joint in joints
    )


def _add_part(model: Element, part: Part, meshes: MeshCopies) -> None:
    """Add the link of a part, and those of its belts."""
    link = _add_link(model, part.name, part.frame, part.bare)
    for kind, shapes in (("visual", part.visual), ("collision", part.collision)):
        for i, (_, shape) in enumerate(shapes):
            geometry = _geometry(shape, meshes)
            if geometry is None:
                continue
            element = _add_shape(link, kind, f"{part.name}_{kind}_{i}", shape.frame, geometry)
            if kind == "visual" and shape.colour:
                _add_colour(element, shape.colour)
    for belt in part.belts:
        _add_belt(model, belt, part.frame)


def _add_belt(model: Element, belt: PartBelt, frame: Frame) -> None:
    """Add the link of a belt on a part with a frame in the body frame."""
    link = _add_link(model, belt.name, frame @ belt.frame, belt.mass)
    for i, shape in enumerate(belt.shapes):
        place = frame_of(shape.placed)
        seen = _add_shape(link, "visual", f"{belt.name}_visual_{i}", place, _solid(shape.placed.solid))
        _add_colour(seen, TRACK_COLOUR)
        name = f"{belt.name}_collision_{i}"
        touching = _add_shape(link, "collision", name, place, _solid(shape.placed.solid))
        friction = SubElement(SubElement(SubElement(touching, "surface"), "friction"), "ode")
        contact = belt.spec.contact
        add_text(friction, "mu", number_text([contact.friction]))
        add_text(friction, "mu2", number_text([contact.friction * contact.lateral_ratio]))
        # In the collision's frame, where a cylinder lies with its axis along z.
        add_text(friction, "fdir1", number_text(place.rotation.T[:, 0].round(12) + 0.0))


def _add_link(model: Element, name: str, frame: Frame, mass: MassProperties) -> Element:
    link = SubElement(model, "link", name=name)
    add_text(link, "pose", _pose(frame))
    inertial = SubElement(link, "inertial")
    add_text(inertial, "pose", f"{number_text(mass.center)} 0 0 0")
    add_text(inertial, "mass", number_text([mass.mass]))
    tensor, inertia = mass.inertia, SubElement(inertial, "inertia")
    for i, j in combinations_with_replacement(range(3), 2):
        add_text(inertia, f"i{'xyz'[i]}{'xyz'[j]}", number_text([tensor[i, j]]))
    return link


def _pose(frame: Frame) -> str:
    numbers = np.array([*frame.origin, *rpy_of(frame.rotation)])
    return number_text(numbers.round(15) + 0.0)


def _add_shape(link: Element, kind: str, name: str, frame: Frame, geometry: Element) -> Element:
    element = SubElement(link, kind, name=name)
    add_text(element, "pose", _pose(frame))
    SubElement(element, "geometry").append(geometry)
    return element


def _add_colour(visual: Element, colour: str) -> None:
    material = SubElement(visual, "material")
    for light in ("ambient", "diffuse"):
        add_text(material, light, colour)


def _solid(solid: Solid) -> Element:
    """Geometry of a solid of a belt."""
    match solid:
        case Box(size):
            return _shape("box", {"size": size})
        case Cylinder(radius, length):
            return _shape("cylinder", {"radius": [radius], "length": [length]})
        case _:
            raise AssertionError("belts are exported as boxes and cylinders")


def _shape(tag: str, numbers: dict[str, Iterable[float]]) -> Element:
    element = Element(tag)
    for key, values in numbers.items():
        add_text(element, key, number_text(values))
    return element


def _geometry(shape: LinkShape, meshes: MeshCopies) -> Element | None:
    """Geometry of a shape of the body; None for a mesh that cannot be read."""
    tag = shape.tag
    if tag.tag == "mesh":
        name = meshes.name_of(mesh_file(str(tag.get("filename")), shape.folder).resolve())
        if not name:
            return None
        element = Element("mesh")
        add_text(element, "uri", name)
        add_text(element, "scale", tag.get("scale", "1 1 1"))
        return element
    element = Element(tag.tag)
    for key, value in tag.items():
        add_text(element, key, value)
    return element


def _add_fixed(model: Element, child: str, parent: str, taken: set[str]) -> None:
    name = free_name(f"{child}_joint", taken)
    joint = SubElement(model, "joint", name=name, type="fixed")
    add_text(joint, "parent", parent)
    add_text(joint, "child", child)


def _add_joint(model: Element, joint: PartJoint, parent: str, child: str) -> None:
    """Add a moving joint, at the origin of its child."""
    element = SubElement(model, "joint", name=joint.name, type=joint.kind)
    add_text(element, "parent", parent)
    add_text(element, "child", child)
    axis = SubElement(element, "axis")
    add_text(axis, "xyz", number_text(joint.axis))
    if joint.mimics is not None:
        leader, multiplier, offset = joint.mimics
        mimic = SubElement(axis, "mimic", joint=leader)
        for key, value in (("multiplier", multiplier), ("offset", offset), ("reference", 0.0)):
            add_text(mimic, key, number_text([value]))
    limit = SubElement(axis, "limit")
    for key, bound in zip(("lower", "upper"), joint.limits, strict=True):
        add_text(limit, key, number_text([bound]))
    for key, most in (("effort", joint.effort), ("velocity", joint.velocity)):
        if most is not None and math.isfinite(most):
            add_text(limit, key, number_text([most]))
    dynamics = SubElement(axis, "dynamics")
    for key, number in (
        ("damping", joint.damping),
        ("friction", joint.friction),
        ("spring_reference", joint.free_position),
        ("spring_stiffness", joint.stiffness),
    ):
        add_text(dynamics, key, number_text([number]))
