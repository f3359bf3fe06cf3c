"""Log files of any format: read by their content and only then by their name, and written from a motion."""

from __future__ import annotations

import gzip
import hashlib
import io
import mmap
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segtrack import files
from segtrack.errors import FileAccessError, InvalidValueError, LogFileError, MissingPackageError, Phrase
from segtrack.logs.log import BAG_MAGIC, Log
from segtrack.logs.reading.matlab import read_mat
from segtrack.logs.reading.table import read_table
from segtrack.logs.reading.table_form import is_text
from segtrack.robot import Motion, Signal, quantity_of

Array = NDArray[np.float64]
_HDF5 = b"\x89HDF\r\n\x1a\n"
_MAT, _MAT_73 = b"MATLAB 5.0 MAT-file", b"MATLAB 7.3 MAT-file"
_BINARY = (*BAG_MAGIC.values(), _HDF5, _MAT, _MAT_73)
_GZIP = b"\x1f\x8b\x08"
LARGEST_UNPACKED, _PART = 2**30, 2**24
"""Largest content of a .gz file, and what is unpacked at a time [bytes]."""
_BAGS = (".mcap", ".bag", ".db3")
_EXPECTED = "CSV, TSV, TUM, .mat, .bag, .db3, .mcap or the folder of a ROS 2 bag"


def read_log(path: str | Path) -> Log:
    """Read a log: CSV, TSV and TUM, also as .gz; MATLAB, a ROS 1 or ROS 2 bag, MCAP.

    What is readable of a damaged file is kept; `Log.damage` says what is not.

    Args:
        path: Path of a file, or of the folder of a ROS 2 bag.

    Raises:
        FileAccessError: The file is missing, or cannot be read.
        LogFileError: The file has another format, or nothing in it can be read.
        MissingPackageError: The file is a bag, and the extra `logs` is not installed.
    """
    path = Path(path)
    try:
        if path.is_dir():
            return _read_bag(path)
        files.check_regular(path)
        with path.open("rb") as file:
            if not path.stat().st_size:
                raise LogFileError(path.name, "is empty")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                log = _read_file(path, content)
                return log if log.sha256 else replace(log, sha256=hashlib.sha256(content).hexdigest())
    except OSError as error:
        raise FileAccessError("read", path, error.strerror or str(error)) from None


def _read_file(path: Path, content: mmap.mmap) -> Log:
    head = content[:512]
    if head.startswith(_GZIP):
        return read_table(path, _unpacked_text(path, content))
    kind = path.suffix.lower() if b"\0" in content[: 2**16] else ""
    if head.startswith(tuple(BAG_MAGIC.values())):
        return _read_bag(path)
    if head.startswith((_MAT_73, _HDF5)):
        problem = "is of MATLAB's version 7.3, which is not read: save it as save('log.mat', '-v7')"
        raise LogFileError(path.name, problem)
    if head.startswith(_MAT) or kind == ".mat":
        return read_mat(path)
    if kind in _BAGS:  # Its first bytes are damaged.
        return _read_bag(path)
    if head.startswith(b"\x80") and head[1] in range(2, 6):
        problem = "is a pickle, which is never read, since it can run any program: save it as CSV"
        raise LogFileError(path.name, problem)
    if not is_text(content[: 2**20]):
        raise LogFileError(path.name, f"must be {_EXPECTED}, got a file that begins with {head[:8]!r}")
    return read_table(path, content[:])


def _unpacked_text(path: Path, content: mmap.mmap) -> bytes:
    """Text of a .gz file, which is read as a whole or not at all."""
    parts: list[bytes] = []
    size = 0
    with gzip.GzipFile(fileobj=io.BytesIO(content[:])) as file:
        try:
            while part := file.read(_PART):
                parts.append(part)
                size += len(part)
                if size > LARGEST_UNPACKED:
                    told = (
                        f"holds more than {LARGEST_UNPACKED / 2**20:g} MiB, which is not unpacked: gunzip it"
                    )
                    raise LogFileError(path.name, told)
                if parts[0].startswith(_BINARY) or not is_text(parts[0][: 2**20]):
                    told = f"must hold CSV, TSV or TUM where it is .gz, got {parts[0][:8]!r}: gunzip it"
                    raise LogFileError(path.name, told)
        except (EOFError, OSError, zlib.error) as error:
            problem = f"is a damaged .gz file, which is not read in part: {error} (after {size} bytes)"
            raise LogFileError(path.name, problem) from None
    if not size:
        raise LogFileError(path.name, "is empty")
    return b"".join(parts)


def _read_bag(path: Path) -> Log:
    try:
        from segtrack.logs.reading.bag import read_bag
    except ModuleNotFoundError as error:
        raise MissingPackageError("reading a bag", str(error.name), "logs") from None
    return read_bag(path)


