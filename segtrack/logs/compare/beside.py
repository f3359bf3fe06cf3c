"""One simulated motion beside a logged one: errors, their statistics and their uncertainties."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from segtrack.description import TrackOffsets
from segtrack.errors import InvalidValueError, Phrase
from segtrack.logs.compare.comparison import CurrentFit, ErrorRow, Run, RunComparison, WrongValue
from segtrack.logs.compare.errors import (
    Alignment,
    Error,
    Errors,
    ErrorSetting,
    Key,
    Responses,
    errors_of,
    laying,
    peak_is_hidden,
    responses_of,
    shared_courses,
    shared_numbers,
    windows_of,
)
from segtrack.logs.compare.phases import CLIMB_PHASES, SAMPLE_TIME, WINDOW, SampledMotion, even_times, thinned
from segtrack.logs.compare.uncertainty import (
    COVERAGE,
    DataSums,
    DataUncertainty,
    Uncertainty,
    disturbed,
    estimated_noise,
    input_of,
    numerics_of,
    verdict_of,
)
from segtrack.logs.fit import PARAMETERS
from segtrack.logs.mapping import SIDES
from segtrack.logs.statistics import correlation_of, mean_interval
from segtrack.robot import Motion

LABELS = {
    "pitch": "pitch RMSE",
    "position": "position error (ATE)",
    "displacement": "displacement error over 1 s (RPE)",
}
"""Names of errors over time; others have the name of their quantity."""
PLACE = "place of the log"
"""Along x, an input of every replay that was put on its terrain at the first touch."""
SCALE = "scale of the belts"
"""Of measured ones, an input of every replay that they drove."""
_MIN_SAMPLES = 8
"""From which an error over time has an interval."""


class InputPair(NamedTuple):
    """Simulations with an input a standard deviation lower, and higher; None for one that failed."""

    low: Motion | None
    high: Motion | None


class VariedValue(NamedTuple):
    """A parameter of the vehicle, and another value of it."""

    parameter: str
    value: float


@dataclass(frozen=True, eq=False)
class Variants:
    """Other simulations of the same log, which say how uncertain the one is that is compared.

    Attributes:
        finer: Motions with half of its time step, and a quarter; None for one that failed.
        inputs: Motions with each uncertain input lower and higher, by name.
        wrong: Motions with wrong values of the vehicle's parameters; None for one that failed.
    """

    finer: Sequence[Motion | None] = ()
    inputs: Mapping[str, InputPair] = field(default_factory=dict)
    wrong: Mapping[VariedValue, Motion | None] = field(default_factory=dict)


def compare_motions(
    logged: Motion,
    simulated: Motion,
    *,
    run: Run = "measured",
    sides: TrackOffsets | None = None,
    alignment: Alignment = "event",
    event: float | None = None,
    variants: Variants | None = None,
    data: DataUncertainty | None = None,
) -> RunComparison:
    """Put a simulated motion beside a logged one, on one clock and in one frame.

    Args:
        logged: Logged motion.
        simulated: Simulated motion.
        run: Kind of simulation, by its drive.
        sides: Places of the tracks of both sides; None if there are no two.
        alignment: Alignment of positions with the logged ones, see `laying`.
        event: Time of the alignment's event [s].
        variants: Other simulations; none leaves their part of the uncertainty open.
        data: Uncertainty of the log besides its noise.

    Returns:
        The comparison; what either lacks is left out, and noted.

    Raises:
        InvalidValueError: The two have no time in common.
    """
    pair = _Pair(logged, simulated, sides, alignment, event)
    variants = variants if variants is not None else Variants()
    rows = tuple(_rows(pair, run, variants, data if data is not None else DataUncertainty()))
    laid, poses = laying(pair.simulated.motion, pair.logged.motion, alignment, event), None
    if laid is not None and (own := pair.simulated.motion.poses()) is not None:
        poses = laid.move_poses(own)
    return RunComparison(
        run=run,
        logged=pair.logged.motion,
        simulated=pair.simulated.motion,
        laid=poses,
        logged_phases=pair.logged.phases,
        simulated_phases=pair.simulated.phases,
        rows=rows,
        errors={(label_of(key), key.phase): error for key, error in pair.errors.items()},
        currents=pair.currents,
        notes=tuple(_notes(pair, variants)),
    )


def label_of(key: Key) -> str:
    """Name of an error."""
    return key.quantity if key.kind == "number" else LABELS.get(key.quantity, f"{key.quantity} RMSE")


class _Pair:
    """A logged motion and a simulated one on one clock, and the way to put others in their place."""

    def __init__(
        self,
        logged: Motion,
        simulated: Motion,
        sides: TrackOffsets | None,
        alignment: Alignment,
        event: float | None,
    ) -> None:
        logged, simulated = thinned(logged), thinned(simulated)
        self.times = _shared_times(logged, simulated)
        self.sides = sides
        simulation = SampledMotion(simulated, self.times, sides)
        self.simulated = responses_of(simulation)
        self.currents = tuple(_current_fits(SampledMotion(logged, self.times, sides), simulation))
        self._forces = {fit.side: fit.force_per_current for fit in self.currents}
        self.logged = self.of_log(logged)
        windows = windows_of(self.logged.phases, float(self.times[0]), float(self.times[-1]))
        self.setting = ErrorSetting(windows, alignment, event)
        self.numbers = shared_numbers(self.simulated, self.logged)
        self.errors = errors_of(self.simulated, self.logged, self.setting)

    def of_log(self, motion: Motion) -> Responses:
        return responses_of(SampledMotion(motion, self.times, self.sides), self._forces)

    def with_simulated(self, motion: Motion | None) -> Errors:
        """Errors of another simulation; none of one that failed."""
        if motion is None:
            return {}
        responses = responses_of(SampledMotion(motion, self.times, self.sides))
        return errors_of(responses, self.logged, self.setting)

    def with_logged(self, motion: Motion) -> Errors:
        """Errors against another log."""
        return errors_of(self.simulated, self.of_log(motion), self.setting)


def _shared_times(logged: Motion, simulated: Motion) -> np.ndarray:
    """The even clock over the time that both have something of."""
    begin, end = (
        [
            pick(float(signal.times[at]) for signal in motion.signals.values())
            for motion in (logged, simulated)
        ]
        for pick, at in ((min, 0), (max, -1))
    )
    if min(end) - max(begin) < SAMPLE_TIME:
        got = Phrase(f"{begin[0]:.4g} to {end[0]:.4g} s and {begin[1]:.4g} to {end[1]:.4g} s")
        raise InvalidValueError(f"times of {logged.name} and {simulated.name}", "overlapping", got)
    return even_times(max(begin), min(end))


def _current_fits(logged: SampledMotion, simulated: SampledMotion) -> Iterator[CurrentFit]:
    """Yield each side's fit of force to current, by windows longer than a grouser pitch takes."""
    for side in SIDES:
        current, force = logged.values(f"current.{side}"), simulated.values(f"belt_force.{side}")
        if current is None or force is None:
            continue
        currents, forces = (logged.sums(values) * SAMPLE_TIME / WINDOW for values in (current, force))
        known = np.isfinite(currents) & np.isfinite(forces)
        currents, forces = currents[known], forces[known]
        if len(currents) < 3 or not np.ptp(currents) or not np.ptp(forces):
            continue
        factor = float(forces @ currents / (currents @ currents))
        product = (currents - currents.mean()) * (forces - forces.mean())
        yield CurrentFit(
            side, factor, float(np.corrcoef(currents, forces)[0, 1]), correlation_of(product).independent
        )


