"""Finding of a robot's tracks: links named so, axles in a row, links of a box and two cylinders.

All is in the root frame with all joints at 0, whose z is up. `axle` is a level unit vector along the tracks'
axles that points to the left; forward is `axle` x z.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.description import LinkShape
from segtrack.importing.findings import Findings
from segtrack.importing.outlines import PulleyOutline, outline_of, support
from segtrack.importing.robot import UrdfRobot
from segtrack.importing.wheels import FoundWheel, find_wheels, parallel

Array = NDArray[np.float64]
UP = np.array([0.0, 0.0, 1.0])
_TRACK = re.compile(r"(?<![a-z])(tracks?|belts?|crawlers?|caterpillars?|treads?)(?![a-z])")
_FLIPPER = re.compile(r"(?<![a-z])(flippers?|subtracks?)(?![a-z])")
_NO_TRACK = re.compile(
    r"(?<![a-z])(wheels?|sprockets?|idlers?|rollers?|camera|sensor|imu|motor|mount|marker|frame|controller|guards?"
    r"|fenders?|rods?|holder|virtual|tip|cover)(?![a-z])"
)
_ENOUGH = 3
"""Least number of axles on a side that are taken for a track without a hint."""
_STICKS_OUT = 0.1
"""Share of its length by which wheels stick out of a named link that is then no track but its frame [-]."""
_NEAR = 1e-3
_STRAIGHT = math.cos(math.radians(0.5))
"""Cosine of the angle from x or y below which axles lie along it [-]."""


@dataclass(frozen=True, eq=False)
class FoundTrack:
    """Track found on a robot, in the root frame.

    Attributes:
        links: Links whose shapes stand for it.
        carrier: Topmost link of the rigid body that carries it.
        side: Place of its middle plane along the axle, to the left [m].
        width: Extent along the axle [m].
        outline: Pulleys (x forward, z up, about the root's origin) of its outline.
        has_belt: True if the outline is that of what touches the ground, and not that of bare wheels.
        source: Shapes that it is from, in words.
        wheels: Wheels within the belt.
    """

    links: tuple[str, ...]
    carrier: str
    side: float
    width: float
    outline: PulleyOutline
    has_belt: bool
    source: str
    wheels: tuple[FoundWheel, ...] = ()

    @property
    def middle(self) -> Array:
        """Middle of its outline (x, z) [m]."""
        circles = np.array([[p.x, p.z, p.radius] for p in self.outline.pulleys])
        low, high = (
            (circles[:, :2] - circles[:, 2:]).min(axis=0),
            (circles[:, :2] + circles[:, 2:]).max(axis=0),
        )
        return np.asarray((low + high) / 2)

    @property
    def length(self) -> float:
        """Length of its outline along x [m]."""
        circles = np.array([[p.x, p.radius] for p in self.outline.pulleys])
        return float((circles[:, 0] + circles[:, 1]).max() - (circles[:, 0] - circles[:, 1]).min())


def words_of(name: str) -> str:
    """Name in lower case with its words apart, `FL_SubTrack2` as `fl_sub_track_2`."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Za-z])(?=[0-9])", "_", name)
    return re.sub(r"[^a-z0-9]+", "_", apart.lower())


def is_flipper_name(name: str) -> bool:
    """Return whether a name says flipper."""
    return bool(_FLIPPER.search(words_of(name)))


def is_called_track(name: str) -> bool:
    """Return whether a name says track or flipper, and no part of one."""
    words = words_of(name)
    return bool(_TRACK.search(words) or _FLIPPER.search(words)) and not _NO_TRACK.search(words)


def named_links(robot: UrdfRobot) -> tuple[str, ...]:
    """Links that plugins or their own names call tracks or flippers, and that have shapes."""
    hinted = [link for link in robot.hints.left + robot.hints.right if not _is_wheel(robot, link)]
    named = [link for link in robot.links if is_called_track(link)]
    both = [link for link in dict.fromkeys([*hinted, *named]) if robot.shapes(link)]
    # A flipper that carries a link called track, or one named within another, is that one's frame.
    inner = {link for link in both if any(other != link and other in robot.below(link) for other in both)}
    return tuple(link for link in both if link not in inner or _holds_flippers(robot, link, both))


