"""Climb of a step: setup, simulation until success, stall or time-out, and result."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from segtrack.description import VehicleDescription, bounding_box, load_vehicle
from segtrack.engine import EngineName, resolve
from segtrack.errors import DivergedError, InvalidValueError, SegtrackError, UnknownNameError, finite
from segtrack.experiments.climb_defaults import FRONT_FLIPPERS_DEG, REAR_FLIPPERS_DEG
from segtrack.experiments.track_histories import ChainHistory, ChainRecorder, has_chains
from segtrack.experiments.variants import with_friction
from segtrack.robot import Motion, Robot, RobotState, SignalRecorder, longitudinal_slip
from segtrack.terrain import Step
from segtrack.world import World


class RunSetup:
    """Base class of setups: vehicle and engine of a run, as fields of a dataclass.

    Attributes:
        vehicle: Vehicle description, path of its file, or bundled name.
        friction: Friction coefficient of every track in place of the file's [-]; None to keep that.
        track_model: Name of a track model; None for the engine's default.
        engine: Name of the engine; None for one that runs the track model.
    """

    vehicle: str | Path | VehicleDescription
    friction: float | None
    track_model: str | None
    engine: EngineName | None

    def __post_init__(self) -> None:
        """Refuse an engine and a track model that do not go together."""
        self.resolved  # noqa: B018

    @cached_property
    def resolved(self) -> tuple[EngineName, str]:
        """Engine and track model, with defaults filled in.

        Sprung wheels of chains ask for steps of a fraction of a millisecond in PyBullet: with both left open,
        a vehicle that has them runs as chains in the native engine.
        """
        if self.engine is None and self.track_model is None:
            with suppress(SegtrackError):  # Told once the vehicle is loaded.
                vehicle = self.load_vehicle()
                if vehicle.has_sprung_chains:
                    return "native", "chain"
        return resolve(self.engine, self.track_model)

    def load_vehicle(self) -> VehicleDescription:
        """Load the vehicle, with the setup's friction.

        Raises:
            UnknownNameError: No such vehicle.
            VehicleFileError: The vehicle file has mistakes.
            InvalidValueError: A friction that is negative or not finite.
        """
        given = self.vehicle
        vehicle = given if isinstance(given, VehicleDescription) else load_vehicle(given)
        return vehicle if self.friction is None else with_friction(vehicle, self.friction)


@dataclass(frozen=True)
class ClimbSetup(RunSetup):
    """Vehicle, step and simulation of a climb.

    Attributes:
        vehicle: Bundled name, path of a vehicle file, or a description.
        step: Height of the step [m].
        flippers: Angle of all front flippers, tips raised positive, clipped to their limits [rad];
            None for `FRONT_FLIPPERS_DEG` where there are any.
        rear_flippers: Angle of all rear flippers, as `flippers` [rad]; None for `REAR_FLIPPERS_DEG`.
        speed: Belt speed, clipped to the drives' largest [m/s].
        track_model: Name of the track model; the engine's default if not given.
        engine: Name of the engine; one that runs the track model if not given.
        preset: Name of the engine's preset; by default its own.
        time_step: Instead of the preset's [s]; a divisor of 20 ms.
        friction: Friction coefficient of every track, in place of the vehicle file's [-].

    Raises:
        UnknownNameError: No such engine or track model.
        InvalidValueError: The engine does not run the track model.
    """

    vehicle: str | Path | VehicleDescription = "quince"
    step: float = 0.24
    flippers: float | None = None
    rear_flippers: float | None = None
    speed: float = 0.1
    track_model: str | None = None
    engine: EngineName | None = None
    preset: str | None = None
    time_step: float | None = None
    friction: float | None = None

    def flipper_angles(self, vehicle: VehicleDescription) -> dict[str, float]:
        """Angle of each flipper of the vehicle, by name [rad]."""
        return flipper_angles(vehicle, self.flippers, self.rear_flippers)


def flipper_angles(vehicle: VehicleDescription, front: float | None, rear: float | None) -> dict[str, float]:
    """Angle of each flipper of a vehicle, by name, within its limits [rad].

    Args:
        vehicle: Description of the vehicle.
        front: Angle of all front flippers, tips raised positive [rad]; None for `FRONT_FLIPPERS_DEG`.
        rear: Angle of all rear flippers, tips raised positive [rad]; None for `REAR_FLIPPERS_DEG`.

    Raises:
        UnknownNameError: An angle is given for flippers that the vehicle lacks.
        InvalidValueError: An angle is not finite.
    """
    angles: dict[str, float] = {}
    for end, given, default in (("front", front, FRONT_FLIPPERS_DEG), ("rear", rear, REAR_FLIPPERS_DEG)):
        names = [name for name, flipper in vehicle.flippers.items() if flipper.tip_direction == end]
        if given is not None and not names:
            raise UnknownNameError(f"{end} flipper of", vehicle.name, vehicle.flippers)
        what = f"angle of the {end} flippers [rad]"
        angle = math.radians(default) if given is None else finite(what, given)
        for name in names:
            low, high = vehicle.flippers[name].limits
            angles[name] = min(max(angle, low), high)
    return angles


Outcome = Literal["climbed", "tipped over", "stuck", "interrupted", "diverged"]


@dataclass(frozen=True)
class ClimbResult:
    """Result of a climb.

    Attributes:
        setup: Setup of the climb.
        engine: Name of the engine.
        track_model: Name of the track model.
        preset: Name of the engine's preset.
        vehicle: Vehicle with the setup's changes.
        terrain: Terrain with the step.
        speed: Commanded belt speed, clipped to the drives' [m/s].
        outcome: Outcome of the climb.
        duration: Simulated time, settling included [s].
        real_time_factor: Simulated over elapsed time while driving: median over windows of 0.5 s [-].
        real_time_factor_min: Real-time factor of the slowest window [-].
        max_pitch: Largest pitch, nose up [rad].
        final_position: Position of the body frame (3,) [m]; the step's face is at x = 0.
        slip: Slip by the mean speeds while driving, as `Track.slip` in [-1, 1] [-]. The way is what the
            body frame moves along its own forward axis, the belt travel is the mean over the tracks.
        energy: Work of all belt drives [J].
        trajectory: Motion of the robot, sampled at 50 Hz.
        chains: Histories of link chains, thinned to about `CHAIN_ROWS` rows; None for other tracks.
    """

    setup: ClimbSetup
    engine: EngineName
    track_model: str
    preset: str
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
    trajectory: Motion
    chains: ChainHistory | None = None

    @property
    def success(self) -> bool:
        """True if the step was climbed."""
        return self.outcome == "climbed"

    def summary(self) -> dict[str, object]:
        """Return a JSON-serialisable dict without the samples."""
        flippers = {
            name: math.degrees(angle[0])
            for name, angle in self.trajectory.by_name("flipper_angle").items()
            if len(angle)
        }
        return {
            "vehicle": self.vehicle.name,
            "step": self.setup.step,
            "speed": self.speed,
            "flippers_deg": {name: round(angle, 3) for name, angle in flippers.items()},
            "friction": self.setup.friction,
            "engine": self.engine,
            "track_model": self.track_model,
            "preset": self.preset,
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
    """Ctrl-C during a climb; carries the result so far."""

    def __init__(self, result: ClimbResult) -> None:
        """Keep the result so far, with outcome `interrupted`."""
        super().__init__()
        self.result = result


class ClimbDivergedError(DivergedError):
    """Raised when a climb diverges; carries the result so far."""

    def __init__(self, error: DivergedError, result: ClimbResult) -> None:
        """Keep the message, and the result up to the last sample, with outcome `diverged`."""
        super().__init__(error.body, error.time, error.reason)
        self.result = result


class TrajectoryRecorder:
    """Recorder of the body's pose, flipper angles, and travel, speed and force of each belt.

    Attributes:
        energy: Work of all belt drives up to the latest sample [J].
    """

    def __init__(self, robot: Robot) -> None:
        """Start without samples."""
        self._robot, self._recorder = robot, SignalRecorder(robot.name)
        self.energy = 0.0

    def sample(self, time: float) -> RobotState:
        """Sample the robot at a time [s], and return its state."""
        state = self._robot.state
        values: dict[str, float | Sequence[float]] = {
            "position": state.position,
            "orientation": state.orientation,
            "pitch": unfolded_pitch(state),
        }
        values |= {f"flipper_angle.{name}": flipper.angle for name, flipper in self._robot.flippers.items()}
        belts = self._robot.read_tracks()
        for name, belt in belts.items():
            values[f"track_travel.{name}"] = belt.travel
            values[f"track_speed.{name}"] = belt.speed
            values[f"track_force.{name}"] = belt.force
        self.energy = sum(belt.energy for belt in belts.values())
        self._recorder.add(time, values)
        return state

    def motion(self) -> Motion:
        """Return the motion up to the last sample."""
        return self._recorder.motion()


def trajectory_columns(motion: Motion) -> dict[str, NDArray[np.float64]]:
    """Return a sampled motion as columns of one table; column names include units."""
    table = {"time_s": motion.times}
    table |= {f"{axis}_m": motion["position"][:, i] for i, axis in enumerate("xyz")}
    table |= {f"q{axis}": motion["orientation"][:, i] for i, axis in enumerate("xyzw")}
    table["pitch_rad"] = motion["pitch"]
    table |= {f"{name}_angle_rad": angle for name, angle in motion.by_name("flipper_angle").items()}
    for name, travel in motion.by_name("track_travel").items():
        table[f"{name}_travel_m"] = travel
        table[f"{name}_speed_m_s"] = motion[f"track_speed.{name}"]
        table[f"{name}_force_N"] = motion[f"track_force.{name}"]
    return table


def up_of(state: RobotState) -> float:
    """World z component of the body's z axis; negative for an overturned robot [-]."""
    x, y, _, _ = state.orientation
    return 1.0 - 2.0 * (x * x + y * y)