def _rows(pair: _Pair, run: Run, variants: Variants, data: DataUncertainty) -> Iterator[ErrorRow]:
    steps = [pair.errors, *(pair.with_simulated(motion) for motion in variants.finer)]
    inputs = {
        name: (pair.with_simulated(low), pair.with_simulated(high))
        for name, (low, high) in variants.inputs.items()
    }
    wrong = {varied: pair.with_simulated(motion) for varied, motion in variants.wrong.items()}
    sums = DataSums(pair.errors)
    for part, weight, above, below in disturbed(pair.logged.motion.motion, data):
        other = None if below is None else pair.with_logged(below)
        sums.add(part, weight, pair.with_logged(above), other)
    ranges = _ranges(pair)
    for key in sorted(pair.errors, key=_place):
        parts = Uncertainty(
            numerics_of(steps, key),
            bool(variants.finer),
            {name: input_of(low, high, key) for name, (low, high) in inputs.items()},
            sums.of(key),
        )
        told = tuple(_told(parts, pair.errors[key], key, wrong))
        yield replace(_row(pair, run, key, parts, ranges), wrong_values=told)


def _told(
    parts: Uncertainty, error: Error, key: Key, wrong: Mapping[VariedValue, Errors]
) -> Iterator[WrongValue]:
    """Yield what wrong values change an error by, and the change from which each is seen.

    Two simulations differ by u_num for no reason: that much of a change does not count. The error is judged
    by u_val, of which the parameter's own share is a part: where a little of it changes much, more is hidden.
    """
    total = parts.validation
    if total is None:
        return
    numerics = 0.0 if parts.numerics is None else parts.numerics.value
    for (name, value), errors in wrong.items():
        change = error.less(errors[key]).rms if key in errors else math.nan
        seen = max(change - numerics, 0.0) if math.isfinite(change) else None
        yield WrongValue(name, value, PARAMETERS[name].unit, seen, COVERAGE * total)


