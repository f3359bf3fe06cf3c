"""Worlds that MuJoCo runs: terrain, vehicles, their steps and saved states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from segtrack.description import VehicleDescription
from segtrack.engine import Engine, NearVehicles, check_drives, find_track_model
from segtrack.errors import InvalidValueError, Phrase, SegtrackError
from segtrack.geometry import GRAVITY
from segtrack.ground import pack_ground
from segtrack.kernels import Vector, exponential
from segtrack.mujoco.callbacks import put_into, without_callback
from segtrack.mujoco.spec import add_bodies
from segtrack.mujoco.terrain_builder import add_terrain
from segtrack.mujoco.vehicle import MujocoVehicle, SavedMujocoVehicle
from segtrack.native import CHUNK, preset_step
from segtrack.terrain import Terrain

_STATE = mujoco.mjtState.mjSTATE_INTEGRATION


@dataclass(frozen=True)
class MujocoState:
    """Everything that changes in a world.

    Attributes:
        steps: Taken until then.
        gravity: [m/s^2]
        numbers: MuJoCo's own state, `mjSTATE_INTEGRATION`.
        vehicles: State of each vehicle.
        terrains: Terrains that there were.
    """

    steps: int
    gravity: Vector
    numbers: NDArray[np.float64]
    vehicles: tuple[SavedMujocoVehicle, ...]
    terrains: tuple[Terrain, ...]


class MujocoEngine(Engine):
    """A world whose vehicles MuJoCo moves.

    Attributes:
        preset: Name of the time step.
        time_step: [s]
        model: MuJoCo's model, compiled anew when something is added.
        data: MuJoCo's data, likewise.
    """

    name = "mujoco"

    def __init__(
        self, preset: str | None = None, time_step: float | None = None, gravity: float = GRAVITY
    ) -> None:
        """Open an empty world.

        Args:
            preset: Name of a preset of the native engine: `exact` (1 ms, the default) or `fast` (4 ms).
            time_step: Instead of the preset's [s].
            gravity: Downwards [m/s^2].

        Raises:
            UnknownNameError: No such preset.
            InvalidValueError: A time step that is not positive and finite, or too long.
        """
        super().__init__()
        self.preset, self.time_step = preset_step(preset, time_step)
        self._gravity: Vector = (0.0, 0.0, -gravity)
        self._terrains: tuple[Terrain, ...] = ()
        self._vehicles: list[MujocoVehicle] = []
        self._near = NearVehicles("touch with their hulls alone: belts have no contact with other vehicles")
        self._steps = self._next_look = 0
        self._compile((), ())

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
        self._gravity = (x, y, z)
        self.model.opt.gravity[:] = self._gravity

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
        self._compile(terrains, [vehicle.description for vehicle in self._vehicles])
        self._terrains = terrains
        for vehicle in self._vehicles:
            vehicle.set_ground(ground)

    def _compile(self, terrains: Sequence[Terrain], descriptions: Sequence[VehicleDescription]) -> None:
        """Compile a model of terrain and vehicles, in which those that there are go on.

        Raises:
            InvalidValueError: MuJoCo cannot compile it; the model is the one before.
        """
        spec = mujoco.MjSpec()
        spec.option.timestep, spec.option.gravity = self.time_step, self._gravity
        # What is no longer finite is an error, and not begun anew.
        spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
        for i, terrain in enumerate(terrains):
            add_terrain(spec, terrain, f"terrain_{i}")
        for i, description in enumerate(descriptions):
            add_bodies(spec, description, _prefix(i), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
        try:
            with without_callback():
                model = spec.compile()
        except ValueError as error:
            reason = Phrase(" ".join(str(error).split()))
            raise InvalidValueError("world", "one that MuJoCo can compile", reason) from None
        self.model: Any = model
        self.data: Any = mujoco.MjData(model)
        for vehicle in self._vehicles:
            vehicle.move_to(self.model, self.data)

    def add_vehicle(
        self,
        description: VehicleDescription,
        track_model: str,
        position: Sequence[float],
        orientation: Sequence[float],
        flippers: Mapping[str, float],
    ) -> MujocoVehicle:
        """Build a vehicle, see `Engine.add_vehicle`."""
        self.lifetime.require_open("add a vehicle")
        check_drives(description, self.time_step)
        builder = find_track_model(track_model, "mujoco").builder("mujoco")
        before = [each.description for each in self._vehicles]
        self._compile(self._terrains, [*before, description])
        try:
            vehicle: MujocoVehicle = builder(
                description, track_model, self.model, self.data, _prefix(len(before))
            )
            ground = pack_ground(self._terrains)
            vehicle.check_ground(ground)
        except SegtrackError:
            self._compile(self._terrains, before)
            raise
        vehicle.set_ground(ground)
        for joint, name in enumerate(description.flippers):
            vehicle.place_joint(joint, flippers.get(name, 0.0))
        for joint, design in enumerate(vehicle.joint_designs, start=len(description.flippers)):
            vehicle.place_joint(joint, design.initial_position)
        vehicle.place(position, orientation)
        vehicle.lifetime = self.lifetime
        self._vehicles.append(vehicle)
        return vehicle

    def advance(self, steps: int, damping_rate: float = 0.0) -> None:
        """Take a number of steps with all vehicles, see `Engine.advance`."""
        self.lifetime.require_open("step the world")
        model, data, vehicles = self.model, self.data, self._vehicles
        decay = exponential(-damping_rate * self.time_step) if damping_rate != 0.0 else 1.0
        chunk = max(1, round(CHUNK / self.time_step))
        with without_callback():
            for _ in range(steps):
                if decay != 1.0:
                    for vehicle in vehicles:
                        vehicle.catch_up()
                    data.qvel *= decay
                mujoco.mj_step1(model, data)
                put_into(model, data, vehicles)
                mujoco.mj_step2(model, data)
                self._steps += 1 if decay == 1.0 else 0
                if len(vehicles) > 1 and self._steps >= self._next_look:
                    self._next_look = self._steps + chunk
                    self._near.look(vehicles, self.time)

    def save(self) -> MujocoState:
        """Return everything that changes, commands included."""
        self.lifetime.require_open("save the state")
        vehicles = tuple(vehicle.save() for vehicle in self._vehicles)
        numbers = np.zeros(mujoco.mj_stateSize(self.model, _STATE))
        mujoco.mj_getState(self.model, self.data, numbers, _STATE)
        return MujocoState(self._steps, self._gravity, numbers, vehicles, self._terrains)

    def restore(self, state: MujocoState) -> None:
        """Go back to a saved state, to the bit."""
        self.lifetime.require_open("restore a state")
        counts = len(state.vehicles), len(self._vehicles)
        self._check_same_world(counts, state.terrains, self._terrains)
        self._steps = self._next_look = state.steps
        self.set_gravity(state.gravity)
        self._near.forget()
        mujoco.mj_setState(self.model, self.data, state.numbers, _STATE)
        for vehicle, saved in zip(self._vehicles, state.vehicles, strict=True):
            vehicle.restore(saved)

    def release(self, state: MujocoState) -> None:
        """Release nothing: a saved state owns no resources of the engine."""
        self.lifetime.require_open("forget a state")


def _prefix(index: int) -> str:
    """Text before the names of a vehicle's bodies, which sets them apart from those of others."""
    return f"vehicle_{index}_"
