"""Client of the station: limits of its messages, its degraded link, and the messages to it."""

from __future__ import annotations

import asyncio
import heapq
import math
import random
from collections import deque
from dataclasses import replace
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np
from pydantic import BaseModel

from segtrack.station.protocol import ControlsMessage, Flag, LinkQuality, LinkRequest, StateMessage

Item = TypeVar("Item")
_RATE_TOLERANCE = 0.1
"""Fraction of a period by which a message may come early: senders' clocks are not exact."""
MAX_CLIENTS = 16
"""Sockets that are open at a time."""
MAX_CONNECTIONS = 10 * MAX_CLIENTS
"""Connections at a time: a page has two sockets, and fetches its files over up to six others."""
PAGE_RATE, PAGE_BURST = 15.0, 60.0
"""Requests for pages and their sessions, three a page, in a second and at once, of an address."""
MESSAGE_RATE, MESSAGE_BURST = 120.0, 240.0
"""Messages of a client in a second, and at once, above which they are dropped unread."""
LOG_PERIOD = 1.0
"""Shortest time between two logged lines about what is refused [s]."""
HELLO_WITHIN = 5.0
"""Longest time until the hello of a socket [s]."""
HEARD_WITHIN = 90.0
"""Longest silence of a client [s]: a hidden page says something once a minute."""
MAX_LAG = 0.3
"""Time by which controls may come later than the quickest have [s]; later ones are from before a stall."""
_CLOCK_TOLERANCE = 1e-4
"""Allowance for clocks that differ: growth of the shortest delay with each message [s]."""
_MAX_ANSWERS = 16


class Bucket:
    """Token bucket for rate limits: refills with time, up to a burst."""

    def __init__(self, rate: float, burst: float, now: float) -> None:
        """Create a full bucket at `now` [s]."""
        self._rate, self._burst = rate, burst
        self._level, self._at = burst, now

    def take(self, now: float) -> bool:
        """Take a token at `now` [s]; returns False without one."""
        self._level = min(self._burst, self._level + self._rate * (now - self._at))
        self._at = now
        self._level -= (taken := self._level >= 1.0)
        return taken


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


class Client:
    """Connected client, with the messages waiting for it.

    Only the latest message of each kind is sent: a state that was not sent before the next one is skipped.

    Attributes:
        id: Number of the client.
        name: Name of the person.
        contacts: True if its states include contact loads.
        link: Degradation of its link; None if it is not degraded.
        downlink: Pictures and telemetry in transit to it, if the link is degraded.
        commands: Controls in transit from it, if the link is degraded.
    """

    def __init__(self, number: int, name: str) -> None:
        """Start with nothing to send."""
        self.id, self.name = number, name
        self.contacts = False
        self.link: LinkRequest | None = None
        self.downlink: Downlink | None = None
        self.commands: DegradedLink[ControlsMessage] | None = None
        self._latest: dict[Literal["scene", "status"], str] = {}
        self._answers: deque[str] = deque(maxlen=_MAX_ANSWERS)
        self._state: bytes | None = None
        self._seen: bytes | None = None
        self._something = asyncio.Event()
        self._seq, self._time = -1, -1.0
        self._quickest = float("inf")

    def degrade(self, link: LinkRequest | None) -> None:
        """Degrade the client's link, or restore it for None."""
        self.link = link
        self.downlink = Downlink(link, self._seen) if link is not None else None
        self.commands = DegradedLink(link.command, link.seed + 1) if link is not None else None

    @property
    def degradation(self) -> dict[str, Any] | None:
        """Degradation of its link for `protocol.StatusMessage`."""
        return (
            None
            if self.link is None
            else self.link.model_dump(include={"video", "telemetry", "command", "seed"})
        )

    def is_news(self, message: ControlsMessage, now: float) -> bool:
        """Return whether controls received at `now` [s] are the newest, and not delayed by a stall."""
        if message.seq <= self._seq or message.time < self._time:
            return False
        self._seq, self._time = message.seq, message.time
        way = now - message.time / 1000
        self._quickest = min(way, self._quickest + _CLOCK_TOLERANCE)
        return way - self._quickest <= MAX_LAG

    def answer(self, message: BaseModel) -> None:
        """Queue a message, unless sixteen are unread."""
        self._answers.append(message.model_dump_json())
        self._something.set()

    def show(self, kind: Literal["scene", "status"], text: str) -> None:
        """Queue the latest scene or status, in place of any that was not sent yet."""
        self._latest[kind] = text
        self._something.set()

    def see(self, state: bytes, now: float, direct: bool = False) -> None:
        """Queue the latest state, through the degraded link unless `direct` (as in a replay)."""
        if self.downlink is not None and not direct:
            arrived = self.downlink.carry(state, now)
            if arrived is None:
                return
            state = arrived
        self._state = state
        if not direct:
            self._seen = state
        self._something.set()

    async def next(self) -> str | bytes:
        """Wait for the next message to send: answers first, then scene, status, state."""
        while True:
            if self._answers:
                return self._answers.popleft()
            for kind in ("scene", "status"):
                if kind in self._latest:
                    return self._latest.pop(kind)
            if self._state is not None:
                state, self._state = self._state, None
                return state
            self._something.clear()
            await self._something.wait()
