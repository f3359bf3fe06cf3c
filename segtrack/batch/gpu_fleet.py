"""Fleet with its arrays on a GPU, one thread per vehicle."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from operator import is_
from typing import Any

import numpy as np
from numba import cuda
from numpy.typing import NDArray

from segtrack.batch.fleet import NO_REPORT, Fleet
from segtrack.batch.fleet_arrays import SavedFleet
from segtrack.batch.gpu_arrays import GpuRows, to_gpu, zero_rows
from segtrack.batch.gpu_heights import join_reliefs, sample_cells
from segtrack.batch.gpu_steps import forget_contacts, join_grounds, take_steps
from segtrack.batch.threads import Threads
from segtrack.compliant import Room, allocate_belt_memory, allocate_candidates
from segtrack.errors import InvalidValueError
from segtrack.ground import allocate_contact_history
from segtrack.kernels import Packed
from segtrack.native import BeltKind, Vehicles, VehicleState, allocate_tree_work

_THREADS = 32
"""Threads of a block, a vehicle each."""


def _blocks(count: int) -> int:
    """Number of blocks for so many threads."""
    return -(-count // _THREADS)


class _Joined:
    """Cache of grounds joined on the GPU, renewed when one of them is replaced."""

    def __init__(self, join: Callable[[list[Any]], Any]) -> None:
        """Set the function that joins the items."""
        self._join = join
        self._items, self._there = list[Any](), None

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle without the joined arrays."""
        return _Joined, (self._join,)

    def joined(self, packed: Packed) -> Any:
        """Joined arrays on the GPU for the packed items."""
        items = packed.items
        if len(self._items) != len(items) or not all(map(is_, self._items, items)):
            self._there, self._items = to_gpu(self._join(items)), list(items)
        return self._there


