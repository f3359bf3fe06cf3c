"""Texts of an imported vehicle: its URDF, and its vehicle file with where each number is from."""

from __future__ import annotations

import copy
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np
from numpy.typing import NDArray

from segtrack.description import find_mesh, read_vector
from segtrack.importing.findings import Findings
from segtrack.importing.plan import FlipperPlan, TrackPlan, VehiclePlan
from segtrack.importing.robot import UrdfRobot

FIRST_LINE = "# Written by `segtrack import`: lines say where numbers are from; look at those called default."
_YAML_WORDS = frozenset("true false yes no on off null y n".split())


def urdf_text(robot: UrdfRobot, plan: VehiclePlan, folder: Path, findings: Findings) -> str:
    """Text of the body's URDF: without flippers and belts' masses, with meshes that resolve from a folder.

    Args:
        robot: Robot whose x is forward.
        plan: Plan of its vehicle.
        folder: Folder in which the URDF will be.
        findings: List to which what is left out is added.
    """
    tree = copy.deepcopy(robot.tree)
    gone = {link for flipper in plan.flippers for link in flipper.found.links}
    lost = set()
    for joint in tree.findall("joint"):
        child = joint.find("child")
        if child is not None and str(child.get("link")) in gone:
            tree.remove(joint)
            lost.add(str(joint.get("name")))
            for mimic in joint.findall("mimic"):
                what = f"of {mimic.get('joint')}: flippers of a vehicle file have servos of their own"
                findings.add("remark", f"joint {joint.get('name')}", "follows no more", what)
    for link in tree.findall("link"):
        name = str(link.get("name"))
        if name in gone:
            tree.remove(link)
        elif plan.taken.get(name, 0.0) > 0:
            place = plan.taken_at[name] / plan.taken[name] - robot.frames[name].origin
            _lighten(link, plan.taken[name], robot.frames[name].rotation.T @ place)
    _release_mimics(tree, lost, findings)
    if plan.differential is not None:
        one, other = plan.differential
        element = next(j for j in tree.iterfind("joint") if j.get("name") == other.name)
        same_way = float(one.axis @ other.axis) > 0
        SubElement(element, "mimic", joint=one.name, multiplier="-1" if same_way else "1", offset="0")
    for mesh in tree.iter("mesh"):
        found = find_mesh(mesh.get("filename", ""), robot.folder)
        if found is not None:
            mesh.set("filename", os.path.relpath(found.resolve(), folder.resolve()).replace(os.sep, "/"))
    ElementTree.indent(tree)
    return ElementTree.tostring(tree, encoding="unicode") + "\n"


def _lighten(link: Element, taken: float, place: NDArray[np.float64]) -> None:
    """Take mass [kg] at a place in its frame (3,) [m] off a link, and the share of its inertia."""
    inertial = link.find("inertial")
    mass = inertial.find("mass") if inertial is not None else None
    assert inertial is not None and mass is not None
    before = float(mass.get("value", "0"))
    left = before - taken
    mass.set("value", repr(left))
    origin = inertial.find("origin")
    if origin is None:
        origin = SubElement(inertial, "origin")
    center = (before * np.array(read_vector(origin, "xyz")) - taken * place) / left
    origin.set("xyz", " ".join(repr(float(x)) for x in center))
    for inertia in inertial.iterfind("inertia"):
        for key, value in inertia.items():
            inertia.set(key, repr(float(value) * left / before))


def _release_mimics(tree: Element, lost: Collection[str], findings: Findings) -> None:
    for joint in tree.iterfind("joint"):
        for mimic in joint.findall("mimic"):
            if str(mimic.get("joint")) in lost:
                joint.remove(mimic)
                what = f"it followed {mimic.get('joint')}, which is a flipper's"
                findings.add("remark", f"joint {joint.get('name')}", "follows nothing", what)


