"""Proposed mapping files, from the message types of topics or the names and units of columns."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import SegtrackError
from segtrack.logs.log import Channel, Log
from segtrack.logs.mapping.mapping_file import STEADY
from segtrack.logs.mapping.pose_columns import find_pose_columns
from segtrack.logs.mapping.quantities import (
    ACCELERATION,
    ANGLE,
    BELT_SPEED,
    COUNTING,
    COUNTS,
    CURRENT,
    LENGTH,
    SPEED,
    TURNING,
    Units,
    standard_unit,
)
from segtrack.logs.reading import is_time
from segtrack.robot import QUANTITIES, quantity_of

RADIUS = "of the sprocket, from its axis to where the belt's pitch is true [m]"
PITCH = "nose up, or nose down (as REP 103 counts)"
SLIP = "belt faster, or ground faster"
Keys = dict[str, str | list[str]]
"""Lines of a quantity: names of channels, lists of them, or words, by key."""


@dataclass(frozen=True)
class ProposedQuantity:
    """Quantity of a proposed mapping file, with its keys in the order of their lines.

    Attributes:
        path: Path of the quantity, with the name of a flipper.
        keys: Lines of the file.
        todo: Remarks on keys that the user must fill in, by key.
        channels: Names of the log's channels that it uses.
    """

    path: str
    keys: Keys
    todo: dict[str, str]
    channels: tuple[str, ...]


_ENDINGS = {"m_s": "m/s", "rad_s": "rad/s", "deg_s": "deg/s", "m": "m", "mm": "mm", "cm": "cm", "a": "A"}
"""Units at the ends of names that a reader cannot be sure of; a proposal says them, for the user to see."""
_LISTED = 9
COMMANDED = re.compile(r"(?:^|_)(?:cmd|command|commanded|desired|des|target|setpoint|ref|set)(?:_|$)")
SIDES = (re.compile(r"(?:^|_)(?:left|l)(?:_|$)"), re.compile(r"(?:^|_)(?:right|r)(?:_|$)"))


@dataclass(frozen=True)
class Word:
    """A column of one number at a time.

    Attributes:
        name: Name in the log.
        bare: Name in small letters, without its unit, with underscores between words.
        unit: Unit in the log, or else at the end of the name; empty if neither.
        is_said: True if the log gives the unit.
    """

    name: str
    bare: str
    unit: str
    is_said: bool

    @property
    def is_command(self) -> bool:
        """True if it is commanded, not measured."""
        return COMMANDED.search(self.bare) is not None


def find_words(log: Log) -> tuple[Word, ...]:
    """Return all columns of one number at a time, in the order of the log."""
    return tuple(_word(channel) for channel in log.channels.values() if channel.values.ndim == 1)


def unit_keys(words: Sequence[Word], units: Units) -> tuple[Keys, dict[str, str]]:
    """Return the line for the unit of some columns, and a remark to fill it in: one or neither."""
    known = {word.unit for word in words}
    if len(known) != 1 or not known <= set(units):
        return {}, {"unit": f"{', '.join(list(units)[:_LISTED])}{', ...' * (len(units) > _LISTED)}"}
    return ({} if all(word.is_said for word in words) else {"unit": known.pop()}), {}


def _word(channel: Channel) -> Word:
    text = re.sub(r"\s*[\[(].*$", "", channel.name)
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", "_", text)
    bare = re.sub(r"[\W_]+", "_", spaced).strip("_").lower()
    unit = standard_unit(channel.unit) if channel.unit else ""
    if unit:
        ending = re.sub(r"\W", "_", unit.lower())
        return Word(channel.name, bare.removesuffix(f"_{ending}"), unit, True)
    for ending, found in _ENDINGS.items():
        if bare.endswith(f"_{ending}"):
            return Word(channel.name, bare.removesuffix(f"_{ending}"), found, False)
    return Word(channel.name, bare, "", False)


_BELT = re.compile(r"speed|vel|rpm|omega|sprocket|wheel|motor|track|belt|pwm|enc")
_ROLES = re.compile(
    r"cmd|command|commanded|desired|des|target|setpoint|ref|set|meas|measured|actual|act|feedback|fb|left|right|l|r"
)
"""Words beside which a column needs none of belts: `cmd_left`, `meas_r`."""
_OTHER = re.compile(r"slip|beta|curr|amp|force|torque|temp|volt|power|energy|flipper|arm|front|rear|angle")
_CURRENT = re.compile(r"(?:^|_)(?:current|curr|amps?|i)(?:_|$)")
_SLIP = re.compile(r"slip|beta")
_FLIPPER_COLUMN = re.compile(r"flipper|(?:^|_)arm|^(?:front|rear)(?:_(?:left|right))?_angle")
_RATE = re.compile(r"rate|vel|omega|gyro|dot|speed|(?:^|_)w(?:_|$)")
_ANGLES = {
    "roll": re.compile(r"(?:^|_)roll(?:_|$)"),
    "pitch": re.compile(r"(?:^|_)pitch(?:_|$)"),
    "yaw": re.compile(r"(?:^|_)(?:yaw|heading|psi)(?:_|$)"),
}
_TURNING_WORDS = "w|omega|gyro|gyr|ang_?vel|angular_?(?:velocity|rate)"
_SHORT_TURNING = r"(?:^|.*_)g_?{}"
"""Names of rates, `gx`, that may be of other quantities where the log gives no unit."""
_VECTORS = (
    ("position", r"(?:^|.*_)(?:p|pos|position|t|translation)?_?{}", "xyz", LENGTH),
    ("orientation", r"(?:^|.*_)(?:q|quat|quaternion|orientation|rotation|rot)_?{}", "xyzw", None),
    ("specific_force", r"(?:^|.*_)(?:a|acc|accel|acceleration|linear_acceleration)_?{}", "xyz", ACCELERATION),
    ("angular_velocity", rf"(?:^|.*_)(?:{_TURNING_WORDS})_?{{}}", "xyz", TURNING),
    ("angular_velocity", _SHORT_TURNING, "xyz", TURNING),
)
_NO_PLACE = re.compile(r"gyr|acc|mag|vel|omega|quat|rate|rot|orient|force|torque|(?:^|_)[wqva]_")
_SATELLITES = {
    "latitude": r"(?:.*_)?lat(?:itude)?",
    "longitude": r"(?:.*_)?(?:lon|lng|long)(?:itude)?",
    "height": r"(?:.*_)?(?:alt(?:itude)?|height)",
}
_OWN_TABLE = {"time_s", "x_m", "y_m", "z_m", "qx", "qy", "qz", "qw", "pitch_rad"}
"""First columns in the table of a simulated climb."""


def shows_gravity(values: NDArray[np.float64]) -> bool:
    """Return whether accelerations (n, 3) of any unit are a specific force, most of which is constant."""
    known = values[np.isfinite(values).all(axis=1)]
    size = math.sqrt(float((known**2).sum(axis=1).mean())) if len(known) else 0.0
    return size > 0 and float(np.linalg.norm(known.mean(axis=0))) > size / 2


def propose_by_header(log: Log) -> Iterator[ProposedQuantity]:
    """Yield proposals from the names of columns; the first one for a quantity is the best."""
    yield from _own_columns(log)
    if "position" in log.channels and "orientation" in log.channels:  # Of a TUM trajectory.
        for name in ("position", "orientation"):
            yield ProposedQuantity(name, {"channels": name}, {}, (name,))
    words = find_words(log)
    yield from _pose_columns(log, words)
    yield from _sides(words)
    for path, pattern, axes, units in _VECTORS:
        found = _components(words, path, pattern, axes, units)
        if path == "specific_force" and not shows_gravity(_columns(log, found)):
            continue
        if pattern is _SHORT_TURNING and not all(word.is_said for word in found):
            continue
        if len(found) == len(axes) or (path == "position" and len(found) == 2):
            said, todo = ({}, {}) if units is None else unit_keys(found, units)
            channels: Keys = {"channels": [word.name for word in found]}
            yield ProposedQuantity(path, channels | said, todo, tuple(word.name for word in found))
    yield from _satellites(words)
    yield from _angles(words)


def _pose_columns(log: Log, words: Sequence[Word]) -> Iterator[ProposedQuantity]:
    """Poses that are known by all of their columns."""
    units = {kind: units for kind, _, _, units in _VECTORS} | {"velocity": SPEED}
    for path, names in find_pose_columns(log):
        own = [word for word in words if word.name in names]
        if path == "specific_force" and not shows_gravity(_columns(log, own)):
            continue
        said, todo = ({}, {}) if (kind := units[path]) is None else unit_keys(own, kind)
        frame: Keys = {"frame": "world"} if path == "velocity" else {}
        yield ProposedQuantity(path, {"channels": list(names), **said, **frame}, todo, tuple(names))


def _columns(log: Log, words: Sequence[Word]) -> NDArray[np.float64]:
    """Numbers of columns of one table (n, 3); none where they are fewer or of several tables."""
    columns = [log.channels[word.name].values for word in words]
    is_one = len(columns) == 3 and len({column.shape for column in columns}) == 1
    return np.stack(columns, axis=1) if is_one else np.zeros((0, 3))


def _components(words: Sequence[Word], path: str, pattern: str, axes: str, units: Units | None) -> list[Word]:
    """The columns of a vector, as far as there are any, by its axes."""
    found: list[Word] = []
    for axis in axes:
        for word in words:
            is_other = word.is_command or (path == "position" and _NO_PLACE.search(word.bare))
            if re.fullmatch(pattern.format(axis), word.bare) and not is_other:
                if not word.unit or units is None or word.unit in units:
                    found.append(word)
                    break
    return found


def _own_columns(log: Log) -> Iterator[ProposedQuantity]:
    """Columns that segtrack writes: those of a climb, or quantities by name (`belt_speed.left [m/s]`)."""
    names = set(log.channels)
    if names >= _OWN_TABLE:
        for name in log.channels:
            flipper = name.removesuffix("_angle_rad")
            if flipper != name:
                yield ProposedQuantity(f"flipper_angle.{flipper}", {"channel": name}, {}, (name,))
    if not any(name.startswith("belt_speed.") for name in names):
        return
    found: dict[str, Keys] = {}
    for name, channel in log.channels.items():
        key = re.sub(r"\s*\[.*\]$", "", name)
        quantity, _, which = key.partition(".")
        try:
            if standard_unit(channel.unit) != quantity_of(key).unit or QUANTITIES[quantity].width > 1:
                continue
        except SegtrackError:
            continue
        if QUANTITIES[quantity].each == "side":
            found.setdefault(quantity, {})[which] = name
        else:
            sign: Keys = {"positive": "nose up"} if key == "pitch" else {}
            yield ProposedQuantity(key, {"channel": name, **sign}, {}, (name,))
    for quantity, kind in QUANTITIES.items():
        parts = [f"{quantity}.{axis} [{kind.unit}]" for axis in "xyzw"[: kind.width]]
        if kind.width > 1 and names.issuperset(parts):
            channels: Keys = {"channels": list(parts)}
            yield ProposedQuantity(quantity, channels, {}, tuple(parts))
    for quantity, sides in found.items():
        if len(sides) == 2 or not quantity.startswith("belt_speed"):
            more = {"positive": "belt faster"} if quantity == "slip_velocity" else {}
            yield ProposedQuantity(quantity, {**sides, **more}, {}, tuple(map(str, sides.values())))


def _sides(words: Sequence[Word]) -> Iterator[ProposedQuantity]:
    slips = [word for word in words if _SLIP.search(word.bare)]
    currents = [word for word in words if _CURRENT.search(word.bare) and not _SLIP.search(word.bare)]
    belts = [word for word in words if _is_belt_column(word)]
    for path, chosen, units in (
        ("slip_velocity", slips, SPEED),
        ("current", currents, CURRENT),
        ("belt_speed_command", [word for word in belts if word.is_command], BELT_SPEED),
        ("belt_speed", [word for word in belts if not word.is_command], BELT_SPEED),
    ):
        left, right = (sorted((w for w in chosen if side.search(w.bare)), key=_rank) for side in SIDES)
        if not left or not right or left[0] == right[0]:
            continue
        pair = left[0], right[0]
        said, todo = unit_keys(pair, units)
        if path == "slip_velocity":
            todo = {"positive": SLIP} | todo
        if units is BELT_SPEED and (todo or pair[0].unit in (*TURNING, *COUNTING, *ANGLE, *COUNTS)):
            todo |= {"radius": RADIUS + (", unless the unit is of a speed or a length" if todo else "")}
        keys: Keys = {"left": pair[0].name, "right": pair[1].name}
        yield ProposedQuantity(path, keys | said, todo, (pair[0].name, pair[1].name))


def _is_belt_column(word: Word) -> bool:
    is_speed = word.unit in (*SPEED, *TURNING, *COUNTING)
    is_role = word.unit in ("", *BELT_SPEED) and all(map(_ROLES.fullmatch, word.bare.split("_")))
    is_named = _BELT.search(word.bare) or is_role
    return not _OTHER.search(word.bare) and (is_speed or bool(is_named))


def _rank(word: Word) -> int:
    """Rank of a column among those of a side: speeds before positions, which are differentiated."""
    ranks = (SPEED, TURNING, COUNTING)
    unknown = len(ranks) + (word.unit != "")
    return next((i for i, units in enumerate(ranks) if word.unit in units), unknown)


def _satellites(words: Sequence[Word]) -> Iterator[ProposedQuantity]:
    found = {
        key: next((word.name for word in words if re.fullmatch(said, word.bare)), None)
        for key, said in _SATELLITES.items()
    }
    if found["latitude"] is not None and found["longitude"] is not None:
        keys: Keys = {key: name for key, name in found.items() if name is not None}
        yield ProposedQuantity("position", keys, {}, tuple(map(str, keys.values())))


def _angles(words: Sequence[Word]) -> Iterator[ProposedQuantity]:
    """Roll, pitch, yaw and its rate, and flippers."""
    for word in words:
        if _FLIPPER_COLUMN.search(word.bare) and not _RATE.search(word.bare) and word.unit in ("", *ANGLE):
            flipper = _flipper_name(word.bare)
            path = "flipper_angle_command" if word.is_command else "flipper_angle"
            said, todo = unit_keys([word], ANGLE)
            yield ProposedQuantity(f"{path}.{flipper}", {"channel": word.name, **said}, todo, (word.name,))
        if word.is_command:
            continue
        is_rate = _RATE.search(word.bare) is not None
        for path, pattern in _ANGLES.items():
            if pattern.search(word.bare) and (not is_rate or path == "yaw"):
                said, todo = unit_keys([word], TURNING if is_rate else ANGLE)
                todo |= {"positive": PITCH} if path == "pitch" else {}
                key = "yaw_rate" if is_rate else path
                yield ProposedQuantity(key, {"channel": word.name, **said}, todo, (word.name,))


def _flipper_name(name: str) -> str:
    """Name that a flipper has in a vehicle file, by that of its column or joint: `left` of `flipper_left`."""
    which = re.sub(r"flipper|angle|(?:^|_)(?:cmd|command|position|pos|meas|joint)(?=_|$)", "", name)
    return re.sub(r"_+", "_", which).strip("_") or "flipper"


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
_ODOMETRY = "nav_msgs/msg/Odometry"
_PLACES = {
    "geometry_msgs/msg/PoseStamped": (".pose.position", ".pose.orientation"),
    "geometry_msgs/msg/PoseWithCovarianceStamped": (".pose.pose.position", ".pose.pose.orientation"),
    "geometry_msgs/msg/TransformStamped": (".transform.translation", ".transform.rotation"),
    _ODOMETRY: (".pose.pose.position", ".pose.pose.orientation"),
}
"""Fields of poses by type: odometry comes last, as it may be computed from the belts."""
_AIMED = re.compile(r"goal|target|desired|set_?point|initial_?pose|cmd|command|reference|waypoint", re.I)
"""Topics of poses that are where somebody wants the vehicle to be."""
_FEWEST_POSES = 10
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
    poses = tuple(_poses(log, by_type))
    yield from poses
    place = next((log.channels[each.channels[0]].source for each in poses if each.path == "position"), None)
    for topic in by_type.get("sensor_msgs/msg/Imu", []):
        yield from _several(log, "angular_velocity", f"{topic}.angular_velocity")
        yield from _several(log, "orientation", f"{topic}.orientation")
        force = log.channels.get(f"{topic}.linear_acceleration")
        if force is not None and shows_gravity(force.values):  # Zeros stand for none.
            yield from _several(log, "specific_force", f"{topic}.linear_acceleration")
    for source in (each for topic in by_type.get(_ODOMETRY, []) for each in _sources(log, topic)):
        if place in (None, source):  # Else it may be of the belts, unlike the pose.
            yield from _several(log, "velocity", f"{source}.twist.twist.linear")
            yield from _several(log, "angular_velocity", f"{source}.twist.twist.angular")
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
    """Measured poses: odometry last, flat ones after others: wheels know neither height nor roll."""
    places = [
        tuple(source + name for name in names)
        for kind, names in _PLACES.items()
        for topic in by_type.get(kind, [])
        for source in _sources(log, topic)
        if not _AIMED.search(topic)
    ]
    places = [names for names in places if all(len(log.channels.get(n, ())) >= _FEWEST_POSES for n in names)]
    odometry = {source for topic in by_type.get(_ODOMETRY, []) for source in _sources(log, topic)}

    def rank(names: tuple[str, ...]) -> tuple[bool, bool]:
        source = names[0].removesuffix(_PLACES[_ODOMETRY][0])
        return source in odometry, _is_flat(log, names[0])

    for names in sorted(places, key=rank):
        for quantity, name in zip(("position", "orientation"), names, strict=True):
            yield from _several(log, quantity, name)
    topics = [topic for kind in _TRANSFORMS for topic in by_type.get(kind, [])]
    frames = [source for topic in topics for source in _sources(log, topic)]
    for source in sorted(frames, key=lambda name: not _BODY.search(name.rpartition("->")[2])):
        yield from _several(log, "position", f"{source}.translation")
        yield from _several(log, "orientation", f"{source}.rotation")


def _sources(log: Log, topic: str) -> list[str]:
    """Sources of a topic: itself, or those of its frames."""
    return [source for source in log.sources if source == topic or source.startswith(f"{topic}[")]


def _is_flat(log: Log, name: str) -> bool:
    """Return whether all heights of places are the same to the last digit."""
    return not np.ptp(log.channels[name].values[:, 2])


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
            flipper = _flipper_name(re.sub(r"\W", "_", joint))
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
# frame: terrain            # instead, where positions are in the terrain's frame
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
    damage = [f"# damaged: {text}" for text in log.damage]
    head = _HEAD.format(name=log.path.name) + rows
    lines = [*damage, head, *_clocks(log, entries.values()), "quantities:"]
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
