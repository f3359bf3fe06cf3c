"""A vehicle drives at a step: does it climb?

The robot starts on flat ground, its flippers at their angles, `GAP` before the step,
whose face is at x = 0. It settles, then drives straight at constant belt speed until
it stands on the step, has turned over, or runs out of time.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from segtrack.bullet.client import PresetName
from segtrack.description import VehicleDescription, load_vehicle
from segtrack.description.placement import bounding_box
from segtrack.errors import DivergedError, InvalidValueError, UnknownNameError, finite
from segtrack.experiments.chain_history import ChainHistory, ChainRecorder, has_chains
from segtrack.experiments.trajectory import Trajectory, TrajectoryRecorder, up_of
from segtrack.experiments.variants import with_friction
from segtrack.robot import Robot, RobotState
from segtrack.terrain import Step
from segtrack.world import World

FRONT_FLIPPERS_DEG = 45.0
"""Front flippers stand at this angle unless told otherwise [deg]."""
REAR_FLIPPERS_DEG = 5.0
"""Rear flippers stand at this angle unless told otherwise [deg]. Okada et al. 2020 do not give theirs."""
GAP = 0.2
"""Free distance between the vehicle's foremost point and the step at the start [m]."""
SETTLE = 0.3
"""Time that the robot stands before it drives [s]."""
PAST_EDGE = 0.15
"""The body frame's origin must get this far past the edge [m] ..."""
LEVEL_PITCH = math.radians(20.0)
"""... and the pitch come down below this [rad] for the step to be climbed."""
TIME_MARGIN = 1.65
"""Time limit over the time that the way (gap, vehicle, step and goal) takes at the commanded speed."""
SAMPLE_TIME = 0.02
"""Time between two samples of the trajectory [s]; every preset's time step divides it."""
WINDOW = 0.5
"""The real-time factor is taken over windows of this simulated length [s]."""
_CLEARANCE = 0.001
_RUNWAY = 3.0

Outcome = Literal["climbed", "tipped over", "stuck", "interrupted", "diverged"]


@dataclass(frozen=True)
class ClimbSetup:
    """What to drive at which step, and how.

    Attributes:
        vehicle: Bundled name, path of a vehicle file, or a description.
        step: Height of the step [m].
        flippers: Angle of all front flippers, tips raised positive, clipped to their limits [rad];
            None for `FRONT_FLIPPERS_DEG` where there are any.
        rear_flippers: Angle of all rear flippers, likewise [rad]; None for `REAR_FLIPPERS_DEG`.
        speed: Belt speed, clipped to what the drives can do [m/s].
        track_model: segments, smooth, wheels:N, plates or chain.
        preset: Solver preset.
        friction: On every track instead of the vehicle file's.
    """

    vehicle: str | Path | VehicleDescription = "quince"
    step: float = 0.24
    flippers: float | None = None
    rear_flippers: float | None = None
    speed: float = 0.1
    track_model: str = "segments"
    preset: PresetName = "exact"
    friction: float | None = None


@dataclass(frozen=True)
class ClimbResult:
    """How a climb went.

    Attributes:
        setup: What was asked for.
        vehicle: What drove, with the setup's changes.
        terrain: The step.
        speed: Commanded belt speed, clipped to the drives' [m/s].
        outcome: How it ended.
        duration: Simulated time, settling included [s].
        real_time_factor: Simulated over elapsed time while driving: median over windows of 0.5 s.
        real_time_factor_min: The same, of the slowest window.
        max_pitch: Largest pitch, nose up [rad].
        final_position: Of the body frame (3,) [m]; the step's face is at x = 0.
        slip: 1 - way / belt travel while driving [-]. The way is what the body frame moves along
            its own forward axis (as in `Track.slip_ratio`, summed up), the belt travel is the mean
            over the tracks.
        energy: Work of all belt drives [J].
        trajectory: Sampled at 50 Hz.
        chains: The same of link chains, seldom enough for `chain_history.ROWS`; None for other tracks.
    """

    setup: ClimbSetup
    vehicle: VehicleDescription
    terrain: Step
    speed: float
    outcome: Outcome
    duration: float
    real_time_factor: float
    real_time_factor_min: float
    max_pitch: float
    final_position: tuple[float, float, float]
    slip: float
    energy: float
    trajectory: Trajectory
    chains: ChainHistory | None = None

    @property
    def success(self) -> bool:
        """Whether the step was climbed."""
        return self.outcome == "climbed"

    def summary(self) -> dict[str, object]:
        """Everything but what is sampled, as plain values with the names that JSON has."""
        flippers = {
            name: math.degrees(angle[0]) for name, angle in self.trajectory.flippers.items() if len(angle)
        }
        return {
            "vehicle": self.vehicle.name,
            "step": self.setup.step,
            "speed": self.speed,
            "flippers_deg": {name: round(angle, 3) for name, angle in flippers.items()},
            "friction": self.setup.friction,
            "track_model": self.setup.track_model,
            "preset": self.setup.preset,
            "success": self.success,
            "outcome": self.outcome,
            "duration": round(self.duration, 6),
            "real_time_factor": self.real_time_factor,
            "real_time_factor_min": self.real_time_factor_min,
            "max_pitch_deg": math.degrees(self.max_pitch),
            "final_position": list(self.final_position),
            "slip": self.slip,
            "energy": self.energy,
        }


