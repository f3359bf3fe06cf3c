"""What is uncertain of a logged motion: each sensor's noise, its clock, its bias and its drift.

Each is let loose on the logged motion by one standard deviation, and what it does to an error is that error's
uncertainty; noise is drawn `DRAWS` times.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from segtrack.logs.compare.motions.sampling import noise_std
from segtrack.logs.motion import Motion, Signal

DRAWS = 20
"""Of noise: its uncertainty is known within 16 % or better."""
_SEED = 20090
_NOT_COMPARED = "velocity", "angular_velocity", "slip_velocity"
Part = Literal["noise", "clock", "bias", "drift"]
PARTS: tuple[Part, ...] = ("noise", "clock", "bias", "drift")


@dataclass(frozen=True)
class DataUncertainty:
    """Standard deviations of what a log says, beside its signals' noise.

    Attributes:
        clocks: Of the offset of each source's clock, by source [s].
        bias: Of a constant error, by quantity, in its unit; of each axis of a vector, and about each axis of
            the body where it is an orientation [rad].
        drift: Of an error that grows with time, by quantity, in its unit a second.
    """

    clocks: Mapping[str, float] = field(default_factory=dict)
    bias: Mapping[str, float] = field(default_factory=dict)
    drift: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Keep the mappings as they are."""
        for name in ("clocks", "bias", "drift"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def summary(self) -> dict[str, object]:
        """Everything as plain values with the names that JSON has."""
        return {"clocks": dict(self.clocks), "bias": dict(self.bias), "drift": dict(self.drift)}


class Disturbed(NamedTuple):
    """A logged motion that is off by one standard deviation of something.

    Attributes:
        part: Of what.
        weight: Of the squared change that it makes: draws of noise are averaged, others summed.
        above: The motion.
        below: The motion that is off the other way; None for a draw.
    """

    part: Part
    weight: float
    above: Motion
    below: Motion | None


def disturbed(logged: Motion, uncertainty: DataUncertainty) -> Iterator[Disturbed]:
    """The logged motion, off by one standard deviation of each thing that is uncertain of it."""
    draw = np.random.default_rng(_SEED)
    found = {key: noise_std(signal) for key, signal in _compared(logged).items()}
    noise = {key: std for key, std in found.items() if std > 0}
    for _ in range(DRAWS if noise else 0):
        yield Disturbed("noise", 1.0 / DRAWS, _noisy(logged, noise, draw), None)
    for source, std in uncertainty.clocks.items():
        if std > 0 and any(signal.source == source for signal in logged.signals.values()):
            moved = (logged.on_clock(source, sign * std, 0.0) for sign in (1, -1))
            yield Disturbed("clock", 1.0, *moved)
    for part, stds in (("bias", uncertainty.bias), ("drift", uncertainty.drift)):
        for name, std in stds.items():
            for key, signal in _signals_of(logged, name):
                for axis in range(_axes(signal)):
                    yield Disturbed(
                        part,  # type: ignore[arg-type]
                        1.0,
                        *(_off(logged, key, signal, axis, sign * std, part == "drift") for sign in (1, -1)),
                    )


def estimated_noise(logged: Motion) -> dict[str, float]:
    """Noise of the signals that have some, though none was stated, by key."""
    found = {key: noise_std(signal) for key, signal in _compared(logged).items() if signal.std is None}
    return {key: std for key, std in found.items() if std > 0}


def _compared(logged: Motion) -> dict[str, Signal]:
    """The signals that something is compared of, by key."""
    return {key: signal for key, signal in logged.signals.items() if key.split(".")[0] not in _NOT_COMPARED}


def _axes(signal: Signal) -> int:
    """How many numbers an error of a signal has at a time."""
    if signal.values.ndim == 1:
        return 1
    return 3 if signal.is_orientation else signal.values.shape[1]


def _noisy(logged: Motion, stds: Mapping[str, float], draw: np.random.Generator) -> Motion:
    signals = {}
    for key, std in stds.items():
        signal = logged.signals[key]
        noise = std * draw.standard_normal((len(signal.times), _axes(signal)))
        signals[key] = _with_error(signal, noise)
    return logged.with_signals(signals)


def _signals_of(logged: Motion, name: str) -> list[tuple[str, Signal]]:
    """Signals of a quantity, of all sides or flippers; an angle may be known by the orientation alone."""
    found = [(key, signal) for key, signal in logged.signals.items() if key.split(".")[0] == name]
    if not found and name in ("roll", "pitch", "yaw") and (angle := logged.angle(name)) is not None:
        found = [(name, angle)]
    return found


def _off(logged: Motion, key: str, signal: Signal, axis: int, by: float, grows: bool) -> Motion:
    """The motion with an axis of one signal off, by so much, or so much a second since its beginning."""
    error = np.zeros((len(signal.times), _axes(signal)))
    error[:, axis] = by * (signal.times - signal.times[0]) if grows else by
    return logged.with_signals({key: _with_error(signal, error)})


def _with_error(signal: Signal, error: NDArray[np.float64]) -> Signal:
    """The signal with an error (n, axes); an orientation is turned by it in the body [rad]."""
    if signal.is_orientation:
        values = (Rotation.from_quat(signal.values) * Rotation.from_rotvec(error)).as_quat()
    else:
        values = signal.values + error.reshape(signal.values.shape)
    return replace(signal, values=values)
