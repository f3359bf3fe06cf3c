"""Tracks on the links of a user's compiled model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from segtrack.description import VehicleDescription, load_vehicle, warn_of_low_shapes
from segtrack.engine import check_drives, find_track_model
from segtrack.errors import InvalidValueError, NotReadyError, Phrase, truth
from segtrack.ground import pack_ground
from segtrack.mujoco.binding import check_options
from segtrack.mujoco.callbacks import CALLBACK, put_into
from segtrack.mujoco.loose_geoms import LooseGeomWatch
from segtrack.mujoco.moving_bodies import check_islands
from segtrack.mujoco.vehicle import MujocoVehicle, SavedMujocoVehicle
from segtrack.robot import Robot
from segtrack.terrain import Terrain, from_mujoco, terrains_of


class AttachedVehicle(MujocoVehicle):
    """A vehicle in a program that takes MuJoCo's steps itself."""

    def prepare(self) -> None:
        """Put the belts into MuJoCo's equations, see `MujocoVehicle.prepare`.

        Raises:
            InvalidValueError: Options of the model have changed to such with which belts would be wrong.
        """
        check_options(self._options)
        if self.touches:
            check_islands(self._options)
        super().prepare()
        self._watch.look(self.data, self._view.position, self._belt_points)

    @cached_property
    def _watch(self) -> LooseGeomWatch:
        """Watch for bodies that its belts pass through."""
        carried, reach = self.binding.with_carried(self.model), float(self.arrays.reaches[0])
        carried |= set(self.touches)
        return LooseGeomWatch(self.model, carried, self.description.name, reach)

    def _belt_points(self) -> list[NDArray[np.float64]]:
        """Points of each belt in the world, the links in place (n, 3) [m]."""
        work, travels = self._work, self._view.travels.tolist()
        return [
            belt.points(travels[t]) @ work.belt_rotations[t].T + work.belt_origins[t]
            for t, belt in enumerate(self.belts)
        ]

    def before_step(self) -> None:
        """Put the belts into MuJoCo's equations, between `mj_step1` and `mj_step2`.

        Raises:
            NotReadyError: The control callback does so, or it was done for this step already.
        """
        what = f"prepare {self.description.name} for a step"
        if self.repeats:
            raise NotReadyError(what, "MuJoCo's control callback does; attach it with callback=False")
        if self.data.time == self._prepared:
            raise NotReadyError(what, "no step has been taken since the last one was prepared")
        put_into(self.model, self.data, [self])

    def update_terrain(self, terrains: Sequence[Terrain]) -> None:
        """Let belts stand on these terrains.

        Raises:
            InvalidValueError: Soil under belts whose faces stand still.
        """
        ground = pack_ground(terrains)
        self.check_ground(ground)
        self.set_ground(ground)

    def snapshot(self) -> SavedMujocoVehicle:  # type: ignore[override]
        """Return the state that MuJoCo's own lacks; see `Robot.save`."""
        return self.save()


def attach(
    model: Any,
    data: Any,
    vehicle: str | Path | VehicleDescription,
    *,
    prefix: str = "",
    track_model: str = "compliant",
    terrain: Terrain | Sequence[Terrain] | None = None,
    callback: bool = True,
) -> Robot[MujocoVehicle]:
    """Put tracks on the links of a compiled MuJoCo model, whose program goes on as before.

    The model has body and links of the vehicle by the names that the vehicle file gives them, see `add`, or
    from any other file: in the frames and with the masses of the vehicle file, belts included. MuJoCo's
    control callback, after one that is installed already, puts the belts into MuJoCo's equations in each
    step; `detach` ends it. Without the callback the program calls `mj_step1(model, data)`,
    `robot.before_step()` and `mj_step2(model, data)`.

    Between steps `data.M` has what contacts add to the masses, so that energies and `mj_inverse` are not
    those of the links alone, and `cfrc_int` lacks the belts' forces. `robot.save()` and
    `robot.restore(...)` are called beside `mj_getState` and `mj_setState`.

    Args:
        model: The user's `mujoco.MjModel`.
        data: Its `mujoco.MjData`.
        vehicle: Bundled name, path of a vehicle file, or a description.
        prefix: Text before the names of its bodies.
        track_model: `compliant` or `surface`.
        terrain: Ground of the belts; if not given, read from the static geoms (`terrain.from_mujoco`). Of
            bodies that move belts touch those that `add` was told of (`touches`); the logger `segtrack` warns
            of each other one that comes near them.
        callback: Let MuJoCo call for the belts.

    Returns:
        The robot; its joints are held where they are.

    Raises:
        UnknownNameError: No such vehicle or track model, or no body of a link's name in the model.
        VehicleFileError: The vehicle file has mistakes.
        InvalidValueError: Not a model and its data; a model that contradicts the vehicle file, or with
            options with which belts would be wrong; or no geom to stand on.
    """
    if not isinstance(model, mujoco.MjModel):
        raise InvalidValueError("model", "a compiled mujoco.MjModel", model)
    if not isinstance(data, mujoco.MjData):
        raise InvalidValueError("data", "a mujoco.MjData", data)
    truth("callback", callback)
    find_track_model(track_model, "mujoco")
    description = vehicle if isinstance(vehicle, VehicleDescription) else load_vehicle(vehicle)
    check_drives(description, float(model.opt.timestep))
    warn_of_low_shapes(description)
    own = AttachedVehicle(description, track_model, model, data, prefix, repeats=callback)
    grounds = terrains_of(terrain)
    if terrain is None:
        mujoco.mj_kinematics(model, data)
        grounds = tuple(from_mujoco(model, data, exclude=own.binding.with_carried(model)))
        if not grounds and not own.touches:
            expected = "given, or in the MuJoCo model as static geoms"
            raise InvalidValueError(f"terrain for track model {track_model!r}", expected, Phrase("none"))
    own.update_terrain(grounds)
    if callback:
        CALLBACK.add(own)
    return Robot(own, track_model)


def detach(robot: Robot[MujocoVehicle]) -> None:
    """Take the tracks off a model again, which goes on without them.

    Raises:
        InvalidValueError: Not a robot that `attach` returned.
    """
    if not isinstance(robot, Robot) or not isinstance(robot.model, AttachedVehicle):
        raise InvalidValueError("robot", "one that segtrack.mujoco.attach returned", robot)
    CALLBACK.remove(robot.model)
    robot.model.lifetime.end()
