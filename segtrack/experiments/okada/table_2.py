"""Table II of Okada et al. 2020: how fast each track model is simulated.

PackBot on flat ground at 0.3 m/s in 1 ms steps. The models take turns, round by
round, so that what else the machine does hits all of them alike.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from segtrack.description import load_vehicle
from segtrack.engine import EngineName
from segtrack.errors import InvalidValueError
from segtrack.experiments.okada.published import TABLE_2_SPEED
from segtrack.experiments.variants import without_segment
from segtrack.terrain import Plane
from segtrack.world import World

VEHICLE = "packbot"
MODELS: Mapping[str, tuple[EngineName, str]] = {
    "segments": ("pybullet", "segments"),
    "segments_with_upper_line": ("pybullet", "segments"),
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
WITHOUT_UPPER_LINE = ("segments", "smooth")
"""These drive without the upper line, which nothing touches here (Okada et al. 2020, section III-E)."""
UPPER_LINE = "line_2"
RATIOS = {
    "segments_over_wheels_13": ("segments", "wheels_13"),
    "segments_over_wheels_4": ("segments", "wheels_4"),
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
_CHUNK = 0.02


@dataclass(frozen=True)
class Table2:
    """The table as this simulator has it, on this machine.

    Attributes:
        rounds: Real-time factor of each round, by model.
        overhead_fraction: Fraction of a step that is not Bullet's `stepSimulation`: segtrack's own
            Python, with the segments model; the median over the rounds.
    """

    rounds: dict[str, tuple[float, ...]]
    overhead_fraction: float

    @property
    def real_time_factor(self) -> dict[str, float]:
        """Median over the rounds, by model."""
        return {model: statistics.median(factors) for model, factors in self.rounds.items()}

    @property
    def ratios(self) -> dict[str, float]:
        """Ratios of the medians, of the models that were run."""
        factor = self.real_time_factor
        return {name: factor[a] / factor[b] for name, (a, b) in RATIOS.items() if a in factor and b in factor}

    def summary(self) -> dict[str, object]:
        """As plain values with the names that JSON has."""
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
    on_done: Callable[[], object] | None = None,
) -> Table2:
    """Measure all models in turn.

    Args:
        rounds: How often, at least 1.
        models: Engine and track model by the name in the table; `segments` must be among them.
        seconds: Simulated in a round [s]; less for a model that would take over 3 s for it.
        on_done: Called after each model's round.

    Raises:
        InvalidValueError: No rounds.
    """
    if rounds < 1:
        raise InvalidValueError("rounds", "at least 1", rounds)
    with ExitStack() as stack:
        racers = {name: stack.enter_context(_Racer(name, *model)) for name, model in models.items()}
        factors: dict[str, list[float]] = {name: [] for name in racers}
        fractions = []
        for _ in range(rounds):
            for name, racer in racers.items():
                elapsed, engine, simulated = racer.drive(seconds, _MAX_ELAPSED)
                factors[name].append(simulated / elapsed)
                if name == "segments":
                    fractions.append(1.0 - engine / elapsed)
                if on_done is not None:
                    on_done()
    return Table2({name: tuple(values) for name, values in factors.items()}, statistics.median(fractions))


class _Racer:
    """One model's world, warmed up and driving."""

    def __init__(self, name: str, engine: EngineName, track_model: str) -> None:
        self._client: Any = None
        if engine == "pybullet":
            from segtrack.bullet.timed_client import TimedClient

            self._client = TimedClient()
        self._world = World("exact", engine=engine, client=self._client)
        try:
            self._world.add_terrain(Plane())
            vehicle = load_vehicle(VEHICLE)
            if name in WITHOUT_UPPER_LINE:
                vehicle = without_segment(vehicle, UPPER_LINE)
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
        """Drive on; returns elapsed time, Bullet's part of it and simulated time [s]."""
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
