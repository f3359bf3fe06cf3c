"""A degraded radio link: each message of one direction is delayed, held back or lost, by a seeded draw.

A message is refused if it comes sooner than the rate allows after the last one taken; of those taken a
share is lost; the others arrive after `delay`, and up to `jitter` more. Whoever listens wants the latest:
a message that a later one has overtaken is dropped. Time is the caller's, so that tests need no clock.
"""

from __future__ import annotations

import heapq
import math
import random
from typing import Generic, TypeVar

from segtrack.station.protocol import LinkQuality

Item = TypeVar("Item")
_RATE_TOLERANCE = 0.1
"""Fraction of a period by which a message may come early: senders' clocks are not exact."""


class DegradedLink(Generic[Item]):
    """One direction of a link.

    Attributes:
        quality: Delay, jitter, loss and rate.
    """

    def __init__(self, quality: LinkQuality, seed: int) -> None:
        """Open a link with nothing on its way."""
        self.quality = quality
        self._random = random.Random(seed)
        self._on_the_way: list[tuple[float, int, Item]] = []
        self._number = 0
        self._arrived = -1
        self._free_at = -math.inf

    def send(self, now: float, item: Item) -> None:
        """Send a message at time `now` [s]."""
        if now < self._free_at:
            return
        self._free_at = now + (1 - _RATE_TOLERANCE) / self.quality.rate
        lost = self._random.random() < self.quality.loss
        late = self._random.uniform(0.0, self.quality.jitter)
        if not lost:
            heapq.heappush(self._on_the_way, (now + self.quality.delay + late, self._number, item))
        self._number += 1

    @property
    def next_arrival(self) -> float | None:
        """When the next message arrives [s]; None if none is on its way."""
        return self._on_the_way[0][0] if self._on_the_way else None

    def drop(self) -> None:
        """Drop all that is on its way."""
        self._on_the_way.clear()

    def receive(self, now: float) -> list[Item]:
        """Messages that have arrived until `now` [s], in the order in which they were sent."""
        arrived = []
        while self._on_the_way and self._on_the_way[0][0] <= now:
            _, number, item = heapq.heappop(self._on_the_way)
            if number > self._arrived:
                self._arrived = number
                arrived.append(item)
        return arrived
