"""Layouts of messages: fields of their types, places and units of their numbers, found once for all alike."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rosbags.typesys import Stores, TypesysError, get_types_from_idl, get_types_from_msg, get_typestore

Fields = list[tuple[str, tuple[int, Any]]]
BASE, NAME, ARRAY, SEQUENCE = 1, 2, 3, 4
"""Kinds of field: a number or text, a message, a fixed number of these, any number of these."""
TIME, DURATION, HEADER = (
    "builtin_interfaces/msg/Time",
    "builtin_interfaces/msg/Duration",
    "std_msgs/msg/Header",
)
_IDL = "IDL: "
_RULE = "=" * 80 + "\n"


class Connection(NamedTuple):
    """Description of some messages of a file.

    Attributes:
        topic: Topic that they were sent on.
        type: Message type, as `package/msg/Name`.
        encoding: Serialisation: `cdr` or `ros1`; others are not read.
        definition: Definition of the type, empty if the file has none.
        is_idl: True for a definition in IDL.
    """

    topic: str
    type: str
    encoding: str
    definition: str = ""
    is_idl: bool = False


_NO_FIELDS: Fields = [("structure_needs_at_least_one_member", (BASE, ("uint8", 0)))]
"""What ROS 2 puts into a message without fields, which IDL does not know."""


class Types:
    """Fields by message type."""

    def __init__(self, own: dict[str, Any], default: dict[str, Any], encoding: str) -> None:
        """Prefer a file's own definitions to those of a distribution."""
        self._own, self._default = own, default
        self._no_fields: Fields = [] if encoding == "ros1" else _NO_FIELDS

    def __contains__(self, kind: object) -> bool:
        """Return True for a known type."""
        return kind in self._own or kind in self._default

    def fields(self, kind: str) -> Fields:
        """Names and descriptions of a type's fields.

        Raises:
            KeyError: The type is not known.
        """
        found = self._own[kind] if kind in self._own else self._default[kind]
        return found[1] or self._no_fields


def normal_name(kind: str) -> str:
    """Return a type's name in the form of ROS 2: `package/msg/Name`."""
    parts = kind.split("/")
    return f"{parts[0]}/msg/{parts[1]}" if len(parts) == 2 else kind


def types_of(connection: Connection) -> tuple[Types, str | None]:
    """Return the types that a connection's messages consist of, and the problem of its definition."""
    own, problem = _parsed(connection.definition, connection.type, connection.is_idl)
    return Types(own, _default(connection.encoding), connection.encoding), problem


@lru_cache(maxsize=256)
def _parsed(text: str, kind: str, is_idl: bool) -> tuple[dict[str, Any], str | None]:
    found: dict[str, Any] = {}
    try:
        if not is_idl:
            return (get_types_from_msg(text, kind) if text.strip() else {}), None
        parts = text.split(_RULE)[1:] if text.startswith(_RULE + _IDL) else [text]
        for part in parts:
            found |= get_types_from_idl(part.split("\n", 1)[1] if part.startswith(_IDL) else part)
    except (TypesysError, ValueError, IndexError, KeyError, RecursionError, AssertionError):
        return {}, f"the definition of {kind} is damaged"
    return found, None


@lru_cache(maxsize=2)
def _default(encoding: str) -> dict[str, Any]:
    """Fields of the types that ROS distributes: those of ROS 1 differ in some, and lack others, as of tf2."""
    found = dict(get_typestore(Stores.ROS2_HUMBLE).fielddefs)
    return found | get_typestore(Stores.ROS1_NOETIC).fielddefs if encoding == "ros1" else found


_ENCAPSULATION = 4
_PADDING = 3
"""Bytes behind a message of CDR that are none of it, at most."""


class MisfitError(Exception):
    """Bytes that are no message of their type."""


