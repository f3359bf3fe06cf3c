"""Memory of the contacts of belts: a section has a place in it while anything is near."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.ground import (
    MAX_EDGES,
    MAX_SOLIDS_PER_POINT,
    NONE,
    ContactHistory,
    allocate_contact_history,
    forget_contacts,
    forget_edges,
)
from segtrack.kernels import compiled, inlined


class BeltMemory(NamedTuple):
    """Memory of the contacts of sections, of which few are near anything at a time; kernels change it.

    For N vehicles each array has a further first axis of length N.

    Attributes:
        places: Place of each section, or `NONE` (P,).
        sections: Section at each place, or `NONE` (R,).
        contacts: Memory of R parts, a place each.
    """

    places: NDArray[np.int32]
    sections: NDArray[np.int32]
    contacts: ContactHistory


class SavedSections(NamedTuple):
    """Memory of n sections near anything.

    Attributes:
        sections: Their indices (n,).
        contacts: Rows of n places of each array of `BeltMemory.contacts`.
    """

    sections: NDArray[np.int32]
    contacts: tuple[NDArray[np.float64 | np.int32], ...]


def allocate_belt_memory(
    sections: int, points: int, places: int, vehicles: tuple[int, ...] = ()
) -> BeltMemory:
    """Return the memory of sections that touch nothing yet.

    Args:
        sections: Number of sections.
        points: Points of each.
        places: Number of places.
        vehicles: First axes of the arrays; (N,) for N vehicles side by side.
    """
    return BeltMemory(
        np.full((*vehicles, sections), NONE, dtype=np.int32),
        np.full((*vehicles, places), NONE, dtype=np.int32),
        allocate_contact_history(places * points, places, vehicles),
    )


@compiled
def release_place(memory: BeltMemory, section: int, points: int) -> None:
    """Forget the contacts of a section of so many points that has a place, which becomes free."""
    place = memory.places[section]
    forget_contacts(memory.contacts, place * points, points)
    forget_edges(memory.contacts, place * MAX_EDGES, MAX_EDGES)
    memory.places[section] = memory.sections[place] = NONE


@inlined
def remembers_contact(memory: BeltMemory, place: int, points: int) -> bool:
    """Return whether a section of so many points, at a place, remembers a solid or an edge."""
    slots = points * MAX_SOLIDS_PER_POINT
    for slot in range(place * slots, (place + 1) * slots):
        if memory.contacts.solid_ids[slot] != NONE:
            return True
    for slot in range(place * MAX_EDGES, (place + 1) * MAX_EDGES):
        if memory.contacts.edge_ids[slot] != NONE:
            return True
    return False


@compiled
def take_places(memory: BeltMemory, near: NDArray[np.int32], count: int) -> None:
    """Give each of the first `count` sections that are near anything a place; there must be enough."""
    free = 0
    for k in range(count):
        section = near[k]
        if memory.places[section] == NONE:
            while memory.sections[free] != NONE:
                free += 1
            memory.places[section], memory.sections[free] = free, section


def forget_all(memory: BeltMemory) -> None:
    """Forget all contacts of all sections."""
    memory.places[...] = memory.sections[...] = NONE
    memory.contacts.solid_ids[...] = memory.contacts.edge_ids[...] = NONE


def forget_sections(memory: BeltMemory, first: int, last: int) -> None:
    """Forget what one vehicle remembers of the sections from `first` to before `last`."""
    places = memory.places[first:last][memory.places[first:last] != NONE]
    for ids in (memory.contacts.solid_ids, memory.contacts.edge_ids):
        ids.reshape(len(memory.sections), -1)[places] = NONE
    memory.places[first:last] = memory.sections[places] = NONE


def copy_memory(into: BeltMemory, memory: BeltMemory) -> None:
    """Overwrite a memory of at least as many places with another one of sections like its own."""
    forget_all(into)
    into.places[...] = memory.places
    into.sections[..., : memory.sections.shape[-1]] = memory.sections
    pairs: Iterable[tuple[NDArray[Any], NDArray[Any]]] = zip(into.contacts, memory.contacts, strict=True)
    for mine, given in pairs:
        axis = memory.sections.ndim - 1
        mine[(slice(None),) * axis + (slice(given.shape[axis]),)] = given


def save_sections(memory: BeltMemory, first: int, last: int) -> SavedSections:
    """Return what one vehicle remembers of the sections from `first` to before `last`."""
    sections = first + np.flatnonzero(memory.places[first:last] != NONE)
    places = memory.places[sections]
    return SavedSections(sections.astype(np.int32), tuple(rows[places] for rows in _by_place(memory)))


def restore_sections(memory: BeltMemory, first: int, last: int, saved: SavedSections) -> None:
    """Remember of the sections from `first` to before `last` what was saved of these, and nothing else."""
    forget_sections(memory, first, last)
    places = np.flatnonzero(memory.sections == NONE)[: len(saved.sections)]
    assert len(places) == len(saved.sections)
    memory.places[saved.sections], memory.sections[places] = places, saved.sections
    for rows, given in zip(_by_place(memory), saved.contacts, strict=True):
        rows[places] = given


def _by_place(memory: BeltMemory) -> list[NDArray[np.float64 | np.int32]]:
    """Memory of the contacts of one vehicle, each array with a row a place."""
    return [array.reshape(len(memory.sections), -1) for array in memory.contacts]