class GpuFleet(Fleet):
    """`Fleet` with its arrays on a GPU.

    `state` and `own` are arrays on the host for whoever asks, copied there then, see `GpuRows`; they may be
    changed within `changing` alone, so that what a user writes on the GPU is never overwritten. Kinds and
    grounds are copied to the GPU once, all grounds anew after another one was laid.
    """

    def __init__(
        self, kinds: Sequence[BeltKind], kind_of: NDArray[np.intp], grounds: Packed, room: Room | None = None
    ) -> None:
        """Allocate the state; arguments as in `Fleet`."""
        self._kinds_there: list[Any] | None = None
        self._work: Any = None
        self._grounds_there, self._reliefs_there = _Joined(join_grounds), _Joined(join_reliefs)
        self._held = True  # Until all arrays are there.
        super().__init__(kinds, kind_of, grounds, room)
        rows: Any = tuple(map(GpuRows, (self.state, self.own, self._history)))
        self.state, self.own, self._history = rows
        self._hold(False)

    def __getstate__(self) -> dict[str, Any]:
        """Return everything except the arrays that are copied to the GPU again."""
        there: dict[str, Any] = {"_kinds_there": None, "_work": None}
        return super().__getstate__() | there

    @property
    def device_arrays(self) -> VehicleState:
        """State of the vehicles in GPU memory."""
        rows: Any = self.state
        return rows.device

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Context in which arrays may be changed on the host; at its end they are copied to the GPU."""
        if self._held:
            yield
            return
        self._hold(True)
        try:
            yield
        finally:
            self._hold(False)

    def _hold(self, held: bool) -> None:
        """Begin to keep host copies of state and properties, or copy them back to the GPU."""
        self._held = held
        kept: Any = self.state, self.own, self._history, self._memory, self._candidates
        for rows in kept:
            rows.flush()
            rows.hold(held)

    def _allocate_contacts(self, room: Room) -> None:
        super()._allocate_contacts(room)
        self._work = None
        rows: Any = tuple(map(GpuRows, (self._memory, self._candidates)))
        self._memory, self._candidates = rows
        for each in rows:
            each.hold(True)

    def _enlarge_contacts(self, wanted: Room) -> None:
        with self.changing():
            super()._enlarge_contacts(wanted)

    def place(self, *given: Any) -> None:
        """Place vehicles at rest, see `Fleet.place`."""
        with self.changing():
            super().place(*given)

    def assign_kinds(self, *given: Any) -> None:
        """Change the variants of vehicles, see `Fleet.assign_kinds`."""
        with self.changing():
            super().assign_kinds(*given)

    def restore(self, saved: SavedFleet) -> None:
        """Restore a snapshot, see `Fleet.restore`."""
        with self.changing():
            super().restore(saved)

    def kernel_arguments(self, thread: int) -> list[Packed]:
        """Kernel arguments of the vehicles' present state for read-only kernels on the host, by kind."""
        self._packed.clear()
        return super().kernel_arguments(0)

    def _vehicles(self, kind: BeltKind) -> Vehicles:
        """Arrays of all vehicles on the host, without contact candidates and contact memory."""
        own: Any = self.own
        return Vehicles(
            own.copy().within(kind.arrays),
            self.terrain_of,
            self.state.copy(),
            allocate_contact_history(0, 0, (0,)),
            allocate_belt_memory(0, 0, 0, (0,)),
            allocate_candidates(0, Room(0, 0, 0, 0), 0, 0, 0),
            allocate_tree_work(kind.arrays.tree, 0),
            self._done,
            self._outcomes,
        )

    def forget_contacts(self, chosen: NDArray[np.intp]) -> None:
        """Clear the contact memory of vehicles that were moved."""
        contacts: Any = self._memory, self._history
        if len(chosen):
            there = cuda.to_device(chosen), *(rows.device for rows in contacts)
            forget_contacts[_blocks(len(chosen)), _THREADS](*there)
        self.write(chosen, slack=0.0)

    def sample_cells(
        self,
        reliefs: Packed,
        indices: NDArray[np.intp],
        frames: NDArray[np.float64],
        cells: NDArray[np.float64],
        means: NDArray[np.float64],
    ) -> None:
        """Write mean terrain heights in the cells of grids on the GPU; see `height_scan.sample_cells`."""
        if means.size:
            joined = self._reliefs_there.joined(reliefs)
            there = map(to_gpu, (indices, frames, *cells))
            found = cuda.device_array(means.shape, means.dtype)
            sample_cells[_blocks(means.size), _THREADS](joined, *there, found)
            found.copy_to_host(means)

    def check_gravity(self, gravity: NDArray[np.float64]) -> None:
        """Refuse gravities (N,) that differ: a kernel takes one.

        Raises:
            InvalidValueError: They do.
        """
        if np.ptp(gravity):
            raise InvalidValueError("gravity [m/s^2] on a GPU", "the same for all vehicles", gravity)

    def _take_all_steps(self, threads: Threads, gravity: NDArray[np.float64], *given: Any) -> None:
        """Advance all vehicles on the GPU."""
        down = (0.0, 0.0, -float(gravity[0]))
        own: Any = self.own
        changing: Any = self.state, self._history, self._memory, self._candidates
        if self._kinds_there is None:
            self._kinds_there = [to_gpu(kind.arrays) for kind in self.kinds]
        if self._work is None:
            tree = self.kinds[0].arrays.tree
            self._work = to_gpu(zero_rows(allocate_tree_work(tree, self._room.contacts), len(self)))
        terrains, kinds, done, outcomes, report = map(
            cuda.to_device, (self.terrain_of, self.kind_of, self._done, self._outcomes, NO_REPORT)
        )
        grounds, parts = self._grounds_there.joined(self.grounds), (rows.device for rows in changing)
        rest: Any = terrains, *parts, self._work, done, outcomes
        for k, kind in enumerate(self._kinds_there):
            vehicles = Vehicles(own.device.within(kind), *rest)
            take_steps[_blocks(len(self)), _THREADS](vehicles, kinds, k, grounds, report, down, *given)
        done.copy_to_host(self._done)
        outcomes.copy_to_host(self._outcomes)
