"""ASGI application of the station: page, sockets, pages of reports, and the task that sends states."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Header, Response
from fastapi.responses import HTMLResponse
from nicegui import ui
from starlette.types import ASGIApp
from starlette.websockets import WebSocket, WebSocketDisconnect

from segtrack.courses import reports_html
from segtrack.errors import MessageError, NotReadyError, SegtrackError
from segtrack.language import Language, preferred_language
from segtrack.station import protocol
from segtrack.station.page import build_page, spoken
from segtrack.station.web.catalogue import REPORTS, Library
from segtrack.station.web.client import (
    HEARD_WITHIN,
    HELLO_WITHIN,
    LOG_PERIOD,
    MAX_CLIENTS,
    MESSAGE_BURST,
    MESSAGE_RATE,
    Bucket,
    Client,
)
from segtrack.station.web.guard import Guard
from segtrack.station.web.hub import Hub
from segtrack.station.web.report_process import (
    ReportProcess,
    class_page,
    class_table,
    operator_page,
    operator_table,
)

_POLICY_VIOLATION, _TRY_LATER = 1008, 1013
_MAX_REASON = 123
"""Longest reason that fits into a frame that closes a socket [B]."""
_LOG = logging.getLogger(__name__)
CLASS = "/station/class"
_REFRESH = "10"
"""Time after which a browser loads the page of the class again [s]."""
PAGE_KEPT = 60.0
"""Time for which NiceGUI keeps a page without a connection, for a browser that comes back [s]."""
STATE_RATE = 30.0
"""Largest rate of states to a client [1/s]."""
_SWEEP_PERIOD = 3600.0
"""Time between two looks for old recordings [s]."""


class Sockets:
    """Open sockets of the station."""

    def __init__(self, hub: Hub) -> None:
        """Serve the clients of a hub."""
        self._hub = hub
        self._open = 0

    async def serve(self, socket: WebSocket) -> None:
        """Serve a socket until it closes; the hub is told in any case."""
        await socket.accept()
        if self._open >= MAX_CLIENTS:
            _LOG.warning("a client too many was refused")
            await _close(socket, _TRY_LATER, f"there are {MAX_CLIENTS} clients already")
            return
        self._open += 1
        try:
            await _Conversation(socket, self._hub).hold()
        except (WebSocketDisconnect, RuntimeError):  # Starlette's own for a socket that is closed.
            pass
        finally:
            self._open -= 1


class _Conversation:
    """Conversation with one client over a socket."""

    def __init__(self, socket: WebSocket, hub: Hub) -> None:
        self._socket, self._hub = socket, hub
        self._budget = Bucket(MESSAGE_RATE, MESSAGE_BURST, time.monotonic())
        self._logged_at = float("-inf")
        self._delivery: asyncio.TimerHandle | None = None

    async def hold(self) -> None:
        """Greet the client, then receive and send until either ends."""
        try:
            hello = await asyncio.wait_for(self._greeting(), HELLO_WITHIN)
        except asyncio.TimeoutError:
            hello = None
        if hello is None:
            self._log("no hello")
            await _close(self._socket, _POLICY_VIOLATION, "no hello")
            return
        try:
            client = self._hub.join(hello)
        except SegtrackError as error:
            self._log(str(error))
            await _close(self._socket, _TRY_LATER, str(error))
            return
        sender = asyncio.create_task(self._send(client))
        watcher = asyncio.create_task(self._watch())
        try:
            await self._listen(client)
        finally:
            watcher.cancel()
            if self._delivery is not None:
                self._delivery.cancel()
            self._hub.leave(client)
            sender.cancel()
            with suppress(asyncio.CancelledError):
                await sender

    async def _greeting(self) -> protocol.Hello | None:
        """Receive and parse the client's hello; None for any other message."""
        text = await self._receive()
        try:
            message = protocol.read_message(text or "")
        except MessageError as error:
            self._log(str(error))
            return None
        return message if isinstance(message, protocol.Hello) else None

    async def _listen(self, client: Client) -> None:
        """Receive messages until the socket closes, and pass those within the budget to the hub."""
        while (text := await self._receive()) is not None:
            self._heard_at = now = time.monotonic()
            if not self._budget.take(now):
                self._log(f"client {client.id}: messages dropped")
                continue
            try:
                self._hub.take(client, protocol.read_message(text), now)
            except MessageError as error:
                self._log(f"client {client.id}: {error}")
                client.answer(protocol.ErrorAnswer(what=str(error)))
            if client.commands is not None:
                self._deliver(client)

    async def _watch(self) -> None:
        """Close the socket of a client that has been silent for too long."""
        self._heard_at = time.monotonic()
        while (left := self._heard_at + HEARD_WITHIN - time.monotonic()) > 0:
            await asyncio.sleep(left)
        self._log("a client was silent")
        await _close(self._socket, _POLICY_VIOLATION, f"nothing was heard for {HEARD_WITHIN:g} s")

    def _deliver(self, client: Client) -> None:
        """Deliver delayed controls that are due, and schedule the next delivery."""
        if self._delivery is not None:
            self._delivery.cancel()
            self._delivery = None
        now = time.monotonic()
        due = self._hub.deliver(client, now)
        if due is not None:
            loop = asyncio.get_running_loop()
            self._delivery = loop.call_later(max(due - now, 0.0), self._deliver, client)

    async def _receive(self) -> str | None:
        """Return the next message's text; None when the socket closes, "" for a binary message."""
        message = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            return None
        return message.get("text") or ""

    async def _send(self, client: Client) -> None:
        """Send the client's messages until the socket closes."""
        try:
            while True:
                message = await client.next()
                if isinstance(message, bytes):
                    await self._socket.send_bytes(message)
                else:
                    await self._socket.send_text(message)
        except (WebSocketDisconnect, RuntimeError):
            pass  # It is closed: listening ends as well.

    def _log(self, what: str) -> None:
        now = time.monotonic()
        if now - self._logged_at >= LOG_PERIOD:
            self._logged_at = now
            _LOG.warning("%s", ascii(what)[1:-1][:300])