class ClimbInterrupted(KeyboardInterrupt):
    """Ctrl-C during a climb; carries what there is so far."""

    def __init__(self, result: ClimbResult) -> None:
        """Keep the result up to now, whose outcome is `interrupted`."""
        super().__init__()
        self.result = result


class ClimbDivergedError(DivergedError):
    """A climb that left what is physically possible; carries what there is so far."""

    def __init__(self, error: DivergedError, result: ClimbResult) -> None:
        """Say the same, and keep the result up to the last sample, whose outcome is `diverged`."""
        super().__init__(error.body, error.time, error.reason)
        self.result = result


@dataclass(frozen=True)
class ClimbProgress:
    """A running climb, as its observers see it after each sample.

    Attributes:
        world: The world.
        robot: The robot.
        time: Simulated time [s].
        time_limit: When the attempt is given up [s].
    """

    world: World
    robot: Robot
    time: float
    time_limit: float


Observer = Callable[[ClimbProgress], object]


def run_climb(setup: ClimbSetup, *, gui: bool = False, observer: Observer | None = None) -> ClimbResult:
    """Drive at a step.

    Args:
        setup: What to do.
        gui: Show PyBullet's window, at the pace of the wall clock.
        observer: Called after each sample; its time does not count in the real-time factor.

    Returns:
        How it went. Not climbing is a result, not an error.

    Raises:
        SegtrackError: The setup cannot be: no such vehicle, track model or preset, no flippers
            where an angle is given, a number that is not finite or out of range.
        ClimbDivergedError: The simulation broke down, or a link chain came off.
        ClimbInterrupted: Ctrl-C.
    """
    vehicle = prepare_vehicle(setup)
    if finite("speed [m/s]", setup.speed) <= 0:
        raise InvalidValueError("speed [m/s]", "greater than 0", setup.speed)
    with World(setup.preset, gui=gui) as world:
        attempt = _Attempt(setup, vehicle, world, gui)
        try:
            return attempt.result(attempt.drive(observer))
        except KeyboardInterrupt:
            raise ClimbInterrupted(attempt.result("interrupted")) from None
        except DivergedError as error:
            raise ClimbDivergedError(error, attempt.result("diverged")) from None


def prepare_vehicle(setup: ClimbSetup) -> VehicleDescription:
    """The vehicle of a setup, with the setup's friction."""
    given = setup.vehicle
    vehicle = given if isinstance(given, VehicleDescription) else load_vehicle(given)
    return vehicle if setup.friction is None else with_friction(vehicle, setup.friction)


