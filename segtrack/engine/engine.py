"""Protocol of one world of one engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from segtrack.description import VehicleDescription
from segtrack.engine.models import VehicleModel
from segtrack.engine.track_models import EngineName
from segtrack.errors import DisconnectedError
from segtrack.terrain import Terrain


class Engine(ABC):
    """Protocol of one world of one engine.

    Attributes:
        name: Name by which users choose it.
        preset: Name of its solver settings.
        time_step: [s]
    """

    name: ClassVar[EngineName]
    preset: str
    time_step: float
    _is_open: bool = True

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

    def close(self) -> None:
        """Take no more steps, and free what the engine holds; may be called again."""
        self._is_open = False

    def require_open(self, what: str) -> None:
        """Refuse an action, in words, in a world that is closed.

        Raises:
            DisconnectedError: It is.
        """
        if not self._is_open:
            raise DisconnectedError(what, "the world is closed")
