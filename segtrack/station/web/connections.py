"""Connections of the web server, with limits on the time and memory that a peer may use."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from segtrack.station.web.client import MAX_CONNECTIONS, Bucket

REQUEST_WITHIN = 2.0
"""Longest time from a connection, or a request's first byte, to the end of the request and its body [s].

A WebSocket's handshake has as long from there on.
"""
READ_WITHIN = 60.0
"""Longest time for which bytes of a response wait for its client to read, all such times together [s]."""
MAX_WAITING = 6 * MAX_CONNECTIONS // 10
"""Connections that wait for a request at a time."""
MAX_OF_ADDRESS = 8 * MAX_CONNECTIONS // 10
"""Connections of one address, which may be that of a proxy with all clients behind it."""
FRAME_RATE, FRAME_BURST = 700.0, 1000.0
"""Frames of any kind, in a second and at once, above which a WebSocket is cut: more than are dropped."""
CLOSE_WITHIN = 0.2
"""Longest time that a client has to answer the frame that closes its WebSocket [s]."""
_SLICE = 1024
"""Bytes of a WebSocket that are decoded before its frames are counted [B]."""


class TimedHttp(HttpToolsProtocol):
    """HTTP connection with deadlines; where many wait, the one idle for longest is closed first.

    Silent connections, requests that never end and responses that nobody reads would keep everybody else out.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start to wait for a request; if too many connections wait, close another one."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # Whatever waits is told.
        self._since = self.loop.time()
        self._deadline: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self._patience = READ_WITHIN
        self._end_within(REQUEST_WITHIN)
        if sum(_address(each) == _address(self) for each in self.connections) > MAX_OF_ADDRESS:
            transport.abort()
            return
        waiting = [each for each in self.connections if isinstance(each, TimedHttp) and each.waits]
        if len(waiting) > MAX_WAITING:
            crowd = Counter(map(_address, waiting)).most_common(1)[0][0]
            crowded = (each for each in waiting if _address(each) == crowd)
            min(crowded, key=lambda each: each._since).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting: the connection is closed."""
        self._cancel_deadline()
        self.resume_writing()
        super().connection_lost(exc)

    @property
    def waits(self) -> bool:
        """True while no complete request is being answered."""
        cycle = self.cycle
        return not self.transport.is_closing() and (
            cycle is None or cycle.response_complete or cycle.more_body
        )

    def data_received(self, data: bytes) -> None:
        """Receive data; the first bytes of a request start its deadline."""
        if self._deadline is None:
            self._end_within(REQUEST_WITHIN)
        super().data_received(data)

    def handle_websocket_upgrade(self) -> None:
        """Upgrade to a WebSocket, with a deadline for its handshake; a request with a body is refused."""
        if any(
            name == b"transfer-encoding" or (name == b"content-length" and value != b"0")
            for name, value in self.headers
        ):
            self.send_400_response("An upgrade has no body.")
        else:
            self._end_within(REQUEST_WITHIN)
            self.resume_writing()
            self.transport.set_write_buffer_limits()
            super().handle_websocket_upgrade()

    def on_message_complete(self) -> None:
        """Stop the deadline at the end of a request; its response may take as long as it needs."""
        super().on_message_complete()
        self._cancel_deadline()
        if self._unread is None:
            self._patience = READ_WITHIN

    def on_response_complete(self) -> None:
        """Stop the deadline at the end of a response."""
        self._cancel_deadline()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Start the deadline for a client that reads more slowly than it is answered."""
        super().pause_writing()
        self._unread = self.loop.call_later(self._patience, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the deadline of a slow client, which has read everything."""
        super().resume_writing()
        if self._unread is not None:
            self._patience = self._unread.when() - self.loop.time()
            self._unread.cancel()
            self._unread = None

    def _end_within(self, time: float) -> None:
        self._cancel_deadline()
        self._deadline = self.loop.call_later(time, self._give_up)

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        """End the connection, unless it has become a WebSocket's with a handshake."""
        protocol = self.transport.get_protocol()
        if not (isinstance(protocol, CountedWebSocket) and protocol.handshake_complete):
            self.transport.abort()


class CountedWebSocket(WebSocketsSansIOProtocol):
    """WebSocket that counts all frames (control frames and fragments too), and closes in a flood."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        """Start with a full bucket of frames."""
        super().__init__(*arguments, **named)
        self.close_timeout = CLOSE_WITHIN
        self._frames_left = Bucket(FRAME_RATE, FRAME_BURST, self.loop.time())

    def data_received(self, data: bytes) -> None:
        """Receive data in small portions, so that a flood is noticed before it is decoded."""
        for start in range(0, len(data), _SLICE):
            if self.transport.is_closing():
                return
            super().data_received(data[start : start + _SLICE])

    def handle_events(self) -> None:
        """Count the decoded frames, then handle them."""
        now = self.loop.time()
        if all([self._frames_left.take(now) for _ in self.conn.events]):
            super().handle_events()
        else:
            self.transport.abort()

    def send_receive_event_to_app(self) -> None:
        """Pass a message on; text that is not UTF-8 closes the connection."""
        try:
            if self.curr_msg_data_type == "text":
                b"".join(self.frames).decode()
        except UnicodeDecodeError:
            self.frames = []
            self.transport.abort()
        else:
            super().send_receive_event_to_app()


def _address(connection: Any) -> str | None:
    """Return the peer's address; None if no longer known."""
    return None if connection.client is None else connection.client[0]
