"""A log as its file has it: named channels, each with its own times, and nothing yet of what they mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Channel:
    """A column of a table, or a field of a topic's messages; arrays are read-only.

    Attributes:
        name: In the log: a column's header, or topic and field (`/odom.pose.pose.position`).
        times: When each value was received, or the only time that the file has, as it is there (n,) [s];
            they need not ascend.
        values: As they are in the file: (n,), or (n, k) for k numbers at a time; NaN where there is none.
        unit: As the file says it; empty if it does not.
        source: Topic, or the file's name for one without topics: channels of one source share their times.
        stamps: When each value was measured, by the clock of the device that stamped it (n,) [s]; None for
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
        """How many values it has."""
        return len(self.times)


@dataclass(frozen=True, eq=False)
class Log:
    """A recording as it was read.

    Attributes:
        path: Of the file, or of the folder of a bag.
        kind: Of the file: `csv`, `tum`, `mat`, `ros1 bag`, `ros2 bag`, `mcap`.
        channels: By name, in the order of the file.
        damage: What of the file could not be read, a sentence each; empty for a whole one.
        sha256: Of the file's bytes; of a bag's files in the order of their names.
        types: Message type by topic; empty for files without topics.
        notes: What was taken for granted in reading it, a sentence each.
        skipped: What is in it besides numbers over time, by name: what it is.
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
