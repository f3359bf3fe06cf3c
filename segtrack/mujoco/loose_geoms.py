"""Geoms of bodies that move, near belts that do not feel them: `add` was not told of these bodies."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_STEPS_BETWEEN_LOOKS = 10


class LooseGeomWatch:
    """A watch for bodies that a vehicle's belts will pass through; each approach is one warning."""

    def __init__(self, model: Any, own: Collection[int], name: str, reach: float) -> None:
        """Begin with nothing near.

        Args:
            model: MuJoCo's model.
            own: Bodies of the vehicle, and those that it carries.
            name: Name of the vehicle, for messages.
            reach: Farthest of any part from the vehicle's centre of mass [m].
        """
        collides = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
        moves = model.body_weldid[model.geom_bodyid] != 0
        others = ~np.isin(model.geom_bodyid, list(own))
        self._geoms = np.flatnonzero(collides & moves & others)
        self._model, self._name, self._reach = model, name, reach
        self._near: set[int] = set()
        self._steps = 0

    def look(
        self, data: Any, center: NDArray[np.float64], belts: Callable[[], Iterable[NDArray[np.float64]]]
    ) -> None:
        """Warn, in one of some steps, of bodies that have come near belts since the last look.

        Args:
            data: MuJoCo's data, with poses.
            center: Centre of mass of the vehicle's body in the world (3,) [m].
            belts: Points of each belt in the world (n, 3) [m], when called; which it is only where such a
                body is near the vehicle.
        """
        self._steps += 1
        if not len(self._geoms) or self._steps % _STEPS_BETWEEN_LOOKS != 1:
            return
        model, geoms = self._model, self._geoms
        away = np.linalg.norm(data.geom_xpos[geoms] - center, axis=1)
        close = geoms[away < self._reach + model.geom_rbound[geoms]]
        near = set[int]()
        if len(close):
            rotations = data.geom_xmat[close].reshape(-1, 3, 3)
            middles = data.geom_xpos[close] + np.einsum("gij,gj->gi", rotations, model.geom_aabb[close, :3])
            halves = np.einsum("gij,gj->gi", np.abs(rotations), model.geom_aabb[close, 3:])
            for points in belts():
                low, high = points.min(axis=0), points.max(axis=0)
                meets = np.all((middles - halves <= high) & (middles + halves >= low), axis=1)
                near |= set(model.geom_bodyid[close[meets]].tolist())
        for body in sorted(near - self._near):
            logging.getLogger("segtrack").warning(
                "segtrack: body %r of the MuJoCo model comes near the belts of %s, which will pass through "
                "it: belts in MuJoCo touch static geoms, and bodies named to add(touches=...)",
                model.body(body).name or body,
                self._name,
            )
        self._near = near
