"""Mapped logs: signals in the body frame, cut to the piece that is used, or steady turns, a row each.

A sensor sits in the body frame at r, turned by M; its world is turned by W in one whose z is up. Signals are
turned first, and moved once all are on one clock:

    orientation of the body   W q M^-1
    angular velocity          M w
    velocity                  M v - w x r
    position                  W p - R r, with R the body's orientation
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from segtrack.description import TrackOffsets
from segtrack.errors import InvalidValueError, Phrase, Problem, UnknownNameError
from segtrack.geometry import rpys_of
from segtrack.logs.log import Log
from segtrack.logs.mapping.channels import LogTrial
from segtrack.logs.mapping.clock_fit import ClockFit, TimeUncertainty
from segtrack.logs.mapping.convert import other_unit
from segtrack.logs.mapping.mapping_file import LogMapping, Sensor
from segtrack.logs.mapping.quantities import Quantities, Velocity
from segtrack.robot import CONSTANT, Motion, Signal, quantity_of

ANGLES = ("roll", "pitch", "yaw")


def rotation_from_rpy(rpy: tuple[float, float, float]) -> Rotation:
    """Return the rotation by yaw about z, then pitch (nose down positive) about y, then roll about x."""
    return Rotation.from_euler("ZYX", rpy[::-1])


def turn_to_body(
    signals: Mapping[str, Signal], quantities: Quantities, sensors: Mapping[str, Sensor]
) -> dict[str, Signal]:
    """Return signals along the axes of the body frame, and of a world whose z is up."""
    found = dict(signals)
    for key, reference in quantities.references():
        sensor = sensors.get(getattr(reference, "sensor", None) or "")
        if sensor is None or key not in found:
            continue
        mount, world = rotation_from_rpy(sensor.rpy), rotation_from_rpy(sensor.world_rpy)
        signal = found[key]
        if key == "orientation":
            turned = world * Rotation.from_quat(signal.values) * mount.inv()
            found[key] = replace(signal, values=turned.as_quat(), sensor_rpy=sensor.rpy)
        elif key in ("angular_velocity", "specific_force") or (
            isinstance(reference, Velocity) and reference.frame == "body"
        ):
            found[key] = replace(signal, values=_rotate(mount, signal.values))
        elif key in ("position", "velocity"):
            found[key] = replace(signal, values=_rotate(world, signal.values))
        elif key == "yaw" and any((*sensor.rpy, *sensor.world_rpy)):
            turned_angles = _turn_angles(found, mount, world)  # All three are this sensor's.
            found |= {k: replace(angle, sensor_rpy=sensor.rpy) for k, angle in turned_angles.items()}
    return found


def find_attitude(signals: Mapping[str, Signal]) -> Signal | None:
    """Return the body's orientation, as given or composed from roll, pitch and yaw of one source."""
    if (orientation := signals.get("orientation")) is not None:
        return orientation
    roll, pitch, yaw = (signals.get(name) for name in ANGLES)
    if roll is None or pitch is None or yaw is None:
        return None
    parts = roll, pitch, yaw
    measured = [part for part in parts if part.source != CONSTANT] or parts
    times = reduce(np.intersect1d, [part.times for part in measured])
    if len({part.source for part in measured}) > 1 or not len(times):
        return None
    angles = np.stack([yaw.at(times), -pitch.at(times), roll.at(times)], axis=1)
    return Signal(times, Rotation.from_euler("ZYX", angles).as_quat(), None, measured[0].source)


def move_to_origin(
    signals: Mapping[str, Signal], quantities: Quantities, sensors: Mapping[str, Sensor]
) -> tuple[dict[str, Signal], list[Problem]]:
    """Return positions and velocities of the body frame's origin, for signals on one clock."""
    found, problems = dict(signals), []
    attitude = find_attitude(signals)
    for key in ("position", "velocity"):
        reference = getattr(quantities, key)
        signal = signals.get(key)
        if reference is None or signal is None:
            continue
        sensor = sensors.get(reference.sensor or "", Sensor())
        in_world = key == "velocity" and reference.frame == "world"
        is_apart = any(sensor.xyz)
        if (key == "position" and is_apart) or in_world:
            if attitude is None:
                what = "roll, pitch and yaw, or an orientation, as it is apart from the body frame's origin"
                message = "orientation, as it is along the world's axes" if in_world else what
                problems.append(Problem(f"quantities.{key}", f"must come with {message}"))
                continue
            signal = _overlap(signal, attitude)
            body = Rotation.from_quat(attitude.at(signal.times))
            moved = _rotate(body.inv(), signal.values) if in_world else signal.values - body.apply(sensor.xyz)
            signal = replace(signal, values=moved)
        if key == "velocity" and is_apart:
            rates = signals.get("angular_velocity")
            if rates is None:
                message = "must come with angular_velocity, as it is apart from the body frame's origin"
                problems.append(Problem(f"quantities.{key}", message))
                continue
            signal = _overlap(signal, rates)
            signal = replace(signal, values=signal.values - np.cross(rates.at(signal.times), sensor.xyz))
        found[key] = signal
    return found, problems


