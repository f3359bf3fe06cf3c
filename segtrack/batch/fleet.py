"""Arrays of N vehicles whose belts have one travel each, and their steps, in threads."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segtrack.batch.fleet_arrays import (
    RUNNING,
    OwnProperties,
    SavedFleet,
    check_alike,
    limits_of,
    memory_of_vehicle,
    runs_of_one_kind,
)
from segtrack.batch.interrupts import interrupts_deferred
from segtrack.batch.threads import Threads
from segtrack.compliant import (
    REPORT,
    Candidates,
    ContactReport,
    Room,
    allocate_belt_memory,
    allocate_candidates,
    copy_memory,
)
from segtrack.geometry import rotated, rotations_of
from segtrack.ground import MAX_EDGES, MAX_SOLIDS_PER_POINT, NONE, allocate_contact_history, sample_cells
from segtrack.kernels import Packed, overwrite, slice_of
from segtrack.native import (
    CROWDED,
    DONE,
    FIRST_ROOM,
    HULL_PARTS,
    NEAR,
    NOT_FINITE,
    TOO_FAST,
    BeltKind,
    Vehicles,
    VehicleState,
    advance,
    allocate_state,
    allocate_tree_work,
    changes_at_rest,
)

LARGEST_ROOM = Room(sections=2**31, solids=64, edges=256, contacts=2**15)
"""Room beyond which a vehicle is crowded: more near one part of it is not listed for all of a fleet."""
NO_REPORT = np.zeros((0, REPORT))
"""Report of no contacts: steps are taken."""
_BLOCKS = 8
"""Blocks of vehicles a thread takes on average, so that none waits long for the last one."""


class Fleet:
    """Arrays of N vehicles of variants that may differ in grousers, hull, masses, drives or servos.

    Attributes:
        kinds: Variants, as the engine's constants.
        kind_of: Index of each vehicle's variant in `kinds` (N,).
        terrain_of: Index of each vehicle's ground in `grounds` (N,).
        grounds: Packed `Ground`s, by index.
        status: `RUNNING`, or the reason why a vehicle stopped (N,).
        steps: Number of steps that each vehicle has taken (N,).
        state: States of the vehicles.
        own: Properties that may differ between vehicles of one variant.
    """

    def __init__(
        self, kinds: Sequence[BeltKind], kind_of: NDArray[np.intp], grounds: Packed, room: Room | None = None
    ) -> None:
        """Allocate the state, with all vehicles at the origin on the first ground.

        Args:
            kinds: Variants, as the engine's constants.
            kind_of: Index of each vehicle's variant (N,).
            grounds: Packed `Ground`s, by index.
            room: Initial numbers of contact candidates to allocate for each vehicle.

        Raises:
            InvalidValueError: The variants have other links, joints or tracks.
        """
        check_alike(kinds)
        self.kinds, self.grounds = tuple(kinds), grounds
        self.kind_of, count = np.array(kind_of, dtype=np.intp), len(kind_of)
        self.terrain_of, self.status, self.steps = np.zeros((3, count), dtype=np.intp)
        tree, belts = kinds[0].arrays.tree, [kind.arrays.belts for kind in kinds]
        self.state = allocate_state(count, len(tree.joint_parents), len(tree.belt_links))
        self._own_by_kind, self._limits_by_kind = OwnProperties.of(kinds), limits_of(kinds)
        friction = [[t.spec.contact.friction for t in k.description.mounted_tracks()] for k in kinds]
        self._friction_by_kind = np.array(friction)
        self.own = OwnProperties(*(values[self.kind_of] for values in self._own_by_kind))
        self.limits = self._limits_by_kind.rows(self.kind_of)
        self.assign_kinds(np.arange(count), self.kind_of)
        self._sections = max(len(each.kinds) for each in belts)
        self._segments = max(len(each.segments) for each in belts)
        self._points = max(each.points.shape[1] for each in belts)
        self._hulls = max(len(kind.arrays.hull.links) for kind in kinds)
        points = max(len(kind.arrays.hull.points) for kind in kinds)
        self._history = allocate_contact_history(points, self._hulls * HULL_PARTS, (count,))
        self._done, self._outcomes = np.zeros(count, dtype=np.intp), np.zeros((count, 5), dtype=np.intp)
        self._packed: list[list[Packed]] = []
        self._probe: Fleet | None = None
        self._allocate_contacts(room or Room(math.ceil(NEAR * self._sections), *FIRST_ROOM))

    @property
    def device_arrays(self) -> VehicleState:
        """State of the vehicles in the memory that kernels change."""
        return self.state

    def changing(self) -> AbstractContextManager[None]:
        """Return a context in which arrays may be changed; at its end a GPU has the changes."""
        return nullcontext()

    def write(self, where: Any, **values: Any) -> None:
        """Write values to arrays of the state, by name, at an index of their rows (`where`)."""
        with self.changing():
            for name, given in values.items():
                getattr(self.state, name)[where] = given

    def __len__(self) -> int:
        """Number of vehicles."""
        return len(self.kind_of)

    def __getstate__(self) -> dict[str, Any]:
        """Return everything except packed arguments, which hold memory addresses of this process."""
        return vars(self) | {"_packed": [], "_probe": None}

    def _allocate_contacts(self, room: Room) -> None:
        """Allocate contact candidates and contact memory of a size for each vehicle, and clear the memory."""
        self._room, count, tracks = room, len(self), len(self.kinds[0].belts)
        self._candidates: Candidates = allocate_candidates(count, room, self._hulls, tracks, self._segments)
        self._memory = allocate_belt_memory(self._sections, self._points, room.sections, (count,))
        self.state.slack[:] = 0.0
        self._packed.clear()

    def _enlarge_contacts(self, wanted: Room) -> None:
        """Enlarge the contact candidates, with some reserve, and keep the contact memory."""
        before = self._memory
        grown = self._room.grown(wanted, self._sections)
        self._allocate_contacts(Room(*map(min, grown, LARGEST_ROOM)))
        copy_memory(self._memory, before)

    def kernel_arguments(self, thread: int) -> list[Packed]:
        """Kernel arguments for one thread, by kind: shared arrays of the vehicles, work arrays of its own."""
        while len(self._packed) <= thread:
            self._packed.append([Packed.of(self._vehicles(kind)) for kind in self.kinds])
        return self._packed[thread]

    def _vehicles(self, kind: BeltKind) -> Vehicles:
        """Arrays of all vehicles with a kind's constants, and new work arrays."""
        return Vehicles(
            self.own.within(kind.arrays),
            self.terrain_of,
            self.state,
            self._history,
            self._memory,
            self._candidates,
            allocate_tree_work(kind.arrays.tree, self._room.contacts),
            self._done,
            self._outcomes,
        )

    def advance(
        self,
        gravity: NDArray[np.float64],
        step: float,
        count: int,
        threads: Threads | None = None,
    ) -> None:
        """Advance all running vehicles; a vehicle that fails stops and gets a status.

        Args:
            gravity: Downward acceleration of each vehicle (N,) [m/s^2].
            step: Duration of a step [s].
            count: Number of steps.
            threads: Threads that take the steps; the caller's own if not given.
        """
        self._done[:] = np.where(self.status == RUNNING, 0, count)
        with interrupts_deferred():
            while (self._done < count).any():
                self._outcomes[:, 0] = DONE
                self._take_all_steps(threads or Threads(1), gravity, step, count, 1.0)
                self._stop_failed_vehicles(count)
            self.steps[self.status == RUNNING] += count

    def _stop_failed_vehicles(self, count: int) -> None:
        """Stop vehicles that failed, and enlarge the contact candidates for those that had too few."""
        waiting, outcomes = self._done < count, self._outcomes[:, 0]
        stopped = waiting & ((outcomes == NOT_FINITE) | (outcomes == TOO_FAST))
        crowded = waiting & (outcomes == CROWDED)
        beyond = (self._outcomes[:, 1:] > np.array(LARGEST_ROOM)).any(axis=1)
        stopped |= crowded & beyond
        self.status[stopped] = outcomes[stopped]
        self.steps[stopped] += self._done[stopped]
        self._done[stopped] = count
        crowded &= ~beyond
        if crowded.any():
            self._enlarge_contacts(Room(*self._outcomes[crowded, 1:].max(axis=0).tolist()))

    def check_gravity(self, gravity: NDArray[np.float64]) -> None:
        """Refuse gravities (N,) that steps cannot take; on cores any."""

    def _take_all_steps(self, threads: Threads, gravity: NDArray[np.float64], *given: Any) -> None:
        """Advance all vehicles in threads, each with work arrays of its own."""
        longest = max(1, len(self) // (_BLOCKS * threads.count))
        spans = iter(list(runs_of_one_kind(self.kind_of, longest)))
        self.kernel_arguments(threads.count - 1)
        threads.call([partial(self._take_steps, k, spans, gravity, *given) for k in range(threads.count)])

    def _take_steps(
        self, thread: int, spans: Iterator[tuple[int, int, int]], gravity: NDArray[np.float64], *given: Any
    ) -> None:
        packed = self.kernel_arguments(thread)
        for first, last, kind in spans:
            changes = first + 1 + np.flatnonzero(np.diff(gravity[first:last]))
            for start, end in pairwise([first, *changes.tolist(), last]):
                down = (0.0, 0.0, -float(gravity[start]))
                advance(packed[kind], self.grounds, NO_REPORT, start, end, down, *given)

    def sample_cells(self, *given: Any) -> None:
        """Write mean terrain heights in the cells of grids, see `height_scan.sample_cells`."""
        sample_cells(*given)

    def forget_contacts(self, chosen: NDArray[np.intp]) -> None:
        """Clear the contact memory of vehicles that were moved."""
        where = slice_of(chosen)
        self._memory.places[where] = self._memory.sections[where] = NONE
        for contacts in (self._history, self._memory.contacts):
            contacts.solid_ids[where] = contacts.edge_ids[where] = NONE
        self.state.slack[where] = 0.0

    def place(
        self,
        chosen: NDArray[np.intp],
        positions: NDArray[np.float64],
        orientations: NDArray[np.float64],
        joints: NDArray[np.float64],
    ) -> None:
        """Place vehicles at rest, without commands and contacts, and set them running.

        Args:
            chosen: Indices of the vehicles (n,).
            positions: Body frames in the world (n, 3) [m].
            orientations: Quaternions (x, y, z, w) (n, 4).
            joints: Joint positions (n, J) [rad or m]; servos hold them there.
        """
        state, where = self.state, slice_of(chosen)
        for name, array in zip(VehicleState._fields, state, strict=True):
            if name not in ("frictions", "drive_factors"):
                array[where] = 0.0
        state.last_changes[chosen] = changes_at_rest(state.joint_speeds.shape[1], state.speeds.shape[1])
        state.orientation[chosen] = orientations
        centers = rotated(rotations_of(orientations), self.own.centers[chosen, 0])
        state.position[chosen] = positions + centers
        state.joint_angles[chosen] = state.joint_references[chosen] = joints
        state.joint_commands[chosen, :, 1] = joints
        self.status[chosen], self.steps[chosen] = RUNNING, 0
        self._probe = None  # Its room is that of the grounds that there were.
        self.forget_contacts(chosen)

    def set_velocity(self, chosen: NDArray[np.intp], speeds: NDArray[np.float64]) -> None:
        """Let vehicles move forward along their bodies' x axes at speeds (n,) [m/s], and belts keep them."""
        state, top = self.state, self.limits.belt_speeds[chosen]
        forward = rotations_of(state.orientation[chosen])[:, :, 0]
        belts = speeds[:, None].repeat(state.speeds.shape[1], axis=1)
        self.write(
            chosen,
            velocity=speeds[:, None] * forward,
            speeds=belts,
            references=belts,
            commands=belts.clip(-top, top),
        )

    def assign_kinds(self, chosen: NDArray[np.intp], kinds: NDArray[np.intp]) -> None:
        """Change the variants of vehicles, and reset the properties of their own to these variants'."""
        self.kind_of[chosen] = kinds
        self.state.frictions[chosen] = self._friction_by_kind[kinds]
        self.state.drive_factors[chosen] = 1.0
        pairs = (self.own, self._own_by_kind), (self.limits, self._limits_by_kind)
        for array, values in (pair for mine, by_kind in pairs for pair in zip(mine, by_kind, strict=True)):
            array[chosen] = values[kinds]

    def read_contacts(self, i: int, step: float) -> ContactReport:
        """Contacts of a vehicle with the ground where it is now; nothing is changed.

        Contacts are found anew, with what they remember. Their forces are those that the last step of a
        length [s] exerted.
        """
        sections = self._sections * (self._points + 2 * MAX_EDGES)
        edges = self._hulls * HULL_PARTS * MAX_EDGES
        most = sections + self._history.solid_ids.shape[1] + 2 * edges
        if self._probe is None:
            grounds: Any = self.grounds.items
            sizes = [(len(ground.bounds), len(ground.edges)) for ground in grounds]
            solids, edges_near = map(max, zip(*sizes, strict=True))
            room = Room(self._sections, solids, edges_near, most * MAX_SOLIDS_PER_POINT)
            self._probe = Fleet(self.kinds, np.zeros(1, np.intp), self.grounds, room)
        probe, kind = self._probe, int(self.kind_of[i])
        probe._copy_vehicle(self, i)
        rows = np.zeros((most, REPORT))
        advance(probe.kernel_arguments(0)[kind], self.grounds, rows, 0, 1, (0.0, 0.0, 0.0), step, 1, 1.0)
        assert probe._outcomes[0, 0] == DONE
        return ContactReport.of(rows)

    def save(self) -> SavedFleet:
        """Return a snapshot of all that changes."""
        memory = allocate_belt_memory(self._sections, self._points, self._room.sections, (len(self),))
        copy_memory(memory, self._memory)
        own = OwnProperties(*(array.copy() for array in self.own))
        indices = np.stack([self.kind_of, self.terrain_of, self.status, self.steps])
        return SavedFleet(self.state.copy(), self._history.copy(), memory, own, indices)

    def restore(self, saved: SavedFleet) -> None:
        """Restore a snapshot of as many vehicles of equal kinds, on equal grounds."""
        places = saved.memory.sections.shape[1]
        if places > self._room.sections:
            self._allocate_contacts(self._room._replace(sections=places))
        overwrite(self.state, saved.state)
        overwrite(self._history, saved.history)
        overwrite(self.own, saved.own)
        overwrite((self.kind_of, self.terrain_of, self.status, self.steps), saved.indices)
        overwrite(self.limits, self._limits_by_kind.rows(self.kind_of))
        copy_memory(self._memory, saved.memory)
        self.state.slack[:], self._probe = 0.0, None

    def _copy_vehicle(self, other: Fleet, i: int) -> None:
        """Copy vehicle i of another fleet to this fleet's only vehicle, with room for its contacts."""
        pairs = zip(
            (self.state, self._history, self.own), (other.state, other._history, other.own), strict=True
        )
        for mine, given in pairs:
            overwrite([array[0] for array in mine], [array[i] for array in given])
        copy_memory(self._memory, memory_of_vehicle(other._memory, i))
        self.kind_of[0], self.terrain_of[0] = other.kind_of[i], other.terrain_of[i]
        self._done[0] = self.state.slack[0] = 0
