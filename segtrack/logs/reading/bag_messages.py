"""Messages of ROS 2 made of a motion's numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rosbags.typesys import Stores, get_typestore

WORLD, BODY = "world", "body"
"""Names of the frames."""
_STORE = get_typestore(Stores.ROS2_HUMBLE)
_UNKNOWN = np.zeros(36)
"""A covariance that is not given."""
_NO_ACCELERATION = np.array([-1.0, *np.zeros(8)])
_NONE = np.empty(0)
Make = Callable[..., Any]
"""A message of its header and the numbers of its signals."""


def definition(kind: str) -> str:
    """A message type's definition, with all types in it."""
    return str(_STORE.generate_msgdef(kind, ros_version=2)[0])


def serialized(kind: str, message: Any) -> bytes:
    """The bytes of a message."""
    return bytes(_STORE.serialize_cdr(message, kind))


def store() -> Any:
    """The types."""
    return _STORE


def header(time: int, frame: str) -> Any:
    """A header with a time [ns]."""
    return _of("std_msgs/msg/Header", _of("builtin_interfaces/msg/Time", *divmod(time, 10**9)), frame)


def odometry(head: Any, position: Any, orientation: Any, velocity: Any, spin: Any) -> Any:
    """Pose in the world and velocities in the body frame."""
    pose = _of("geometry_msgs/msg/PoseWithCovariance", _pose(position, orientation), _UNKNOWN)
    twist = _of("geometry_msgs/msg/Twist", _vector(velocity), _vector(spin))
    moving = _of("geometry_msgs/msg/TwistWithCovariance", twist, _UNKNOWN)
    return _of("nav_msgs/msg/Odometry", head, BODY, pose, moving)


def pose_stamped(head: Any, position: Any, orientation: Any) -> Any:
    """A pose in the world."""
    return _of("geometry_msgs/msg/PoseStamped", head, _pose(position, orientation))


def imu(head: Any, orientation: Any, spin: Any) -> Any:
    """Orientation and angular velocity, without accelerations, as their covariance says."""
    unknown = _UNKNOWN[:9]
    still = _of("geometry_msgs/msg/Vector3", 0.0, 0.0, 0.0)
    turn = _of("geometry_msgs/msg/Quaternion", *orientation.tolist())
    return _of("sensor_msgs/msg/Imu", head, turn, unknown, _vector(spin), unknown, still, _NO_ACCELERATION)


def joints(names: Sequence[str], has_efforts: bool, are_speeds: bool) -> Make:
    """A maker of joints' positions or speeds, and of their forces."""

    def make(head: Any, *values: Any) -> Any:
        main, efforts = np.array(values[: len(names)]), np.array(values[len(names) :])
        where, rate = (_NONE, main) if are_speeds else (main, _NONE)
        return _of(
            "sensor_msgs/msg/JointState", head, list(names), where, rate, efforts if has_efforts else _NONE
        )

    return make


def _of(kind: str, *values: Any) -> Any:
    return _STORE.types[kind](*values)


def _vector(values: NDArray[np.float64]) -> Any:
    return _of("geometry_msgs/msg/Vector3", *values.tolist())


def _pose(position: NDArray[np.float64], orientation: NDArray[np.float64]) -> Any:
    place = _of("geometry_msgs/msg/Point", *position.tolist())
    return _of("geometry_msgs/msg/Pose", place, _of("geometry_msgs/msg/Quaternion", *orientation.tolist()))


def _stamped(part: str) -> Make:
    kind = f"geometry_msgs/msg/{part}"
    return lambda head, values: _of(f"{kind}Stamped", head, _of(kind, *values.tolist()))


SINGLE: Mapping[str, Make] = {
    "std_msgs/msg/Float64": lambda head, value: _of("std_msgs/msg/Float64", float(value)),
    "geometry_msgs/msg/PointStamped": _stamped("Point"),
    "geometry_msgs/msg/Vector3Stamped": _stamped("Vector3"),
    "geometry_msgs/msg/QuaternionStamped": _stamped("Quaternion"),
}
"""Messages of one signal, by their type."""
