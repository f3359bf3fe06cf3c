"""Sensors: observations of N robots, in groups, with noise, bias, delay and history."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from segtrack.envs.observation import PARTS, ObservationPart, ObservationSetup
from segtrack.envs.own_rows import merge_rows, pickled_rows, rows_to_pickle
from segtrack.envs.parameters import Number, sample_values
from segtrack.envs.view import Rows, TaskView
from segtrack.errors import InvalidValueError, Phrase, UnknownNameError, whole

MAX_DELAY = 50
"""Largest delay of a sensor, in control steps."""
_ERRORS = {
    "noise": Number(0.0, 0.0, math.inf, "-", "standard deviation of noise, in the part's unit"),
    "bias": Number(0.0, -math.inf, math.inf, "-", "constant error of each entry, in the part's unit"),
    "delay": Number(0, 0, MAX_DELAY, "-", "control steps by which entries come late", whole=True),
}


@dataclass(frozen=True)
class SensorModel:
    """Errors of the sensor that one part of the observation comes from.

    Each is a number, a range (low, high), or a `Distribution`, from which every episode draws.

    Attributes:
        noise: Standard deviation of normal noise on each entry, anew in each step, in the part's unit.
        bias: Error of each entry, constant over an episode and drawn for each entry, in the part's unit.
        delay: Number of control steps by which all entries of the part come late.
    """

    noise: Any = 0.0
    bias: Any = 0.0
    delay: Any = 0

    def __post_init__(self) -> None:
        """Check the numbers, ranges and distributions.

        Raises:
            InvalidValueError: Such as cannot be.
        """
        for name, number in _ERRORS.items():
            object.__setattr__(self, name, number.check(f"{name} of a SensorModel", getattr(self, name)))

    @property
    def longest_delay(self) -> int:
        """Longest delay that an episode may draw, in control steps."""
        if callable(self.delay):
            return MAX_DELAY
        return int(self.delay[1] if isinstance(self.delay, tuple) else self.delay)

    def draw(self, entries: int, rng: np.random.Generator) -> tuple[float, NDArray[np.float64], int]:
        """Draw noise, biases (entries,) and delay of an episode.

        Raises:
            InvalidValueError: A distribution has drawn what cannot be.
        """
        values = sample_values(_ERRORS, {**vars(self), "bias": 0.0}, rng)
        bias = {"bias": _ERRORS["bias"]}
        each = [sample_values(bias, {"bias": self.bias}, rng)["bias"] for _ in range(entries)]
        return values["noise"], np.array(each, dtype=float), values["delay"]


@dataclass(frozen=True)
class Group:
    """Observation group: what one network sees, as the policy or the critic of a training.

    Attributes:
        parts: Parts beside the environment's or in place of them, by name; None leaves one out.
        clean: True to see everything without noise, bias and delay.
        history: Number of latest observations that it holds, the newest last; at the start all are the first.
    """

    parts: Mapping[str, ObservationPart | None] = field(default_factory=dict)
    clean: bool = False
    history: int = 1

    def __post_init__(self) -> None:
        """Check what depends on nothing else.

        Raises:
            InvalidValueError: A truth value or number that is none.
        """
        if not isinstance(self.clean, bool):
            raise InvalidValueError("clean of a Group", "True or False", self.clean)
        whole("history of a Group", self.history, 1)


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
        shape: Shape of the entries in a dict observation.
    """

    name: str
    labels: tuple[str, ...]
    unit: str
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    frame: str
    shape: tuple[int, ...]


