"""Sensors of an environment: observations with noise and limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from segtrack.description import VehicleDescription
from segtrack.envs.observation import PARTS, ObservationPart, ObservationSetup, Scan
from segtrack.envs.own_rows import merge_rows, pickled_rows, rows_to_pickle
from segtrack.envs.view import TaskView
from segtrack.errors import InvalidValueError, Phrase, UnknownNameError

ObservationKind = Literal["flat", "dict"]
_KINDS = ("flat", "dict")


class Entries(NamedTuple):
    """Entries of one observation part in an environment.

    Attributes:
        name: Key in a dict observation.
        labels: Labels of the entries.
        unit: SI unit of the entries.
        low: Smallest value of each entry (n,).
        high: Largest value of each entry (n,).
        frame: Frame in which the entries are given.
    """

    name: str
    labels: tuple[str, ...]
    unit: str
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    frame: str


class Sensors:
    """Sensors that turn the view of N robots into observations.

    Attributes:
        parts: Parts of the observation, in order.
        space: Space of the observations.
    """

    def __init__(
        self,
        vehicle: VehicleDescription,
        actions: Sequence[str],
        scan: Scan,
        kind: ObservationKind,
        *own: Mapping[str, ObservationPart | None],
    ) -> None:
        """Choose the observation's entries for a vehicle.

        Args:
            vehicle: Vehicle to observe.
            actions: Names of the action's entries.
            scan: Grid of the height scan.
            kind: `flat` for one box, `dict` for named parts.
            *own: Parts by name, added to `PARTS` or in place of them; None leaves one out.

        Raises:
            UnknownNameError: No such kind, or no part to leave out.
            InvalidValueError: A part that is none, or whose labels or limits are none.
        """
        if kind not in _KINDS:
            raise UnknownNameError("kind of observation", kind, _KINDS)
        self._flat, self._setup = kind == "flat", ObservationSetup.of(vehicle, actions, scan)
        self._rows = merge_rows("observation part", ObservationPart, "read", PARTS, *own)
        entries = (_entries(name, row, self._setup) for name, row in self._rows.items())
        self.parts = tuple(part for part in entries if part.labels)
        if not self.parts:
            raise InvalidValueError("observation parts", "at least one with entries", Phrase("none"))
        self._low = np.concatenate([part.low for part in self.parts]).astype(np.float32)
        self._high = np.concatenate([part.high for part in self.parts]).astype(np.float32)
        measured = np.repeat(
            [self._rows[part.name].measured for part in self.parts],
            [len(part.labels) for part in self.parts],
        )
        self._half = np.where(measured, (self._high - self._low) / 2, 0.0)
        self._ends = np.cumsum([len(part.labels) for part in self.parts]).tolist()
        box = spaces.Box(self._low, self._high, dtype=np.float32)
        low, high = np.split(self._low, self._ends[:-1]), np.split(self._high, self._ends[:-1])
        named: dict[str, spaces.Space[Any]] = {
            part.name: spaces.Box(least, most, dtype=np.float32)
            for part, least, most in zip(self.parts, low, high, strict=True)
        }
        self.space: spaces.Space[Any] = box if self._flat else spaces.Dict(named)

    @property
    def limits(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Smallest and largest value of each entry (n,)."""
        return self._low, self._high

    @property
    def entries(self) -> tuple[str, ...]:
        """Labels of all entries."""
        return tuple(f"{part.name}.{label}" for part in self.parts for label in part.labels)

    def read(
        self,
        view: TaskView,
        noises: NDArray[np.float64] | None = None,
        rngs: Sequence[np.random.Generator] = (),
    ) -> NDArray[np.float64]:
        """Read all entries of N robots (N, n), with noise but not clipped.

        Args:
            view: View of the robots.
            noises: Standard deviation of the normal noise on measured entries, over half an entry's range,
                of each robot (N,); without noise by default.
            rngs: Random generator of each robot's noise (N,); not needed without noise.

        Raises:
            InvalidValueError: A part that does not give its entries for each robot.
        """
        rows, parts, setup, (count,) = [], self._rows, self._setup, view.yaw.shape
        for part in self.parts:
            read = np.asarray(parts[part.name].read(view, setup))
            if read.shape != (count, len(part.labels)) or read.dtype.kind not in "fiub":
                expected = f"numbers of shape {(count, len(part.labels))}, a row a robot"
                got = Phrase(f"{read.dtype} of shape {read.shape}")
                raise InvalidValueError(f"observation part {part.name}", expected, got)
            rows.append(read)
        entries = np.concatenate(rows, axis=1, dtype=float)
        if noises is not None:
            for i in np.flatnonzero(noises).tolist():
                entries[i] += noises[i] * self._half * rngs[i].standard_normal(entries.shape[1])
        return entries

    def clip(self, entries: NDArray[np.floating]) -> NDArray[np.float32]:
        """Clip all entries (..., n) to their ranges."""
        flat = entries.astype(np.float32)
        return flat.clip(self._low, self._high, out=flat)

    def form(self, entries: NDArray[np.float32]) -> Any:
        """Form observations of the space from all entries (..., n), already clipped."""
        flat = entries.copy()
        if self._flat:
            return flat
        split = np.split(flat, self._ends[:-1], axis=-1)
        return {part.name: values for part, values in zip(self.parts, split, strict=True)}

    def flat(self, observation: Any) -> NDArray[np.float32]:
        """Flatten observations to all entries (..., n)."""
        if self._flat:
            return np.asarray(observation)
        return np.concatenate([observation[part.name] for part in self.parts], axis=-1)

    def part(self, observation: Any, name: str) -> NDArray[np.float32]:
        """Return a named part (..., n) of observations, flat or dict.

        Raises:
            UnknownNameError: There is no such part.
            InvalidValueError: Not observations of this environment.
        """
        names = [part.name for part in self.parts]
        if name not in names:
            raise UnknownNameError("observation part", name, names)
        if not self._flat:
            if not isinstance(observation, Mapping) or name not in observation:
                raise InvalidValueError("observation", f"by name, with {name}", observation)
            return np.asarray(observation[name])
        i, entries = names.index(name), np.asarray(observation)
        if entries.shape[-1:] != (self._ends[-1],):
            expected = f"of {self._ends[-1]} entries"
            raise InvalidValueError("observation", expected, Phrase(f"shape {entries.shape}"))
        return entries[..., self._ends[i] - len(self.parts[i].labels) : self._ends[i]]

    def table(self) -> str:
        """Return the entries as a Markdown table."""
        lines = ["| part | entries | unit | range | frame |", "|---|---|---|---|---|"]
        for part in self.parts:
            ranges = dict.fromkeys(
                f"{low:.4g} to {high:.4g}" for low, high in zip(part.low, part.high, strict=True)
            )
            labels = ", ".join(part.labels) if len(part.labels) <= 8 else f"{len(part.labels)} cells"
            lines.append(f"| {part.name} | {labels} | {part.unit} | {'; '.join(ranges)} | {part.frame} |")
        return "\n".join(lines)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a copy, with built-in parts by name."""
        return vars(self) | {"_rows": rows_to_pickle(self._rows, PARTS)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a copy."""
        self.__dict__ |= state | {"_rows": pickled_rows(state["_rows"], PARTS)}


