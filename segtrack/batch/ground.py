"""Packed terrains of a batch: a library, and one terrain of each vehicle's own."""

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
    """Terrain, packed for contacts and for height samples."""

    terrain: Terrain
    ground: Packed
    relief: Packed


class GroundLibrary:
    """Packed terrains by index: first the library, then one of each vehicle's own.

    Attributes:
        size: Number of terrains in the library.
        terrains: All terrains by index; the library's first stands in for an own one that is not set.
        packed: Packed grounds of all terrains, for contacts.
        reliefs: Packed heights of all terrains.
    """

    def __init__(self, terrains: Sequence[Terrain], belts: Sequence[BeltDesign], count: int) -> None:
        """Pack a library of terrains; one object given several times is packed once.

        Args:
            terrains: Terrain of each library index; empty for flat ground.
            belts: Belts that will run on them, to refuse grounds that these cannot use.
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
        """Own terrains of vehicles."""
        return tuple(self.terrains[self.size + i] for i in vehicles.tolist())

    def lay(self, vehicles: NDArray[np.intp], terrains: Sequence[Terrain]) -> NDArray[np.intp]:
        """Set terrains of vehicles' own, and return their indices; the vehicles must then be placed anew.

        Args:
            vehicles: Indices of the vehicles (n,).
            terrains: New terrain of each vehicle (n,).

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
        """Pack a terrain, or find an equal one packed lately."""
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
        """Sample terrain heights at points of vehicles [m].

        Args:
            indices: Index of each vehicle's terrain (n,).
            x: World x of the points (n, ...) [m].
            y: World y of the points (n, ...) [m].

        Returns:
            Heights of the same shape [m]; -inf where there is no ground, nan where a coordinate is.
        """
        unknown = np.isnan(x) | np.isnan(y)  # Kernels turn places into indices.
        if not unknown.any():
            return sample_reliefs(self.reliefs, indices, x, y)
        known = sample_reliefs(self.reliefs, indices, np.where(unknown, 0.0, x), np.where(unknown, 0.0, y))
        return np.where(unknown, np.nan, known)
