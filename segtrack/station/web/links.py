"""Degraded links of clients: delayed and lost messages, and video with damaged pictures."""

from __future__ import annotations

import heapq
import math
import random
from collections import deque
from dataclasses import replace
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from segtrack.station.protocol import Flag, LinkQuality, LinkRequest, StateMessage

Item = TypeVar("Item")
_RATE_TOLERANCE = 0.1
"""Fraction of a period by which a message may come early: senders' clocks are not exact."""


class DegradedLink(Generic[Item]):
    """One direction of a degraded link: messages arrive late, or not at all.

    Attributes:
        quality: Delay, jitter, loss and rate.
    """

    def __init__(self, quality: LinkQuality, seed: int) -> None:
        """Open a link without messages in transit."""
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
        """Arrival time of the next message [s]; None without one."""
        return self._on_the_way[0][0] if self._on_the_way else None

    def discard(self) -> None:
        """Discard all messages in transit."""
        self._on_the_way.clear()

    def receive(self, now: float) -> list[Item]:
        """Return the messages that arrived by `now` [s], in sending order."""
        arrived = []
        while self._on_the_way and self._on_the_way[0][0] <= now:
            _, number, item = heapq.heappop(self._on_the_way)
            if number > self._arrived:
                self._arrived = number
                arrived.append(item)
        return arrived


SLICES = 24
"""Slices of a picture, each of which is a packet."""
_KEY_PERIOD = 1.0
"""Time between key pictures, which build on no earlier one [s]."""
_SHOWN = SLICES // 2
"""Damaged slices up to which a picture is shown."""


class Picture(NamedTuple):
    """Picture as received over a degraded link.

    Attributes:
        state: Packed state in the picture.
        damage: Bit mask of its damaged slices, in rows from the top left.
    """

    state: bytes
    damage: int


class VideoLink:
    """Coded video over a degraded link: lost packets damage pictures until the next key picture.

    Each packet is a slice of a picture, and lost by itself. A slice that was lost stays damaged until a key
    picture brings it anew, and while more than half of them are damaged the picture stands: `k` pictures
    after a key picture a slice is damaged with the probability `1 - (1 - loss)^(k + 1)`. Pictures arrive in
    their order; who decodes them waits for a late one.
    """

    def __init__(self, quality: LinkQuality, seed: int) -> None:
        """Open a link without pictures in transit."""
        self._quality = quality
        self._random = random.Random(seed)
        self._on_the_way: deque[tuple[float, bool, Picture]] = deque()
        self._free_at = self._key_at = -math.inf
        self._arrives = -math.inf
        self._damage = 0

    def begin_anew(self) -> None:
        """Make the next picture a key picture, since it does not follow from the last."""
        self._key_at = -math.inf

    def send(self, now: float, state: bytes) -> None:
        """Send a picture of a state at time `now` [s]."""
        quality = self._quality
        if now < self._free_at:
            return
        self._free_at = now + (1 - _RATE_TOLERANCE) / quality.rate
        is_key = now >= self._key_at
        if is_key:
            self._key_at = now + _KEY_PERIOD
        lost = sum(1 << i for i in range(SLICES) if self._random.random() < quality.loss)
        late = self._random.uniform(0.0, quality.jitter)
        self._arrives = max(self._arrives, now + quality.delay + late)
        self._on_the_way.append((self._arrives, is_key, Picture(state, lost)))

    def receive(self, now: float) -> Picture | None:
        """Return the newest presentable picture that arrived by `now` [s]; None without a new one."""
        shown = None
        while self._on_the_way and self._on_the_way[0][0] <= now:
            _, is_key, (state, lost) = self._on_the_way.popleft()
            self._damage = lost if is_key else self._damage | lost
            if self._damage.bit_count() <= _SHOWN:
                shown = Picture(state, self._damage)
        return shown


_SEEN = Flag.GHOST | Flag.CONTACTS | Flag.NO_PICTURE
"""Flags of what is drawn."""


class Downlink:
    """Degraded link from the station to a client: telemetry and video."""

    def __init__(self, link: LinkRequest, seen: bytes | None) -> None:
        """Open a link with nothing in transit; the client has seen a state already."""
        self._telemetry = DegradedLink[bytes](link.telemetry, link.seed + 2)
        self._video = VideoLink(link.video, link.seed)
        self._latest = None if seen is None else StateMessage.unpack(seen)
        self._picture = None if self._latest is None else _picture_in(self._latest)
        self._scene: int | None = None

    def carry(self, state: bytes, now: float) -> bytes | None:
        """Send a state at `now` [s], and return the latest telemetry and picture if either is new.

        Telemetry goes without a picture until one of its scene has come.
        """
        scene = StateMessage.unpack(state).scene
        if scene != self._scene:
            self._scene = scene
            self._video.begin_anew()
        self._telemetry.send(now, state)
        self._video.send(now, state)
        picture = self._video.receive(now)
        if picture is not None:
            self._picture = StateMessage.unpack(picture.state), picture.damage
        arrived = self._telemetry.receive(now)
        if arrived:
            self._latest = StateMessage.unpack(arrived[-1])
        latest = self._latest
        if (not arrived and picture is None) or latest is None:
            return None
        if self._picture is None or self._picture[0].scene != latest.scene:
            return _without_picture(latest).pack()
        seen, damage = self._picture
        return replace(
            latest,
            flags=(latest.flags & ~_SEEN) | (seen.flags & _SEEN),
            client_time=seen.client_time,
            picture_frame=seen.frame,
            damage=damage,
            picture=seen.pose,
            ghost=seen.ghost,
            contacts=seen.contacts,
        ).pack()


def _picture_in(seen: StateMessage) -> tuple[StateMessage, int] | None:
    """Return the state in a client's picture and the picture's damage; None without a picture."""
    if seen.flags & Flag.NO_PICTURE:
        return None
    if seen.picture_frame == 0:
        return seen, 0
    return replace(seen, frame=seen.picture_frame, pose=seen.picture), seen.damage


def _without_picture(state: StateMessage) -> StateMessage:
    """Return a copy of a state marked as without a picture, so that nothing is drawn."""
    return replace(
        state,
        flags=(state.flags & ~_SEEN) | Flag.NO_PICTURE,
        client_time=0.0,
        picture_frame=0,
        damage=0,
        picture=np.empty(0),
        ghost=np.empty(0),
        contacts=np.empty((0, 6)),
    )
