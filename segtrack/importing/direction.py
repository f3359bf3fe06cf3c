"""Forward direction of a robot: across its tracks' axles, on the side that names and plugins vote for."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from xml.etree.ElementTree import Element, SubElement

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import InvalidValueError
from segtrack.importing.finding import UP, FoundTrack, words_of
from segtrack.importing.findings import Findings
from segtrack.importing.robot import UrdfRobot

Array = NDArray[np.float64]
_LEFT = {"left", "l", "fl", "rl", "bl", "ml", "lf", "lr", "lb", "port"}
_RIGHT = {"right", "r", "fr", "rr", "br", "mr", "rf", "rb", "starboard"}
_FRONT = {"front", "fl", "fr", "lf", "rf", "fore", "forward"}
_REAR = {"rear", "back", "rl", "rr", "lr", "bl", "br", "lb", "rb", "aft", "hind"}
_APART = 0.02
"""Distance from the middle below which a name's place says nothing [m]."""
DIRECTIONS = {"x": (1, 0, 0), "-x": (-1, 0, 0), "y": (0, 1, 0), "-y": (0, -1, 0)}
"""Directions that may be set as forward, in the root link's frame."""


def forward_of(
    robot: UrdfRobot, tracks: Sequence[FoundTrack], axle: Array, given: str | None, findings: Findings
) -> Array:
    """Forward direction of a robot, a level unit vector in its root frame (3,).

    It is across the axles. Of the two ways, names with left and right and plugins vote for one, names with
    front and rear too; x as in REP 103 (else y) is taken where they contradict each other, or say nothing.

    Args:
        robot: Robot whose links' names are read.
        tracks: Its tracks.
        axle: Level unit vector (3,) along the axles; forward would be `axle` x z.
        given: Direction that the user gave: x, -x, y or -y; None if none.
        findings: List to which the direction and contradictions are added.

    Raises:
        InvalidValueError: The given direction is none of these, or not across the axles.
    """
    ahead = np.cross(axle, UP)
    if given is not None:
        if given not in DIRECTIONS:
            raise InvalidValueError("--set forward", f"one of {', '.join(DIRECTIONS)}", given)
        chosen = np.array(DIRECTIONS[given], dtype=float)
        if abs(float(chosen @ ahead)) < 0.7:
            raise InvalidValueError(
                "--set forward", f"across the axles, which lie along {_words(axle)}", given
            )
        findings.add("given", "forward", _words(chosen), "--set forward")
        return ahead if float(chosen @ ahead) > 0 else -ahead
    lateral, along = _lateral_votes(robot, tracks, axle), _longitudinal_votes(robot, tracks, ahead)
    votes = [sum(votes) for votes in (lateral, along)]
    said = [np.sign(total) for total in votes if total]
    sides, ends = f"left and right ({votes[0]:+d})", f"front and rear ({votes[1]:+d})"
    if len(said) == 2 and said[0] != said[1]:
        message = f"names and plugins contradict each other: {sides}, {ends}; --set forward=-x turns it about"
        findings.add("guessed", "forward", f"{_words(ahead)} by convention", message)
        return ahead
    if not said:
        findings.add("guessed", "forward", _words(ahead), "convention (REP 103); no name or plugin says it")
        return ahead
    if any(np.sign(vote) != said[0] for vote in (*lateral, *along) if vote):
        findings.add("remark", "forward", "some names disagree", f"votes of names: {sides}, {ends}")
    chosen = ahead * said[0]
    certain = float(chosen[0]) > 0.7
    findings.add(
        "sure" if certain else "guessed", "forward", _words(chosen), f"axles, names: {sides}, {ends}"
    )
    return np.asarray(chosen)


