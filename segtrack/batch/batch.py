"""Batch of N vehicles of one file, each on its own ground, stepped together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segtrack.batch.arguments import (
    POSITIVE,
    array_of,
    broadcast_indices,
    broadcast_numbers,
    chosen_vehicles,
    dimensions,
    number_of_threads,
    number_of_vehicles,
    points_of_each,
)
from segtrack.batch.bodies import check_bodies, weigh_bodies
from segtrack.batch.devices import fleet_class
from segtrack.batch.fleet import Fleet
from segtrack.batch.fleet_arrays import RUNNING, STATUSES, SavedBatch, check_snapshot
from segtrack.batch.ground import GroundLibrary
from segtrack.batch.placement import Outlines, clearing_heights, places_of, refuse_places, start_positions
from segtrack.batch.readings import BatchContacts, BatchState, BatchTracks, JointStates, actuators_of
from segtrack.batch.threads import Threads
from segtrack.description import SteeringByLoads, TrackOffsets, VehicleDescription, load_vehicle
from segtrack.engine import ActuatorState, Lifetime, check_drives
from segtrack.errors import (
    InvalidValueError,
    Phrase,
    UnknownNameError,
    downwards,
    whole,
    whole_steps,
)
from segtrack.geometry import GRAVITY, quaternion_of
from segtrack.native import CHUNK, BeltKind, VehicleState, preset_step, what_diverged_natively
from segtrack.robot import Commands
from segtrack.terrain import Terrain, terrains_of
from segtrack.world import attitude_rotation, heading_quaternion

TRACK_MODELS = ("compliant", "surface")
"""Track models that a batch runs."""
_TOGETHER = 64
"""Vehicles for which another thread is worth its while."""


def _orientation(yaw: float, roll: float, pitch: float) -> tuple[float, float, float, float]:
    """Quaternion (x, y, z, w) of a heading, or of an attitude [rad]."""
    if not (roll or pitch):
        return heading_quaternion(yaw)
    return quaternion_of(attitude_rotation((roll, pitch, yaw)))


class Batch:
    """N vehicles of one file in segtrack's native engine, each on its own ground; they never meet.

    A vehicle's motion is equal to the bit whatever the others do, however many there are, and whatever the
    number of threads. One that diverges, or is near more of its ground than can be listed, stops, which
    `status` says, and the others go on.

    Attributes:
        vehicle: Description of the vehicles, or of the first variant.
        track_model: Track model of the belts.
        track_names: Full names of the T tracks, in the order of arrays (N, T).
        flipper_names: Names of the flippers, in the order of arrays (N, F).
        joint_names: Names of the moving joints of the body's URDF, in the order of arrays (N, J).
    """

    __slots__ = (
        "_commands",
        "_fleet",
        "_gravity",
        "_grounds",
        "_lifetime",
        "_made_of",
        "_offsets",
        "_outlines",
        "_preset",
        "_steering",
        "_threads",
        "_time_step",
        "flipper_names",
        "joint_names",
        "track_model",
        "track_names",
        "vehicle",
    )

    def __init__(
        self,
        vehicle: str | Path | VehicleDescription | Sequence[VehicleDescription],
        count: int | None = None,
        *,
        terrain: Terrain | Sequence[Terrain] | None = None,
        terrain_index: ArrayLike | None = None,
        variant: ArrayLike | None = None,
        track_model: str = "compliant",
        preset: str | None = None,
        time_step: float | None = None,
        gravity: float = GRAVITY,
        threads: int | None = None,
        device: str = "cpu",
    ) -> None:
        """Place N vehicles upright just above their ground at the world's origin, joints at their start.

        Args:
            vehicle: Bundled name, path of a vehicle file, description, or descriptions of variants with
                equal flippers, joints and tracks.
            count: Number of vehicles; by default the number of terrains, of their indices or of variants.
            terrain: Terrain of all vehicles, one for each of them, or with `terrain_index` a library to
                choose from; flat ground by default.
            terrain_index: Index of each vehicle's terrain in `terrain` (N,).
            variant: Index of each vehicle's variant in `vehicle` (N,).
            track_model: `compliant` or `surface`.
            preset: `exact` (1 ms, the default) or `fast` (4 ms).
            time_step: Duration of a step, in place of the preset's [s].
            gravity: Downward acceleration, at least 0 [m/s^2].
            threads: Number of threads that step vehicles on the CPU; by default the number of cores.
            device: `cpu`, or `cuda` for a GPU, which needs the extra `gpu`.

        Raises:
            UnknownNameError: No such vehicle, track model, preset or device.
            MissingPackageError: A GPU without its extra.
            NotReadyError: There is no GPU.
            VehicleFileError: The vehicle file has mistakes.
            InvalidValueError: Numbers of vehicles that contradict each other, an index out of range, variants
                of other links, a ground that belts cannot be on, or a number that cannot be.
        """
        if track_model not in TRACK_MODELS:
            raise UnknownNameError("track model of a batch", track_model, TRACK_MODELS)
        fleet = fleet_class(device)
        self.track_model = track_model
        self._preset, self._time_step = preset_step(preset, time_step)
        variants = tuple(vehicle) if isinstance(vehicle, list | tuple) and vehicle else (vehicle,)
        described = [v if isinstance(v, VehicleDescription) else load_vehicle(v) for v in variants]
        for description in described:
            check_drives(description, self.time_step)
        kinds = tuple(BeltKind.of(each, track_model) for each in described)
        given = terrains_of(terrain)
        each = len(given) if terrain_index is None and not isinstance(terrain, Terrain) and given else None
        size = number_of_vehicles(count, each, terrain_index, variant)
        grounds = GroundLibrary(given, [belt for kind in kinds for belt in kind.belts], size)
        if len(kinds) > 1 and variant is None:
            raise InvalidValueError("variant", f"an index a vehicle of {len(kinds)} variants", None)
        chosen = (
            np.zeros(size, np.intp)
            if variant is None
            else broadcast_indices("variant", variant, np.arange(size), len(kinds))
        )
        self._threads = Threads(min(number_of_threads(threads), size) if device == "cpu" else 1)
        self._grounds, self._fleet = grounds, fleet(kinds, chosen, grounds.packed)
        self._gravity = np.full(size, downwards(gravity))
        self._name_parts(self._fleet)
        self._made_of = size, track_model, self.time_step, *described, *(given or self.terrains[:1])
        self._outlines = Outlines(kinds)
        index = np.arange(size) if each is not None else (0 if terrain_index is None else terrain_index)
        self.reset(terrain_index=index)

    def _name_parts(self, fleet: Fleet) -> None:
        """Set the names of tracks, flippers and joints, and the helpers for their commands."""
        self._lifetime = Lifetime("it is closed")
        self.vehicle: VehicleDescription = fleet.kinds[0].description
        joints = self.vehicle.joint_tree.joints
        self._commands = Commands(
            self.vehicle, joints, fleet.limits, partial(broadcast_numbers, vehicles=np.arange(len(fleet)))
        )
        self.track_names = tuple(track.name for track in self.vehicle.mounted_tracks())
        self.flipper_names = tuple(self.vehicle.flippers)
        self.joint_names = tuple(joint.name for joint in joints)
        kinds = [kind.description for kind in fleet.kinds]
        offsets = [(v.side_offset("left"), v.side_offset("right")) for v in kinds]
        self._offsets = np.nan_to_num(np.array(offsets, dtype=float))  # Without tracks on a side.
        self._steering = [SteeringByLoads(kind) for kind in kinds]

    def __enter__(self) -> Batch:
        """Use as a context manager; leaving it ends its threads."""
        self._lifetime.require_open("enter the batch")
        return self

    def __exit__(self, *_: object) -> None:
        """Close the batch."""
        self.close()

    def close(self) -> None:
        """End the threads; may be called again. Readings of the last state stay possible."""
        self._lifetime.end()
        self._threads.close()

    @property
    def time_step(self) -> float:
        """Duration of a step [s]."""
        return self._time_step

    @property
    def preset(self) -> str:
        """Name of the preset that sets the time step."""
        return self._preset

    @property
    def time(self) -> NDArray[np.float64]:
        """Simulated time of each vehicle since its last reset (N,) [s]."""
        return np.asarray(self._fleet.steps * self.time_step)

    @property
    def terrains(self) -> tuple[Terrain, ...]:
        """Terrains by index: the library, then each vehicle's own."""
        return tuple(self._grounds.terrains)

    @property
    def state(self) -> BatchState:
        """Present poses and velocities of the bodies; those of a diverged vehicle may not be finite."""
        return self.read_state()

    def read_state(self, vehicles: ArrayLike | None = None) -> BatchState:
        """Return poses and velocities of the selected vehicles' bodies, a row for each.

        Args:
            vehicles: Mask (N,) or indices (n,) of the vehicles to read; all if not given.

        Raises:
            InvalidValueError: No such vehicle.
        """
        return BatchState.of(self._fleet.state, self._fleet.own.centers[:, 0], self._chosen(vehicles))

    @property
    def tracks(self) -> BatchTracks:
        """Present states of the belts."""
        return BatchTracks.of(self._fleet)

    def read_actuators(self, vehicles: ArrayLike | None = None) -> ActuatorState:
        """Return the states of belts (n, T), flippers (n, F) and joints (n, J) in one reading.

        Args:
            vehicles: Mask (N,) or indices (n,) of the vehicles to read; all if not given.

        Raises:
            InvalidValueError: No such vehicle.
        """
        return actuators_of(self._fleet.state, len(self.flipper_names), self._chosen(vehicles))

    @property
    def flippers(self) -> JointStates:
        """Present states of the flippers."""
        return JointStates.of(self._fleet.state, slice(0, len(self.flipper_names)))

    @property
    def joints(self) -> JointStates:
        """Present states of the moving joints of the body's URDF."""
        return JointStates.of(self._fleet.state, slice(len(self.flipper_names), None))

    def read_contacts(self, vehicles: ArrayLike | None = None) -> BatchContacts:
        """Find the present contacts with the ground; the state does not change.

        Args:
            vehicles: Mask (N,) or indices (n,) of the vehicles to read; all if not given.

        Raises:
            InvalidValueError: No such vehicle.
        """
        return BatchContacts.of(self._fleet, self._chosen(vehicles), self.time_step)

    def run(self, seconds: float) -> None:
        """Advance all running vehicles by the number of whole steps nearest to a duration [s].

        Raises:
            InvalidValueError: Negative, not finite, or no step: 0 or more than half a time step.
            DisconnectedError: The batch is closed.
        """
        self.advance(whole_steps(seconds, self.time_step))

    def advance(self, steps: int) -> None:
        """Advance all running vehicles by a number of time steps; all take equally many, even after Ctrl-C.

        Raises:
            InvalidValueError: Not a whole number, or a negative one.
            DisconnectedError: The batch is closed.
        """
        self._lifetime.require_open("advance the batch")
        steps = whole("steps", steps, 0)
        chunk = max(1, round(CHUNK / self.time_step))
        while steps > 0:
            taken = min(steps, chunk)
            self._fleet.advance(self._gravity, self.time_step, taken, self._threads)
            steps -= taken

    def reset(
        self,
        vehicles: ArrayLike | None = None,
        *,
        x: ArrayLike = 0.0,
        y: ArrayLike = 0.0,
        yaw: ArrayLike = 0.0,
        roll: ArrayLike = 0.0,
        pitch: ArrayLike = 0.0,
        speed: ArrayLike = 0.0,
        flippers: Mapping[str, ArrayLike] | None = None,
        terrain: Sequence[Terrain] | None = None,
        terrain_index: ArrayLike | None = None,
        variant: ArrayLike | None = None,
    ) -> None:
        """Place vehicles just above their ground without commands, at time 0; upright, at rest by default.

        Friction, strength of drives and masses stay as they are, unless the variant changes.

        Args:
            vehicles: Mask (N,) or indices (n,) of the vehicles to reset; all if not given.
            x: World x of the body frames () or (n,) [m].
            y: World y of the body frames () or (n,) [m].
            yaw: Heading about the world's z axis () or (n,) [rad].
            roll: Roll about the bodies' x axes () or (n,) [rad].
            pitch: Elevation of the bodies' x axes, nose up positive () or (n,) [rad].
            speed: Forward speed () or (n,) [m/s], which belts run at and keep, see `Robot.set_velocity`.
            flippers: Flipper angles by name () or (n,) [rad], clipped to their limits; 0 if not given.
            terrain: New terrain of its own for each vehicle (n,), in place of any earlier one.
            terrain_index: Index of the terrain in the library, () or (n,); the present one
                if neither is given.
            variant: Index of the variant, () or (n,); the present one if not given.

        Raises:
            UnknownNameError: There is no such flipper.
            InvalidValueError: Another shape, an index out of range, a number that is not finite, or a place
                without ground.
            DisconnectedError: The batch is closed.
        """
        self._lifetime.require_open("reset the batch")
        chosen, fleet = self._chosen(vehicles), self._fleet
        places = places_of(x, y, yaw, roll, pitch, speed, chosen)
        grounds, kinds, before = fleet.terrain_of[chosen], fleet.kind_of[chosen], self._grounds.own(chosen)
        if terrain is not None and terrain_index is not None:
            raise InvalidValueError("terrain_index", "left out where terrain is given", terrain_index)
        if terrain_index is not None:
            grounds = broadcast_indices("terrain_index", terrain_index, chosen, self._grounds.size)
        if variant is not None:
            kinds = broadcast_indices("variant", variant, chosen, len(fleet.kinds))
        moving = np.flatnonzero(places[:, 5])
        if len(moving) and self.vehicle.body.fixed:
            raise InvalidValueError(f"speed of {self.vehicle.name} [m/s]", "0, as it is fixed", speed)
        positions = start_positions(fleet.kinds, kinds, flippers or {}, self._commands, chosen)
        grounds = grounds if terrain is None else self._grounds.lay(chosen, terrain)
        heights = clearing_heights(self._outlines, self._grounds, kinds, grounds, places, positions)
        if not np.isfinite(heights).all():
            self._grounds.lay(chosen, before)
            refuse_places(chosen, places, heights)
        fleet.terrain_of[chosen] = grounds
        changed = fleet.kind_of[chosen] != kinds
        if changed.any():
            fleet.assign_kinds(chosen[changed], kinds[changed])
        turns = np.array([_orientation(*row) for row in places[:, 2:5].tolist()]).reshape(-1, 4)
        fleet.place(chosen, np.column_stack([places[:, :2], heights]), turns, positions)
        if len(moving):
            fleet.set_velocity(chosen[moving], places[moving, 5])

    def save(self) -> SavedBatch:
        """Return a snapshot of all that changes, including commands, properties and vehicles' own terrains.

        Raises:
            DisconnectedError: The batch is closed.
        """
        self._lifetime.require_open("save the batch")
        own = self._grounds.own(np.arange(len(self)))
        return SavedBatch(self._fleet.save(), own, self._gravity.copy(), self._made_of)

    def restore(self, snapshot: SavedBatch) -> None:
        """Restore a snapshot of this batch or of one built alike, bit for bit.

        Raises:
            InvalidValueError: No snapshot, or one of other vehicles or grounds.
            DisconnectedError: The batch is closed.
        """
        self._lifetime.require_open("restore the batch")
        check_snapshot(snapshot, self._made_of)
        self._fleet.restore(snapshot.fleet)
        self._gravity[:] = snapshot.gravity
        self._grounds.lay(np.arange(len(self)), snapshot.own_terrains)

    def __len__(self) -> int:
        """Number of vehicles."""
        return len(self._fleet)

    @property
    def device_arrays(self) -> VehicleState:
        """State and commands in the memory that steps change: NumPy arrays on cores, or a GPU's own.

        These have `__cuda_array_interface__`, by which torch, CuPy and others share them without a copy. They
        stay the batch's own. What is written there holds from the next step on, whatever else is read, set or
        reset meanwhile; where vehicles are moved so, write 0 to their `slack`, too.
        """
        return self._fleet.device_arrays

    @property
    def terrain_index(self) -> NDArray[np.intp]:
        """Index of each vehicle's terrain (N,)."""
        return self._fleet.terrain_of.copy()

    @property
    def gravity(self) -> NDArray[np.float64]:
        """Downward acceleration of each vehicle (N,) [m/s^2]."""
        return self._gravity.copy()

    @property
    def mass(self) -> NDArray[np.float64]:
        """Mass of all bodies of each vehicle (N,) [kg]."""
        return np.array([sum(row) for row in self._fleet.own.masses.tolist()])

    @property
    def variant(self) -> NDArray[np.intp]:
        """Index of each vehicle's variant (N,)."""
        return self._fleet.kind_of.copy()

    @property
    def running(self) -> NDArray[np.bool_]:
        """True for vehicles that take part in steps (N,)."""
        return np.asarray(self._fleet.status == RUNNING)

    @property
    def status(self) -> list[str]:
        """Status of each vehicle: `running`, `crowded` or `diverged`; stopped vehicles wait for a reset."""
        return [STATUSES[status] for status in self._fleet.status.tolist()]

    @property
    def reasons(self) -> list[str]:
        """Reason why each vehicle stopped: diverged part, place, likely cause; empty while it runs."""
        fleet, joints = self._fleet, (*self.flipper_names, *self.joint_names)

        def reason(i: int, status: str) -> str:
            if status == "diverged":
                state = VehicleState(*(array[i] for array in fleet.state))
                reach = float(fleet.own.reaches[i, 0])
                return what_diverged_natively(state, joints, self.track_names, reach)
            return "more is near one part of it than a batch lists" if status == "crowded" else ""

        return [reason(i, status) for i, status in enumerate(self.status)]

    def set_belt_speed(self, left: ArrayLike, right: ArrayLike) -> None:
        """Command the belts of each side, speeds () or (N,) [m/s]; see `Robot.set_belt_speed`.

        Raises:
            InvalidValueError: Another shape, or a command that is not finite.
        """
        self._lifetime.require_open("command the batch")
        self._fleet.write(slice(None), commands=self._commands.belt_speeds(left, right), pedals=0.0)

    def set_track_speeds(self, speeds: ArrayLike) -> None:
        """Command each belt's speed (T,) or (N, T) [m/s]; clipped to the drives' top speeds.

        Raises:
            InvalidValueError: Another shape, or a command that is not finite.
        """
        self._lifetime.require_open("command the batch")
        what, top = "belt speeds [m/s]", self._fleet.limits.belt_speeds
        given = broadcast_numbers(what, speeds, self._chosen(None), (len(self.track_names),))
        self._fleet.write(slice(None), commands=self._commands.clip(what, given, -top, top), pedals=0.0)

    def set_throttle(
        self, left: ArrayLike, right: ArrayLike, *, left_brake: ArrayLike = 0.0, right_brake: ArrayLike = 0.0
    ) -> None:
        """Let throttles and brakes of each side, () or (N,), rule the belts; see `Robot.set_throttle`.

        Raises:
            InvalidValueError: Another shape, a number that is not finite, or a negative brake.
        """
        self._lifetime.require_open("command the batch")
        pedals = self._commands.pedals(left, right, left_brake, right_brake)
        ruling = np.concatenate([np.ones_like(pedals[..., :1]), pedals], axis=-1)
        self._fleet.write(slice(None), pedals=ruling)

    def drive(self, linear: ArrayLike, angular: ArrayLike) -> None:
        """Command twists, forward [m/s] and about z [rad/s], () or (N,); see `Robot.drive`.

        Raises:
            InvalidValueError: Another shape, or a command that is not finite.
        """
        forward, turning = self._commands.twist(linear, angular)
        offsets: Any = TrackOffsets(*self._offsets[self._fleet.kind_of].T)
        self.set_belt_speed(*offsets.belt_speeds(forward, turning / self._efficiencies(turning != 0)))

    def _efficiencies(self, chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Steering efficiencies of the chosen vehicles (N,) [-]; 1 for the others."""
        found, names = np.ones(len(self)), self.flipper_names
        angles = self._fleet.state.joint_angles[:, : len(names)]
        for i in np.flatnonzero(chosen).tolist():
            flippers = dict(zip(names, angles[i].tolist(), strict=True))
            found[i] = self._steering[self._fleet.kind_of[i]].efficiency(flippers)
        return found

    def set_flippers(self, **angles: ArrayLike) -> None:
        """Move flippers to angles () or (N,) [rad], by name; see `Robot.set_flippers`.

        Raises:
            UnknownNameError: There is no such flipper.
            InvalidValueError: Another shape, or an angle that is not finite.
        """
        self._move(False, self._commands.named("flipper", False, angles))

    def set_flipper_speeds(self, **speeds: ArrayLike) -> None:
        """Turn flippers at speeds () or (N,) [rad/s], by name; see `Robot.set_flipper_speeds`.

        Raises:
            UnknownNameError: There is no such flipper.
            InvalidValueError: Another shape, or a speed that is not finite.
        """
        self._move(True, self._commands.named("flipper", True, speeds))

    def set_joints(self, **positions: ArrayLike) -> None:
        """Let servos move joints to positions () or (N,) [rad or m], by name; see `Robot.set_joints`.

        Raises:
            UnknownNameError: There is no such joint.
            NotReadyError: It has no servo, or follows another joint.
            InvalidValueError: Another shape, or a position that is not finite.
        """
        self._move(False, self._commands.named("moving joint", False, positions))

    def set_joint_speeds(self, **speeds: ArrayLike) -> None:
        """Let servos move joints at speeds () or (N,) [rad/s or m/s], by name; see `Robot.set_joint_speeds`.

        Raises:
            UnknownNameError: There is no such joint.
            NotReadyError: It has no servo, or follows another joint.
            InvalidValueError: Another shape, or a speed that is not finite.
        """
        self._move(True, self._commands.named("moving joint", True, speeds))

    def _move(self, as_speed: bool, commands: Sequence[tuple[int, NDArray[np.float64]]]) -> None:
        self._lifetime.require_open("command the batch")
        with self._fleet.changing():
            for joint, values in commands:
                rows = np.stack([np.full_like(values, as_speed), values], axis=1)
                self._fleet.write((slice(None), joint), joint_commands=rows)

    def apply_force(self, force: ArrayLike, point: ArrayLike) -> None:
        """Apply a constant force to each body in every step, until it is set again or the vehicle is reset.

        Args:
            force: Forces in the world (3,) or (N, 3) [N]; zero ends them.
            point: Points of action, fixed in the world (3,) or (N, 3) [m].

        Raises:
            InvalidValueError: Another shape, or a number that is not finite.
        """
        self._lifetime.require_open("push the batch")
        pushed = (
            broadcast_numbers("force [N]", force, self._chosen(None), (3,)),
            broadcast_numbers("point [m]", point, self._chosen(None), (3,)),
        )
        self._fleet.write(slice(None), push=np.stack(pushed, axis=1))

    def set_friction(self, friction: ArrayLike, vehicles: ArrayLike | None = None) -> None:
        """Set the friction of tracks, in place of the vehicle file's.

        Args:
            friction: Coefficients () or (n,) for all tracks of a vehicle, or (n, T) for each [-].
            vehicles: Mask (N,) or indices (n,) of the vehicles to change; all if not given.

        Raises:
            InvalidValueError: Another shape, negative or not finite.
        """
        self._lifetime.require_open("change the batch")
        chosen = self._chosen(vehicles)
        self._fleet.write(chosen, frictions=self._each_track("friction", friction, chosen, 0.0))

    def scale_drives(self, factor: ArrayLike, vehicles: ArrayLike | None = None) -> None:
        """Scale the forces of drives relative to the vehicle file's.

        Args:
            factor: Factors () or (n,) for all tracks of a vehicle, or (n, T) for each [-].
            vehicles: Mask (N,) or indices (n,) of the vehicles to change; all if not given.

        Raises:
            InvalidValueError: Another shape, not positive or not finite.
        """
        self._lifetime.require_open("change the batch")
        chosen = self._chosen(vehicles)
        self._fleet.write(
            chosen, drive_factors=self._each_track("drive force factor", factor, chosen, POSITIVE)
        )

    def scale_flippers(self, factor: ArrayLike, vehicles: ArrayLike | None = None) -> None:
        """Scale the torques of the flippers' motors relative to the vehicle file's.

        Args:
            factor: Factors () or (n,) for all flippers of a vehicle, or (n, F) for each [-].
            vehicles: Mask (N,) or indices (n,) of the vehicles to change; all if not given.

        Raises:
            InvalidValueError: Another shape, not positive or not finite.
        """
        self._lifetime.require_open("change the batch")
        chosen, flippers = self._chosen(vehicles), len(self.flipper_names)
        what = "flipper torque factor"
        if dimensions(factor) < 2:
            factors = broadcast_numbers(what, factor, chosen, least=POSITIVE)[:, None]
        else:
            factors = broadcast_numbers(what, factor, chosen, (flippers,), least=POSITIVE)
        file = np.stack([kind.arrays.tree.max_torques[:flippers] for kind in self._fleet.kinds])
        with self._fleet.changing():
            self._fleet.own.max_torques[chosen, :flippers] = factors * file[self._fleet.kind_of[chosen]]

    def set_gravity(self, gravity: ArrayLike, vehicles: ArrayLike | None = None) -> None:
        """Set the downward acceleration of vehicles; on a GPU all have one.

        Args:
            gravity: Accelerations () or (n,), at least 0 [m/s^2].
            vehicles: Mask (N,) or indices (n,) of the vehicles to change; all if not given.

        Raises:
            InvalidValueError: Another shape, negative, not finite, or several on a GPU.
        """
        self._lifetime.require_open("change the batch")
        changed, chosen = self._gravity.copy(), self._chosen(vehicles)
        changed[chosen] = broadcast_numbers("gravity [m/s^2]", gravity, chosen, least=0.0)
        self._fleet.check_gravity(changed)
        self._gravity = changed

    def set_body(
        self,
        vehicles: ArrayLike | None = None,
        *,
        mass: ArrayLike | None = None,
        center_of_mass: ArrayLike | None = None,
        inertia: ArrayLike | None = None,
    ) -> None:
        """Set mass properties of bodies; those not given return to the vehicle file's.

        Contacts keep the stiffness that follows from the file.

        Args:
            vehicles: Mask (N,) or indices (n,) of the vehicles to change; all if not given.
            mass: Masses of the bodies without belts and flippers () or (n,) [kg].
            center_of_mass: Centres of mass without belts and flippers, in the body frames (3,) or (n, 3) [m].
            inertia: Inertia about these centres, in the body frames' axes (3, 3) or (n, 3, 3) [kg m^2]; by
                default in proportion to the mass.

        Raises:
            InvalidValueError: Another shape, a number that is not finite, a mass that does not outweigh what
                the drives reflect, or an inertia that no body has.
        """
        self._lifetime.require_open("change the batch")
        chosen = self._chosen(vehicles)
        masses = None if mass is None else broadcast_numbers("mass [kg]", mass, chosen)
        centers = None
        if center_of_mass is not None:
            centers = broadcast_numbers("center_of_mass [m]", center_of_mass, chosen, (3,))
        tensors = None if inertia is None else broadcast_numbers("inertia [kg m^2]", inertia, chosen, (3, 3))
        check_bodies(self._fleet, chosen, masses, tensors)
        weigh_bodies(self._fleet, chosen, masses, centers, tensors)

    def _chosen(self, vehicles: ArrayLike | None) -> NDArray[np.intp]:
        return chosen_vehicles(vehicles, len(self))

    def _each_track(
        self, what: str, given: ArrayLike, chosen: NDArray[np.intp], lowest: float
    ) -> NDArray[np.float64]:
        """Check a factor of the chosen vehicles' tracks and broadcast it to (n, T)."""
        tracks = len(self.track_names)
        if dimensions(given) < 2:
            return broadcast_numbers(what, given, chosen, least=lowest)[:, None].repeat(tracks, axis=1)
        return broadcast_numbers(what, given, chosen, (tracks,), least=lowest)

    def height(self, x: ArrayLike, y: ArrayLike, vehicles: ArrayLike | None = None) -> NDArray[np.float64]:
        """Terrain heights of each vehicle at points of its own [m]; -inf where there is no ground.

        Args:
            x: World x of the points (n, ...) [m].
            y: World y of the points (n, ...) [m].
            vehicles: Mask (N,) or indices (n,) of the vehicles; all if not given.

        Raises:
            InvalidValueError: Other shapes, or no such vehicle.
        """
        chosen = self._chosen(vehicles)
        return self._grounds.heights(self._fleet.terrain_of[chosen], *points_of_each(x, y, len(chosen)))

    def cell_heights(
        self,
        places: ArrayLike,
        headings: ArrayLike,
        cells: ArrayLike,
        vehicles: ArrayLike | None = None,
    ) -> NDArray[np.float64]:
        """Mean terrain heights of each vehicle in the cells of a grid [m], as in a height scan.

        On a GPU they are sampled there, and the means alone come down.

        Args:
            places: World x and y of the grids' origins (n, 2) [m].
            headings: Angles from the world's to the grids' x axes, about z (n,) [rad].
            cells: Sample points of each cell in the grid's frame, for all vehicles (c, m, 2) [m].
            vehicles: Mask (N,) or indices (n,) of the vehicles; all if not given.

        Returns:
            Heights in the world (n, c) [m]; -inf where a cell has a point beside the ground, nan where a
            grid's place or heading is not finite.

        Raises:
            InvalidValueError: Other shapes, or no such vehicle.
        """
        chosen = self._chosen(vehicles)
        places = array_of("places [m]", places, (len(chosen), 2))
        headings = array_of("headings [rad]", headings, (len(chosen),))
        points = array_of("cells [m]", cells, (None, None, 2))
        if points.shape[1] == 0:
            raise InvalidValueError("cells [m]", "of a point or more each", Phrase(f"shape {points.shape}"))
        frames = np.column_stack([places, np.cos(headings), np.sin(headings)])
        unknown = ~np.isfinite(frames).all(axis=1)
        frames[unknown] = 0.0  # Kernels turn places into indices.
        grounds, means = self._fleet.terrain_of[chosen], np.empty((len(chosen), len(points)))
        reliefs, along = self._grounds.reliefs, np.moveaxis(points, 2, 0)
        parts = min(self._threads.count, max(len(chosen) // _TOGETHER, 1))
        ends = np.linspace(0, len(chosen), parts + 1).astype(int).tolist()
        spans = [slice(*span) for span in pairwise(ends)]
        sample = self._fleet.sample_cells
        self._threads.call([partial(sample, reliefs, grounds[s], frames[s], along, means[s]) for s in spans])
        means[unknown] = np.nan
        return means
