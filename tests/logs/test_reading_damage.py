"""Damaged bags: what is read of them is what the whole file has there, and no less than its bytes allow.

A damaged database is refused: SQLite's own program recovers what is left.
"""

import re

import numpy as np
import pytest

pytest.importorskip("rosbags", reason="of an extra")
pytest.importorskip("mcap", reason="of an extra")

from log_files import DAMAGED, messages, store, write_file  # noqa: E402
from rosbags.rosbag1 import Reader as Ros1Reader  # noqa: E402

from segtrack.errors import LogFileError  # noqa: E402
from segtrack.logs.reading import read_log  # noqa: E402

COUNT = 12
TENTHS = range(1, 10)


@pytest.fixture(scope="module")
def wholes(tmp_path_factory):
    """Path, bytes, log and places of the messages of a file of each kind."""
    found = {}
    for kind in DAMAGED:
        path = write_file(tmp_path_factory.mktemp("log"), kind, COUNT)
        data = path.read_bytes()
        found[kind] = path, data, read_log(path), places(path, data, kind)
    return found


def places(path, data, kind):
    """Topic, time, and where in the file each message is, or its chunk if that is compressed."""
    ros = 1 if kind.startswith("bag") else 2
    kinds = store(ros)
    written = messages(COUNT, ros)
    if kind.startswith("bag "):
        with Ros1Reader(path) as reader:
            chunks = sorted((info.pos, info.start_time, info.end_time) for info in reader.chunk_infos)
            ends = [reader.chunks[begin].datapos + reader.chunks[begin].datasize for begin, *_ in chunks]
        return [
            (topic, time, begin, end)
            for (begin, first, last), end in zip(chunks, ends, strict=True)
            for topic, _, time, _ in written
            if first <= time < last
        ]
    if kind in ("mcap zstd", "mcap lz4"):
        return list(mcap_chunks(data, written))
    serialize = kinds.serialize_ros1 if ros == 1 else kinds.serialize_cdr
    found = []
    at = 0
    for topic, name, time, message in written:
        payload = bytes(serialize(message, name))
        at = data.index(payload, at)
        found.append((topic, time, at, at + len(payload)))
    return found


def mcap_chunks(data, written):
    from io import BytesIO

    from mcap.reader import make_reader

    for chunk in make_reader(BytesIO(data)).get_summary().chunk_indexes:
        end = chunk.chunk_start_offset + chunk.chunk_length
        for topic, _, time, _ in written:
            if chunk.message_start_time <= time <= chunk.message_end_time:
                yield topic, time, chunk.chunk_start_offset, end


def received(log):
    """Topics and times of all messages of which anything has been read."""
    by_source = {channel.source: channel for channel in log.channels.values()}
    return {
        (name.split("[")[0], time) for name, channel in by_source.items() for time in channel.times.tolist()
    }


def check(log, whole, besides=frozenset()):
    """See to it that all that was read is what the whole file has, but for some messages."""
    for channel in log.channels.values():
        there = whole.channels[channel.name]
        rows = np.searchsorted(there.times, channel.times)
        same = np.array([(channel.source.split("[")[0], time) not in besides for time in channel.times], bool)
        np.testing.assert_array_equal(channel.times[same], there.times[rows[same]])
        expected = there.values[rows[same]]
        if expected.ndim == 2:
            expected = expected[:, : channel.values.shape[1]]
        np.testing.assert_array_equal(channel.values[same], expected)


def damaged(path, data):
    path.write_bytes(data)
    try:
        return read_log(path)
    except LogFileError as error:
        assert "has no messages" in str(error)
        return None


@pytest.mark.parametrize("kind", DAMAGED)
def test_of_a_bag_that_is_cut_all_is_read_that_is_left(kind, wholes, tmp_path):
    path, data, whole, spans = wholes[kind]
    for tenth in TENTHS:
        cut = len(data) * tenth // 10
        log = damaged(tmp_path / path.name, data[:cut])
        left = {(topic, time / 10**9) for topic, time, _, end in spans if end <= cut and topic != "/note"}
        assert log is not None or not left
        if log is not None:
            assert log.damage
            check(log, whole)
            assert left <= received(log), f"cut at {cut} of {len(data)}"


@pytest.mark.parametrize("kind", DAMAGED)
def test_of_a_bag_with_bytes_overwritten_all_others_are_read(kind, wholes, tmp_path):
    path, data, whole, spans = wholes[kind]
    for tenth in range(10):
        at, size = len(data) * tenth // 10, 40
        noise = (b"\0" * size, b"\xff" * size, np.random.default_rng(tenth).bytes(size))[tenth % 3]
        log = damaged(tmp_path / path.name, data[:at] + noise + data[at + size :])
        assert log is not None
        near = 120  # A record's head is before its message.
        hit = {(t, time / 10**9) for t, time, begin, end in spans if begin - near < at + size and at < end}
        left = {(topic, time / 10**9) for topic, time, *_ in spans if topic != "/note"} - hit
        check(log, whole, hit)
        assert left <= received(log), f"{log.damage}, bytes {at} to {at + size} of {len(data)}"


def refusal(path, data):
    path.write_bytes(data)
    with pytest.raises(LogFileError) as error:
        read_log(path)
    return str(error.value)


def test_a_database_that_is_cut_names_the_program_that_recovers_it(tmp_path):
    data = write_file(tmp_path, "db3", COUNT).read_bytes()
    for cut in (100, *(len(data) * tenth // 10 for tenth in TENTHS)):
        assert refusal(tmp_path / "my drive.db3", data[:cut]) == (
            "my drive.db3: its database is damaged (database disk image is malformed); "
            "try: sqlite3 'my drive.db3' .recover | sqlite3 recovered.db3"
        )


def test_what_is_read_of_a_database_with_bytes_overwritten_is_all_or_nothing(tmp_path):
    """A page that SQLite finds damaged is refused; bytes of a message cannot be told from others."""
    path = write_file(tmp_path, "db3", COUNT)
    data, whole, refused = path.read_bytes(), read_log(path), 0
    for page in range(0, len(data), 4096):
        path.write_bytes(data[:page] + b"\xff" * 40 + data[page + 40 :])
        try:
            log = read_log(path)
        except LogFileError as error:
            assert re.fullmatch(
                r"log.db3: its database is damaged \(.+\); "
                r"try: sqlite3 log.db3 .recover \| sqlite3 recovered.db3",
                str(error),
            )
            refused += 1
        else:
            assert received(log) == received(whole)
    assert refused > 0
