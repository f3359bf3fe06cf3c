"""Proposed mapping files, from the message types of topics or the names of columns."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping

import numpy as np

from segtrack.logs.log import Log
from segtrack.logs.mapping.belt_speed import BELT_SPEED
from segtrack.logs.mapping.mapping_file import STEADY
from segtrack.logs.mapping.propose_by_header import (
    RADIUS,
    Keys,
    ProposedQuantity,
    find_words,
    propose_by_header,
    shows_gravity,
    unit_keys,
)
from segtrack.logs.reading import is_time
from segtrack.robot import QUANTITIES

_MOST_TURNS = 5000
"""Largest number of turns in a table."""
_FEWEST = 4
"""Rows for each number of a column that somebody set, on average."""
_UNNAMED = re.compile(r"column \d+")


def is_steady(log: Log, paths: Collection[str]) -> bool:
    """Return whether the rows of a log are taken for steady turns: belts, no time, nothing else that moves.

    Args:
        log: Log.
        paths: Paths of the quantities that are proposed for it.
    """
    if not {"belt_speed", "belt_speed_command"} & set(paths) or not set(paths) <= set(STEADY):
        return False
    return not log.types and 1 < _count(log) <= _MOST_TURNS and not any(map(is_time, log.channels))


def propose_set_columns(log: Log) -> Iterator[ProposedQuantity]:
    """Yield belt speeds for the two columns without names that hold few numbers, each in many rows."""
    if log.types or not all(map(_UNNAMED.fullmatch, log.channels)):
        return
    words = [word for word in find_words(log) if _is_set(log.channels[word.name].values)]
    if len(words) == 2:
        said, todo = unit_keys(words, BELT_SPEED)
        names = words[0].name, words[1].name
        todo |= {"radius": f"{RADIUS}, unless the unit is of a speed or a length"}
        yield ProposedQuantity("belt_speed", {"left": names[0], "right": names[1], **said}, todo, names)


def _is_set(values: np.ndarray) -> bool:
    """Return whether the numbers of a column (n,) are those that somebody set: few, each in many rows."""
    return 1 < len(np.unique(values)) <= len(values) / _FEWEST


def _count(log: Log) -> int:
    return max(map(len, log.channels.values()), default=0)


_LEFT, _RIGHT = re.compile(r"left|(?:^|_)l(?:_|$)", re.I), re.compile(r"right|(?:^|_)r(?:_|$)", re.I)
_BODY = re.compile(r"base|body|robot|footprint|chassis", re.I)
_TURNS = re.compile(r"track|belt|wheel|sprocket|drive|motor", re.I)
_FLIPPER = re.compile(r"flipper|arm|^(?:front|rear)_(?:left|right)$", re.I)
_PLACES = {
    "nav_msgs/msg/Odometry": (".pose.pose.position", ".pose.pose.orientation"),
    "geometry_msgs/msg/PoseStamped": (".pose.position", ".pose.orientation"),
    "geometry_msgs/msg/PoseWithCovarianceStamped": (".pose.pose.position", ".pose.pose.orientation"),
    "geometry_msgs/msg/TransformStamped": (".transform.translation", ".transform.rotation"),
}
_TRANSFORMS = ("tf2_msgs/msg/TFMessage", "tf/msg/tfMessage")
_VALUES = (".data", ".vector", ".point", ".quaternion")
"""Fields of the messages that hold one signal."""
_TWISTS = {"geometry_msgs/msg/Twist": "", "geometry_msgs/msg/TwistStamped": ".twist"}


def propose_by_type(log: Log) -> Iterator[ProposedQuantity]:
    """Yield proposals from topics of known types; the first one for a quantity is the best."""
    by_type: dict[str, list[str]] = {}
    for topic, kind in log.types.items():
        by_type.setdefault(kind.replace("/msg/", "/").replace("/", "/msg/"), []).append(topic)
    yield from _own(log)
    yield from _poses(log, by_type)
    for topic in by_type.get("sensor_msgs/msg/Imu", []):
        yield from _several(log, "angular_velocity", f"{topic}.angular_velocity")
        yield from _several(log, "orientation", f"{topic}.orientation")
        force = log.channels.get(f"{topic}.linear_acceleration")
        if force is not None and shows_gravity(force.values):  # Zeros stand for none.
            yield from _several(log, "specific_force", f"{topic}.linear_acceleration")
    for topic in by_type.get("nav_msgs/msg/Odometry", []):
        yield from _several(log, "velocity", f"{topic}.twist.twist.linear")
        yield from _several(log, "angular_velocity", f"{topic}.twist.twist.angular")
    for topic in by_type.get("sensor_msgs/msg/NavSatFix", []):
        names = {"latitude": "latitude", "longitude": "longitude", "height": "altitude"}
        keys: Keys = {key: f"{topic}.{name}" for key, name in names.items()}
        if f"{topic}.latitude" in log.channels:
            yield ProposedQuantity("position", keys, {}, tuple(map(str, keys.values())))
    for topic in by_type.get("sensor_msgs/msg/JointState", []):
        yield from _joints(log, topic)
    for kind, part in _TWISTS.items():
        for topic in by_type.get(kind, []):
            linear, angular = f"{topic}{part}.linear", f"{topic}{part}.angular"
            if linear in log.channels and angular in log.channels:
                keys = {"linear": f"{linear}.x", "angular": f"{angular}.z"}
                todo = {"gauge": "distance of the tracks' middles [m]"}
                yield ProposedQuantity("belt_speed_command", keys, todo, (linear, angular))


def _own(log: Log) -> Iterator[ProposedQuantity]:
    """Topics of a bag that segtrack writes, which has belts: a signal each, named by its quantity."""
    efforts = {side: f"/belts.effort[{side} belts]" for side in ("left", "right")}
    if not any(f".velocity[{side} belts]" in name for side in efforts for name in log.channels):
        return
    sides: dict[str, Keys] = {}
    if all(name in log.channels for name in efforts.values()):
        sides["belt_force"] = dict(efforts)
    for topic in log.types:
        quantity, _, which = topic.strip("/").partition("/")
        name = next((f"{topic}{part}" for part in _VALUES if f"{topic}{part}" in log.channels), None)
        if quantity not in QUANTITIES or name is None:
            continue
        unit: Keys = {} if quantity == "orientation" else {"unit": QUANTITIES[quantity].unit}
        if QUANTITIES[quantity].each == "side":
            sides.setdefault(quantity, {})[which] = name
        elif QUANTITIES[quantity].width > 1:
            yield ProposedQuantity(quantity, {"channels": name, **unit}, {}, (name,))
        elif QUANTITIES[quantity].each is None:
            sign: Keys = {"positive": "nose up"} if quantity == "pitch" else {}
            yield ProposedQuantity(quantity, {"channel": name, **unit, **sign}, {}, (name,))
    for quantity, keys in sides.items():
        names = tuple(map(str, keys.values()))
        more = {"positive": "belt faster"} if quantity == "slip_velocity" else {}
        yield ProposedQuantity(quantity, {**keys, "unit": QUANTITIES[quantity].unit, **more}, {}, names)


def _poses(log: Log, by_type: Mapping[str, list[str]]) -> Iterator[ProposedQuantity]:
    for kind, names in _PLACES.items():
        for topic in by_type.get(kind, []):
            for quantity, name in zip(("position", "orientation"), names, strict=True):
                yield from _several(log, quantity, topic + name)
    topics = [topic for kind in _TRANSFORMS for topic in by_type.get(kind, [])]
    frames = [source for source in log.sources if any(source.startswith(f"{topic}[") for topic in topics)]
    for source in sorted(frames, key=lambda name: not _BODY.search(name.rpartition("->")[2])):
        yield from _several(log, "position", f"{source}.translation")
        yield from _several(log, "orientation", f"{source}.rotation")


def _several(log: Log, quantity: str, name: str) -> Iterator[ProposedQuantity]:
    if name in log.channels:
        yield ProposedQuantity(quantity, {"channels": name}, {}, (name,))


def _joints(log: Log, topic: str) -> Iterator[ProposedQuantity]:
    """Belts and flippers of joint states, by their names; those of segtrack's recordings are known."""
    speeds, places = (
        {name[len(start) : -1]: name for name in log.channels if name.startswith(start := f"{topic}.{kind}[")}
        for kind in ("velocity", "position")
    )
    if "left belts" in speeds and "right belts" in speeds:
        left, right = speeds["left belts"], speeds["right belts"]
        path = "belt_speed_command" if "command" in topic else "belt_speed"
        yield ProposedQuantity(path, {"left": left, "right": right, "unit": "m/s"}, {}, (left, right))
        return
    own = "left" in places and "right" in places
    joints = places if own else speeds or places
    pair = [next((name for name in joints if _is_belt(name, side)), None) for side in (_LEFT, _RIGHT)]
    if pair[0] is not None and pair[1] is not None:
        left, right = joints[pair[0]], joints[pair[1]]
        unit = "m" if own else "rad/s" if joints is speeds else "rad"
        todo = {} if own else {"radius": RADIUS}
        sides: Keys = {"left": left, "right": right, "unit": unit}
        yield ProposedQuantity("belt_speed", sides, todo, (left, right))
    for joint, name in places.items():
        if _FLIPPER.search(joint) and not joint.endswith("_belt") and joint not in pair:
            flipper = re.sub(r"\W", "_", joint.removesuffix("_joint"))
            path = "flipper_angle_command" if "command" in topic else "flipper_angle"
            yield ProposedQuantity(f"{path}.{flipper}", {"channel": name, "unit": "rad"}, {}, (name,))


