"""Mistakes in a user's URDF, by itself and as the body of a vehicle file."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element
from xml.parsers import expat

from segtrack.description.base import XML_ERRORS
from segtrack.description.frames import impossible_moments, link_masses, weighing_links
from segtrack.description.grousers import mesh_triangles
from segtrack.description.mesh_files import find_mesh, mesh_places
from segtrack.errors import InvalidValueError, Problem

_JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "planar", "spherical")
"""Types of joints that PyBullet knows; it makes a floating joint a fixed one."""
_NUMBERS = {
    "origin": {"xyz": 3, "rpy": 3},
    "axis": {"xyz": 3},
    "mass": {"value": 1},
    "inertia": {"ixx": 1, "ixy": 1, "ixz": 1, "iyy": 1, "iyz": 1, "izz": 1},
    "limit": {"lower": 1, "upper": 1, "effort": 1, "velocity": 1},
    "dynamics": {"damping": 1, "friction": 1},
    "mimic": {"multiplier": 1, "offset": 1},
    "box": {"size": 3},
    "sphere": {"radius": 1},
    "cylinder": {"radius": 1, "length": 1},
    "capsule": {"radius": 1, "length": 1},
    "mesh": {"scale": 3},
}
"""Count of numbers in an attribute of a tag; it may be left out."""
_SIZES = {
    "box": ("size",),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius",),
    "mesh": ("scale",),
}
"""Attributes of a shape without which it has no volume."""


def urdf_mistakes(
    robot: Element,
    folder: Path,
    places: Mapping[str, str] | None = None,
    without_contact: Collection[str] = (),
) -> list[str]:
    """List the mistakes of a URDF, each phrased to follow the words `body.urdf`.

    Args:
        robot: Root element of the URDF.
        folder: Folder that the paths of its meshes start from.
        places: File and line of each link by name, as far as known.
        without_contact: Names of links whose collision shapes are switched off.
    """
    if robot.tag != "robot":
        return [f"must have the root element <robot>, got <{robot.tag}>"]
    mistakes = [*_names(robot), *_joints(robot)]
    numbers, places = [*_numbers(robot)], places or {}
    touching = [link for link in robot.iterfind("link") if link.get("name") not in without_contact]
    bodies = [] if numbers else [*_inertias(robot, places), *_thin_shapes(touching, places)]
    return (mistakes or _tree(robot)) + numbers + bodies + [*_meshes(robot, folder, places, touching)]


def link_places(urdf: Path) -> dict[str, str]:
    """File and line of each link of a URDF, by name."""
    parser, places = expat.ParserCreate(), dict[str, str]()

    def note(tag: str, attributes: dict[str, str]) -> None:
        if tag == "link":
            places.setdefault(attributes.get("name", ""), f"{urdf.name}:{parser.CurrentLineNumber}")

    parser.StartElementHandler = note
    parser.Parse(urdf.read_bytes(), True)
    return places


def root_links(robot: Element) -> list[str]:
    """Names of the links that are no joint's child."""
    children = {child.get("link") for child in robot.iterfind("joint/child")}
    return [str(link.get("name")) for link in robot.iterfind("link") if link.get("name") not in children]


def _names(robot: Element) -> Iterator[str]:
    """Yield links and joints without a name, or with the name of another one."""
    for tag in ("link", "joint"):
        names = [element.get("name") for element in robot.iterfind(tag)]
        for i, name in enumerate(names):
            if not name:
                yield f"must name each {tag}, got {tag} {i} without a name"
            elif name in names[:i]:
                yield f"must name each {tag} differently, got two named {name!r}"


def _joints(robot: Element) -> Iterator[str]:
    """Yield joints of an unknown type, without a limit, or without one parent and one child of their own."""
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
    """List the reasons why links and joints do not form a single tree."""
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
    """Yield attributes that are not finite numbers, and negative masses."""
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


def _inertias(robot: Element, places: Mapping[str, str]) -> Iterator[str]:
    """Yield links with physically impossible inertias; massless links' are not used."""
    for link in robot.iterfind("link"):
        mass = link.find("inertial/mass")
        moments = impossible_moments(link.find("inertial"))
        if mass is not None and float(mass.get("value", "0")) > 0 and moments is not None:
            yield (
                f"must have principal moments of inertia that are positive, and none above the sum of the "
                f"other two, in {_named(link, places)}, got {', '.join(f'{m:.3g}' for m in moments)} kg m^2"
            )


def _thin_shapes(links: Iterable[Element], places: Mapping[str, str]) -> Iterator[str]:
    """Yield the collision shapes without extent along one of their axes."""
    for link in links:
        for shape in link.iterfind("collision/geometry/*"):
            sizes = {key: shape.get(key, "1" if key == "scale" else "0") for key in _SIZES.get(shape.tag, ())}
            for key, text in sizes.items():
                # A mirrored mesh has a negative scale.
                numbers = [abs(x) if key == "scale" else x for x in map(float, text.split())]
                if min(numbers) <= 0:
                    what = f"a positive {key}" if key != "scale" else "no scale of 0"
                    where = _named(link, places)
                    yield (
                        f"must have {what} of each {shape.tag} that collides, got {text} in {where}; "
                        "name that link in body.without_contact if it touches nothing"
                    )


