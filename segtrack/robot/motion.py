"""Motions of a vehicle, logged or simulated: signals over time in segtrack's units, frames and signs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segtrack.errors import InvalidValueError, Phrase, UnknownNameError
from segtrack.geometry import rotations_of
from segtrack.robot.state import attitudes_of


class Quantity(NamedTuple):
    """Unit and shape of a signal's values.

    Attributes:
        unit: SI unit of the values.
        width: Numbers at a time.
        each: `side` (left, right), `flipper` or `track` (its full name) where there is one for each; None
            otherwise.
        meaning: Description with frame and sign.
    """

    unit: str
    width: int
    each: str | None
    meaning: str


QUANTITIES: Mapping[str, Quantity] = MappingProxyType(
    {
        "belt_speed_command": Quantity("m/s", 1, "side", "commanded belt speed, forward positive"),
        "belt_speed": Quantity("m/s", 1, "side", "belt speed, forward positive"),
        "belt_force": Quantity("N", 1, "side", "force of the drives on a side's belts along their travel"),
        "slip_velocity": Quantity("m/s", 1, "side", "belt speed less the speed of its track over the ground"),
        "current": Quantity("A", 1, "side", "motor current of a side's drives"),
        "flipper_angle_command": Quantity("rad", 1, "flipper", "commanded angle, tip up positive"),
        "flipper_angle": Quantity("rad", 1, "flipper", "angle, tip up positive"),
        "position": Quantity("m", 3, None, "of the body frame's origin in the world"),
        "velocity": Quantity("m/s", 3, None, "of the body frame's origin, in the body frame"),
        "orientation": Quantity("-", 4, None, "of the body frame in the world, quaternion (x, y, z, w)"),
        "roll": Quantity("rad", 1, None, "about the body's x axis, right side down positive"),
        "pitch": Quantity("rad", 1, None, "nose up positive; of a climb beyond 90 deg where it tips over"),
        "yaw": Quantity("rad", 1, None, "about the world's z axis, left positive"),
        "yaw_rate": Quantity("rad/s", 1, None, "of turning about the world's z axis, left positive"),
        "angular_velocity": Quantity("rad/s", 3, None, "of the body, in the body frame: y is nose down"),
        "specific_force": Quantity(
            "m/s^2", 3, None, "of accelerometers, body frame: z is 9.8 at rest, level"
        ),
        "energy": Quantity("J", 1, None, "work of all drives since the beginning"),
    }
)
"""Quantities of logs by name; a signal of one for each side or flipper has a key like `belt_speed.left`."""
TRACK_QUANTITIES: Mapping[str, Quantity] = MappingProxyType(
    {
        "track_travel": Quantity("m", 1, "track", "belt travel since the start, forward positive"),
        "track_speed": Quantity("m/s", 1, "track", "belt speed, forward positive"),
        "track_force": Quantity("N", 1, "track", "force of the drive on the belt along its travel"),
    }
)
"""Quantities of single tracks, which a simulated motion may have besides; keys are `name.track`."""
CONSTANT = "constant"  # Source of a signal that was stated to be constant, and that nothing measured.


def quantity_of(key: str) -> Quantity:
    """Return the quantity of a signal's key.

    Raises:
        UnknownNameError: No quantity has that name.
        InvalidValueError: The side or flipper is missing, or there is none of the quantity for each.
    """
    name, _, which = key.partition(".")
    quantity = QUANTITIES.get(name) or TRACK_QUANTITIES.get(name)
    if quantity is None:
        raise UnknownNameError("quantity", name, QUANTITIES)
    if quantity.each is None and which:
        raise InvalidValueError(f"quantity {name}", "without anything after it", key)
    if quantity.each == "side" and which not in ("left", "right"):
        raise InvalidValueError(f"quantity {name}", f"{name}.left or {name}.right", key)
    if quantity.each in ("flipper", "track") and not which:
        raise InvalidValueError(f"quantity {name}", f"{name}. and the {quantity.each}'s name", key)
    return quantity


@dataclass(frozen=True, eq=False)
class Signal:
    """A quantity over time; arrays are read-only.

    Attributes:
        times: Ascending times on the motion's clock (n,) [s], n >= 1.
        values: Finite values in the unit of the quantity (n,), or (n, k) for k numbers at a time.
        std: Standard deviation of a value's noise, of an orientation about each axis [rad]; None if unknown.
        source: Sensor or topic that measured it, or `CONSTANT`; signals of one source share a clock.
        sensor_rpy: Sensor frame in the body frame that it was turned by: roll, pitch (down) and yaw [rad].
    """

    times: NDArray[np.float64]
    values: NDArray[np.float64]
    std: float | None = None
    source: str = ""
    sensor_rpy: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        self.times.setflags(write=False)
        self.values.setflags(write=False)

    @property
    def is_orientation(self) -> bool:
        """True if its values are quaternions."""
        return self.values.ndim == 2 and self.values.shape[1] == 4

    def at(self, times: ArrayLike) -> NDArray[np.float64]:
        """Values at times of any shape [s], linear between samples, the ends held (..., k).

        Orientations turn evenly, by the shorter way (slerp); angles are taken as they are.
        """
        when = np.asarray(times, dtype=float)
        if self.values.ndim == 1:
            return np.interp(when, self.times, self.values)
        if self.is_orientation:
            return turned_at(self.times, self.values, when)
        return np.stack([np.interp(when, self.times, column) for column in self.values.T], axis=-1)


@dataclass(frozen=True, eq=False)
class Motion:
    """A vehicle's motion: signals over time, on one clock.

    Attributes:
        name: Name of the log, or of the simulation.
        signals: Signals by key, see `QUANTITIES` and `TRACK_QUANTITIES`.
    """

    name: str
    signals: Mapping[str, Signal]

    def __post_init__(self) -> None:
        """Check the signals and make the mapping read-only.

        Raises:
            UnknownNameError: A key of no quantity.
            InvalidValueError: A signal without values, of another width, with times that do not ascend, or
                with a number that is not finite.
        """
        for key, signal in self.signals.items():
            _check(key, quantity_of(key), signal)
        object.__setattr__(self, "signals", MappingProxyType(dict(self.signals)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the signals as a dict: a read-only mapping cannot be pickled."""
        return Motion, (self.name, dict(self.signals))

    def __getitem__(self, key: str) -> NDArray[np.float64]:
        """Values of a signal (n,) or (n, k), in the unit of its quantity."""
        return self.signals[key].values

    @property
    def times(self) -> NDArray[np.float64]:
        """Times of its first signal (n,) [s], which are those of all signals of a simulated motion."""
        return next(iter(self.signals.values())).times

    @property
    def forward_axis(self) -> NDArray[np.float64]:
        """The body's x axis in the world (n, 3), from the orientation."""
        x, y, z, w = self["orientation"].T
        return np.stack([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)], axis=1)

    def by_name(self, quantity: str) -> dict[str, NDArray[np.float64]]:
        """Values of a quantity by side, flipper or track, in the order of the signals."""
        prefix = f"{quantity}."
        found = {key: signal.values for key, signal in self.signals.items() if key.startswith(prefix)}
        return {key.removeprefix(prefix): values for key, values in found.items()}

    @property
    def span(self) -> tuple[float, float]:
        """Latest first time and earliest last time of its signals [s]."""
        firsts, lasts = zip(*((s.times[0], s.times[-1]) for s in self.signals.values()), strict=True)
        return float(max(firsts)), float(min(lasts))

    @property
    def flippers(self) -> tuple[str, ...]:
        """Names of the flippers that it has signals of."""
        keys = (key.split(".", 1) for key in self.signals if key.startswith("flipper_angle"))
        return tuple(dict.fromkeys(which for _, which in keys))

    def angle(self, name: str) -> Signal | None:
        """Return roll, pitch or yaw, continuous [rad]: as logged, or from the orientation.

        Args:
            name: `roll`, `pitch` (nose up positive) or `yaw`.

        Returns:
            None if it has neither.
        """
        if (given := self.signals.get(name)) is not None:
            return given
        orientation = self.signals.get("orientation")
        if orientation is None:
            return None
        angles = attitudes_of(rotations_of(orientation.values))[("roll", "pitch", "yaw").index(name)]
        angles = np.unwrap(angles)
        return Signal(orientation.times, angles, orientation.std, orientation.source)

    def with_signals(self, signals: Mapping[str, Signal]) -> Motion:
        """Return a copy with signals added or replaced."""
        return replace(self, signals={**self.signals, **signals})

    def on_clock(self, source: str, offset: float, skew: float) -> Motion:
        """Return a copy with the times t of a source moved to `t + offset + skew * (t - first time)`.

        Args:
            source: Source of the signals that are moved.
            offset: Offset at the first time of the source [s].
            skew: Ratio by which its clock runs slow (positive) or fast (negative) [-].
        """
        own = {key: signal for key, signal in self.signals.items() if signal.source == source}
        start = min((float(signal.times[0]) for signal in own.values()), default=0.0)
        moved = {
            key: replace(signal, times=signal.times + offset + skew * (signal.times - start))
            for key, signal in own.items()
        }
        return self.with_signals(moved)

    def between(self, first: float, last: float) -> Motion:
        """Return the part from one time to another [s], without signals that have no value there."""
        return replace(self, signals=dict(self._cut(first, last)))

    def _cut(self, first: float, last: float) -> Iterator[tuple[str, Signal]]:
        for key, signal in self.signals.items():
            inside = (signal.times >= first) & (signal.times <= last)
            if inside.any():
                yield key, replace(signal, times=signal.times[inside], values=signal.values[inside])


