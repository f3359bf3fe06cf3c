"""`segtrack reproduce speed`: compliant belts over segments (present and as published), on Quince."""

from __future__ import annotations

import math
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from rich.table import Table

from segtrack.description import Body, VehicleDescription, load_vehicle
from segtrack.description.joints import JointSpec, ServoSpec
from segtrack.engine import EngineName
from segtrack.experiments import REAR_FLIPPERS_DEG
from segtrack.report import SEGMENT_COLOURS, Outcome, new_figure
from segtrack.reproduce.published_segments import as_published
from segtrack.reproduce.registry import Rounds, Session, runnable, take_turns
from segtrack.robot import Robot
from segtrack.terrain import Plane, Step
from segtrack.world import World

_PARTS = (
    ("yaw", "base", (0.1, 0.0, 0.1), "0 0 1", 1.5, 0.05),
    ("shoulder", "yaw_link", (0.0, 0.0, 0.1), "0 1 0", 2.0, 0.15),
    ("elbow", "shoulder_link", (0.0, 0.0, 0.3), "0 1 0", 1.5, 0.12),
    ("roll", "elbow_link", (0.0, 0.0, 0.25), "0 0 1", 0.8, 0.05),
    ("bend", "roll_link", (0.0, 0.0, 0.1), "0 1 0", 0.6, 0.05),
    ("flange", "bend_link", (0.0, 0.0, 0.1), "0 0 1", 0.4, 0.03),
)
"""Joints of an arm of 6.8 kg and 0.95 m: name, parent link, place [m], axis, mass [kg] of the link that it
moves, and height of that one's centre of mass [m]."""


@contextmanager
def with_arm(vehicle: VehicleDescription) -> Iterator[VehicleDescription]:
    """Yield a vehicle with a box body that carries an arm, with servos of 60 N m each."""
    body = vehicle.body
    assert body.size is not None
    length, width, height = body.size
    third = body.total_mass / 12
    inertia = third * (width**2 + height**2), third * (length**2 + height**2), third * (length**2 + width**2)
    box = f'<collision><geometry><box size="{length} {width} {height}"/></geometry></collision>'
    urdf = _link("base", body.total_mass, body.center_of_mass, inertia, box)
    for name, parent, place, axis, mass, center in _PARTS:
        urdf += _link(f"{name}_link", mass, (0.0, 0.0, center), (0.01, 0.012, 0.005))
        urdf += (
            f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{name}_link"/>'
            f'<origin xyz="{_words(place)}"/><axis xyz="{axis}"/>'
            '<limit lower="-3" upper="3" effort="60" velocity="2"/></joint>'
        )
    with tempfile.TemporaryDirectory(prefix="segtrack_") as folder:
        file = Path(folder) / "armed.urdf"
        file.write_text(f'<robot name="armed">{urdf}</robot>')
        joints = {name: JointSpec(servo=ServoSpec()) for name, *_ in _PARTS}
        armed = Body.model_validate({"urdf": file.name}, context={"folder": Path(folder)})
        yield vehicle.model_copy(update={"body": armed, "joints": joints})


def _link(
    name: str,
    mass: float,
    center: tuple[float, ...],
    inertia: tuple[float, ...],
    collision: str = "",
) -> str:
    x, y, z = inertia
    return (
        f'<link name="{name}"><inertial><origin xyz="{_words(center)}"/><mass value="{mass}"/>'
        f'<inertia ixx="{x}" ixy="0" ixz="0" iyy="{y}" iyz="0" izz="{z}"/></inertial>{collision}</link>'
    )


def _words(numbers: tuple[float, ...]) -> str:
    return " ".join(map(str, numbers))


