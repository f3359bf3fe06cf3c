"""Numbers that come with one time and one stamp, put together from parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.logs.log import Channel
from segtrack.logs.reading.bags.messages.layout import Field

_EXACT = 2**53
"""Integers up to this one are floating-point numbers, too."""


class _Part(NamedTuple):
    """Some messages: times [ns], stamps [ns], and numbers by field."""

    orders: NDArray[np.int64]
    times: NDArray[np.int64]
    stamps: NDArray[np.int64] | None
    values: dict[str, NDArray[np.float64]]


@dataclass
class Source:
    """A topic, or a transform between two frames.

    Attributes:
        name: Of the topic, with the frames.
    """

    name: str

    def __post_init__(self) -> None:
        """Nothing has been taken yet."""
        self._parts: list[_Part] = []
        self._units: dict[str, str] = {}

    def take(
        self,
        orders: NDArray[np.int64],
        times: NDArray[np.int64],
        stamps: NDArray[np.int64] | None,
        values: list[tuple[Field, NDArray[np.float64]]],
    ) -> None:
        """Take the numbers of some messages."""
        self._units.update({part.name: part.unit for part, _ in values})
        named = {part.name: numbers for part, numbers in values}
        self._parts.append(_Part(orders, times, stamps, named))

    def channels(self) -> list[Channel]:
        """The numbers in the order of the file; NaN in messages that do not have a field."""
        orders = np.concatenate([part.orders for part in self._parts])
        into = None if (np.diff(orders) > 0).all() else np.argsort(orders, kind="stable")
        times = seconds(_ordered(np.concatenate([part.times for part in self._parts]), into))
        stamps = self._stamps(into)
        return [
            Channel(
                f"{self.name}{name}", times, _ordered(self._together(name), into), unit, self.name, stamps
            )
            for name, unit in self._units.items()
        ]

    def _stamps(self, into: NDArray[np.intp] | None) -> NDArray[np.float64] | None:
        """Stamps, None if there are none or all are zero, as those of a driver that sets none."""
        given = [part.stamps for part in self._parts if part.stamps is not None]
        if len(given) < len(self._parts):
            return None
        stamps = np.concatenate(given)
        return seconds(_ordered(stamps, into)) if stamps.any() else None

    def _together(self, name: str) -> NDArray[np.float64]:
        found = [part.values.get(name) for part in self._parts]
        there = [values for values in found if values is not None]
        if len(there) == len(found) and len({values.shape[1:] for values in there}) == 1:
            return _joined(there)
        width = max(values.shape[1] if values.ndim == 2 else 0 for values in there)
        parts = []
        for part, values in zip(self._parts, found, strict=True):
            filled = np.full((len(part.orders), width) if width else len(part.orders), np.nan)
            if values is not None and width:
                columns = values.reshape(len(values), -1)
                filled[:, : columns.shape[1]] = columns
            elif values is not None:
                filled[:] = values
            parts.append(filled)
        return np.concatenate(parts)


def seconds(nanoseconds: NDArray[np.int64]) -> NDArray[np.float64]:
    """Times [s], the nearest to each [ns]."""
    if (abs(nanoseconds) < _EXACT).all():
        return nanoseconds / 1e9
    whole, rest = np.divmod(nanoseconds, 10**9)
    return whole + rest / 1e9


def _joined(parts: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The parts one after the other; held once if they never change."""
    first = parts[0]
    if all(part.strides[0] == 0 and part.ndim == 2 and (part[0] == first[0]).all() for part in parts):
        return np.broadcast_to(first[0], (sum(map(len, parts)), first.shape[1]))
    return np.concatenate(parts)


def _ordered(values: NDArray, into: NDArray[np.intp] | None) -> NDArray:
    return values if into is None else values[into]
