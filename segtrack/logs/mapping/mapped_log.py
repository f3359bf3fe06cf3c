"""A log that was mapped: the motion, and how it came about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from segtrack.logs.clocks import ClockFit
from segtrack.logs.log import Log
from segtrack.logs.mapping.file import Mapping as MappingOf
from segtrack.logs.motion import Motion, quantity_of


@dataclass(frozen=True)
class Origin:
    """Where a signal is from.

    Attributes:
        channels: Of the log.
        unit: That they are in; empty for what has none.
        clock: By which their times are: `header`, `receive`, or a channel's name; empty for steady rows.
    """

    channels: tuple[str, ...]
    unit: str
    clock: str


@dataclass(frozen=True, eq=False)
class MappedLog:
    """A motion from a log.

    Attributes:
        motion: In segtrack's units, frames and signs. Times count from the beginning of the log; where rows
            are steady turns they are numbers of rows instead.
        mapping: What it was mapped by.
        log: What it was read from.
        begin: Time of the log at the motion's 0 [s]; 0 where rows are steady turns.
        clocks: What was found out of clocks, and of sensors on the vehicle.
        origins: Where each signal is from.
        notes: What was left out, held or taken for granted, a sentence each.
    """

    motion: Motion
    mapping: MappingOf
    log: Log
    begin: float
    clocks: tuple[ClockFit, ...] = ()
    origins: Mapping[str, Origin] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Keep the mapping as it is."""
        object.__setattr__(self, "origins", MappingProxyType(dict(self.origins)))

    @property
    def is_steady(self) -> bool:
        """Whether rows are steady turns."""
        return self.mapping.file.rows == "steady"

    @property
    def force_per_current(self) -> float | None:
        """Force on a side's belts for each ampere of its motors [N/A]; None if the mapping does not say."""
        current = self.mapping.file.quantities.current
        return None if current is None else current.force_per_current

    def record(self) -> dict[str, Any]:
        """As JSON can hold it, without the signals' values."""
        return {
            "log": str(self.log.path),
            "sha256": self.log.sha256,
            "mapping": self.mapping.name,
            "vehicle": self.mapping.vehicle,
            "terrain": self.mapping.terrain,
            "event": self.mapping.event,
            "begin": self.begin,
            "signals": {key: self._signal(key) for key in self.motion.signals},
            "clocks": [fit.record() for fit in self.clocks],
            "notes": list(self.notes),
        }

    def _signal(self, key: str) -> dict[str, Any]:
        signal, origin = self.motion.signals[key], self.origins[key]
        steps = np.diff(signal.times)
        return {
            "channels": list(origin.channels),
            "channel_unit": origin.unit,
            "unit": quantity_of(key).unit,
            "source": signal.source,
            "clock": origin.clock,
            "samples": len(signal.times),
            "rate": None if not len(steps) else float(1 / np.median(steps)),
            "first": float(signal.times[0]),
            "last": float(signal.times[-1]),
            "longest_gap": float(steps.max(initial=0.0)),
            "std": signal.std,
        }