VEHICLE = "quince"
PUBLISHED = "segments as published"
ARMED = "compliant with an arm"
RACERS: dict[str, tuple[EngineName, str, float]] = {
    PUBLISHED: ("pybullet", "segments", 0.001),
    "segments, 1 ms": ("pybullet", "segments", 0.001),
    "segments": ("pybullet", "segments", 0.005),
    "compliant": ("native", "compliant", 0.001),
    "compliant, 4 ms": ("native", "compliant", 0.004),
    ARMED: ("native", "compliant", 0.001),
    "surface": ("native", "surface", 0.001),
    "compliant in PyBullet, 1 ms": ("pybullet", "compliant", 0.001),
    "compliant in PyBullet, 5 ms": ("pybullet", "compliant", 0.005),
}
"""Engine, track model and time step [s]. The arm's six joints turn; compliant belts take steps of 1 ms in
PyBullet whatever that is."""
SCENES = ("climb", "turn")
CONTROL_STEP = 0.02
"""Simulated time of one call [s]."""
ROUNDS = 3
SECONDS = {"climb": 6.0, "turn": 1.5}
"""Simulated time of a round by scene [s]: until the robot is on the step; of steady turning."""


@dataclass(frozen=True)
class SpeedTable:
    """Real-time factors of each round, by scene and racer (an engine with a track model).

    Attributes:
        factors: Real-time factors, by scene, then by racer (rounds,) [-].
        solutions: Mean number of solves per step of the native engine, by scene, then by racer.
        python_fraction: Fraction of Python, beside the kernel, in a control step of 20 ms of the native
            engine with Quince turning; median over the rounds. None if it was not run.
    """

    factors: dict[str, dict[str, tuple[float, ...]]]
    solutions: dict[str, dict[str, float]]
    python_fraction: float | None

    def median(self, scene: str, racer: str) -> float:
        """Return the median real-time factor over the rounds [-]."""
        return statistics.median(self.factors[scene][racer])

    def ratio(self, scene: str, racer: str, over: str = "segments") -> float | None:
        """Return the ratio of the speed to another racer's in the same run; None if that was not run."""
        if over not in self.factors[scene]:
            return None
        return self.median(scene, racer) / self.median(scene, over)

    def summary(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict."""
        return {
            "vehicle": VEHICLE,
            "scenes": {
                scene: {
                    racer: {
                        "time_step": RACERS[racer][2],
                        "real_time_factor": self.median(scene, racer),
                        "over_segments": self.ratio(scene, racer),
                        "over_published_segments": self.ratio(scene, racer, PUBLISHED),
                        "over_compliant": self.ratio(scene, racer, "compliant"),
                        "solutions_per_step": self.solutions[scene].get(racer),
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
    racers: Sequence[str] = tuple(RACERS),
) -> SpeedTable:
    """Measure all racers in turn, in each round.

    Args:
        rounds: Number of rounds, at least 1.
        on_done: Function called after each scene of each racer in each round.
        seconds: Simulated time of a round by scene [s].
        racers: Names of the racers to run.

    Raises:
        InvalidValueError: No rounds.
    """
    contenders = {
        (scene, racer): partial(_race, scene, racer, seconds[scene]) for scene in SCENES for racer in racers
    }
    for racer in racers if rounds > 0 else ():  # Kernels are compiled at their first call.
        _race("turn", racer, CONTROL_STEP)
    times = take_turns(contenders, rounds, on_done)
    fractions = [1 - kernel / elapsed for elapsed, kernel, _ in times.get(("turn", "compliant"), ())]
    native = [racer for racer in racers if RACERS[racer][0] == "native"]
    return SpeedTable(
        {
            scene: {
                racer: tuple(seconds[scene] / elapsed for elapsed, _, _ in times[scene, racer])
                for racer in racers
            }
            for scene in SCENES
        },
        # Each round is the same motion.
        {scene: {racer: times[scene, racer][0][2] for racer in native} for scene in SCENES},
        statistics.median(fractions) if fractions else None,
    )


def _race(scene: str, racer: str, seconds: float) -> tuple[float, float, float]:
    """Return wall time of a simulated duration, the native kernel's part of it [s], and solves per step.

    There are none in PyBullet.
    """
    engine, track_model, time_step = RACERS[racer]
    vehicle = load_vehicle(VEHICLE)
    with (
        World(engine=engine, time_step=time_step) as world,
        with_arm(vehicle) if racer == ARMED else nullcontext(vehicle) as raced,
    ):
        with as_published() if racer == PUBLISHED else nullcontext():
            robot = _set_out(world, scene, track_model, raced)
        for joint in robot.joints.values():
            joint.set_speed(0.1)
        world.run(0.3)
        speed = 0.1 if scene == "climb" else 0.2
        robot.set_belt_speed(left=speed if scene == "climb" else -speed, right=speed)
        world.run(1.0 if scene == "climb" else 0.3)
        model: Any = robot.model
        before = model.solutions if engine == "native" else 0
        with _kernel_time() as spent:
            began = time.perf_counter()
            for _ in range(round(seconds / CONTROL_STEP)):
                world.run(CONTROL_STEP)
            elapsed = time.perf_counter() - began
        solved = model.solutions - before if engine == "native" else 0
        return elapsed, spent[0], solved * time_step / seconds


def _set_out(world: World, scene: str, track_model: str, vehicle: VehicleDescription) -> Robot:
    """Add a scene's terrain and the vehicle to a world, with the scene's flipper angles."""
    front, rear = (45.0, REAR_FLIPPERS_DEG) if scene == "climb" else (57.0, 57.0)
    angles = {
        name: math.radians(front if flipper.tip_direction == "front" else rear)
        for name, flipper in vehicle.flippers.items()
    }
    world.add_terrain(Step(height=0.24, distance=0.6) if scene == "climb" else Plane())
    return world.add_vehicle(vehicle, track_model=track_model, flippers=angles)


@contextmanager
def _kernel_time() -> Iterator[list[float]]:
    """Yield a list of one: the native engine's kernel time within the block [s]."""
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


def run(session: Session, rounds: Rounds = ROUNDS) -> Outcome:
    """Measure all racers whose engine is installed."""
    names, notes = runnable({name: (engine, model) for name, (engine, model, _) in RACERS.items()})
    with session.counting("driving", rounds * len(SCENES) * len(names)) as done:
        result = measure_speed(rounds, done, racers=names)
    summary = result.summary()
    files = {"speed.json": summary, "speed.png": draw_speed(result)}
    return Outcome(speed_table(result), summary, files, notes)


def speed_table(result: SpeedTable) -> Table:
    """Return real-time factors on the step and turning, and their ratios over segments."""
    title = "Quince, one core: real-time factor"
    ratio_headers = "over segments", "as published"
    headers = ("scene", "track model", "step [ms]", "median", "slowest", *ratio_headers, "solutions a step")
    table = Table(*headers, title=title)
    for scene, racers in result.factors.items():
        for racer, rounds in racers.items():
            ratios = result.ratio(scene, racer), result.ratio(scene, racer, PUBLISHED)
            table.add_row(
                {"climb": "onto a 240 mm step", "turn": "turning on the spot"}[scene],
                racer,
                f"{1e3 * RACERS[racer][2]:g}",
                f"{result.median(scene, racer):.2f}",
                f"{min(rounds):.2f}",
                *("" if ratio is None else f"{ratio:.1f}" for ratio in ratios),
                f"{result.solutions[scene][racer]:.2f}" if racer in result.solutions[scene] else "",
            )
        table.add_section()
    if result.python_fraction is not None:
        python = f"{result.python_fraction:.1%} Python"
        table.add_row("20 ms of the native engine", "compliant", "1", python, "", "", "", "")
    return table


def draw_speed(table: SpeedTable) -> Figure:
    """Draw real-time factors as bars, a group for each scene, on a logarithmic scale."""
    figure = new_figure(9.0, 4.5)
    axes = figure.add_subplot()
    racers = list(next(iter(table.factors.values())))
    width = 0.8 / len(racers)
    places = np.arange(len(table.factors))
    for i, racer in enumerate(racers):
        medians = [table.median(scene, racer) for scene in table.factors]
        left = places + (i - (len(racers) - 1) / 2) * width
        bars = axes.bar(left, medians, width, color=SEGMENT_COLOURS[i], label=racer)
        axes.bar_label(bars, fmt="%.1f", fontsize=9)
    axes.axhline(1.0, color="black", linewidth=0.8, linestyle=":")
    axes.set_yscale("log")
    axes.set_ylabel("real-time factor (above 1: faster than real time)")
    axes.set_xticks(places, ["onto a 240 mm step", "turning on the spot"])
    axes.set_title("Quince, one core, steps of 1 ms but where another is named (segments: 5 ms)", loc="left")
    axes.legend()
    return figure