def rooted(
    robot: UrdfRobot,
    forward: Array,
    find: Callable[[UrdfRobot], Sequence[FoundTrack]],
    findings: Findings,
) -> UrdfRobot:
    """Robot with a massless root link whose x points forward, and that is amid its tracks.

    Args:
        robot: Robot; it is returned itself where its own root is so.
        forward: Forward direction in its root frame, a level unit vector (3,).
        find: Function that finds the tracks of a robot whose x points forward.
        findings: List to which a root that is beside the tracks is added.
    """
    yaw = math.atan2(forward[1], forward[0])
    turned = robot if abs(yaw) < 1e-9 else _with_root(robot, (0.0, 0.0), yaw)
    tracks = find(turned)
    xs, ys = [track.middle[0] for track in tracks], [track.side for track in tracks]
    x, y = float(min(xs) + max(xs)) / 2, float(min(ys) + max(ys)) / 2
    reach = (max(xs) - min(xs) + max(track.length for track in tracks)) / 2
    if abs(x) < reach and min(ys) < 0 < max(ys):
        return turned
    off = float(np.hypot(x, y))
    findings.add("remark", f"link {robot.root}", f"{off:.3g} m from the middle of its tracks", _ROOT)
    return _with_root(robot, (x, y), yaw)


_ROOT = "a root link amid them is put above it"


def _with_root(robot: UrdfRobot, place: tuple[float, float], yaw: float) -> UrdfRobot:
    """Robot with a massless root link, turned by a yaw from its own [rad], at (x, y) in turned axes [m]."""
    tree, name = copy.deepcopy(robot.tree), "vehicle_root"
    while name in robot.links:
        name += "_"
    tree.insert(0, Element("link", name=name))
    joint = SubElement(tree, "joint", name=f"{name}_to_{robot.root}", type="fixed")
    SubElement(joint, "origin", xyz=f"{-place[0]!r} {-place[1]!r} 0", rpy=f"0 0 {-yaw!r}")
    SubElement(joint, "parent", link=name)
    SubElement(joint, "child", link=robot.root)
    return UrdfRobot(robot.name, tree, robot.folder, robot.hints)


def _lateral_votes(robot: UrdfRobot, tracks: Sequence[FoundTrack], axle: Array) -> list[int]:
    """Vote 1 for each name whose side is that along `axle`, and -1 for the others."""
    middle = float(np.mean([track.side for track in tracks]))
    votes = []
    for track in tracks:
        for link in track.links:
            aside = track.side - middle
            if abs(aside) > _APART:
                votes.append(_says(_names_of(robot, link), _LEFT, _RIGHT) * int(np.sign(aside)))
                hint = (link in robot.hints.left) - (link in robot.hints.right)
                votes.append(hint * int(np.sign(aside)))
    return votes


def _longitudinal_votes(robot: UrdfRobot, tracks: Sequence[FoundTrack], ahead: Array) -> list[int]:
    """Vote 1 for each name whose end is that along `ahead`, and -1 for the others."""
    links = [wheel.joint.child for track in tracks for wheel in track.wheels] or [
        link for track in tracks for link in track.links
    ]
    votes = [*_end_votes(robot, links, ahead)]
    return votes if any(votes) else [*_end_votes(robot, list(robot.links), ahead)]


def _end_votes(robot: UrdfRobot, links: Sequence[str], ahead: Array) -> Iterator[int]:
    places = {
        link: float(
            (robot.points(link).mean(axis=0) if robot.shapes(link) else robot.frames[link].origin) @ ahead
        )
        for link in links
    }
    middle = (min(places.values()) + max(places.values())) / 2 if places else 0.0
    for link, place in places.items():
        if abs(place - middle) > _APART:
            yield _says([link], _FRONT, _REAR) * int(np.sign(place - middle))


def _names_of(robot: UrdfRobot, link: str) -> list[str]:
    joint = robot.joint_of.get(link)
    return [link] if joint is None else [link, joint.name]


def _says(names: Sequence[str], yes: set[str], no: set[str]) -> int:
    """Return 1 or -1 as names contain one of the words; 0 without any, or with both."""
    words = {word for name in names for word in words_of(name).split("_")}
    return bool(words & yes) - bool(words & no)


def _words(way: Array) -> str:
    for name, axis in DIRECTIONS.items():
        if float(way @ np.array(axis)) > 0.9999:
            return name
    return f"({way[0]:.3g}, {way[1]:.3g})"
