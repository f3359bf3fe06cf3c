"""Simulated drive: takes commands and returns poses and readings, in ticks of 0.01 s."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from segtrack.courses import load_course
from segtrack.description import VehicleDescription, load_vehicle
from segtrack.errors import MissingPackageError, NotReadyError, UnknownNameError
from segtrack.experiments import with_body
from segtrack.recording.setup import TICK, Command, DriveSetup, VehicleFiles
from segtrack.rendering import VehiclePose, read_pose
from segtrack.world import World

if TYPE_CHECKING:
    from segtrack.recording.recorder import Recorder


class DriveSession:
    """Drive of a vehicle on a course; setup, commands and restarts by tick determine it bit for bit.

    Attributes:
        setup: Setup, with engine and track model filled in.
        course: Course, with the friction and soil of the setup.
        vehicle_files: Files of the vehicle, without its payload.
        world: World of the simulation.
        robot: Vehicle in the world.
        tick: Number of ticks simulated; restarts do not reset it.
        command: Last applied command, which holds.
        reading_names: Names of the `readings`, with units.
        recorder: Recorder of the drive; None if it is not recorded.
    """

    recorder: Recorder | None = None

    def __init__(self, setup: DriveSetup, *, gui: bool = False) -> None:
        """Place the vehicle at the course's start, at rest.

        Args:
            setup: Vehicle, course and simulation.
            gui: True to show PyBullet's window.

        Raises:
            SegtrackError: No such vehicle, course, setting, soil, engine or track model; a file with
                mistakes; a payload that the vehicle cannot have; PyBullet is missing; a window without
                PyBullet, or without a display.
        """
        self.setup = setup.resolved()
        course = load_course(setup.course, setup.setting)
        self.course = course.with_ground(setup.friction, setup.soil)
        self.vehicle_files = VehicleFiles.read(setup.vehicle)
        vehicle = with_payload(load_vehicle(setup.vehicle), setup.payload, setup.payload_position)
        self.world = World(engine=self.setup.engine, time_step=setup.time_step, gui=gui, resettable=False)
        for terrain in self.course.terrains:
            self.world.add_terrain(terrain)
        start, track_model = course.start, self.setup.track_model
        self.robot = self.world.add_vehicle(
            vehicle, track_model=track_model, position=(start.x, start.y), yaw=start.yaw
        )
        self.world.settle()
        self._start = self.world.save()
        self._steps = round(TICK / setup.time_step)
        self.tick = self._restarted = 0
        self.command = Command()
        self._pose: VehiclePose | None = None
        self._readings: NDArray[np.float64] | None = None
        self.reading_names = _reading_names(tuple(self.robot.tracks), tuple(self.robot.flippers))

    def __enter__(self) -> DriveSession:
        """Use as a context manager."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the session."""
        self.close()

    def close(self) -> None:
        """End the recording, and free the engine's resources; may be called again."""
        self.end_recording()
        self.world.close()

    @property
    def time(self) -> float:
        """Simulated time since the session began, with restarts [s]."""
        return self.tick * TICK

    def apply(self, command: Command) -> None:
        """Apply a command from the next tick on; speeds are clipped to the drives' largest.

        Raises:
            UnknownNameError: A flipper that the vehicle does not have; nothing is changed.
        """
        for name in command.flipper_speeds:
            if name not in self.robot.flippers:
                raise UnknownNameError(f"flipper of {self.robot.name}", name, self.robot.flippers)
        self.command = command
        self._forget()
        if self.recorder is not None:
            self.recorder.command(command)
        self.robot.set_belt_speed(command.left, command.right)
        if command.flatten:
            self.robot.set_flippers(**dict.fromkeys(self.robot.flippers, 0.0))
        else:
            held = dict.fromkeys(self.robot.flippers, 0.0)
            self.robot.set_flipper_speeds(**held | dict(command.flipper_speeds))

    def advance(self, ticks: int = 1) -> None:
        """Simulate a number of ticks.

        Raises:
            DivergedError: The vehicle is no longer finite, or absurdly fast.
        """
        at_once = ticks if self.recorder is None else 1
        for _ in range(0, ticks, at_once or 1):
            self.world.advance(at_once * self._steps)
            self.tick += at_once
            self._forget()
            if self.recorder is not None:
                self.recorder.state()

    def restart(self) -> None:
        """Put the vehicle back to the start at rest, bit for bit; it holds until the next command."""
        self.world.restore(self._start)
        self._restarted = self.tick
        self._forget()
        self.command = Command()
        if self.recorder is not None:
            self.recorder.restart()

    def record(self, path: Path) -> Recorder:
        """Begin to record commands and states to a new file.

        Raises:
            NotReadyError: The vehicle has left its start, where recordings begin, or is recorded already.
            FileAccessError: The file exists, or cannot be written.
            MissingPackageError: The extra `station` is not installed.
        """
        if self.recorder is not None or self.tick != self._restarted:
            reason = "it has left its start" if self.recorder is None else "it is recorded already"
            raise NotReadyError("record the drive", reason)
        try:
            from segtrack.recording.recorder import Recorder
        except ModuleNotFoundError as error:
            raise MissingPackageError("recording a drive", str(error.name), "station") from None
        self.recorder = Recorder(path, self)
        self.recorder.command(self.command)
        return self.recorder

    def end_recording(self) -> None:
        """Close the recording, if there is one."""
        recorder, self.recorder = self.recorder, None
        if recorder is not None:
            recorder.close()

    def pose(self) -> VehiclePose:
        """Return the present pose, in the layout of `look_of(session.robot)`."""
        if self._pose is None:
            self._pose = read_pose(self.robot)
        return self._pose

    def readings(self) -> NDArray[np.float64]:
        """Return the present readings of drives and flippers (n,), see `reading_names`."""
        if self._readings is not None:
            return self._readings
        values = []
        for track in self.robot.tracks.values():
            state = track.state
            values += [state.speed, track.command, state.force, track.slip]
        values += [flipper.angle for flipper in self.robot.flippers.values()]
        self._readings = np.array([*values, self.robot.energy])
        self._readings.setflags(write=False)
        return self._readings

    def _forget(self) -> None:
        """Drop the cached pose and readings, because the state has changed."""
        self._pose = self._readings = None


