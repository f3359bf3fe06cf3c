"""What a vehicle file asks of its body: that the URDF parses, and has the links that tracks mount on."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Mapping
from pathlib import Path

from segtrack.errors import Problem


def root_link(robot: ElementTree.Element) -> str:
    """Name of the link that is no joint's child."""
    return _root_links(robot)[0]


def parent_link(robot: ElementTree.Element, parent: str) -> str:
    """The link that a mount's `parent` means: `body` is the root link unless a link has that name."""
    return root_link(robot) if parent == "body" and "body" not in _masses(robot) else parent


def link_problems(urdf: str | None, mounts: Mapping[str, str], flippers: Iterable[str]) -> list[Problem]:
    """The mistakes of a vehicle file that only its body's links show.

    Args:
        urdf: The body's URDF file; a body without one has one link, `body`.
        mounts: For each track and flipper on the body, by its path in the vehicle file, the parent it names.
        flippers: Names of the flippers, whose links are named after them.
    """
    if urdf is None:
        return _mount_problems({"body": math.inf}, "body", mounts, flippers)
    try:
        robot = ElementTree.parse(urdf).getroot()
    except ElementTree.ParseError as error:
        return [Problem("body.urdf", f"must be XML, got {Path(urdf).name}: {error}")]
    roots = _root_links(robot)
    if len(roots) != 1:
        return [Problem("body.urdf", f"must have one root link, got {', '.join(roots) or 'none'}")]
    problems = _mount_problems(_masses(robot), roots[0], mounts, flippers)
    return problems + _missing_meshes(robot, Path(urdf).parent)


def _mount_problems(
    masses: Mapping[str, float], root: str, mounts: Mapping[str, str], flippers: Iterable[str]
) -> list[Problem]:
    problems = []
    for where, parent in mounts.items():
        link = root if parent == "body" and "body" not in masses else parent
        if link not in masses:
            message = f"has no link {parent!r}; there are: {', '.join(masses)}"
        elif where.startswith("tracks.") and not masses[link] > 0:
            message = f"must be a link with a mass, got {link!r} without one"
        else:
            continue
        problems.append(Problem(f"{where}.mount.parent", message))
    taken = [name for name in flippers if name in masses]
    return problems + [
        Problem(f"flippers.{name}", "must not be named like a link of the body") for name in taken
    ]


def _missing_meshes(robot: ElementTree.Element, folder: Path) -> list[Problem]:
    files = dict.fromkeys(str(mesh.get("filename")) for mesh in robot.iterfind(".//mesh"))
    return [
        Problem("body.urdf", f"names a mesh that does not exist: {file} (looked in {folder})")
        for file in files
        if not (folder / file.removeprefix("package://")).is_file()
    ]


def _root_links(robot: ElementTree.Element) -> list[str]:
    children = {child.get("link") for child in robot.iterfind("joint/child")}
    return [name for name in _masses(robot) if name not in children]


def _masses(robot: ElementTree.Element) -> dict[str, float]:
    """Mass of each link [kg], by its name; 0 where the file gives none."""
    masses = {}
    for link in robot.iterfind("link"):
        mass = link.find("inertial/mass")
        masses[str(link.get("name"))] = float(mass.get("value", "0")) if mass is not None else 0.0
    return masses
