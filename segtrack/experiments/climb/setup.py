"""What is driven at which step, and how."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from segtrack.description import VehicleDescription, load_vehicle
from segtrack.engine import EngineName
from segtrack.errors import UnknownNameError, finite
from segtrack.experiments.variants import with_friction
from segtrack.world import resolve

FRONT_FLIPPERS_DEG = 45.0
"""Front flippers stand at this angle unless told otherwise [deg]."""
REAR_FLIPPERS_DEG = 5.0
"""Rear flippers stand at this angle unless told otherwise [deg]. Okada et al. 2020 do not give theirs."""


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
        track_model: How tracks are built; the engine's default if not given, see `TRACK_MODELS`.
        engine: What simulates it; what runs the track model if not given.
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

    def __post_init__(self) -> None:
        """Refuse an engine and a track model that do not go together."""
        resolve(self.engine, self.track_model)

    @property
    def resolved(self) -> tuple[EngineName, str]:
        """Engine and track model, where they are left open chosen."""
        return resolve(self.engine, self.track_model)

    def load_vehicle(self) -> VehicleDescription:
        """The vehicle, with the setup's friction.

        Raises:
            UnknownNameError: No such vehicle.
            VehicleFileError: The vehicle file has mistakes.
            InvalidValueError: A friction that is negative or not finite.
        """
        given = self.vehicle
        vehicle = given if isinstance(given, VehicleDescription) else load_vehicle(given)
        return vehicle if self.friction is None else with_friction(vehicle, self.friction)

    def flipper_angles(self, vehicle: VehicleDescription) -> dict[str, float]:
        """Angle of each flipper of the vehicle [rad], within its limits.

        Raises:
            UnknownNameError: An angle is given for flippers that the vehicle lacks.
            InvalidValueError: An angle is not finite.
        """
        angles: dict[str, float] = {}
        for end, given, default in (
            ("front", self.flippers, FRONT_FLIPPERS_DEG),
            ("rear", self.rear_flippers, REAR_FLIPPERS_DEG),
        ):
            names = [name for name, flipper in vehicle.flippers.items() if flipper.tip_direction == end]
            if given is not None and not names:
                raise UnknownNameError(f"{end} flipper of", vehicle.name, vehicle.flippers)
            what = f"angle of the {end} flippers [rad]"
            angle = math.radians(default) if given is None else finite(what, given)
            for name in names:
                low, high = vehicle.flippers[name].limits
                angles[name] = min(max(angle, low), high)
        return angles
