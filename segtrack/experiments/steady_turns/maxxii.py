"""Recorded turns of a physical vehicle, driven in simulation with the belt speeds of each. Nothing is tuned.

Every turn starts from the same state, so that it does not matter who simulates which. It is measured
over `_MEASURED`, once the faster belt has run as far as it lies on the ground.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.description import VehicleDescription, load_vehicle
from segtrack.description.belt_path import PathSpec, PulleySpec
from segtrack.errors import InvalidValueError, Phrase
from segtrack.experiments.parallel import run_parallel
from segtrack.experiments.steady_turns.maxxii_data import recorded_turns
from segtrack.experiments.steady_turns.planar_friction import balance_friction, uniform_tracks
from segtrack.terrain import Plane
from segtrack.world import World
from segtrack.world.engines import resolve

VEHICLE = "maxxii"
TRACK_MODELS = ("compliant", "segments", "chain")
LENGTHS = (0.6, 0.7, 0.8)
"""On the ground, the middle one the vehicle file's; none is published [m]."""
FEW = 27
"""Turns that slow track models drive."""
PARTS = 27
"""Into which the turns of a track model are divided, for many processes and a progress bar."""
_FAST = ("compliant", "surface")
_SETTLE, _MEASURED, _SAMPLE = 0.3, 1.0, 0.1


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
        return recorded_turns().turns[self.rows]

    @property
    def over_no_slip(self) -> NDArray[np.float64]:
        """Simulated yaw rate over that without slip, of those that turn [-]."""
        return self.yaw_rate[self.turning] / self._no_slip_rate

    @property
    def measured_over_no_slip(self) -> NDArray[np.float64]:
        """Measured yaw rate over that without slip, of the same [-]."""
        return recorded_turns().yaw_rate[self.rows][self.turning] / self._no_slip_rate

    @property
    def measured_over_simulated(self) -> NDArray[np.float64]:
        """Of those that turn [-]."""
        return self.measured_over_no_slip / self.over_no_slip

    @property
    def _no_slip_rate(self) -> NDArray[np.float64]:
        return recorded_turns().no_slip_rate[self.rows][self.turning]

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
        _Job(with_contact_length(length), track_model, part)
        for track_model, length, chosen in plan
        for part in _parts(chosen)
    ]
    done = iter(run_parallel(_drive, jobs, workers=workers, on_done=on_part))
    found = [_uniform_pressure(length, chosen_rows("compliant", rows)) for length in LENGTHS]
    for track_model, length, chosen in plan:
        parts = [next(done) for _ in _parts(chosen)]
        rates = np.array([rate for part in parts for rate in part.yaw_rates])
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


def with_contact_length(length: float) -> VehicleDescription:
    """The vehicle with tracks that have another length on the ground [m], and grousers at their pitch."""
    vehicle = load_vehicle(VEHICLE)
    tracks = {}
    for name, track in vehicle.tracks.items():
        assert track.path.pulleys is not None and track.grousers is not None
        pulleys = tuple(
            PulleySpec(x=math.copysign(length / 2, p.x), z=p.z, radius=p.radius) for p in track.path.pulleys
        )
        # A new path: a copy would keep the old one's outline.
        longer = track.model_copy(update={"path": PathSpec(pulleys=pulleys)})
        count = round(longer.belt_path.perimeter / track.pitch)
        grousers = track.grousers.model_copy(update={"count": count})
        tracks[name] = longer.model_copy(update={"grousers": grousers})
    return vehicle.model_copy(update={"tracks": tracks})


@dataclass(frozen=True, eq=False)
class _Job:
    """Some turns that one process drives."""

    vehicle: VehicleDescription
    track_model: str
    rows: NDArray[np.intp]


@dataclass(frozen=True)
class _Part:
    """Yaw rates [rad/s], simulated and elapsed time [s]."""

    yaw_rates: tuple[float, ...]
    simulated: float
    elapsed: float


def _parts(rows: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    return np.array_split(rows, min(PARTS, len(rows)))


def _drive(job: _Job) -> _Part:
    """Drive turns one after the other, each from the start."""
    engine, track_model = resolve(None, job.track_model)
    path = next(job.vehicle.mounted_tracks()).spec.belt_path
    length = path.segments[path.ground].length
    rates, elapsed, simulated = [], 0.0, 0.0
    with World(engine=engine) as world:
        world.add_terrain(Plane())
        robot = world.add_vehicle(job.vehicle, track_model=track_model)
        for left, right in recorded_turns().belts[job.rows].tolist():
            world.reset()
            robot.set_belt_speed(left, right)
            fastest = max(abs(left), abs(right))
            yaws = []
            pieces = [_SETTLE + (length / fastest if fastest else 0.0)]
            for piece in pieces + [_SAMPLE] * round(_MEASURED / _SAMPLE):
                world.run(piece)
                yaws.append(robot.state.yaw)
                simulated += piece
                elapsed += piece / world.real_time_factor
            rates.append(float(np.unwrap(yaws)[-1] - yaws[0]) / _MEASURED)
    return _Part(tuple(rates), simulated, elapsed)


def _uniform_pressure(length: float, rows: NDArray[np.intp]) -> SimulatedTurns:
    """Planar friction under uniform pressure on tracks of a length [m]."""
    width, gauge = _dimensions()
    rates = [
        balance_friction(uniform_tracks(length, width, gauge, (1.0, 1.0), left, right)).yaw_rate
        for left, right in recorded_turns().belts[rows].tolist()
    ]
    return SimulatedTurns("uniform pressure", length, rows, np.array(rates), None)


def _dimensions() -> tuple[float, float]:
    """Width of the vehicle's tracks and distance of their middles [m]."""
    left, right = load_vehicle(VEHICLE).mounted_tracks()
    return left.spec.width, left.y - right.y
