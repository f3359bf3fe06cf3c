"""Logs as their files have them: named channels, each with its own times, and sentences on damage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Channel:
    """A column of a table, or a field of a topic's messages; arrays are read-only.

    Attributes:
        name: Name in the log: a column's header, or topic and field (`/odom.pose.pose.position`).
        times: Receive time of each value, or the only time in the file, unchanged (n,) [s]; they need not
            ascend.
        values: Numbers as in the file: (n,), or (n, k) for k numbers at a time; NaN where one is missing.
        unit: Unit as the file gives it; empty if it gives none.
        source: Topic, or the file's name for one without topics: channels of one source share their times.
        stamps: Measurement times by the clock of the device that stamped them (n,) [s]; None for
            files with one time.
    """

    name: str
    times: NDArray[np.float64]
    values: NDArray[np.float64]
    unit: str = ""
    source: str = ""
    stamps: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        """Keep the arrays as they are."""
        for array in (self.times, self.values, self.stamps):
            if array is not None:
                array.setflags(write=False)

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.times)


@dataclass(frozen=True, eq=False)
class Log:
    """A recording as it was read.

    Attributes:
        path: Path of the file, or of a bag's folder.
        kind: Format: `csv`, `tum`, `mat`, `ros1 bag`, `ros2 bag`, `mcap`.
        channels: Channels by name, in the order of the file.
        damage: Sentences on unreadable parts of the file; empty for a whole file.
        sha256: Hash of the file's bytes; of a bag's files in the order of their names.
        types: Message type by topic; empty for files without topics.
        notes: Sentences on assumptions made in reading.
        skipped: Content that is not numbers over time: its kind, by name.
    """

    path: Path
    kind: str
    channels: Mapping[str, Channel]
    damage: tuple[str, ...] = ()
    sha256: str = ""
    types: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Keep the mappings as they are."""
        object.__setattr__(self, "channels", MappingProxyType(dict(self.channels)))
        object.__setattr__(self, "types", MappingProxyType(dict(self.types)))
        object.__setattr__(self, "skipped", MappingProxyType(dict(self.skipped)))

    @property
    def sources(self) -> Mapping[str, tuple[Channel, ...]]:
        """Channels by their source, in the order of the file."""
        found: dict[str, tuple[Channel, ...]] = {}
        for channel in self.channels.values():
            found[channel.source] = (*found.get(channel.source, ()), channel)
        return found


BAG_MAGIC = {"mcap": b"\x89MCAP0\r\n", "ros1 bag": b"#ROSBAG V2.0\n", "ros2 bag": b"SQLite format 3\0"}
"""First bytes of the files of bags, by kind."""
_SHOWN = 5


def format_count(count: int, what: str) -> str:
    """Format a count as the beginning of a sentence: `1 row is`, `3 rows are`."""
    return f"{count} {what} is" if count == 1 else f"{count} {what}s are"


def format_locations(what: str, places: Sequence[object]) -> str:
    """Format locations for a message, abbreviating long lists: `lines 1, 2, 3, 4, 5 and 9 more`."""
    shown = [str(place) for place in places[:_SHOWN]]
    if len(places) == 1:
        return f"{what} {shown[0]}"
    if len(places) > _SHOWN:
        return f"{what}s {', '.join(shown)} and {len(places) - _SHOWN} more"
    return f"{what}s {', '.join(shown[:-1])} and {shown[-1]}"


def abbreviate(sentences: Sequence[str]) -> tuple[str, ...]:
    """Return the first sentences, and the number of those left out."""
    if len(sentences) <= 2 * _SHOWN:
        return tuple(sentences)
    return *sentences[: 2 * _SHOWN], f"and {len(sentences) - 2 * _SHOWN} more places like these"
