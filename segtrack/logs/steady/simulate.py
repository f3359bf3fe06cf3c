"""Steady turns of a table, driven by a track model or by planar friction alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from segtrack.description import VehicleDescription
from segtrack.engine import EngineName
from segtrack.experiments.parallel import run_parallel
from segtrack.experiments.steady_turns.driven import DrivenTurns, drive_turns, uniform_turns
from segtrack.logs.steady.table import RESPONSES, Array, SteadyTable, responses_of

UNIFORM = "uniform pressure"
"""Instead of a track model: planar Coulomb friction under uniform pressure, in closed form but for a root."""
PARTS = 27
"""Into which the turns of a table are divided, for many processes and a progress bar."""


def simulate_turns(
    vehicle: VehicleDescription,
    belts: Array,
    track_model: str,
    engine: EngineName | None = None,
    keys: Sequence[str] = tuple(RESPONSES),
) -> Array:
    """Responses of turns (n, k), in the order of keys.

    Args:
        vehicle: What drives.
        belts: Speeds of the left and the right belts (n, 2) [m/s].
        track_model: `UNIFORM`, or what builds its tracks.
        engine: That runs the track model; the default one if not given.
        keys: Responses, see `RESPONSES`.

    Raises:
        UnknownNameError: No such track model or engine.
        InvalidValueError: An engine that does not run the track model, or a body without tracks on a side.
        DivergedError: The simulation broke down.
    """
    turns = _turns(vehicle, belts, track_model, engine)
    return responses_of(belts, turns.tracks, turns.yaw_rate, keys)


def simulate_table(
    vehicle: VehicleDescription,
    table: SteadyTable,
    track_model: str,
    engine: EngineName | None = None,
    workers: int | None = None,
    on_part: Callable[[], object] = lambda: None,
) -> SteadyTable:
    """A table's turns as simulated: the same belts, all responses.

    Args:
        vehicle: What drives.
        table: Whose belt speeds it gets.
        track_model: See `simulate_turns`.
        engine: See `simulate_turns`.
        workers: Processes; as many as there are cores if not given.
        on_part: Called after each of `part_count`.
    """
    parts = np.array_split(table.belts, part_count(table))
    jobs = [_Job(vehicle, part, track_model, engine) for part in parts]
    found = np.concatenate(run_parallel(_simulate, jobs, workers=workers, on_done=on_part))
    responses = {key: found[:, i].copy() for i, key in enumerate(RESPONSES)}
    return SteadyTable(f"{table.name}, {track_model}", table.belts, responses)


def part_count(table: SteadyTable) -> int:
    """How many parts `simulate_table` has."""
    return min(PARTS, len(table))


@dataclass(frozen=True, eq=False)
class _Job:
    """Some turns that one process drives."""

    vehicle: VehicleDescription
    belts: Array
    track_model: str
    engine: EngineName | None


def _simulate(job: _Job) -> Array:
    return simulate_turns(job.vehicle, job.belts, job.track_model, job.engine)


def _turns(
    vehicle: VehicleDescription, belts: Array, track_model: str, engine: EngineName | None
) -> DrivenTurns:
    if track_model == UNIFORM:
        return uniform_turns(vehicle, belts)
    return drive_turns(vehicle, belts, track_model, engine)
