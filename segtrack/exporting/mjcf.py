"""A vehicle as MJCF: a body for each part, belts as geoms whose surfaces move, servos as actuators."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from xml.etree.ElementTree import Comment, Element, SubElement

from segtrack.description import (
    TRACK_COLOUR,
    Frame,
    LinkShape,
    VehicleDescription,
    mesh_file,
    mesh_triangles,
    number_text,
    read_vector,
)
from segtrack.errors import InvalidValueError
from segtrack.exporting.mesh_copies import MeshCopies
from segtrack.exporting.parts import Part, PartBelt, PartJoint, frame_of, standing_height, vehicle_parts
from segtrack.geometry import Box, Cylinder, quaternion_of

_STIFF = 20.0
"""Gain of a stiff servo over its largest torque or force [1/rad] or [1/m]: it is all used at 0.05."""

_ROUNDING = 1e-15
_LEAST_VERTICES = 4
"""Fewest vertices of a mesh that MuJoCo loads."""

HOW_TO_DRIVE = """
Belts are boxes and cylinders whose surfaces move (geom_surfacevel, MuJoCo 3.11 or later). They stand still
until a program sets their speed [m/s]; a geom's user data are its surface's velocity per belt speed:

    def set_belt_speed(model, track, speed):
        model.flg_surfacevel = True
        for i in range(model.ngeom):
            if model.geom(i).name.rpartition("_")[0] == track:  # as left_track
                model.geom_surfacevel[i] = speed * model.geom_user[i]

Such tracks drive straight on as they should, and turn a vehicle too slowly: few of their points touch the
ground.
"""


def mjcf_tree(vehicle: VehicleDescription, meshes: MeshCopies) -> Element:
    """MJCF of a vehicle.

    Args:
        vehicle: Vehicle.
        meshes: Copies of meshes, to which those of the body are added.
    """
    parts = vehicle_parts(vehicle)
    root = Element("mujoco", model=vehicle.name)
    root.append(Comment(HOW_TO_DRIVE))
    SubElement(root, "compiler", angle="radian", autolimits="true")
    SubElement(root, "option", timestep="0.002", integrator="implicitfast", cone="elliptic", impratio="10")
    SubElement(root, "size", nuser_geom="6")
    assets = _Assets(SubElement(root, "asset"), meshes)
    bodies: list[Element] = []
    for part in parts:
        parent = bodies[part.parent] if part.parent >= 0 else SubElement(root, "worldbody")
        bodies.append(_add_body(parent, part, assets))
    bodies[0].set("pos", number_text([0.0, 0.0, standing_height(vehicle)]))
    if not vehicle.body.fixed:
        bodies[0].insert(0, Element("freejoint", name="free"))
    _exclude(SubElement(root, "contact"), parts)
    joints = [part.joint for part in parts if part.joint is not None]
    equalities, actuators = SubElement(root, "equality"), SubElement(root, "actuator")
    for joint in joints:
        if joint.mimics is not None:
            leader, multiplier, offset = joint.mimics
            rule = number_text([offset, multiplier, 0.0, 0.0, 0.0])
            SubElement(equalities, "joint", joint1=joint.name, joint2=leader, polycoef=rule)
        elif joint.effort is not None:
            _add_servo(actuators, joint)
    return root


class _Assets:
    """Meshes of an MJCF, each once."""

    def __init__(self, element: Element, meshes: MeshCopies) -> None:
        self._element, self._meshes = element, meshes
        self._names: dict[tuple[str, str], str] = {}

    def is_seen(self, link: str, shape: LinkShape) -> bool:
        """True if MuJoCo can show a shape of a link; a mesh that has too few vertices for it is told."""
        name = str(shape.tag.get("filename"))
        if shape.tag.tag != "mesh" or _vertices_of(mesh_file(name, shape.folder)) >= _LEAST_VERTICES:
            return True
        self._meshes.too_small.append(f"{Path(name).name} of link {link}")
        return False

    def mesh(self, shape: LinkShape) -> str | None:
        """Name of the asset of a shape's mesh; None if that cannot be read."""
        tag = shape.tag
        file = self._meshes.name_of(mesh_file(str(tag.get("filename")), shape.folder).resolve())
        if not file:
            return None
        key = file, tag.get("scale", "1 1 1")
        if key not in self._names:
            self._names[key] = f"mesh_{len(self._names)}"
            SubElement(
                self._element, "mesh", name=self._names[key], file=file, scale=key[1], inertia="shell"
            )  # Flat meshes have no volume; masses are given.
        return self._names[key]


def _vertices_of(file: Path) -> int:
    """Number of a mesh file's vertices; enough for one that cannot be read, as its copy is not made."""
    try:
        return len(mesh_triangles(str(file))[0])
    except InvalidValueError:
        # An OBJ is copied without being read.
        return 0 if file.suffix.lower() == ".obj" else _LEAST_VERTICES