def _row(pair: _Pair, run: Run, key: Key, parts: Uncertainty, ranges: Mapping[str, float]) -> ErrorRow:
    error = pair.errors[key]
    verdict = verdict_of(error, parts)
    if key.kind == "number":
        simulated, logged = (number.value for number in pair.numbers[key.quantity, key.phase])
        return ErrorRow(
            run, key.phase, key.quantity, error.unit, logged, simulated, simulated - logged,
            None, None, None, None, parts, verdict,
        )  # fmt: skip
    width = ranges.get(key.quantity, 0.0)
    fraction = error.rms / width if width > 0 else None
    mean, interval, independent = _statistics(error)
    return ErrorRow(
        run, key.phase, label_of(key), error.unit, None, None, error.rms,
        mean, interval, independent, fraction, parts, verdict,
    )  # fmt: skip


def _statistics(error: Error) -> tuple[float | None, tuple[float, float] | None, float | None]:
    """Mean of an error over time if it has a sign; interval of its root mean square; independent samples."""
    squares = error.squares
    mean = float(np.nanmean(error.values)) if error.values.shape[1] == 1 else None
    if len(squares) < _MIN_SAMPLES:
        return mean, None, None
    low, high = mean_interval(squares)
    return mean, (math.sqrt(max(low, 0.0)), math.sqrt(max(high, 0.0))), correlation_of(squares).independent


def _ranges(pair: _Pair) -> dict[str, float]:
    """Largest less smallest of what was logged, by quantity, where that is one number at a time."""
    found = {}
    for name, (_, course) in shared_courses(pair.simulated, pair.logged, pair.setting).items():
        if course.values.shape[1] == 1 and np.isfinite(course.values).any():
            found[name] = float(np.nanmax(course.values) - np.nanmin(course.values))
    return found


def _place(key: Key) -> tuple[int, int]:
    """Sorting key: by phase, the whole first; numbers after errors over time."""
    phases = ("whole", *CLIMB_PHASES)
    return phases.index(key.phase), int(key.kind == "number")


def _notes(pair: _Pair, variants: Variants) -> Iterator[str]:
    logged, simulated = pair.logged, pair.simulated
    for who, phases in (("log", logged.phases), ("simulation", simulated.phases)):
        reasons: dict[str, list[str]] = {}
        for name, reason in phases.missing.items():
            reasons.setdefault(reason, []).append(name)
        for reason, names in reasons.items():
            yield f"{who}: no {', '.join(names)}: {reason}"
    for who, own, other in (("log", logged, simulated), ("simulation", simulated, logged)):
        if peak_is_hidden(own, other):
            yield f"{who}: no peak pitch: its pitch has a gap while it climbs"
    estimated = estimated_noise(logged.motion.motion)
    if estimated:
        yield f"noise not stated, and estimated from second differences: {', '.join(estimated)}"
    if not variants.finer:
        yield "u_num: not tried"
    found = [name for name in (PLACE, SCALE) if name in variants.inputs]
    if len(variants.inputs) == len(found):
        yield "u_input: not given" + (f", but for the {' and the '.join(found)}" if found else "")
    for name, pair_of in variants.inputs.items():
        failed = [word for word, motion in zip(("lower", "higher"), pair_of, strict=True) if motion is None]
        if failed:
            yield f"the simulation with {name} {' and '.join(failed)} failed"
