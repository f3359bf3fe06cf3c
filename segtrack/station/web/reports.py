"""Report pages: an operator's trials, and the results of the class."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Response
from fastapi.responses import HTMLResponse

from segtrack.courses import reports_html
from segtrack.errors import NotReadyError, SegtrackError
from segtrack.language import Language, preferred_language
from segtrack.station.page import spoken
from segtrack.station.web.catalogue import REPORTS, Library
from segtrack.station.web.hub import Hub
from segtrack.station.web.report_process import (
    ReportProcess,
    class_page,
    class_table,
    operator_page,
    operator_table,
)

CLASS = "/station/class"
_REFRESH = "10"
"""Time after which a browser loads the page of the class again [s]."""


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