class Cursor:
    """A place in a message.

    Attributes:
        is_cdr: True for a message in CDR.
        order: Byte order, `<` or `>`.
        guards: Places of the lengths and names met so far: first byte, and the one behind the last.
    """

    def __init__(self, data: bytes, encoding: str) -> None:
        """Begin at the first field.

        Raises:
            MisfitError: The encapsulation is not that of plain CDR.
        """
        self._data = data
        self._at = 0
        self.is_cdr = encoding == "cdr"
        self.order = "<"
        self.guards: list[tuple[int, int]] = []
        if self.is_cdr:
            if data[:2] not in (b"\0\0", b"\0\1"):
                raise MisfitError(f"its encapsulation is {data[:2].hex(' ')}")
            self.order, self._at = "<" if data[1] else ">", _ENCAPSULATION
            self.guards.append((0, 2))

    def numbers(self, size: int, count: int) -> int:
        """Go over numbers of a size [bytes]; returns where the first one is.

        Raises:
            MisfitError: The message is shorter.
        """
        self._align(size)
        begin = self._at
        self._go(size * count)
        return begin

    def length(self) -> int:
        """Go over the length of a text or sequence; returns it.

        Raises:
            MisfitError: The message is shorter.
        """
        begin = self.numbers(4, 1)
        self.guards.append((begin, self._at))
        (length,) = struct.unpack_from(f"{self.order}I", self._data, begin)
        if length > len(self._data):
            raise MisfitError(f"a length of {length} in {len(self._data)} bytes")
        return int(length)

    def unguard_length(self) -> None:
        """Remove the last length from the guards: it may change from message to message."""
        self.guards.pop()

    def text(self) -> tuple[int, int]:
        """Go over a text; returns where it is: first byte, and the one behind the last.

        Raises:
            MisfitError: The message is shorter.
        """
        length = self.length()
        begin = self._at
        self._go(length)
        return begin, self._at - (self.is_cdr and length > 0)

    def key(self, span: tuple[int, int]) -> str:
        """The text at a place; messages in which it is another are built otherwise."""
        self.guards.append(span)
        return self._data[slice(*span)].decode("utf-8", "replace")

    def check_end(self) -> None:
        """Check that this is the end of the message.

        Raises:
            MisfitError: There are more bytes.
        """
        spare = len(self._data) - self._at
        if spare > (_PADDING if self.is_cdr else 0):
            raise MisfitError(f"{spare} bytes are left over")

    def _go(self, count: int) -> None:
        self._at += count
        if self._at > len(self._data):
            raise MisfitError(f"{self._at - len(self._data)} bytes are missing")

    def _align(self, size: int) -> None:
        if self.is_cdr:
            self._at += -(self._at - _ENCAPSULATION) % size


_GEOMETRY = {
    "Pose": {"position": "m", "orientation": "-"},
    "PointStamped": {"point": "m"},
    "Twist": {"linear": "m/s", "angular": "rad/s"},
    "Accel": {"linear": "m/s^2", "angular": "rad/s^2"},
    "Wrench": {"force": "N", "torque": "N m"},
    "Transform": {"translation": "m", "rotation": "-"},
    "QuaternionStamped": {"quaternion": "-"},
    "Pose2D": {"x": "m", "y": "m", "theta": "rad"},
}
_SENSORS = {
    "Imu": {"orientation": "-", "angular_velocity": "rad/s", "linear_acceleration": "m/s^2"},
    "NavSatFix": {"latitude": "deg", "longitude": "deg", "altitude": "m"},
    "BatteryState": {"voltage": "V", "current": "A", "temperature": "degC"},
    "Temperature": {"temperature": "degC"},
    "FluidPressure": {"fluid_pressure": "Pa"},
    "MagneticField": {"magnetic_field": "T"},
    "Range": {"range": "m", "min_range": "m", "max_range": "m", "field_of_view": "rad"},
}
_UNITS = {f"geometry_msgs/msg/{kind}": units for kind, units in _GEOMETRY.items()} | {
    f"sensor_msgs/msg/{kind}": units for kind, units in _SENSORS.items()
}


def unit_of_field(kind: str, field: str) -> str:
    """Unit of a field of a message type, empty where none is prescribed.

    A joint's position and velocity have none: they are those of an angle or of a length.
    """
    return _UNITS.get(kind, {}).get(field, "")