def vehicle_text(robot: UrdfRobot, plan: VehiclePlan, urdf: str, source: str, remarks: Sequence[str]) -> str:
    """Text of the vehicle file, with comments that say where each number is from.

    Args:
        robot: Robot whose x is forward.
        plan: Plan of its vehicle.
        urdf: Name of the body's URDF file, beside the vehicle file.
        source: File that the robot is from.
        remarks: Remarks, a comment each.
    """
    lines = [
        FIRST_LINE,
        *(f"# {' '.join(remark.split())}" for remark in remarks),
        f"name: {_word(robot.name)}",
        f"source: {_word(f'imported from {source}')}",
        "body:",
        f"  urdf: {_word(urdf)}",
    ]
    if plan.without_contact:
        names = ", ".join(map(_word, plan.without_contact))
        lines.append(f"  without_contact: [{names}]  # stand for tracks, or reach as low as the belts")
    if plan.tracks:
        lines.append("tracks:")
    for track in plan.tracks:
        lines += _indented(_track_lines(track), 2)
    if plan.flippers:
        lines.append("flippers:")
    for flipper in plan.flippers:
        lines += _indented(_flipper_lines(flipper), 2)
    if plan.joints:
        lines.append("joints:")
    for joint in plan.joints:
        keys = "{}"
        if joint.max_force is not None:
            force, speed = _number(joint.max_force), _number(joint.max_speed)
            keys = f"{{servo: {{max_force: {force}, max_speed: {speed}}}}}"
        lines.append(f"  {_word(joint.joint.name)}: {keys}  # carries tracks")
    return "\n".join(lines) + "\n"


def _track_lines(track: TrackPlan) -> list[str]:
    notes = track.notes
    parent = [] if track.parent is None else [f"parent: {_word(track.parent)}"]
    turned = [f"rpy: {_row(track.rpy)}"] if any(abs(angle) > 1e-12 for angle in track.rpy) else []
    mount = ", ".join([*parent, f"xyz: {_row(track.xyz)}", *turned])
    pulleys = ", ".join(
        f"{{x: {_number(p.x)}, z: {_number(p.z)}, radius: {_number(p.radius)}}}" for p in track.pulleys
    )
    height = _number(track.grouser_height)
    shape = f"box: {{length: {_number(round(track.grouser_length, 5))}, height: {height}}}"
    friction = f"friction: {_number(track.friction)}"
    if track.lateral_friction is not None:
        friction += f", lateral_friction: {_number(track.lateral_friction)}"
    return [
        f"{track.name}:",
        f"  mount: {{{mount}}}",
        *_commented("path", f"{{pulleys: [{pulleys}]}}", notes),
        *_commented("width", _number(track.found.width), notes),
        *_commented("belt", f"{{mass: {track.belt_mass!r}, thickness: {_number(track.thickness)}}}", notes),
        *_commented("grousers", f"{{count: {track.grouser_count}, shape: {{{shape}}}}}", notes),
        *_commented(
            "drive",
            f"{{max_force: {_number(track.max_force)}, max_speed: {_number(track.max_speed)}}}",
            notes,
        ),
        *_commented("contact", f"{{{friction}}}", notes),
    ]


def _flipper_lines(flipper: FlipperPlan) -> list[str]:
    notes, found = flipper.notes, flipper.found
    return [
        f"{flipper.name}:",
        f"  mount: {{parent: {_word(flipper.parent)}, xyz: {_row(flipper.xyz)}}}",
        f"  tip_direction: {found.tip}",
        *_commented("mass", repr(flipper.mass), notes),
        *_commented("size", _row(flipper.size), notes),
        f"  center_of_mass: {_row(flipper.center)}",
        *_commented("limits", _row(found.limits), notes),
        *_commented("max_torque", _number(flipper.max_torque), notes),
        *_commented("max_speed", _number(flipper.max_speed), notes),
        "  tracks:",
        *_indented([line for track in flipper.tracks for line in _track_lines(track)], 4),
    ]


def _commented(key: str, value: str, notes: Mapping[str, str]) -> list[str]:
    return [f"  {key}: {value}" + (f"  # {' '.join(notes[key].split())}" if key in notes else "")]


def _indented(lines: Iterable[str], spaces: int) -> list[str]:
    return [" " * spaces + line for line in lines]


def _row(values: Iterable[float]) -> str:
    return f"[{', '.join(map(_number, values))}]"


def _number(value: float) -> str:
    """Text of a number to the micrometre, as YAML reads it."""
    text = repr(round(float(value), 6) + 0.0)
    if "e" in text:
        mantissa, _, exponent = text.partition("e")
        return f"{mantissa if '.' in mantissa else mantissa + '.0'}e{exponent}"
    return text


def _word(text: str) -> str:
    """Text in YAML's double quotes; plain where it cannot be taken for anything else."""
    plain = text.isidentifier() and text.isascii() and text.lower() not in _YAML_WORDS
    return text if plain else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
