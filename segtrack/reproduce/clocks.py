"""`segtrack reproduce clocks`: intervals of a clock, from a gyroscope that trembles, beside the truth."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from matplotlib.figure import Figure
from numpy.typing import NDArray
from rich.table import Table
from scipy.interpolate import CubicSpline
from scipy.ndimage import gaussian_filter1d
from scipy.spatial.transform import Rotation
from scipy.stats import binom

from segtrack.experiments import run_parallel
from segtrack.logs import Motion, Signal
from segtrack.logs.mapping import fit_clock
from segtrack.report import SEGMENT_COLOURS, Outcome, new_figure
from segtrack.reproduce.registry import Session

Array = NDArray[np.float64]
LOGS = 400
TREMBLING = (0.0, 0.01, 0.03, 0.1)
"""Standard deviations of the rates of trembling, while the vehicle drives [rad/s]."""
OFFSET, SKEW = 2.37, 3e-4
"""Offset at its first time [s] and skew [-] of the clock that is fitted: the orientation's."""
BIAS = (0.012, -0.007, 0.02)
"""Bias of the gyroscope, in its frame [rad/s]."""
RATE_NOISE, TURN_NOISE = 0.006, 0.002
"""Standard deviations of samples at rest: rates [rad/s] and orientations [rad]."""
RATES, POSES = 100.0, 120.0
"""Samples of both a second [Hz]."""
TIMES = (0.0, 5.3, 6.5, 7.7, 14.4)
"""Start, nose lift, middle of the rise, crest and end, at which the clock is looked at [s]."""
_END, _SAMPLE = 14.5, 0.001
_DRIVES = (2.0, 12.5)
_TONES, _LOWEST, _HIGHEST = 40, 50.0, 95.0
"""Number and frequencies of tones of trembling [Hz]: at half of the gyroscope's rate and beyond."""
_KNOTS = (0.0, 5.0, 5.3, 6.0, 7.0, 7.6, 7.75, 7.9, 8.1, 14.5)
_PITCHES = (0.0, 0.0, 2.0, 14.0, 20.0, 28.5, 18.0, 0.0, 0.0, 0.0)
"""Pitch of a climb [deg], nose up, at knots [s]: it rises for two seconds and falls in a quarter of one."""
NAMES = ("offset", "skew", "bias x", "bias y", "bias z")


class ClockCondition(NamedTuple):
    """Trembling and sampling of a gyroscope.

    Attributes:
        trembling: Standard deviation of the rates of trembling [rad/s].
        averages: True if a sample is the mean since half a period before it, False if it is of an instant.
    """

    trembling: float
    averages: bool

    def __str__(self) -> str:
        """Words for both."""
        return f"{self.trembling:g} rad/s{', averaged' if self.averages else ''}"


CONDITIONS = tuple(ClockCondition(*each) for each in product(TREMBLING, (False, True)))


class Drawn(NamedTuple):
    """Estimates from one log, beside the truth.

    Attributes:
        held: True for each of `NAMES` whose interval holds it.
        errors: Errors of the clock at `TIMES` [s].
        stds: Standard deviations of these that the fit states [s].
    """

    held: tuple[bool, ...]
    errors: tuple[float, ...]
    stds: tuple[float, ...]


