"""N vehicles with belts that are one travel each, side by side in arrays; threads take them through steps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segtrack.batch.fleet_arrays import (
    RUNNING,
    OwnProperties,
    SavedFleet,
    check_alike,
    limits_of,
    one_memory,
    spans_of,
)
from segtrack.batch.interrupts import interrupts_deferred
from segtrack.batch.threads import Threads
from segtrack.compliant import (
    REPORT,
    Candidates,
    Room,
    allocate_belt_memory,
    allocate_candidates,
    copy_memory,
)
from segtrack.geometry import rotated, rotations_of
from segtrack.ground import MAX_EDGES, MAX_SOLIDS_PER_POINT, NONE, allocate_contact_history, sample_cells
from segtrack.kernels import Packed, Vector, overwrite, slice_of
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
    """N vehicles of variants of one kind, which differ in grousers, hull, masses, drives or servos.

    Attributes:
        kinds: The variants.
        kind_of: Variant of each vehicle (N,).
        terrain_of: Ground that each is on, an index of `grounds` (N,).
        grounds: Packed `Ground` of each index.
        status: `RUNNING`, or why a vehicle stopped (N,).
        steps: Number of steps that each has taken (N,).
        state: States of the vehicles.
        own: Properties that each vehicle has by itself.
    """

    def __init__(
        self, kinds: Sequence[BeltKind], kind_of: NDArray[np.intp], grounds: Packed, room: Room | None = None
    ) -> None:
        """Allocate what changes, all vehicles at the origin on the first ground.

        Args:
            kinds: The variants.
            kind_of: Variant of each vehicle (N,).
            grounds: Packed `Ground` of each index.
            room: Room for what is near a vehicle, at first.

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
        self.take_kinds(np.arange(count), self.kind_of)
        self._sections = max(len(each.kinds) for each in belts)
        self._segments = max(len(each.segments) for each in belts)
        self._points = max(each.points.shape[1] for each in belts)
        self._hulls = max(len(kind.arrays.hull.links) for kind in kinds)
        points = max(len(kind.arrays.hull.points) for kind in kinds)
        self._history = allocate_contact_history(points, self._hulls * HULL_PARTS, (count,))
        self._done, self._outcomes = np.zeros(count, dtype=np.intp), np.zeros((count, 5), dtype=np.intp)
        self._packed: list[list[Packed]] = []
        self._probe: Fleet | None = None
        self._take_room(room or Room(math.ceil(NEAR * self._sections), *FIRST_ROOM))

    @property
    def device_arrays(self) -> VehicleState:
        """State of the vehicles where kernels change it."""
        return self.state

    def changing(self) -> AbstractContextManager[None]:
        """Return a context in which arrays may be changed; a GPU has what was at its end."""
        return nullcontext()

    def write(self, where: Any, **values: Any) -> None:
        """Write values to arrays of the state, by name, at an index of their rows."""
        with self.changing():
            for name, given in values.items():
                getattr(self.state, name)[where] = given

    def __len__(self) -> int:
        """Number of vehicles."""
        return len(self.kind_of)

    def __getstate__(self) -> dict[str, Any]:
        """Return everything but what is packed, which has addresses of this process."""
        return vars(self) | {"_packed": [], "_probe": None}

    def _take_room(self, room: Room) -> None:
        """Allocate candidates and memory for so much near each vehicle; nothing is remembered."""
        self._room, count, tracks = room, len(self), len(self.kinds[0].belts)
        self._candidates: Candidates = allocate_candidates(count, room, self._hulls, tracks, self._segments)
        self._memory = allocate_belt_memory(self._sections, self._points, room.sections, (count,))
        self.state.slack[:] = 0.0
        self._packed.clear()

    def _make_room(self, wanted: Room) -> None:
        """Grow to hold what is near, and some more."""
        before = self._memory
        grown = self._room.grown(wanted, self._sections)
        self._take_room(Room(*map(min, grown, LARGEST_ROOM)))
        copy_memory(self._memory, before)

    def packed(self, thread: int) -> list[Packed]:
        """Vehicles packed for a thread, with work arrays of its own, as each kind."""
        while len(self._packed) <= thread:
            self._packed.append([Packed.of(self._vehicles(kind)) for kind in self.kinds])
        return self._packed[thread]

    def _vehicles(self, kind: BeltKind) -> Vehicles:
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
        gravity: Vector,
        step: float,
        count: int,
        threads: Threads | None = None,
    ) -> None:
        """Take all vehicles that run through steps; those that fail stop, and get a status.

        Args:
            gravity: Gravity in the world [m/s^2].
            step: Duration of a step [s].
            count: Number of steps.
            threads: Threads that take the steps; the caller's alone if not given.
        """
        self._done[:] = np.where(self.status == RUNNING, 0, count)
        with interrupts_deferred():
            while (self._done < count).any():
                self._outcomes[:, 0] = DONE
                self._take_all_steps(threads or Threads(1), gravity, step, count, 1.0)
                self._look_after(count)
            self.steps[self.status == RUNNING] += count

    def _look_after(self, count: int) -> None:
        """Stop vehicles that failed, and make room for those that are crowded."""
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
            self._make_room(Room(*self._outcomes[crowded, 1:].max(axis=0).tolist()))

    def _take_all_steps(self, threads: Threads, *given: Any) -> None:
        """Take all vehicles through steps, in threads, each with work arrays of its own."""
        spans = iter(list(spans_of(self.kind_of, max(1, len(self) // (_BLOCKS * threads.count)))))
        self.packed(threads.count - 1)
        threads.call([partial(self._take_steps, k, spans, *given) for k in range(threads.count)])

    def _take_steps(self, thread: int, spans: Iterator[tuple[int, int, int]], *given: Any) -> None:
        packed = self.packed(thread)
        for first, last, kind in spans:
            advance(packed[kind], self.grounds, NO_REPORT, first, last, *given)

    def sample_cells(self, *given: Any) -> None:
        """Write mean heights in the cells of grids, see `height_scan.sample_cells`."""
        sample_cells(*given)

    def forget_contacts(self, chosen: NDArray[np.intp]) -> None:
        """Forget all contacts of vehicles, as of ones that were put where they are."""
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
        """Put vehicles at rest, commanded nothing, touching nothing yet; they run again.

        Args:
            chosen: Their indices (n,).
            positions: Body frames in the world (n, 3) [m].
            orientations: Quaternions (x, y, z, w) (n, 4).
            joints: Positions of the joints (n, J) [rad or m]; servos hold them there.
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

    def take_kinds(self, chosen: NDArray[np.intp], kinds: NDArray[np.intp]) -> None:
        """Let vehicles be of other kinds, with all that those have."""
        self.kind_of[chosen] = kinds
        self.state.frictions[chosen] = self._friction_by_kind[kinds]
        self.state.drive_factors[chosen] = 1.0
        pairs = (self.own, self._own_by_kind), (self.limits, self._limits_by_kind)
        for array, values in (pair for mine, by_kind in pairs for pair in zip(mine, by_kind, strict=True)):
            array[chosen] = values[kinds]

    def read_contacts(self, i: int, step: float) -> NDArray[np.float64]:
        """Contacts of a vehicle with the ground where it is now (n, `REPORT`); nothing is changed.

        Contacts are found anew, with what they remember. Their forces are those that the last step of a
        length [s] exerted.
        """
        sections = self._sections * (self._points + 2 * MAX_EDGES)
        edges = self._hulls * HULL_PARTS * MAX_EDGES
        rows = sections + self._history.solid_ids.shape[1] + 2 * edges
        if self._probe is None:
            grounds: Any = self.grounds.items
            sizes = [(len(ground.bounds), len(ground.edges)) for ground in grounds]
            solids, edges_near = map(max, zip(*sizes, strict=True))
            room = Room(self._sections, solids, edges_near, rows * MAX_SOLIDS_PER_POINT)
            self._probe = Fleet(self.kinds, np.zeros(1, np.intp), self.grounds, room)
        probe, kind = self._probe, int(self.kind_of[i])
        probe._copy_vehicle(self, i)
        report = np.zeros((rows, REPORT))
        advance(probe.packed(0)[kind], self.grounds, report, 0, 1, (0.0, 0.0, 0.0), step, 1, 1.0)
        assert probe._outcomes[0, 0] == DONE
        return report[report[:, 3] > 0]

    def save(self) -> SavedFleet:
        """Return everything that changes."""
        memory = allocate_belt_memory(self._sections, self._points, self._room.sections, (len(self),))
        copy_memory(memory, self._memory)
        own = OwnProperties(*(array.copy() for array in self.own))
        indices = np.stack([self.kind_of, self.terrain_of, self.status, self.steps])
        return SavedFleet(self.state.copy(), self._history.copy(), memory, own, indices)

    def restore(self, saved: SavedFleet) -> None:
        """Go back to what was saved of as many vehicles of the same kinds, on the same grounds."""
        places = saved.memory.sections.shape[1]
        if places > self._room.sections:
            self._take_room(self._room._replace(sections=places))
        overwrite(self.state, saved.state)
        overwrite(self._history, saved.history)
        overwrite(self.own, saved.own)
        overwrite((self.kind_of, self.terrain_of, self.status, self.steps), saved.indices)
        overwrite(self.limits, self._limits_by_kind.rows(self.kind_of))
        copy_memory(self._memory, saved.memory)
        self.state.slack[:], self._probe = 0.0, None

    def _copy_vehicle(self, other: Fleet, i: int) -> None:
        """Make the only vehicle equal to one of another fleet, for whose contacts there is room."""
        pairs = zip(
            (self.state, self._history, self.own), (other.state, other._history, other.own), strict=True
        )
        for mine, given in pairs:
            overwrite([array[0] for array in mine], [array[i] for array in given])
        copy_memory(self._memory, one_memory(other._memory, i))
        self.kind_of[0], self.terrain_of[0] = other.kind_of[i], other.terrain_of[i]
        self._done[0] = self.state.slack[0] = 0