class Sensors:
    """Sensors that turn the view of N robots into the observations of one group.

    Attributes:
        parts: Parts of the observation, in order.
        space: Space of the observations.
        group: Name of the group; None where observations have no groups.
        history: Number of latest observations that one holds.
    """

    def __init__(
        self,
        setup: ObservationSetup,
        kind: ObservationKind,
        rows: Mapping[str, ObservationPart],
        group: str | None = None,
        history: int = 1,
    ) -> None:
        """Choose the observation's entries for a vehicle.

        Args:
            setup: Vehicle, actions and height scan.
            kind: `flat` for one box, `dict` for named parts.
            rows: Parts by name.
            group: Name of the group.
            history: Number of latest observations that one holds.

        Raises:
            UnknownNameError: No such kind.
            InvalidValueError: A part whose labels, limits or shape are none.
        """
        if kind not in _KINDS:
            raise UnknownNameError("kind of observation", kind, _KINDS)
        self._flat, self._setup, self._rows = kind == "flat", setup, dict(rows)
        self.group, self.history = group, history
        entries = (_entries(name, row, self._setup) for name, row in self._rows.items())
        self.parts = tuple(part for part in entries if part.labels)
        if not self.parts:
            raise InvalidValueError("observation parts", "at least one with entries", Phrase("none"))
        self._low = np.concatenate([part.low for part in self.parts]).astype(np.float32)
        self._high = np.concatenate([part.high for part in self.parts]).astype(np.float32)
        self._ends = np.cumsum([len(part.labels) for part in self.parts]).tolist()
        box = spaces.Box(*self.limits, dtype=np.float32)
        low, high = (
            self._split(end if history == 1 else np.tile(end, (history, 1)))
            for end in (self._low, self._high)
        )
        named: dict[str, spaces.Space[Any]] = {
            part.name: spaces.Box(low[part.name], high[part.name], dtype=np.float32) for part in self.parts
        }
        self.space: spaces.Space[Any] = box if self._flat else spaces.Dict(named)

    @property
    def limits(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Smallest and largest value of each entry (n,), of all of its history."""
        return np.tile(self._low, self.history), np.tile(self._high, self.history)

    @property
    def entries(self) -> tuple[str, ...]:
        """Labels of all entries, as `velocity.x`; with history also the steps before, as `velocity.x[-1]`."""
        labels = [f"{part.name}.{label}" for part in self.parts for label in part.labels]
        before = range(self.history - 1, 0, -1)
        return (*(f"{label}[-{k}]" for k in before for label in labels), *labels)

    def row(self, name: str) -> ObservationPart:
        """Return the row of a part, by its name."""
        return self._rows[name]

    def read(self, view: TaskView, parts: Sequence[Entries] | None = None) -> NDArray[np.float64]:
        """Read all entries of N robots at present (N, n), without noise and not clipped.

        Args:
            view: View of the robots.
            parts: Parts to read, all if not given.

        Raises:
            InvalidValueError: A part that does not give its entries for each robot.
        """
        rows, (count,) = [], view.yaw.shape
        for part in self.parts if parts is None else parts:
            read = np.asarray(self._rows[part.name].read(view, self._setup))
            if read.shape != (count, len(part.labels)) or read.dtype.kind not in "fiub":
                expected = f"numbers of shape {(count, len(part.labels))}, a row a robot"
                got = Phrase(f"{read.dtype} of shape {read.shape}")
                raise InvalidValueError(f"observation part {part.name}", expected, got)
            rows.append(read)
        return np.concatenate(rows, axis=1, dtype=float)

    def clip(self, entries: NDArray[np.floating]) -> NDArray[np.float32]:
        """Clip all entries at one time (..., n) to their ranges."""
        flat = entries.astype(np.float32)
        return flat.clip(self._low, self._high, out=flat)

    def form(self, entries: NDArray[np.float32]) -> Any:
        """Form observations of the space from all entries (..., n), already clipped.

        With history they have an axis for it (..., history, n).
        """
        own = entries.copy()
        if not self._flat:
            return self._split(own)
        return own if self.history == 1 else own.reshape(*own.shape[:-2], -1)

    def _split(self, entries: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
        """Entries (..., n) of each part in its shape, by name."""
        split = np.split(entries, self._ends[:-1], axis=-1)
        return {
            part.name: values.reshape(*values.shape[:-1], *part.shape)
            for part, values in zip(self.parts, split, strict=True)
        }

    def flat(self, observation: Any) -> NDArray[np.float32]:
        """Flatten observations to all entries (..., n)."""
        own = observation if self.group is None else observation[self.group]
        if self._flat:
            return np.asarray(own)
        parts = [self._flattened(np.asarray(own[part.name]), part) for part in self.parts]
        entries = np.concatenate(parts, axis=-1)
        return entries if self.history == 1 else entries.reshape(*entries.shape[:-2], -1)

    def part(self, observation: Any, name: str) -> NDArray[np.float32]:
        """Return a named part (..., n) of observations, flat or dict; with history the newest.

        Raises:
            UnknownNameError: There is no such part.
            InvalidValueError: Not observations of this environment.
        """
        names = [part.name for part in self.parts]
        if name not in names:
            raise UnknownNameError("observation part", name, names)
        if self.group is not None:
            observation = _named(observation, self.group)
        i = names.index(name)
        if not self._flat:
            values = self._flattened(np.asarray(_named(observation, name)), self.parts[i])
            return values if self.history == 1 else values[..., -1, :]
        entries, count = np.asarray(observation), self._ends[-1]
        if entries.shape[-1:] != (self.history * count,):
            expected = f"of {self.history * count} entries"
            raise InvalidValueError("observation", expected, Phrase(f"shape {entries.shape}"))
        return entries[..., -count:][..., self._ends[i] - len(self.parts[i].labels) : self._ends[i]]

    @staticmethod
    def _flattened(values: NDArray[np.float32], part: Entries) -> NDArray[np.float32]:
        """Entries (..., n) of a part in its shape."""
        leading = values.ndim - len(part.shape)
        return values.reshape(*values.shape[:leading], len(part.labels))

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


def _named(observation: Any, name: str) -> Any:
    """Return a part or group of an observation by its name.

    Raises:
        InvalidValueError: Not by name, or without it.
    """
    if not isinstance(observation, Mapping) or name not in observation:
        raise InvalidValueError("observation", f"by name, with {name}", observation)
    return observation[name]


def _entries(name: str, row: ObservationPart, setup: ObservationSetup) -> Entries:
    """Determine a part's entries, limits and shape for a setup.

    Raises:
        InvalidValueError: Labels that are no words, limits that do not bound as many entries, or a shape of
            others.
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
    shape = (len(labels),) if row.shape is None else tuple(row.shape(setup))
    if math.prod(shape) != len(labels):
        raise InvalidValueError(f"shape of observation part {name}", f"of {len(labels)} entries", shape)
    return Entries(name, tuple(labels), row.unit, low, high, row.frame, shape)


class ObservationGroups:
    """Sensors of all groups, and the errors of what they read.

    What several groups see alike is read once, and has the same errors for all of them.

    Attributes:
        groups: Sensors of each group; of one without a name where there are no groups.
        space: Space of the observations: of the one without a name, or of each group by name.
        parts: Parts to be read of each group, those of earlier groups left out.
        labels: Labels of the entries (m) that are read.
        columns: Indices of those that each group sees.
        half_ranges: Half the range of each of them, 0 of what has no sensor noise (m,).
        models: Sensor models, each with the entries that it is about.
        clean: True for each group that sees no errors.
        longest_delay: Longest delay that a model may draw, in control steps.
    """

    def __init__(
        self,
        setup: ObservationSetup,
        kind: ObservationKind,
        parts: Sequence[Mapping[str, ObservationPart | None]],
        groups: Mapping[str, Group],
        models: Mapping[str, SensorModel],
    ) -> None:
        """Choose the entries of all groups for a vehicle.

        Args:
            setup: Vehicle, actions, height scan and parameters.
            kind: `flat` for a box, `dict` for named parts, in each group.
            parts: Parts by name, added to `PARTS` or in place of them; None leaves one out.
            groups: Groups by name; none for observations without groups.
            models: Sensor models by the names of parts.

        Raises:
            UnknownNameError: No such kind, no part to leave out, or a sensor model of no part.
            InvalidValueError: A part that is none, or whose labels, limits or shape are none; a map in a flat
                observation.
        """
        if setup.scan.as_map and kind == "flat":
            raise InvalidValueError("scan.as_map", 'False without observation="dict"', True)
        rows = merge_rows("observation part", ObservationPart, "read", PARTS, *parts)
        own: list[tuple[str | None, Group]] = list(groups.items()) or [(None, Group())]
        self.groups = tuple(
            Sensors(
                setup,
                kind,
                merge_rows("observation part", ObservationPart, "read", rows, group.parts),
                name,
                group.history,
            )
            for name, group in own
        )
        self.clean = tuple(group.clean for _, group in own)
        spaces_of = {str(each.group): each.space for each in self.groups}
        self.space = spaces.Dict(spaces_of) if groups else self.groups[0].space
        self._collect_entries()
        names = dict.fromkeys(name for name, _ in self._known)
        for name in models:
            if name not in names:
                raise UnknownNameError("observation part", name, names)
        self.models = tuple((models[name], where) for name, where in self._known if name in models)
        self.longest_delay = max((model.longest_delay for model, _ in self.models), default=0)

    @property
    def policy(self) -> Sensors:
        """Sensors of the group `policy`; of the first one where none has that name."""
        return next((each for each in self.groups if each.group == "policy"), self.groups[0])

    def _collect_entries(self) -> None:
        """Find which parts are to be read, each once, and which columns of these each group sees."""
        self.parts: list[list[Entries]] = []
        known: dict[tuple[str, int], slice] = {}
        columns, halves, labels = [], [], list[str]()
        for sensors in self.groups:
            seen, own = [], list[Entries]()
            for part in sensors.parts:
                row = sensors.row(part.name)
                key = part.name, id(row)
                if key not in known:
                    start = len(labels)
                    known[key] = slice(start, start + len(part.labels))
                    own.append(part)
                    labels += [f"{part.name}.{label}" for label in part.labels]
                    low, high = part.low.astype(np.float32), part.high.astype(np.float32)
                    halves.append((high - low) / 2 if row.measured else np.zeros(len(low)))
                seen.append(np.arange(known[key].start, known[key].stop))
            self.parts.append(own)
            columns.append(np.concatenate(seen))
        self.columns, self.labels, self.half_ranges = columns, tuple(labels), np.concatenate(halves)
        self._known = [(name, where) for (name, _), where in known.items()]


class Perception:
    """State of the sensors of N robots: errors, what was seen, and the observations.

    Methods take the indices (n,) of the robots that they are about, and rows for these alone.
    """

    def __init__(self, groups: ObservationGroups, count: int) -> None:
        """Allocate arrays for a number of robots whose episodes have not begun."""
        entries = len(groups.labels)
        self._groups = groups
        self._noises, self._biases = np.zeros((2, count, entries))
        self._delays = np.zeros((count, entries), np.intp)
        self._past = np.zeros((1 + groups.longest_delay, count, entries))
        self._looks = np.zeros(count, np.intp)
        self._frames = [
            np.zeros((count, sensors.history, len(sensors.limits[0]) // sensors.history), np.float32)
            for sensors in groups.groups
        ]

    def begin(self, chosen: Rows, noises: NDArray[np.float64], rngs: Sequence[np.random.Generator]) -> None:
        """Draw the errors of sensors for episodes.

        Args:
            chosen: Indices of the robots (n,).
            noises: Standard deviation of the noise on measured entries, over half an entry's range (n,).
            rngs: Random generators of the robots (n,).

        Raises:
            InvalidValueError: A distribution has drawn what cannot be.
        """
        self._noises[chosen], self._looks[chosen] = noises[:, None] * self._groups.half_ranges, 0
        for model, where in self._groups.models:
            for i, rng in zip(chosen.tolist(), rngs, strict=True):
                noise, self._biases[i, where], self._delays[i, where] = model.draw(
                    where.stop - where.start, rng
                )
                self._noises[i, where] = np.hypot(self._noises[i, where], noise)

    def look(self, chosen: Rows, view: TaskView, rngs: Sequence[np.random.Generator]) -> None:
        """Take in what there is to see now, with errors; the first look of an episode fills its history.

        Args:
            chosen: Indices of the robots (n,).
            view: View of them.
            rngs: Random generators of all robots (N,).

        Raises:
            InvalidValueError: A part that does not give its entries for each robot, or gives NaN.
        """
        own, read = self._groups, []
        for sensors, parts in zip(own.groups, own.parts, strict=True):
            if parts:
                read.append(sensors.read(view, parts))
        entries = read[0] if len(read) == 1 else np.concatenate(read, axis=1)
        if np.isnan(entries).any():
            row, entry = np.argwhere(np.isnan(entries))[0].tolist()
            what = f"observation entry {own.labels[entry]}"
            raise not_finite(what, int(chosen[row]), len(self._looks), math.nan)
        first, seen = self._looks[chosen] == 0, entries
        if own.models:
            seen = self._late(chosen, entries, first) + self._biases[chosen]
        noises = self._noises[chosen]
        noisy = np.flatnonzero(noises.any(axis=1)).tolist()
        if noisy and seen is entries:
            seen = entries.copy()
        for k in noisy:
            seen[k] += noises[k] * rngs[chosen[k]].standard_normal(entries.shape[1])
        for sensors, frames, clean, columns in zip(
            own.groups, self._frames, own.clean, own.columns, strict=True
        ):
            told = entries if clean else seen
            now = sensors.clip(told if len(own.groups) == 1 else told[:, columns])
            if sensors.history > 1:
                frames[chosen, :-1] = np.where(first[:, None, None], now[:, None], frames[chosen, 1:])
            frames[chosen, -1] = now
        self._looks[chosen] += 1

    def _late(
        self, chosen: Rows, entries: NDArray[np.float64], first: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Entries as they were before the sensors' delays (n, m); those of the first look before it."""
        room, now = len(self._past), self._looks[chosen]
        self._past[:, chosen[first]] = entries[first]
        self._past[now % room, chosen] = entries
        when = (now[:, None] - self._delays[chosen]) % room
        return self._past[when, chosen[:, None], np.arange(entries.shape[1])]

    def observe(self, robots: int | slice = slice(None)) -> Any:
        """Form the present observations of one robot or of all."""
        formed = {}
        for sensors, frames in zip(self._groups.groups, self._frames, strict=True):
            seen = frames[robots]
            formed[sensors.group] = sensors.form(seen if sensors.history > 1 else seen[..., 0, :])
        return formed[None] if None in formed else formed


def not_finite(what: str, robot: int, count: int, got: float) -> InvalidValueError:
    """Return the error for a value that is no finite number, naming the robot where there are several."""
    return InvalidValueError(what + f" of robot {robot}" * (count > 1), "a finite number", got)
