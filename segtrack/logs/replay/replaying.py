"""A log driven again on its terrain, as it was commanded and as its belts moved, beside itself."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from segtrack.errors import DivergedError, LogFileError
from segtrack.experiments import impose_motion, with_imposed_motion
from segtrack.logs.mapping import SIDES, Rise
from segtrack.logs.replay.alignment import AlignedLog, align_in, flippers_at
from segtrack.logs.replay.path import first_speeds
from segtrack.logs.replay.settings import (
    BeltSource,
    Clock,
    ReplayScene,
    ReplaySettings,
    belt_keys,
    has_belts,
    schedule,
)
from segtrack.logs.replay.start import bring_to_start, check_start, place_vehicle
from segtrack.robot import Motion, Robot, SignalRecorder, Track, attitude_of
from segtrack.world import World

SOURCES: tuple[BeltSource, ...] = ("commanded", "measured")


@dataclass(frozen=True, eq=False)
class Replay:
    """A log and what its commands and its belts do in simulation, in the terrain's frame, on the log's clock.

    What the commanded belts do against the logged ones is the error of the drives; what the vehicle on the
    measured belts does against the logged one is that of the contact.

    Attributes:
        settings: Settings of the replay.
        scene: Vehicle, terrain and engine of the settings.
        log: The log in the terrain's frame, and how it got there.
        commanded: The vehicle as its own drives follow the commands; None for a log without commands.
        measured: The vehicle as belts and flippers do exactly what was measured; None for a log without.
        diverged: Error of a diverged simulation, by `commanded` and `measured`; its motion is up to then.
    """

    settings: ReplaySettings
    scene: ReplayScene
    log: AlignedLog
    commanded: Motion | None
    measured: Motion | None
    diverged: Mapping[str, str] = field(default_factory=dict)

    @property
    def logged(self) -> Motion:
        """The log in the terrain's frame."""
        return self.log.motion

    @property
    def event(self) -> float | None:
        """Time of the first touch on the log's clock [s]; None where there is none."""
        return self.log.event

    @property
    def obstacle(self) -> Rise | None:
        """Obstacle that the vehicle drives at; None on level ground."""
        return self.scene.terrain.obstacle


def replay(motion: Motion, settings: ReplaySettings) -> Replay:
    """Drive a log's vehicle again, by its commands and by its measured belts, as far as it has them.

    Args:
        motion: The log.
        settings: Settings of the replay.

    Raises:
        SegtrackError: The log and the settings do not go together, see `align`.
        StartPoseError: The vehicle does not stand as logged where the log begins.
        DivergedError: A simulation broke down before the log began.
    """
    scene = settings.load()
    log = align_in(motion, settings, scene)
    check_start(log, settings, scene)
    found, diverged = dict[str, Motion](), dict[str, str]()
    for source in SOURCES:
        if not has_belts(motion, source):
            continue
        try:
            found[source] = simulate(log, settings, scene, source)
        except ReplayDivergedError as error:
            found[source], diverged[source] = error.motion, str(error)
    return Replay(settings, scene, log, found.get("commanded"), found.get("measured"), diverged)


def replay_log(
    motion: Motion | AlignedLog,
    settings: ReplaySettings,
    *,
    belts: BeltSource = "measured",
) -> Motion:
    """Drive a log's vehicle again.

    Args:
        motion: The log; one that is aligned already is not aligned again, nor is its start checked.
        settings: Settings of the replay.
        belts: `commanded`: the vehicle's own drives follow the commands; `measured`: belts and flippers move
            as they were measured.

    Returns:
        The simulated motion: the quantities of a log, in the terrain's frame, on the log's clock.

    Raises:
        SegtrackError: The log and the settings do not go together, see `align`.
        StartPoseError: See `replay`.
        LogFileError: The log has no such belts.
        ReplayDivergedError: The simulation broke down; it carries the motion until then.
    """
    scene = settings.load()
    log = motion if isinstance(motion, AlignedLog) else align_in(motion, settings, scene)
    if log is not motion:
        check_start(log, settings, scene)
    if not has_belts(log.motion, belts):
        raise LogFileError(
            log.motion.name, f"has no {belts} belts: it takes {' and '.join(belt_keys(belts))}"
        )
    return simulate(log, settings, scene, belts)


SOURCE = "simulation"
"""Source of all signals of a replay."""


