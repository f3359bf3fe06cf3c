"""How fast is Quince simulated where it is hard: on the 240 mm step, and turning on the spot?

Engines and track models take turns, round by round, so that what else the machine does hits all of them
alike; ratios of their medians travel between machines.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from segtrack.description import load_vehicle
from segtrack.engine import EngineName
from segtrack.errors import InvalidValueError
from segtrack.experiments.climb import REAR_FLIPPERS_DEG
from segtrack.robot import Robot
from segtrack.terrain import Plane, Step
from segtrack.world import World

VEHICLE = "quince"
RACERS: dict[str, tuple[EngineName, str, float]] = {
    "segments": ("pybullet", "segments", 0.001),
    "compliant": ("native", "compliant", 0.001),
    "surface": ("native", "surface", 0.001),
    "compliant in PyBullet": ("pybullet", "compliant", 0.005),
}
"""Engine, track model and time step [s]; grousers in PyBullet take steps of 1 ms."""
SCENES = ("climb", "turn")
CONTROL_STEP = 0.02
"""Simulated time of one call [s]."""
ROUNDS = 3
SECONDS = {"climb": 6.0, "turn": 1.5}
"""Simulated in a round [s]: from before the step until the robot is on it; of steady turning."""


@dataclass(frozen=True)
class SpeedTable:
    """Real-time factors of each round by scene and racer.

    Attributes:
        factors: By scene, then by racer (rounds,).
        python_fraction: Fraction of a control step of 20 ms of the native engine, turning Quince, that
            is Python and not its kernel; median over the rounds.
    """

    factors: dict[str, dict[str, tuple[float, ...]]]
    python_fraction: float

    def median(self, scene: str, racer: str) -> float:
        """Median real-time factor over the rounds."""
        return statistics.median(self.factors[scene][racer])

    def ratio(self, scene: str, racer: str) -> float:
        """Speed over that of segments in the same run."""
        return self.median(scene, racer) / self.median(scene, "segments")

    def summary(self) -> dict[str, Any]:
        """Everything as plain values with the names that JSON has."""
        return {
            "vehicle": VEHICLE,
            "scenes": {
                scene: {
                    racer: {
                        "real_time_factor": self.median(scene, racer),
                        "over_segments": self.ratio(scene, racer),
                        "rounds": list(rounds),
                    }
                    for racer, rounds in racers.items()
                }
                for scene, racers in self.factors.items()
            },
            "native_python_fraction": self.python_fraction,
        }


def measure_speed(
    rounds: int = ROUNDS,
    on_done: Callable[[], object] = lambda: None,
    seconds: Mapping[str, float] = SECONDS,
) -> SpeedTable:
    """Measure all racers in turn.

    Args:
        rounds: How often, at least 1.
        seconds: Simulated in a round by scene [s].
        on_done: Called after each scene of each racer in each round.

    Raises:
        InvalidValueError: No rounds.
    """
    if rounds < 1:
        raise InvalidValueError("rounds", "at least 1", rounds)
    factors: dict[str, dict[str, list[float]]] = {scene: {racer: [] for racer in RACERS} for scene in SCENES}
    fractions = []
    for racer in RACERS:  # What is compiled at its first call is compiled before.
        _race("turn", racer, CONTROL_STEP)
    for _ in range(rounds):
        for scene in SCENES:
            for racer in RACERS:
                elapsed, kernel = _race(scene, racer, seconds[scene])
                factors[scene][racer].append(seconds[scene] / elapsed)
                if (scene, racer) == ("turn", "compliant"):
                    fractions.append(1 - kernel / elapsed)
                on_done()
    return SpeedTable(
        {scene: {racer: tuple(r) for racer, r in racers.items()} for scene, racers in factors.items()},
        statistics.median(fractions),
    )


def _race(scene: str, racer: str, seconds: float) -> tuple[float, float]:
    """Wall time for a simulated duration in control steps [s], and that in the native engine's kernel [s]."""
    engine, track_model, time_step = RACERS[racer]
    with World("exact", engine=engine, time_step=time_step) as world:
        robot = _set_out(world, scene, track_model)
        world.run(0.3)
        speed = 0.1 if scene == "climb" else 0.2
        robot.set_belt_speed(left=speed if scene == "climb" else -speed, right=speed)
        world.run(1.0 if scene == "climb" else 0.3)
        with _kernel_time() as spent:
            began = time.perf_counter()
            for _ in range(round(seconds / CONTROL_STEP)):
                world.run(CONTROL_STEP)
            return time.perf_counter() - began, spent[0]


def _set_out(world: World, scene: str, track_model: str) -> Robot:
    vehicle = load_vehicle(VEHICLE)
    front, rear = (45.0, REAR_FLIPPERS_DEG) if scene == "climb" else (57.0, 57.0)
    angles = {
        name: math.radians(front if flipper.tip_direction == "front" else rear)
        for name, flipper in vehicle.flippers.items()
    }
    world.add_terrain(Step(height=0.24, distance=0.6) if scene == "climb" else Plane())
    return world.add_vehicle(vehicle, track_model=track_model, flippers=angles)


@contextmanager
def _kernel_time() -> Iterator[list[float]]:
    """Time that the native engine's kernel takes within the block [s], in a list of one."""
    from segtrack.native import belt_vehicle as vehicle

    spent, kernel = [0.0], vehicle.advance

    def timed(*arguments: Any) -> None:
        began = time.perf_counter()
        kernel(*arguments)
        spent[0] += time.perf_counter() - began

    vehicle.advance = timed
    try:
        yield spent
    finally:
        vehicle.advance = kernel
