"""`segtrack reproduce okada-table-2`: real-time factor of each track model."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from rich.table import Table

from segtrack.description import load_vehicle
from segtrack.engine import EngineName
from segtrack.experiments import without_segment
from segtrack.geometry import Box
from segtrack.report import SEGMENT_COLOURS, Outcome, new_figure
from segtrack.reproduce.okada_cases import TABLE_2_RATIOS, TABLE_2_REAL_TIME_FACTOR, TABLE_2_SPEED
from segtrack.reproduce.published_segments import as_published
from segtrack.reproduce.registry import Rounds, Session, runnable, take_turns
from segtrack.terrain import StaticBody
from segtrack.world import World

VEHICLE = "packbot"
PUBLISHED = "segments_as_published"
MODELS: Mapping[str, tuple[EngineName, str]] = {
    "segments": ("pybullet", "segments"),
    "segments_with_upper_line": ("pybullet", "segments"),
    PUBLISHED: ("pybullet", "segments"),
    "smooth": ("pybullet", "smooth"),
    "wheels_4": ("pybullet", "wheels:4"),
    "wheels_13": ("pybullet", "wheels:13"),
    "plates": ("pybullet", "plates"),
    "surface": ("native", "surface"),
    "compliant": ("native", "compliant"),
    "compliant_in_pybullet": ("pybullet", "compliant"),
    "chain": ("native", "chain"),
    "chain_in_pybullet": ("pybullet", "chain"),
}
"""Engine and track model by the name in the table."""
WITHOUT_UPPER_LINE = ("segments", PUBLISHED, "smooth")
"""These drive without the upper line, which nothing touches here (Okada et al. 2020, section III-E)."""
UPPER_LINE = "line_2"
RATIOS = {
    "segments_over_wheels_13": ("segments", "wheels_13"),
    "segments_over_wheels_4": ("segments", "wheels_4"),
    "published_segments_over_wheels_13": (PUBLISHED, "wheels_13"),
    "published_segments_over_wheels_4": (PUBLISHED, "wheels_4"),
    "smooth_over_wheels_4": ("smooth", "wheels_4"),
    "surface_over_wheels_4": ("surface", "wheels_4"),
    "compliant_over_segments": ("compliant", "segments"),
    "compliant_in_pybullet_over_segments": ("compliant_in_pybullet", "segments"),
    "chain_over_segments": ("chain", "segments_with_upper_line"),
    "chain_in_pybullet_over_segments": ("chain_in_pybullet", "segments_with_upper_line"),
}
ROUNDS = 5
_SECONDS = 2.0
"""Simulated in a round by a model that is fast enough [s]."""
_MAX_ELAPSED = 3.0
"""A slower model stops its round after about this wall time [s]."""
_WARM_UP = 0.2
_FLOOR = StaticBody(parts=(Box((100.0, 100.0, 1.0), (0.0, 0.0, -0.5)),), name="floor")
"""On the box that stands for a `Plane` in PyBullet, 2 km wide, wheels have three times their contacts."""
_CHUNK = 0.02


@dataclass(frozen=True)
class Table2:
    """Table II of Okada et al. 2020, measured on this machine.

    Attributes:
        rounds: Real-time factor of each round, by model [-].
        overhead_fraction: Fraction of a step outside of Bullet's `stepSimulation`, which is segtrack's
            Python, for the segments model; median over the rounds. None if it was not run.
    """

    rounds: dict[str, tuple[float, ...]]
    overhead_fraction: float | None

    @property
    def real_time_factor(self) -> dict[str, float]:
        """Median real-time factor over the rounds, by model [-]."""
        return {model: statistics.median(factors) for model, factors in self.rounds.items()}

    @property
    def ratios(self) -> dict[str, float]:
        """Ratios of the medians, for the models that were run."""
        factor = self.real_time_factor
        return {name: factor[a] / factor[b] for name, (a, b) in RATIOS.items() if a in factor and b in factor}

    def summary(self) -> dict[str, object]:
        """Return a JSON-serialisable dict."""
        return {
            "real_time_factor": self.real_time_factor,
            "ratios": self.ratios,
            "overhead_fraction": self.overhead_fraction,
            "rounds": {model: list(factors) for model, factors in self.rounds.items()},
        }


def run_table_2(
    *,
    rounds: int = ROUNDS,
    models: Mapping[str, tuple[EngineName, str]] = MODELS,
    seconds: float = _SECONDS,
    on_done: Callable[[], object] = lambda: None,
) -> Table2:
    """Measure all models in turn, in each round.

    Args:
        rounds: Number of rounds, at least 1.
        models: Engine and track model by the name in the table.
        seconds: Simulated time of a round [s]; less for a model that would take over 3 s for it.
        on_done: Function called after each model's round.

    Raises:
        InvalidValueError: No rounds.
    """
    with ExitStack() as stack:
        racers = {name: stack.enter_context(_Racer(name, *model)) for name, model in models.items()}
        times = take_turns(
            {name: partial(racer.drive, seconds, _MAX_ELAPSED) for name, racer in racers.items()},
            rounds,
            on_done,
        )
    fractions = [1.0 - engine / elapsed for elapsed, engine, _ in times.get("segments", ())]
    return Table2(
        {name: tuple(simulated / elapsed for elapsed, _, simulated in each) for name, each in times.items()},
        statistics.median(fractions) if fractions else None,
    )


class _Racer:
    """World of one model, warmed up and driving."""

    def __init__(self, name: str, engine: EngineName, track_model: str) -> None:
        self._client: Any = None
        if engine == "pybullet":
            from segtrack.bullet import TimedClient

            self._client = TimedClient()
        self._world = World("exact", engine=engine, client=self._client)
        try:
            self._world.add_terrain(_FLOOR)
            vehicle = load_vehicle(VEHICLE)
            if name in WITHOUT_UPPER_LINE:
                vehicle = without_segment(vehicle, UPPER_LINE)
            with as_published() if name == PUBLISHED else nullcontext():
                robot = self._world.add_vehicle(vehicle, track_model=track_model)
            robot.set_belt_speed(left=TABLE_2_SPEED, right=TABLE_2_SPEED)
            self.drive(_WARM_UP, _MAX_ELAPSED)
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> _Racer:
        return self

    def __exit__(self, *_: object) -> None:
        self._world.close()
        if self._client is not None:
            self._client.disconnect()

    def drive(self, seconds: float, max_elapsed: float) -> tuple[float, float, float]:
        """Drive on; return elapsed time, Bullet's part of it and simulated time [s]."""
        elapsed = simulated = 0.0
        engine_before = self._engine_time
        while simulated < seconds - _CHUNK / 2 and elapsed < max_elapsed:
            self._world.run(_CHUNK)
            elapsed += _CHUNK / self._world.real_time_factor
            simulated += _CHUNK
        return elapsed, self._engine_time - engine_before, simulated

    @property
    def _engine_time(self) -> float:
        """Time spent in Bullet so far [s]; 0 without it."""
        return self._client.engine_time if self._client is not None else 0.0