class MotionRecorder:
    """Samples the quantities of a log: body, belts of both sides, flippers and work."""

    def __init__(self, robot: Robot, name: str) -> None:
        """Begin with no samples; drives have done no work yet."""
        self._robot, self._recorder, self._energy = robot, SignalRecorder(name, SOURCE), robot.energy
        tracks = list(robot.tracks.values())
        self._names, self._sides = list(robot.tracks), {side: _tracks_of(side, tracks) for side in SIDES}
        parts = {side: {"center": 0.5, side: 1.0} for side in SIDES}
        self._shares = {side: {t.name: part.get(t.side, 0.0) for t in tracks} for side, part in parts.items()}

    def sample(self, time: float, flippers: Mapping[str, float]) -> None:
        """Sample the robot at a time of the log [s], with the commanded angles of its flippers [rad]."""
        body = self._robot.body_motion()
        roll, pitch, yaw = attitude_of(body.rotation)
        velocity = body.rotation.T @ body.velocity_at((0.0, 0.0, 0.0))
        values: dict[str, float | Sequence[float]] = {
            "position": body.position.tolist(),
            "orientation": body.orientation,
            "roll": roll,
            "pitch": pitch,
            "yaw": yaw,
            "velocity": velocity.tolist(),
            "angular_velocity": (body.rotation.T @ body.angular_velocity).tolist(),
        }
        actuators = self._robot.read_actuators()
        speeds = dict(zip(self._names, actuators.belt_speeds.tolist(), strict=True))
        forces = dict(zip(self._names, actuators.belt_forces.tolist(), strict=True))
        for side, own in self._sides.items():
            speed = sum(speeds[track.name] for track in own) / len(own)
            ground = sum(track.ground_speed for track in own) / len(own)
            values[f"belt_speed_command.{side}"] = sum(track.command for track in own) / len(own)
            values[f"belt_speed.{side}"] = speed
            shares = self._shares[side].items()
            values[f"belt_force.{side}"] = sum(share * forces[name] for name, share in shares)
            values[f"slip_velocity.{side}"] = speed - ground
        for name, angle in zip(self._robot.flippers, actuators.flipper_angles.tolist(), strict=True):
            values[f"flipper_angle_command.{name}"] = flippers[name]
            values[f"flipper_angle.{name}"] = angle
        values["energy"] = sum(actuators.belt_energies.tolist()) - self._energy
        self._recorder.add(time, values)

    def motion(self) -> Motion:
        """Return the motion up to the last sample, its yaw continuous."""
        motion = self._recorder.motion()
        return motion.with_signals({"yaw": replace(motion.signals["yaw"], values=np.unwrap(motion["yaw"]))})


def _tracks_of(side: str, tracks: list[Track]) -> list[Track]:
    """Return a side's tracks: its own on the body, else on flippers, else in the middle, else all."""
    for flippers in (False, True):
        own = [t for t in tracks if t.side == side and (t.flipper is not None) == flippers]
        if own:
            return own
    return [track for track in tracks if track.side == "center"] or tracks


class ReplayDivergedError(DivergedError):
    """A replay that left what is physically possible; carries what there is so far."""

    def __init__(self, body: str, time: float | None, reason: str, motion: Motion) -> None:
        """Say which body diverged, when on the log's clock [s], and how, and keep the motion until then."""
        super().__init__(body, time, reason)
        self.motion = motion


def simulate(
    log: AlignedLog,
    settings: ReplaySettings,
    scene: ReplayScene,
    source: BeltSource,
) -> Motion:
    """Drive as a log says.

    The vehicle is put at the log's first pose and settles there. A log that begins in motion is given a
    run-up from behind, along the arc of its first belt speeds, so that vehicle and belts are there, at these
    speeds, when it begins.

    Args:
        log: Log in the terrain's frame.
        settings: Settings of the replay.
        scene: Vehicle, terrain and engine of the settings.
        source: `commanded`: the vehicle's own drives follow the commands; `measured`: belts and flippers move
            as they were measured.

    Returns:
        The simulated motion on the log's clock, sampled evenly.

    Raises:
        ReplayDivergedError: The simulation broke down on the way.
        DivergedError: It broke down before the log began.
        InvalidValueError: The vehicle cannot be simulated so.
    """
    imposed, step = source == "measured", settings.time_step
    vehicle = with_imposed_motion(scene.vehicle) if imposed else scene.vehicle
    angles = flippers_at(log.motion, vehicle, settings.flippers, log.begin)
    every = round(settings.sample_time / step)
    samples = math.floor((log.end - log.begin) / settings.sample_time + 1e-9)
    plan = schedule(log.motion, source, angles, Clock(log.begin, step, every, every * samples))
    with World(engine=scene.engine, time_step=step, resettable=False) as world:
        robot = place_vehicle(world, scene, vehicle, log.start, angles)
        if imposed:
            impose_motion(robot)
        bring_to_start(world, robot, log.start, first_speeds(log.motion, log.begin))
        recorder, began = MotionRecorder(robot, f"{log.motion.name}, {source}"), world.time
        try:
            for k, (left, right) in enumerate(plan.belts.tolist()):
                first, last = plan.steps[k : k + 2].tolist()
                told = {name: float(values[k]) for name, values in plan.flippers.items()}
                robot.set_belt_speed(left, right)
                if imposed:
                    now = robot.read_actuators().flipper_angles.tolist()
                    for (name, flipper), angle in zip(robot.flippers.items(), now, strict=True):
                        flipper.set_speed((told[name] - angle) / ((last - first) * step))
                else:
                    robot.set_flippers(**told)
                if first % every == 0:
                    recorder.sample(log.begin + first * step, told)
                world.run((last - first) * step)
            recorder.sample(log.begin + plan.steps[-1] * step, told)
        except DivergedError as error:
            when = None if error.time is None else log.begin + error.time - began
            raise ReplayDivergedError(error.body, when, error.reason, recorder.motion()) from None
        return recorder.motion()
