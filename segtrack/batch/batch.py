"""N vehicles of one file, each by itself on its own ground, stepped together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segtrack.batch.arguments import indices, number_of_threads, number_of_vehicles
from segtrack.batch.devices import fleet_class
from segtrack.batch.fleet_arrays import SavedBatch, check_snapshot
from segtrack.batch.ground import GroundLibrary
from segtrack.batch.heights import BatchHeights
from segtrack.batch.placement import Outlines, clearing_heights, places_of, refuse_places, start_positions
from segtrack.batch.readings import BatchContacts, BatchState, BatchTracks, JointStates, actuators_of
from segtrack.batch.threads import Threads
from segtrack.description import VehicleDescription, load_vehicle
from segtrack.engine import ActuatorState, check_drives
from segtrack.errors import (
    InvalidValueError,
    UnknownNameError,
    downwards,
    whole,
    whole_steps,
)
from segtrack.geometry import GRAVITY
from segtrack.native import CHUNK, BeltKind, preset_step
from segtrack.terrain import Terrain, terrains_of
from segtrack.world import heading_quaternion

TRACK_MODELS = ("compliant", "surface")
"""Track models that a batch runs."""


class Batch(BatchHeights):
    """N vehicles of one file in segtrack's own engine, each on its own ground; they never meet.

    What one vehicle does is equal to the bit whatever the others do, however many there are, and whatever the
    number of threads. One that diverges, or is near more of its ground than can be listed, stops, which
    `status` says, and the others go on.

    Attributes:
        track_model: Track model of the belts.
    """

    __slots__ = ("_gravity", "_made_of", "_outlines", "_preset", "_time_step", "track_model")

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
        """Build vehicles, upright just above their ground at the world's origin, joints where they start.

        Args:
            vehicle: Bundled name, path of a vehicle file, a description, or descriptions of variants that
                share their flippers, joints and tracks.
            count: Number of vehicles; if not given, that of terrains, of their indices or of variants.
            terrain: Ground of all vehicles, one for each of them, or with `terrain_index` a library to
                choose from; flat ground if not given.
            terrain_index: Index in `terrain` of each vehicle's ground (N,).
            variant: Index in `vehicle` of each vehicle's variant (N,).
            track_model: `compliant` or `surface`.
            preset: `exact` (1 ms, the default) or `fast` (4 ms).
            time_step: Instead of the preset's [s].
            gravity: Downwards, at least 0 [m/s^2].
            threads: Number of threads that take steps on cores; as many as these if not given.
            device: `cpu`, or `cuda`: a GPU, which needs the extra `gpu`.

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
        self.track_model, self._gravity = track_model, (0.0, 0.0, -downwards(gravity))
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
        chosen = np.zeros(size, np.intp) if variant is None else indices("variant", variant, size, len(kinds))
        shared = Threads(min(number_of_threads(threads), size) if device == "cpu" else 1)
        super().__init__(fleet(kinds, chosen, grounds.packed), grounds, shared)
        self._made_of = size, track_model, self.time_step, *described, *(given or self.terrains[:1])
        self._outlines = Outlines(kinds)
        index = np.arange(size) if each is not None else (0 if terrain_index is None else terrain_index)
        self.reset(terrain_index=index)

    def __enter__(self) -> Batch:
        """Use as a context manager; leaving it ends its threads."""
        self._must_be_open("enter the batch")
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def close(self) -> None:
        """End the threads; may be called again. What the vehicles did last can still be read."""
        self._is_open = False
        self._threads.close()

    @property
    def time_step(self) -> float:
        """Step of the simulation [s]."""
        return self._time_step

    @property
    def preset(self) -> str:
        """Name of the time step."""
        return self._preset

    @property
    def time(self) -> NDArray[np.float64]:
        """Simulated time since the last reset of each vehicle (N,) [s]."""
        return np.asarray(self._fleet.steps * self.time_step)

    @property
    def terrains(self) -> tuple[Terrain, ...]:
        """Grounds, by their index: those given, then one of each vehicle's own."""
        return tuple(self._grounds.terrains)

    @property
    def state(self) -> BatchState:
        """Poses and velocities of the bodies, now; of a vehicle that diverged they may not be finite."""
        return self.read_state()

    def read_state(self, vehicles: ArrayLike | None = None) -> BatchState:
        """Return poses and velocities of some bodies, a row for each.

        Args:
            vehicles: Mask (N,) or indices (n,) of those that are read; all if not given.

        Raises:
            InvalidValueError: No such vehicle.
        """
        return BatchState.of(self._fleet.state, self._fleet.own.centers[:, 0], self._chosen(vehicles))

    @property
    def tracks(self) -> BatchTracks:
        """States of the belts, now."""
        return BatchTracks.of(self._fleet)

    def read_actuators(self, vehicles: ArrayLike | None = None) -> ActuatorState:
        """Return the state of belts (n, T), flippers (n, F) and joints (n, J) in one reading.

        Args:
            vehicles: Mask (N,) or indices (n,) of those that are read; all if not given.

        Raises:
            InvalidValueError: No such vehicle.
        """
        return actuators_of(self._fleet.state, len(self.flipper_names), self._chosen(vehicles))

    @property
    def flippers(self) -> JointStates:
        """States of the flippers, now."""
        return JointStates.of(self._fleet.state, slice(0, len(self.flipper_names)))

    @property
    def joints(self) -> JointStates:
        """States of the joints of the body's URDF that move, now."""
        return JointStates.of(self._fleet.state, slice(len(self.flipper_names), None))

    def read_contacts(self, vehicles: ArrayLike | None = None) -> BatchContacts:
        """Return contacts with the ground where vehicles are now; nothing is changed.

        Args:
            vehicles: Mask (N,) or indices (n,) of those that are read; all if not given.

        Raises:
            InvalidValueError: No such vehicle.
        """
        return BatchContacts.of(self._fleet, self._chosen(vehicles), self.time_step)

    def run(self, seconds: float) -> None:
        """Advance all vehicles that run, by the number of whole steps nearest to a duration [s].

        Raises:
            InvalidValueError: Negative, not finite, or no step: 0 or more than half a time step.
            DisconnectedError: The batch is closed.
        """
        self.advance(whole_steps(seconds, self.time_step))

    def advance(self, steps: int) -> None:
        """Advance all vehicles that run, by a number of time steps; all take the same, also at Ctrl-C.

        Raises:
            InvalidValueError: Not a whole number, or a negative one.
            DisconnectedError: The batch is closed.
        """
        self._must_be_open("advance the batch")
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
        flippers: Mapping[str, ArrayLike] | None = None,
        terrain: Sequence[Terrain] | None = None,
        terrain_index: ArrayLike | None = None,
        variant: ArrayLike | None = None,
    ) -> None:
        """Put vehicles upright just above their ground, at rest, commanded nothing; their time begins anew.

        Friction, strength of drives and masses stay as they are, unless the variant changes.

        Args:
            vehicles: Mask (N,) or indices (n,) of those that are reset; all if not given.
            x: World x of the body frames () or (n,) [m].
            y: World y, likewise [m].
            yaw: Heading about the world's z axis, likewise [rad].
            flippers: Angles by name, likewise, clipped to their limits [rad]; 0 if not given.
            terrain: Grounds of their own, one for each (n,), instead of any that they had.
            terrain_index: Index of the ground among those of the construction, () or (n,); the present one
                if neither is given.
            variant: Index of the variant, likewise; the present one if not given.

        Raises:
            UnknownNameError: There is no such flipper.
            InvalidValueError: Another shape, an index out of range, a number that is not finite, or a place
                without ground.
            DisconnectedError: The batch is closed.
        """
        self._must_be_open("reset the batch")
        chosen, fleet = self._chosen(vehicles), self._fleet
        count = len(chosen)
        places = places_of(x, y, yaw, count)
        grounds, kinds, before = fleet.terrain_of[chosen], fleet.kind_of[chosen], self._grounds.own(chosen)
        if terrain is not None and terrain_index is not None:
            raise InvalidValueError("terrain_index", "left out where terrain is given", terrain_index)
        if terrain_index is not None:
            grounds = indices("terrain_index", terrain_index, count, self._grounds.size)
        if variant is not None:
            kinds = indices("variant", variant, count, len(fleet.kinds))
        positions = start_positions(fleet.kinds, kinds, flippers or {}, self._clipper)
        grounds = grounds if terrain is None else self._grounds.lay(chosen, terrain)
        heights = clearing_heights(self._outlines, self._grounds, kinds, grounds, places, positions)
        if not np.isfinite(heights).all():
            self._grounds.lay(chosen, before)
            refuse_places(chosen, places, heights)
        fleet.terrain_of[chosen] = grounds
        changed = fleet.kind_of[chosen] != kinds
        if changed.any():
            fleet.take_kinds(chosen[changed], kinds[changed])
        headings = np.array([heading_quaternion(yaw) for yaw in places[:, 2].tolist()]).reshape(-1, 4)
        fleet.place(chosen, np.column_stack([places[:, :2], heights]), headings, positions)

    def save(self) -> SavedBatch:
        """Return everything that changes, commands, properties and own grounds of the vehicles included.

        Raises:
            DisconnectedError: The batch is closed.
        """
        self._must_be_open("save the batch")
        return SavedBatch(self._fleet.save(), self._grounds.own(np.arange(len(self))), self._made_of)

    def restore(self, snapshot: SavedBatch) -> None:
        """Go back to a snapshot of this batch, or of one that was built alike, to the bit.

        Raises:
            InvalidValueError: No snapshot, or one of other vehicles or grounds.
            DisconnectedError: The batch is closed.
        """
        self._must_be_open("restore the batch")
        check_snapshot(snapshot, self._made_of)
        self._fleet.restore(snapshot.fleet)
        self._grounds.lay(np.arange(len(self)), snapshot.own_terrains)
