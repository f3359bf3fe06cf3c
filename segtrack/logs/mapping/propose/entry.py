"""What is proposed of one quantity."""

from __future__ import annotations

from dataclasses import dataclass

RADIUS = "of the sprocket, from its axis to where the belt's pitch is true [m]"
PITCH = "nose up, or nose down (as REP 103 counts)"
SLIP = "belt faster, or ground faster"


@dataclass(frozen=True)
class Entry:
    """A quantity and its keys in the order of their lines.

    Attributes:
        path: Of the quantity, with the flipper's name if it is of one.
        keys: Values by key: names of channels, lists of them, or words.
        todo: What is to be said for a key, by key.
        channels: Names of the log's channels that it uses.
    """

    path: str
    keys: dict[str, str | list[str]]
    todo: dict[str, str]
    channels: tuple[str, ...]
