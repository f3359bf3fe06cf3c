"""Bags of every kind against rosbags' own reader and deserialisation."""

import re
import shutil
import sqlite3
import struct
from contextlib import closing

import numpy as np
import pytest

pytest.importorskip("rosbags", reason="of an extra")
pytest.importorskip("mcap", reason="of an extra")

from log_files import BELTS, KINDS, messages, store, write  # noqa: E402
from mcap.writer import Writer as McapWriter  # noqa: E402
from rosbags.highlevel import AnyReader  # noqa: E402
from rosbags.rosbag1 import Writer as Ros1Writer  # noqa: E402

from segtrack.errors import LogFileError  # noqa: E402
from segtrack.logs.reading import (
    inspect_log,  # noqa: E402
    read_log,  # noqa: E402
)
from segtrack.report.logs import inspect_tables  # noqa: E402


def value(message, path):
    """What a message has at a channel's path, as numbers; NaN where it has nothing."""
    for name, key in re.findall(r"\.(\w+)(?:\[([^\]]+)\])?", path):
        parent, message = message, getattr(message, name)
        if key:
            places = range(len(message)) if key.isdigit() else parent.name
            found = dict(zip(map(str, places), message, strict=True))
            if key not in found:
                return np.nan
            message = found[key]
    for axes in ("xyzw", "xyz"):
        if all(hasattr(message, axis) for axis in axes):
            return [getattr(message, axis) for axis in axes]
    return message.sec + message.nanosec / 1e9 if hasattr(message, "nanosec") else message


def rows_of(content):
    """Times and messages by topic; transforms by topic and frames."""
    found = {}
    for topic, time, message in content:
        parts = [(topic, message)]
        if topic == "/tf":
            sent = message.transforms
            parts = [(f"/tf[{part.header.frame_id}->{part.child_frame_id}]", part) for part in sent]
        for source, part in parts:
            found.setdefault(source, []).append((time, part))
    return found


def as_rosbags_reads(path):
    with AnyReader([path], default_typestore=store(2)) as reader:
        found = [(c.topic, time, reader.deserialize(data, c.msgtype)) for c, time, data in reader.messages()]
    return rows_of(found)


def check(log, expected):
    """See to it that all channels hold what is expected of the messages, to the bit."""
    assert set(log.sources) == set(expected) - {"/note"}
    for channel in log.channels.values():
        rows = expected[channel.source]
        below = channel.name.removeprefix(channel.source)
        below = f".transform{below}" if channel.source.startswith("/tf") else below
        told = [np.broadcast_to(value(message, below), channel.values.shape[1:]) for _, message in rows]
        np.testing.assert_array_equal(channel.values, np.array(told, dtype=float), err_msg=channel.name)
        np.testing.assert_array_equal(channel.times, [time / 10**9 for time, _ in rows])
        if channel.source != "/row":
            stamps = [value(message, ".header.stamp") for _, message in rows]
            np.testing.assert_array_equal(channel.stamps, stamps)


@pytest.mark.parametrize("kind", KINDS)
def test_a_bag_that_is_written_and_read_has_the_same_numbers(kind, tmp_path):
    log = read_log(write(tmp_path, kind))
    written = [
        item
        for item in messages(20, 1 if kind.startswith("bag") else 2)
        if kind != "db3 old" or item[1] != BELTS
    ]
    assert not log.damage
    assert log.types == {topic: name for topic, name, *_ in written}
    assert log.skipped["/note.data"] == "text"
    check(log, rows_of((topic, time, message) for topic, _, time, message in written))


@pytest.mark.parametrize("kind", ["bag", "mcap"])
def test_a_bag_is_read_as_rosbags_reads_it(kind, tmp_path):
    path = write(tmp_path, kind)
    check(read_log(path), as_rosbags_reads(path))


def test_a_bag_whose_metadata_are_missing_or_do_not_fit_says_so(tmp_path):
    path = write(tmp_path, "db3", 3)
    whole = read_log(path)
    metadata = path / "metadata.yaml"
    text = metadata.read_text()
    metadata.write_text(text.replace("message_count: 3", "message_count: 4", 1))
    assert read_log(path).damage == ("/odom: 3 messages could be read of 4 in metadata.yaml",)
    metadata.write_text(text.replace("log.db3", "gone.db3"))
    assert read_log(path).damage == ("gone.db3 is missing",)
    metadata.write_text("rosbag2_bagfile_information: [")
    assert read_log(path).damage == ("metadata.yaml is damaged: files are read by their names",)
    metadata.unlink()
    log = read_log(path)
    assert log.damage == ("metadata.yaml is missing: files are read by their names",)
    assert (
        (log.kind, log.sha256)
        == (whole.kind, whole.sha256)
        == ("ros2 bag", read_log(path / "log.db3").sha256)
    )