def unfolded_pitch(state: RobotState) -> float:
    """Pitch of a robot that started along +x, continued beyond a right angle when it falls over [rad]."""
    _, y, z, _ = state.orientation
    backwards = 1.0 - 2.0 * (y * y + z * z) < 0.0
    if backwards and up_of(state) < 0.0:
        return math.copysign(math.pi, state.pitch) - state.pitch
    return state.pitch


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


@dataclass(frozen=True)
class ClimbProgress:
    """Running climb, as passed to observers after each sample.

    Attributes:
        world: World of the climb.
        robot: Robot at the step.
        time: Simulated time [s].
        time_limit: Simulated time at which the attempt is given up [s].
    """

    world: World
    robot: Robot
    time: float
    time_limit: float


Observer = Callable[[ClimbProgress], object]


def run_climb(setup: ClimbSetup, *, gui: bool = False, observer: Observer | None = None) -> ClimbResult:
    """Simulate a climb: drive a vehicle at a step.

    Args:
        setup: Vehicle, step and simulation.
        gui: True to show PyBullet's window, in real time.
        observer: Function called after each sample; its time does not count in the real-time factor.

    Returns:
        Result of the climb. Not climbing is a result, not an error.

    Raises:
        SegtrackError: The setup cannot be: no such vehicle or preset, no flippers where an angle is given,
            a number that is not finite or out of range, a window for an engine that has none.
        ClimbDivergedError: The simulation broke down, or a link chain came off.
        ClimbInterrupted: Ctrl-C.
    """
    vehicle = setup.load_vehicle()
    if finite("speed [m/s]", setup.speed) <= 0:
        raise InvalidValueError("speed [m/s]", "greater than 0", setup.speed)
    with World(setup.preset, engine=setup.resolved[0], time_step=setup.time_step, gui=gui) as world:
        attempt = _Attempt(setup, vehicle, world, gui)
        try:
            return attempt.result(attempt.drive(observer))
        except KeyboardInterrupt:
            raise ClimbInterrupted(attempt.result("interrupted")) from None
        except DivergedError as error:
            raise ClimbDivergedError(error, attempt.result("diverged")) from None


