"""Choices that setups of simulated runs share."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from pathlib import Path

from segtrack.description import VehicleDescription, load_vehicle
from segtrack.engine import EngineName, resolve
from segtrack.errors import SegtrackError
from segtrack.experiments.variants import with_friction


class RunSetup:
    """Vehicle and engine of a run, whose fields a dataclass has.

    Attributes:
        vehicle: Vehicle, its file, or the name of a bundled one.
        friction: Friction of every track instead of the vehicle's; None to keep that.
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
        """Engine and track model, where they are left open chosen.

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
        """The vehicle, with the setup's friction.

        Raises:
            UnknownNameError: No such vehicle.
            VehicleFileError: The vehicle file has mistakes.
            InvalidValueError: A friction that is negative or not finite.
        """
        given = self.vehicle
        vehicle = given if isinstance(given, VehicleDescription) else load_vehicle(given)
        return vehicle if self.friction is None else with_friction(vehicle, self.friction)
