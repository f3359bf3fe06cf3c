"""Compressed tables and trajectories, and damaged ones."""

import gzip

import numpy as np
import pytest

from segtrack.errors import LogFileError
from segtrack.logs.mapping import map_file
from segtrack.logs.reading import files, read_log

ROWS = "".join(f"{i / 20},{i * 0.1},{-i}\n" for i in range(200))
TABLE = f"time [s],v [m/s],n\n{ROWS}".encode()


def same(packed, plain):
    assert (packed.kind, list(packed.channels)) == (plain.kind, list(plain.channels))
    for name, channel in plain.channels.items():
        assert np.array_equal(packed.channels[name].values, channel.values)
        assert np.array_equal(packed.channels[name].times, channel.times)
        assert packed.channels[name].unit == channel.unit


def written(folder, name, data):
    """Paths of the plain and the compressed file."""
    (folder / name).write_bytes(data)
    (folder / f"{name}.gz").write_bytes(gzip.compress(data))
    return folder / f"{name}.gz", folder / name


def trajectory(norm):
    return "".join(f"{i / 20} {i} 0 0 0 0 0 {norm}\n" for i in range(50)).encode()


@pytest.mark.parametrize(
    ("name", "data"), [("run.csv", TABLE), ("run.txt", trajectory(1)), ("run.TUM", trajectory(2))]
)
def test_a_compressed_text_is_read_as_the_plain_one(tmp_path, name, data):
    packed, plain = map(read_log, written(tmp_path, name, data))
    same(packed, plain)
    assert packed.path.name == f"{name}.gz"
    assert {channel.source for channel in packed.channels.values()} == {f"{name}.gz"}
    assert packed.sha256 != plain.sha256


def test_parts_that_were_appended_are_one_log(tmp_path):
    (tmp_path / "run.csv").write_bytes(TABLE)
    (tmp_path / "run.csv.gz").write_bytes(gzip.compress(TABLE[:700]) + gzip.compress(TABLE[700:]))
    same(read_log(tmp_path / "run.csv.gz"), read_log(tmp_path / "run.csv"))


def test_a_compressed_log_is_mapped(tmp_path):
    packed, _ = written(tmp_path, "run.csv", TABLE)
    (tmp_path / "m.yaml").write_text(
        "sources: {run.csv.gz: {sort: true}}\nquantities: {belt_speed: {left: 'v [m/s]', right: 'v [m/s]'}}"
    )
    assert map_file(packed, tmp_path / "m.yaml").motion["belt_speed.left"][10] == 1.0


@pytest.mark.parametrize(
    ("cut", "message"),
    [
        (lambda data: data[:400], "Compressed file ended before the end-of-stream marker was reached"),
        (lambda data: data[:-8] + b"\0" * 8, "CRC check failed"),
        (lambda data: data[:200] + bytes(40) + data[240:], "Error -3 while decompressing data"),
        (lambda data: data + b"more", "Not a gzipped file (b'mo')"),
    ],
)
def test_a_damaged_file_is_one_clear_error(tmp_path, cut, message):
    path = tmp_path / "run.csv.gz"
    path.write_bytes(cut(gzip.compress(TABLE)))
    with pytest.raises(LogFileError) as error:
        read_log(path)
    start = f"run.csv.gz: is a damaged .gz file, which is not read in part: {message}"
    assert str(error.value).startswith(start)
    assert str(error.value).endswith(" bytes)") and "\n" not in str(error.value)


def test_what_is_too_large_or_no_log_inside_is_refused(tmp_path, monkeypatch):
    told = "must hold CSV, TSV or TUM where it is .gz, got "
    for name, data, message in (
        ("run.bag", b"#ROSBAG V2.0\n" + bytes(99), f"{told}b'#ROSBAG ': gunzip it"),
        (
            "run.bin",
            gzip.compress(TABLE, mtime=0),
            f"{told}b'\\x1f\\x8b\\x08\\x00\\x00\\x00\\x00\\x00': gunzip it",
        ),
        ("run.csv", b"", "is empty"),
    ):
        packed, _ = written(tmp_path, name, data)
        with pytest.raises(LogFileError) as error:
            read_log(packed)
        assert str(error.value) == f"{name}.gz: {message}"
    monkeypatch.setattr(files, "LARGEST_UNPACKED", 2**10)
    packed, _ = written(tmp_path, "run.csv", TABLE)
    with pytest.raises(LogFileError) as error:
        read_log(packed)
    assert str(error.value).endswith("holds more than 0.000976562 MiB, which is not unpacked: gunzip it")
