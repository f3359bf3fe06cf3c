"""Setup and result of a climb."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from segtrack.description import VehicleDescription
from segtrack.engine import EngineName
from segtrack.errors import DivergedError, UnknownNameError, finite
from segtrack.experiments.histories import ChainHistory
from segtrack.experiments.setup import RunSetup
from segtrack.robot import Motion
from segtrack.terrain import Step

FRONT_FLIPPERS_DEG = 45.0
"""Front flippers stand at this angle unless told otherwise [deg]."""
REAR_FLIPPERS_DEG = 5.0
"""Rear flippers stand at this angle unless told otherwise [deg]. Okada et al. 2020 do not give theirs."""


@dataclass(frozen=True)
class ClimbSetup(RunSetup):
    """Vehicle, step and simulation of a climb.

    Attributes:
        vehicle: Bundled name, path of a vehicle file, or a description.
        step: Height of the step [m].
        flippers: Angle of all front flippers, tips raised positive, clipped to their limits [rad];
            None for `FRONT_FLIPPERS_DEG` where there are any.
        rear_flippers: Angle of all rear flippers, likewise [rad]; None for `REAR_FLIPPERS_DEG`.
        speed: Belt speed, clipped to what the drives can do [m/s].
        track_model: Name of the track model; the engine's default if not given.
        engine: Name of the engine; one that runs the track model if not given.
        preset: The engine's solver settings; its default if not given.
        time_step: Instead of the preset's [s]; a divisor of 20 ms.
        friction: On every track instead of the vehicle file's.

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
        """Angle of each flipper of the vehicle [rad]; see the function of that name."""
        return flipper_angles(vehicle, self.flippers, self.rear_flippers)


def flipper_angles(vehicle: VehicleDescription, front: float | None, rear: float | None) -> dict[str, float]:
    """Angle of each flipper of a vehicle [rad], within its limits.

    Args:
        vehicle: The vehicle.
        front: Angle of all front flippers, tips raised positive [rad]; None for `FRONT_FLIPPERS_DEG`.
        rear: Angle of all rear flippers, likewise [rad]; None for `REAR_FLIPPERS_DEG`.

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
        preset: The engine's solver settings.
        vehicle: Vehicle with the setup's changes.
        terrain: The step.
        speed: Commanded belt speed, clipped to the drives' [m/s].
        outcome: Outcome of the climb.
        duration: Simulated time, settling included [s].
        real_time_factor: Simulated over elapsed time while driving: median over windows of 0.5 s.
        real_time_factor_min: Real-time factor of the slowest window.
        max_pitch: Largest pitch, nose up [rad].
        final_position: Position of the body frame (3,) [m]; the step's face is at x = 0.
        slip: Slip by the mean speeds while driving, as `Track.slip` in [-1, 1] [-]. The way is what the
            body frame moves along its own forward axis, the belt travel is the mean over the tracks.
        energy: Work of all belt drives [J].
        trajectory: Sampled at 50 Hz.
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
        """Return a JSON-serialisable dict of everything but the samples."""
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
