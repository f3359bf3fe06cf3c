"""Loose bodies near belts that do not feel them: chains and compliant belts touch described terrain only."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence

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
            own: PyBullet's ids of the vehicle's bodies, its own multibody first.
            name: The vehicle's, for messages.
        """
        self._client, self._body, self._own, self._name = client, own[0], frozenset(own), name
        self._reach: float | None = None
        self._near: set[int] = set()
        self._looks = 0

    def is_due(self) -> bool:
        """Return whether this step is one of every `STEPS_BETWEEN_LOOKS`, the first among them."""
        self._looks += 1
        return self._looks % STEPS_BETWEEN_LOOKS == 1

    def look(self, belts: Callable[[], Iterable[NDArray[np.float64]]]) -> None:
        """Warn of loose bodies that have come near belts since the last look.

        Args:
            belts: Points of each belt that PyBullet does not collide, in the world (n, 3) [m], when called;
                which it is only where a loose body is near the vehicle, since that takes a millisecond.
        """
        client = self._client
        if self._reach is None:
            center, _ = pybullet.getBasePositionAndOrientation(self._body, physicsClientId=client)
            points = np.concatenate([np.zeros((0, 3)), *belts()])
            # Flippers may come to stand farther out than now.
            self._reach = 2.0 * float(np.linalg.norm(points - center, axis=1).max(initial=0.0))
        if self._reach == 0.0:
            return
        center, _ = pybullet.getBasePositionAndOrientation(self._body, physicsClientId=client)
        around = [x - self._reach for x in center], [x + self._reach for x in center]
        near = set[int]()
        if self._loose_in(*around):
            for points in belts():
                near |= self._loose_in(points.min(axis=0).tolist(), points.max(axis=0).tolist())
        for body in sorted(near - self._near):
            self._warn(body)
        self._near = near

    def _loose_in(self, low: list[float], high: list[float]) -> set[int]:
        """Bodies with a mass, but the vehicle's, whose boxes meet one."""
        found = pybullet.getOverlappingObjects(low, high, physicsClientId=self._client) or ()
        others = {body for body, _ in found} - self._own
        return {
            body
            for body in others
            if pybullet.getDynamicsInfo(body, -1, physicsClientId=self._client)[0] > 0.0
        }

    def _warn(self, body: int) -> None:
        name = pybullet.getBodyInfo(body, physicsClientId=self._client)[1].decode(errors="replace")
        logging.getLogger("segtrack").warning(
            "segtrack: body %d%s comes near the belts of %s, which will pass through it: "
            "belts of this track model touch described terrain only",
            body,
            f" ({name})" if name else "",
            self._name,
        )