def test_a_bag_of_several_files_is_read_in_their_order(tmp_path):
    first = write(tmp_path, "mcap", 3)
    whole = read_log(first).channels["/belts.load"]
    (first / "metadata.yaml").unlink()
    shutil.copy(first / "log.mcap", first / "log_10.mcap")
    (first / "log.mcap").rename(first / "log_9.mcap")
    data = (first / "log_10.mcap").read_bytes()
    (first / "log_10.mcap").write_bytes(data[: len(data) // 2])
    log = read_log(first)
    half = len(log.channels["/belts.load"]) - 3
    assert 0 < half < 3
    np.testing.assert_array_equal(log.channels["/belts.load"].values, [*whole.values, *whole.values[:half]])
    assert log.damage[1].startswith("log_10.mcap: the chunk at byte ")


LATER = """
INSERT INTO messages(topic_id, timestamp, data) SELECT topic_id, timestamp + 1000000000, data FROM messages
"""


def test_rows_that_a_recorder_had_not_written_into_its_database_are_read(tmp_path):
    path = write(tmp_path, "db3 old", 4)
    killed = tmp_path / "killed.db3"
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute(LATER)
        database.commit()
        shutil.copy(path, killed)
        shutil.copy(f"{path}-wal", f"{killed}-wal")
    log = read_log(killed)
    assert len(log.channels["/odom.pose.pose.position"]) == 8
    assert not log.damage
    assert sorted(file.name for file in tmp_path.iterdir() if "killed" in file.name) == [
        "killed.db3",
        "killed.db3-wal",
    ]


IDL = """================================================================================
IDL: robot_msgs/msg/Drive
module robot_msgs { module msg { struct Drive {
  double speed;
  sequence<float> currents;
}; }; };
"""


def test_messages_without_numbers_and_of_unknown_types_are_named(tmp_path):
    path = tmp_path / "log.mcap"
    kinds = store(2)
    made = kinds.types
    head = made["std_msgs/msg/Header"](made["builtin_interfaces/msg/Time"](0, 0), "")
    none, cdr = np.empty(0), b"\0\1\0\0"
    joint = made["sensor_msgs/msg/JointState"](head, ["a"], np.ones(1), none, none)
    messages_of = {
        "/drive": (
            "robot_msgs/msg/Drive",
            "ros2idl",
            IDL,
            "cdr",
            cdr + struct.pack("<dIff", 2.5, 2, 1.5, 3.5),
        ),
        "/joints": (joint.__msgtype__, "", "", "cdr", bytes(kinds.serialize_cdr(joint, joint.__msgtype__))),
        # A member of constants alone is one byte in ROS 2, which IDL does not know without.
        "/state": (
            "robot_msgs/msg/State",
            "ros2msg",
            "robot_msgs/Modes modes\nuint8 mode\nfloat64 level\n"
            f"{'=' * 80}\nMSG: robot_msgs/Modes\nuint8 ON=1\n",
            "cdr",
            cdr + struct.pack("<BB6xd", 0, 3, 4.5),
        ),
        "/camera": ("sensor_msgs/msg/Image", "", "", "cdr", cdr + bytes(40)),
        "/own": ("robot_msgs/msg/Unknown", "", "", "cdr", cdr + bytes(8)),
        "/web": ("robot_msgs/msg/Json", "jsonschema", "{}", "json", b"{}"),
    }
    with path.open("wb") as file:
        writer = McapWriter(file)
        writer.start("ros2")
        for i, (topic, (kind, language, text, encoding, data)) in enumerate(messages_of.items()):
            channel = writer.register_channel(
                topic, encoding, writer.register_schema(kind, language, text.encode())
            )
            for time in range(3):
                writer.add_message(channel, 10 * time + i, data, 0)
        writer.finish()
    log = read_log(path)
    assert not log.damage
    assert list(log.channels) == [
        *("/drive.speed", "/drive.currents", "/joints.position[a]"),
        *("/state.modes.structure_needs_at_least_one_member", "/state.mode", "/state.level"),
    ]
    np.testing.assert_array_equal(log.channels["/state.mode"].values, [3.0] * 3)
    np.testing.assert_array_equal(log.channels["/state.level"].values, [4.5] * 3)
    np.testing.assert_array_equal(log.channels["/drive.speed"].values, [2.5] * 3)
    np.testing.assert_array_equal(log.channels["/drive.currents"].values, [[1.5, 3.5]] * 3)
    assert log.channels["/joints.position[a]"].stamps is None  # A driver that stamps nothing.
    assert dict(log.skipped) == {
        "/camera": "pictures",
        "/own": "messages of type robot_msgs/msg/Unknown, which neither the file nor ROS defines",
        "/web": "messages encoded as json",
    }
    assert len(inspect_tables(inspect_log(log))) == 3


def test_a_covariance_that_never_changes_takes_no_memory(tmp_path):
    covariance = read_log(write(tmp_path, "mcap", 5)).channels["/odom.pose.covariance"]
    assert covariance.values.shape == (5, 36)
    assert covariance.values.strides == (0, 8)
    np.testing.assert_array_equal(covariance.values[3], np.arange(36.0))


@pytest.mark.parametrize("suffix", [".bag", ".mcap", ".db3"])
def test_an_empty_bag_is_refused(suffix, tmp_path):
    path = tmp_path / f"log{suffix}"
    if suffix == ".bag":
        with Ros1Writer(path):
            pass
    elif suffix == ".mcap":
        with path.open("wb") as file:
            writer = McapWriter(file)
            writer.start("ros2")
            writer.finish()
    else:
        with closing(sqlite3.connect(write(tmp_path, "db3 old", 1))) as database:
            database.execute("DELETE FROM messages")
            database.commit()
            database.execute("VACUUM")
        path = tmp_path / "old.db3"
    with pytest.raises(LogFileError) as error:
        read_log(path)
    assert str(error.value).startswith(f"{path.name}: has no messages")


@pytest.mark.parametrize("suffix", [".bag", ".mcap", ".db3"])
def test_garbage_that_is_called_a_bag_is_refused(suffix, tmp_path):
    path = tmp_path / f"log{suffix}"
    path.write_bytes(np.random.default_rng(1).bytes(5000))
    with pytest.raises(LogFileError) as error:
        read_log(path)
    said = "its database is damaged (file is not a database); try: sqlite3 log.db3 .recover | "
    assert str(error.value).startswith(f"log{suffix}: {said if suffix == '.db3' else 'has no messages: '}")
