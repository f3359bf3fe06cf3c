"""Reading of a robot's file, URDF or xacro, to the tree of a URDF and the hints of its plugins."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from segtrack.description import XML_ERRORS, expanded, read_text
from segtrack.errors import FileAccessError, InvalidValueError, Phrase, Problem, RobotFileError
from segtrack.importing.findings import Findings
from segtrack.importing.robot import Hints
from segtrack.importing.xacro_file import expand_xacro

_READ = {
    "robot": {"link", "joint", "material"},
    "link": {"inertial", "visual", "collision"},
    "joint": {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic"},
}
"""Tags that are read, by the element that they stand in."""
_SIDES = {
    "left_track": "left", "left_flipper": "left", "left_joint": "left", "leftjoint": "left",
    "right_track": "right", "right_flipper": "right", "right_joint": "right", "rightjoint": "right",
}  # fmt: skip
"""Tags of plugins (Gazebo's track plugins, gz-sim's TrackedVehicle, diff_drive) that name links or joints."""
_NUMBERS = {
    "track_mu": "friction",
    "track_mu2": "lateral_friction",
    "max_linear_speed": "max_speed",
    "max_linear_velocity": "max_speed",
    "tracks_separation": "separation",
    "wheel_separation": "separation",
    "wheelseparation": "separation",
}
"""Tags of plugins with a number that a vehicle file can use."""


def read_tree(path: str | Path, arguments: Mapping[str, str], findings: Findings) -> tuple[Path, Element]:
    """Read a robot's file to the tree of a URDF; a xacro file is expanded.

    Args:
        path: Path of the URDF or xacro file.
        arguments: Arguments of a xacro file by name.
        findings: List to which what is missing is added.

    Returns:
        Path of the file, and its element `robot`.

    Raises:
        FileAccessError: The file is missing or cannot be read.
        RobotFileError: It is no URDF, or xacro cannot expand it.
        InvalidValueError: Arguments for a file that is not xacro.
    """
    file = expanded(path)
    if not os.path.isfile(file):
        raise FileAccessError("read", file, "is a folder" if os.path.isdir(file) else "no such file")
    text = read_text(file)
    if file.suffix == ".xacro" or "<xacro:" in text or "$(" in text:
        text = expand_xacro(file, arguments, findings)
    elif arguments:
        raise InvalidValueError("--arg", "left out of a file that is not xacro", Phrase(", ".join(arguments)))
    try:
        tree = ElementTree.fromstring(text)
    except XML_ERRORS as error:
        raise RobotFileError(file.name, [Problem("", f"must be XML, got {error}")]) from None
    if tree.tag != "robot":
        message = f"must be a URDF or xacro file, with the root element <robot>, got <{tree.tag}>"
        raise RobotFileError(file.name, [Problem("", message)])
    return file, tree


def read_hints(tree: Element, findings: Findings) -> Hints:
    """Read what plugins of a URDF say of its tracks."""
    joints = {str(joint.get("name")): joint for joint in tree.iterfind("joint")}
    named: dict[str, list[str]] = {"left": [], "right": []}
    numbers: dict[str, float] = {}
    for plugin in tree.iter("plugin"):
        source = f"plugin {plugin.get('name') or plugin.get('filename') or ''}".strip()
        for element in plugin.iter():
            tag, text = str(element.tag).lower(), (element.text or "").strip()
            if side := _SIDES.get(tag):
                for name in (text, *((part.text or "").strip() for part in element.iterfind("link"))):
                    link = _link_of(name, joints)
                    if name and not any(each.get("name") == link for each in tree.iterfind("link")):
                        findings.add("missing", f"{source}: {element.tag}", f"no link {name!r}", "left aside")
                    elif name:
                        named[side].append(link)
            elif quantity := _NUMBERS.get(tag):
                number = _number(text)
                if number is None or number <= 0:
                    findings.add(
                        "remark", f"{source}: {element.tag}", "is left aside", f"no number: {text!r}"
                    )
                else:
                    numbers.setdefault(quantity, number)
                    findings.add(
                        "sure", quantity.replace("_", " "), f"{number:g}", f"{source}: {element.tag}"
                    )
    return Hints(tuple(named["left"]), tuple(named["right"]), **numbers)


def remark_unread(tree: Element, findings: Findings) -> None:
    """Add a remark on each kind of tag that is not read, once, with its number."""
    for (owner, tag), count in Counter(_unread(tree)).items():
        times = "" if count == 1 else f", {count} times"
        findings.add("remark", f"<{tag}> in <{owner}>{times}", "kept, not read", "nothing of a vehicle file")


def _unread(tree: Element) -> Iterator[tuple[str, str]]:
    owners = [("robot", tree), *((tag, each) for tag in ("link", "joint") for each in tree.iterfind(tag))]
    for tag, owner in owners:
        yield from ((tag, str(child.tag)) for child in owner if child.tag not in _READ[tag])


def _link_of(name: str, joints: Mapping[str, Element]) -> str:
    """Name of the link that a plugin means by a link's or a joint's name."""
    child = joints[name].find("child") if name in joints else None
    return name if child is None else str(child.get("link"))


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