def _turn_angles(signals: Mapping[str, Signal], mount: Rotation, world: Rotation) -> dict[str, Signal]:
    attitude = find_attitude(signals)
    if attitude is None:
        return {}
    body = world * Rotation.from_quat(attitude.values) * mount.inv()
    roll, pitch, yaw = rpys_of(body.as_matrix()).T
    return {
        name: replace(signals[name], times=attitude.times, values=np.unwrap(values))
        for name, values in zip(ANGLES, (roll, -pitch, yaw), strict=True)
    }


def _rotate(rotation: Rotation, vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turned vectors; scipy takes none that are read-only."""
    turned: NDArray[np.float64] = rotation.apply(np.array(vectors))
    return turned


def _overlap(signal: Signal, other: Signal) -> Signal:
    """The part of a signal while there is another."""
    inside = (signal.times >= other.times[0]) & (signal.times <= other.times[-1])
    return replace(signal, times=signal.times[inside], values=signal.values[inside])


_JUST_BEFORE = 1e-3
"""Longest time between the end of a held command and the next one [s]."""


def cut_piece(
    key: str,
    path: str,
    signal: Signal,
    limits: tuple[float | None, float | None],
    max_gap: float,
    notes: list[str],
) -> tuple[Signal, Problem | None]:
    """Return the part of a signal between two times, and the problem of a gap in it.

    Args:
        key: Key of the signal.
        path: Path of its quantity in the mapping file.
        signal: Signal on the motion's clock.
        limits: Begin and end of the piece [s]; None for those of the log.
        max_gap: Time without a value that may be bridged [s].
        notes: List to which held commands are added.
    """
    start, end = (-np.inf if limits[0] is None else limits[0]), (np.inf if limits[1] is None else limits[1])
    inside = (signal.times >= start) & (signal.times <= end)
    if not inside.any():
        first, last = signal.times[0], signal.times[-1]
        piece = f"from {max(start, 0.0):.4g} s to {'the end' if end == np.inf else f'{end:.4g} s'}"
        return signal, Problem(path, f"has no value {piece}: it has some from {first:.4g} to {last:.4g} s")
    part = signal
    if not inside.all():
        part = replace(signal, times=signal.times[inside], values=signal.values[inside])
    gaps = np.flatnonzero(np.diff(part.times) > max_gap)
    if not len(gaps):
        return part, None
    if key.split(".")[0].endswith("_command"):
        notes.append(f"{key}: {len(gaps)} commands hold for more than {max_gap:g} s, until the next")
        return _hold(part, gaps), None
    longest = int(gaps[np.argmax(np.diff(part.times)[gaps])])
    begin, until = part.times[longest], part.times[longest + 1]
    more = f", nor in {len(gaps) - 1} shorter gaps" if len(gaps) > 1 else ""
    message = (
        f"has no value for {until - begin:.3g} s, from {begin:.4g} to {until:.4g} s{more}; "
        f"at most {max_gap:g} s are bridged: see start, end and max_gap"
    ) + other_unit(part.times, part.source, max_gap)
    return part, Problem(path, message)


def _hold(signal: Signal, gaps: np.ndarray) -> Signal:
    """A signal whose values hold over gaps."""
    spans = np.diff(signal.times)[gaps]
    before = signal.times[gaps + 1] - np.minimum(_JUST_BEFORE, spans / 10)
    return replace(
        signal,
        times=np.insert(signal.times, gaps + 1, before),
        values=np.insert(signal.values, gaps + 1, signal.values[gaps], axis=0),
    )


@dataclass(frozen=True)
class Origin:
    """Origin of a signal.

    Attributes:
        channels: Names of the log's channels; none for a constant.
        unit: Unit of these, or of the constant; empty for quantities without one.
        clock: Clock of their times: `header`, `receive`, `file` of a table, or a channel's name with its unit
            if that is not s; empty for steady rows and constants.
        value: Constant in its unit as it is stated; None for channels.
    """

    channels: tuple[str, ...]
    unit: str
    clock: str
    value: float | None = None


@dataclass(frozen=True, eq=False)
class MappedLog:
    """A motion from a log.

    Attributes:
        motion: Motion in segtrack's units, frames and signs. Times count from the beginning of the log; for
            steady turns they are numbers of rows instead.
        mapping: Mapping that was applied.
        log: Log that was mapped.
        begin: Time of the log at the motion's 0 [s]; 0 for steady turns.
        clocks: Fits of clocks, and of sensors' mountings.
        origins: Origins of the signals by key.
        notes: Sentences on rows left out, commands held and assumptions.
        trial: Trial of the log that it is; None where the mapping does not split the log.
    """

    motion: Motion
    mapping: LogMapping
    log: Log
    begin: float
    clocks: tuple[ClockFit, ...] = ()
    origins: Mapping[str, Origin] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    trial: LogTrial | None = None

    def __post_init__(self) -> None:
        """Keep the mapping as it is."""
        object.__setattr__(self, "origins", MappingProxyType(dict(self.origins)))

    @property
    def is_steady(self) -> bool:
        """True if rows are steady turns."""
        return self.mapping.file.rows == "steady"

    @property
    def force_per_current(self) -> float | None:
        """Force on a side's belts for each ampere of its motors [N/A]; None if the mapping does not say."""
        current = self.mapping.file.quantities.current
        return None if current is None else current.force_per_current

    @property
    def time_uncertainties(self) -> dict[str, TimeUncertainty]:
        """Uncertainty of the times of each source whose clock was fitted, on the motion's clock.

        A source's last fit counts, which was told what an earlier one knew, and that of the clock it is on.
        """
        last = {fit.source: fit for fit in self.clocks}
        return {name: self._on_log(fit, last) for name, fit in last.items()}

    def _on_log(self, fit: ClockFit, last: Mapping[str, ClockFit]) -> TimeUncertainty:
        own = replace(fit.uncertainty, best=fit.uncertainty.best - self.begin)
        return own.plus(self._on_log(last[fit.reference], last)) if fit.reference in last else own

    def on_log_clock(self) -> Motion:
        """Return the motion at the log's own times, which are those of what else was recorded with it."""
        signals = self.motion.signals.items()
        moved = {key: replace(signal, times=signal.times + self.begin) for key, signal in signals}
        return replace(self.motion, signals=moved)

    def record(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict, without the signals' values."""
        return {
            "log": str(self.log.path),
            "sha256": self.log.sha256,
            "mapping": self.mapping.name,
            "vehicle": self.mapping.file.vehicle,
            "terrain": self.mapping.file.terrain,
            "event": self.mapping.file.event,
            "frame": self.mapping.file.frame,
            "trial": None if self.trial is None else {"number": self.trial.number, "of": self.trial.label},
            "begin": self.begin,
            "signals": {key: self._signal(key) for key in self.motion.signals},
            "clocks": [fit.record() for fit in self.clocks],
            "notes": list(self.notes),
        }

    def _signal(self, key: str) -> dict[str, Any]:
        signal, origin = self.motion.signals[key], self.origins[key]
        steps = np.diff(signal.times) if origin.value is None else np.zeros(0)
        return {
            "channels": list(origin.channels),
            "value": origin.value,
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


Array = NDArray[np.float64]
BELTS = ("belt_speed.left", "belt_speed.right")
COMMANDS = ("belt_speed_command.left", "belt_speed_command.right")
RESPONSES: Mapping[str, str] = MappingProxyType(
    {"slip_velocity.left": "m/s", "slip_velocity.right": "m/s", "yaw_rate": "rad/s"}
)
"""Responses of a turn at constant belt speeds, and their units."""
STRAIGHT = 1e-9
"""Belts that differ by less do not turn [m/s]."""


@dataclass(frozen=True, eq=False)
class SteadyTable:
    """n turns at constant belt speeds; arrays are read-only.

    Attributes:
        name: Name of the log.
        belts: Speeds of the left and the right belts, forward positive (n, 2) [m/s].
        responses: Responses by key, see `RESPONSES` (n,): slip velocities are belt speeds less the speeds of
            the tracks over the ground, yaw rates are to the left positive.
        std: Standard deviation of each response's noise, in its unit; None where it is not known.
    """

    name: str
    belts: Array
    responses: Mapping[str, Array]
    std: Mapping[str, float | None] = field(default_factory=dict)

    @classmethod
    def of(cls, motion: Motion, name: str | None = None) -> SteadyTable:
        """The table of a motion whose times are numbers of rows, as a mapping of steady rows gives it.

        Belts are those that were measured, or else those that were commanded.

        Raises:
            UnknownNameError: It has no belt speeds.
            InvalidValueError: It has no responses.
        """
        sides = next((keys for keys in (BELTS, COMMANDS) if keys[0] in motion.signals), BELTS)
        for key in sides:
            if key not in motion.signals:
                raise UnknownNameError(f"signal of {motion.name}", key, motion.signals)
        belts = np.stack([motion.signals[key].values for key in sides], axis=1)
        found = {key: motion.signals[key] for key in RESPONSES if key in motion.signals}
        return cls(
            motion.name if name is None else name,
            belts,
            {key: signal.values.copy() for key, signal in found.items()},
            {key: signal.std for key, signal in found.items()},
        )

    def __post_init__(self) -> None:
        """Make the arrays read-only.

        Raises:
            UnknownNameError: A response of no quantity.
            InvalidValueError: No rows, others of a response than of the belts, or a number that is not
                finite.
        """
        if self.belts.ndim != 2 or self.belts.shape[1] != 2 or not len(self.belts):
            got = Phrase(f"a shape of {self.belts.shape}")
            raise InvalidValueError(f"belts of {self.name}", "of left and right, a row or more", got)
        if not self.responses:
            raise InvalidValueError(f"responses of {self.name}", "one or more", Phrase("none"))
        for key, values in {"belts": self.belts, **self.responses}.items():
            if key != "belts" and key not in RESPONSES:
                raise UnknownNameError("response", key, RESPONSES)
            if len(values) != len(self.belts) or not np.isfinite(values).all():
                expected = f"{len(self.belts)} finite numbers"
                raise InvalidValueError(f"{key} of {self.name}", expected, Phrase("others"))
            values.setflags(write=False)
        object.__setattr__(self, "responses", MappingProxyType(dict(self.responses)))
        object.__setattr__(self, "std", MappingProxyType(dict(self.std)))

    def __len__(self) -> int:
        """Return the number of turns."""
        return len(self.belts)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the mappings as dicts: read-only mappings cannot be pickled."""
        return SteadyTable, (self.name, self.belts, dict(self.responses), dict(self.std))

    def chosen(self, rows: ArrayLike, name: str | None = None) -> SteadyTable:
        """Some of its turns, as a table.

        Args:
            rows: Indices of the turns (m,), or a mask (n,).
            name: Name of the new table; this one's if not given.
        """
        index = np.asarray(rows)
        kept = {key: values[index] for key, values in self.responses.items()}
        return SteadyTable(self.name if name is None else name, self.belts[index], kept, self.std)

    def halves(self, share: float, seed: int) -> tuple[SteadyTable, SteadyTable]:
        """Divide it by chance; rows keep their order.

        Args:
            share: Fraction of the rows that is held out [-].
            seed: Seed of the draw.

        Returns:
            What is kept, and what is held out.

        Raises:
            InvalidValueError: A share that leaves either without a row.
        """
        count = round(share * len(self))
        if not 0 < count < len(self):
            expected = f"a share that leaves rows of {len(self)} on both sides"
            raise InvalidValueError(f"hold_out of {self.name}", expected, share)
        out = np.zeros(len(self), np.bool_)
        out[np.random.default_rng(seed).permutation(len(self))[:count]] = True
        return self.chosen(~out), self.chosen(out, f"{self.name}_held_out")

    @property
    def turning(self) -> NDArray[np.bool_]:
        """Mask of the rows in which belts differ (n,)."""
        return abs(self.belts[:, 1] - self.belts[:, 0]) > STRAIGHT

    def radius_over_gauge(self) -> Array:
        """Radius of the middle's arc, if belts do not slip, over the gauge (n,) [-].

        It is 0 on the spot, and infinite where the belts do not differ.
        """
        left, right = self.belts.T
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.turning, abs(left + right) / 2 / abs(right - left), np.inf)

    def no_slip_rate(self, gauge: float) -> Array:
        """Yaw rates of belts that do not slip, left positive (n,) [rad/s].

        Args:
            gauge: Distance between left and right tracks [m].
        """
        return TrackOffsets.centred(gauge).twist(*self.belts.T)[1]

    def yaw_rate(self, gauge: float) -> Array:
        """Yaw rates of the turns, left positive (n,) [rad/s].

        Args:
            gauge: Distance between left and right tracks [m]; used only where no yaw rates were measured, so
                that they follow from the slip of both sides.

        Raises:
            UnknownNameError: There is neither a yaw rate nor the slip of both sides.
        """
        if (given := self.responses.get("yaw_rate")) is not None:
            return given
        return rate_of(self.belts, self._slips(), gauge)

    def _slips(self) -> Array:
        missing = [key for key in list(RESPONSES)[:2] if key not in self.responses]
        if missing:
            raise UnknownNameError(f"response of {self.name}", missing[0], self.responses)
        return np.stack([self.responses[key] for key in list(RESPONSES)[:2]], axis=1)


def rate_of(belts: Array, slips: Array, gauge: float) -> Array:
    """Yaw rates by what belts and tracks do, left positive (n,) [rad/s].

    Args:
        belts: Speeds of the left and right belts (n, 2) [m/s].
        slips: Belt speeds less the tracks' speeds over the ground (n, 2) [m/s].
        gauge: Distance between left and right tracks [m].
    """
    tracks = belts - slips
    return np.asarray((tracks[:, 1] - tracks[:, 0]) / gauge)