def _add_body(parent: Element, part: Part, assets: _Assets) -> Element:
    body = SubElement(parent, "body", {"name": part.name, **_place(part.pivot)})
    mass, tensor = part.mass, part.mass.inertia
    moments = [tensor[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    SubElement(body, "inertial", pos=_text(mass.center), mass=_text([mass.mass]), fullinertia=_text(moments))
    if part.joint is not None:
        _add_joint(body, part.joint)
    for i, (link, shape) in enumerate(part.visual):
        if assets.is_seen(link, shape):
            seen = {"contype": "0", "conaffinity": "0", "group": "2"}
            seen |= {"rgba": shape.colour} if shape.colour else {}
            _add_shape(body, shape, assets, {"name": f"{part.name}_visual_{i}", **seen})
    for i, (_, shape) in enumerate(part.collision):
        _add_shape(body, shape, assets, {"name": f"{part.name}_collision_{i}", "group": "3"})
    for belt in part.belts:
        _add_belt(body, belt)
    return body


def _text(values: Iterable[float]) -> str:
    """Numbers with all their digits, without what rounding leaves of zeros."""
    return " ".join(f"{value:.15g}" if abs(value) > _ROUNDING else "0" for value in values)


def _place(frame: Frame) -> dict[str, str]:
    """Attributes of a frame; a quaternion's real part comes first in MJCF."""
    x, y, z, w = quaternion_of(frame.rotation)
    return {"pos": _text(frame.origin), "quat": _text((w, x, y, z))}


def _add_joint(body: Element, joint: PartJoint) -> None:
    element = SubElement(body, "joint", name=joint.name, axis=_text(joint.axis))
    element.set("type", "hinge" if joint.kind == "revolute" else "slide")
    if all(map(math.isfinite, joint.limits)):
        element.set("range", number_text(joint.limits))
    numbers = {
        "damping": joint.damping,
        "frictionloss": joint.friction,
        "stiffness": joint.stiffness,
        "springref": joint.free_position,
    }
    for key, number in numbers.items():
        if number:
            element.set(key, number_text([number]))


def _add_servo(actuators: Element, joint: PartJoint) -> None:
    """Add the actuator of a joint's servo, critically damped where it gives no gains."""
    assert joint.effort is not None
    servo = SubElement(actuators, "position", name=joint.name, joint=joint.name)
    servo.set("forcerange", number_text((-joint.effort, joint.effort)))
    if joint.gains is not None:
        servo.set("kp", number_text([joint.gains[0]]))
        servo.set("kv", number_text([joint.gains[1]]))
    else:
        servo.set("kp", number_text([_STIFF * joint.effort]))
        servo.set("dampratio", "1")
    if all(map(math.isfinite, joint.limits)):
        servo.set("ctrlrange", number_text(joint.limits))


def _add_shape(body: Element, shape: LinkShape, assets: _Assets, attributes: dict[str, str]) -> None:
    """Add a shape of the body; one whose mesh cannot be read is left out."""
    tag = shape.tag
    kind, size = tag.tag, ""
    match kind:
        case "box":
            size = number_text(side / 2 for side in read_vector(tag, "size"))
        case "cylinder" | "capsule":
            size = number_text((float(tag.get("radius", "0")), float(tag.get("length", "0")) / 2))
        case "sphere":
            size = number_text([float(tag.get("radius", "0"))])
        case _:
            mesh = assets.mesh(shape)
            if mesh is None:
                return
            SubElement(body, "geom", {"type": "mesh", "mesh": mesh, **_place(shape.frame), **attributes})
            return
    SubElement(body, "geom", {"type": kind, "size": size, **_place(shape.frame), **attributes})


def _add_belt(body: Element, belt: PartBelt) -> None:
    """Add the geoms of a belt; their friction counts, whatever the ground's is."""
    for i, shape in enumerate(belt.shapes):
        solid = shape.placed.solid
        if isinstance(solid, Box):
            kind, size = "box", [side / 2 for side in solid.size]
            surface = (shape.surface, 0.0, 0.0, 0.0, 0.0, 0.0)
        else:
            assert isinstance(solid, Cylinder)
            kind, size = "cylinder", [solid.radius, solid.length / 2]
            surface = (0.0, 0.0, 0.0, 0.0, 0.0, -shape.surface)  # Its z is the track's -y.
        attributes = {"name": f"{belt.name}_{i}", "type": kind, "size": number_text(size)}
        attributes |= _place(belt.frame @ frame_of(shape.placed))
        friction = number_text((belt.spec.contact.friction, 0.005, 0.0001))
        attributes |= {"friction": friction, "priority": "1", "user": _text(surface), "rgba": TRACK_COLOUR}
        SubElement(body, "geom", attributes)


def _exclude(contact: Element, parts: tuple[Part, ...]) -> None:
    """Exclude contacts between the parts of one vehicle, which do not touch each other here."""
    for one, other in combinations(parts, 2):
        SubElement(contact, "exclude", body1=one.name, body2=other.name)
