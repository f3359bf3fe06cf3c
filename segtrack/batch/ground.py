"""Grounds that kernels read: a library laid out in advance, and one that is each vehicle's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.compliant import BeltDesign, check_ground
from segtrack.errors import InvalidValueError
from segtrack.ground import pack_ground, pack_relief, sample_reliefs
from segtrack.kernels import Packed
from segtrack.terrain import Plane, Terrain, terrains_of

_KEPT = 64  # Grounds laid out of late: an equal one is not laid out again.


class _Laid(NamedTuple):
    """A terrain, its ground for contacts, and its heights."""

    terrain: Terrain
    ground: Packed
    relief: Packed


class GroundLibrary:
    """Terrains as kernels read them, each by its index: the library's, then one of each vehicle's own.

    Attributes:
        size: Number of terrains of the library.
        terrains: All of them, by index; what is a vehicle's own is the library's first until it is laid.
        packed: Grounds of the terrains, packed.
        reliefs: Their heights, packed.
    """

    def __init__(self, terrains: Sequence[Terrain], belts: Sequence[BeltDesign], count: int) -> None:
        """Lay terrains out; one that is given again is laid out once.

        Args:
            terrains: One for each index; flat ground for none.
            belts: Belts that are to run on them.
            count: Number of vehicles.

        Raises:
            InvalidValueError: A mesh with a piece that is not closed and convex, or soil under belts whose
                faces stand still.
        """
        self._belts = belts
        self._recent: dict[Terrain, _Laid] = {}
        given = tuple(terrains) or (Plane(),)
        self.size = len(given)
        made: dict[int, _Laid] = {}
        for terrain in given:
            if id(terrain) not in made:
                made[id(terrain)] = self._pack(terrain)
        self.terrains = [*given, *given[:1] * count]
        laid = [made[id(terrain)] for terrain in self.terrains]
        self.packed = Packed.joined([each.ground for each in laid])
        self.reliefs = Packed.joined([each.relief for each in laid])

    def _pack(self, terrain: Terrain) -> _Laid:
        ground = pack_ground((terrain,))
        check_ground(ground, self._belts)
        return _Laid(terrain, Packed.of(ground), Packed.of(pack_relief(terrain)))

    def own(self, vehicles: NDArray[np.intp]) -> tuple[Terrain, ...]:
        """Terrains that are vehicles' own, by their indices."""
        return tuple(self.terrains[self.size + i] for i in vehicles.tolist())

    def lay(self, vehicles: NDArray[np.intp], terrains: Sequence[Terrain]) -> NDArray[np.intp]:
        """Lay vehicles' own grounds, which replace those that they had; they are to be placed anew.

        Args:
            vehicles: Indices of the vehicles (n,).
            terrains: Ground of each (n,).

        Returns:
            Indices of the grounds (n,).

        Raises:
            InvalidValueError: Not terrains, another number of them, or as at construction; then nothing is
                replaced.
        """
        given = terrains_of(terrains)
        if isinstance(terrains, Terrain) or len(given) != len(vehicles):
            raise InvalidValueError(
                "terrain", f"{len(vehicles)}, one for each vehicle that is reset", terrains
            )
        indices = self.size + vehicles
        for index, laid in zip(indices.tolist(), [self._laid(terrain) for terrain in given], strict=True):
            if self.terrains[index] is not laid.terrain:
                self.terrains[index] = laid.terrain
                self.packed.replace(index, laid.ground)
                self.reliefs.replace(index, laid.relief)
        return indices

    def _laid(self, terrain: Terrain) -> _Laid:
        """A terrain that is equal to one, laid out."""
        try:
            known = self._recent.get(terrain)
        except TypeError:  # It has arrays, by which it cannot be found.
            return self._pack(terrain)
        if known is None:
            if len(self._recent) >= _KEPT:
                self._recent.pop(next(iter(self._recent)))
            known = self._recent[terrain] = self._pack(terrain)
        return known

    def heights(
        self, indices: NDArray[np.intp], x: NDArray[np.float64], y: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Sample heights of the ground under points of vehicles.

        Args:
            indices: Index of the ground of each vehicle (n,).
            x: World x of its points (n, ...) [m].
            y: World y of its points, of the same shape [m].

        Returns:
            Heights of the same shape [m]; -inf where there is no ground, nan where a coordinate is.
        """
        unknown = np.isnan(x) | np.isnan(y)  # Kernels turn places into indices.
        if not unknown.any():
            return sample_reliefs(self.reliefs, indices, x, y)
        known = sample_reliefs(self.reliefs, indices, np.where(unknown, 0.0, x), np.where(unknown, 0.0, y))
        return np.where(unknown, np.nan, known)