TRANSFORMS = ("tf2_msgs/msg/TFMessage", "tf/msg/tfMessage")
_NAMES = ("name", "names", "joint_names")
_AXES = (("x", "y"), ("x", "y", "z"), ("x", "y", "z", "w"))
_CODES = {
    "bool": "u1",
    "byte": "u1",
    "octet": "u1",
    "char": "u1",
    "int8": "i1",
    "uint8": "u1",
    "int16": "i2",
    "uint16": "u2",
    "int32": "i4",
    "uint32": "u4",
    "int64": "i8",
    "uint64": "u8",
    "float32": "f4",
    "float64": "f8",
}
_MOST_NUMBERS = 4096
"""Largest sequence of numbers that is kept."""
_CHILD = ".child_frame_id"
"""Field that names whose pose a message is, by which several robots on one topic are taken apart."""
_MOST_PARTS = 64
"""Messages within a message that are walked through."""


class Field(NamedTuple):
    """Numbers of a message.

    Attributes:
        name: Name behind the topic's.
        offset: First byte.
        code: Numpy's type code of each number, or of a time's seconds, followed by as many bytes of
            nanoseconds.
        width: Numbers at a time, 0 for a single one.
        unit: Unit that the message type prescribes.
        is_time: True for a time or duration.
    """

    name: str
    offset: int
    code: str
    width: int = 0
    unit: str = ""
    is_time: bool = False


class Block(NamedTuple):
    """Numbers of a message with one stamp.

    Attributes:
        source: Suffix of the topic: the frames of a transform, or the frame whose pose it is, where it is
            said; empty for all others.
        stamp: Time in the header.
        fields: Numbers of the block.
    """

    source: str
    stamp: Field | None
    fields: tuple[Field, ...]


class MessageLayout(NamedTuple):
    """Places of numbers in all messages of a size that agree in some bytes.

    Attributes:
        blocks: A single block, or one for each transform.
        guards: Places of the bytes in which they agree.
        expected: Values of these bytes.
        skipped: Content other than numbers: its kind, by name.
    """

    blocks: tuple[Block, ...]
    guards: NDArray[np.intp]
    expected: NDArray[np.uint8]
    skipped: dict[str, str]


def find_layout(data: bytes, kind: str, types: Types, encoding: str) -> MessageLayout:
    """Walk through a message.

    Raises:
        MisfitError: The message is not of this type.
    """
    walk = _Walk(data, types, encoding)
    try:
        walk.message(kind)
    except (struct.error, IndexError, ValueError) as error:
        raise MisfitError(str(error)) from None
    except (KeyError, RecursionError) as error:  # In a definition that is damaged.
        raise MisfitError(f"{error} is not defined") from None
    spans = [np.arange(*span, dtype=np.intp) for span in walk.cursor.guards]
    guards = np.concatenate([np.empty(0, np.intp), *spans])
    return MessageLayout(tuple(walk.blocks), guards, np.frombuffer(data, np.uint8)[guards], walk.skipped)


