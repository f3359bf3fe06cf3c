"""Mistakes in `joints` and in chains' `suspension` that only show with the body's URDF."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from segtrack.description.base import XML_ERRORS, in_radians, known
from segtrack.description.frames import read_inertial
from segtrack.description.joints.design import (
    JointTree,
    joint_tree,
    leaders,
    moving_names,
    shared_limits,
)
from segtrack.description.joints.spec import JointSpec
from segtrack.description.joints.urdf import MOVABLE, UrdfJoint, read_joints
from segtrack.description.urdf_checks import parent_link, urdf_mistakes
from segtrack.errors import Problem, suggest
from segtrack.geometry import MassProperties


def joint_problems(
    urdf: str | None,
    specs: Mapping[str, JointSpec],
    flippers: Mapping[str, str],
    sprung: Mapping[str, str],
    without_contact: Collection[str] = (),
) -> list[Problem]:
    """List the mistakes of `joints` and `suspension`; for those of the URDF itself see `urdf_mistakes`.

    Args:
        urdf: URDF file of the body; None for a body without one.
        specs: Content of `joints` by name.
        flippers: Link that carries each flipper, by the flipper's name.
        sprung: Links that chains have springs for, by the spring's path in the file.
        without_contact: Names of links whose collision shapes are switched off.
    """
    if not specs and not sprung:
        return []
    if urdf is None:
        keys = [*(["joints"] if specs else []), *sprung]
        return [Problem(key, "must be left out where the body has no urdf") for key in keys]
    try:
        robot = ElementTree.parse(urdf).getroot()
    except XML_ERRORS:
        return []
    if urdf_mistakes(robot, Path(urdf).parent, without_contact=without_contact):
        return []
    joints = read_joints(robot)
    carriers = {joint.child: name for name, joint in joints.items()}
    springs = {carriers[link]: where for where, link in sprung.items() if link in carriers}
    places = springs | {name: f"joints.{name}" for name in specs}
    problems = [
        *_unknown(joints, specs),
        *_unmovable(robot, joints, carriers, sprung),
        *_rules(joints, places),
    ]
    if problems:
        return problems
    for name, where in places.items():
        problems += _joint_problems(joints, name, where)
        problems += (
            _settings_problems(joints, name, specs[name]) if name in specs else _start(joints, name, where)
        )
    tree = joint_tree(urdf, dict.fromkeys(places, JointSpec()))
    return problems + [
        *_massless(robot, tree, places),
        *_mounted_flippers(robot, tree, flippers),
        *_sprung_twice(carriers, specs, sprung),
    ]


def _unknown(joints: Mapping[str, UrdfJoint], specs: Mapping[str, JointSpec]) -> Iterator[Problem]:
    """Yield the keys of `joints` that are no joints of the URDF, cannot move, or mimic another."""
    followed = leaders(joints)
    for name in specs:
        where = f"joints.{name}"
        if name not in joints:
            there = [own for own, joint in joints.items() if joint.kind in MOVABLE and not joint.mimicry]
            advice = suggest(name, there) if there else "it has none that could move"
            yield Problem(where, f"is no joint of the body's URDF; {advice}")
        elif joints[name].kind not in MOVABLE:
            kinds = ", ".join(MOVABLE)
            yield Problem(where, f"must be a joint of type {kinds}, got {joints[name].kind}")
        elif (rule := followed[name]) is not None:
            yield Problem(where, f"must be left out: it mimics {rule.leader!r} and moves with it")


def _unmovable(
    robot: Element, joints: Mapping[str, UrdfJoint], carriers: Mapping[str, str], sprung: Mapping[str, str]
) -> Iterator[Problem]:
    """Yield the links with a chain's spring that no joint of their own moves."""
    links = [str(link.get("name")) for link in robot.iterfind("link")]
    followed, expected = leaders(joints), f"must be a link on a joint of type {', '.join(MOVABLE)}"
    for where, link in sprung.items():
        if link not in links:
            yield Problem(where, f"is no link of the body's URDF; {suggest(link, links)}")
        elif link not in carriers:
            yield Problem(where, f"{expected}, got the root")
        elif (joint := joints[carriers[link]]).kind not in MOVABLE:
            yield Problem(where, f"{expected}, got one on a {joint.kind} joint")
        elif (rule := followed[joint.name]) is not None:
            message = f"{joint.name!r}, which moves that link, mimics {rule.leader!r} and moves with it"
            yield Problem(where, f"must be left out: {message}")


def _rules(joints: Mapping[str, UrdfJoint], named: Collection[str]) -> Iterator[Problem]:
    """Yield the mistakes of joints that mimic others."""
    followed = leaders(joints)
    for name, joint in joints.items():
        if (rule := joint.mimicry) is None:
            continue
        where = f"must let joint {name!r} mimic"
        if rule.leader not in joints:
            yield Problem("body.urdf", f"{where} a joint that there is, got {rule.leader!r}")
        elif followed[name] is None:
            yield Problem("body.urdf", f"{where} another joint, got itself through {rule.leader!r}")
        elif name in moving_names(joints, named):
            if joint.kind not in MOVABLE or joints[rule.leader].kind not in MOVABLE:
                yield Problem("body.urdf", f"{where} {rule.leader!r} as joints that can move")
            elif rule.multiplier == 0:
                yield Problem("body.urdf", f"{where} {rule.leader!r} by a multiplier other than 0, got 0")


