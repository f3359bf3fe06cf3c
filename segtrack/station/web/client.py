"""Client of the station: limits of its messages, and the messages to it."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, Literal

from pydantic import BaseModel

from segtrack.station.protocol import ControlsMessage, LinkRequest
from segtrack.station.web.links import DegradedLink, Downlink

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


MAX_LAG = 0.3
"""Time by which controls may come later than the quickest have [s]; later ones are from before a stall."""
_CLOCK_TOLERANCE = 1e-4
"""Allowance for clocks that differ: growth of the shortest delay with each message [s]."""
_MAX_ANSWERS = 16


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
