"""Loose bodies near belts that do not feel them: chains and compliant belts touch described terrain only."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

import numpy as np
import pybullet
from numpy.typing import NDArray

STEPS_BETWEEN_LOOKS = 10
"""Steps of somebody else's loop from one look to the next."""


class LooseBodyWatch:
    """A watch for bodies that a vehicle's belts will pass through; each approach is one warning."""

    def __init__(self, client: int, own: Sequence[int], name: str) -> None:
        """Begin with nothing near.

        Args:
            client: PyBullet's id of the client.
            own: PyBullet's ids of the vehicle's bodies.
            name: The vehicle's, for messages.
        """
        self._client, self._own, self._name = client, frozenset(own), name
        self._near: set[int] = set()
        self._looks = 0

    def is_due(self) -> bool:
        """Return whether this step is one of every `STEPS_BETWEEN_LOOKS`, the first among them."""
        self._looks += 1
        return self._looks % STEPS_BETWEEN_LOOKS == 1

    def look(self, belts: Iterable[NDArray[np.float64]]) -> None:
        """Warn of loose bodies that have come near belts since the last look.

        Args:
            belts: Points of each belt that PyBullet does not collide, in the world (n, 3) [m].
        """
        near = set[int]()
        for points in belts:
            if len(points) > 0:
                box = points.min(axis=0).tolist(), points.max(axis=0).tolist()
                found = pybullet.getOverlappingObjects(*box, physicsClientId=self._client)
                near.update(body for body, _ in found or ())
        near -= self._own
        for body in sorted(near - self._near):
            if pybullet.getDynamicsInfo(body, -1, physicsClientId=self._client)[0] > 0.0:
                self._warn(body)
        self._near = near

    def _warn(self, body: int) -> None:
        name = pybullet.getBodyInfo(body, physicsClientId=self._client)[1].decode(errors="replace")
        logging.getLogger("segtrack").warning(
            "segtrack: body %d%s comes near the belts of %s, which will pass through it: "
            "belts of this track model touch described terrain only",
            body,
            f" ({name})" if name else "",
            self._name,
        )
