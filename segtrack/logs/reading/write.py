"""A motion as a bag of ROS 2."""

from __future__ import annotations

from pathlib import Path

from segtrack.errors import MissingPackageError
from segtrack.logs.motion import Motion


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
        from segtrack.logs.reading import to_bag
    except ModuleNotFoundError as error:
        raise MissingPackageError("writing a bag", str(error.name), "logs") from None
    return to_bag.write(motion, path)
