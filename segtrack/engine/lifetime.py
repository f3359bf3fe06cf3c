"""Lifetime of a world or a batch: open until it is closed."""

from __future__ import annotations

from segtrack.errors import DisconnectedError


class Lifetime:
    """Time from the opening of a world or a batch until it is closed, shared by all that is in it.

    Attributes:
        is_open: False once it is closed.
    """

    __slots__ = ("_closed", "is_open")

    def __init__(self, closed: str = "the world is closed") -> None:
        """Begin open; `closed` says in messages why an action is refused later."""
        self._closed, self.is_open = closed, True

    def end(self) -> None:
        """Close; may be called again."""
        self.is_open = False

    def require_open(self, what: str) -> None:
        """Refuse an action, in words, once closed.

        Raises:
            DisconnectedError: It is.
        """
        if not self.is_open:
            raise DisconnectedError(what, self._closed)
