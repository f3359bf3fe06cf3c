"""Bags of ROS 1 and ROS 2 written from a motion, in messages of standard types."""

from __future__ import annotations

import heapq
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from mcap.writer import CompressionType
from mcap.writer import Writer as McapWriter
from numpy.typing import NDArray
from rosbags.rosbag1 import Writer as Ros1Writer
from rosbags.rosbag2 import Writer as FolderWriter
from rosbags.typesys import Stores, get_typestore

from segtrack.errors import FileAccessError, InvalidValueError, Phrase
from segtrack.files import check_writable, replacing
from segtrack.recording import (
    STORE,
    UNKNOWN,
    definition,
    make,
    make_header,
    make_odometry,
    make_pose,
    make_vector,
    serialize,
)
from segtrack.robot import Motion, Signal

WORLD, BODY = "world", "body"
"""Names of the frames."""
_NO_ACCELERATION = np.array([-1.0, *np.zeros(8)])
_NONE = np.empty(0)
_END = 2**31
"""Time from which on the stamps of ROS 2 have no number, in 2038 [s]."""
MessageMaker = Callable[..., Any]
"""Function that builds a message from its header and the numbers of its signals."""


def _stamped_pose(head: Any, position: Any, orientation: Any) -> Any:
    return make("geometry_msgs/msg/PoseStamped", head, make_pose(position, orientation))


def make_imu(head: Any, orientation: Any, spin: Any) -> Any:
    """Message `Imu` with orientation and angular velocity; accelerations are marked as not measured.

    Args:
        head: Header.
        orientation: Quaternion (x, y, z, w) of the body in the world (4,).
        spin: Angular velocity in the body frame (3,) [rad/s].
    """
    unknown = UNKNOWN[:9]
    still = make("geometry_msgs/msg/Vector3", 0.0, 0.0, 0.0)
    turn = make("geometry_msgs/msg/Quaternion", *orientation.tolist())
    return make(
        "sensor_msgs/msg/Imu", head, turn, unknown, make_vector(spin), unknown, still, _NO_ACCELERATION
    )


def joint_maker(names: Sequence[str], has_efforts: bool, are_speeds: bool) -> MessageMaker:
    """Maker of messages `JointState` from a header, a position or speed of each joint, and their forces.

    Args:
        names: Names of the joints.
        has_efforts: True if forces or torques of all joints follow.
        are_speeds: True for speeds, False for positions.
    """

    def made(head: Any, *values: Any) -> Any:
        main, efforts = np.array(values[: len(names)]), np.array(values[len(names) :])
        where, rate = (_NONE, main) if are_speeds else (main, _NONE)
        forces = efforts if has_efforts else _NONE
        return make("sensor_msgs/msg/JointState", head, list(names), where, rate, forces)

    return made


def _stamped(part: str) -> MessageMaker:
    kind = f"geometry_msgs/msg/{part}"
    return lambda head, values: make(f"{kind}Stamped", head, make(kind, *values.tolist()))


SINGLE_SIGNAL_MAKERS: Mapping[str, MessageMaker] = {
    "std_msgs/msg/Float64": lambda head, value: make("std_msgs/msg/Float64", float(value)),
    "geometry_msgs/msg/PointStamped": _stamped("Point"),
    "geometry_msgs/msg/Vector3Stamped": _stamped("Vector3"),
    "geometry_msgs/msg/QuaternionStamped": _stamped("Quaternion"),
}
"""Messages of one signal, by their type."""


_BELTS = {"left": "left belts", "right": "right belts"}
"""Names of the joints that belts are, by their side."""
_JOINTS = "sensor_msgs/msg/JointState"
_JOINT_TOPICS = (
    ("/belts", "belt_speed", "belt_force"),
    ("/belt_commands", "belt_speed_command", ""),
    ("/flippers", "flipper_angle", ""),
    ("/flipper_commands", "flipper_angle_command", ""),
)
"""Topics, what their joints do, and by which force."""


