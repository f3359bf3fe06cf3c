"""Bags of every kind against rosbags' own reader and deserialisation."""

import re

import numpy as np
import pytest

pytest.importorskip("rosbags", reason="of an extra")
pytest.importorskip("mcap", reason="of an extra")

from log_files import BELTS, KINDS, messages, store, write  # noqa: E402
from rosbags.highlevel import AnyReader  # noqa: E402

from segtrack.logs.reading import read_log  # noqa: E402


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