def _joint_problems(joints: Mapping[str, UrdfJoint], name: str, where: str) -> Iterator[Problem]:
    """Yield the mistakes of one moving joint in the URDF, and of the joints that mimic it."""
    for moved in moving_names(joints, (name,)):
        joint = joints[moved]
        what = "its URDF" if moved == name else f"the URDF's joint {moved!r}, which follows it,"
        low, high = joint.limits
        if low >= high:
            advice = "a joint without limits is of type continuous"
            yield Problem(where, f"must have a lower below an upper limit in {what}; {advice}")
            return
        if not joint.axis.any():
            yield Problem(where, f"must have an axis of some length in {what}")
        for key, value in (("damping", joint.damping), ("friction", joint.friction)):
            if value < 0:
                yield Problem(where, f"must have a {key} of at least 0 in {what}, got {value:g}")
    low, high = shared_limits(joints, name)
    if low >= high:
        yield Problem(where, "must be able to move within the limits of the joints that follow it")


def _start(joints: Mapping[str, UrdfJoint], name: str, where: str) -> Iterator[Problem]:
    """Yield the mistake of a joint with a chain's spring that cannot start at 0."""
    low, high = shared_limits(joints, name)
    if low < high and not low <= 0 <= high:
        message = f"must move a joint that starts at 0 within its limits, got [{low:g}, {high:g}]"
        yield Problem(where, message)


def _settings_problems(joints: Mapping[str, UrdfJoint], name: str, spec: JointSpec) -> Iterator[Problem]:
    """Yield settings of a joint that contradict its URDF, or lack a number that the URDF does not give."""
    where = f"joints.{name}"
    low, high = shared_limits(joints, name)
    start = known(spec, "initial_position", None)
    if start is not None and low < high and not low <= start <= high:
        message = f"must be within the joint's limits [{low:g}, {high:g}], got {start:g}"
        yield Problem(f"{where}.initial_position", message)
    yield from _spring_and_stop_problems(joints[name], where, spec, (low, high))
    servo = known(spec, "servo", None)
    if servo is None:
        return
    for key, source, value in (
        ("max_force", "effort", joints[name].effort),
        ("max_speed", "velocity", joints[name].velocity),
    ):
        if known(servo, key, 1.0) is None and not value > 0:
            message = f"is missing: the URDF gives the joint no positive {source}"
            yield Problem(f"{where}.servo.{key}", message)


def _spring_and_stop_problems(
    joint: UrdfJoint, where: str, spec: JointSpec, limits: tuple[float, float]
) -> Iterator[Problem]:
    """Yield angles that look like degrees, and stops that are never reached or touched from the start."""
    spring, start = known(spec, "spring", None), known(spec, "initial_position", 0.0)
    free = 0.0 if spring is None else known(spring, "free_position", 0.0)
    if joint.kind != "prismatic" and abs(free) > math.tau:
        yield Problem(f"{where}.spring.free_position", f"must be in radians, {in_radians(free)}")
    stops = {side: known(spec, f"stops.{side}", None) for side in ("lower", "upper")}
    places = {side: known(stop, "position", None) for side, stop in stops.items() if stop is not None}
    given = {side: place for side, place in places.items() if place is not None}
    if given.get("lower", -math.inf) >= given.get("upper", math.inf):
        return  # A mistake by itself.
    for side, place in given.items():
        sign, limit = (-1, limits[0]) if side == "lower" else (1, limits[1])
        key = f"{where}.stops.{side}.position"
        if sign * (place - limit) >= 0:
            yield Problem(key, f"must be short of the joint's limit of {limit:g}, got {place:g}")
        elif sign * (start - place) > 0:
            yield Problem(key, f"must leave the start at {start:g} free, got {place:g}")


def _massless(robot: Element, tree: JointTree, places: Mapping[str, str]) -> Iterator[Problem]:
    """Yield the joints that move no mass."""
    carried = [MassProperties(0.0, np.zeros(3), np.zeros((3, 3))) for _ in tree.joints]
    for link in robot.iterfind("link"):
        place = tree.links[str(link.get("name"))]
        if place.joint >= 0:
            own = read_inertial(link).transformed(place.frame.rotation, place.frame.origin)
            carried[place.joint] = carried[place.joint] + own
    for j in reversed(range(len(tree.joints))):
        joint, mass = tree.joints[j], carried[j]
        about = np.trace(mass.second_moment) - joint.axis @ mass.second_moment @ joint.axis
        if mass.mass <= 0 or (joint.kind == "revolute" and about <= 0):
            lacking = "mass" if mass.mass <= 0 else "inertia about its axis"
            name = joint.name if joint.mimicry is None else joint.mimicry.leader
            message = f"must move a link with a mass, got {joint.child!r} without {lacking}"
            yield Problem(places[name], message)
        if joint.carrier >= 0:
            there = joint.displaced(0.0)
            carried[joint.carrier] = carried[joint.carrier] + mass.transformed(there.rotation, there.origin)


def _mounted_flippers(robot: Element, tree: JointTree, flippers: Mapping[str, str]) -> Iterator[Problem]:
    """Yield flippers that are mounted on a moving link."""
    for name, parent in flippers.items():
        place = tree.links.get(parent_link(robot, parent))
        if place is not None and place.joint >= 0:
            joint = tree.joints[place.joint].name
            message = f"must be a link that stands still on the root, got {parent!r}, which {joint!r} moves"
            yield Problem(f"flippers.{name}.mount.parent", message)


def _sprung_twice(
    carriers: Mapping[str, str], specs: Mapping[str, JointSpec], sprung: Mapping[str, str]
) -> Iterator[Problem]:
    for where, link in sprung.items():
        if (name := carriers[link]) in specs:
            yield Problem(where, f"must be left out: joints.{name} moves that link")
