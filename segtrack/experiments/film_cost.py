"""What does a film of a climb cost, beside the climb itself?

Each climb is driven without a film and with one, in turn, round by round, so that what else the
machine does hits both alike.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from segtrack.errors import InvalidValueError
from segtrack.experiments.climb import ClimbProgress, ClimbSetup, run_climb
from segtrack.rendering import FRAME_RATE, SIZE, Film, View

CLIMBS: tuple[Mapping[str, Any], ...] = (
    {"vehicle": "quince", "step": 0.24, "track_model": "segments"},
    {"vehicle": "quince", "step": 0.24, "track_model": "compliant"},
    {"vehicle": "packbot", "step": 0.07, "speed": 0.2, "track_model": "chain"},
)
"""Fields of their setups, which ask for their engines once they are made."""
ROUNDS = 3


@dataclass(frozen=True)
class FilmCost:
    """Wall times of one climb, without and with a film.

    Attributes:
        setup: The climb.
        simulated: Its simulated time [s].
        without: Wall time of each round [s].
        filmed: Wall time of each round with a film, until its file is closed [s].
    """

    setup: ClimbSetup
    simulated: float
    without: tuple[float, ...]
    filmed: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """Time with a film over that without, medians [-]."""
        return statistics.median(self.filmed) / statistics.median(self.without)

    @property
    def frame_time(self) -> float:
        """What a frame adds, medians [s]."""
        added = statistics.median(self.filmed) - statistics.median(self.without)
        return added / (self.simulated * FRAME_RATE)

    def record(self) -> dict[str, Any]:
        """Everything as plain values with the names that JSON has."""
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
    """Drive all climbs in turn.

    Args:
        rounds: How often, at least 1.
        view: Of the films.
        on_done: Called after each climb in each round.
        climbs: What to drive, as fields of `ClimbSetup`.

    Raises:
        InvalidValueError: No rounds.
        UnknownNameError: No such view.
    """
    if rounds < 1:
        raise InvalidValueError("rounds", "at least 1", rounds)
    setups = [ClimbSetup(**climb) for climb in climbs]
    times: list[tuple[list[float], list[float]]] = [([], []) for _ in climbs]
    simulated = [0.0] * len(climbs)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "film.mp4"
        for i in range(-1, rounds):  # What is compiled at its first call is compiled before.
            for k, setup in enumerate(setups):
                filmed, simulated[k] = _time(setup, file, view)
                without, _ = _time(setup, None, view)
                if i >= 0:
                    times[k][0].append(without)
                    times[k][1].append(filmed)
                    on_done()
    return tuple(
        FilmCost(setup, simulated[k], tuple(times[k][0]), tuple(times[k][1]))
        for k, setup in enumerate(setups)
    )


def _time(setup: ClimbSetup, file: Path | None, view: View) -> tuple[float, float]:
    """Wall time of a climb, with a film if there is a file for it, and its simulated time [s]."""
    film: Film | None = None

    def observe(now: ClimbProgress) -> None:
        nonlocal film
        if file is not None:
            film = film or Film(file, now.robot, now.world.terrains, view=view)
            film.take(now.time)

    start = time.perf_counter()
    result = run_climb(setup, observer=observe)
    if film is not None:
        film.close()
    return time.perf_counter() - start, result.duration
