"""Topics by their message types."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from segtrack.logs.log import Log
from segtrack.logs.mapping.propose.entry import RADIUS, Entry
from segtrack.logs.motion import QUANTITIES

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
"""Of the messages that hold one signal."""
_TWISTS = {"geometry_msgs/msg/Twist": "", "geometry_msgs/msg/TwistStamped": ".twist"}


def propose_by_type(log: Log) -> Iterator[Entry]:
    """What topics of known types say; of a quantity that several have the first is the best."""
    by_type: dict[str, list[str]] = {}
    for topic, kind in log.types.items():
        by_type.setdefault(kind.replace("/msg/", "/").replace("/", "/msg/"), []).append(topic)
    yield from _own(log)
    yield from _poses(log, by_type)
    for topic in by_type.get("sensor_msgs/msg/Imu", []):
        yield from _several(log, "angular_velocity", f"{topic}.angular_velocity")
        yield from _several(log, "orientation", f"{topic}.orientation")
    for topic in by_type.get("nav_msgs/msg/Odometry", []):
        yield from _several(log, "velocity", f"{topic}.twist.twist.linear")
        yield from _several(log, "angular_velocity", f"{topic}.twist.twist.angular")
    for topic in by_type.get("sensor_msgs/msg/NavSatFix", []):
        names = {"latitude": "latitude", "longitude": "longitude", "height": "altitude"}
        keys: dict[str, str | list[str]] = {key: f"{topic}.{name}" for key, name in names.items()}
        if f"{topic}.latitude" in log.channels:
            yield Entry("position", keys, {}, tuple(map(str, keys.values())))
    for topic in by_type.get("sensor_msgs/msg/JointState", []):
        yield from _joints(log, topic)
    for kind, part in _TWISTS.items():
        for topic in by_type.get(kind, []):
            linear, angular = f"{topic}{part}.linear", f"{topic}{part}.angular"
            if linear in log.channels and angular in log.channels:
                keys = {"linear": f"{linear}.x", "angular": f"{angular}.z"}
                todo = {"gauge": "distance of the tracks' middles [m]"}
                yield Entry("belt_speed_command", keys, todo, (linear, angular))


def _own(log: Log) -> Iterator[Entry]:
    """Topics of a bag that segtrack writes, which has belts: a signal each, named by its quantity."""
    efforts = {side: f"/belts.effort[{side} belts]" for side in ("left", "right")}
    if not any(f".velocity[{side} belts]" in name for side in efforts for name in log.channels):
        return
    sides: dict[str, dict[str, str | list[str]]] = {}
    if all(name in log.channels for name in efforts.values()):
        sides["belt_force"] = dict(efforts)
    for topic in log.types:
        quantity, _, which = topic.strip("/").partition("/")
        name = next((f"{topic}{part}" for part in _VALUES if f"{topic}{part}" in log.channels), None)
        if quantity not in QUANTITIES or name is None:
            continue
        unit: dict[str, str | list[str]] = (
            {} if quantity == "orientation" else {"unit": QUANTITIES[quantity].unit}
        )
        if QUANTITIES[quantity].each == "side":
            sides.setdefault(quantity, {})[which] = name
        elif QUANTITIES[quantity].width > 1:
            yield Entry(quantity, {"channels": name, **unit}, {}, (name,))
        elif QUANTITIES[quantity].each is None:
            sign: dict[str, str | list[str]] = {"positive": "nose up"} if quantity == "pitch" else {}
            yield Entry(quantity, {"channel": name, **unit, **sign}, {}, (name,))
    for quantity, keys in sides.items():
        names = tuple(map(str, keys.values()))
        more = {"positive": "belt faster"} if quantity == "slip_velocity" else {}
        yield Entry(quantity, {**keys, "unit": QUANTITIES[quantity].unit, **more}, {}, names)


def _poses(log: Log, by_type: Mapping[str, list[str]]) -> Iterator[Entry]:
    for kind, names in _PLACES.items():
        for topic in by_type.get(kind, []):
            for quantity, name in zip(("position", "orientation"), names, strict=True):
                yield from _several(log, quantity, topic + name)
    topics = [topic for kind in _TRANSFORMS for topic in by_type.get(kind, [])]
    frames = [source for source in log.sources if any(source.startswith(f"{topic}[") for topic in topics)]
    for source in sorted(frames, key=lambda name: not _BODY.search(name.rpartition("->")[2])):
        yield from _several(log, "position", f"{source}.translation")
        yield from _several(log, "orientation", f"{source}.rotation")


def _several(log: Log, quantity: str, name: str) -> Iterator[Entry]:
    if name in log.channels:
        yield Entry(quantity, {"channels": name}, {}, (name,))


def _joints(log: Log, topic: str) -> Iterator[Entry]:
    """Belts and flippers of joint states, by their names; those of segtrack's recordings are known."""
    speeds, places = (
        {name[len(start) : -1]: name for name in log.channels if name.startswith(start := f"{topic}.{kind}[")}
        for kind in ("velocity", "position")
    )
    if "left belts" in speeds and "right belts" in speeds:
        left, right = speeds["left belts"], speeds["right belts"]
        path = "belt_speed_command" if "command" in topic else "belt_speed"
        yield Entry(path, {"left": left, "right": right, "unit": "m/s"}, {}, (left, right))
        return
    own = "left" in places and "right" in places
    joints = places if own else speeds or places
    pair = [next((name for name in joints if _is_belt(name, side)), None) for side in (_LEFT, _RIGHT)]
    if pair[0] is not None and pair[1] is not None:
        left, right = joints[pair[0]], joints[pair[1]]
        unit = "m" if own else "rad/s" if joints is speeds else "rad"
        todo = {} if own else {"radius": RADIUS}
        yield Entry("belt_speed", {"left": left, "right": right, "unit": unit}, todo, (left, right))
    for joint, name in places.items():
        if _FLIPPER.search(joint) and not joint.endswith("_belt") and joint not in pair:
            flipper = re.sub(r"\W", "_", joint.removesuffix("_joint"))
            path = "flipper_angle_command" if "command" in topic else "flipper_angle"
            yield Entry(f"{path}.{flipper}", {"channel": name, "unit": "rad"}, {}, (name,))


def _is_belt(joint: str, side: re.Pattern[str]) -> bool:
    if joint in ("left", "right"):
        return side.search(joint) is not None
    return _TURNS.search(joint) is not None and side.search(joint) is not None and not _FLIPPER.search(joint)