def _holds_flippers(robot: UrdfRobot, link: str, named: Sequence[str]) -> bool:
    """Return whether all named links below one are flippers behind a moving joint of their own."""
    below = [other for other in named if other != link and other in robot.below(link)]
    return all(robot.rigid_root(other) != robot.rigid_root(link) for other in below) and not is_flipper_name(
        link
    )


def _is_wheel(robot: UrdfRobot, link: str) -> bool:
    return any(wheel.joint.child == link for wheel in find_wheels(robot))


def find_axle(robot: UrdfRobot) -> Array | None:
    """Direction of the tracks' axles, a level unit vector (3,); forward would be near +x or +y.

    Returns:
        None without wheels, named links or links of a box and two cylinders, or if their axles are not level.
    """
    ways: list[Array] = []
    for link in named_links(robot):
        ways += [way for way in [_narrow_way(robot, link)] if way is not None]
    ways += [shapes[0].frame.rotation[:, 2] for _, shapes in _boxed_groups(robot)]
    if not ways:
        ways = [wheel.joint.axis for wheel in find_wheels(robot)]
    if not ways:
        return None
    level = [way * [1.0, 1.0, 0.0] / np.hypot(*way[:2]) for way in ways if np.hypot(*way[:2]) > 0.9]
    if not level:
        return None
    votes = [sum(abs(float(one @ other)) > 0.99 for other in level) for one in level]
    best = level[int(np.argmax(votes))]
    for straight in np.eye(3)[:2]:  # Angles of CAD exports are rounded, 3.1416 for pi.
        if abs(float(best @ straight)) > _STRAIGHT:
            best = straight
    forward = np.cross(best, UP)
    backward = forward[0] < -1e-9 or (abs(forward[0]) <= 1e-9 and forward[1] < 0)
    return -best if backward else best


def _narrow_way(robot: UrdfRobot, link: str) -> Array | None:
    """Level direction across a track's link: along its own joint's axis, or in which it is narrowest."""
    points = robot.points(link)
    if not len(points):
        return None
    axes = [joint.axis for joint in robot.moving_joints(link) if joint.turns]
    for shape in robot.shapes(link):
        if shape.tag.tag == "cylinder":
            axes.append(shape.frame.rotation[:, 2])
    ways = [*axes, *robot.frames[link].rotation.T, *np.eye(3)[:2]]
    level = [way for way in ways if abs(way[2]) < 0.1]
    extents = [float(np.ptp(points @ way)) for way in level]
    narrowest = min(extents)
    # Of those about as narrow, the joint's axis comes first.
    return next(way for way, extent in zip(level, extents, strict=True) if extent < 1.02 * narrowest + _NEAR)


def find_tracks(
    robot: UrdfRobot, axle: Array, around_wheels: bool, findings: Findings
) -> tuple[FoundTrack, ...]:
    """Find the tracks of a robot with axles along a direction that points to the left.

    Args:
        robot: Robot to look at.
        axle: Level unit vector (3,) along the axles, to the left.
        around_wheels: True if two axles on a side are enough without a hint.
        findings: List to which remarks are added.
    """
    wheels = parallel(find_wheels(robot), axle)
    named = tuple(track for link in named_links(robot) for track in _of_named(robot, link, axle))
    boxed = tuple(_of_shapes(robot, link, shapes, axle) for link, shapes in _boxed_groups(robot))
    hinted = bool(set(robot.hints.left + robot.hints.right) & {wheel.joint.child for wheel in wheels})
    driven = tuple(_around_wheels(robot, wheels, axle, 2 if around_wheels or hinted else _ENOUGH))
    if named and all(_is_arm(robot, track) for track in named):
        carried = {link for track in named for link in robot.below(track.carrier)}
        main = tuple(track for track in driven or boxed if not carried & set(track.links))
        return (*(main if is_on_both_sides(main) else ()), *named)
    if named and _are_frames(named, driven):
        names = ", ".join(link for track in named for link in track.links)
        findings.add("remark", "tracks", "around the wheels", f"which stick out of {names}")
        return driven
    found = (named, driven, boxed)
    tracks = next(filter(is_on_both_sides, found), named or driven or boxed)
    if tracks and tracks is driven and not hinted and not around_wheels:
        count = min(len(track.wheels) for track in driven)
        why = f"{count} axles in a row; no name or plugin says it"
        findings.add("guessed", "tracks", "belts around the wheels", why)
    return tracks


