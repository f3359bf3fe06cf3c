"""The native engine: its clock, its terrain, its vehicles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from segtrack.description import VehicleDescription
from segtrack.engine import Engine, NearVehicles, check_drives, find_track_model
from segtrack.errors import InvalidValueError, finite, known_name
from segtrack.geometry import GRAVITY
from segtrack.ground import Ground, pack_ground
from segtrack.kernels import Vector, exponential
from segtrack.native.vehicle import NativeVehicle
from segtrack.terrain import Terrain

PRESETS = {"exact": 0.001, "fast": 0.004}
"""Time step of each preset [s]; the first is the default."""
MAX_TIME_STEP = 0.01
"""Longest time step, for what moves within one: contacts are found once a step [s]."""
CHUNK = 0.1
"""Simulated time of one call of a kernel, after which Ctrl-C is heeded [s]."""


def preset_step(preset: str | None, time_step: float | None) -> tuple[str, float]:
    """Return the name of a preset, the default if not given, and its time step or the one given [s].

    Raises:
        UnknownNameError: No such preset.
        InvalidValueError: A time step that is not positive and finite, or longer than `MAX_TIME_STEP`.
    """
    name = (
        next(iter(PRESETS)) if preset is None else known_name("preset of the engine native", preset, PRESETS)
    )
    step = PRESETS[name] if time_step is None else finite("time_step [s]", time_step)
    if step <= 0:
        raise InvalidValueError("time_step [s]", "positive", time_step)
    if step > MAX_TIME_STEP:
        raise InvalidValueError("time_step [s]", f"at most {MAX_TIME_STEP:g}", time_step)
    return name, step


@dataclass(frozen=True)
class NativeState:
    """Everything that changes in a native world.

    Attributes:
        steps: Taken until then.
        gravity: [m/s^2]
        vehicles: State of each vehicle.
        terrains: Terrains that there were.
    """

    steps: int
    gravity: Vector
    vehicles: tuple[Any, ...]
    terrains: tuple[Terrain, ...]


class NativeEngine(Engine):
    """A world without any other engine.

    Attributes:
        preset: Name of the time step.
        time_step: [s]
    """

    name = "native"

    def __init__(
        self, preset: str | None = None, time_step: float | None = None, gravity: float = GRAVITY
    ) -> None:
        """Open an empty world.

        Args:
            preset: `exact` (1 ms, the default) or `fast` (4 ms).
            time_step: Instead of the preset's [s].
            gravity: Downwards [m/s^2].

        Raises:
            UnknownNameError: No such preset.
            InvalidValueError: A time step that is not positive and finite, or longer than `MAX_TIME_STEP`.
        """
        super().__init__()
        self.preset, self.time_step = preset_step(preset, time_step)
        self.set_gravity((0.0, 0.0, -gravity))
        self._terrains: tuple[Terrain, ...] = ()
        self._ground: Ground = pack_ground(())
        self._vehicles: list[NativeVehicle] = []
        self._near = NearVehicles(
            "pass through each other: the native engine has no contact between vehicles"
        )
        self._steps = self._next_look = 0

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self._steps * self.time_step

    @property
    def gravity(self) -> Vector:
        """Gravity in the world [m/s^2]."""
        return self._gravity

    def set_gravity(self, gravity: Sequence[float]) -> None:
        """Set the gravity in the world (3,) [m/s^2]."""
        self.lifetime.require_open("set the gravity")
        x, y, z = (float(component) for component in gravity)
        self._gravity: Vector = (x, y, z)

    def add_terrain(self, terrain: Terrain) -> None:
        """Add a terrain.

        Raises:
            InvalidValueError: A mesh that does not consist of convex pieces, or soil under belts of
                the track model `surface`.
        """
        self.lifetime.require_open("add terrain")
        self._lay_ground((*self._terrains, terrain))

    def clear_terrain(self) -> None:
        """Remove all terrain."""
        self.lifetime.require_open("clear terrain")
        self._lay_ground(())

    def _lay_ground(self, terrains: tuple[Terrain, ...]) -> None:
        ground = pack_ground(terrains)
        for vehicle in self._vehicles:
            vehicle.check_ground(ground)
        self._ground = ground
        self._terrains = terrains
        for vehicle in self._vehicles:
            vehicle.set_ground(ground)

    def add_vehicle(
        self,
        description: VehicleDescription,
        track_model: str,
        position: Sequence[float],
        orientation: Sequence[float],
        flippers: Mapping[str, float],
    ) -> NativeVehicle:
        """Build a vehicle, see `Engine.add_vehicle`."""
        self.lifetime.require_open("add a vehicle")
        check_drives(description, self.time_step)
        builder = find_track_model(track_model, "native").builder("native")
        vehicle: NativeVehicle = builder(description, track_model, self.time_step, flippers)
        vehicle.check_ground(self._ground)
        vehicle.set_ground(self._ground)
        vehicle.place(position, orientation)
        vehicle.lifetime = self.lifetime
        self._vehicles.append(vehicle)
        return vehicle

    def advance(self, steps: int, damping_rate: float = 0.0) -> None:
        """Take a number of steps with all vehicles, see `Engine.advance`."""
        self.lifetime.require_open("step the world")
        decay = exponential(-damping_rate * self.time_step) if damping_rate != 0.0 else 1.0
        chunk = max(1, round(CHUNK / self.time_step))
        while steps > 0:
            count, now = min(steps, chunk), self._steps * self.time_step
            interrupt: KeyboardInterrupt | None = None
            # Ctrl-C waits until all vehicles have taken the steps.
            for vehicle in self._vehicles:
                vehicle.done[0] = 0
            waiting = list(self._vehicles)
            while waiting:
                try:
                    waiting[0].advance(self._gravity, self.time_step, count, decay, now)
                    waiting.pop(0)
                except KeyboardInterrupt as error:
                    interrupt = error
            if interrupt is not None:
                raise interrupt
            self._steps += count if damping_rate == 0.0 else 0
            steps -= count
            if len(self._vehicles) > 1 and self._steps >= self._next_look:
                self._next_look = self._steps + chunk
                self._near.look(self._vehicles, self.time)

    def save(self) -> NativeState:
        """Return everything that changes, commands included."""
        self.lifetime.require_open("save the state")
        vehicles = tuple(vehicle.save() for vehicle in self._vehicles)
        return NativeState(self._steps, self._gravity, vehicles, self._terrains)

    def restore(self, state: NativeState) -> None:
        """Go back to a saved state, to the bit."""
        self.lifetime.require_open("restore a state")
        counts = len(state.vehicles), len(self._vehicles)
        self._check_same_world(counts, state.terrains, self._terrains)
        self._steps = self._next_look = state.steps
        self._gravity = state.gravity
        self._near.forget()
        for vehicle, saved in zip(self._vehicles, state.vehicles, strict=True):
            vehicle.restore(saved)

    def release(self, state: NativeState) -> None:
        """Release nothing: a saved state owns no resources of the engine."""
        self.lifetime.require_open("forget a state")
