"""The fields of message types: from definitions in the file, or as ROS distributes them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from rosbags.typesys import Stores, TypesysError, get_types_from_idl, get_types_from_msg, get_typestore

Fields = list[tuple[str, tuple[int, Any]]]
BASE, NAME, ARRAY, SEQUENCE = 1, 2, 3, 4
"""What a field is: a number or text, a message, a fixed number of these, any number of these."""
TIME, DURATION, HEADER = (
    "builtin_interfaces/msg/Time",
    "builtin_interfaces/msg/Duration",
    "std_msgs/msg/Header",
)
_IDL = "IDL: "
_RULE = "=" * 80 + "\n"


class Connection(NamedTuple):
    """What a file says of some of its messages.

    Attributes:
        topic: They were sent on.
        type: Of them, as `package/msg/Name`.
        encoding: Of their bytes: `cdr` or `ros1`; others are not read.
        definition: Of the type, empty if the file has none.
        is_idl: Whether the definition is in IDL.
    """

    topic: str
    type: str
    encoding: str
    definition: str = ""
    is_idl: bool = False


class Types:
    """Fields by message type."""

    def __init__(self, own: dict[str, Any], default: dict[str, Any]) -> None:
        """Prefer a file's own definitions to those of a distribution."""
        self._own, self._default = own, default

    def __contains__(self, kind: object) -> bool:
        """Whether a type is known."""
        return kind in self._own or kind in self._default

    def fields(self, kind: str) -> Fields:
        """Names and descriptions of a type's fields.

        Raises:
            KeyError: The type is not known.
        """
        found = self._own[kind] if kind in self._own else self._default[kind]
        return found[1]


def normal_name(kind: str) -> str:
    """A type's name as ROS 2 has it: `package/msg/Name`."""
    parts = kind.split("/")
    return f"{parts[0]}/msg/{parts[1]}" if len(parts) == 2 else kind


def types_of(connection: Connection) -> tuple[Types, str | None]:
    """Types that a connection's messages are made of, and what is wrong with its definition."""
    own, problem = _parsed(connection.definition, connection.type, connection.is_idl)
    return Types(own, _default(connection.encoding)), problem


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
