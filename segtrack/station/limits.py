"""How much a client may send: what is more is dropped unread, and a flood ends the connection."""

from __future__ import annotations

from typing import Literal

MAX_CLIENTS = 16
"""Sockets that are open at a time."""
MESSAGE_RATE, MESSAGE_BURST = 120.0, 240.0
"""Messages that a client may send in a second, and at once."""
DROP_RATE, DROP_BURST = 500.0, 2000.0
"""Dropped messages in a second, and at once, above which the connection ends."""
HELLO_WITHIN = 5.0
"""Time that a socket has to say hello [s]."""

Verdict = Literal["take", "drop", "close"]


class MessageBudget:
    """Two buckets that fill with time: a message takes one from the first, or else from the second."""

    def __init__(self, now: float) -> None:
        """Begin full at `now` [s]."""
        self._messages, self._drops, self._at = MESSAGE_BURST, DROP_BURST, now

    def spend(self, now: float) -> Verdict:
        """What to do with a message that comes at `now` [s]."""
        passed, self._at = now - self._at, now
        self._messages = min(MESSAGE_BURST, self._messages + passed * MESSAGE_RATE)
        self._drops = min(DROP_BURST, self._drops + passed * DROP_RATE)
        if self._messages >= 1.0:
            self._messages -= 1.0
            return "take"
        self._drops -= 1.0
        return "drop" if self._drops >= 0.0 else "close"
