"""Hints on a robot's tracks: those of plugins, and those that readers of other formats add to the tree."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement

from segtrack.importing.finding import is_called_track
from segtrack.importing.findings import Findings
from segtrack.importing.robot import Hints

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


def read_hints(tree: Element, findings: Findings) -> Hints:
    """Read what plugins say of a robot's tracks, and readers of other formats in elements `hints`."""
    joints = {str(joint.get("name")): joint for joint in tree.iterfind("joint")}
    named: dict[str, list[str]] = {"left": [], "right": []}
    numbers: dict[str, float] = {}
    for plugin in (*tree.iter("plugin"), *tree.iter("hints")):
        if _steers(plugin):
            continue
        source = (
            plugin.get("source") or f"plugin {plugin.get('name') or plugin.get('filename') or ''}".strip()
        )
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


def names_sides(plugin: Element) -> bool:
    """True if a plugin says which links are tracks of a side."""
    return not _steers(plugin) and any(str(element.tag).lower() in _SIDES for element in plugin.iter())


def _steers(plugin: Element) -> bool:
    """True if a plugin steers wheels, as an Ackermann one, whose wheels are no track."""
    return any("steering_joint" in str(element.tag) for element in plugin.iter())


def says_something(plugin: Element) -> bool:
    """True if a plugin says anything of tracks."""
    return names_sides(plugin) or any(str(element.tag).lower() in _NUMBERS for element in plugin.iter())


def add_sides(tree: Element, source: str, named: Mapping[str, float], findings: Findings) -> None:
    """Add hints on which links are left and right tracks, by their places aside.

    Args:
        tree: Tree of the robot.
        source: Source that says so, in words.
        named: Place of each link along y, to the left [m].
        findings: List to which a remark on those in the middle is added.
    """
    middle = (min(named.values()) + max(named.values())) / 2 if named else 0.0
    hints = SubElement(tree, "hints", source=source)
    for link, side in named.items():
        if math.isclose(side, middle, abs_tol=0.01):
            what = f"{source} calls it a track, and it is on no side"
            findings.add("remark", f"link {link}", "no hint on a track", what)
        else:
            SubElement(hints, "left_track" if side > middle else "right_track").text = link


def add_friction(
    tree: Element, source: str, frictions: Mapping[str, Sequence[float]], findings: Findings
) -> None:
    """Add a hint on the friction of tracks: that of links that turn round or are called tracks, if it is one.

    Args:
        tree: Tree of the robot, with its hints on sides.
        source: Source of the numbers, in words.
        frictions: Friction coefficients of the shapes of links that say some, by name.
        findings: List to which a remark is added where they are several.
    """
    turning = {
        str(child.get("link"))
        for joint in tree.iterfind("joint[@type='continuous']")
        for child in joint.iterfind("child")
    }
    called = {
        (each.text or "").strip() for place in ("gazebo", "hints") for each in tree.iterfind(f"{place}//*")
    }
    named = {link for link in frictions if is_called_track(link)}
    values = sorted(
        {value for link in frictions if link in turning | called | named for value in frictions[link]}
    )
    if len(values) == 1:
        SubElement(SubElement(tree, "hints", source=source), "track_mu").text = repr(values[0])
    elif values:
        told = f"{values[0]:g} to {values[-1]:g}"
        findings.add("remark", f"{source} of tracks and wheels", f"{told}, left aside", "not one number")


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