def write_bag(motion: Motion | Mapping[str, Motion], path: Path) -> Path:
    """Write a motion, or several by their names, as a bag of the kind that its name says.

    `.mcap` and `.db3` are files of ROS 2, `.bag` is one of ROS 1; a path without such an end becomes the
    folder of a bag of ROS 2 with SQLite.

    Signals keep their times, to the nanosecond; those at the same times share a message. Orientations and
    angular velocities are in frames as REP 103 has them, x forward, y left, z up, with `world` and `body` as
    names. `/pitch` is nose up positive, as a motion's pitch is.

    | signals | topic | type |
    |---|---|---|
    | position, orientation, velocity and angular velocity at the same times | `/odom` | `nav_msgs/Odometry` |
    | else position and orientation at the same times | `/pose` | `geometry_msgs/PoseStamped` |
    | else orientation and angular velocity at the same times | `/imu` | `sensor_msgs/Imu` |
    | belt speeds, with forces if there are | `/belts`, `/belt_commands` | `sensor_msgs/JointState` |
    | flipper angles | `/flippers`, `/flipper_commands` | `sensor_msgs/JointState` |
    | others, such as `current.left` | `/current/left` | `std_msgs/Float64`, `geometry_msgs/...Stamped` |

    Several motions have the topics of each below its name: `/logged/odom`, `/measured/odom`.

    Returns:
        The path.

    Raises:
        InvalidValueError: A time is negative, which bags do not have, or the name is that of another file.
        FileAccessError: The folder exists, or nothing can be written.
        MissingPackageError: The extra `logs` is not installed.
    """
    try:
        from segtrack.logs.reading.bag_writing import write_bag_file
    except ModuleNotFoundError as error:
        raise MissingPackageError("writing a bag", str(error.name), "logs") from None
    motions = {"": motion} if isinstance(motion, Motion) else {f"/{n}": each for n, each in motion.items()}
    return write_bag_file(motions, path)


_AXES = "xyzw"


def write_csv(motion: Motion, path: Path, times: ArrayLike | None = None) -> Path:
    """Write a motion as a table, a row for each time, with units in the header; returns its path.

    Signals have times of their own. Values between two of them are linear, orientations by the shorter way;
    before a signal's first and after its last time its cells are empty.

    Args:
        motion: Motion to write.
        path: Path of the file.
        times: Times of the rows, ascending (n,) [s]; those of the signal with most rows if not given.

    Raises:
        InvalidValueError: There are no times, or they do not ascend.
        FileAccessError: The file cannot be written.
    """
    rows = _rows(motion, times)
    columns = {"time [s]": rows}
    for key, signal in motion.signals.items():
        columns |= _columns(key, signal, rows)
    cells = (
        [repr(float(value)) if value == value else "" for value in row]
        for row in zip(*columns.values(), strict=True)
    )
    return files.write_csv(path, list(columns), cells)


def write_tum(motion: Motion, path: Path) -> Path:
    """Write poses as `t x y z qx qy qz qw`, at the times of the positions; returns the path.

    Raises:
        InvalidValueError: The motion lacks one of them, or they have no time in common.
        FileAccessError: The file cannot be written.
    """
    position, orientation = motion.signals.get("position"), motion.signals.get("orientation")
    if position is None or orientation is None:
        got = Phrase(", ".join(motion.signals) or "nothing")
        raise InvalidValueError(f"motion {motion.name}", "one with position and orientation", got)
    first, last = orientation.times[0], orientation.times[-1]
    inside = (position.times >= first) & (position.times <= last)
    if not inside.any():
        got = Phrase(f"orientations from {first:g} to {last:g} s and none of the positions there")
        raise InvalidValueError(f"motion {motion.name}", "one with position and orientation at a time", got)
    times = position.times[inside]
    table = np.column_stack([times, position.values[inside], _at(orientation, times)])
    lines = (" ".join(map(repr, row)) for row in table.tolist())
    return files.write_text(
        path, "# timestamp tx ty tz qx qy qz qw\n" + "".join(f"{line}\n" for line in lines)
    )


def _rows(motion: Motion, times: ArrayLike | None) -> Array:
    if times is None:
        return max((signal.times for signal in motion.signals.values()), key=len)
    rows = np.asarray(times, dtype=float)
    if rows.ndim != 1 or not len(rows) or not (np.diff(rows) > 0).all() or not np.isfinite(rows).all():
        raise InvalidValueError("times of a table", "one or more that ascend", Phrase("others"))
    return rows


def _at(signal: Signal, times: Array) -> Array:
    """Values at times, as they are where the signal has no others."""
    return signal.values if np.array_equal(times, signal.times) else signal.at(times)


def _columns(key: str, signal: Signal, rows: Array) -> dict[str, Array]:
    """The columns of a signal by their headers, NaN outside its times."""
    quantity = quantity_of(key)
    values = np.array(_at(signal, rows))
    values[(rows < signal.times[0]) | (rows > signal.times[-1])] = np.nan
    if quantity.width == 1:
        return {f"{key} [{quantity.unit}]": values}
    return {f"{key}.{axis} [{quantity.unit}]": part for axis, part in zip(_AXES, values.T, strict=False)}
