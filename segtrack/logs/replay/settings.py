"""Settings of a replay: vehicle, ground and simulation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from segtrack.description import VehicleDescription, load_vehicle
from segtrack.engine import EngineName
from segtrack.engine.track_models import check_engine, resolve
from segtrack.errors import InvalidValueError, UnknownNameError, finite
from segtrack.logs.replay.terrain import LoadedTerrain, load_terrain

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
