"""Messages of a recording's file: ROS 2 types in CDR, by topic; damaged files are read up to the damage."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from mcap.exceptions import McapError
from mcap.records import Attachment, Channel, Footer, McapRecord, Message, Metadata
from mcap.stream_reader import CRCValidationError
from numpy.typing import NDArray
from rosbags.serde import SerdeError
from rosbags.typesys import Stores, get_typestore
from scipy.spatial.transform import Rotation

from segtrack.errors import RecordingFileError, SegtrackError
from segtrack.recording.setup import FORMAT, READ_VERSIONS, TICK, Command

Array = NDArray[np.float64]

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
STORE = get_typestore(Stores.ROS2_HUMBLE)
"""Message types of ROS 2 Humble."""
_NONE = np.empty(0)
UNKNOWN = np.zeros(36)
"""A covariance that is not given."""


def make(kind: str, *values: Any) -> Any:
    """Make a message of a type from its fields, in order."""
    return STORE.types[kind](*values)


def make_header(time: int, frame: str) -> Any:
    """Make a header with a time [ns]."""
    return make("std_msgs/msg/Header", make("builtin_interfaces/msg/Time", *divmod(time, 10**9)), frame)


def make_vector(values: Array) -> Any:
    """Make a vector of three numbers."""
    return make("geometry_msgs/msg/Vector3", *values.tolist())


def make_pose(position: Array, orientation: Array) -> Any:
    """Make a pose from a position (3,) [m] and a quaternion (x, y, z, w)."""
    place = make("geometry_msgs/msg/Point", *position.tolist())
    return make("geometry_msgs/msg/Pose", place, make("geometry_msgs/msg/Quaternion", *orientation.tolist()))


def make_odometry(header: Any, position: Array, orientation: Array, velocity: Array, spin: Array) -> Any:
    """Make an odometry message: pose in the world, velocities [m/s], [rad/s] in the body frame."""
    pose = make("geometry_msgs/msg/PoseWithCovariance", make_pose(position, orientation), UNKNOWN)
    twist = make("geometry_msgs/msg/Twist", make_vector(velocity), make_vector(spin))
    moving = make("geometry_msgs/msg/TwistWithCovariance", twist, UNKNOWN)
    return make("nav_msgs/msg/Odometry", header, "body", pose, moving)


def serialize(kind: str, message: Any) -> bytes:
    """Serialise a message of a type to CDR."""
    return bytes(STORE.serialize_cdr(message, kind))


def definition(kind: str) -> bytes:
    """Return the definition text of a message type, with all nested types."""
    return STORE.generate_msgdef(kind, ros_version=2)[0].encode()


def command_message(tick: int, command: Command, flippers: Sequence[str]) -> bytes:
    """Serialise a command: belt speeds [m/s], flipper speeds [rad/s], and 1 to flatten."""
    names = [*_BELTS, *flippers, _FLATTEN]
    return joints_message(tick, names, _NONE, command_values(command, flippers))


def command_values(command: Command, flippers: Sequence[str]) -> Array:
    """Return a command's numbers, in the order of its message (2 + flippers + 1,)."""
    speeds = [command.flipper_speeds.get(name, 0.0) for name in flippers]
    return np.array([command.left, command.right, *speeds, float(command.flatten)])


def read_command(data: bytes) -> Command:
    """Parse a command from its message.

    Raises:
        ValueError: It is none.
        InvalidValueError: One of its numbers is not finite.
    """
    message: Any = STORE.deserialize_cdr(data, TYPES[COMMAND])
    values = dict(zip(message.name, message.velocity.tolist(), strict=True))
    left, right, flatten = (values.pop(name, None) for name in (*_BELTS, _FLATTEN))
    if left is None or right is None or flatten is None:
        raise ValueError("a command without belts")
    return Command(left, right, values, flatten == 1.0)


def array_message(label: str, values: Array) -> bytes:
    """Serialise a row of numbers with a label."""
    dimension = make("std_msgs/msg/MultiArrayDimension", label, len(values), len(values))
    return serialize(
        TYPES[POSE], make(TYPES[POSE], make("std_msgs/msg/MultiArrayLayout", [dimension], 0), values)
    )


def array_length(data: bytes) -> int:
    """Return the number of values in a row's message; -1 if it is invalid."""
    try:
        message: Any = STORE.deserialize_cdr(data, TYPES[POSE])
    except (SerdeError, ValueError):
        return -1
    return len(message.data)


def odometry_message(tick: int, pose: Array, before: Array, span: float) -> bytes:
    """Serialise odometry: body pose in the world, mean velocity over `span` [s] in the body frame."""
    turned = Rotation.from_quat(pose[3:])
    velocity = turned.inv().apply(pose[:3] - before[:3]) / span
    spin = (Rotation.from_quat(before[3:]).inv() * turned).as_rotvec() / span
    header = make_header(tick * TICK_NANOSECONDS, "world")
    return serialize(TYPES[ODOMETRY], make_odometry(header, pose[:3], pose[3:], velocity, spin))


def joints_message(tick: int, names: Sequence[str], positions: Array, velocities: Array = _NONE) -> bytes:
    """Serialise flipper angles [rad] and belt travels [m], or their rates."""
    message = make(
        TYPES[JOINTS], make_header(tick * TICK_NANOSECONDS, ""), list(names), positions, velocities, _NONE
    )
    return serialize(TYPES[JOINTS], message)


def event_message(event: Mapping[str, Any]) -> bytes:
    """Serialise an event as JSON."""
    return serialize(TYPES[EVENTS], make(TYPES[EVENTS], json.dumps(event, allow_nan=False)))


