"""Settings of a replay: vehicle, ground and simulation, and commands of its belts and flippers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from segtrack.description import VehicleDescription, load_vehicle
from segtrack.engine import EngineName, check_engine, resolve
from segtrack.errors import InvalidValueError, UnknownNameError, finite
from segtrack.logs.mapping import SIDES, LoadedTerrain, load_terrain
from segtrack.robot import Motion, Signal

AlignmentEvent = Literal["touch", "start"]
"""Event at which a log is aligned with its terrain: the first touch of the obstacle, or the log's start."""
FrameName = Literal["log", "terrain"]
"""Frame of a log's positions: one of its own, or the terrain's, as for motion capture
that was set up on the step."""


@dataclass(frozen=True, eq=False)
class ReplaySettings:
    """Settings of a replay.

    Attributes:
        vehicle: A description; a bundled name or the path of a vehicle file is loaded.
        terrain: Ground; a bundled course or the path of a terrain file is loaded.
        setting: Value of what the course raises, for a terrain that is not loaded yet; its own if not given.
        engine: `native` or `pybullet`; None for native where it runs the track model.
        track_model: Name of the track model; None for the engine's default, of native `compliant`.
        time_step: Time step of the simulation [s].
        event: Event at which log and terrain are aligned: `touch`, `start`, or the time of the first touch on
            the log's clock [s]; None for the first touch where the terrain rises, else the start.
        frame: Frame of the log's positions; with `terrain` none is moved.
        flippers: Angles of flippers that the log says nothing of, by name [rad]; 0 if not given.
        sample_time: Time between two samples of what is simulated, a multiple of the time step [s].
    """

    vehicle: VehicleDescription | str | Path
    terrain: LoadedTerrain | str | Path
    setting: float | None = None
    engine: EngineName | None = None
    track_model: str | None = None
    time_step: float = 0.001
    event: AlignmentEvent | float | None = None
    frame: FrameName = "log"
    flippers: Mapping[str, float] = field(default_factory=dict)
    sample_time: float = 0.01

    def __post_init__(self) -> None:
        """Refuse what nothing can be replayed with.

        Raises:
            UnknownNameError: No such engine, event, frame or flipper.
            InvalidValueError: A number that is not finite or not positive, or a sample time that is not a
                multiple of the time step.
        """
        check_engine(self.engine)
        if self.frame not in get_args(FrameName):
            raise UnknownNameError("frame", self.frame, get_args(FrameName))
        if isinstance(self.event, str) and self.event not in get_args(AlignmentEvent):
            raise UnknownNameError("event", self.event, get_args(AlignmentEvent))
        if self.event is not None and not isinstance(self.event, str):
            finite("event [s]", self.event)
        for name in ("time_step", "sample_time"):
            if finite(f"{name} [s]", getattr(self, name)) <= 0:
                raise InvalidValueError(f"{name} [s]", "positive", getattr(self, name))
        steps = self.sample_time / self.time_step
        if round(steps) < 1 or abs(steps - round(steps)) > 1e-6:
            expected = f"a multiple of the time step of {self.time_step:g}"
            raise InvalidValueError("sample_time [s]", expected, self.sample_time)
        for name, angle in self.flippers.items():
            finite(f"angle of flipper {name} [rad]", angle)

    def load(self) -> ReplayScene:
        """Load the vehicle and the terrain, and choose engine and track model.

        Raises:
            SegtrackError: A file cannot be read or has mistakes, a name is unknown, or the engine does not
                run the track model.
        """
        vehicle = self.vehicle if isinstance(self.vehicle, VehicleDescription) else load_vehicle(self.vehicle)
        for name in self.flippers:
            if name not in vehicle.flippers:
                raise UnknownNameError(f"flipper of {vehicle.name}", name, vehicle.flippers)
        terrain = self.terrain
        if not isinstance(terrain, LoadedTerrain):
            terrain = load_terrain(terrain, self.setting)
        return ReplayScene(vehicle, terrain, *resolve(self.engine, self.track_model, preferred="native"))


@dataclass(frozen=True, eq=False)
class ReplayScene:
    """Settings of a replay, loaded and chosen.

    Attributes:
        vehicle: Vehicle that drives.
        terrain: On which.
        engine: Name of the engine.
        track_model: Name of the track model.
    """

    vehicle: VehicleDescription
    terrain: LoadedTerrain
    engine: EngineName
    track_model: str


