"""What a vehicle file asks of its body: that the URDF is one, and has the links that tracks mount on."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple

from segtrack.description.urdf.check import root_links, urdf_mistakes
from segtrack.description.urdf.reading import link_masses, weighing_links
from segtrack.errors import Problem

_TRACK_LINKS = "(?:line|arc|wheel)_[0-9]+|sprocket|supports"
"""Names of a track's links, of whichever track model."""


class Mounting(NamedTuple):
    """What a vehicle file mounts on its body.

    Attributes:
        parent: Link that it names.
        reflected_mass: Of a track's drive, which that link's mass includes [kg].
        tracks: Names of the tracks on it, if it is a flipper.
    """

    parent: str
    reflected_mass: float = 0.0
    tracks: tuple[str, ...] = ()


def parent_link(robot: ElementTree.Element, parent: str) -> str:
    """The link that a mount's `parent` means: `body` is the root link unless a link has that name."""
    return root_links(robot)[0] if parent == "body" and "body" not in link_masses(robot) else parent


def link_problems(
    urdf: str | None, mass: float | None, fixed: bool, mountings: Mapping[str, Mounting]
) -> list[Problem]:
    """The mistakes of a vehicle file that only its body's links show.

    Args:
        urdf: The body's URDF file; a body without one has one link, `body`.
        mass: Of a body without URDF [kg]; None if it is not known.
        fixed: Whether the body is bolted to the world.
        mountings: What is mounted on the body, by its path in the vehicle file, `tracks.name` or
            `flippers.name`.
    """
    if urdf is None:
        own = {"body": "body"}
        return _mount_problems(own, "body", mountings) + _overdrawn_links(
            {"body": mass}, own, "body", mountings
        )
    try:
        robot = ElementTree.parse(urdf).getroot()
    except ElementTree.ParseError as error:
        return [Problem("body.urdf", f"must be XML, got {Path(urdf).name}: {error}")]
    mistakes = urdf_mistakes(robot, Path(urdf).parent)
    taken = _taken_names(robot, mountings)
    if mistakes:
        return [Problem("body.urdf", mistake) for mistake in mistakes] + taken
    weighing, root = weighing_links(robot), root_links(robot)[0]
    problems = _mount_problems(weighing, root, mountings)
    if not problems and weighing[root] is None and not fixed:
        message = (
            f"must have a mass on its root link {root!r}, or on a link that a fixed joint holds to it: give "
            "one an <inertial>, or set body.fixed if it is bolted to the world"
        )
        problems.append(Problem("body.urdf", message))
    return problems + taken + _overdrawn_links(link_masses(robot), weighing, root, mountings)


def reflected_mass_problems(parent: str, mass: float, reflected: Mapping[str, float]) -> list[Problem]:
    """Drives whose reflected mass, together with those before them, is all that their parent link weighs.

    Args:
        parent: The link that carries the tracks, in words.
        mass: Of the parent link [kg].
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


def _taken_names(robot: ElementTree.Element, mountings: Mapping[str, Mounting]) -> list[Problem]:
    """The names of the user's links and joints that those of tracks and flippers will have."""
    flippers = {
        where.removeprefix("flippers."): m for where, m in mountings.items() if where.startswith("flippers.")
    }
    tracks = [where.removeprefix("tracks.") for where in mountings if where.startswith("tracks.")]
    tracks += [f"{name}_{track}" for name, flipper in flippers.items() for track in flipper.tracks]
    links = f"(?:{'|'.join(map(re.escape, tracks))})_(?:{_TRACK_LINKS})"
    joints = "|".join([f"{links}_joint", *(f"{re.escape(name)}_joint" for name in flippers)])
    return [
        Problem("body.urdf", f"must not have a {tag} named {name!r}, which tracks and flippers use")
        for tag, pattern in (("link", links), ("joint", joints))
        for name in (element.get("name", "") for element in robot.iterfind(tag))
        if re.fullmatch(pattern, name)
    ]