def with_payload(
    vehicle: VehicleDescription, mass: float, position: tuple[float, float, float] | None = None
) -> VehicleDescription:
    """Return the vehicle with a payload on its body.

    Mass and centre of mass are those of both together. The inertia is that of the body's box with the mass
    of both: of a payload that is spread as the body is.

    Args:
        vehicle: Vehicle with its body given by numbers, unless the payload is 0.
        mass: Mass of the payload [kg].
        position: Centre of the payload in the body frame (3,) [m]; None for the middle of the body's top.

    Raises:
        InvalidValueError: The body is given as a URDF.
    """
    if mass == 0:
        return vehicle
    body = vehicle.body
    own = math.inf if body.mass is None else body.mass  # `with_body` refuses a URDF.
    height = 0.0 if body.size is None else body.size[2]
    at = (0.0, 0.0, height / 2) if position is None else position
    share = mass / (own + mass)
    offset = [share * (there - here) for here, there in zip(body.center_of_mass, at, strict=True)]
    return with_body(vehicle, 1 + mass / own, offset)


def _reading_names(tracks: tuple[str, ...], flippers: tuple[str, ...]) -> tuple[str, ...]:
    kinds = ("speed [m/s]", "command [m/s]", "force [N]", "slip [-]")
    of_tracks = [f"{track} {kind}" for track in tracks for kind in kinds]
    return (*of_tracks, *(f"{flipper} angle [rad]" for flipper in flippers), "energy [J]")
