"""PyBullet as an engine: the client, its terrain and vehicles, steps and saved states."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pybullet
from pybullet_utils.bullet_client import BulletClient

from segtrack.bullet.client import PRESETS, client_id, configure, open_client
from segtrack.bullet.frames import BodyMarks, step_parts
from segtrack.bullet.loader import track_builder
from segtrack.bullet.terrain_builder import build_terrain
from segtrack.bullet.vehicle import BulletVehicle
from segtrack.description import VehicleDescription
from segtrack.engine import Engine, check_drives
from segtrack.errors import DisconnectedError, InvalidValueError, Phrase, SegtrackError
from segtrack.geometry import GRAVITY
from segtrack.terrain import Terrain

_LONGEST = "fast"
"""Preset without a vehicle; no track model's own has a longer step."""
_CHECK_INTERVAL = 0.01
"""Interval of checks for divergence [s]."""


@dataclass(frozen=True)
class BulletState:
    """Everything that changes in a client.

    Attributes:
        state_id: PyBullet's id of its own part.
        steps: Taken until then.
        gravity: [m/s^2]
        parts: Parts of PyBullet's latest step.
        vehicles: State of each vehicle that PyBullet's part lacks.
        bodies: Number of bodies.
    """

    state_id: int
    steps: int
    gravity: tuple[float, float, float]
    parts: int
    vehicles: tuple[dict[str, Any], ...]
    bodies: int