class _Attempt:
    """One attempt: the robot at its step, and what has been written down so far."""

    def __init__(self, setup: ClimbSetup, vehicle: VehicleDescription, world: World, gui: bool) -> None:
        self.setup, self.vehicle, self.world, self._gui = setup, vehicle, world, gui
        self.step = Step(height=setup.step, distance=0.0)
        angles = _flipper_angles(vehicle, setup)
        world.add_terrain(self.step)
        self.robot = world.add_vehicle(
            vehicle, track_model=setup.track_model, position=(-_RUNWAY, 0.0), flippers=angles
        )
        front = _put_before_step(self.robot, angles)
        self.speed = min(setup.speed, *(track.spec.drive.top_speed for track in self.robot.tracks.values()))
        self.time_limit = SETTLE + TIME_MARGIN * (GAP + front + setup.step + PAST_EDGE) / self.speed
        self.recorder = TrajectoryRecorder(self.robot)
        self.chains = (
            ChainRecorder(self.robot, SAMPLE_TIME, self.time_limit) if has_chains(self.robot) else None
        )
        self.energy = 0.0
        self.elapsed: list[float] = []
        """Wall time of each sample while driving [s]."""

    def drive(self, observer: Observer | None) -> Outcome:
        """Settle, then drive until it is decided."""
        self._sample()
        for _ in range(round(SETTLE / SAMPLE_TIME)):
            self._advance(observer)
        self.robot.set_belt_speed(left=self.speed, right=self.speed)
        outcome: Outcome | None = None
        while outcome is None:
            outcome = self._outcome(self._advance(observer))
            self.elapsed.append(SAMPLE_TIME / self.world.real_time_factor)
        return outcome

    def _advance(self, observer: Observer | None) -> RobotState:
        self.world.run(SAMPLE_TIME, real_time=self._gui)
        state = self._sample()
        if observer is not None:
            observer(ClimbProgress(self.world, self.robot, self.world.time, self.time_limit))
        return state

    def _sample(self) -> RobotState:
        state = self.recorder.sample(self.world.time)
        self.energy = self.robot.energy
        if self.chains is not None:
            self.chains.sample(self.world.time)
        return state

    def _outcome(self, state: RobotState) -> Outcome | None:
        if up_of(state) < 0.0:
            return "tipped over"
        past, high = state.position[0] >= PAST_EDGE, state.position[2] >= self.step.height
        if past and high and abs(state.pitch) < LEVEL_PITCH:
            return "climbed"
        return "stuck" if self.world.time >= self.time_limit else None

    def result(self, outcome: Outcome) -> ClimbResult:
        """What there is to say about it now."""
        trajectory = self.recorder.trajectory()
        factors = _real_time_factors(self.elapsed)
        x, y, z = trajectory.position[-1].tolist()
        return ClimbResult(
            setup=self.setup,
            vehicle=self.vehicle,
            terrain=self.step,
            speed=self.speed,
            outcome=outcome,
            duration=float(trajectory.time[-1]),
            real_time_factor=statistics.median(factors),
            real_time_factor_min=min(factors),
            max_pitch=float(trajectory.pitch.max()),
            final_position=(x, y, z),
            slip=_slip(trajectory),
            energy=self.energy,
            trajectory=trajectory,
            chains=None if self.chains is None else self.chains.history(),
        )


def _real_time_factors(elapsed: list[float]) -> list[float]:
    """Real-time factor of each whole window, or of what there is; 0 for nothing.

    Args:
        elapsed: Wall time that each sample took [s].
    """
    samples = round(WINDOW / SAMPLE_TIME)
    windows = [elapsed[i : i + samples] for i in range(0, len(elapsed) - samples + 1, samples)] or [elapsed]
    return [len(window) * SAMPLE_TIME / sum(window) if window else 0.0 for window in windows]


def _slip(trajectory: Trajectory) -> float:
    """1 - way / belt travel since the robot began to drive; 0 if the belts did not move."""
    begin = min(round(SETTLE / SAMPLE_TIME), len(trajectory.time) - 1)
    travel = float(np.mean([belt.travel[-1] - belt.travel[begin] for belt in trajectory.belts.values()]))
    forward = trajectory.forward_axis[begin:]
    steps = np.diff(trajectory.position[begin:], axis=0)
    way = float(np.sum(steps * (forward[1:] + forward[:-1]) / 2))
    return 1.0 - way / travel if abs(travel) > 1e-6 else 0.0


def _flipper_angles(vehicle: VehicleDescription, setup: ClimbSetup) -> dict[str, float]:
    """Angle of each flipper [rad].

    Raises:
        UnknownNameError: An angle is given for flippers that the vehicle lacks.
        InvalidValueError: An angle is not finite.
    """
    angles: dict[str, float] = {}
    for end, given, default in (
        ("front", setup.flippers, FRONT_FLIPPERS_DEG),
        ("rear", setup.rear_flippers, REAR_FLIPPERS_DEG),
    ):
        names = [name for name, flipper in vehicle.flippers.items() if flipper.extends == end]
        if given is not None and not names:
            raise UnknownNameError(f"{end} flipper of", vehicle.name, vehicle.flippers)
        angle = (
            math.radians(default) if given is None else finite(f"angle of the {end} flippers [rad]", given)
        )
        for name in names:
            low, high = vehicle.flippers[name].limits
            angles[name] = min(max(angle, low), high)
    return angles


def _put_before_step(robot: Robot, angles: dict[str, float]) -> float:
    """Put the robot on the ground, `GAP` before x = 0; returns its reach before its body frame [m]."""
    low, high = bounding_box(robot.description, angles)
    if robot.description.body.urdf is not None:
        box, origin = np.array(robot.bounds()), np.array(robot.state.position)
        low, high = np.minimum(low, box[0] - origin), np.maximum(high, box[1] - origin)
    robot.reset_base_pose((-GAP - float(high[0]), 0.0, _CLEARANCE - float(low[2])))
    return float(high[0])
