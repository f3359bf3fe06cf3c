"""Mapped logs: signals in the body frame, cut to the piece that is used, with their origins.

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
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from segtrack.errors import Problem
from segtrack.geometry import rpys_of
from segtrack.logs.log import Log
from segtrack.logs.mapping.clock_fit import ClockFit
from segtrack.logs.mapping.mapping_file import LogMapping, Sensor
from segtrack.logs.mapping.quantities import Quantities, Velocity
from segtrack.logs.mapping.trials import LogTrial
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
    )
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
        clock: Clock of their times: `header`, `receive`, or a channel's name; empty for steady rows and
            constants.
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
