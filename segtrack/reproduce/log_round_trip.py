"""`segtrack reproduce log-round-trip`: a simulated climb, degraded as logs are, then recovered."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from matplotlib.figure import Figure
from numpy.typing import NDArray
from rich.markup import escape
from rich.table import Table
from scipy.spatial.transform import Rotation

from segtrack.experiments import run_parallel
from segtrack.geometry import rpy_of
from segtrack.logs import Channel, Log
from segtrack.logs.mapping import ClockFit, Estimate, map_log, parse_mapping
from segtrack.report import SEGMENT_COLOURS, Outcome, new_figure
from segtrack.reproduce.registry import Session
from segtrack.robot import turned_at
from segtrack.terrain import Step
from segtrack.world import World

SEEDS = 400
OFFSET, SKEW, LOST = 0.37, 0.02, 0.05
"""Offset [s] and skew [-] of the gyroscope's clock at its first time; fraction of all rows that are lost."""
MOUNTED = Rotation.from_rotvec(math.radians(3.0) * np.array([0.48, -0.64, 0.6]))
"""The gyroscope's frame in the body frame."""
BIAS = (0.01, -0.02, 0.015)
"""Bias of the gyroscope, in its frame [rad/s]."""
RATE_NOISE, TURN_NOISE, PLACE_NOISE = 0.01, 0.002, 0.002
"""Standard deviations of samples: rates [rad/s], orientations [rad], positions [m]."""
RATES, POSES, UNEVEN = 200.0, 50.0, 0.3
"""Samples of both a second [Hz], and by how much of the time between two each may be off."""
MAPPING = """\
sources:
  gyroscope: {align: odometry}
quantities:
  position: {channels: position, unit: m}
  orientation: {channels: orientation}
  angular_velocity: {channels: rates, unit: rad/s}
"""
_VEHICLE, _HEIGHT, _SPEED, _ASKEW, _STEERING = "quince", 0.12, 0.15, 12.0, 0.25
_BEGIN, _DRIVE, _END, _SAMPLE, _PERIOD = 0.5, 0.8, 14.0, 0.002, 3.1