def read_event(data: bytes) -> dict[str, Any]:
    """Parse an event from its message.

    Raises:
        ValueError: It is none.
    """
    message: Any = STORE.deserialize_cdr(data, TYPES[EVENTS])
    event = json.loads(message.data)
    if not isinstance(event, dict) or not isinstance(event.get("kind"), str):
        raise ValueError("an event without its kind")
    return event


_FOREIGN = "must be a recording of a drive by segtrack"


class RecordedInput(NamedTuple):
    """Input of a driver: a command, or a restart.

    Attributes:
        tick: First tick with this input.
        command: Command; None for a restart from the course's start.
    """

    tick: int
    command: Command | None


class RecordedEvent(NamedTuple):
    """Event of a drive.

    Attributes:
        tick: Tick of the event.
        kind: Kind of event.
        details: Details that the recorder was given.
    """

    tick: int
    kind: str
    details: Mapping[str, Any]


@dataclass
class RecordingContent:
    """Content of a file, read so far.

    Attributes:
        file: Name of the file, for
        metadata: Key-value pairs, by name of the metadata record.
        attachments: Contents of the attachments, by name.
        topics: Topic of each channel, by channel number.
        inputs: Commands and restarts, in order.
        events: Events, in order.
        poses: Pose messages, by tick.
        readings: Messages of readings, by tick.
        walls: Wall clock at each pose [ns].
    """

    file: str
    metadata: dict[str, dict[str, Any]] = field(default_factory=dict)
    attachments: dict[str, bytes] = field(default_factory=dict)
    topics: dict[int, str] = field(default_factory=dict)
    inputs: list[RecordedInput] = field(default_factory=list)
    events: list[RecordedEvent] = field(default_factory=list)
    poses: dict[int, bytes] = field(default_factory=dict)
    readings: dict[int, bytes] = field(default_factory=dict)
    walls: list[int] = field(default_factory=list)

    def read(self, records: Iterable[McapRecord]) -> str | None:
        """Read all records, and return the damage at the file's end in words; None if it is intact."""
        ended = False
        try:
            for record in records:
                match record:
                    case Metadata(name=name, metadata=texts):
                        self._check(name, texts)
                    case Attachment(name=name, data=data):
                        self.attachments[name] = data
                    case Channel(id=number, topic=topic):
                        self.topics[number] = topic
                    case Message():
                        self._take(record)
                    case Footer():
                        ended = True
        except CRCValidationError:
            return "its checksum does not match its content"
        except (McapError, EOFError, struct.error, UnicodeDecodeError, MemoryError, OverflowError):
            return None if ended else "it ends in the middle of a record"
        return None

    def _check(self, name: str, texts: Mapping[str, str]) -> None:
        """Store a metadata record, and refuse a file of another format or version."""
        try:
            values = {key: json.loads(text) for key, text in texts.items()}
        except ValueError:
            raise RecordingFileError(self.file, f"metadata {name} must be JSON") from None
        self.metadata[name] = values
        if name != "segtrack" and "segtrack" not in self.metadata:
            raise RecordingFileError(self.file, _FOREIGN)
        for key, expected in (("format", (FORMAT,)), ("version", READ_VERSIONS)):
            if name == "segtrack" and (got := values.get(key)) not in expected:
                raise RecordingFileError(self.file, f"must be of {key} {expected[-1]!r}, got {got!r}")

    def _take(self, record: Message) -> None:
        """Store a message by its topic."""
        topic, tick = self.topics.get(record.channel_id), record.log_time // TICK_NANOSECONDS
        if "segtrack" not in self.metadata:
            raise RecordingFileError(self.file, _FOREIGN)
        try:
            if topic == COMMAND:
                self.inputs.append(RecordedInput(tick, read_command(record.data)))
            elif topic == EVENTS:
                details = read_event(record.data)
                self.events.append(RecordedEvent(tick, kind := details.pop("kind"), details))
                if kind == "restart":
                    self.inputs.append(RecordedInput(tick, None))
            elif topic == POSE:
                self.poses[tick] = record.data
                self.walls.append(record.publish_time)
            elif topic == READINGS:
                self.readings[tick] = record.data
        except (ValueError, SerdeError, SegtrackError) as error:
            raise RecordingFileError(self.file, f"{topic} at tick {tick}: {error}") from None

    def states(self, damage: str | None) -> list[int]:
        """Return the ticks with complete states, at least one; `damage` is that at the file's end.

        Raises:
            RecordingFileError: There is none, or the file is no recording.
        """
        if "segtrack" not in self.metadata:
            raise RecordingFileError(self.file, _FOREIGN)
        ticks = [tick for tick in self.poses if tick in self.readings]
        if not ticks:
            raise RecordingFileError(self.file, f"has no drive in it: {damage or 'no state is recorded'}")
        return ticks

    def numbers(self, label: str, rows: Mapping[int, bytes], ticks: list[int], count: int) -> Array:
        """Parse the rows of `poses` or `readings` at ticks (T, count).

        Raises:
            RecordingFileError: A row has another length, or a number that is not finite.
        """
        first = rows[ticks[0]]
        size = len(first) if array_length(first) == count else -1
        if (wrong := next((tick for tick in ticks if len(rows[tick]) != size), None)) is not None:
            raise RecordingFileError(self.file, f"{label} at tick {wrong} must be {count} numbers")
        table = np.array([np.frombuffer(rows[tick], "<f8", count, size - 8 * count) for tick in ticks])
        finite = np.isfinite(table).all(axis=1)
        if not finite.all():
            tick = ticks[int(np.argmin(finite))]
            raise RecordingFileError(self.file, f"{label} at tick {tick} must be of finite numbers")
        return table
