"""What a vehicle file asks of the user's URDF: that it parses, and has the links that tracks mount on."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

from segtrack.description.vehicle import VehicleDescription
from segtrack.errors import Problem


def root_link(robot: ElementTree.Element) -> str:
    """Name of the link that is no joint's child."""
    children = {child.get("link") for child in robot.iterfind("joint/child")}
    return next(str(link.get("name")) for link in robot.iterfind("link") if link.get("name") not in children)


def parent_link(robot: ElementTree.Element, parent: str) -> str:
    """The link that a mount's `parent` means: `body` is the root link unless a link has that name."""
    names = {str(link.get("name")) for link in robot.iterfind("link")}
    return root_link(robot) if parent == "body" and "body" not in names else parent


def check_urdf(vehicle: VehicleDescription) -> list[Problem]:
    """The mistakes of a vehicle file that only its URDF shows."""
    if vehicle.body.urdf is None:
        return []
    try:
        robot = ElementTree.parse(vehicle.body.urdf).getroot()
    except ElementTree.ParseError as error:
        return [Problem("body.urdf", f"is not XML: {error}")]
    names = [str(link.get("name")) for link in robot.iterfind("link")]
    if not names:
        return [Problem("body.urdf", "has no links")]
    problems = [
        Problem(f"{where}.mount.parent", f"has no link {mount.parent!r}; there are: {', '.join(names)}")
        for where, mount in [(f"tracks.{n}", t.mount) for n, t in vehicle.tracks.items()]
        + [(f"flippers.{n}", f.mount) for n, f in vehicle.flippers.items()]
        if parent_link(robot, mount.parent) not in names
    ]
    folder = Path(vehicle.body.urdf).parent
    for mesh in robot.iterfind(".//mesh"):
        file = str(mesh.get("filename"))
        if not (folder / file.removeprefix("package://")).is_file():
            problems.append(Problem("body.urdf", f"names a mesh that does not exist: {file} (looked in {folder})"))
    return problems