def _meshes(
    robot: Element, folder: Path, places: Mapping[str, str], touching: Collection[Element]
) -> Iterator[str]:
    """Yield meshes without a file name, missing files, and files that cannot collide, with their links."""
    missing: dict[str, list[str]] = {}
    colliding: dict[Path, list[str]] = {}
    for link in robot.iterfind("link"):
        for shape in link:
            for mesh in shape.iterfind("geometry/mesh"):
                file = mesh.get("filename", "").strip()
                if not file:
                    yield (
                        f"must name the file of each mesh, got none in a {shape.tag} of "
                        f"{_named(link, places)}; remove that {shape.tag} if it has no shape"
                    )
                elif (found := find_mesh(file, folder)) is None:
                    missing.setdefault(file, []).append(_named(link, places))
                elif shape.tag == "collision" and link in touching:
                    colliding.setdefault(found, []).append(_named(link, places))
    for file, links in missing.items():
        owners = ", ".join(dict.fromkeys(links))
        yield f"names a mesh that does not exist: {file} of {owners} ({mesh_places(file, folder)})"
    for found, links in colliding.items():
        try:
            mesh_triangles(str(found))
        except InvalidValueError as error:
            yield f"has a collision mesh of {', '.join(dict.fromkeys(links))} that {error.complaint}"


def _named(link: Element, places: Mapping[str, str]) -> str:
    """Name of a link in words, with its line if known."""
    name = str(link.get("name"))
    return f"link {name!r}" + (f" ({places[name]})" if name in places else "")


class Mounting(NamedTuple):
    """Part of a vehicle file mounted on the body.

    Attributes:
        parent: Name of the parent link in the file.
        reflected_mass: Reflected mass of a track's drive, which the parent link's mass includes [kg].
    """

    parent: str
    reflected_mass: float = 0.0


def parent_link(robot: ElementTree.Element, parent: str) -> str:
    """Name of the link meant by a mount's `parent`: `body` is the root unless a link has that name."""
    return root_links(robot)[0] if parent == "body" and "body" not in link_masses(robot) else parent


def link_problems(
    urdf: str | None,
    mass: float | None,
    fixed: bool,
    mountings: Mapping[str, Mounting],
    without_contact: Collection[str] = (),
) -> list[Problem]:
    """List the mistakes of a vehicle file that only show with the links of its body.

    Args:
        urdf: URDF file of the body; without one the only link is `body`.
        mass: Mass of a body without a URDF [kg]; None if not known.
        fixed: True if the body is bolted to the world.
        mountings: Parts mounted on the body, by their path in the vehicle file, `tracks.name` or
            `flippers.name`.
        without_contact: Names of links whose collision shapes are switched off.
    """
    if urdf is None:
        own = {"body": "body"}
        return _mount_problems(own, "body", mountings) + _overdrawn_links(
            {"body": mass}, own, "body", mountings
        )
    try:
        robot = ElementTree.parse(urdf).getroot()
    except XML_ERRORS as error:
        return [Problem("body.urdf", f"must be XML, got {Path(urdf).name}: {error}")]
    mistakes = urdf_mistakes(robot, Path(urdf).parent, link_places(Path(urdf)), without_contact)
    if mistakes:
        return [Problem("body.urdf", mistake) for mistake in mistakes]
    weighing, root = weighing_links(robot), root_links(robot)[0]
    problems = _mount_problems(weighing, root, mountings)
    if not problems and weighing[root] is None and not fixed:
        message = (
            f"must have a mass on its root link {root!r}, or on a link that a fixed joint holds to it: give "
            "one an <inertial>, or set body.fixed if it is bolted to the world"
        )
        problems.append(Problem("body.urdf", message))
    return problems + _overdrawn_links(link_masses(robot), weighing, root, mountings)


def reflected_mass_problems(parent: str, mass: float, reflected: Mapping[str, float]) -> list[Problem]:
    """List the drives whose reflected masses add up to all of their parent link's mass.

    Args:
        parent: Parent link of the tracks, in words.
        mass: Mass of the parent link [kg].
        reflected: Reflected mass of each of its tracks [kg], by the track's path.
    """
    problems = []
    for where, own_mass in reflected.items():
        if own_mass >= mass:
            message = f"must be less than the {mass:g} kg that are left of {parent}, got {own_mass:g}"
            problems.append(Problem(f"{where}.drive.reflected_mass", message))
        else:
            mass -= own_mass
    return problems


def _overdrawn_links(
    masses: Mapping[str, float | None],
    weighing: Mapping[str, str | None],
    root: str,
    mountings: Mapping[str, Mounting],
) -> list[Problem]:
    """List the drives that take all of their link's mass, over all links."""
    problems = []
    for link, mass in masses.items():
        reflected = {
            where: mounting.reflected_mass
            for where, mounting in mountings.items()
            if where.startswith("tracks.") and weighing.get(_means(mounting.parent, root, masses)) == link
        }
        problems += reflected_mass_problems(link, mass, reflected) if mass else []
    return problems


def _means(parent: str, root: str, links: Collection[str]) -> str:
    return root if parent == "body" and "body" not in links else parent


def _mount_problems(
    weighing: Mapping[str, str | None], root: str, mountings: Mapping[str, Mounting]
) -> list[Problem]:
    """List mounts on missing or massless links, and flippers named like a link."""
    problems = []
    for where, mounting in mountings.items():
        link = _means(mounting.parent, root, weighing)
        if link not in weighing:
            message = f"has no link {mounting.parent!r}; there are: {', '.join(weighing)}"
        elif where.startswith("tracks.") and weighing[link] is None:
            message = f"must be a link with a mass, or fixed to one, got {link!r} without one"
        else:
            continue
        problems.append(Problem(f"{where}.mount.parent", message))
    return problems + [
        Problem(where, "must not be named like a link of the body")
        for where in mountings
        if where.startswith("flippers.") and where.removeprefix("flippers.") in weighing
    ]