class _Stream(NamedTuple):
    """Messages of a topic: their times [ns], and the signals whose rows they are made of."""

    topic: str
    type: str
    times: NDArray[np.int64]
    signals: Sequence[NDArray[np.float64]]
    maker: MessageMaker

    @property
    def frame(self) -> str:
        """Name of the frame of its messages."""
        return BODY if self.topic.endswith(("/velocity", "/angular_velocity")) else WORLD

    def message(self, row: int, header: Any) -> Any:
        """Make the message of a row."""
        return self.maker(header, *(values[row] for values in self.signals))


def write_bag_file(motions: Mapping[str, Motion], path: Path) -> Path:
    """Write motions by the prefix of their topics, which `segtrack.logs.reading.write_bag` has a table of."""
    suffix = path.suffix.lower()
    if suffix not in _FILES and _OTHER_FILE.fullmatch(suffix):
        expected = "FILE.mcap, FILE.db3 or FILE.bag, or a folder"
        raise InvalidValueError("path of a bag", expected, path.name)
    streams = [
        stream._replace(topic=prefix + stream.topic)
        for prefix, motion in motions.items()
        for stream in _streams(motion)
    ]
    if suffix in _FILES:
        if path.is_dir():
            raise FileAccessError("write to", path, "is a folder")
        with replacing(path) as temporary:
            _FILES[suffix](temporary, streams)
        return path
    if path.exists():
        raise FileAccessError("write to", path, "exists already")
    check_writable(path.parent)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".segtrack-", dir=path.parent) as folder:
        _write_folder(Path(folder, path.name), streams)
        Path(folder, path.name).rename(path)
    return path


def _write_mcap(path: Path, streams: Sequence[_Stream]) -> None:
    with path.open("wb") as file:
        writer = McapWriter(file, compression=CompressionType.ZSTD)
        writer.start("ros2")
        schemas: dict[str, int] = {}
        channels: dict[str, int] = {}
        for stream in streams:
            if stream.type not in schemas:
                text = definition(stream.type)
                schemas[stream.type] = writer.register_schema(stream.type, "ros2msg", text)
            if stream.topic not in channels:
                channels[stream.topic] = writer.register_channel(stream.topic, "cdr", schemas[stream.type])
        for time, topic, _, data in _messages(streams):
            writer.add_message(channels[topic], time, data, time)
        writer.finish()


def _write_sqlite(path: Path, streams: Sequence[_Stream]) -> None:
    """Write the one file of a folder's messages alone; it has the definitions of their types, too."""
    with tempfile.TemporaryDirectory(prefix=".segtrack-", dir=path.parent) as name:
        folder = Path(name, "bag")
        _write_folder(folder, streams)
        (folder / "bag.db3").rename(path)


def _write_ros1(path: Path, streams: Sequence[_Stream]) -> None:
    with Ros1Writer(path) as writer:
        connections: dict[str, Any] = {}
        for stream in streams:
            if stream.topic not in connections:
                connections[stream.topic] = writer.add_connection(stream.topic, stream.type, typestore=_ROS1)
        for time, topic, _, data in _messages(streams, _ros1_bytes):
            writer.write(connections[topic], time, data)


_ROS1 = get_typestore(Stores.ROS1_NOETIC)


def _ros1_bytes(stream: _Stream, row: int, time: int) -> bytes:
    """Message of a row as ROS 1 has it, whose headers are numbered."""
    header, stamp = _ROS1.types["std_msgs/msg/Header"], _ROS1.types["builtin_interfaces/msg/Time"]
    message = stream.message(row, header(row, stamp(*divmod(time, 10**9)), stream.frame))
    return bytes(_ROS1.serialize_ros1(message, stream.type))


def _cdr_bytes(stream: _Stream, row: int, time: int) -> bytes:
    """Message of a row as ROS 2 has it."""
    return serialize(stream.type, stream.message(row, make_header(time, stream.frame)))


_FILES = {".mcap": _write_mcap, ".db3": _write_sqlite, ".bag": _write_ros1}
_OTHER_FILE = re.compile(r"\.[a-z]\w*")
"""Ends of names of files; those of folders have none, or end with a number, as of a date."""


def _write_folder(path: Path, streams: Sequence[_Stream]) -> None:
    with FolderWriter(path, version=8) as writer:
        connections: dict[str, Any] = {}
        for stream in streams:
            if stream.topic not in connections:
                connections[stream.topic] = writer.add_connection(stream.topic, stream.type, typestore=STORE)
        for time, topic, _, data in _messages(streams):
            writer.write(connections[topic], time, data)


