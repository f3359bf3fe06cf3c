"""A fleet whose arrays live on a GPU, where a thread takes each vehicle through its steps."""

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
from segtrack.batch.gpu_arrays import GpuRows, rows_of, to_gpu
from segtrack.batch.gpu_heights import join_reliefs, sample_cells
from segtrack.batch.gpu_steps import forget_contacts, join_grounds, take_steps
from segtrack.batch.threads import Threads
from segtrack.compliant import Room, allocate_belt_memory, allocate_candidates
from segtrack.ground import allocate_contact_history
from segtrack.kernels import Packed
from segtrack.native import BeltKind, Vehicles, VehicleState, allocate_tree_work

_THREADS = 32
"""Threads of a block, a vehicle each."""


def _blocks(count: int) -> int:
    """Blocks for so many threads."""
    return -(-count // _THREADS)


class _Joined:
    """What is packed of grounds, joined on the GPU, anew after one of them was replaced."""

    def __init__(self, join: Callable[[list[Any]], Any]) -> None:
        """Choose the function that joins."""
        self._join = join
        self._items, self._there = list[Any](), None

    def __reduce__(self) -> tuple[Any, ...]:
        """Begin without any."""
        return _Joined, (self._join,)

    def joined(self, packed: Packed) -> Any:
        """All items on the GPU."""
        items = packed.items
        if len(self._items) != len(items) or not all(map(is_, self._items, items)):
            self._there, self._items = to_gpu(self._join(items)), list(items)
        return self._there


class GpuFleet(Fleet):
    """A `Fleet` on a GPU.

    `state` and `own` are arrays on the host for whoever asks, copied there then, see `GpuRows`; they may be
    changed within `changing` alone, so that what a user writes on the GPU is never overwritten. Kinds and
    grounds are copied to the GPU once, all grounds anew after another one was laid.
    """

    def __init__(
        self, kinds: Sequence[BeltKind], kind_of: NDArray[np.intp], grounds: Packed, room: Room | None = None
    ) -> None:
        """Allocate what changes; arguments as of `Fleet`."""
        self._kinds_there: list[Any] | None = None
        self._work: Any = None
        self._grounds_there, self._reliefs_there = _Joined(join_grounds), _Joined(join_reliefs)
        self._held = True  # Until all arrays are there.
        super().__init__(kinds, kind_of, grounds, room)
        rows: Any = tuple(map(GpuRows, (self.state, self.own, self._history)))
        self.state, self.own, self._history = rows
        self._hold(False)

    def __getstate__(self) -> dict[str, Any]:
        """Return everything but what is copied to the GPU anew."""
        there: dict[str, Any] = {"_kinds_there": None, "_work": None}
        return super().__getstate__() | there

    @property
    def device_arrays(self) -> VehicleState:
        """State of the vehicles on the GPU."""
        rows: Any = self.state
        return rows.device

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Return a context in which arrays may be changed on the host, at whose end the GPU has them."""
        if self._held:
            yield
            return
        self._hold(True)
        try:
            yield
        finally:
            self._hold(False)

    def _hold(self, held: bool) -> None:
        """Begin to keep what is copied to the host, or copy it to the GPU."""
        self._held = held
        kept: Any = self.state, self.own, self._history, self._memory, self._candidates
        for rows in kept:
            rows.flush()
            rows.hold(held)

    def _take_room(self, room: Room) -> None:
        super()._take_room(room)
        self._work = None
        rows: Any = tuple(map(GpuRows, (self._memory, self._candidates)))
        self._memory, self._candidates = rows
        for each in rows:
            each.hold(True)

    def _make_room(self, wanted: Room) -> None:
        with self.changing():
            super()._make_room(wanted)

    def place(self, *given: Any) -> None:
        """Put vehicles at rest, see `Fleet.place`."""
        with self.changing():
            super().place(*given)

    def take_kinds(self, *given: Any) -> None:
        """Let vehicles be of other kinds, with all that those have."""
        with self.changing():
            super().take_kinds(*given)

    def restore(self, saved: SavedFleet) -> None:
        """Go back to what was saved, see `Fleet.restore`."""
        with self.changing():
            super().restore(saved)

    def packed(self, thread: int) -> list[Packed]:
        """Vehicles as they are now, packed for kernels of the host that move nothing."""
        self._packed.clear()
        return super().packed(0)

    def _vehicles(self, kind: BeltKind) -> Vehicles:
        """Vehicles on the host, without memory and candidates of contacts."""
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
        """Forget all contacts of vehicles, as of ones that were put where they are."""
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
        """Write mean heights in the cells of grids, sampled on the GPU; see `height_scan.sample_cells`."""
        if means.size:
            joined = self._reliefs_there.joined(reliefs)
            there = map(to_gpu, (indices, frames, *cells))
            found = cuda.device_array(means.shape, means.dtype)
            sample_cells[_blocks(means.size), _THREADS](joined, *there, found)
            found.copy_to_host(means)

    def _take_all_steps(self, threads: Threads, *given: Any) -> None:
        """Let the GPU take all vehicles through steps."""
        own: Any = self.own
        changing: Any = self.state, self._history, self._memory, self._candidates
        if self._kinds_there is None:
            self._kinds_there = [to_gpu(kind.arrays) for kind in self.kinds]
        if self._work is None:
            tree = self.kinds[0].arrays.tree
            self._work = to_gpu(rows_of(allocate_tree_work(tree, self._room.contacts), len(self)))
        terrains, kinds, done, outcomes, report = map(
            cuda.to_device, (self.terrain_of, self.kind_of, self._done, self._outcomes, NO_REPORT)
        )
        grounds, parts = self._grounds_there.joined(self.grounds), (rows.device for rows in changing)
        rest: Any = terrains, *parts, self._work, done, outcomes
        for k, kind in enumerate(self._kinds_there):
            vehicles = Vehicles(own.device.within(kind), *rest)
            take_steps[_blocks(len(self)), _THREADS](vehicles, kinds, k, grounds, report, *given)
        done.copy_to_host(self._done)
        outcomes.copy_to_host(self._outcomes)