def _entries(name: str, row: ObservationPart, setup: ObservationSetup) -> Entries:
    """Determine a part's entries and limits for a setup.

    Raises:
        InvalidValueError: Labels that are no words, or limits that do not bound as many entries.
    """
    labels = row.labels(setup) if callable(row.labels) else row.labels
    words = isinstance(labels, Sequence) and not isinstance(labels, str)
    if not words or not all(isinstance(label, str) for label in labels) or len(set(labels)) < len(labels):
        raise InvalidValueError(f"labels of observation part {name}", "a word for each entry", labels)
    limits: Any = row.limits(setup) if callable(row.limits) else row.limits
    given = [(-limits, limits)] * len(labels) if isinstance(limits, int | float) else limits
    try:
        bounds = np.array(given, dtype=float).reshape(-1, 2)
    except (TypeError, ValueError):  # Ragged, or no numbers.
        bounds = np.full((1, 2), np.nan)
    if len(bounds) != len(labels) or not (np.isfinite(bounds).all() and (bounds[:, 0] < bounds[:, 1]).all()):
        expected = f"a size, or (low, high) of each of {len(labels)} entries"
        raise InvalidValueError(f"limits of observation part {name}", expected, limits)
    low, high = bounds.T
    return Entries(name, tuple(labels), row.unit, low, high, row.frame)
