"""Bags, tables and trajectories written from a motion."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segtrack import files
from segtrack.errors import InvalidValueError, MissingPackageError, Phrase
from segtrack.robot.motion import Motion, Signal, quantity_of


def write_bag(motion: Motion, path: Path) -> Path:
    """Write a motion as a bag of ROS 2: an MCAP file if the path ends so, else a folder with SQLite.

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

    Returns:
        The path.

    Raises:
        InvalidValueError: A time is negative, which bags do not have.
        FileAccessError: The folder exists, or nothing can be written.
        MissingPackageError: The extra `logs` is not installed.
    """
    try:
        from segtrack.logs.reading.bag_writing import write_bag_file
    except ModuleNotFoundError as error:
        raise MissingPackageError("writing a bag", str(error.name), "logs") from None
    return write_bag_file(motion, path)


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


def _rows(motion: Motion, times: ArrayLike | None) -> NDArray[np.float64]:
    if times is None:
        return max((signal.times for signal in motion.signals.values()), key=len)
    rows = np.asarray(times, dtype=float)
    if rows.ndim != 1 or not len(rows) or not (np.diff(rows) > 0).all() or not np.isfinite(rows).all():
        raise InvalidValueError("times of a table", "one or more that ascend", Phrase("others"))
    return rows


def _at(signal: Signal, times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values at times, as they are where the signal has no others."""
    return signal.values if np.array_equal(times, signal.times) else signal.at(times)


def _columns(key: str, signal: Signal, rows: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """The columns of a signal by their headers, NaN outside its times."""
    quantity = quantity_of(key)
    values = np.array(_at(signal, rows))
    values[(rows < signal.times[0]) | (rows > signal.times[-1])] = np.nan
    if quantity.width == 1:
        return {f"{key} [{quantity.unit}]": values}
    return {f"{key}.{axis} [{quantity.unit}]": part for axis, part in zip(_AXES, values.T, strict=False)}