def run(session: Session, rounds: Rounds = ROUNDS) -> Outcome:
    """Measure all track models whose engine is installed."""
    names, notes = runnable(MODELS)
    with session.counting("driving", rounds * len(names)) as done:
        result = run_table_2(rounds=rounds, models={name: MODELS[name] for name in names}, on_done=done)
    summary = result.summary()
    return Outcome(
        table_2(result), summary, {"table_2.json": summary, "table_2.png": draw_table_2(result)}, notes
    )


def table_2(result: Table2) -> Table:
    """Return the measured Table II beside the paper's, with ratios."""
    table = Table(
        "", "segtrack", "Okada et al. 2020", title="Table II: real-time factor, PackBot, 1 ms, 0.3 m/s"
    )
    for model, factor in result.real_time_factor.items():
        paper = TABLE_2_REAL_TIME_FACTOR.get(model)
        table.add_row(model.replace("_", " "), f"{factor:.2f}", "" if paper is None else f"{paper:.2f}")
    table.add_section()
    for name, ratio in result.ratios.items():
        paper = TABLE_2_RATIOS.get(name)
        table.add_row(name.replace("_", " "), f"{ratio:.2f}", "" if paper is None else f"{paper:.2f}")
    if result.overhead_fraction is not None:
        table.add_section()
        table.add_row("segtrack's own fraction of a step", f"{result.overhead_fraction:.1%}", "")
    return table


def draw_table_2(table: Table2) -> Figure:
    """Draw real-time factors as bars, the paper's beside them, on a logarithmic scale."""
    figure = new_figure(10.0, 5.0)
    axes = figure.add_subplot()
    factors = table.real_time_factor
    places = np.arange(len(factors))
    ours = axes.bar(places - 0.2, list(factors.values()), 0.4, color=SEGMENT_COLOURS[0], label="segtrack")
    axes.bar_label(ours, fmt="%.2f", fontsize=9)
    known = [i for i, model in enumerate(factors) if model in TABLE_2_REAL_TIME_FACTOR]
    values = [TABLE_2_REAL_TIME_FACTOR[model] for model in factors if model in TABLE_2_REAL_TIME_FACTOR]
    theirs = axes.bar(
        np.array(known) + 0.2, values, 0.4, color=SEGMENT_COLOURS[4], label="Okada et al. 2020, ODE"
    )
    axes.bar_label(theirs, fmt="%.2f", fontsize=9)
    axes.axhline(1.0, color="black", linewidth=0.8, linestyle=":")
    axes.set_yscale("log")
    axes.set_ylabel("real-time factor (above 1: faster than real time)")
    axes.set_xticks(places, [name.replace("_", " ") for name in factors])
    axes.set_title("PackBot, flat ground, 0.3 m/s, 1 ms; another machine than the paper's", loc="left")
    axes.legend()
    return figure
