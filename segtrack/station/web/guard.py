"""Guard of the station: one check before any page, file or socket."""

from __future__ import annotations

import hmac
import logging
import time
from collections import OrderedDict
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from segtrack.station.web.client import LOG_PERIOD, PAGE_BURST, PAGE_RATE, Bucket

COOKIE = "segtrack_station"
"""Name of the cookie with the token, set when the printed link is opened."""
_POLICY_VIOLATION = 1008
_MAX_ADDRESS = 4096
"""Longest path and query together, which are logged where there is no such page [B]."""
_MAX_ADDRESSES = 1024
"""Addresses whose pages are counted; the one that came first makes room."""
_OTHER_SITES = "cross-site", "same-site"
_LOG = logging.getLogger(__name__)


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
