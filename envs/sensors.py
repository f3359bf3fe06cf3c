"""Actions and observations of an environment: commands put out, and what is perceived, with noise and limits.

| entry | commands | at 1 |
|---|---|---|
| left, right | speed of the belts of that side, flippers' included | `belt_speed` [m/s] forward |
| front, rear (pairs) or each flipper's name (each) | turning speed | the flipper's fastest [rad/s], tip up |
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from segtrack.description import VehicleDescription
from segtrack.envs.observation import PARTS, ObservationPart, ObservationSetup, Scan
from segtrack.envs.view import TaskView
from segtrack.errors import InvalidValueError, Phrase, UnknownNameError, finite

FlipperGroups = Literal["pairs", "each"]
_GROUPS = ("pairs", "each")


class Actuators:
    """Commands of an action's entries.

    Attributes:
        names: Names of the entries.
        belt_speed: Belt speed at action 1 [m/s].
        space: Space of the actions, [-1, 1] in each entry.
    """

    def __init__(self, vehicle: VehicleDescription, belt_speed: float, flippers: FlipperGroups) -> None:
        """Lay the entries out.

        Args:
            vehicle: Vehicle that is driven.
            belt_speed: Belt speed at action 1 [m/s].
            flippers: Coupled `pairs` (front, rear), or `each` for itself.

        Raises:
            UnknownNameError: No such grouping.
        """
        if flippers not in _GROUPS:
            raise UnknownNameError("flipper grouping", flippers, _GROUPS)
        self.belt_speed = belt_speed
        parts = vehicle.flippers
        groups: dict[str, tuple[str, ...]] = {name: (name,) for name in parts}
        if flippers == "pairs":
            ends = {part.tip_direction: None for part in parts.values()}
            groups = {e: tuple(n for n, p in parts.items() if p.tip_direction == e) for e in ends}
        self.names = ("left", "right", *groups)
        grouped = enumerate(groups.values(), start=2)
        self._turned = [(name, i, parts[name].max_speed) for i, names in grouped for name in names]
        self.space = spaces.Box(-1.0, 1.0, (len(self.names),), np.float32)

    def check(self, actions: Any, count: int | None = None) -> NDArray[np.float32]:
        """Return an action (n,), or those of a number of robots (count, n), clipped to [-1, 1].

        Raises:
            InvalidValueError: Of another shape, or not finite numbers.
        """
        shape = (len(self.names),) if count is None else (count, len(self.names))
        what = "action" if count is None else "actions"
        try:
            given = np.asarray(actions)
        except ValueError:  # Ragged.
            given = np.asarray(None)
        if given.dtype.kind not in "fiu":
            raise InvalidValueError(what, f"{math.prod(shape)} numbers", actions)
        array = given.astype(np.float32)
        if array.shape != shape:
            expected = f"of shape {shape}: {', '.join(self.names)}"
            raise InvalidValueError(what, expected, Phrase(f"shape {array.shape}"))
        if not np.isfinite(array).all():
            *robot, entry = np.argwhere(~np.isfinite(array))[0].tolist()
            where = "".join(f" of robot {i}" for i in robot)
            value = float(array[(*robot, entry)])
            raise InvalidValueError(f"action entry {self.names[entry]}{where}", "a finite number", value)
        return array.clip(-1.0, 1.0)

    def commands(self, actions: NDArray[np.float32]) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """Return what actions (..., n) command.

        Returns:
            Speeds of the left and of the right belts (2, ...) [m/s]; turning speed of each flipper, by its
            name (...) [rad/s].
        """
        values = actions.T.astype(float)
        return values[:2] * self.belt_speed, {name: values[i] * top for name, i, top in self._turned}


def check_belt_speed(speed: float, vehicle: VehicleDescription) -> float:
    """Check the belt speed at action 1 [m/s].

    Raises:
        InvalidValueError: Not positive and finite, or faster than the slowest drive.
    """
    top = min(track.spec.drive.top_speed for track in vehicle.mounted_tracks())
    if not 0 < finite("belt_speed [m/s]", speed) <= top:
        raise InvalidValueError(
            "belt_speed [m/s]", f"above 0 and at most {top:g}, the slowest drive's", speed
        )
    return float(speed)


ObservationKind = Literal["flat", "dict"]
_KINDS = ("flat", "dict")


class Entries(NamedTuple):
    """A part of the observations of an environment.

    Attributes:
        name: Key in a dict observation.
        labels: Label of each entry.
        unit: SI unit.
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
        parts: Parts of the observation, in their order.
        space: Space of the observations.
    """

    def __init__(
        self, vehicle: VehicleDescription, actions: Sequence[str], scan: Scan, kind: ObservationKind
    ) -> None:
        """Lay the entries out.

        Args:
            vehicle: Vehicle that is observed.
            actions: Names of the action's entries.
            scan: Grid of the height scan.
            kind: `flat` for one box, `dict` for named parts.

        Raises:
            UnknownNameError: No such kind.
        """
        if kind not in _KINDS:
            raise UnknownNameError("kind of observation", kind, _KINDS)
        self._flat, self._setup = kind == "flat", ObservationSetup.of(vehicle, actions, scan)
        entries = (_entries(name, row, self._setup) for name, row in PARTS.items())
        self.parts = tuple(part for part in entries if part.labels)
        self._low = np.concatenate([part.low for part in self.parts]).astype(np.float32)
        self._high = np.concatenate([part.high for part in self.parts]).astype(np.float32)
        measured = np.repeat(
            [PARTS[p.name].measured for p in self.parts], [len(p.labels) for p in self.parts]
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
        """Name of each entry."""
        return tuple(f"{part.name}.{label}" for part in self.parts for label in part.labels)

    def read(
        self,
        view: TaskView,
        noises: Sequence[float] | None = None,
        rngs: Sequence[np.random.Generator] | None = None,
    ) -> NDArray[np.float64]:
        """Return all entries of N robots (N, n), not clipped.

        Args:
            view: View of the robots.
            noises: Standard deviation of the normal noise of what is measured, over half an entry's range, of
                each robot (N,); none if not given.
            rngs: Source of each robot's noise (N,).

        Raises:
            InvalidValueError: A part that does not give its entries for each robot.
        """
        rows = []
        for part in self.parts:
            read, expected = (
                np.asarray(PARTS[part.name].read(view, self._setup)),
                (len(view.yaw), len(part.labels)),
            )
            if read.shape != expected:
                got = Phrase(f"shape {read.shape}")
                raise InvalidValueError(
                    f"observation part {part.name}", f"of shape {expected}, a row a robot", got
                )
            rows.append(read)
        entries = np.concatenate(rows, axis=1, dtype=float)
        for i, (noise, rng) in enumerate(zip(noises or (), rngs or (), strict=True)):
            if noise != 0:
                entries[i] += noise * self._half * rng.standard_normal(entries.shape[1])
        return entries

    def clip(self, entries: NDArray[np.floating]) -> NDArray[np.float32]:
        """Return all entries (..., n), clipped to their ranges."""
        return entries.astype(np.float32).clip(self._low, self._high)

    def form(self, entries: NDArray[np.floating]) -> Any:
        """Return observations of the space, clipped to it, from all entries (..., n)."""
        flat = self.clip(entries)
        if self._flat:
            return flat
        split = np.split(flat, self._ends[:-1], axis=-1)
        return {part.name: values for part, values in zip(self.parts, split, strict=True)}

    def flat(self, observation: Any) -> NDArray[np.float32]:
        """Return all entries (..., n) of observations, flat or dict."""
        if self._flat:
            return np.asarray(observation)
        return np.concatenate([observation[part.name] for part in self.parts], axis=-1)

    def part(self, observation: Any, name: str) -> NDArray[np.float32]:
        """Return a named part (..., n) of observations, flat or dict."""
        if not self._flat:
            return np.asarray(observation[name])
        i = [part.name for part in self.parts].index(name)
        return np.asarray(observation[..., self._ends[i] - len(self.parts[i].labels) : self._ends[i]])

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


def _entries(name: str, row: ObservationPart, setup: ObservationSetup) -> Entries:
    labels, limits = tuple(row.labels(setup)), row.limits(setup)
    if isinstance(limits, int | float):
        limits = [(-limits, limits)] * len(labels)
    low, high = np.array(limits, dtype=float).reshape(-1, 2).T
    return Entries(name, labels, row.unit, low, high, row.frame)
