"""`segtrack reproduce chain-speed`: speed of link chains in the native engine at several time steps."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

from rich.table import Table

from segtrack.description import VehicleDescription, load_vehicle, parse_vehicle
from segtrack.report import Outcome
from segtrack.reproduce.registry import Rounds, Session, take_turns
from segtrack.terrain import Plane
from segtrack.world import World

_SIDE = {
    "path": {
        "pulleys": [
            {"x": 0.0, "z": 0.0, "radius": 0.279},
            {"x": -0.672, "z": -0.246, "radius": 0.365},
            {"x": -3.339, "z": -0.246, "radius": 0.365},
            {"x": -4.022, "z": -0.12, "radius": 0.279},
        ]
    },
    "width": 0.381,
    "belt": {"mass": 538.65, "thickness": 0.06},
    "drive": {"max_force": 38200.0, "max_speed": 13.4, "reflected_mass": 31.0},
    "contact": {"friction": 0.8},
    "chain": {
        "shoes": {"count": 63},
        "bushing": {"stiffness": 3.5e7},
        "shoe_contact": {"stiffness": 1e5},
        "sprocket": {"teeth": 10},
        "tensioner": {"pretension": 10000.0, "stiffness": 1e6},
        "road_wheels": [{"x": x, "z": -0.246, "radius": 0.305} for x in (-1.339, -2.005, -2.672)],
    },
}
M113_LIKE = {
    "name": "m113_like",
    "source": "Project Chrono 7689fbc, M113 (wheels, sprocket, bushings, idler); Koerner 2024, Influence of "
    "Track-Assembly Geometry on Mobility (masses, tension, pads)",
    "body": {"mass": 9067.0, "size": [4.2, 1.7, 0.8], "center_of_mass": [-1.98, 0.0, 0.48]},
    "tracks": {
        "left": {"mount": {"xyz": [0.0, 1.0795, 0.0]}, **_SIDE},
        "right": {"mount": {"xyz": [0.0, -1.0795, 0.0]}, **_SIDE},
    },
}
"""A vehicle with the shoes, bushings and masses of `m113`, without arms: 2 x 63 shoes, seven wheels a side.

It stands for the cost of a heavy chain: its wheels are rigid on the body, which carries their mass and
that of the arms; the idler stands where 63 shoes of 0.154 m close, and the rearmost wheel drives. The four
points of a pad under a wheel sink in by 1 inch under the vehicle's weight."""
SPEEDS = {"packbot": (1.0,), "m113_like": (1.0, 5.0), "m113": (5.0,)}
"""Belt speeds by vehicle [m/s]."""
TIME_STEPS = 0.001, 0.002, 0.004
"""[s]"""
ROUNDS = 5
CONTROL_STEP = 0.02
"""Simulated time of one call [s]."""
_SECONDS = 0.6
"""Simulated in a round [s]."""
_WARM_UP = 3.0

Case = tuple[str, float, float]
"""Vehicle, belt speed [m/s], time step [s]."""
CASES: tuple[Case, ...] = tuple(
    (name, speed, step) for name, speeds in SPEEDS.items() for speed in speeds for step in TIME_STEPS
)


@dataclass(frozen=True)
class ChainRide:
    """Measurements of one case over all rounds.

    Attributes:
        factors: Simulated over processor time of each round (rounds,) [-].
        tension: Mean tension in the chains [N].
        height: Mean height of the body frame [m].
    """

    factors: tuple[float, ...]
    tension: float
    height: float

    @property
    def real_time_factor(self) -> float:
        """Median of the factors over the rounds [-]."""
        return statistics.median(self.factors)


def chain_vehicle(name: str) -> VehicleDescription:
    """Return a bundled vehicle, or the M113-like one, by name."""
    return parse_vehicle(M113_LIKE, "m113_like") if name == "m113_like" else load_vehicle(name)


def ride_chains(
    rounds: int = ROUNDS,
    on_done: Callable[[], object] = lambda: None,
    cases: Sequence[Case] = CASES,
    seconds: float = _SECONDS,
) -> dict[Case, ChainRide]:
    """Drive all cases in turn, in each round.

    Args:
        rounds: Number of rounds, at least 1.
        on_done: Function called after each case of each round.
        cases: Vehicles, belt speeds [m/s] and time steps [s].
        seconds: Simulated time of a round [s].

    Raises:
        InvalidValueError: No rounds.
    """
    with ExitStack() as stack:
        drivers = {case: stack.enter_context(_Driver(*case)) for case in cases}
        samples = take_turns(
            {case: partial(own.drive, seconds) for case, own in drivers.items()}, rounds, on_done
        )
    return {
        case: ChainRide(
            tuple(each[0] for each in own), *(statistics.fmean(each[k] for each in own) for k in (1, 2))
        )
        for case, own in samples.items()
    }


class _Driver:
    """World of one case, warmed up and driving."""

    def __init__(self, vehicle: str, speed: float, time_step: float) -> None:
        self._world = World(engine="native", time_step=time_step)
        self._world.add_terrain(Plane())
        self._robot = self._world.add_vehicle(chain_vehicle(vehicle), track_model="chain")
        self._world.settle()
        self._robot.set_belt_speed(speed, speed)
        self._world.run(_WARM_UP)

    def __enter__(self) -> _Driver:
        return self

    def __exit__(self, *_: object) -> None:
        self._world.close()

    def drive(self, seconds: float) -> tuple[float, float, float]:
        """Drive on; return real-time factor [-], mean tension [N] and mean height [m]."""
        spent, count, sums = 0.0, round(seconds / CONTROL_STEP), [0.0, 0.0]
        for _ in range(count):
            began = time.process_time()
            self._world.run(CONTROL_STEP)
            spent += time.process_time() - began
            readings = [track.read_chain() for track in self._robot.tracks.values()]
            sums[0] += statistics.fmean(float(reading.tension.mean()) for reading in readings)
            sums[1] += float(self._robot.state.position[2])
        tension, height = (total / count for total in sums)
        return count * CONTROL_STEP / spent, tension, height


def run(session: Session, rounds: Rounds = ROUNDS) -> Outcome:
    """Measure the real-time factors of all cases."""
    with session.counting("driving", rounds * len(CASES)) as done:
        rides = ride_chains(rounds, done)
    summary = {"rides": chain_speed_rows(rides)}
    return Outcome(chain_speed_table(rides), summary, {"chain_speed.json": summary})


def chain_speed_rows(rides: Mapping[Case, ChainRide]) -> list[dict[str, Any]]:
    """Return a JSON-serialisable row for each case."""
    return [
        {
            "vehicle": name,
            "belt_speed": speed,
            "time_step": step,
            "real_time_factor": ride.real_time_factor,
            "tension": ride.tension,
            "height": ride.height,
            "rounds": list(ride.factors),
        }
        for (name, speed, step), ride in rides.items()
    ]


def chain_speed_table(rides: Mapping[Case, ChainRide]) -> Table:
    """Return real-time factors, tensions and heights."""
    headers = ("vehicle", "belts [m/s]", "step [ms]", "real time", "tension [N]", "height [mm]")
    table = Table(*headers, title="Link chains in the native engine, flat ground, processor time of one core")
    for (name, speed, step), ride in rides.items():
        numbers = f"{ride.real_time_factor:.1f}", f"{ride.tension:.1f}", f"{1e3 * ride.height:.2f}"
        table.add_row(name, f"{speed:g}", f"{1e3 * step:g}", *numbers)
    return table