@dataclass(frozen=True, eq=False)
class LoggedClimb:
    """Poses of a body over time.

    Attributes:
        times: Times, ascending (n,) [s].
        positions: Positions in the world (n, 3) [m].
        orientations: Rotations from the body to the world, quaternions (x, y, z, w) (n, 4).
    """

    times: NDArray[np.float64]
    positions: NDArray[np.float64]
    orientations: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RoundTrip:
    """Estimates of known clocks, biases and mountings, over several seeds.

    Attributes:
        truth: True value of each quantity, by its name with its unit, see `truth`.
        estimates: Estimates of each quantity, by the same name, one for each seed; None where it was not
            observable.
    """

    truth: dict[str, float]
    estimates: dict[str, tuple[Estimate | None, ...]]

    def seen(self, name: str) -> list[Estimate]:
        """Estimates of a quantity, by its name in `truth`, for the seeds for which it was observable."""
        return [estimate for estimate in self.estimates[name] if estimate is not None]

    def not_seen(self, name: str) -> int:
        """Number of seeds for which a quantity was not observable."""
        return len(self.estimates[name]) - len(self.seen(name))

    def held(self, name: str) -> int:
        """Number of seeds for which a quantity's interval contains the true value."""
        return sum(estimate.holds(self.truth[name]) for estimate in self.seen(name))

    def errors(self, name: str) -> NDArray[np.float64]:
        """Errors of a quantity's estimates, in its unit, for the seeds for which it was observable (n,)."""
        return np.array([estimate.value for estimate in self.seen(name)]) - self.truth[name]

    def margin(self, name: str) -> float | None:
        """Median half width of a quantity's intervals; None if it was never observable."""
        return float(np.median([each.margin for each in self.seen(name)])) if self.seen(name) else None

    def error_sizes(self, name: str) -> tuple[float, float, float] | None:
        """Mean, root mean square and largest error of a quantity; None if it was never observable."""
        if not self.seen(name):
            return None
        errors = self.errors(name)
        return float(errors.mean()), float(np.sqrt(np.mean(errors**2))), float(np.abs(errors).max())

    def summary(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict."""
        found = {}
        for name, truth in self.truth.items():
            mean, rms, largest = self.error_sizes(name) or (None, None, None)
            found[name] = {
                "truth": truth,
                "held": self.held(name),
                "not_seen": self.not_seen(name),
                "seeds": len(self.estimates[name]),
                "mean_error": mean,
                "rms_error": rms,
                "largest_error": largest,
                "median_margin": self.margin(name),
                "estimates": [None if each is None else each.record() for each in self.estimates[name]],
            }
        return found


def run_round_trip(seeds: int = SEEDS, on_done: Callable[[], object] | None = None) -> RoundTrip:
    """Degrade a climb and recover it, once for each seed.

    Args:
        seeds: Number of repetitions.
        on_done: Function called after each repetition.
    """
    recover = partial(recovered, simulated_climb())
    fits = run_parallel(recover, range(seeds), on_done=on_done)
    found = [estimates_of(fit) for fit in fits]
    return RoundTrip(truth(), {name: tuple(each[name] for each in found) for name in truth()})


def simulated_climb() -> LoggedClimb:
    """Quince on a step of 120 mm, oblique and steering, in the native engine."""
    rows = []
    with World(engine="native") as world:
        world.add_terrain(Step(height=_HEIGHT, distance=0.0))
        robot = world.add_vehicle(
            _VEHICLE, track_model="compliant", position=(-0.9, 0.0), yaw=math.radians(_ASKEW)
        )
        robot.set_flippers(front_left=math.radians(45.0), front_right=math.radians(45.0))
        world.run(_BEGIN)
        while world.time < _END:
            if world.time > _DRIVE:
                turn = _STEERING * math.sin(2 * math.pi * world.time / _PERIOD)
                robot.set_belt_speed(_SPEED * (1 - turn), _SPEED * (1 + turn))
            world.run(_SAMPLE)
            state = robot.state
            rows.append((world.time, *state.position, *state.orientation))
    table = np.array(rows)
    return LoggedClimb(table[:, 0], table[:, 1:4], table[:, 4:])


def spoilt(climb: LoggedClimb, seed: int) -> Log:
    """Return a log of a climb by odometry and gyroscope, each with its own clock, noise and gaps.

    Args:
        climb: Climb that is logged.
        seed: Seed of noise, gaps and sampling.
    """
    rng = np.random.default_rng(seed)
    poses = _uneven(climb, POSES, rng)
    turned = Rotation.from_quat(turned_at(climb.times, climb.orientations, poses)) * Rotation.from_rotvec(
        rng.normal(0, TURN_NOISE, (len(poses), 3))
    )
    places = np.stack([np.interp(poses, climb.times, column) for column in climb.positions.T], axis=1)
    places += rng.normal(0, PLACE_NOISE, places.shape)
    kept = rng.random(len(poses)) > LOST
    seen = _uneven(climb, RATES, rng)
    # A gyroscope gives the mean since its last sample, or filters what is faster: here it is the mean around.
    edges = np.concatenate([climb.times[:1], (seen[1:] + seen[:-1]) / 2, climb.times[-1:]])
    turns = Rotation.from_quat(turned_at(climb.times, climb.orientations, edges))
    rates = (turns[:-1].inv() * turns[1:]).as_rotvec() / np.diff(edges)[:, None]
    rates = MOUNTED.inv().apply(rates) + BIAS + rng.normal(0, RATE_NOISE, rates.shape)
    left = rng.random(len(seen)) > LOST
    seen, rates = seen[left], rates[left]
    own = seen[0] - OFFSET + (seen - seen[0]) / (1 + SKEW)
    channels = (
        Channel("position", poses[kept], places[kept], "m", "odometry"),
        Channel("orientation", poses[kept], turned.as_quat()[kept], "-", "odometry"),
        Channel("rates", own, rates, "rad/s", "gyroscope"),
    )
    return Log(Path(f"climb_{seed}"), "csv", {channel.name: channel for channel in channels})


def recovered(climb: LoggedClimb, seed: int) -> ClockFit:
    """Fit the gyroscope's clock, bias and mounting to the odometry, from a climb's degraded logs."""
    return map_log(spoilt(climb, seed), parse_mapping(MAPPING, "round trip")).clocks[0]


def truth() -> dict[str, float]:
    """Return the true value of each quantity that is estimated, by its name with its unit, as `skew [-]`."""
    roll, pitch, yaw = rpy_of(MOUNTED.as_matrix())
    values = (OFFSET, SKEW, roll, pitch, yaw, *BIAS, RATE_NOISE, TURN_NOISE)
    return dict(zip(_NAMES, map(float, values), strict=True))


_NAMES = (
    "offset [s]",
    "skew [-]",
    "sensor's roll [rad]",
    "sensor's pitch [rad]",
    "sensor's yaw [rad]",
    "bias x [rad/s]",
    "bias y [rad/s]",
    "bias z [rad/s]",
    "noise of rates [rad/s]",
    "noise of orientation [rad]",
)


def estimates_of(fit: ClockFit) -> dict[str, Estimate | None]:
    """Return a fit's estimates, by names with units; None for a sensor angle that is not observable."""
    orientation, rates = fit.noises
    found = (fit.offset, fit.skew, *fit.mountings[0].rpy, *fit.bias, rates, orientation)
    return dict(zip(_NAMES, found, strict=True))


def _uneven(climb: LoggedClimb, rate: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Ascending times at uneven intervals, with a mean rate [Hz]."""
    count = int((climb.times[-1] - climb.times[0]) * rate)
    return climb.times[0] + (np.arange(count) + 0.5 + rng.uniform(-UNEVEN, UNEVEN, count)) / rate


def round_trip_table(result: RoundTrip) -> Table:
    """Table of each quantity: truth, errors, margins, and how many 95 % intervals contain the truth."""
    table = Table(title="A simulated climb, spoilt and recovered")
    for header in ("", "truth", "mean\nerror", "rms\nerror", "largest\nerror", "margin", "held", "not\nseen"):
        table.add_column(header, no_wrap=True)
    for name, truth in result.truth.items():
        numbers = (*(result.error_sizes(name) or (None, None, None)), result.margin(name))
        shown = ("-" if number is None else f"{number:.2g}" for number in numbers)
        held = f"{result.held(name)} of {len(result.estimates[name])}"
        table.add_row(escape(name), f"{truth:.4g}", *shown, held, str(result.not_seen(name)))
    return table


def draw_round_trip(result: RoundTrip) -> Figure:
    """Draw each quantity's estimates and intervals; those that miss the truth have another colour."""
    figure = new_figure(13.0, 8.0)
    names = list(result.truth)
    for axes, name in zip(figure.subplots(2, -(-len(names) // 2)).flat, names, strict=False):
        truth, estimates = result.truth[name], sorted(result.seen(name), key=lambda each: each.value)
        for is_held, colour in ((True, SEGMENT_COLOURS[0]), (False, SEGMENT_COLOURS[1])):
            rows = [i for i, estimate in enumerate(estimates) if estimate.holds(truth) == is_held]
            chosen = [estimates[i] for i in rows]
            axes.hlines(rows, [e.low for e in chosen], [e.high for e in chosen], color=colour, linewidth=1.0)
            axes.plot([e.value for e in chosen], rows, ".", color=colour, markersize=3)
        axes.axvline(truth, color="black", linewidth=1.0)
        title = f"{result.held(name)} of {len(result.estimates[name])} hold"
        if not_seen := result.not_seen(name):
            title += f", {not_seen} not seen"
        axes.set_title(title, loc="left", fontsize=10)
        axes.set_xlabel(name)
        axes.locator_params(axis="x", nbins=4)
        axes.set_yticks([])
    return figure


def run(
    session: Session,
    seeds: Annotated[int, typer.Option(help="How often the climb is spoilt and recovered.", min=1)] = SEEDS,
) -> Outcome:
    """Degrade and recover the climb, once for each seed."""
    with session.counting("recovering", seeds) as done:
        result = run_round_trip(seeds, on_done=done)
    summary = {"quantities": result.summary()}
    files = {"round_trip.json": summary, "round_trip.png": draw_round_trip(result)}
    return Outcome(round_trip_table(result), summary, files)
