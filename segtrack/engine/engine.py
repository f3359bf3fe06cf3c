"""Protocol of one world of one engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from segtrack.description import VehicleDescription
from segtrack.engine.lifetime import Lifetime
from segtrack.engine.track_models import EngineName
from segtrack.engine.vehicle import VehicleModel
from segtrack.errors import InvalidValueError, Phrase
from segtrack.terrain import Terrain


class Engine(ABC):
    """Protocol of one world of one engine.

    Attributes:
        name: Name by which users choose it.
        preset: Name of its solver settings.
        time_step: [s]
        lifetime: Open until `close`; its vehicles share it.
    """

    name: ClassVar[EngineName]
    preset: str
    time_step: float

    def __init__(self) -> None:
        """Open."""
        self.lifetime = Lifetime()

    @property
    @abstractmethod
    def time(self) -> float:
        """Simulated time [s]; it is part of a saved state, and damped steps do not count."""

    @property
    @abstractmethod
    def gravity(self) -> tuple[float, float, float]:
        """Gravity in the world [m/s^2]; it is part of a saved state."""

    @abstractmethod
    def add_terrain(self, terrain: Terrain) -> Any:
        """Build a terrain; returns what the engine calls it by.

        Raises:
            InvalidValueError: The engine, or a vehicle in it, cannot hold it; nothing is built.
        """

    @abstractmethod
    def clear_terrain(self) -> None:
        """Remove all terrain."""

    @abstractmethod
    def add_vehicle(
        self,
        description: VehicleDescription,
        track_model: str,
        position: Sequence[float],
        orientation: Sequence[float],
        flippers: Mapping[str, float],
    ) -> VehicleModel:
        """Build a vehicle.

        Args:
            description: Vehicle to build.
            track_model: Name of the track model.
            position: Body frame in the world (3,) [m].
            orientation: Body frame in the world, unit quaternion (x, y, z, w).
            flippers: Angle of every flipper, within its limits [rad].

        Raises:
            UnknownNameError: No such track model.
            InvalidValueError: The vehicle cannot be built so.
        """

    @abstractmethod
    def set_gravity(self, gravity: Sequence[float]) -> None:
        """Set the gravity in the world (3,) [m/s^2]."""

    @abstractmethod
    def advance(self, steps: int, damping_rate: float = 0.0) -> None:
        """Take a number of steps with all vehicles.

        Args:
            steps: >= 0.
            damping_rate: Rate at which all velocities decay besides, for dynamic relaxation [1/s]; time
                stands still unless it is 0.

        Raises:
            DivergedError: A vehicle left what is physically possible.
        """

    @abstractmethod
    def save(self) -> Any:
        """Save everything that changes, commands included; held until `release`."""

    @abstractmethod
    def restore(self, state: Any) -> None:
        """Go back to a saved state, to the bit.

        Raises:
            InvalidValueError: Vehicles or other bodies came or went since.
        """

    @abstractmethod
    def release(self, state: Any) -> None:
        """Release the resources of a saved state."""

    def _check_same_world(
        self, vehicles: tuple[int, int], then: Sequence[Terrain], now: Sequence[Terrain]
    ) -> None:
        """Refuse a saved state of a world that had other vehicles or terrain.

        Args:
            vehicles: Numbers of vehicles then and now.
            then: Terrain of the saved state.
            now: Terrain that there is.

        Raises:
            InvalidValueError: Vehicles or terrain came or went since.
        """
        for what, before, count in (("vehicles", *vehicles), ("terrains", len(then), len(now))):
            if before != count:
                expected = f"of the {before} {what} that the snapshot has"
                raise InvalidValueError("world", expected, Phrase(f"{count}"))
        if any(one is not other for one, other in zip(then, now, strict=True)):
            raise InvalidValueError("world", "of the terrain that the snapshot has", Phrase("another"))

    def close(self) -> None:
        """Take no more steps and commands, and free what the engine holds; may be called again.

        What vehicles did last can still be read.
        """
        self.lifetime.end()
