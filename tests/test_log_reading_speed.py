"""How long a log of an hour takes: run with `-m slow -s`, which prints it."""

import sys
import time

import numpy as np
import pytest

pytest.importorskip("rosbags", reason="of an extra")
pytest.importorskip("mcap", reason="of an extra")

from log_files import store  # noqa: E402
from rosbags.rosbag1 import Writer as Ros1Writer  # noqa: E402
from rosbags.rosbag2 import StoragePlugin  # noqa: E402
from rosbags.rosbag2 import Writer as Ros2Writer  # noqa: E402

from segtrack.logs.reading import read_log  # noqa: E402

COUNT = 3600 * 200
STAMP = slice(4, 12)


def hour_of_rows(path):
    """A time and 19 numbers, 200 times a second."""
    table = np.random.default_rng(1).normal(size=(COUNT, 20))
    table[:, 0] = np.arange(COUNT) / 200
    with path.open("w") as file:
        file.write(",".join(["t [s]", *(f"c{i}" for i in range(1, 20))]) + "\n")
        file.writelines(",".join(f"{value:.6f}" for value in row) + "\n" for row in table.tolist())


def hour_of_messages(writer, ros):
    """Poses and twists (13 numbers) and joints (8), 200 times a second each."""
    kinds = store(ros)
    made = kinds.types
    head = made["std_msgs/msg/Header"](
        *([0] if ros == 1 else []), made["builtin_interfaces/msg/Time"](0, 0), "odom"
    )
    point, turn = (
        made["geometry_msgs/msg/Point"](1.0, 2.0, 3.0),
        made["geometry_msgs/msg/Quaternion"](0.0, 0.0, 0.0, 1.0),
    )
    rate = made["geometry_msgs/msg/Vector3"](0.1, 0.2, 0.3)
    pose = made["geometry_msgs/msg/PoseWithCovariance"](
        made["geometry_msgs/msg/Pose"](point, turn), np.zeros(36)
    )
    twist = made["geometry_msgs/msg/TwistWithCovariance"](
        made["geometry_msgs/msg/Twist"](rate, rate), np.zeros(36)
    )
    names = ["left", "right", "front", "rear"]
    sent = {
        "/odom": ("nav_msgs/msg/Odometry", (head, "base_link", pose, twist)),
        "/joint_states": ("sensor_msgs/msg/JointState", (head, names, np.zeros(4), np.ones(4), np.empty(0))),
    }
    with writer:
        ready = []
        for topic, (kind, values) in sent.items():
            connection = writer.add_connection(topic, kind, typestore=kinds)
            serialize = kinds.serialize_ros1 if ros == 1 else kinds.serialize_cdr
            ready.append((connection, bytearray(serialize(made[kind](*values), kind))))
        for i in range(COUNT):
            now = 1_760_000_000_000_000_000 + i * 5_000_000
            for connection, data in ready:
                data[STAMP] = b"".join(part.to_bytes(4, "little") for part in divmod(now, 10**9))
                writer.write(connection, now, bytes(data))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "mcap", "db3", "bag"])
def test_a_log_of_an_hour_is_read_within_five_seconds(kind, tmp_path):
    path = tmp_path / f"hour.{kind}"
    if kind == "csv":
        hour_of_rows(path)
    elif kind == "bag":
        hour_of_messages(Ros1Writer(path), 1)
    else:
        plugin = StoragePlugin.MCAP if kind == "mcap" else StoragePlugin.SQLITE3
        path = tmp_path / "hour"
        hour_of_messages(Ros2Writer(path, version=9, storage_plugin=plugin), 2)
    files = [path] if path.is_file() else list(path.iterdir())
    began, wall = time.process_time(), time.perf_counter()
    log = read_log(path)
    used, passed = time.process_time() - began, time.perf_counter() - wall
    size = sum(file.stat().st_size for file in files) / 1e6
    text = f"{kind}: {size:.0f} MB, {len(log.channels)} channels: {used:.1f} s of CPU, {passed:.1f} s"
    sys.stderr.write(f"\n{text}\n")
    assert {len(channel) for channel in log.channels.values()} == {COUNT}
    assert used < 5
