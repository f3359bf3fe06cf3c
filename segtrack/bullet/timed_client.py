"""A PyBullet client that knows how long its steps took."""

from __future__ import annotations

import time

import pybullet
from pybullet_utils.bullet_client import BulletClient

from segtrack.quiet import without_greetings


class TimedClient(BulletClient):
    """A client without a window that adds up the time spent in Bullet's `stepSimulation`.

    Attributes:
        engine_time: So far [s].
    """

    engine_time = 0.0

    def __init__(self) -> None:
        """Connect."""
        with without_greetings():
            super().__init__(pybullet.DIRECT)

    def stepSimulation(self) -> None:  # noqa: N802
        """Step, and count the time. The client's own Python stays outside, as in the class it extends."""
        step = self.__getattr__("stepSimulation")
        began = time.perf_counter()
        step()
        self.engine_time += time.perf_counter() - began
