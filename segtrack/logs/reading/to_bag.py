"""A motion as a bag of ROS 2, in messages of standard types."""

from __future__ import annotations

import heapq
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from mcap.writer import CompressionType
from mcap.writer import Writer as McapWriter
from numpy.typing import NDArray
from rosbags.rosbag2 import Writer as FolderWriter

from segtrack.errors import FileAccessError, InvalidValueError, Phrase
from segtrack.files import check_writable, replacing
from segtrack.logs.motion import Motion, Signal
from segtrack.logs.reading import bag_messages

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
    make: bag_messages.Make


def write(motion: Motion, path: Path) -> Path:
    """Write a bag; see `segtrack.logs.reading.write_bag`."""
    streams = list(_streams(motion))
    if path.suffix.lower() == ".mcap":
        with replacing(path) as temporary:
            _write_mcap(temporary, streams)
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
                text = bag_messages.definition(stream.type).encode()
                schemas[stream.type] = writer.register_schema(stream.type, "ros2msg", text)
            if stream.topic not in channels:
                channels[stream.topic] = writer.register_channel(stream.topic, "cdr", schemas[stream.type])
        for time, topic, _, data in _messages(streams):
            writer.add_message(channels[topic], time, data, time)
        writer.finish()


def _write_folder(path: Path, streams: Sequence[_Stream]) -> None:
    with FolderWriter(path, version=8) as writer:
        connections: dict[str, Any] = {}
        for stream in streams:
            if stream.topic not in connections:
                store = bag_messages.store()
                connections[stream.topic] = writer.add_connection(stream.topic, stream.type, typestore=store)
        for time, topic, _, data in _messages(streams):
            writer.write(connections[topic], time, data)


def _messages(streams: Sequence[_Stream]) -> Iterator[tuple[int, str, int, bytes]]:
    """Time [ns], topic, place and bytes of all messages, in the order of their times."""
    return heapq.merge(*(_messages_of(i, stream) for i, stream in enumerate(streams)))


def _messages_of(place: int, stream: _Stream) -> Iterator[tuple[int, str, int, bytes]]:
    frame = bag_messages.BODY if stream.topic in ("/velocity", "/angular_velocity") else bag_messages.WORLD
    for row, time in enumerate(stream.times.tolist()):
        message = stream.make(bag_messages.header(time, frame), *(values[row] for values in stream.signals))
        yield time, stream.topic, place, bag_messages.serialized(stream.type, message)


def _streams(motion: Motion) -> Iterator[_Stream]:
    left = dict(motion.signals)
    moving = ("position", "orientation", "velocity", "angular_velocity")
    for keys, topic, kind, make in (
        (moving, "/odom", "nav_msgs/msg/Odometry", bag_messages.odometry),
        (moving[:2], "/pose", "geometry_msgs/msg/PoseStamped", bag_messages.pose_stamped),
        (moving[1::2], "/imu", "sensor_msgs/msg/Imu", bag_messages.imu),
    ):
        if _is_together(left, keys):
            yield _stream(topic, kind, {key: left.pop(key) for key in keys}, make)
    for topic, main, force in _JOINT_TOPICS:
        yield from _joints(left, topic, main, force)
    for key, signal in left.items():
        kind = _kind(key, signal)
        yield _stream(f"/{key.replace('.', '/')}", kind, {key: signal}, bag_messages.SINGLE[kind])


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
        make = bag_messages.joints(names, bool(efforts), are_speeds="speed" in main)
        yield _stream(topic, _JOINTS, {key: left.pop(key) for key in (*keys, *efforts)}, make)


def _is_together(signals: Mapping[str, Signal], keys: Sequence[str]) -> bool:
    """Whether there are all of these signals, at the same times."""
    times = [signals[key].times for key in keys if key in signals]
    return len(times) == len(keys) and all(np.array_equal(own, times[0]) for own in times)


def _stream(topic: str, kind: str, signals: Mapping[str, Signal], make: bag_messages.Make) -> _Stream:
    key, first = next(iter(signals.items()))
    if first.times[0] < 0:
        got = Phrase(f"{first.times[0]:g} s")
        raise InvalidValueError(f"times of signal {key}", "0 or more for a bag, which counts from 1970", got)
    whole = np.floor(first.times)
    rest = np.rint((first.times - whole) * 1e9).astype(np.int64)
    times = whole.astype(np.int64) * 10**9 + rest
    return _Stream(topic, kind, times, [signal.values for signal in signals.values()], make)


def _kind(key: str, signal: Signal) -> str:
    """Message type of a signal that is alone."""
    if signal.values.ndim == 1:
        return "std_msgs/msg/Float64"
    part = "Quaternion" if signal.values.shape[1] == 4 else "Point" if key == "position" else "Vector3"
    return f"geometry_msgs/msg/{part}Stamped"