BeltSource = Literal["commanded", "measured"]
CONTROL = 0.005
"""Largest time for which belts and flippers that follow measurements are told one thing [s]."""

Array = NDArray[np.float64]


class Schedule(NamedTuple):
    """Commands of belts and flippers, from control step to control step.

    Attributes:
        steps: Steps of the simulation at which control steps begin, from 0, and the end of the last (n + 1,).
        belts: Speeds of both sides (n, 2) [m/s].
        flippers: Angles of the flippers at the ends, by name (n,) [rad].
    """

    steps: NDArray[np.intp]
    belts: Array
    flippers: Mapping[str, Array]


class Clock(NamedTuple):
    """Steps of a replay on the clock of its log.

    Attributes:
        begin: Time at which the replay begins [s].
        step: Time step of the simulation [s].
        every: Steps after which a sample is taken.
        steps: Number of steps, a multiple of `every`.
    """

    begin: float
    step: float
    every: int
    steps: int


def has_belts(motion: Motion, source: BeltSource) -> bool:
    """Return whether a log has the commanded or the measured speeds of both sides' belts."""
    return all(key in motion.signals for key in belt_keys(source))


def schedule(motion: Motion, source: BeltSource, flippers: Mapping[str, float], clock: Clock) -> Schedule:
    """Return the commands of belts and flippers of a log.

    Commands are held from sample to sample, as the controller of a drive holds the last one that it got;
    before the first one belts stand. What was measured is a motion, which goes on between samples, so it is
    interpolated linearly: belts get the mean over each control step, by which their travel is exact, and
    flippers the angle at its end.

    Args:
        motion: The log.
        source: Commands or measurements; flippers for which it has only the
            other follow that.
        flippers: Angle of each at the beginning, at which it stays unless the log has it [rad].
        clock: Clock of the replay.
    """
    belts = [motion.signals[key] for key in belt_keys(source)]
    angles = {name: _angle_of(motion, source, name) for name in flippers}
    steps = np.arange(0, clock.steps + 1, clock.every)
    if source == "measured":
        spacing = max(1, math.floor(CONTROL / clock.step + 1e-9))
        steps = np.unique(np.concatenate([steps, np.arange(0, clock.steps, spacing)]))
    else:
        held = [*belts, *(signal for signal, is_held in filter(None, angles.values()) if is_held)]
        changes = [np.rint((signal.times - clock.begin) / clock.step).astype(np.intp) for signal in held]
        steps = np.unique(np.concatenate([steps, *changes]))
        steps = steps[(steps >= 0) & (steps <= clock.steps)]
    first, last = clock.begin + steps[:-1] * clock.step, clock.begin + steps[1:] * clock.step
    if source == "measured":
        speeds = [signal.at((first + last) / 2) for signal in belts]
    else:
        began = [first > signal.times[0] - clock.step / 2 for signal in belts]
        speeds = [_held(signal, first, clock) * moves for signal, moves in zip(belts, began, strict=True)]
    told = {}
    for name, angle in angles.items():
        if angle is None:
            told[name] = np.full(len(first), flippers[name])
        else:
            told[name] = _held(angle[0], first, clock) if angle[1] else angle[0].at(last)
    return Schedule(steps, np.stack(speeds, axis=1), told)


def belt_keys(source: BeltSource) -> tuple[str, ...]:
    """Keys of belt speeds, left and right: `belt_speed_command.left`, ... or `belt_speed.left`, ..."""
    name = "belt_speed_command" if source == "commanded" else "belt_speed"
    return tuple(f"{name}.{side}" for side in SIDES)


def _angle_of(motion: Motion, source: BeltSource, flipper: str) -> tuple[Signal, bool] | None:
    """Signal that a flipper follows, and whether that is a command, which is held."""
    command = motion.signals.get(f"flipper_angle_command.{flipper}")
    measured = motion.signals.get(f"flipper_angle.{flipper}")
    if command is not None and (source == "commanded" or measured is None):
        return command, True
    return None if measured is None else (measured, False)


def _held(signal: Signal, times: NDArray[np.floating], clock: Clock) -> Array:
    """Latest values at times, to the nearest step; the first one before it."""
    latest = np.searchsorted(signal.times, times + clock.step / 2, side="right") - 1
    return signal.values[np.maximum(latest, 0)]
