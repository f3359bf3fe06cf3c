"""A vehicle as a URDF: the body's own links, flippers, and a link with the outline of each belt."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

from segtrack.description import (
    TRACK_COLOUR,
    VehicleDescription,
    add_flipper,
    add_solid,
    attach,
    body_tree,
    number_text,
    parent_link,
    set_inertial,
)
from segtrack.exporting.extensions import drop_extensions
from segtrack.exporting.gazebo import add_text, plugins
from segtrack.exporting.mesh_copies import MeshCopies
from segtrack.exporting.parts import PartBelt, PartJoint, vehicle_parts

_GREY = "0.7 0.7 0.7 1"
"""Colour of what has but a texture."""


def urdf_tree(vehicle: VehicleDescription, meshes: MeshCopies) -> Element:
    """URDF of a vehicle.

    Args:
        vehicle: Vehicle.
        meshes: Copies of meshes, to which those of the body are added.
    """
    robot = body_tree(vehicle, meshes.name_of)
    robot.set("name", vehicle.name)
    _drop_unreadable(robot)
    _drop_textures(robot)
    parts = vehicle_parts(vehicle)
    joints = tuple(part.joint for part in parts if part.joint is not None)
    drop_extensions(robot, [joint.name for joint in joints])
    _set_joints(robot, {joint.name: joint for joint in joints})
    arms = zip(vehicle.flippers.values(), parts[1:], strict=False)
    for flipper, part in arms:
        assert part.joint is not None
        add_flipper(robot, part.name, flipper, part.joint.name, number_text([flipper.max_speed]))
    links = {}
    for part in parts:
        for belt in part.belts:
            links[belt.mounted.name] = belt.name
            spec = belt.spec
            parent = part.name if belt.mounted.flipper else parent_link(robot, spec.mount.parent)
            _add_belt(robot, belt, parent)
    extension = SubElement(robot, "gazebo")
    extension.extend(list(plugins(vehicle, _root(robot), links, joints)))
    return robot


def _root(robot: Element) -> str:
    """Name of the root link."""
    children = {child.get("link") for child in robot.iterfind("joint/child")}
    return next(str(link.get("name")) for link in robot.iterfind("link") if link.get("name") not in children)


def _drop_unreadable(robot: Element) -> None:
    """Drop shapes whose meshes have no copy."""
    for link in robot.iterfind("link"):
        for kind in ("visual", "collision"):
            for shape in link.findall(kind):
                if any(not mesh.get("filename") for mesh in shape.iterfind("geometry/mesh")):
                    link.remove(shape)


def _drop_textures(robot: Element) -> None:
    """Drop textures, which are not copied; a material without a colour gets a grey one instead."""
    for material in robot.iter("material"):
        for texture in material.findall("texture"):
            material.remove(texture)
            if material.find("color") is None:
                SubElement(material, "color", rgba=_GREY)


def _set_joints(robot: Element, moving: dict[str, PartJoint]) -> None:
    """Give the body's joints what the vehicle file says of them; those that it does not name are fixed."""
    for element in robot.iterfind("joint"):
        joint = moving.get(str(element.get("name")))
        if joint is None:
            element.set("type", "fixed")
            for tag in ("axis", "limit", "dynamics", "mimic"):
                for old in element.findall(tag):
                    element.remove(old)
            continue
        limit = element.find("limit")
        if limit is None and joint.effort is not None:
            limit = SubElement(element, "limit")
        if limit is not None and joint.effort is not None and joint.velocity is not None:
            limit.set("effort", number_text([joint.effort]))
            limit.set("velocity", number_text([joint.velocity]))
        for old in element.findall("dynamics"):
            element.remove(old)
        dynamics = {"damping": joint.damping, "friction": joint.friction}
        if any(dynamics.values()):
            SubElement(element, "dynamics", {key: number_text([x]) for key, x in dynamics.items()})


def _add_belt(robot: Element, belt: PartBelt, parent: str) -> None:
    """Add the link of a belt and its fixed joint, which Gazebo is to keep."""
    spec, link, joint = belt.spec, belt.name, f"{belt.name}_joint"
    element = SubElement(robot, "link", name=link)
    set_inertial(element, belt.mass)
    for i, shape in enumerate(belt.shapes):
        add_solid(element, shape.placed, TRACK_COLOUR, f"{link}_{i}")
    mount = spec.mount
    attach(SubElement(robot, "joint", name=joint, type="fixed"), parent, link, mount.xyz, mount.rpy)
    contact = SubElement(robot, "gazebo", reference=link)
    add_text(contact, "mu1", number_text([spec.contact.friction]))
    add_text(contact, "mu2", number_text([spec.contact.friction * spec.contact.lateral_ratio]))
    add_text(contact, "fdir1", "1 0 0")
    add_text(SubElement(robot, "gazebo", reference=joint), "preserveFixedJoint", "true")
