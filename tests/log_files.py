"""Logs of every kind with the same content, written by other programs than those that are tested."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from mcap.writer import CompressionType
from mcap.writer import Writer as McapWriter
from rosbags.rosbag1 import Writer as Ros1Writer
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin
from rosbags.rosbag2 import Writer as Ros2Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

START = 1_760_000_000_000_000_000
"""Time of reception of the first message [ns]."""
STEP = 10_000_000
"""Between messages [ns]."""
BELTS = "robot_msgs/msg/Belts"
_BELTS = """
std_msgs/Header header
string side
bool on
float32[2] speeds
int16 count
uint8[3] flags
geometry_msgs/Point[] contacts
float64 load
duration age
"""
KINDS = (
    "bag",
    "bag bz2",
    "bag lz4",
    "db3",
    "db3 file",
    "db3 message",
    "db3 old",
    "mcap",
    "mcap zstd",
    "mcap lz4",
    "mcap flat",
)
DAMAGED = ("bag", "bag bz2", "bag lz4", "mcap", "mcap zstd", "mcap lz4", "mcap flat")


@cache
def store(ros: int) -> Any:
    """The types of a distribution, and one more that it does not have."""
    made = get_typestore(Stores.ROS1_NOETIC if ros == 1 else Stores.ROS2_HUMBLE)
    text = _BELTS if ros == 1 else _BELTS.replace("duration", "builtin_interfaces/Duration")
    made.register(get_types_from_msg(text, BELTS))
    if ros == 1:
        text = "geometry_msgs/TransformStamped[] transforms"
        made.register(get_types_from_msg(text, "tf2_msgs/msg/TFMessage"))
    return made


@cache
def messages(count: int, ros: int) -> list[tuple[str, str, int, Any]]:
    """Topic, type, time of reception [ns] and message; stamps are of another clock, 5 % slower.

    Texts, sequences, joints and frames change from message to message.
    """
    made = store(ros).types
    random = np.random.default_rng(7)

    def of(kind: str, *values: Any) -> Any:
        return made[kind](*values)

    def header(i: int, frame: str) -> Any:
        stamp = divmod(1_551_000_000_000 + i * STEP * 95 // 100, 10**9)
        time = of("builtin_interfaces/msg/Time", *stamp)
        return of("std_msgs/msg/Header", *([i] if ros == 1 else []), time, frame)

    def vector() -> Any:
        return of("geometry_msgs/msg/Vector3", *random.normal(size=3).tolist())

    def point() -> Any:
        return of("geometry_msgs/msg/Point", *random.normal(size=3).tolist())

    def quaternion() -> Any:
        return of("geometry_msgs/msg/Quaternion", *(turn := random.normal(size=4)) / np.linalg.norm(turn))

    found: list[tuple[str, str, Any]] = []
    for i in range(count):
        pose = of("geometry_msgs/msg/Pose", point(), quaternion())
        twist = of("geometry_msgs/msg/Twist", vector(), vector())
        held = np.arange(36.0)
        odometry = (
            header(i, "odom"),
            "base_link",
            of("geometry_msgs/msg/PoseWithCovariance", pose, held),
            of("geometry_msgs/msg/TwistWithCovariance", twist, random.normal(size=36)),
        )
        names = ["left", "right"] if i % 3 else ["front", "left", "rear"]
        positions, speeds = random.normal(size=(2, len(names)))
        joints = header(i, ""), names, positions, speeds, np.empty(0)
        transforms = []
        for child in ["odom", "robot"] if i % 2 else ["odom"]:
            transform = of("geometry_msgs/msg/Transform", vector(), quaternion())
            transforms.append(of("geometry_msgs/msg/TransformStamped", header(i, "map"), child, transform))
        belts = (
            header(i, "body"),
            "left" if i % 2 else "both",
            bool(i % 2),
            random.normal(size=2).astype(np.float32),
            -i,
            np.array([i % 256, 1, 2], np.uint8),
            [point() for _ in range(2 + (i > count // 2))],
            float(i),
            of("builtin_interfaces/msg/Duration", i, 250_000_000),
        )
        layout = of("std_msgs/msg/MultiArrayLayout", [of("std_msgs/msg/MultiArrayDimension", "a", 3, 3)], 0)
        found += [
            ("/odom", "nav_msgs/msg/Odometry", odometry),
            ("/joint_states", "sensor_msgs/msg/JointState", joints),
            ("/tf", "tf2_msgs/msg/TFMessage", (transforms,)),
            ("/belts", BELTS, belts),
            ("/note", "std_msgs/msg/String", ("x" * (i % 7),)),
            ("/row", "std_msgs/msg/Float64MultiArray", (layout, random.normal(size=3))),
        ]
    return [
        (topic, kind, START + i * STEP // 6, of(kind, *values))
        for i, (topic, kind, values) in enumerate(found)
    ]


def write(folder: Path, kind: str, count: int = 20) -> Path:
    """Write a log; returns the path of the file, or of the folder of a bag."""
    if kind.startswith("bag"):
        return _write_ros1(folder / "log.bag", kind.removeprefix("bag").strip(), count)
    if kind.startswith("mcap "):
        return _write_mcap(folder / "log.mcap", kind.removeprefix("mcap "), count)
    if kind == "db3 old":
        return _write_old_sqlite(folder / "old.db3", count)
    plugin = StoragePlugin.MCAP if kind == "mcap" else StoragePlugin.SQLITE3
    kinds = store(2)
    writer = Ros2Writer(folder / "log", version=9, storage_plugin=plugin)
    if " " in kind:
        mode = {"file": CompressionMode.FILE, "message": CompressionMode.MESSAGE}[kind.split()[1]]
        writer.set_compression(mode, CompressionFormat.ZSTD)
    with writer:
        connections: dict[str, Any] = {}
        for topic, name, time, message in messages(count, 2):
            if topic not in connections:
                connections[topic] = writer.add_connection(topic, name, typestore=kinds)
            writer.write(connections[topic], time, kinds.serialize_cdr(message, name))
    return folder / "log"


def write_file(folder: Path, kind: str, count: int = 20) -> Path:
    """Write a log that is one file."""
    path = write(folder, kind, count)
    return next(path.glob("log.*")) if path.is_dir() else path


def _write_ros1(path: Path, packing: str, count: int) -> Path:
    kinds = store(1)
    writer = Ros1Writer(path)
    writer.chunk_threshold = 2000
    if packing:
        writer.set_compression(Ros1Writer.CompressionFormat[packing.upper()])
    with writer:
        connections: dict[str, Any] = {}
        for topic, name, time, message in messages(count, 1):
            if topic not in connections:
                connections[topic] = writer.add_connection(topic, name, typestore=kinds)
            writer.write(connections[topic], time, kinds.serialize_ros1(message, name))
    return path


def _write_mcap(path: Path, packing: str, count: int) -> Path:
    kinds = store(2)
    compression = {"zstd": CompressionType.ZSTD, "lz4": CompressionType.LZ4}.get(
        packing, CompressionType.NONE
    )
    with path.open("wb") as file:
        writer = McapWriter(file, chunk_size=4000, compression=compression, use_chunking=packing != "flat")
        writer.start("ros2")
        channels: dict[str, int] = {}
        for i, (topic, name, time, message) in enumerate(messages(count, 2)):
            if topic not in channels:
                text = kinds.generate_msgdef(name, ros_version=2)[0].encode()
                channels[topic] = writer.register_channel(
                    topic, "cdr", writer.register_schema(name, "ros2msg", text)
                )
            data = bytes(kinds.serialize_cdr(message, name))
            writer.add_message(channels[topic], time, data, time, i)
        writer.finish()
    return path


_OLD_TABLES = """
CREATE TABLE topics(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, serialization_format TEXT NOT NULL
);
CREATE TABLE messages(
  id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, timestamp INTEGER NOT NULL, data BLOB NOT NULL
);
"""


def _write_old_sqlite(path: Path, count: int) -> Path:
    """A file as the recorders of ROS 2's first distributions wrote it, without definitions, big-endian."""
    kinds = store(2)
    topics: dict[str, int] = {}
    with closing(sqlite3.connect(path)) as database:
        database.executescript(_OLD_TABLES)
        for topic, name, time, message in messages(count, 2):
            if name == BELTS:
                continue
            if topic not in topics:
                topics[topic] = len(topics) + 1
                database.execute("INSERT INTO topics VALUES (?, ?, ?, 'cdr')", (topics[topic], topic, name))
            data = bytes(kinds.serialize_cdr(message, name, little_endian=False))
            row = topics[topic], time, data
            database.execute("INSERT INTO messages(topic_id, timestamp, data) VALUES (?, ?, ?)", row)
        database.commit()
    return path
