"""`segtrack reproduce log-speed`: time to read and compare logs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.table import Table

from segtrack.description import TrackOffsets
from segtrack.errors import MissingPackageError
from segtrack.logs.compare import DataUncertainty, RunComparison, compare_motions
from segtrack.logs.mapping import TimeUncertainty
from segtrack.logs.reading import read_log
from segtrack.report import Outcome
from segtrack.reproduce.registry import Session, at_most, stopwatch
from segtrack.robot import Motion, Signal

RATE = 200
"""Sampling rate [Hz]."""
KINDS = ("CSV", "MCAP", "ROS 2 SQLite", "ROS 1 bag")
COMPARED = "comparison"
READING, COMPARING = 5.0, 60.0
"""Targets for an hour of logs: processor time of reading a file, and of comparing [s]."""
GAUGE, TURNS = 0.4, 0.8
"""Gauge [m] of the compared drive, and its yaw rate over that without slip [-]."""
_START = 1_760_000_000_000_000_000
_STAMP = slice(4, 12)
"""Bytes of a serialized header's time, in both kinds of ROS."""


@dataclass(frozen=True)
class SpeedRow:
    """Time of one task.

    Attributes:
        what: One of `KINDS` (reading), or `COMPARED` (comparing).
        megabytes: Size of the file; None without one.
        samples: Number of samples of each channel.
        processor: Processor time [s].
        clock: Wall time [s].
        target: Target time for a log of one hour [s].
    """

    what: str
    megabytes: float | None
    samples: int
    processor: float
    clock: float
    target: float


def measure_log_speed(
    minutes: float = 60.0, on_done: Callable[[], object] = lambda: None
) -> tuple[SpeedRow, ...]:
    """Write a log as each of `KINDS`, read it, and compare a drive of its length.

    Args:
        minutes: Length of the log [min].
        on_done: Function called after each row.

    Raises:
        MissingPackageError: The extra `logs` is not installed.
    """
    count, rows = max(round(minutes * 60 * RATE), 2), []
    for kind in KINDS:
        with TemporaryDirectory() as folder:
            path = write_log(kind, Path(folder), count)
            files = [path] if path.is_file() else list(path.iterdir())
            size = sum(file.stat().st_size for file in files) / 1e6
            taken = stopwatch(partial(read_log, path))
            rows.append(SpeedRow(kind, size, count, taken.processor, taken.clock, READING))
        on_done()
    logged, simulated = drive("log", count, 1.0), drive("simulation", count, 0.0)
    taken = stopwatch(partial(compared, logged, simulated))
    rows.append(SpeedRow(COMPARED, None, count, taken.processor, taken.clock, COMPARING))
    on_done()
    return tuple(rows)


def write_log(kind: str, folder: Path, count: int) -> Path:
    """Write a log of `count` samples as one of `KINDS`: time and 19 numbers, or odometry and four joints.

    Raises:
        MissingPackageError: The extra `logs` is not installed.
    """
    if kind == "CSV":
        path = folder / "log.csv"
        table = np.random.default_rng(1).normal(size=(count, 20))
        table[:, 0] = np.arange(count) / RATE
        names = ",".join(["t [s]", *(f"c{i}" for i in range(1, 20))])
        np.savetxt(path, table, fmt="%.6f", delimiter=",", header=names, comments="")
        return path
    try:
        from rosbags.rosbag1 import Writer as Ros1Writer
        from rosbags.rosbag2 import StoragePlugin
        from rosbags.rosbag2 import Writer as Ros2Writer
    except ImportError:
        raise MissingPackageError("Writing bags", "rosbags", "logs") from None
    if kind == "ROS 1 bag":
        path = folder / "log.bag"
        _write_messages(Ros1Writer(path), 1, count)
    else:
        path = folder / "log"
        plugin = StoragePlugin.MCAP if kind == "MCAP" else StoragePlugin.SQLITE3
        _write_messages(Ros2Writer(path, version=9, storage_plugin=plugin), 2, count)
    return path