@dataclass(frozen=True)
class ClockCoverage:
    """Estimates from logs of all conditions.

    Attributes:
        draws: Estimates from the logs of each condition.
    """

    draws: dict[ClockCondition, tuple[Drawn, ...]]

    def held(self, condition: ClockCondition, name: str) -> int:
        """Number of logs whose interval of one of `NAMES` holds the truth."""
        which = NAMES.index(name)
        return sum(draw.held[which] for draw in self.draws[condition])

    def share(self, name: str) -> float:
        """Fraction of all intervals of one of `NAMES` that hold the truth."""
        logs = sum(map(len, self.draws.values()))
        return sum(self.held(condition, name) for condition in self.draws) / logs

    def errors(self, condition: ClockCondition) -> Array:
        """Root mean square errors of the clock at `TIMES` [s]."""
        return np.sqrt(np.mean([np.square(draw.errors) for draw in self.draws[condition]], axis=0))

    def stds(self, condition: ClockCondition) -> Array:
        """Median stated standard deviations of the clock at `TIMES` [s]."""
        return np.asarray(np.median([draw.stds for draw in self.draws[condition]], axis=0))

    def ratios(self, conditions: Sequence[ClockCondition]) -> Array:
        """Root mean squares of errors over their stated standard deviations, at `TIMES` [-]."""
        drawn = [draw for condition in conditions for draw in self.draws[condition]]
        scores = [np.divide(draw.errors, draw.stds) for draw in drawn]
        return np.sqrt(np.mean(np.square(scores), axis=0))

    def summary(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict."""
        rows = [
            {
                "trembling": condition.trembling,
                "averages": condition.averages,
                "logs": len(draws),
                "held": {name: self.held(condition, name) for name in NAMES},
                "rms_errors": self.errors(condition).tolist(),
                "median_stds": self.stds(condition).tolist(),
            }
            for condition, draws in self.draws.items()
        ]
        return {
            "conditions": rows,
            "shares": {name: self.share(name) for name in NAMES},
            "times": list(TIMES),
            "error_over_std": self.ratios(tuple(self.draws)).tolist(),
        }


def run_clocks(
    logs: int = LOGS,
    conditions: Sequence[ClockCondition] = CONDITIONS,
    on_done: Callable[[], object] | None = None,
) -> ClockCoverage:
    """Fit clocks of logs with known ones.

    Args:
        logs: Number of logs, as many of each condition but for what is left.
        conditions: Trembling and sampling of gyroscopes, in turn.
        on_done: Function called after each log.
    """
    jobs = [(conditions[i % len(conditions)], i // len(conditions)) for i in range(logs)]
    drawn = run_parallel(draw, jobs, on_done=on_done)
    found = zip(jobs, drawn, strict=True)
    chosen: dict[ClockCondition, list[Drawn]] = {condition: [] for condition, _ in jobs}
    for (condition, _), one in found:
        chosen[condition].append(one)
    return ClockCoverage({condition: tuple(each) for condition, each in chosen.items()})


def draw(job: tuple[ClockCondition, int]) -> Drawn:
    """Simulate the sensors of a climb by a condition and a seed, and fit their clock."""
    fit = fit_clock(*simulate(*job))
    offset, skew = fit.offset.value - OFFSET, fit.skew.value - SKEW
    times = np.array(TIMES)
    held = (
        fit.offset.holds(OFFSET),
        fit.skew.holds(SKEW),
        *(part.holds(true) for part, true in zip(fit.bias, BIAS, strict=True)),
    )
    errors = offset + skew * (times - times[0])
    return Drawn(held, tuple(errors.tolist()), tuple(fit.uncertainty.std(times).tolist()))


def simulate(condition: ClockCondition, seed: int) -> tuple[Motion, Motion]:
    """Return what a gyroscope and a tracker of orientations see of a climb, the latter by its own clock."""
    rng = np.random.default_rng([CONDITIONS.index(condition), seed])
    fine = np.arange(0.0, _END, _SAMPLE)
    pitch = _pitch(fine) + _trembling(fine, condition.trembling, rng)
    seen = np.arange(0.01, _END - 0.02, 1 / RATES)
    reach = 0.5 / RATES if condition.averages else _SAMPLE
    turns = np.interp(seen + reach, fine, pitch) - np.interp(seen - reach, fine, pitch)
    rates = rng.normal(BIAS, RATE_NOISE, (len(seen), 3))
    rates[:, 1] -= turns / (2 * reach)  # Nose up is a negative turn about y.
    times = np.arange(0.0, _END - 0.1, 1 / POSES)
    turned = Rotation.from_rotvec(np.outer(-np.interp(times, fine, pitch), [0.0, 1.0, 0.0]))
    turned *= Rotation.from_rotvec(rng.normal(0.0, TURN_NOISE, (len(times), 3)))
    own = times[0] - OFFSET + (times - times[0]) / (1 + SKEW)
    return (
        Motion("gyroscope", {"angular_velocity": Signal(seen, rates, source="gyroscope")}),
        Motion("tracker", {"orientation": Signal(own, turned.as_quat(), source="tracker")}),
    )


def _pitch(times: Array) -> Array:
    """Pitch of a climb without trembling [rad]."""
    knots = CubicSpline(_KNOTS, np.radians(_PITCHES), bc_type="natural")
    inside = (times > _KNOTS[1]) & (times < _KNOTS[-2])
    return np.asarray(gaussian_filter1d(np.where(inside, knots(times), 0.0), 0.03 / _SAMPLE))


def _trembling(times: Array, size: float, rng: np.random.Generator) -> Array:
    """Pitch of trembling [rad], whose rates have a standard deviation while the vehicle drives."""
    frequencies, phases = rng.uniform(_LOWEST, _HIGHEST, _TONES), rng.uniform(0.0, 2 * math.pi, _TONES)
    drives = (times > _DRIVES[0]) & (times < _DRIVES[1])
    turns = 2 * math.pi * np.outer(frequencies, times) + phases[:, None]
    rates = size * math.sqrt(2 / _TONES) * np.sin(turns).sum(axis=0) * drives
    return np.cumsum(rates) * _SAMPLE


def clock_tables(result: ClockCoverage) -> tuple[Table, Table]:
    """Tables by condition: intervals that hold the truth, and errors at times beside their deviations."""
    coverage = Table("trembling", "logs", *NAMES, title="Intervals of 95 % that hold the truth")
    shown = [f"{time:g} s" for time in TIMES]
    errors = Table("trembling", *shown, title="Rms error of the clock (its stated std), in ms, at five times")
    for condition, draws in result.draws.items():
        held = [str(result.held(condition, name)) for name in NAMES]
        coverage.add_row(str(condition), str(len(draws)), *held)
        pairs = zip(1e3 * result.errors(condition), 1e3 * result.stds(condition), strict=True)
        errors.add_row(str(condition), *(f"{error:.2f} ({std:.2f})" for error, std in pairs))
    shares = [f"{100 * result.share(name):.1f} %" for name in NAMES]
    coverage.add_row("all", str(sum(map(len, result.draws.values()))), *shares)
    errors.add_row("error / std", *(f"{ratio:.2f}" for ratio in result.ratios(tuple(result.draws))))
    return coverage, errors


def draw_clocks(result: ClockCoverage) -> Figure:
    """Draw what holds, beside what chance allows for, and errors of the clock beside their deviations."""
    figure = new_figure(13.0, 5.0)
    left, right = figure.subplots(1, 2)
    rows = np.arange(len(result.draws))
    for i, name in enumerate(NAMES):
        shares = [result.held(each, name) / len(draws) for each, draws in result.draws.items()]
        left.plot(shares, rows + 0.1 * (i - 2), "o", color=SEGMENT_COLOURS[i], label=name)
    for row, draws in zip(rows, result.draws.values(), strict=True):
        bounds = [binom.ppf(part, len(draws), 0.95) / len(draws) for part in (1e-3, 1 - 1e-3)]
        left.plot(bounds, [row, row], color="black", alpha=0.15, linewidth=14.0, solid_capstyle="butt")
    left.axvline(0.95, color="black", linewidth=1.0)
    left.set_yticks(rows, [str(condition) for condition in result.draws])
    left.set_xlabel("intervals of 95 % that hold the truth; grey: by chance, 998 of 1000")
    left.legend(fontsize=8)
    for i, condition in enumerate(result.draws):
        colour = SEGMENT_COLOURS[i % len(SEGMENT_COLOURS)]
        right.semilogy(TIMES, 1e3 * result.errors(condition), "o", color=colour)
        right.semilogy(TIMES, 1e3 * result.stds(condition), color=colour, label=str(condition))
    right.set_xlabel("time [s]")
    right.set_ylabel("rms error of the clock (points), its std (lines) [ms]")
    right.legend(fontsize=8)
    return figure


def run(
    session: Session,
    logs: Annotated[int, typer.Option(help="Number of logs, of all conditions together.", min=1)] = LOGS,
) -> Outcome:
    """Simulate logs and fit their clocks."""
    with session.counting("fitting clocks", logs) as done:
        result = run_clocks(logs, on_done=done)
    summary = result.summary()
    files = {"clocks.json": summary, "clocks.png": draw_clocks(result)}
    return Outcome(clock_tables(result), summary, files)
