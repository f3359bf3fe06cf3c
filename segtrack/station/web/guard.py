"""Guard of the station: foreign, flooding and idle peers are kept out of its pages, files and sockets.

`Guard` looks at each request before the application does; `TimedHttp` and `CountedWebSocket` are connections
with limits on the time and memory that a peer may use.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
from collections import Counter, OrderedDict
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from segtrack.station.web.client import LOG_PERIOD, MAX_CONNECTIONS, PAGE_BURST, PAGE_RATE, Bucket

COOKIE = "segtrack_station"
"""Name of the cookie with the token, set when the printed link is opened."""
_POLICY_VIOLATION = 1008
_MAX_ADDRESS = 4096
"""Longest path and query together, which are logged where there is no such page [B]."""
_MAX_ADDRESSES = 1024
"""Addresses whose pages are counted; the one that came first makes room."""
_OTHER_SITES = "cross-site", "same-site"
_LOG = logging.getLogger(__name__)
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


class Guard:
    """ASGI middleware that refuses foreign hosts, origins and sites, floods, and requests without the token.

    A page of another site that a browser shows has another origin; a name of another site that resolves to
    this machine is another host. What it loads without an origin, as an image, comes from another site: it
    may link here and no more. Programs send neither, and cannot be made to by a page.
    """

    def __init__(self, app: ASGIApp, *, origins: frozenset[str], token: str | None) -> None:
        """Wrap an application in a guard.

        Args:
            app: Application behind the guard.
            origins: Allowed origins, such as `http://127.0.0.1:8080`; their hosts are the allowed hosts.
            token: Secret in the link's query, or in the cookie that the link sets; None for no secret.
        """
        self._app, self._origins, self._token = app, origins, token
        self._pages: OrderedDict[str, Bucket] = OrderedDict()
        self._logged_at = float("-inf")
        self._hosts = {origin.partition("://")[2] for origin in origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with status 403, or 429 in a flood."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        shown = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        problem = self._problem(scope, headers, shown)
        if problem is not None:
            self._log(f"refused {scope['type']} {ascii(scope['path'])[:200]}: {problem}")
            await _refuse(scope, receive, send, 403, problem)
        elif _is_page(scope) and not self._may_open(scope):
            await _refuse(scope, receive, send, 429, "too many pages are opened")
        elif scope["type"] == "http" and shown and self._token is not None:
            response = RedirectResponse("/", status_code=303)
            response.set_cookie(COOKIE, self._token, httponly=True, samesite="lax")
            await response(scope, receive, send)
        else:
            await self._app(scope, receive, _with_frame_policy(send))

    def _may_open(self, scope: Scope) -> bool:
        """Return whether the requesting address may open another page."""
        now = time.monotonic()
        address = scope["client"][0] if scope.get("client") else ""
        if address not in self._pages:
            self._pages[address] = Bucket(PAGE_RATE, PAGE_BURST, now)
            if len(self._pages) > _MAX_ADDRESSES:
                self._pages.popitem(last=False)
        return self._pages[address].take(now)

    def _log(self, what: str) -> None:
        """Log a refusal, unless another one was logged just before."""
        now = time.monotonic()
        if now - self._logged_at >= LOG_PERIOD:
            self._logged_at = now
            _LOG.warning("%s", what)

    def _problem(self, scope: Scope, headers: Headers, shown: list[str]) -> str | None:
        """Reason to refuse a request; None to pass it on."""
        if len(scope["path"]) + len(scope["query_string"]) > _MAX_ADDRESS:
            return "too long an address"
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return "foreign host"
        if origins and (len(origins) > 1 or origins[0].lower() not in self._origins):
            return "foreign origin"
        if headers.get("sec-fetch-site") in _OTHER_SITES and not _is_link(scope["path"], headers):
            return "foreign site"
        if self._token is not None:
            tokens = shown + _cookies(headers.get("cookie", ""))
            if not any(hmac.compare_digest(token.encode(), self._token.encode()) for token in tokens):
                return "no token"
        return None


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, problem: str) -> None:
    """Refuse a request: close a socket, or answer with a status."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": problem})
    else:
        headers = {"Connection": "close"}  # What a body still brings is not waited for.
        response = PlainTextResponse(f"segtrack station: {problem}", status, headers)
        await response(scope, receive, send)


def _is_link(path: str, headers: Headers) -> bool:
    """Return whether a request is a person's click on a link to the page."""
    wanted = headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")
    return path == "/" and wanted == ("navigate", "document")


def _is_page(scope: Scope) -> bool:
    """Return whether a request costs work: a page, its session, or an unknown path; not a file."""
    if scope["path"].startswith("/_nicegui_ws/"):
        return b"sid=" not in scope["query_string"]
    return not scope["path"].startswith(("/_nicegui/", "/station/socket"))


def _cookies(header: str) -> list[str]:
    """Return the tokens in a cookie header."""
    with suppress(CookieError):
        cookie = SimpleCookie(header).get(COOKIE)
        return [] if cookie is None else [cookie.value]
    return []


def _with_frame_policy(send: Send) -> Send:
    """Wrap `send` to add headers that forbid other sites to show the page in a frame."""

    async def send_guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers["X-Frame-Options"] = "DENY"
            headers["X-Content-Type-Options"] = "nosniff"
            headers["Referrer-Policy"] = "no-referrer"
        await send(message)

    return send_guarded


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