def _check(key: str, quantity: Quantity, signal: Signal) -> None:
    shape = (len(signal.times),) if quantity.width == 1 else (len(signal.times), quantity.width)
    if not len(signal.times) or signal.values.shape != shape:
        got = Phrase(f"times {signal.times.shape} and values {signal.values.shape}")
        raise InvalidValueError(f"signal {key}", f"one or more times with {quantity.width} values each", got)
    if not (np.isfinite(signal.times).all() and np.isfinite(signal.values).all()):
        raise InvalidValueError(f"signal {key}", "of finite numbers", Phrase("others"))
    if (np.diff(signal.times) <= 0).any():
        worst = int(np.argmax(np.diff(signal.times) <= 0)) + 1
        raise InvalidValueError(f"times of signal {key}", "ascending", Phrase(f"a fall at row {worst}"))
    if quantity.width == 4:
        norms = np.linalg.norm(signal.values, axis=1)
        if (abs(norms - 1) > 1e-3).any():
            worst = int(np.argmax(abs(norms - 1)))
            got = Phrase(f"one of length {norms[worst]:.4g} at row {worst}")
            raise InvalidValueError(f"signal {key}", "unit quaternions", got)


def turned_at(times: ArrayLike, orientations: ArrayLike, when: ArrayLike) -> NDArray[np.float64]:
    """Orientations (..., 4) between samples, turning evenly by the shorter way, the ends held.

    Args:
        times: Ascending times of the samples (n,) [s], n >= 1.
        orientations: Unit quaternions (x, y, z, w) of the samples (n, 4).
        when: Times of any shape [s].
    """
    at, values = np.asarray(times, dtype=float), same_signs(np.asarray(orientations, dtype=float))
    place = np.asarray(np.interp(np.asarray(when, dtype=float), at, np.arange(len(at))))
    before = np.floor(place).astype(int)
    share, after = (place - before)[..., None], np.minimum(before + 1, len(at) - 1)
    first, second = values[before], values[after]
    angle = np.arccos(np.clip((first * second).sum(axis=-1, keepdims=True), -1.0, 1.0))
    # sin(a t) / sin(a), which is t for no angle: np.sinc is sin(pi x) / (pi x).
    least = np.sinc(angle / np.pi)
    kept = (1 - share) * np.sinc((1 - share) * angle / np.pi) * first
    mixed = (kept + share * np.sinc(share * angle / np.pi) * second) / least
    return np.asarray(mixed / np.linalg.norm(mixed, axis=-1, keepdims=True))


def same_signs(quaternions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the quaternions (n, 4) with signs such that each is the nearer one to the one before."""
    towards = np.sum(quaternions[1:] * quaternions[:-1], axis=1)
    signs = np.cumprod(np.where(towards < 0, -1.0, 1.0))
    return np.concatenate([quaternions[:1], quaternions[1:] * signs[:, None]])


class SignalRecorder:
    """Collects the signals of a motion, one sample at a time."""

    def __init__(self, name: str, source: str = "") -> None:
        """Begin with no samples.

        Args:
            name: Name of the motion.
            source: Source of its signals.
        """
        self._name, self._source = name, source
        self._samples: list[tuple[float, Mapping[str, float | Sequence[float]]]] = []

    def add(self, time: float, values: Mapping[str, float | Sequence[float]]) -> None:
        """Add a sample: a value, or k of them, by the signal's key; all samples have the same keys."""
        self._samples.append((time, values))

    def motion(self) -> Motion:
        """Return the motion up to the last sample, of which there must be one."""
        times = np.array([time for time, _ in self._samples])
        return Motion(
            self._name,
            {
                key: Signal(
                    times, np.array([values[key] for _, values in self._samples]), source=self._source
                )
                for key in self._samples[0][1]
            },
        )
