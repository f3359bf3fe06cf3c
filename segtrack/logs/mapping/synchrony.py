"""All signals on one clock: what the mapping says of each source's, or what both sources of a pair see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from graphlib import TopologicalSorter
from typing import Any, NamedTuple

import numpy as np

from segtrack.errors import ClockError, Problem
from segtrack.logs.clocks import ClockFit, Estimate, fit_clock
from segtrack.logs.mapping.file.body import AngularVelocity
from segtrack.logs.mapping.file.mapping_file import MappingFile, Sensor, SourceClock
from segtrack.logs.mapping.frames import rotation_of
from segtrack.logs.mapping.sources import SourceTimes
from segtrack.logs.motion import Motion, Signal

Sights = Mapping[str, Mapping[str, Signal]]
"""What each source sees for its clock alone: signals by key, by the source's name."""


class Clocks(NamedTuple):
    """Signals on one clock.

    Attributes:
        signals: By key; those without a standard deviation have that which the fit found.
        fits: Of headers' clocks to receive times, and of sources to others.
        problems: Clocks that cannot be fitted.
    """

    signals: dict[str, Signal]
    fits: tuple[ClockFit, ...]
    problems: list[Problem]


def put_on_one_clock(
    signals: Mapping[str, Signal],
    sights: Sights,
    sources: Mapping[str, SourceTimes],
    file: MappingFile,
    notes: list[str],
) -> Clocks:
    """Put signals in the body frame, by the clocks of their sources, on that of the log.

    A source is fitted to another one when that has been put on the log's clock.
    """
    found = dict(signals)
    seen = {name: dict(sights.get(name, {})) for name in file.sources}
    fits = [source.fit for source in sources.values() if source.fit is not None]
    problems: list[Problem] = []
    for name in _references_first(file):
        clock = file.sources[name]
        own = {key: signal for key, signal in found.items() if signal.source == name}
        motion = Motion(name, {**seen[name], **own})
        if not motion.signals:
            continue
        if clock.align is None:
            start = min(float(signal.times[0]) for signal in motion.signals.values())
            found |= _shifted(own, clock, start)
            seen[name] = _shifted(seen[name], clock, start)
            continue
        reference = {key: signal for key, signal in found.items() if signal.source == clock.align}
        pair = Motion(clock.align, {**seen.get(clock.align, {}), **reference}), motion
        ours, theirs = (_sensor_of(each.name, found, file) for each in pair)
        try:
            fit = fit_clock(*pair, clock.by, rotation_of(theirs.rpy), rotation_of(ours.rpy))
        except ClockError as error:
            problems.append(Problem(f"sources.{name}.align", f"cannot be done: {error}"))
            continue
        fits.append(fit)
        _note(fit, theirs, _reference_of(fit.biased, "angular_velocity", found, file), notes)
        found |= _fitted(own, fit)
        seen[name] = _fitted(seen[name], fit)
        for motion, noise in zip(pair, fit.noises, strict=True):
            found |= _with_noise(found, motion, fit, noise, notes)
    return Clocks(found, tuple(fits), problems)


def _references_first(file: MappingFile) -> list[str]:
    """Names of the file's sources, each after the one that it is aligned to."""
    order = TopologicalSorter(
        {name: () if clock.align is None else (clock.align,) for name, clock in file.sources.items()}
    )
    return [name for name in order.static_order() if name in file.sources]


def _shifted(signals: Mapping[str, Signal], clock: SourceClock, start: float) -> dict[str, Signal]:
    """Signals with the offset and skew that the mapping says; the skew counts from a start [s]."""
    offset = clock.offset or 0.0
    return {
        key: replace(signal, times=signal.times + offset + clock.skew * (signal.times - start))
        for key, signal in signals.items()
    }


def _fitted(signals: Mapping[str, Signal], fit: ClockFit) -> dict[str, Signal]:
    """Signals by the clock that a fit puts them on."""
    return {key: replace(signal, times=fit.times(signal.times)) for key, signal in signals.items()}


def _reference_of(source: str, key: str, signals: Mapping[str, Signal], file: MappingFile) -> Any:
    """What the mapping says of a quantity as a source sees it; None if it says nothing."""
    if key in signals and signals[key].source == source:
        return getattr(file.quantities, key)
    return getattr(file.sources.get(source, SourceClock()).sees, key, None)


def _sensor_of(source: str, signals: Mapping[str, Signal], file: MappingFile) -> Sensor:
    """The sensor that measures a source's turning."""
    for key in ("angular_velocity", "orientation", "yaw"):
        if (reference := _reference_of(source, key, signals, file)) is not None:
            return file.sensors.get(reference.sensor or "", Sensor())
    return Sensor()


def _note(fit: ClockFit, sensor: Sensor, rates: AngularVelocity | None, notes: list[str]) -> None:
    """Say what is otherwise than the mapping has it: of the source's sensor, and of rates that are biased."""
    for mounting in fit.mountings:
        angles = mounting.rpy
        pairs = list(zip(angles, sensor.rpy, strict=True))
        if any(angle is not None and not angle.holds(value) for angle, value in pairs):
            better = [value if angle is None else angle.value for angle, value in pairs]
            numbers = ", ".join(f"{value:.4f}" for value in better)
            notes.append(f"{fit.source}: by {mounting.by} its sensor sits otherwise: rpy: [{numbers}]")
    if len(fit.bias) == 3 and not all(part.holds(0.0) for part in fit.bias):
        offset = (0.0, 0.0, 0.0) if rates is None else rates.bias
        numbers = ", ".join(f"{part.value + known:.5f}" for part, known in zip(fit.bias, offset, strict=True))
        notes.append(f"{fit.biased}: its rates have a bias: bias: [{numbers}]")


def _with_noise(
    signals: Mapping[str, Signal], motion: Motion, fit: ClockFit, noise: Estimate, notes: list[str]
) -> dict[str, Signal]:
    """The signal that a fit found the noise of, with it, if the mapping says none."""
    is_source = motion.name == fit.source
    order = ("angular_velocity", "orientation") if is_source else ("orientation", "angular_velocity")
    keys = {"turning": order, "pitch": ("pitch",), "yaw": ("yaw",)}.get(fit.by, ())
    key = next((key for key in keys if key in motion.signals), None)
    if key is None or key not in signals or signals[key].source != motion.name:
        return {}
    if signals[key].std is not None or not np.isfinite(noise.value) or noise.low <= 0:
        return {}
    notes.append(
        f"{key}: std {noise.value:.3g} ({noise.low:.3g} to {noise.high:.3g}), as the clocks' fit has it"
    )
    return {key: replace(signals[key], std=noise.value)}
