"""One client's end: what it gets next, and what of it is let through."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, Literal

from pydantic import BaseModel

from segtrack.station.limits import MessageBudget
from segtrack.station.link import DegradedLink
from segtrack.station.protocol import ControlsMessage, LinkRequest

MAX_LAG = 0.3
"""Time by which controls may come later than the quickest have [s]; later ones are from before a stall."""
_CLOCK_TOLERANCE = 1e-4
"""What the quickest way is taken to grow by with each message, since clocks differ [s]."""
_MAX_ANSWERS = 16


class Client:
    """A connected client.

    What it is sent is the latest of each kind: a state that was not sent when the next one came is skipped.

    Attributes:
        id: Of the client.
        name: For people.
        budget: What it may still send.
        contacts: Whether its states hold contact loads.
        link: Degradation of its link; None if it is not degraded.
        video: States on their way to it, where the link is degraded.
        commands: Controls on their way from it, where the link is degraded.
    """

    def __init__(self, number: int, name: str, budget: MessageBudget) -> None:
        """Begin with nothing to send."""
        self.id, self.name, self.budget = number, name, budget
        self.contacts = False
        self.link: LinkRequest | None = None
        self.video: DegradedLink[bytes] | None = None
        self.commands: DegradedLink[ControlsMessage] | None = None
        self._latest: dict[Literal["scene", "status"], str] = {}
        self._answers: deque[str] = deque(maxlen=_MAX_ANSWERS)
        self._state: bytes | None = None
        self._something = asyncio.Event()
        self._seq, self._time = -1, -1.0
        self._quickest = float("inf")

    def degrade(self, link: LinkRequest | None) -> None:
        """Degrade its link, or mend it."""
        self.link = link
        self.video = DegradedLink(link.video, link.seed) if link is not None else None
        self.commands = DegradedLink(link.command, link.seed + 1) if link is not None else None

    @property
    def degradation(self) -> dict[str, Any] | None:
        """How its link is degraded, for `protocol.Status`."""
        return None if self.link is None else self.link.model_dump(include={"video", "command", "seed"})

    def is_news(self, message: ControlsMessage, now: float) -> bool:
        """Whether controls that come at `now` [s] are newer than all before, and not from before a stall."""
        if message.seq <= self._seq or message.time < self._time:
            return False
        self._seq, self._time = message.seq, message.time
        way = now - message.time / 1000
        self._quickest = min(way, self._quickest + _CLOCK_TOLERANCE)
        return way - self._quickest <= MAX_LAG

    def answer(self, message: BaseModel) -> None:
        """Send a message, unless the client has not read the sixteen before it."""
        self._answers.append(message.model_dump_json())
        self._something.set()

    def show(self, kind: Literal["scene", "status"], text: str) -> None:
        """Send the latest scene or status, instead of one that was not sent yet."""
        self._latest[kind] = text
        self._something.set()

    def see(self, state: bytes, now: float) -> None:
        """Send the latest state, by way of the link."""
        if self.video is not None:
            self.video.send(now, state)
            arrived = self.video.receive(now)
            if not arrived:
                return
            state = arrived[-1]
        self._state = state
        self._something.set()

    async def next(self) -> str | bytes:
        """Wait for what is to be sent next: answers, then the scene, the status, and the state."""
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
