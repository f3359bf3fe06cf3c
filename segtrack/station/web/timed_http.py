"""HTTP connections that have to ask for something in time."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.auto import AutoHTTPProtocol

REQUEST_WITHIN = 2.0
"""Longest time from a connection to the end of its first request's head [s]."""


class TimedHttp(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """Connection that is closed if it asks for nothing: silent ones would keep everybody else out."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        self.loop.call_later(REQUEST_WITHIN, self._give_up)

    def _give_up(self) -> None:
        """Close the connection, unless it has asked for something, or has become a WebSocket's."""
        if self.cycle is None and self.transport.get_protocol() is self:
            self.transport.close()
