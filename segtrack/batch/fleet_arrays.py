"""Arrays of a fleet: properties that each vehicle has by itself, what its variants share, what is saved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.compliant.memory import BeltMemory
from segtrack.errors import InvalidValueError, Phrase
from segtrack.ground.broadphase import ContactHistory
from segtrack.native.belt_kind import BeltKind
from segtrack.native.tree import OWN, VehicleState
from segtrack.terrain import Terrain


class OwnProperties(NamedTuple):
    """Properties of N vehicles that each has by itself.

    Attributes:
        masses: Masses of the links (N, L) [kg].
        centers: Centres of mass in the link frames (N, L, 3) [m].
        inertias: About the centres of mass, in the link frames (N, L, 3, 3) [kg m^2].
        max_torques: Largest torques or forces of the servos (N, J) [N m or N].
        max_speeds: Largest speeds of the servos (N, J) [rad/s or m/s].
        drives: Laws of the drives, see `VehicleArrays.drives` (N, T, 5 + 2 K).
        reaches: Farthest of any part from the root's centre of mass (N, 1) [m].
    """

    masses: NDArray[np.float64]
    centers: NDArray[np.float64]
    inertias: NDArray[np.float64]
    max_torques: NDArray[np.float64]
    max_speeds: NDArray[np.float64]
    drives: NDArray[np.float64]
    reaches: NDArray[np.float64]

    @classmethod
    def of(cls, kinds: Sequence[BeltKind], kind_of: NDArray[np.intp]) -> OwnProperties:
        """Return those that vehicles have by their kinds."""
        widest = max(kind.arrays.drives.shape[1] for kind in kinds)
        drives = [_widened(kind.arrays.drives, widest) for kind in kinds]
        trees = [[getattr(kind.arrays.tree, name) for kind in kinds] for name in OWN]
        reaches = [kind.arrays.reaches for kind in kinds]
        return cls(*(np.stack(rows)[kind_of] for rows in (*trees, drives, reaches)))


def _widened(drives: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """A table of drives with its last row of speed and force repeated."""
    more = (width - drives.shape[1]) // 2
    return np.hstack([drives, np.tile(drives[:, -2:], (1, more))])


class SavedFleet(NamedTuple):
    """Everything of a fleet that changes, with arrays of its own.

    Attributes:
        state: States of the vehicles.
        history: Memory of the hulls' contacts.
        memory: Memory of the belts' contacts.
        own: Properties that each vehicle has by itself.
        indices: Kind, ground, status and number of steps of each vehicle (4, N).
    """

    state: VehicleState
    history: ContactHistory
    memory: BeltMemory
    own: OwnProperties
    indices: NDArray[np.intp]


class SavedBatch(NamedTuple):
    """Everything of a batch that changes.

    Attributes:
        fleet: Everything of its vehicles.
        own_terrains: Grounds that are vehicles' own (N,).
    """

    fleet: SavedFleet
    own_terrains: tuple[Terrain, ...]


def check_alike(kinds: Sequence[BeltKind]) -> None:
    """Refuse variants that do not share their links and joints.

    Raises:
        InvalidValueError: Other links, joints or tracks than the first one's.
    """
    first = kinds[0]
    names = [track.name for track in first.description.mounted_tracks()]
    for kind in kinds[1:]:
        alike = (
            tuple(kind.description.flippers) == tuple(first.description.flippers)
            and kind.links.parents == first.links.parents
            and kind.links.track_links == first.links.track_links
            and [track.name for track in kind.description.mounted_tracks()] == names
        )
        if not alike:
            expected = f"with the flippers, joints and tracks of {first.description.name}"
            raise InvalidValueError("variant", expected, Phrase(kind.description.name))


def one_memory(memory: BeltMemory, i: int) -> BeltMemory:
    """Memory of the belts of vehicle i alone, which shares the arrays."""
    one = slice(i, i + 1)
    rows: Any = [array[one] for array in memory.contacts]
    return BeltMemory(memory.places[one], memory.sections[one], ContactHistory(*rows))
