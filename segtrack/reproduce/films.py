"""`segtrack reproduce films`: wall time that films add to climbs."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from segtrack.experiments import ClimbProgress, ClimbSetup, run_climb
from segtrack.rendering import FRAME_RATE, SIZE, Film, View
from segtrack.report import Outcome
from segtrack.reproduce.registry import Rounds, Session, runnable, stopwatch, take_turns

CLIMBS: tuple[Mapping[str, Any], ...] = (
    {"vehicle": "quince", "step": 0.24, "track_model": "segments"},
    {"vehicle": "quince", "step": 0.24, "track_model": "compliant"},
    {"vehicle": "packbot", "step": 0.07, "speed": 0.2, "track_model": "chain"},
)
"""Keyword arguments of the climbs' `ClimbSetup`, which resolves its engine when it is made."""
ROUNDS = 3


@dataclass(frozen=True)
class FilmCost:
    """Wall times of one climb, without and with a film.

    Attributes:
        setup: Setup of the climb.
        simulated: Simulated time [s].
        without: Wall time of each round [s].
        filmed: Wall time of each round with a film, until its file is closed [s].
    """

    setup: ClimbSetup
    simulated: float
    without: tuple[float, ...]
    filmed: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """Ratio of the median wall times with and without a film [-]."""
        return statistics.median(self.filmed) / statistics.median(self.without)

    @property
    def frame_time(self) -> float:
        """Wall time added by a frame, from medians [s]."""
        added = statistics.median(self.filmed) - statistics.median(self.without)
        return added / (self.simulated * FRAME_RATE)

    def record(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict."""
        engine, track_model = self.setup.resolved
        return {
            "vehicle": str(self.setup.vehicle),
            "step": self.setup.step,
            "engine": engine,
            "track_model": track_model,
            "simulated": self.simulated,
            "without_film": list(self.without),
            "with_film": list(self.filmed),
            "ratio": self.ratio,
            "frame_time": self.frame_time,
            "frame_rate": FRAME_RATE,
            "frame_size": list(SIZE),
        }


def measure_films(
    rounds: int = ROUNDS,
    view: View = "side",
    on_done: Callable[[], object] = lambda: None,
    climbs: Sequence[Mapping[str, Any]] = CLIMBS,
) -> tuple[FilmCost, ...]:
    """Drive all climbs in turn, without and with a film.

    Args:
        rounds: Number of rounds, at least 1.
        view: View of the films.
        on_done: Function called after each climb in each round.
        climbs: Keyword arguments of `ClimbSetup` for each climb.

    Raises:
        InvalidValueError: No rounds.
        UnknownNameError: No such view.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "film.mp4"
        setups = [ClimbSetup(**climb) for climb in climbs]
        rounds_of = take_turns(
            {k: partial(_time_both, setup, file, view) for k, setup in enumerate(setups)},
            rounds,
            on_done,
            warm_up=True,
        )
    columns = [tuple(zip(*rounds_of[k], strict=True)) for k in range(len(setups))]
    return tuple(
        FilmCost(setup, simulated[0], without, filmed)
        for setup, (simulated, without, filmed) in zip(setups, columns, strict=True)
    )


def _time_both(setup: ClimbSetup, file: Path, view: View) -> tuple[float, float, float]:
    """Simulated time of a climb, and its wall times without and with a film [s]."""
    results: list[float] = []
    filmed = stopwatch(lambda: results.append(_climb(setup, file, view)))
    without = stopwatch(lambda: results.append(_climb(setup, None, view)))
    return results[0], without.clock, filmed.clock


def _climb(setup: ClimbSetup, file: Path | None, view: View) -> float:
    """Simulate a climb, with a film if a file is given, and return the simulated time [s]."""
    film: Film | None = None

    def observe(now: ClimbProgress) -> None:
        nonlocal film
        if file is not None:
            film = film or Film(file, now.robot, now.world.terrains, view=view)
            film.take(now.time)

    result = run_climb(setup, observer=observe)
    if film is not None:
        film.close()
    return result.duration


def run(
    session: Session,
    rounds: Rounds = ROUNDS,
    view: Annotated[str, typer.Option(help="The films': side, top, oblique or chase.")] = "side",
) -> Outcome:
    """Time climbs, whose engine is installed, without and with a film."""
    chosen, notes = runnable({i: (None, climb["track_model"]) for i, climb in enumerate(CLIMBS)})
    climbs = [CLIMBS[i] for i in chosen]
    with session.counting("climbing", rounds * len(climbs)) as done:
        costs = measure_films(rounds, view, done, climbs)  # type: ignore[arg-type]
    summary = {"climbs": [cost.record() for cost in costs]}
    return Outcome(film_table(costs), summary, {"films.json": summary}, notes)


def film_table(costs: Sequence[FilmCost]) -> Table:
    """Return wall times of climbs without and with a film."""
    title = f"Climbs without and with a film of {FRAME_RATE:g} frames a second"
    table = Table("climb", "without [s]", "with [s]", "ratio", "ms a frame", title=title)
    for cost in costs:
        engine, track_model = cost.setup.resolved
        table.add_row(
            f"{cost.setup.vehicle}, {track_model}, {engine}",
            f"{statistics.median(cost.without):.2f}",
            f"{statistics.median(cost.filmed):.2f}",
            f"{cost.ratio:.2f}",
            f"{1e3 * cost.frame_time:.1f}",
        )
    return table