class _Walk:
    """A walk through a message.

    Attributes:
        blocks: Numbers met so far.
        skipped: Other content met so far: its kind, by name.
        cursor: Place in the message.
    """

    def __init__(self, data: bytes, types: Types, encoding: str) -> None:
        self.cursor = Cursor(data, encoding)
        self.types = types
        self.blocks: list[Block] = []
        self.skipped: dict[str, str] = {}
        self._fields: list[Field] = []
        self._frame = (0, 0)
        self._child = ""
        self._ended = False

    def message(self, kind: str) -> None:
        """Walk through a whole message."""
        if kind in TRANSFORMS:
            for _ in range(self.cursor.length()):
                self._transform()
        else:
            stamp = self._struct(kind, "", (), is_top=True)
            self.blocks.append(Block(self._child, stamp, tuple(self._fields)))
        if not self._ended:
            self.cursor.check_end()

    def _transform(self) -> None:
        """A transform, named by its frames."""
        stamp = self._header()
        parent, child = self.cursor.key(self._frame), self.cursor.key(self.cursor.text())
        self._fields = []
        self._struct("geometry_msgs/msg/Transform", "", ())
        self.blocks.append(Block(f"[{parent}->{child}]", stamp, tuple(self._fields)))

    def _struct(self, kind: str, path: str, names: Sequence[str], *, is_top: bool = False) -> Field | None:
        """Walk through a message or part of one; returns its stamp if it is a whole one."""
        stamp = None
        for name, (node, detail) in self.types.fields(kind):
            if self._ended:
                break
            if is_top and node == NAME and detail == HEADER:
                stamp = self._header()
            elif is_top and name == "stamp" and node == NAME and detail == TIME:
                stamp = self._time("", TIME)
            else:
                texts = self._member(f"{path}.{name}", node, detail, names, unit_of_field(kind, name))
                names = texts if texts is not None and name in _NAMES else names
        return stamp

    def _member(
        self, path: str, node: int, detail: Any, names: Sequence[str], unit: str
    ) -> Sequence[str] | None:
        """Walk through a field; returns its texts if they name what is in the fields after it."""
        if node == BASE:
            self._single(path, detail[0], unit)
        elif node == NAME:
            self._part(path, detail, names, unit)
        else:
            (inner, kind), fixed = detail
            count = fixed if node == ARRAY else self.cursor.length()
            if inner == BASE:
                return self._several(path, kind[0], count, names, unit)
            if count > _MOST_PARTS:
                self.cursor.unguard_length()  # It changes nothing in what comes before.
                self._end(path, f"{count} parts")
                return None
            for i in range(count):
                self._part(f"{path}[{names[i] if len(names) == count else i}]", kind, names, unit)
        return None

    def _part(self, path: str, kind: str, names: Sequence[str], unit: str) -> None:
        """A message within the message."""
        if kind in (TIME, DURATION):
            self._fields.append(self._time(path, kind))
        elif kind == HEADER:
            self._fields.append(self._header()._replace(name=f"{path}.stamp"))
        elif (code := _vector(fields := self.types.fields(kind))) is not None:
            self._numbers(path, code, len(fields), unit)
        else:
            self._struct(kind, path, names)

    def _single(self, path: str, kind: str, unit: str) -> None:
        if kind == "string" and path == _CHILD:
            self._child = f"[{self.cursor.key(self.cursor.text())}]"
        elif kind == "string":
            self.cursor.text()
            self.skipped[path] = "text"
        elif kind in _CODES:
            self._numbers(path, _CODES[kind], 0, unit)
        else:
            self._end(path, kind)

    def _several(
        self, path: str, kind: str, count: int, names: Sequence[str], unit: str
    ) -> Sequence[str] | None:
        """Numbers or texts; returns the texts if they are names, none of them twice."""
        if kind == "string":
            texts = [self.cursor.text() for _ in range(count)]
            if path.rpartition(".")[2] in _NAMES:
                found = [self.cursor.key(span) for span in texts]
                return found if len(set(found)) == len(found) else ()
            self.skipped[path] = "texts"
        elif kind not in _CODES:
            self._end(path, kind)
        elif count and len(names) == count:
            for name in names:
                self._numbers(f"{path}[{name}]", _CODES[kind], 0, unit)
        elif count:
            self._numbers(path, _CODES[kind], count, unit)
        return None

    def _numbers(self, path: str, code: str, width: int, unit: str) -> None:
        offset = self.cursor.numbers(int(code[1]), max(width, 1))
        if width > _MOST_NUMBERS:
            self.skipped[path] = f"{width} numbers at a time"
        else:
            self._fields.append(Field(path, offset, self.cursor.order + code, width, unit))

    def _header(self) -> Field:
        """The stamp of a header; its frame is kept."""
        stamp = Field("", 0, "")
        for name, _ in self.types.fields(HEADER):
            if name == "stamp":
                stamp = self._time("", TIME)
            elif name == "frame_id":
                self._frame = self.cursor.text()
            else:  # ROS 1 counts messages.
                self.cursor.numbers(4, 1)
        return stamp

    def _time(self, path: str, kind: str) -> Field:
        offset = self.cursor.numbers(4, 2)
        seconds = "i4" if kind == DURATION or self.cursor.is_cdr else "u4"
        return Field(path, offset, self.cursor.order + seconds, 0, "s", is_time=True)

    def _end(self, path: str, what: str) -> None:
        self.skipped[path] = f"{what}, and what comes after"
        self._ended = True


def _vector(fields: Fields) -> str | None:
    """Code of the numbers of a vector or quaternion; None for other types."""
    kinds = {detail[0] if node == BASE else "" for _, (node, detail) in fields}
    if tuple(name for name, _ in fields) not in _AXES or len(kinds) != 1:
        return None
    (kind,) = kinds
    return _CODES[kind] if kind in ("float32", "float64") else None