def is_on_both_sides(tracks: Sequence[FoundTrack]) -> bool:
    """Return whether tracks lie on two sides."""
    sides = [track.side for track in tracks]
    return bool(sides) and max(sides) - min(sides) > _NEAR


def _is_arm(robot: UrdfRobot, track: FoundTrack) -> bool:
    """Return whether a track is a flipper by its name and a joint that moves it."""
    return bool(robot.moving_joints(track.carrier)) and any(map(is_flipper_name, track.links))


def count_axles(robot: UrdfRobot, axle: Array) -> tuple[int, int]:
    """Numbers of wheels on the left and on the right."""
    sides = [float(wheel.center @ axle) for wheel in parallel(find_wheels(robot), axle)]
    middle = (min(sides) + max(sides)) / 2 if sides else 0.0
    return sum(side > middle for side in sides), sum(side < middle for side in sides)


def _are_frames(named: Sequence[FoundTrack], driven: Iterable[FoundTrack]) -> bool:
    """Return whether belts around wheels stick out of the named links at their places."""
    for belt in driven:
        beside = [track for track in named if abs(belt.side - track.side) < (belt.width + track.width) / 2]
        if not beside:
            continue
        own = np.max([support(_circles(track)) for track in beside], axis=0)
        if float((support(_circles(belt)) - own).max()) > _STICKS_OUT * belt.length:
            return True
    return False


def _circles(track: FoundTrack) -> Array:
    return np.array([[p.x, p.z, p.radius] for p in track.outline.pulleys])


def _of_named(robot: UrdfRobot, link: str, axle: Array) -> Iterator[FoundTrack]:
    """Yield the track that a link called so is, or those of its boxes with cylinders."""
    groups = [shapes for own, shapes in _boxed_groups(robot) if own == link]
    for shapes in groups if len(groups) > 1 else [robot.shapes(link)]:
        yield _of_shapes(robot, link, shapes, axle)


def _of_shapes(robot: UrdfRobot, link: str, shapes: Sequence[LinkShape], axle: Array) -> FoundTrack:
    """Track that shapes of a link are."""
    circles = np.concatenate([_shape_circles(shape, axle) for shape in shapes])
    along = np.concatenate([_shape_extent(shape, axle) for shape in shapes])
    names = [str(s.tag.get("filename", "")).rpartition("/")[2] for s in shapes if s.tag.tag == "mesh"]
    kinds = names or [
        f"{sum(s.tag.tag == kind for s in shapes)} {kind}"
        for kind in dict.fromkeys(s.tag.tag for s in shapes)
    ]
    return FoundTrack(
        links=(link,),
        carrier=robot.rigid_root(link),
        side=float(along.min() + along.max()) / 2,
        width=float(np.ptp(along)),
        outline=outline_of(circles),
        has_belt=True,
        source=f"{', '.join(dict.fromkeys(kinds))} of link {link}",
    )


def _shape_circles(shape: LinkShape, axle: Array) -> Array:
    """Circles and points, rows x, z, radius (n, 3), whose hull is a shape's outline across an axle [m]."""
    forward = np.cross(axle, UP)
    lies_along = abs(float(shape.frame.rotation[:, 2] @ axle)) > 0.9999
    if shape.tag.tag in ("sphere", "cylinder", "capsule") and (lies_along or shape.tag.tag == "sphere"):
        middle, radius = shape.frame.origin, float(shape.tag.get("radius", "0"))
        return np.array([[middle @ forward, middle[2], radius]])
    points = shape.frame.points(shape.corners())
    return np.column_stack([points @ forward, points[:, 2], np.zeros(len(points))])


def _shape_extent(shape: LinkShape, axle: Array) -> Array:
    """Smallest and largest place of a shape along an axle (2,) [m]."""
    places = shape.frame.points(shape.corners()) @ axle
    return np.array([places.min(), places.max()])