class BulletEngine(Engine):
    """A PyBullet client and what segtrack has put into it.

    Attributes:
        client: For everything that segtrack does not do.
        preset: Name of the solver settings. If none are given, those that suit the track models of its
            vehicles: the shortest time step of theirs.
        time_step: [s]
    """

    name = "pybullet"

    def __init__(
        self,
        preset: str | None = None,
        time_step: float | None = None,
        gravity: float = GRAVITY,
        *,
        gui: bool = False,
        client: Any = None,
    ) -> None:
        """Open a client, or join one.

        Args:
            preset: Solver settings: `exact` (1 ms), `fast` (5 ms) or `coarse` (10 ms). If not given, `fast`,
                and `exact` once there is a vehicle whose track model takes it.
            time_step: Instead of the preset's [s].
            gravity: Downwards [m/s^2].
            gui: Show PyBullet's window.
            client: A `BulletClient` to join, which stays open on `close`.

        Raises:
            UnknownNameError: No such preset.
            InvalidValueError: Not a client, or a time step that is not positive and finite.
            SegtrackError: There is no display for a window.
        """
        super().__init__()
        if client is not None and not isinstance(client, BulletClient):
            raise InvalidValueError("client", "a BulletClient", client)
        self._owned = client is None
        self.client: Any = open_client(gui) if client is None else client
        self._client_id = client_id(self.client, "join a client")
        self._given_step, self._preset_is_open = time_step, preset is None
        self._steps, self._earlier, self._parts, self._own_parts = 0, 0.0, 1, 1
        self._vehicles: list[BulletVehicle] = []
        try:
            self._configure(_LONGEST if preset is None else preset)
        except SegtrackError:
            self.close()
            raise
        self.set_gravity((0.0, 0.0, -gravity))
        self._step_simulation = self.client.stepSimulation
        self._terrains: list[Terrain] = []
        # By PyBullet's id: True for one of triangles.
        self._terrain_bodies: dict[int, bool] = {}
        self._terrain_marks: list[BodyMarks] = []

    def _configure(self, preset: str) -> None:
        """Take solver settings; the clock goes on."""
        for vehicle in self._vehicles:
            vehicle.keep_readings()
        time_step = configure(self.client, preset, self._given_step)
        if self._steps:
            self._steps, self._earlier = 0, self.time
        self.preset, self.time_step = preset, time_step
        self._check_every = max(1, round(_CHECK_INTERVAL / time_step))

    def close(self) -> None:
        """Take no more steps, and disconnect the client if it is the engine's own; see `Engine.close`."""
        if self.lifetime.is_open:
            for vehicle in self._vehicles:
                vehicle.keep_readings_for_good()
        super().close()
        if self._owned and pybullet.isConnected(physicsClientId=self._client_id):
            self.client.disconnect()

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self._earlier + self._steps * self.time_step

    @property
    def gravity(self) -> tuple[float, float, float]:
        """Gravity in the world [m/s^2], whoever has set it."""
        self._must_be_connected("read the gravity")
        now = self.client.getPhysicsEngineParameters()
        x, y, z = (now[f"gravityAcceleration{axis}"] for axis in "XYZ")
        return x, y, z

    def set_gravity(self, gravity: Sequence[float]) -> None:
        """Set the gravity in the world (3,) [m/s^2]."""
        self._must_be_connected("set the gravity")
        self.client.setGravity(*gravity)

    def add_terrain(self, terrain: Terrain) -> list[int]:
        """Build a terrain; returns PyBullet's ids of its bodies."""
        self._must_be_connected("add terrain")
        for vehicle in self._vehicles:  # Refused by a link chain, it is not built.
            vehicle.update_terrain([*self._terrains, terrain])
        bodies = build_terrain(self.client, terrain)
        self._terrains.append(terrain)
        self._terrain_bodies |= bodies
        self._terrain_marks.append(BodyMarks(self._client_id, list(bodies)))
        return list(bodies)

    def clear_terrain(self) -> None:
        """Remove all terrain."""
        self._must_be_connected("clear terrain")
        for marks in self._terrain_marks:
            for body in marks.present():
                self.client.removeBody(body)
        self._terrains.clear()
        self._terrain_bodies.clear()
        self._terrain_marks.clear()
        for vehicle in self._vehicles:
            vehicle.update_terrain(())

    def add_vehicle(
        self,
        description: VehicleDescription,
        track_model: str,
        position: Sequence[float],
        orientation: Sequence[float],
        flippers: Mapping[str, float],
    ) -> BulletVehicle:
        """Build a vehicle, see `Engine.add_vehicle`."""
        self._must_be_connected("add a vehicle")
        preset = track_builder(track_model).preset
        finer = self._preset_is_open and PRESETS[preset].time_step < PRESETS[self.preset].time_step
        check_drives(description, PRESETS[preset].time_step if finer else self.time_step)
        vehicle = BulletVehicle(self._client_id, description, track_model, position, orientation, flippers)
        vehicle.update_terrain(self._terrains)
        vehicle.join_world(self.lifetime)
        self._vehicles.append(vehicle)
        if finer:
            self._configure(preset)
        return vehicle

    def advance(self, steps: int, damping_rate: float = 0.0) -> None:
        """Take a number of steps with all vehicles, see `Engine.advance`.

        Raises:
            DivergedError: A vehicle is no longer finite, or absurdly fast; found within 10 ms.
            DisconnectedError: The world is closed, or the client gone.
        """
        self.lifetime.require_open("step the world")
        remaining = math.exp(-damping_rate * self.time_step)
        for _ in range(steps):
            self._take_step(damping_rate)
            if damping_rate == 0.0:
                self._steps += 1
                if self._steps % self._check_every == 0:
                    self._check_speeds()
                    for vehicle in self._vehicles:
                        vehicle.warn_of_loose_bodies()
            else:
                self._check_speeds()
                for vehicle in self._vehicles:
                    vehicle.damp(remaining)

    def _take_step(self, damping_rate: float) -> None:
        """Take one step, in as many parts as no vehicle passes a surface of triangles in."""
        longest = min(
            (v.approach_surfaces(self.time_step, self._terrain_bodies) for v in self._vehicles),
            default=math.inf,
        )
        if self._parts > 1:
            for vehicle in self._vehicles:
                vehicle.keep_readings()
        self._divide(1)
        for vehicle in self._vehicles:
            vehicle.prepare_step(self.time_step, damping_rate)
        # PyBullet counts parts by dividing durations, which a power of two does not round.
        self._divide(2 ** math.ceil(math.log2(max(1.0, self.time_step / longest))))
        try:
            self._step_simulation()
        except pybullet.error:
            raise DisconnectedError("step the world") from None

    def _divide(self, parts: int) -> None:
        """Let PyBullet take its steps in so many times the parts that its user has set.

        A user's forces act in all of them. Steps stay divided until the next one, since by that number forces
        are read (`frames.step_parts`).
        """
        if parts != self._parts:
            if self._parts == 1:
                self._own_parts = step_parts(self._client_id)
            self.client.setPhysicsEngineParameter(numSubSteps=parts * self._own_parts)
            self._parts = parts

    def save(self) -> BulletState:
        """Save everything that changes, commands included; held until `release`.

        PyBullet's saved state lacks the order of contacts between the parts of two links. So that
        what follows now is equal to what follows a `restore`, the state is restored at once.
        """
        self._must_be_connected("save the state")
        vehicles = tuple(vehicle.snapshot() for vehicle in self._vehicles)
        bodies = self.client.getNumBodies()
        state = BulletState(self.client.saveState(), self._steps, self.gravity, self._parts, vehicles, bodies)
        self.restore(state)
        return state

    def restore(self, state: BulletState) -> None:
        """Go back to a saved state, to the bit."""
        self._must_be_connected("restore a state")
        if state.bodies != self.client.getNumBodies() or len(state.vehicles) != len(self._vehicles):
            got = Phrase(f"{self.client.getNumBodies()}")
            raise InvalidValueError("world", f"of the {state.bodies} bodies that the snapshot has", got)
        for vehicle in self._vehicles:
            vehicle.clear_contact_cache()
        self._divide(state.parts)
        self.client.restoreState(state.state_id)
        self._steps = state.steps
        self.set_gravity(state.gravity)
        for vehicle, values in zip(self._vehicles, state.vehicles, strict=True):
            vehicle.restore(values)

    def release(self, state: BulletState) -> None:
        """Release the resources of a saved state."""
        self._must_be_connected("forget a state")
        self.client.removeState(state.state_id)

    def _check_speeds(self) -> None:
        for vehicle in self._vehicles:
            vehicle.check_speed(self.time)

    def _must_be_connected(self, what: str) -> None:
        self.lifetime.require_open(what)
        client_id(self.client, what)
