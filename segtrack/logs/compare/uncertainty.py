"""Uncertainty of errors after ASME V&V 20-2009: of numerics, of inputs and of data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from segtrack.logs.compare.errors import Error, Errors, Key
from segtrack.logs.compare.phases import noise_std
from segtrack.logs.mapping import TimeUncertainty
from segtrack.robot import Motion, Signal

DRAWS = 20
"""Number of noise draws, which gives their uncertainty within 16 % or better."""
_SEED = 20090
_NOT_COMPARED = "velocity", "angular_velocity", "specific_force", "slip_velocity"
Part = Literal["noise", "clock", "bias", "drift", "scale"]
PARTS: tuple[Part, ...] = ("noise", "clock", "bias", "drift", "scale")
BELTS = "belt_speed"


@dataclass(frozen=True)
class DataUncertainty:
    """Standard deviations of what a log says, beside its signals' noise.

    Attributes:
        clocks: Uncertainty of each source's times on the motion's clock, by source.
        bias: Standard deviation of a constant error, by quantity, in its unit: of each axis of a vector,
            and about each axis of the body where it is an orientation [rad].
        drift: Standard deviation of an error that grows with time, by quantity, in its unit a second.
        belt_scale: Standard deviation of the measured belts' scale: of the radius that turns are taken
            with [-].
        assumes_belt_scale: True if nobody stated `belt_scale`.
    """

    clocks: Mapping[str, TimeUncertainty] = field(default_factory=dict)
    bias: Mapping[str, float] = field(default_factory=dict)
    drift: Mapping[str, float] = field(default_factory=dict)
    belt_scale: float = 0.0
    assumes_belt_scale: bool = False

    def __post_init__(self) -> None:
        """Keep the mappings as they are."""
        for name in ("clocks", "bias", "drift"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def summary(self) -> dict[str, object]:
        """Return a JSON-serialisable dict."""
        clocks = {source: times.record() for source, times in self.clocks.items()}
        return {
            "clocks": clocks,
            "bias": dict(self.bias),
            "drift": dict(self.drift),
            "belt_scale": self.belt_scale,
        }


class Disturbed(NamedTuple):
    """A logged motion that is off by one standard deviation of something.

    Attributes:
        part: Part of the uncertainty.
        weight: Weight of the squared change that it makes: draws of noise are averaged, others summed.
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
    for source, times in uncertainty.clocks.items():
        own = [float(signal.times[0]) for signal in logged.signals.values() if signal.source == source]
        for offset, skew in times.parts(min(own)) if own else ():
            if offset or skew:
                moved = (logged.on_clock(source, sign * offset, sign * skew) for sign in (1, -1))
                yield Disturbed("clock", 1.0, *moved)
    shifts: dict[Part, Mapping[str, float]] = {"bias": uncertainty.bias, "drift": uncertainty.drift}
    for part, stds in shifts.items():
        for name, std in stds.items():
            for key, signal in _signals_of(logged, name):
                for axis in range(_axes(signal)):
                    ends = (std, -std)
                    off = (_shifted(logged, key, signal, axis, by, part == "drift") for by in ends)
                    yield Disturbed(part, 1.0, *off)
    if uncertainty.belt_scale > 0 and _signals_of(logged, BELTS):
        scales = (1.0 + uncertainty.belt_scale, 1.0 - uncertainty.belt_scale)
        yield Disturbed("scale", 1.0, *(with_scaled_belts(logged, scale) for scale in scales))


def with_scaled_belts(logged: Motion, scale: float) -> Motion:
    """The motion with its measured belt speeds times a scale."""
    signals = {
        key: replace(signal, values=scale * signal.values) for key, signal in _signals_of(logged, BELTS)
    }
    return logged.with_signals(signals)


def estimated_noise(logged: Motion) -> dict[str, float]:
    """Noise of the signals that have some, though none was stated, by key."""
    found = {key: noise_std(signal) for key, signal in _compared(logged).items() if signal.std is None}
    return {key: std for key, std in found.items() if std > 0}


def _compared(logged: Motion) -> dict[str, Signal]:
    """The signals that something is compared of, by key."""
    return {key: signal for key, signal in logged.signals.items() if key.split(".")[0] not in _NOT_COMPARED}


def _axes(signal: Signal) -> int:
    """Return how many numbers an error of a signal has at a time."""
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


def _shifted(logged: Motion, key: str, signal: Signal, axis: int, by: float, grows: bool) -> Motion:
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


Method = Literal["GCI", "difference"]
COVERAGE = 2.0
"""Standard uncertainties within which an error is not told from none."""
_RATIO = 2.0
"""Ratio of one time step to the next finer one."""
_SAFETY = 1.25
"""Factor on the estimated error of the grid convergence index, for three grids (Roache 1998)."""
_GCI_COVERAGE = 1.15
"""The index over its standard uncertainty, for an error that is mostly to one side (V&V 20, section 2-5)."""
_ORDERS = 0.5, 2.5
"""Observed orders of convergence that are sensible: the engines' is 1, with contacts that come and go."""
_ROUNDING = 1e-12
"""An error below this is none, in whatever unit."""
_RANGE_OF_THREE = 1.693
"""Mean range of three draws of a normal distribution, over its standard deviation (Tippett 1925)."""


