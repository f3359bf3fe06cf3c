"""Recorded turns of MAXXII (Focchi et al. 2024), driven in simulation at their belt speeds. Nothing is tuned.

The README of `segtrack/logs/data` says where the file is from, and what of its reading is assumed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from segtrack.description import VehicleDescription, load_vehicle
from segtrack.errors import InvalidValueError, Phrase
from segtrack.experiments.parallel import run_parallel
from segtrack.experiments.steady_turns.driven import DrivenTurns, drive_turns, uniform_turns
from segtrack.experiments.variants import with_contact_length
from segtrack.logs.mapping import map_file
from segtrack.logs.steady.simulate import PARTS
from segtrack.logs.steady.table import SteadyTable
from segtrack.world.engines import resolve

DATA = Path(str(resources.files("segtrack.logs").joinpath("data")))
VEHICLE = "maxxii"
TRACK_MODELS = ("compliant", "segments", "chain")
LENGTHS = (0.6, 0.7, 0.8)
"""On the ground, the middle one the vehicle file's; none is published [m]."""
FEW = 27
"""Turns that slow track models drive."""
GAUGE = 0.606
"""Distance between the tracks' middles [m]."""
_FAST = ("compliant", "surface")


@cache
def recorded_turns() -> SteadyTable:
    """All recorded turns."""
    return SteadyTable.of(map_file(DATA / "maxxii_indoor.csv", DATA / "maxxii_indoor.yaml").motion)


@dataclass(frozen=True, eq=False)
class SimulatedTurns:
    """Recorded turns as a model drives them.

    Attributes:
        model: Track model, or `uniform pressure`: planar friction without a simulator.
        length: Of the tracks on the ground [m].
        rows: Which of the recorded turns (n,).
        yaw_rate: Simulated (n,) [rad/s].
        real_time_factor: Simulated over elapsed time; None without a simulator.
    """

    model: str
    length: float
    rows: NDArray[np.intp]
    yaw_rate: NDArray[np.float64]
    real_time_factor: float | None

    @property
    def turning(self) -> NDArray[np.bool_]:
        """Which of them turn (n,); others have no ratio."""
        return recorded_turns().turning[self.rows]

    @property
    def over_no_slip(self) -> NDArray[np.float64]:
        """Simulated yaw rate over that without slip, of those that turn [-]."""
        return self.yaw_rate[self.turning] / self._no_slip_rate

    @property
    def measured_over_no_slip(self) -> NDArray[np.float64]:
        """Measured yaw rate over that without slip, of the same [-]."""
        return recorded_turns().yaw_rate(GAUGE)[self.rows][self.turning] / self._no_slip_rate

    @property
    def measured_over_simulated(self) -> NDArray[np.float64]:
        """Of those that turn [-]."""
        return self.measured_over_no_slip / self.over_no_slip

    @property
    def _no_slip_rate(self) -> NDArray[np.float64]:
        return recorded_turns().no_slip_rate(GAUGE)[self.rows][self.turning]

    def summary(self) -> dict[str, object]:
        """Everything as plain values with the names that JSON has."""
        return {
            "model": self.model,
            "contact_length": self.length,
            "turns": len(self.rows),
            "simulated_over_no_slip": quartiles(self.over_no_slip),
            "measured_over_no_slip": quartiles(self.measured_over_no_slip),
            "measured_over_simulated": quartiles(self.measured_over_simulated),
            "real_time_factor": self.real_time_factor,
            "rows": self.rows.tolist(),
            "yaw_rate": self.yaw_rate.tolist(),
        }


def quartiles(values: NDArray[np.float64]) -> list[float]:
    """Lower quartile, median and upper quartile."""
    return [float(value) for value in np.percentile(values, [25, 50, 75])]


def run_maxxii(
    track_models: Sequence[str] = TRACK_MODELS,
    rows: int | None = None,
    workers: int | None = None,
    on_part: Callable[[], object] = lambda: None,
) -> tuple[SimulatedTurns, ...]:
    """Drive the recorded turns with each track model; compliant ones with all `LENGTHS`, others with one.

    Args:
        track_models: segments, smooth, wheels:N, plates, chain, compliant or surface.
        rows: How many turns, spread evenly over the recording; all for compliant belts and `FEW` for
            others if not given.
        workers: Processes; as many as there are cores if not given.
        on_part: Called after each of `part_count`.

    Returns:
        For each length the planar friction of uniform pressure; then each track model.

    Raises:
        UnknownNameError: No such track model.
        InvalidValueError: There are not so many turns.
    """
    for track_model in track_models:
        resolve(None, track_model)
    plan = [
        (track_model, length, chosen_rows(track_model, rows))
        for track_model in track_models
        for length in (LENGTHS if track_model in _FAST else LENGTHS[1:2])
    ]
    jobs = [
        _Job(_of_length(length), track_model, part)
        for track_model, length, chosen in plan
        for part in _parts(chosen)
    ]
    done = iter(run_parallel(_drive, jobs, workers=workers, on_done=on_part))
    found = [_uniform_pressure(length, chosen_rows("compliant", rows)) for length in LENGTHS]
    for track_model, length, chosen in plan:
        parts = [next(done) for _ in _parts(chosen)]
        rates = np.concatenate([part.yaw_rate for part in parts])
        factor = sum(part.simulated for part in parts) / sum(part.elapsed for part in parts)
        found.append(SimulatedTurns(track_model, length, chosen, rates, factor))
    return tuple(found)


def part_count(track_models: Sequence[str], rows: int | None) -> int:
    """How many parts `run_maxxii` has."""
    counts = {name: len(_parts(chosen_rows(name, rows))) for name in track_models}
    return sum(count * (len(LENGTHS) if name in _FAST else 1) for name, count in counts.items())


def chosen_rows(track_model: str, rows: int | None) -> NDArray[np.intp]:
    """Which turns a track model drives, spread evenly over the recording (n,).

    Raises:
        InvalidValueError: There are not so many.
    """
    total = len(recorded_turns().belts)
    count = rows if rows is not None else total if track_model in _FAST else FEW
    if not 1 <= count <= total:
        raise InvalidValueError("rows", f"1 to {total}", Phrase(f"{count}"))
    return ((np.arange(count) + 0.5) * total / count).astype(np.intp)


@dataclass(frozen=True, eq=False)
class _Job:
    """Some turns that one process drives."""

    vehicle: VehicleDescription
    track_model: str
    rows: NDArray[np.intp]


def _parts(rows: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    return np.array_split(rows, min(PARTS, len(rows)))


def _drive(job: _Job) -> DrivenTurns:
    """Drive turns one after the other, each from the start."""
    return drive_turns(job.vehicle, recorded_turns().belts[job.rows], job.track_model)


def _uniform_pressure(length: float, rows: NDArray[np.intp]) -> SimulatedTurns:
    """Planar friction under uniform pressure on tracks of a length [m]."""
    turns = uniform_turns(_of_length(length), recorded_turns().belts[rows])
    return SimulatedTurns("uniform pressure", length, rows, turns.yaw_rate, None)


def _of_length(length: float) -> VehicleDescription:
    return with_contact_length(load_vehicle(VEHICLE), length)
