"""Tables of steady turns simulated: as a case of a fit, and beside what was measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from segtrack.description import VehicleDescription
from segtrack.engine import EngineName
from segtrack.errors import InvalidValueError, Phrase, UnknownNameError
from segtrack.experiments import drive_turns, run_parallel, uniform_turns
from segtrack.logs.fit import LogFiles, Rows
from segtrack.logs.mapping import RESPONSES, SteadyTable

Array = NDArray[np.float64]
DATA = Path(str(resources.files("segtrack.logs").joinpath("data")))
"""Folder of the recorded turns that are bundled, with their mapping and fit file."""


def responses_of(belts: Array, tracks: Array, yaw_rate: Array, keys: Sequence[str]) -> Array:
    """Responses in the order of keys (n, k), of belts and tracks (n, 2) [m/s] and yaw rates (n,) [rad/s]."""
    slips = belts - tracks
    every = {"slip_velocity.left": slips[:, 0], "slip_velocity.right": slips[:, 1], "yaw_rate": yaw_rate}
    return np.stack([every[key] for key in keys], axis=1)


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
        vehicle: Vehicle that drives.
        belts: Speeds of the left and the right belts (n, 2) [m/s].
        track_model: `UNIFORM`, or what builds its tracks.
        engine: Name of the engine; one that runs the track model if not given.
        keys: Responses, see `RESPONSES`.

    Raises:
        UnknownNameError: No such track model or engine.
        InvalidValueError: An engine that does not run the track model, or a body without tracks on a side.
        DivergedError: The simulation broke down.
    """
    if track_model == UNIFORM:
        turns = uniform_turns(vehicle, belts)
    else:
        turns = drive_turns(vehicle, belts, track_model, engine)
    return responses_of(belts, turns.tracks, turns.yaw_rate, keys)


def simulate_table(
    vehicle: VehicleDescription,
    table: SteadyTable,
    track_model: str,
    workers: int | None = None,
    on_part: Callable[[], object] = lambda: None,
) -> SteadyTable:
    """A table's turns as simulated: the same belts, all responses.

    Args:
        vehicle: Vehicle that drives.
        table: Whose belt speeds it gets.
        track_model: See `simulate_turns`.
        workers: Processes; as many as there are cores if not given.
        on_part: Called after each of `part_count`.
    """
    parts = np.array_split(table.belts, part_count(table))
    simulate = partial(simulate_turns, vehicle, track_model=track_model)
    found = np.concatenate(run_parallel(simulate, parts, workers=workers, on_done=on_part))
    responses = {key: found[:, i].copy() for i, key in enumerate(RESPONSES)}
    return SteadyTable(f"{table.name}, {track_model}", table.belts, responses)


def part_count(table: SteadyTable) -> int:
    """Return the number of parts of `simulate_table`."""
    return min(PARTS, len(table))


@dataclass(frozen=True, eq=False)
class SteadyCase:
    """A table of steady turns, and what simulates it.

    Attributes:
        name: Name of the case.
        table: Logged table.
        signals: Compared responses: standard deviation of each, None for the table's own.
        track_model: Name of the track model; `uniform pressure` for planar friction without a simulator.
        engine: Name of the engine; one that runs the track model if not given.
        held_out: True if it is scored only.
        files: Files that it was read from.
        rows: Measured values, made of the others.
    """

    name: str
    table: SteadyTable
    signals: Mapping[str, float | None]
    track_model: str = "compliant"
    engine: EngineName | None = None
    held_out: bool = False
    files: LogFiles | None = None
    rows: Rows = field(init=False)

    def __post_init__(self) -> None:
        """Make the table of what is compared.

        Raises:
            UnknownNameError: A response that the table lacks.
            InvalidValueError: No responses, or one without a standard deviation.
        """
        if not self.signals:
            raise InvalidValueError(f"signals of {self.name}", "one or more", Phrase("none"))
        stds = []
        for key, given in self.signals.items():
            if key not in self.table.responses:
                raise UnknownNameError(f"response of {self.name}", key, self.table.responses)
            std = given if given is not None else self.table.std.get(key)
            if std is None or not std > 0:
                what = f"standard deviation of {key} of {self.name}"
                raise InvalidValueError(what, "given, above 0", Phrase("none") if std is None else std)
            stds.append(std)
        measured = np.stack([self.table.responses[key] for key in self.signals], axis=1)
        units = tuple(RESPONSES[key] for key in self.signals)
        each = np.tile(stds, (len(measured), 1))
        rows = Rows(tuple(self.signals), units, None, measured, each, np.zeros(len(stds)))
        object.__setattr__(self, "rows", rows)

    def simulated(self, vehicle: VehicleDescription, clock_offset: float) -> Array:
        """See `Case.simulated`; turns have no clock."""
        return simulate_turns(vehicle, self.table.belts, self.track_model, self.engine, tuple(self.signals))