class Numerics(NamedTuple):
    """Uncertainty of an error by the time step.

    Attributes:
        value: Standard uncertainty.
        method: `GCI` of three time steps that converge, or the `difference` of three that do not.
        order: Observed; None where they do not converge.
    """

    value: float
    method: Method
    order: float | None


@dataclass(frozen=True)
class Uncertainty:
    """Standard uncertainties of an error, in its unit.

    Attributes:
        numerics: Uncertainty by the time step; None without other time steps, or if one lacks the error.
        is_refined: True if there are simulations with other time steps.
        inputs: Uncertainty by each uncertain input; None for one with which there is no such error.
        data: Uncertainty by each part of the log's; None likewise.
    """

    numerics: Numerics | None
    is_refined: bool
    inputs: Mapping[str, float | None]
    data: Mapping[Part, float | None]

    @property
    def input_uncertainty(self) -> float | None:
        """Combined standard uncertainty from all inputs; None if none was given, or one is unknown."""
        return _together(self.inputs.values()) if self.inputs else None

    @property
    def data_uncertainty(self) -> float | None:
        """Combined standard uncertainty from the log; None if a part is unknown."""
        return _together(self.data.values())

    @property
    def validation(self) -> float | None:
        """Combined standard uncertainty from everything that was tried; None if a part is unknown."""
        parts = [self.data_uncertainty]
        if self.is_refined:
            parts.append(None if self.numerics is None else self.numerics.value)
        if self.inputs:
            parts.append(self.input_uncertainty)
        return _together(parts)


def numerics_of(steps: Sequence[Errors], key: Key) -> Numerics | None:
    """Uncertainty of an error by the time step.

    Args:
        steps: Errors at a time step, half of it, and a quarter.
        key: Key of the error.

    Returns:
        None if there are no three, or one lacks the error.
    """
    if len(steps) < 3 or any(key not in errors for errors in steps):
        return None
    coarse, middle, fine = (errors[key] for errors in steps[:3])
    first, second, both = coarse.less(middle), middle.less(fine), coarse.less(fine)
    apart, next_apart = first.rms, second.rms
    if not math.isfinite(apart + next_apart):
        return None
    # Two differences in one direction make a longer one: otherwise the solutions swing about each other.
    if apart > 0 and next_apart > 0 and both.rms**2 > apart**2 + next_apart**2:
        order = math.log(apart / next_apart) / math.log(_RATIO)
        if _ORDERS[0] <= order <= _ORDERS[1]:
            grown = _RATIO**order
            return Numerics(_SAFETY * apart * grown / (grown - 1.0) / _GCI_COVERAGE, "GCI", order)
    return Numerics(max(apart, next_apart, both.rms) / _RANGE_OF_THREE, "difference", None)


def input_of(low: Errors, high: Errors, key: Key) -> float | None:
    """Uncertainty of an error by an input that is one standard deviation lower and higher."""
    if key not in low or key not in high:
        return None
    change = high[key].less(low[key]).rms / 2.0
    return change if math.isfinite(change) else None


class DataSums:
    """Squared changes of errors by what is uncertain of the log, summed up as they come."""

    def __init__(self, nominal: Errors) -> None:
        """Begin with none."""
        self._nominal = nominal
        self._sums: dict[Key, dict[Part, float]] = {key: dict.fromkeys(PARTS, 0.0) for key in nominal}

    def add(self, part: Part, weight: float, above: Errors, below: Errors | None) -> None:
        """Add the change of one thing: of a draw from the nominal, or half of what is between two."""
        for key, error in self._nominal.items():
            up, down = above.get(key), error if below is None else below.get(key)
            change = math.nan if up is None or down is None else up.less(down).rms
            share = weight if below is None else weight / 4.0
            self._sums[key][part] += share * change**2

    def of(self, key: Key) -> dict[Part, float | None]:
        """Standard uncertainty by each part; None if something took away what the error is of."""
        return {
            part: math.sqrt(total) if math.isfinite(total) else None
            for part, total in self._sums[key].items()
        }


def _together(parts: Iterable[float | None]) -> float | None:
    """Root of the sum of squares; None if one is."""
    total = 0.0
    for part in parts:
        if part is None:
            return None
        total += part**2
    return math.sqrt(total)


def verdict_of(error: Error, uncertainty: Uncertainty) -> Literal["within", "beyond", "unknown"]:
    """Return whether an error is within `COVERAGE` standard uncertainties; `unknown` if these are."""
    u = uncertainty.validation
    if u is None:
        return "unknown"
    return "within" if error.rms <= COVERAGE * u + _ROUNDING else "beyond"
