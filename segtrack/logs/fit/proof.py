"""What a fit makes of logs of which the truth is known: climbs of one track model, fitted with another.

Three climbs are simulated with other friction, centre of mass and drive lag than the vehicle file's,
written down as logs with noise and in a frame of their own, and fitted from the file's values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from segtrack.description import VehicleDescription, load_vehicle
from segtrack.experiments.parallel import Workers
from segtrack.logs.fit.fit import fit
from segtrack.logs.fit.parameters import with_parameters
from segtrack.logs.fit.result import Fit
from segtrack.logs.fit.simulated.cases import MotionCase
from segtrack.logs.fit.simulated.evaluate import Pool
from segtrack.logs.fit.simulated.replayed import replay_case
from segtrack.logs.fit.stages.estimates import Estimate
from segtrack.logs.fit.unknowns import Choice
from segtrack.logs.motion import Motion, Signal
from segtrack.logs.replay import LoadedTerrain, ReplaySettings, parse_terrain
from segtrack.logs.replay.alignment.path import Shift
from segtrack.logs.replay.alignment.reach import first_touch
from segtrack.logs.replay.record import MotionRecorder
from segtrack.world import World, resolve

VEHICLE = "quince"
HEIGHTS = (0.10, 0.16, 0.22)
"""Of the steps [m]."""
TRUTH: Mapping[str, float] = {"friction": 0.5, "com_x": -0.075, "drive_lag": 0.15}
"""Of the logs; the vehicle file has 0.6, -0.05 m and 0 s."""
STD: Mapping[str, float] = {
    "position": 0.005,
    "pitch": 0.01,
    "belt_speed.left": 0.003,
    "belt_speed.right": 0.003,
}
"""Standard deviations of the logs' noise [m, rad, m/s]."""
DURATION, RATE = 14.0, 50.0
"""Of each log [s], and of its samples [1/s]."""
_FLIPPERS = {"front": math.radians(40.0), "rear": math.radians(5.0)}
_WAY = 0.2
"""Free distance before the step [m]."""
_FAST, _SLOW, _WAIT = 0.12, 0.04, 0.5
"""Belt speeds that take turns [m/s], and how long the vehicle stands first [s]."""
_PERIOD, _SHARE = 4.0, 0.8
"""Of the commands [s], and how much of it is fast."""
_FRAME = Shift(math.radians(25.0), 2.0, -1.0)
"""Of the logs, in the terrain's."""


@dataclass(frozen=True, eq=False)
class Proof:
    """A fit to logs of which the truth is known.

    Attributes:
        logged: Track model that made the logs.
        fitted: Track model that was fitted.
        truth: Of the parameters.
        fit: What came of it.
    """

    logged: str
    fitted: str
    truth: Mapping[str, float]
    fit: Fit

    def is_inside(self, estimate: Estimate) -> bool:
        """Whether an estimate's interval has the truth in it."""
        low, high = estimate.interval
        return low <= self.truth[estimate.name] <= high

    def summary(self) -> dict[str, Any]:
        """Everything but what is sampled, as plain values with the names that JSON has."""
        return {
            "logged": self.logged,
            "fitted": self.fitted,
            "truth": dict(self.truth),
            "inside": {estimate.name: self.is_inside(estimate) for estimate in self.fit.estimates},
            "fit": self.fit.summary(),
        }


def run_proof(
    logged: str = "chain",
    fitted: str = "compliant",
    *,
    truth: Mapping[str, float] = TRUTH,
    seed: int = 1,
    pool: Pool | None = None,
    folder: Path | None = None,
    resume: bool = False,
    on_share: Callable[[float], object] = lambda share: None,
) -> Proof:
    """Fit friction, centre of mass and drive lag to three simulated climbs.

    Args:
        logged: Track model that makes the logs: compliant, chain or surface.
        fitted: Track model that is fitted.
        truth: Of the logs.
        seed: Of the logs' noise and of the fit.
        pool: See `fit`.
        folder: See `fit`.
        resume: See `fit`.
        on_share: See `fit`.

    Raises:
        UnknownNameError: No such track model.
    """
    for track_model in (logged, fitted):
        resolve("native", track_model)
    vehicle = load_vehicle(VEHICLE)
    own = Workers(1) if pool is None else pool
    jobs = [
        _Job(with_parameters(vehicle, truth), height, logged, seed + i) for i, height in enumerate(HEIGHTS)
    ]
    motions = own.run(_logged_climb, jobs, lambda job, done: None)
    cases = [_case(vehicle, motion, height, fitted) for motion, height in zip(motions, HEIGHTS, strict=True)]
    found = fit(
        vehicle,
        cases,
        {name: Choice() for name in truth},
        seed=seed,
        pool=own,
        folder=folder,
        resume=resume,
        on_share=on_share,
    )
    return Proof(logged, fitted, truth, found)


@dataclass(frozen=True)
class _Job:
    """A climb that one process simulates."""

    vehicle: VehicleDescription
    height: float
    track_model: str
    seed: int


def _step(height: float) -> LoadedTerrain:
    piece = f"{{step: {{height: {height}, length: 3.0}}, place: {{x: 1.0}}, width: 2.4}}"
    return parse_terrain(f"terrain: [{piece}]", f"step of {height:g} m")


def _logged_climb(job: _Job) -> Motion:
    """A climb as its log has it: with noise, by two clocks' sources, in a frame of its own."""
    terrain = _step(job.height)
    ends = {name: flipper.tip_direction for name, flipper in job.vehicle.flippers.items()}
    angles = {name: _FLIPPERS[end] for name, end in ends.items()}
    assert terrain.obstacle is not None
    touch = first_touch(job.vehicle, angles, terrain.obstacle)
    assert touch is not None
    with World(engine="native", resettable=False) as world:
        for ground in terrain.terrains:
            world.add_terrain(ground)
        robot = world.add_vehicle(
            job.vehicle, track_model=job.track_model, position=(touch.x - _WAY, 0.0), flippers=angles
        )
        world.settle()
        recorder = MotionRecorder(robot, f"step of {job.height:g} m")
        for tick in range(round(DURATION * RATE) + 1):
            command = _command(tick / RATE)
            robot.set_belt_speed(command, command)
            recorder.sample(tick / RATE, angles)
            world.run(1 / RATE)
    return _FRAME.moved(_with_noise(recorder.motion(), np.random.default_rng(job.seed)))


def _command(time: float) -> float:
    if time < _WAIT:
        return 0.0
    return _FAST if (time - _WAIT) % _PERIOD < _SHARE * _PERIOD else _SLOW


def _with_noise(motion: Motion, generator: np.random.Generator) -> Motion:
    """The quantities that are logged, with noise."""
    kept: dict[str, Signal] = {}
    for key, signal in motion.signals.items():
        source = "drives" if key.startswith(("belt_speed", "flipper_angle")) else "tracker"
        if key in STD:
            values = signal.values + generator.normal(0.0, STD[key], signal.values.shape)
            kept[key] = Signal(signal.times, values, STD[key], source)
        elif key.startswith(("belt_speed_command", "flipper_angle_command")) or key == "yaw":
            kept[key] = Signal(signal.times, signal.values, None, source)
    return Motion(motion.name, kept)


def _case(vehicle: VehicleDescription, motion: Motion, height: float, track_model: str) -> MotionCase:
    settings = ReplaySettings(
        vehicle, _step(height), engine="native", track_model=track_model, sample_time=1 / RATE
    )
    name = f"step_{round(1000 * height)}_mm"
    return replay_case(name, motion, settings, dict.fromkeys(STD), "commanded")
