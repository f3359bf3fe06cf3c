"""`segtrack reproduce calibration`: parameters fitted to simulated logs, whose true values are known.

Three climbs are simulated with other friction, centre of mass and drive lag than the vehicle file's,
written down as logs with noise and in a frame of their own, and fitted from the file's values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from segtrack.description import VehicleDescription, load_vehicle
from segtrack.engine import resolve
from segtrack.experiments import Workers
from segtrack.logs.fit import Choice, Fit, MotionCase, ParameterEstimate, fit, replay_case, with_parameters
from segtrack.logs.mapping import LoadedTerrain, parse_terrain
from segtrack.logs.replay import MotionRecorder, ReplaySettings, Shift, first_touch
from segtrack.report import Outcome
from segtrack.reproduce.registry import Session
from segtrack.robot import Motion, Signal
from segtrack.world import World

VEHICLE = "quince"
HEIGHTS = (0.10, 0.16, 0.22)
"""Heights of the steps [m]."""
TRUTH: Mapping[str, float] = {"friction": 0.5, "com_x": -0.075, "drive_lag": 0.15}
"""Parameters of the logs; the vehicle file has 0.6, -0.05 m and 0 s."""
STD: Mapping[str, float] = {
    "position": 0.005,
    "pitch": 0.01,
    "belt_speed.left": 0.003,
    "belt_speed.right": 0.003,
}
"""Standard deviations of the logs' noise [m, rad, m/s]."""
DURATION, RATE = 14.0, 50.0
"""Duration of each log [s], and sampling rate [1/s]."""
_FLIPPERS = {"front": math.radians(40.0), "rear": math.radians(5.0)}
_WAY = 0.2
"""Free distance before the step [m]."""
_FAST, _SLOW, _WAIT = 0.12, 0.04, 0.5
"""Belt speeds that take turns [m/s], and how long the vehicle stands first [s]."""
_PERIOD, _SHARE = 4.0, 0.8
"""Period of the commands [s], and the fraction of it that is fast."""
_FRAME = Shift(math.radians(25.0), 2.0, -1.0)
"""Frame of the logs, in the terrain's."""


@dataclass(frozen=True, eq=False)
class Proof:
    """Fit to simulated logs with known true values.

    Attributes:
        logged: Track model that produced the logs.
        fitted: Track model that was fitted.
        truth: True values of the parameters.
        fit: Fit of the logs.
    """

    logged: str
    fitted: str
    truth: Mapping[str, float]
    fit: Fit

    def is_inside(self, estimate: ParameterEstimate) -> bool:
        """Return whether an estimate's interval contains the true value."""
        low, high = estimate.interval
        return low <= self.truth[estimate.name] <= high

    def summary(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict of everything but the samples."""
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
    heights: Sequence[float] = HEIGHTS,
    duration: float = DURATION,
    seed: int = 1,
    pool: Workers | None = None,
    folder: Path | None = None,
    resume: bool = False,
    on_share: Callable[[float], object] = lambda share: None,
) -> Proof:
    """Fit friction, centre of mass and drive lag to simulated climbs.

    Args:
        logged: Track model that makes the logs: compliant, chain or surface.
        fitted: Track model to fit.
        truth: True values of the parameters in the logs.
        heights: Height of the step of each log [m].
        duration: Duration of each log [s].
        seed: Seed of the logs' noise and of the fit.
        pool: Processes, see `fit`.
        folder: Folder for resuming, see `fit`.
        resume: True to continue an earlier fit, see `fit`.
        on_share: Function called with the progress, see `fit`.

    Raises:
        UnknownNameError: No such track model.
    """
    for track_model in (logged, fitted):
        resolve("native", track_model)
    vehicle = load_vehicle(VEHICLE)
    own = Workers(1) if pool is None else pool
    simulate = partial(_logged_climb, with_parameters(vehicle, truth), logged, duration)
    motions = own.run(simulate, [(height, seed + i) for i, height in enumerate(heights)], lambda *_: None)
    cases = [_case(vehicle, motion, height, fitted) for motion, height in zip(motions, heights, strict=True)]
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


def _step(height: float) -> LoadedTerrain:
    piece = f"{{step: {{height: {height}, length: 3.0}}, place: {{x: 1.0}}, width: 2.4}}"
    return parse_terrain(f"terrain: [{piece}]", f"step of {height:g} m")


def _logged_climb(
    vehicle: VehicleDescription, track_model: str, duration: float, job: tuple[float, int]
) -> Motion:
    """Simulated climb as a log: with noise, from two sources with their own clocks, in another frame."""
    height, seed = job
    terrain = _step(height)
    ends = {name: flipper.tip_direction for name, flipper in vehicle.flippers.items()}
    angles = {name: _FLIPPERS[end] for name, end in ends.items()}
    assert terrain.obstacle is not None
    touch = first_touch(vehicle, angles, terrain.obstacle)
    assert touch is not None
    with World(engine="native", resettable=False) as world:
        for ground in terrain.terrains:
            world.add_terrain(ground)
        robot = world.add_vehicle(
            vehicle, track_model=track_model, position=(touch.x - _WAY, 0.0), flippers=angles
        )
        world.settle()
        recorder = MotionRecorder(robot, f"step of {height:g} m")
        for tick in range(round(duration * RATE) + 1):
            command = _command(tick / RATE)
            robot.set_belt_speed(command, command)
            recorder.sample(tick / RATE, angles)
            world.run(1 / RATE)
    return _FRAME.moved(_with_noise(recorder.motion(), np.random.default_rng(seed)))


def _command(time: float) -> float:
    if time < _WAIT:
        return 0.0
    return _FAST if (time - _WAIT) % _PERIOD < _SHARE * _PERIOD else _SLOW


def _with_noise(motion: Motion, generator: np.random.Generator) -> Motion:
    """Motion of the logged quantities, with noise added."""
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


def run(
    session: Session,
    logged: Annotated[
        str, typer.Option(help="Track model that makes the logs: compliant, surface or chain.")
    ] = "chain",
    fitted: Annotated[
        str, typer.Option(help="Track model that is fitted: compliant, surface or chain.")
    ] = "compliant",
    seed: Annotated[int, typer.Option(help="Seed of the logs' noise and of the fit.", min=0)] = 1,
    jobs: Annotated[
        int | None, typer.Option(help="Processes; as many as there are cores if not given.", min=1)
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the fit in the folder.")] = False,
) -> Outcome:
    """Simulate the logs and fit them."""
    from segtrack.report.logs import fit_outcome
    from segtrack.reproduce.calibration import run_proof  # Takes the extra `logs`.

    session.rename(f"calibration-{logged}-{fitted}")
    with Workers(jobs) as pool, session.progress("fitting", 1.0) as advance:
        proof = run_proof(
            logged, fitted, seed=seed, pool=pool, folder=session.folder, resume=resume, on_share=advance
        )
    return fit_outcome(proof.fit, proof.truth)