def _write_messages(writer: Any, ros: int, count: int) -> None:
    """Write `count` messages of pose and twist (13 numbers), and as many of joints (8)."""
    from rosbags.typesys import Stores, get_typestore

    kinds = get_typestore(Stores.ROS1_NOETIC if ros == 1 else Stores.ROS2_HUMBLE)
    made = kinds.types
    stamp = made["builtin_interfaces/msg/Time"](0, 0)
    head = made["std_msgs/msg/Header"](*([0] if ros == 1 else []), stamp, "odom")
    point = made["geometry_msgs/msg/Point"](1.0, 2.0, 3.0)
    turn = made["geometry_msgs/msg/Quaternion"](0.0, 0.0, 0.0, 1.0)
    rate = made["geometry_msgs/msg/Vector3"](0.1, 0.2, 0.3)
    pose, twist = made["geometry_msgs/msg/Pose"](point, turn), made["geometry_msgs/msg/Twist"](rate, rate)
    poses = made["geometry_msgs/msg/PoseWithCovariance"](pose, np.zeros(36))
    twists = made["geometry_msgs/msg/TwistWithCovariance"](twist, np.zeros(36))
    names = ["left", "right", "front", "rear"]
    sent = {
        "/odom": ("nav_msgs/msg/Odometry", (head, "base_link", poses, twists)),
        "/joint_states": ("sensor_msgs/msg/JointState", (head, names, np.zeros(4), np.ones(4), np.empty(0))),
    }
    serialize = kinds.serialize_ros1 if ros == 1 else kinds.serialize_cdr
    with writer:
        ready = []
        for topic, (kind, values) in sent.items():
            connection = writer.add_connection(topic, kind, typestore=kinds)
            ready.append((connection, bytearray(serialize(made[kind](*values), kind))))
        for i in range(count):
            now = _START + i * (10**9 // RATE)
            for connection, data in ready:
                data[_STAMP] = b"".join(part.to_bytes(4, "little") for part in divmod(now, 10**9))
                writer.write(connection, now, bytes(data))


def drive(name: str, count: int, noise: float) -> Motion:
    """Closed-form drive on flat ground, with 20 channels.

    Args:
        name: Name of the motion.
        count: Number of samples.
        noise: Factor on the noise.
    """
    times, draw = np.arange(count) / RATE, np.random.default_rng(1)
    turn = 0.3 * np.sin(times / 7)
    yaw = np.cumsum(TURNS * turn) / RATE
    way = np.stack([0.28 * np.cos(yaw), 0.28 * np.sin(yaw), 0.0 * yaw], axis=1)
    half = yaw / 2
    turned = np.stack([0.0 * half, 0.0 * half, np.sin(half), np.cos(half)], axis=1)

    def signal(values: NDArray[np.float64], std: float) -> Signal:
        noisy = values + noise * std * draw.standard_normal(values.shape)
        return Signal(times, noisy, noise * std, "robot")

    signals = {"position": signal(np.cumsum(way, axis=0) / RATE, 0.002)}
    signals |= {"orientation": Signal(times, turned, noise * 0.001, "robot")}
    signals |= {"angular_velocity": signal(0.0 * way, 0.01), "velocity": signal(0.0 * way, 0.01)}
    signals |= {"energy": signal(times, 0.1)}
    for side, sign in (("left", -1), ("right", 1)):
        speed = 0.3 + GAUGE / 2 * sign * turn
        signals[f"belt_speed.{side}"] = signal(speed, 0.002)
        signals[f"belt_speed_command.{side}"] = signal(speed, 0.0)
        signals[f"belt_force.{side}"] = signal(100 + 5 * np.sin(times), 0.5)
    return Motion(name, signals)


def compared(logged: Motion, simulated: Motion) -> RunComparison:
    """Compare two motions with noise, a clock offset and a drift."""
    data = DataUncertainty(clocks={"robot": TimeUncertainty(0.01)}, drift={"position": 1e-4})
    return compare_motions(logged, simulated, sides=TrackOffsets.centred(GAUGE), data=data)


def log_speed_table(rows: Sequence[SpeedRow]) -> Table:
    """Return size, time, and target time for one hour of log."""
    table = Table(title=f"{rows[0].samples / RATE / 60:.3g} min at {RATE} Hz, 20 channels")
    for header in ("", "MB", "processor [s]", "clock [s]", "aimed at for an hour [s]"):
        table.add_column(header)
    for row in rows:
        size = "" if row.megabytes is None else f"{row.megabytes:.3g}"
        table.add_row(row.what, size, f"{row.processor:.3g}", f"{row.clock:.3g}", f"{row.target:g}")
    return table


def run(
    session: Session,
    minutes: Annotated[
        float, typer.Option(parser=at_most(1440.0, "min", least=0.01), help="Length of the log [min].")
    ] = 60.0,
) -> Outcome:
    """Write, read and compare logs of a length."""
    with session.counting("timing", len((*KINDS, COMPARED))) as done:
        rows = measure_log_speed(minutes, done)
    summary = {"rows": [vars(row) for row in rows]}
    return Outcome(log_speed_table(rows), summary, {"log_speed.json": summary})
