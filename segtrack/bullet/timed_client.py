"""A client that knows how much of a step is PyBullet's."""

from __future__ import annotations

import time

import pybullet
from pybullet_utils.bullet_client import BulletClient


class TimedClient(BulletClient):
    """A client that adds up the time spent in Bullet's `stepSimulation`.

    Attributes:
        engine_time: So far [s].
    """

    engine_time = 0.0

    def stepSimulation(self) -> None:  # noqa: N802
        """Step, and count the time. The client's own Python stays outside, as in the class it extends."""
        step = self.__getattr__("stepSimulation")
        began = time.perf_counter()
        step()
        self.engine_time += time.perf_counter() - began


def open_timed_client() -> TimedClient:
    """A client of one's own, without a window."""
    return TimedClient(pybullet.DIRECT)
