"""What is wrong with a user's URDF, whatever is mounted on it; PyBullet itself may crash over it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

_JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "planar", "spherical")
"""Those of PyBullet; it makes a floating joint a fixed one."""
_NUMBERS = {
    "origin": {"xyz": 3, "rpy": 3},
    "axis": {"xyz": 3},
    "mass": {"value": 1},
    "inertia": {"ixx": 1, "ixy": 1, "ixz": 1, "iyy": 1, "iyz": 1, "izz": 1},
    "limit": {"lower": 1, "upper": 1, "effort": 1, "velocity": 1},
    "dynamics": {"damping": 1, "friction": 1},
    "box": {"size": 3},
    "sphere": {"radius": 1},
    "cylinder": {"radius": 1, "length": 1},
    "capsule": {"radius": 1, "length": 1},
    "mesh": {"scale": 3},
}
"""How many numbers an attribute of a tag has; it may be left out."""


def urdf_mistakes(robot: Element, folder: Path) -> list[str]:
    """The mistakes of a URDF, each to follow the words `body.urdf`.

    Args:
        robot: Its root element.
        folder: What its meshes are relative to.
    """
    if robot.tag != "robot":
        return [f"must have the root element <robot>, got <{robot.tag}>"]
    mistakes = [*_names(robot), *_joints(robot)]
    return (mistakes or _tree(robot)) + [*_numbers(robot), *_missing_meshes(robot, folder)]


def root_links(robot: Element) -> list[str]:
    """Names of the links that are no joint's child."""
    children = {child.get("link") for child in robot.iterfind("joint/child")}
    return [str(link.get("name")) for link in robot.iterfind("link") if link.get("name") not in children]


def _names(robot: Element) -> Iterator[str]:
    for tag in ("link", "joint"):
        names = [element.get("name") for element in robot.iterfind(tag)]
        for i, name in enumerate(names):
            if not name:
                yield f"must name each {tag}, got {tag} {i} without a name"
            elif name in names[:i]:
                yield f"must name each {tag} differently, got two named {name!r}"


def _joints(robot: Element) -> Iterator[str]:
    links = [link.get("name") for link in robot.iterfind("link")]
    carried = set()
    for joint in robot.iterfind("joint"):
        where = f"joint {joint.get('name')!r}"
        if joint.get("type") not in _JOINT_TYPES:
            types = ", ".join(_JOINT_TYPES)
            yield f"must give {where} a type of {types}, got {joint.get('type', 'none')}"
        elif joint.get("type") in ("revolute", "prismatic") and joint.find("limit") is None:
            yield f"must give {where} a <limit>, got none"
        for tag in ("parent", "child"):
            named = [element.get("link") for element in joint.findall(tag) if element.get("link")]
            link = named[0] if named else None
            if len(named) != 1:
                yield f"must give {where} one {tag} link, got {', '.join(map(repr, named)) or 'none'}"
            elif link not in links:
                yield f"has no link {link!r}, which is the {tag} of {where}"
            elif tag == "child" and link in carried:
                yield f"must carry each link by one joint, got two for {link!r}"
            elif tag == "child":
                carried.add(link)


def _tree(robot: Element) -> list[str]:
    """What keeps links and joints, each right by itself, from being one tree."""
    roots = root_links(robot)
    if len(roots) != 1:
        return [f"must have one root link, got {', '.join(roots) or 'none'}"]
    children: dict[str, list[str]] = {}
    for joint in robot.iterfind("joint"):
        parent, child = (joint.find(tag).get("link") for tag in ("parent", "child"))  # type: ignore[union-attr]
        children.setdefault(str(parent), []).append(str(child))
    reached = list(roots)
    for link in reached:
        reached += children.get(link, [])
    cut_off = [str(link.get("name")) for link in robot.iterfind("link") if link.get("name") not in reached]
    return [f"must be one tree, got a cycle of joints through {', '.join(cut_off)}"] if cut_off else []


def _numbers(robot: Element) -> Iterator[str]:
    for tag in ("link", "joint"):
        for owner in robot.iterfind(tag):
            for element in owner.iter():
                for key, count in _NUMBERS.get(element.tag, {}).items():
                    text = element.get(key)
                    if key == "scale" and text is not None and len(text.split()) == 1:
                        count = 1  # PyBullet takes one scale for all three.
                    if text is not None and not _are_numbers(text.split(), count):
                        what = "a finite number" if count == 1 else f"{count} finite numbers"
                        where = f"{element.tag} {key} in {tag} {owner.get('name')!r}"
                        yield f"must have {what} as {where}, got {text!r}"
            mass = owner.find("inertial/mass")
            text = mass.get("value", "0") if mass is not None else "0"
            if _are_numbers([text], 1) and float(text) < 0:
                yield f"must have a mass of at least 0 in {tag} {owner.get('name')!r}, got {text!r}"


def _are_numbers(words: Iterable[str], count: int) -> bool:
    try:
        values = [float(word) for word in words]
    except ValueError:
        return False
    return len(values) == count and all(map(math.isfinite, values))


def _missing_meshes(robot: Element, folder: Path) -> Iterator[str]:
    for file in dict.fromkeys(str(mesh.get("filename")) for mesh in robot.iterfind(".//mesh")):
        if not (folder / file.removeprefix("package://")).is_file():
            yield f"names a mesh that does not exist: {file} (looked in {folder})"