def _is_belt(joint: str, side: re.Pattern[str]) -> bool:
    is_named = joint in ("left", "right") or (_TURNS.search(joint) and not _FLIPPER.search(joint))
    return bool(is_named) and side.search(joint) is not None


_PLAIN = re.compile(r"[A-Za-z_/][\w./ ()>-]*")
_MOST = 30
_HEAD = """\
# Proposed for {name}. Fill in what is marked TODO; check the rest, above all signs and
# frames (REP 103: x forward, y left, z up), and of what speeds are. Every key: segtrack log map --schema
# vehicle: quince           # a bundled vehicle, or a vehicle file
"""
_TIMED = """\
# terrain: step.yaml        # a bundled course, or a file with a terrain
# event: first touch        # at which log and simulation are put on each other, or a time [s]
# start: 0.0                # the piece that is used [s]
# end: 10.0
"""
_STEADY = """\
rows: steady                # no column is a time: each row is taken for a steady turn of its own
"""


def propose(log: Log) -> str:
    """Return the text of a mapping file for a log, from its message types or its headers.

    Unknown values are keys marked TODO; the file is refused until they are filled in.
    """
    entries: dict[str, ProposedQuantity] = {}
    for entry in (*propose_by_type(log), *(() if log.types else propose_by_header(log))):
        entries.setdefault(entry.path, entry)
    if not entries:
        entries = {entry.path: entry for entry in propose_set_columns(log)}
    if "orientation" in entries:  # It has the angles already.
        entries = {path: entry for path, entry in entries.items() if path not in ("roll", "pitch", "yaw")}
    rows = _STEADY if is_steady(log, entries) else _TIMED
    lines = [_HEAD.format(name=log.path.name) + rows, *_clocks(log, entries.values()), "quantities:"]
    order = list(QUANTITIES)
    flippers = ""
    for entry in sorted(entries.values(), key=lambda entry: order.index(entry.path.partition(".")[0])):
        name, _, flipper = entry.path.partition(".")
        indent = "  "
        if flipper and flippers != name:
            flippers = name
            lines.append(f"  {name}:  # by the flippers' names in the vehicle file")
        if flipper:
            name, indent = flipper, "    "
        lines.append(f"{indent}{name}:")
        lines += [f"{indent}  {key}: {_format_value(value)}" for key, value in entry.keys.items()]
        lines += [f"{indent}  {key}:  # TODO: {what}" for key, what in entry.todo.items()]
    if not entries:
        lines.append(
            "  # TODO: nothing in this log is known by its name or type; see docs/topics/logs-mapping.md"
            " for examples"
        )
    used = {name for entry in entries.values() for name in entry.channels}
    rest = [name for name in log.channels if name not in used and not is_time(name)]
    if rest:
        more = f", and {len(rest) - _MOST} more" if len(rest) > _MOST else ""
        lines.append(f"# not used: {', '.join(rest[:_MOST])}{more}")
        if rows == _STEADY:
            lines.append("# of these, slip_velocity, yaw_rate and current can be mapped")
    return "\n".join(lines) + "\n"


def _clocks(log: Log, entries: Iterable[ProposedQuantity]) -> list[str]:
    """Lines with the clock of each source that has stamps."""
    used = [log.channels[name].source for entry in entries for name in entry.channels if name in log.channels]
    has_stamps = {source: any(c.stamps is not None for c in log.sources[source]) for source in used}
    stamped = [source for source, stamps in has_stamps.items() if stamps]
    clocks = [f"  {_format_value(source)}: {{clock: header}}  # or receive" for source in stamped]
    return ["sources:", *clocks] if clocks else []


def _format_value(value: str | list[str]) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_format_value, value))}]"
    return value if _PLAIN.fullmatch(value) and not value.endswith(" ") else json.dumps(value)