class _Attempt:
    """One attempt: the robot at its step, and the samples so far."""

    def __init__(self, setup: ClimbSetup, vehicle: VehicleDescription, world: World, gui: bool) -> None:
        self.setup, self.vehicle, self.world, self._gui = setup, vehicle, world, gui
        self.step = Step(height=setup.step, distance=0.0)
        angles = setup.flipper_angles(vehicle)
        world.add_terrain(self.step)
        self.robot = world.add_vehicle(
            vehicle, track_model=setup.resolved[1], position=(-_RUNWAY, 0.0, 0.0), flippers=angles
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
        """Settle, then drive until the outcome is decided."""
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
        self.energy = self.recorder.energy
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
        """Return the result so far."""
        trajectory = self.recorder.motion()
        factors = _real_time_factors(self.elapsed)
        x, y, z = trajectory["position"][-1].tolist()
        return ClimbResult(
            setup=self.setup,
            engine=self.world.engine_name,
            track_model=self.robot.track_model,
            preset=self.world.preset,
            vehicle=self.vehicle,
            terrain=self.step,
            speed=self.speed,
            outcome=outcome,
            duration=float(trajectory.times[-1]),
            real_time_factor=statistics.median(factors),
            real_time_factor_min=min(factors),
            max_pitch=float(trajectory["pitch"].max()),
            final_position=(x, y, z),
            slip=_slip(trajectory),
            energy=self.energy,
            trajectory=trajectory,
            chains=None if self.chains is None else self.chains.history(),
        )


def _real_time_factors(elapsed: list[float]) -> list[float]:
    """Real-time factor of each whole window, or of the time so far; 0 for none."""
    samples = round(WINDOW / SAMPLE_TIME)
    windows = [elapsed[i : i + samples] for i in range(0, len(elapsed) - samples + 1, samples)] or [elapsed]
    return [len(window) * SAMPLE_TIME / sum(window) if window else 0.0 for window in windows]


def _slip(trajectory: Motion) -> float:
    """Slip ratio from mean speeds since the robot began to drive, see `longitudinal_slip`; 0 before."""
    begin = min(round(SETTLE / SAMPLE_TIME), len(trajectory.times) - 1)
    travel = float(
        np.mean([travel[-1] - travel[begin] for travel in trajectory.by_name("track_travel").values()])
    )
    forward = trajectory.forward_axis[begin:]
    steps = np.diff(trajectory["position"][begin:], axis=0)
    way = float(np.sum(steps * (forward[1:] + forward[:-1]) / 2))
    duration = float(trajectory.times[-1] - trajectory.times[begin])
    return float(longitudinal_slip(travel / duration, way / duration)) if duration > 0 else 0.0


def _put_before_step(robot: Robot, angles: dict[str, float]) -> float:
    """Place the robot on the ground with its front `GAP` before x = 0, and return its front's body x [m]."""
    low, high = bounding_box(robot.description, angles)
    robot.reset_base_pose((-GAP - float(high[0]), 0.0, _CLEARANCE - float(low[2])))
    return float(high[0])