def _messages(
    streams: Sequence[_Stream], to_bytes: Callable[[_Stream, int, int], bytes] = _cdr_bytes
) -> Iterator[tuple[int, str, int, bytes]]:
    """Time [ns], topic, place and bytes of all messages, in the order of their times."""
    return heapq.merge(*(_messages_of(i, stream, to_bytes) for i, stream in enumerate(streams)))


def _messages_of(
    place: int, stream: _Stream, to_bytes: Callable[[_Stream, int, int], bytes]
) -> Iterator[tuple[int, str, int, bytes]]:
    for row, time in enumerate(stream.times.tolist()):
        yield time, stream.topic, place, to_bytes(stream, row, time)


def _streams(motion: Motion) -> Iterator[_Stream]:
    left = dict(motion.signals)
    moving = ("position", "orientation", "velocity", "angular_velocity")
    for keys, topic, kind, maker in (
        (moving, "/odom", "nav_msgs/msg/Odometry", make_odometry),
        (moving[:2], "/pose", "geometry_msgs/msg/PoseStamped", _stamped_pose),
        (moving[1::2], "/imu", "sensor_msgs/msg/Imu", make_imu),
    ):
        if _is_together(left, keys):
            yield _stream(topic, kind, {key: left.pop(key) for key in keys}, maker)
    for topic, main, force in _JOINT_TOPICS:
        yield from _joints(left, topic, main, force)
    for key, signal in left.items():
        kind = _kind(key, signal)
        yield _stream(f"/{key.replace('.', '/')}", kind, {key: signal}, SINGLE_SIGNAL_MAKERS[kind])


def _joints(left: dict[str, Signal], topic: str, main: str, force: str) -> Iterator[_Stream]:
    """Belts or flippers, those at the same times in one message, with their forces if all have them."""
    groups: dict[bytes, list[str]] = {}
    for key, signal in left.items():
        name, _, which = key.partition(".")
        if name == main:
            groups.setdefault(signal.times.tobytes(), []).append(which)
    for places in groups.values():
        keys = [f"{main}.{which}" for which in places]
        forces = [f"{force}.{which}" for which in places]
        efforts = forces if _is_together(left, (*keys, *forces)) else []
        names = [_BELTS.get(which, which) if "belt" in main else which for which in places]
        maker = joint_maker(names, bool(efforts), are_speeds="speed" in main)
        yield _stream(topic, _JOINTS, {key: left.pop(key) for key in (*keys, *efforts)}, maker)


def _is_together(signals: Mapping[str, Signal], keys: Sequence[str]) -> bool:
    """Return True if there are all of these signals, at the same times."""
    times = [signals[key].times for key in keys if key in signals]
    return len(times) == len(keys) and all(np.array_equal(own, times[0]) for own in times)


def _stream(topic: str, kind: str, signals: Mapping[str, Signal], maker: MessageMaker) -> _Stream:
    key, first = next(iter(signals.items()))
    if first.times[0] < 0:
        got = Phrase(f"{first.times[0]:g} s")
        raise InvalidValueError(f"times of signal {key}", "0 or more for a bag, which counts from 1970", got)
    if first.times[-1] >= _END:
        got = Phrase(f"{first.times[-1]:.10g} s")
        expected = f"below {_END} s for a bag, which counts from 1970"
        raise InvalidValueError(f"times of signal {key}", expected, got)
    whole = np.floor(first.times)
    rest = np.rint((first.times - whole) * 1e9).astype(np.int64)
    times = whole.astype(np.int64) * 10**9 + rest
    return _Stream(topic, kind, times, [signal.values for signal in signals.values()], maker)


def _kind(key: str, signal: Signal) -> str:
    """Message type of a signal that is alone."""
    if signal.values.ndim == 1:
        return "std_msgs/msg/Float64"
    part = "Quaternion" if signal.values.shape[1] == 4 else "Point" if key == "position" else "Vector3"
    return f"geometry_msgs/msg/{part}Stamped"
