"""Grounds that are laid out in advance, of which each vehicle of a batch is on one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from segtrack.compliant.belt import BeltDesign, check_ground
from segtrack.errors import InvalidValueError
from segtrack.ground.pack import pack_ground
from segtrack.ground.tuples import Packed
from segtrack.terrain import Plane, Terrain


class GroundLibrary:
    """Terrains as kernels read them, each by its index.

    Attributes:
        terrains: The terrains.
        packed: Grounds of the terrains, packed.
    """

    def __init__(self, terrains: Sequence[Terrain], belts: Sequence[BeltDesign]) -> None:
        """Lay terrains out; one that is given again is laid out once.

        Args:
            terrains: One for each index; flat ground for none.
            belts: Belts that are to run on them.

        Raises:
            InvalidValueError: Not a terrain, a mesh with a piece that is not closed and convex, or soil under
                belts whose faces stand still.
        """
        for terrain in terrains:
            if not isinstance(terrain, Terrain):
                raise InvalidValueError("terrain", "one of segtrack.terrain", terrain)
        self.terrains = tuple(terrains) or (Plane(),)
        made: dict[int, Packed] = {}
        for terrain in self.terrains:
            if id(terrain) not in made:
                ground = pack_ground((terrain,))
                check_ground(ground, belts)
                made[id(terrain)] = Packed.of(ground)
        self.packed = Packed.joined([made[id(terrain)] for terrain in self.terrains])

    def heights(
        self, indices: NDArray[np.intp], x: NDArray[np.float64], y: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Heights of the ground under points of vehicles; -inf where there is none.

        Args:
            indices: Index of the ground of each vehicle (n,).
            x: World x of its points (n, ...) [m].
            y: World y of its points, of the same shape [m].

        Returns:
            Heights of the same shape [m].
        """
        heights = np.empty(x.shape)
        for index in np.unique(indices).tolist():
            own = indices == index
            heights[own] = self.terrains[index].height_at(x[own], y[own])
        return heights
