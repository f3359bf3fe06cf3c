"""Coverage of a fit's intervals: how many of 95 % hold the truth of logs that segtrack simulated.

Each fit has climbs of its own, by a vehicle whose friction, centre of mass and drive lag are drawn anew, with
noise, in a frame of their own: the fit has to find where they are on the terrain, as with a log of a robot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from rich.table import Table
from scipy.stats import binomtest

from segtrack.description import VehicleDescription, load_vehicle
from segtrack.experiments import Workers
from segtrack.logs.fit import Choice, MotionCase, fit, values_of, with_parameters
from segtrack.report import Outcome, label_axes, new_figure
from segtrack.reproduce.calibration import STD, Climb, climb_case, logged_climb

VEHICLE = "packbot"
SIZES = (1, 3)
"""Logs of a fit."""
HEIGHTS = (0.08, 0.10, 0.12)
"""Heights of the steps, one log after the other [m]."""
OFF: Mapping[str, float] = MappingProxyType({"friction": 0.15, "com_x": 0.02, "drive_lag": 0.06})
"""Largest difference of the truth from the middle, which is drawn evenly."""
LAG = 0.12
"""Middle of the drive lags [s]; the file's values are those of the others, and of the start."""
DURATION, RATE = 3.6, 25.0
"""Duration of each log [s], and sampling rate, a multiple of the time step [1/s]."""
TIME_STEP = 0.004
SPEED, WAIT = 0.2, 0.32
"""Belt speed [m/s], and how long the vehicle stands first [s]."""
WAYS = (0.12, 0.18)
"""Free distance before the step, drawn evenly [m]."""


class FitJob(NamedTuple):
    """One fit: its seed, and number of logs."""

    seed: int
    logs: int


@dataclass(frozen=True)
class Estimated:
    """A parameter of one fit.

    Attributes:
        seed: Seed of the fit's logs.
        logs: Number of logs.
        name: Name of the parameter.
        truth: True value.
        value: Fitted value.
        low: Lower end of the interval; the search's bound where the logs do not bound it.
        high: Upper end, likewise.
        bounded: True if the logs bound it from both sides.
    """

    seed: int
    logs: int
    name: str
    truth: float
    value: float
    low: float
    high: float
    bounded: bool

    @property
    def holds(self) -> bool:
        """True if the interval has the truth."""
        return self.low <= self.truth <= self.high


def cases_of(job: FitJob) -> tuple[VehicleDescription, dict[str, float], list[MotionCase]]:
    """Vehicle from which a fit begins, true values by parameter, and its logs."""
    generator = np.random.default_rng(job.seed)
    start = load_vehicle(VEHICLE)
    middles = {**values_of(start), "drive_lag": LAG}
    truth = {name: middles[name] + off * float(generator.uniform(-1, 1)) for name, off in OFF.items()}
    robot = with_parameters(start, truth)
    cases = []
    for k in range(job.logs):
        climb = Climb(
            HEIGHTS[k % len(HEIGHTS)],
            way=float(generator.uniform(*WAYS)),
            duration=DURATION,
            rate=RATE,
            time_step=TIME_STEP,
            seed=int(generator.integers(2**31)),
        )
        motion = logged_climb(robot, "compliant", climb, lambda time: SPEED if time >= WAIT else 0.0)
        cases.append(climb_case(start, motion, climb, "compliant"))
    return start, truth, cases


def fit_once(job: FitJob) -> list[Estimated]:
    """Simulate the logs of a fit, and fit them."""
    start, truth, cases = cases_of(job)
    found = fit(start, cases, {name: Choice() for name in truth}, seed=job.seed)
    if not found.finished:
        raise KeyboardInterrupt
    return [
        Estimated(*job, e.name, truth[e.name], e.value, *e.interval, e.is_bounded) for e in found.estimates
    ]


def run_coverage(
    count: int, seed: int = 1, jobs: int | None = None, on_done: Callable[[], object] = lambda: None
) -> tuple[list[Estimated], bool]:
    """Fit logs of known truth, `count` times with each of `SIZES`.

    Args:
        count: Number of fits of each size.
        seed: Seed of the first of them.
        jobs: Processes; as many as there are cores if not given.
        on_done: Called after each fit.

    Returns:
        Parameters of all fits, those that were done first first; and True if Ctrl-C ended it.
    """
    work = [FitJob(seed + k, size) for k in range(count) for size in SIZES]
    done: list[Estimated] = []

    def note(index: int, found: list[Estimated]) -> None:
        done.extend(found)
        on_done()

    try:
        with Workers(jobs) as pool:
            pool.run(fit_once, work, note)
    except KeyboardInterrupt:
        return done, True
    return done, False


@dataclass(frozen=True)
class Coverage:
    """Intervals that hold.

    Attributes:
        name: Name of the parameter.
        logs: Number of logs of each fit.
        held: Number of intervals that have the truth.
        count: Number of fits.
        bounded: Number of those whose logs bound it from both sides.
    """

    name: str
    logs: int
    held: int
    count: int
    bounded: int

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the probability to hold (Clopper and Pearson 1934)."""
        found = binomtest(self.held, self.count).proportion_ci(0.95)
        return float(found.low), float(found.high)


def coverage_of(found: Sequence[Estimated]) -> Iterator[Coverage]:
    """Yield the coverage of each parameter, by the number of logs."""
    for logs in SIZES:
        for name in OFF:
            own = [e for e in found if (e.logs, e.name) == (logs, name)]
            if own:
                held, bounded = sum(e.holds for e in own), sum(e.bounded for e in own)
                yield Coverage(name, logs, held, len(own), bounded)


def coverage_outcome(found: Sequence[Estimated], interrupted: bool) -> Outcome:
    """Describe the coverage of fits, as a table and a picture."""
    table = Table(
        "logs a fit",
        "parameter",
        "held",
        "95 % of it",
        "bounded",
        title=f"Intervals of 95 % that hold the truth: {VEHICLE}, {TIME_STEP * 1e3:g} ms, place not known",
    )
    rows = list(coverage_of(found))
    for row in rows:
        low, high = row.interval
        cells = f"{row.held} of {row.count}", f"{low:.0%} to {high:.0%}", f"{row.bounded} of {row.count}"
        table.add_row(str(row.logs), row.name, *cells)
    summary: dict[str, Any] = {
        "coverage": [{**vars(row), "interval": row.interval} for row in rows],
        "fits": [vars(e) for e in found],
        "std": dict(STD),
    }
    files = {"coverage.json": summary, **({"coverage.png": draw_coverage(found)} if found else {})}
    ended = "interrupted: of the fits that are done" if interrupted else ""
    return Outcome([table], summary, files, interrupted=ended)


def draw_coverage(found: Sequence[Estimated]) -> Figure:
    """Each interval, less the truth; those that do not hold are red."""
    figure = new_figure(3.6 * len(OFF), 2.6 * len(SIZES))
    grid = figure.subplots(len(SIZES), len(OFF), squeeze=False)
    for row, logs in zip(grid, SIZES, strict=True):
        for axes, name in zip(row, OFF, strict=True):
            for k, e in enumerate(e for e in found if (e.logs, e.name) == (logs, name)):
                colour = "tab:blue" if e.holds else "tab:red"
                axes.plot([e.low - e.truth, e.high - e.truth], [k, k], color=colour, linewidth=1.2)
                axes.plot([e.value - e.truth], [k], ".", color=colour, markersize=4)
            axes.axvline(0.0, color="black", linewidth=0.8)
            label_axes(axes, f"{name} less the truth", "fit", f"{logs} {'log' if logs == 1 else 'logs'}")
    return figure
