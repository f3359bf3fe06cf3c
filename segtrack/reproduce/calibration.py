"""`segtrack reproduce calibration`: parameters fitted to simulated logs, whose true values are known.

How often intervals hold is in `calibration_coverage.py`. With `--logged`, three climbs are simulated with
other friction, centre of mass and drive lag than the vehicle file's, written down as logs with noise and in a
frame of their own, and fitted from the file's values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from segtrack.description import VehicleDescription, load_vehicle
from segtrack.engine import resolve
from segtrack.errors import InvalidValueError, Phrase
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
    climbs = [Climb(height, duration=duration, seed=seed + i) for i, height in enumerate(heights)]
    simulate = partial(logged_climb, with_parameters(vehicle, truth), logged, command=_command)
    motions = own.run(simulate, climbs, lambda *_: None)
    cases = [climb_case(vehicle, *pair, fitted) for pair in zip(motions, climbs, strict=True)]
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


class Climb(NamedTuple):
    """A climb of a step that is logged.

    Attributes:
        height: Height of the step [m].
        way: Free distance before the step [m].
        duration: Duration of the log [s].
        rate: Sampling rate [1/s].
        time_step: Time step of the simulations [s].
        seed: Seed of the noise.
    """

    height: float
    way: float = 0.2
    duration: float = DURATION
    rate: float = RATE
    time_step: float = 0.001
    seed: int = 1


def logged_climb(
    vehicle: VehicleDescription, track_model: str, climb: Climb, command: Callable[[float], float]
) -> Motion:
    """Simulated climb as a log: with noise, from two sources with their own clocks, in another frame.

    Args:
        vehicle: Vehicle that climbs.
        track_model: Name of the track model.
        climb: Step, duration and noise.
        command: Speed of both belts [m/s] at a time [s].
    """
    terrain = _step(climb.height)
    ends = {name: flipper.tip_direction for name, flipper in vehicle.flippers.items()}
    angles = {name: _FLIPPERS[end] for name, end in ends.items()}
    assert terrain.obstacle is not None
    touch = first_touch(vehicle, angles, terrain.obstacle)
    assert touch is not None
    with World(engine="native", time_step=climb.time_step, resettable=False) as world:
        for ground in terrain.terrains:
            world.add_terrain(ground)
        robot = world.add_vehicle(
            vehicle, track_model=track_model, position=(touch.x - climb.way, 0.0), flippers=angles
        )
        world.settle()
        recorder = MotionRecorder(robot, f"step of {climb.height:g} m")
        for tick in range(round(climb.duration * climb.rate) + 1):
            speed = command(tick / climb.rate)
            robot.set_belt_speed(speed, speed)
            recorder.sample(tick / climb.rate, angles)
            world.run(1 / climb.rate)
    return _FRAME.moved(_with_noise(recorder.motion(), np.random.default_rng(climb.seed)))


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


def climb_case(vehicle: VehicleDescription, motion: Motion, climb: Climb, track_model: str) -> MotionCase:
    """A logged climb as a fit takes it, put on its step by its first touch.

    Args:
        vehicle: Vehicle from which the fit begins.
        motion: Its log.
        climb: Step and time step.
        track_model: Track model that is fitted.
    """
    settings = ReplaySettings(
        vehicle,
        _step(climb.height),
        engine="native",
        track_model=track_model,
        time_step=climb.time_step,
        sample_time=1 / climb.rate,
    )
    name = f"step_{round(1000 * climb.height)}_mm"
    return replay_case(name, motion, settings, dict.fromkeys(STD), "commanded")


def run(
    session: Session,
    count: Annotated[
        int, typer.Option(help="Fits of one log, and of three, whose intervals are counted.", min=1)
    ] = 100,
    logged: Annotated[
        str | None,
        typer.Option(
            help="One fit instead, of three long logs of this track model: compliant, surface or chain.",
            show_default=False,
        ),
    ] = None,
    fitted: Annotated[
        str | None,
        typer.Option(
            help="Track model that is fitted to these: compliant, if not given, surface or chain.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the logs' noise and of the fit.", min=0)] = 1,
    jobs: Annotated[
        int | None, typer.Option(help="Processes; as many as there are cores if not given.", min=1)
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the fit in the folder.")] = False,
) -> Outcome:
    """Simulate logs and fit them."""
    from segtrack.report.logs import fit_outcome
    from segtrack.reproduce.calibration import run_proof  # Takes the extra `logs`.
    from segtrack.reproduce.calibration_coverage import SIZES, coverage_outcome, run_coverage

    for track_model in filter(None, (logged, fitted)):
        resolve("native", track_model)
    if logged is None:
        for option, is_given in {"--resume": resume, "--fitted": fitted is not None}.items():
            if is_given:
                raise InvalidValueError(option, "given with --logged", Phrase("without"))
        with session.counting("fitting", len(SIZES) * count) as done:
            return coverage_outcome(*run_coverage(count, seed, jobs, done))
    fitted = fitted or "compliant"
    session.rename(f"calibration-{logged}-{fitted}")
    with Workers(jobs) as pool, session.progress("fitting", 1.0) as advance:
        proof = run_proof(
            logged, fitted, seed=seed, pool=pool, folder=session.folder, resume=resume, on_share=advance
        )
    return fit_outcome(proof.fit, proof.truth)
