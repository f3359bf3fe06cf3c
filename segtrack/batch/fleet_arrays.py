"""Arrays of a fleet: properties of single vehicles, command limits, snapshots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.compliant import BeltMemory
from segtrack.errors import InvalidValueError, Phrase
from segtrack.ground import ContactHistory
from segtrack.native import CROWDED, DONE, NOT_FINITE, OWN, TOO_FAST, BeltKind, VehicleArrays, VehicleState
from segtrack.robot import CommandLimits
from segtrack.terrain import Terrain

RUNNING = DONE
"""Status of vehicles in steps; others are `CROWDED`, `NOT_FINITE` or `TOO_FAST`."""
STATUSES = {RUNNING: "running", CROWDED: "crowded", NOT_FINITE: "diverged", TOO_FAST: "diverged"}
"""Words for `Batch.status`."""


class OwnProperties(NamedTuple):
    """Properties of N vehicles that may differ within a variant.

    Attributes:
        masses: Masses of the links (N, L) [kg].
        centers: Centres of mass in the link frames (N, L, 3) [m].
        inertias: Inertia about the centres of mass, in the link frames' axes (N, L, 3, 3) [kg m^2].
        max_torques: Largest servo torques or forces (N, J) [N m or N].
        max_speeds: Largest servo speeds (N, J) [rad/s or m/s].
        drives: Drive laws, see `VehicleArrays.drives` (N, T, 5 + 2 K).
        reaches: Largest distance of any part from the root's centre of mass (N, 1) [m].
    """

    masses: NDArray[np.float64]
    centers: NDArray[np.float64]
    inertias: NDArray[np.float64]
    max_torques: NDArray[np.float64]
    max_speeds: NDArray[np.float64]
    drives: NDArray[np.float64]
    reaches: NDArray[np.float64]

    @classmethod
    def of(cls, kinds: Sequence[BeltKind]) -> OwnProperties:
        """Properties of one vehicle of each kind."""
        widest = max(kind.arrays.drives.shape[1] for kind in kinds)
        drives = [_widened(kind.arrays.drives, widest) for kind in kinds]
        trees = [[getattr(kind.arrays.tree, name) for kind in kinds] for name in OWN]
        reaches = [kind.arrays.reaches for kind in kinds]
        return cls(*(np.stack(rows) for rows in (*trees, drives, reaches)))

    def within(self, arrays: VehicleArrays) -> VehicleArrays:
        """Copy of a kind's arrays with these properties in place of the kind's."""
        tree = arrays.tree._replace(**{name: getattr(self, name) for name in OWN})
        return arrays._replace(tree=tree, drives=self.drives, reaches=self.reaches)


def limits_of(kinds: Sequence[BeltKind]) -> CommandLimits:
    """Limits of commands to one vehicle of each kind, as in a world; those of kernels are rounded."""
    vehicles = [kind.description for kind in kinds]
    each = [CommandLimits.of(vehicle, vehicle.joint_tree.joints) for vehicle in vehicles]
    return CommandLimits(*map(np.stack, zip(*each, strict=True)))


def _widened(drives: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """Pad a drive table to a width with its last row of speed and force."""
    more = (width - drives.shape[1]) // 2
    return np.hstack([drives, np.tile(drives[:, -2:], (1, more))])


class SavedFleet(NamedTuple):
    """Snapshot of a fleet, with arrays of its own.

    Attributes:
        state: States of the vehicles.
        history: Memory of the hulls' contacts.
        memory: Memory of the belts' contacts.
        own: Properties of single vehicles.
        indices: Kind, ground, status and number of steps of each vehicle (4, N).
    """

    state: VehicleState
    history: ContactHistory
    memory: BeltMemory
    own: OwnProperties
    indices: NDArray[np.intp]


class SavedBatch(NamedTuple):
    """Snapshot of a batch.

    Attributes:
        fleet: Snapshot of its vehicles.
        own_terrains: Terrains of single vehicles (N,).
        gravity: Downward acceleration of each vehicle (N,) [m/s^2].
        made_of: Number of vehicles, track model, time step, variants and terrain library of the batch.
    """

    fleet: SavedFleet
    own_terrains: tuple[Terrain, ...]
    gravity: NDArray[np.float64]
    made_of: tuple[Any, ...]


def check_snapshot(snapshot: Any, made_of: tuple[Any, ...]) -> None:
    """Refuse anything but a snapshot of a batch built alike; terrains with arrays must be identical objects.

    Raises:
        InvalidValueError: It is none.
    """
    known = isinstance(snapshot, SavedBatch) and len(snapshot.made_of) == len(made_of)
    with suppress(ValueError):  # Arrays that are equal here and not there.
        if known and all(a is b or bool(a == b) for a, b in zip(snapshot.made_of, made_of, strict=True)):
            return
    expected = "one of a batch of the same number, variants, grounds, track model and time step"
    raise InvalidValueError("snapshot", expected, Phrase(type(snapshot).__name__))


def check_alike(kinds: Sequence[BeltKind]) -> None:
    """Refuse variants whose links and joints are not alike.

    Raises:
        InvalidValueError: Other links, joints or tracks than the first one's.
    """
    first, *others = ((kind, _structure(kind)) for kind in kinds)
    for kind, structure in others:
        if structure != first[1]:
            expected = f"with the flippers, joints and tracks of {first[0].description.name}"
            raise InvalidValueError("variant", expected, Phrase(kind.description.name))


def _structure(kind: BeltKind) -> tuple[Any, ...]:
    """Structure that all variants of a batch must share."""
    vehicle, links = kind.description, kind.links
    joints = [(j.name, j.kind, j.mimicry, j.servo is None) for j in vehicle.joint_tree.joints]
    tracks = [(track.name, track.side) for track in vehicle.mounted_tracks()]
    return tuple(vehicle.flippers), joints, tracks, links.parents, links.track_links, vehicle.body.fixed


def memory_of_vehicle(memory: BeltMemory, i: int) -> BeltMemory:
    """Contact memory of the belts of vehicle i, as views of the arrays."""
    one = slice(i, i + 1)
    rows: Any = [array[one] for array in memory.contacts]
    return BeltMemory(memory.places[one], memory.sections[one], ContactHistory(*rows))


def runs_of_one_kind(kind_of: NDArray[np.intp], longest: int) -> Iterator[tuple[int, int, int]]:
    """Runs of neighbouring vehicles of one kind, at most `longest` long: first, end (exclusive), kind."""
    changes = np.flatnonzero(np.diff(kind_of)) + 1
    for begin, end in pairwise([0, *changes.tolist(), len(kind_of)]):
        for first in range(begin, end, longest):
            yield first, min(first + longest, end), int(kind_of[first])
