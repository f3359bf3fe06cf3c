"""Messages of a recording: ROS 2 types in CDR, by topic."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rosbags.serde import SerdeError
from rosbags.typesys import Stores, get_typestore

from segtrack.recording.setup import TICK, Command

COMMAND, POSE, READINGS = "/command", "/pose_array", "/readings"
ODOMETRY, JOINTS, EVENTS = "/odom", "/joint_states", "/events"
TYPES = {
    COMMAND: "sensor_msgs/msg/JointState",
    POSE: "std_msgs/msg/Float64MultiArray",
    READINGS: "std_msgs/msg/Float64MultiArray",
    ODOMETRY: "nav_msgs/msg/Odometry",
    JOINTS: "sensor_msgs/msg/JointState",
    EVENTS: "std_msgs/msg/String",
}
"""Message type of each topic."""
TICK_NANOSECONDS = round(TICK * 1e9)
_BELTS, _FLATTEN = ("left belts", "right belts"), "flatten flippers"
_STORE = get_typestore(Stores.ROS2_HUMBLE)
_OF = _STORE.types
_NONE = np.empty(0)
_UNKNOWN = np.zeros(36)


def definition(kind: str) -> bytes:
    """Return a message type's definition, with all types in it."""
    return _STORE.generate_msgdef(kind, ros_version=2)[0].encode()


def command_message(tick: int, command: Command, flippers: Sequence[str]) -> bytes:
    """Return the message of a command: speeds of belts [m/s] and flippers [rad/s], and 1 to flatten."""
    return _joint_state(tick, [*_BELTS, *flippers, _FLATTEN], _NONE, command_values(command, flippers))


def command_values(command: Command, flippers: Sequence[str]) -> NDArray[np.float64]:
    """Return the numbers of a command, in the order of its message (2 + flippers + 1,)."""
    speeds = [command.flipper_speeds.get(name, 0.0) for name in flippers]
    return np.array([command.left, command.right, *speeds, float(command.flatten)])


def read_command(data: bytes) -> Command:
    """Return the command of a message.

    Raises:
        ValueError: It is none.
        InvalidValueError: One of its numbers is not finite.
    """
    message: Any = _STORE.deserialize_cdr(data, TYPES[COMMAND])
    values = dict(zip(message.name, message.velocity.tolist(), strict=True))
    left, right, flatten = (values.pop(name, None) for name in (*_BELTS, _FLATTEN))
    if left is None or right is None or flatten is None:
        raise ValueError("a command without belts")
    return Command(left, right, values, flatten == 1.0)


def array_message(label: str, values: NDArray[np.float64]) -> bytes:
    """Return the message of a row of numbers with its label."""
    kind = _OF["std_msgs/msg/MultiArrayDimension"]
    layout = _OF["std_msgs/msg/MultiArrayLayout"]([kind(label, len(values), len(values))], 0)
    return _serialized(POSE, _OF[TYPES[POSE]](layout, values))


def array_length(data: bytes) -> int:
    """Return the number of values in the row of a message; -1 if it is none."""
    try:
        message: Any = _STORE.deserialize_cdr(data, TYPES[POSE])
    except (SerdeError, ValueError):
        return -1
    return len(message.data)


def read_array(data: bytes, count: int) -> NDArray[np.float64]:
    """Return the row of a message: its last `count` numbers (count,)."""
    return np.frombuffer(data, "<f8", count, len(data) - 8 * count)


def odometry_message(tick: int, pose: NDArray[np.float64], before: NDArray[np.float64], span: float) -> bytes:
    """Return the odometry: body in the world, and mean velocity over `span` [s] in the body frame."""
    kinds = "Point", "Quaternion", "Vector3"
    point, quaternion, vector = (_OF[f"geometry_msgs/msg/{kind}"] for kind in kinds)
    velocity, spin = _mean_motion(before, pose, span)
    place = _OF["geometry_msgs/msg/Pose"](point(*pose[:3].tolist()), quaternion(*pose[3:].tolist()))
    twist = _OF["geometry_msgs/msg/Twist"](vector(*velocity), vector(*spin))
    message = _OF[TYPES[ODOMETRY]](
        _header(tick, "world"),
        "body",
        _OF["geometry_msgs/msg/PoseWithCovariance"](place, _UNKNOWN),
        _OF["geometry_msgs/msg/TwistWithCovariance"](twist, _UNKNOWN),
    )
    return _serialized(ODOMETRY, message)


def _mean_motion(
    before: NDArray[np.float64], after: NDArray[np.float64], span: float
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return mean velocity [m/s] and angular velocity [rad/s] between poses, in the later one's frame."""
    x, y, z, w = after[3:].tolist()
    dx, dy, dz = (after[:3] - before[:3]).tolist()
    # Turned back by the later orientation: v + 2 w (v x u) + 2 (v x u) x u with its vector part u.
    cx, cy, cz = dy * z - dz * y, dz * x - dx * z, dx * y - dy * x
    moved = (
        dx + 2 * (w * cx + cy * z - cz * y),
        dy + 2 * (w * cy + cz * x - cx * z),
        dz + 2 * (w * cz + cx * y - cy * x),
    )
    # The turn since: the earlier orientation's conjugate times the later one.
    a, b, c, d = before[3:].tolist()
    sines = (d * x - a * w - b * z + c * y, d * y - b * w - c * x + a * z, d * z - c * w - a * y + b * x)
    cosine, sine = d * w + a * x + b * y + c * z, math.hypot(*sines)
    factor = 2 * math.atan2(math.copysign(sine, cosine), abs(cosine)) / sine if sine > 0 else 0.0
    return tuple(part / span for part in moved), tuple(factor * part / span for part in sines)


def joints_message(tick: int, names: Sequence[str], positions: NDArray[np.float64]) -> bytes:
    """Return the message of flipper angles [rad] and belt travels [m]."""
    return _joint_state(tick, names, positions, _NONE)


def event_message(event: Mapping[str, Any]) -> bytes:
    """Return the message of an event, as JSON."""
    return _serialized(EVENTS, _OF[TYPES[EVENTS]](json.dumps(event, allow_nan=False)))


def read_event(data: bytes) -> dict[str, Any]:
    """Return the event of a message.

    Raises:
        ValueError: It is none.
    """
    message: Any = _STORE.deserialize_cdr(data, TYPES[EVENTS])
    event = json.loads(message.data)
    if not isinstance(event, dict) or not isinstance(event.get("kind"), str):
        raise ValueError("an event without its kind")
    return event


def _joint_state(
    tick: int, names: Sequence[str], positions: NDArray[np.float64], velocities: NDArray[np.float64]
) -> bytes:
    message = _OF[TYPES[JOINTS]](_header(tick, ""), list(names), positions, velocities, _NONE)
    return _serialized(JOINTS, message)


def _header(tick: int, frame: str) -> Any:
    seconds, nanoseconds = divmod(tick * TICK_NANOSECONDS, 10**9)
    stamp = _OF["builtin_interfaces/msg/Time"](seconds, nanoseconds)
    return _OF["std_msgs/msg/Header"](stamp, frame)


def _serialized(topic: str, message: Any) -> bytes:
    return bytes(_STORE.serialize_cdr(message, TYPES[topic]))
