"""How much clients may send and open: what is more is dropped unread, and a flood ends the connection."""

from __future__ import annotations

from typing import Literal

MAX_CLIENTS = 16
"""Sockets that are open at a time."""
MAX_ONLOOKERS = MAX_CLIENTS - 2
"""Those that look on: there is room left for a driver and an instructor."""
MAX_CONNECTIONS = 10 * MAX_CLIENTS
"""Connections at a time: a page has two sockets, and fetches its files over up to six others."""
PAGE_RATE, PAGE_BURST = 15.0, 60.0
"""Requests for pages and their sessions, three a page, in a second and at once, of all clients together."""
MESSAGE_RATE, MESSAGE_BURST = 120.0, 240.0
"""Messages that a client may send in a second, and at once."""
DROP_RATE, DROP_BURST = 500.0, 2000.0
"""Dropped messages in a second, and at once, above which the connection ends."""
HELLO_WITHIN = 5.0
"""Time that a socket has to say hello [s]."""

Verdict = Literal["take", "drop", "close"]


class Bucket:
    """Fills with time, up to a burst."""

    def __init__(self, rate: float, burst: float, now: float) -> None:
        """Begin full at `now` [s]."""
        self._rate, self._burst = rate, burst
        self._level, self._at = burst, now

    def take(self, now: float) -> bool:
        """Take one out at `now` [s], if there is one."""
        self._level = min(self._burst, self._level + self._rate * (now - self._at))
        self._at = now
        taken = self._level >= 1.0
        self._level -= taken
        return taken


class MessageBudget:
    """Two buckets: a message takes one from the first, or else from the second."""

    def __init__(self, now: float) -> None:
        """Begin full at `now` [s]."""
        self._messages = Bucket(MESSAGE_RATE, MESSAGE_BURST, now)
        self._drops = Bucket(DROP_RATE, DROP_BURST, now)

    def spend(self, now: float) -> Verdict:
        """What to do with a message that comes at `now` [s]."""
        if self._messages.take(now):
            return "take"
        return "drop" if self._drops.take(now) else "close"
