"""The application: the page, the socket, reports, and the task that sends states."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from nicegui import ui
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from segtrack.station.page import build_page
from segtrack.station.web.guard import Guard
from segtrack.station.web.hub import Hub
from segtrack.station.web.reports import report_routes
from segtrack.station.web.socket import Sockets

STATE_RATE = 30.0
"""Most states that a client gets [1/s]."""
_LOG = logging.getLogger(__name__)


def create_app(hub: Hub, *, origins: frozenset[str], token: str | None) -> ASGIApp:
    """The station's application, guarded.

    Args:
        hub: What it serves.
        origins: Allowed, such as `http://127.0.0.1:8080`.
        token: That a client must show; None needs none.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        sending = asyncio.create_task(_broadcast(hub))
        yield
        sending.cancel()

    app = FastAPI(lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    sockets = Sockets(hub)

    @app.websocket("/station/socket")
    async def socket(websocket: WebSocket) -> None:
        await sockets.serve(websocket)

    app.include_router(report_routes(hub.library))

    @ui.page("/")
    def page() -> None:
        build_page()

    ui.run_with(app, title="segtrack station", dark=None, tailwind=False, show_welcome_message=False)
    return Guard(app, origins=origins, token=token)


async def _broadcast(hub: Hub) -> None:
    """Send the latest state, 30 times a second; a late one is not made up for."""
    loop = asyncio.get_running_loop()
    due = loop.time()
    while True:
        try:
            hub.broadcast(time.monotonic())
        except Exception:
            _LOG.exception("states were not sent")
        due = max(due + 1 / STATE_RATE, loop.time())
        await asyncio.sleep(due - loop.time())