async def _close(socket: WebSocket, code: int, reason: str) -> None:
    with suppress(WebSocketDisconnect, RuntimeError):
        await socket.send_text(protocol.ErrorAnswer(what=reason).model_dump_json())
        await socket.close(code, reason.encode()[:_MAX_REASON].decode(errors="ignore"))


def _chosen(language: str | None = None, accept_language: Annotated[str | None, Header()] = None) -> Language:
    """Return the language of a request: its query's, or else the browser's."""
    return spoken(preferred_language(language, accept_language))


_Chosen = Annotated[Language, Depends(_chosen)]


def report_routes(library: Library, process: ReportProcess) -> APIRouter:
    """Create the routes of the list of operators and of each one's report, as HTML and CSV."""
    router = APIRouter(prefix=REPORTS)
    records = library.records

    @router.get("", response_class=HTMLResponse)
    def operators(language: _Chosen) -> str:
        links = [(name, library.report_link(name)) for name in records.operators()]
        return reports_html(links, _now(), language)

    @router.get("/{operator}")
    async def report(operator: str, language: _Chosen) -> Response:
        drawn = process.draw(operator_page, records, operator, _now(), language)
        return await _answer(library, drawn, HTMLResponse)

    @router.get("/{operator}/csv")
    async def table(operator: str) -> Response:
        return await _answer(library, process.draw(operator_table, records, operator), _csv)

    return router


def class_routes(hub: Hub, process: ReportProcess) -> APIRouter:
    """Create the routes of the class's attendance and results, as HTML and CSV."""
    router = APIRouter()
    library, syllabus = hub.library, hub.classroom.syllabus

    def live() -> dict[str, Any]:
        seats, trial = hub.seats, hub.trials.status()
        places = {client: place for place, client in enumerate(seats.queue, 1)}
        people = [
            {"name": each.name, "role": each.role, "place": places.get(each.id)} for each in seats.listed()
        ]
        driver = None if seats.driver is None else seats.name(seats.driver)
        return {"people": people, "driver": driver, "trial": trial, "report": REPORTS, "table": CLASS}

    @router.get(CLASS)
    async def page(language: _Chosen) -> Response:
        drawn = process.draw(class_page, library.records, syllabus, _now(), live(), language)
        return await _answer(library, drawn, partial(HTMLResponse, headers={"Refresh": _REFRESH}))

    @router.get(f"{CLASS}.csv")
    async def table() -> Response:
        return await _answer(library, process.draw(class_table, library.records, syllabus), _csv)

    return router


def _csv(table: str) -> Response:
    """Return a CSV response that spreadsheets read as UTF-8."""
    return Response(table.encode("utf-8-sig"), media_type="text/csv; charset=utf-8")


def _now() -> str:
    """Return the local time with its offset from UTC."""
    return datetime.now().astimezone().isoformat(sep=" ", timespec="minutes")


async def _answer(library: Library, drawn: Awaitable[str], respond: Callable[[str], Response]) -> Response:
    try:
        return respond(await drawn)
    except SegtrackError as error:
        status = 503 if isinstance(error, NotReadyError) else 404
        return Response(library.hide_folder(str(error)), status, media_type="text/plain")


def create_app(
    hub: Hub, *, origins: frozenset[str], token: str | None, keep_days: float | None = None
) -> ASGIApp:
    """Create the station's application behind its guard.

    Args:
        hub: Hub of the station.
        origins: Allowed origins, such as `http://127.0.0.1:8080`.
        token: Secret that a client must show; None for no secret.
        keep_days: Age from which recordings are deleted [d]; None keeps all.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(_broadcast(hub))]
        if keep_days is not None:
            tasks.append(asyncio.create_task(_sweep(hub.library, keep_days)))
        yield
        for task in tasks:
            task.cancel()
        hub.reports.close()

    app = FastAPI(lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    sockets = Sockets(hub)

    @app.websocket("/station/socket")
    async def socket(websocket: WebSocket) -> None:
        await sockets.serve(websocket)

    app.include_router(report_routes(hub.library, hub.reports))
    app.include_router(class_routes(hub, hub.reports))

    @ui.page("/", reconnect_timeout=PAGE_KEPT)
    def page() -> None:
        build_page()

    ui.run_with(app, title="segtrack station", dark=None, tailwind=False, show_welcome_message=False)
    return Guard(app, origins=origins, token=token)


async def _broadcast(hub: Hub) -> None:
    """Send the latest state 30 times a second; missed times are skipped."""
    loop = asyncio.get_running_loop()
    due = loop.time()
    while True:
        try:
            hub.broadcast(time.monotonic())
        except Exception:
            logging.getLogger(__name__).exception("states were not sent")
        due = max(due + 1 / STATE_RATE, loop.time())
        await asyncio.sleep(due - loop.time())


async def _sweep(library: Library, keep_days: float) -> None:
    """Delete old recordings, now and every hour."""
    while True:
        if deleted := library.delete_old(keep_days):
            _LOG.warning("%d recordings older than %g days were deleted", deleted, keep_days)
        await asyncio.sleep(_SWEEP_PERIOD)
