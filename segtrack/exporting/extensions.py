"""Elements of a body's URDF for other programs: plugins, properties and transmissions.

Plugins of the body's own file would move its tracks and joints beside those that an export writes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from xml.etree.ElementTree import Element

_CONTROLS = {"transmission": "transmissions", "ros2_control": "ros2_control"}
"""Elements that drive joints, and what several of them are called."""


def drop_extensions(robot: Element, moving: Collection[str]) -> dict[str, int]:
    """Drop what would drive a body's links and joints otherwise than an export says.

    These are plugins in `<gazebo>`, but for those within a sensor; properties in `<gazebo>` of links and
    joints that there are not; and transmissions and `<ros2_control>` of joints that do not move.

    Args:
        robot: URDF of the body, without what an export adds.
        moving: Names of joints that move.

    Returns:
        Numbers of what was dropped, by what it is.
    """
    counts: Counter[str] = Counter()
    names = {str(each.get("name")) for tag in ("link", "joint") for each in robot.iterfind(tag)}
    for element in robot.findall("gazebo"):
        reference = element.get("reference")
        plugins = element.findall("plugin")
        counts["plugins"] += len(plugins)
        for plugin in plugins:
            element.remove(plugin)
        is_gone = reference is not None and reference not in names
        if is_gone and len(element):
            counts["properties of links or joints that are gone"] += 1
        if is_gone or not len(element):
            robot.remove(element)
    for tag, several in _CONTROLS.items():
        for element in robot.findall(tag):
            if any(joint.get("name") not in moving for joint in element.iterfind("joint")):
                counts[several] += 1
                robot.remove(element)
    return {what: count for what, count in counts.items() if count}


def count_extensions(robot: Element) -> dict[str, int]:
    """Numbers of all elements of a body's URDF for other programs, by what they are."""
    elements = robot.findall("gazebo")
    plugins = sum(len(element.findall("plugin")) for element in elements)
    others = sum(any(child.tag != "plugin" for child in element) for element in elements)
    counts = {"plugins": plugins, "properties in <gazebo>": others}
    counts |= {several: len(robot.findall(tag)) for tag, several in _CONTROLS.items()}
    return {what: count for what, count in counts.items() if count}