def _boxed_groups(robot: UrdfRobot) -> list[tuple[str, tuple[LinkShape, ...]]]:
    """Groups, more than one, of a box and two cylinders or more with level axes, side by side on a link."""
    found = []
    for link in robot.links:
        shapes, groups = robot.shapes(link), dict[tuple[int, ...], list[LinkShape]]()
        for box in [shape for shape in shapes if shape.tag.tag == "box"]:
            ends = [shape for shape in shapes if _is_end_of(shape, box)]
            axes = [shape.frame.rotation[:, 2] for shape in ends]
            if len(axes) > 1 and all(abs(float(axes[0] @ axis)) > 0.999 for axis in axes):
                groups.setdefault(tuple(map(id, ends)), list(ends)).append(box)
        found += [(link, tuple(group)) for group in groups.values()]
    return found if len(found) > 1 else []


def _is_end_of(shape: LinkShape, box: LinkShape) -> bool:
    """Return whether a shape is a cylinder with a level axis in the middle plane of a box."""
    axis = shape.frame.rotation[:, 2]
    aside = abs(float((shape.frame.origin - box.frame.origin) @ axis))
    return (
        shape.tag.tag == "cylinder"
        and abs(axis[2]) < 0.1
        and aside < 0.2 * float(shape.tag.get("length", "0"))
    )


def _around_wheels(
    robot: UrdfRobot, wheels: Sequence[FoundWheel], axle: Array, least: int
) -> Iterator[FoundTrack]:
    """Yield belts around the wheels of each side, on each body that carries enough of them."""
    if not wheels:
        return
    sides = [float(wheel.center @ axle) for wheel in wheels]
    middle = (min(sides) + max(sides)) / 2
    forward = np.cross(axle, UP)
    for is_side in (lambda side: side > middle, lambda side: side < middle):
        own = [wheel for wheel, side in zip(wheels, sides, strict=True) if is_side(side)]
        for carrier, group in _by_carrier(robot, own, least).items():
            circles = np.array([[w.center @ forward, w.center[2], w.radius] for w in group])
            if len({(round(x, 3), round(z, 3)) for x, z, _ in circles.tolist()}) < least:
                continue
            outline = outline_of(circles)
            ends = [w for w, row in zip(group, circles, strict=True) if _is_pulley(row, outline)] or group
            # The median: one wheel's mesh may have a shaft.
            low = float(np.median([w.center @ axle - w.length / 2 for w in ends]))
            high = float(np.median([w.center @ axle + w.length / 2 for w in ends]))
            yield FoundTrack(
                links=tuple(w.joint.child for w in group),
                carrier=carrier,
                side=(low + high) / 2,
                width=high - low,
                outline=outline,
                has_belt=False,
                source=f"{len(group)} wheels, around {', '.join(w.joint.child for w in ends)}",
                wheels=tuple(group),
            )


def _is_pulley(row: Array, outline: PulleyOutline) -> bool:
    return any(np.hypot(row[0] - p.x, row[1] - p.z) < _NEAR for p in outline.pulleys)


def _by_carrier(robot: UrdfRobot, wheels: Sequence[FoundWheel], least: int) -> Mapping[str, list[FoundWheel]]:
    """Wheels of a side by the body that carries their belt: their own, or what all of them hang on.

    Wheels on arms or bogies are too few on each, so that their belt is on what carries these.
    """
    groups: dict[str, list[FoundWheel]] = {}
    for wheel in wheels:
        groups.setdefault(robot.rigid_root(wheel.joint.parent), []).append(wheel)
    while True:
        few = [link for link, own in groups.items() if len(own) < least and link in robot.joint_of]
        alone = [link for link in groups if link in robot.joint_of]
        if len(groups) > 1 and not few and len(alone) < len(groups):
            few = [link for link in alone if not is_flipper_name(link) and len(groups[link]) < _ENOUGH]
        if not few:
            return groups
        deepest = max(few, key=lambda link: len(robot.moving_joints(link)))
        own = groups.pop(deepest)
        groups.setdefault(robot.rigid_root(robot.joint_of[deepest].parent), []).extend(own)
