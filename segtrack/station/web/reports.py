"""Pages of reports: an operator's trials, and the results of the class."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Response
from fastapi.responses import HTMLResponse

from segtrack.errors import SegtrackError
from segtrack.language import Language, preferred_language
from segtrack.scoring import class_csv, class_html, class_rows, reports_html
from segtrack.station.page import spoken
from segtrack.station.web.catalogue import REPORTS, Library
from segtrack.station.web.hub import Hub

CLASS = "/station/class"
_REFRESH = "10"
"""Time after which a browser loads the page of the class again [s]."""


def _chosen(language: str | None = None, accept_language: Annotated[str | None, Header()] = None) -> Language:
    """Return the language of a request: that of its query, or else the browser's."""
    return spoken(preferred_language(language, accept_language))


_Chosen = Annotated[Language, Depends(_chosen)]


def report_routes(library: Library) -> APIRouter:
    """Create the routes of a list of operators, and of each one's report as HTML and CSV."""
    router = APIRouter(prefix=REPORTS)

    @router.get("", response_class=HTMLResponse)
    def operators(language: _Chosen) -> str:
        links = [(name, library.report_link(name)) for name in library.records.operators()]
        return reports_html(links, _now(), language)

    @router.get("/{operator}")
    def report(operator: str, language: _Chosen) -> Response:
        return _answer(library, lambda: HTMLResponse(library.report(operator, "html", language)))

    @router.get("/{operator}/csv")
    def table(operator: str) -> Response:
        return _answer(library, lambda: _csv(library.report(operator, "csv")))

    return router


def class_routes(hub: Hub) -> APIRouter:
    """Create the routes of the class: who is here and what all have passed, as HTML and CSV."""
    router = APIRouter()
    library, classroom = hub.library, hub.classroom

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
        now = live()  # Who is here is read where it changes, in the loop; files are read beside it.

        def make() -> Response:
            rows = class_rows(classroom.records, classroom.syllabus)
            text = class_html(rows, classroom.syllabus, _now(), now, language)
            return HTMLResponse(text, headers={"Refresh": _REFRESH})

        return await asyncio.to_thread(_answer, library, make)

    @router.get(f"{CLASS}.csv")
    def table() -> Response:
        def make() -> Response:
            rows = class_rows(classroom.records, classroom.syllabus)
            return _csv(class_csv(rows))

        return _answer(library, make)

    return router


def _csv(table: str) -> Response:
    """Answer with a table that spreadsheets read as UTF-8."""
    return Response(table.encode("utf-8-sig"), media_type="text/csv; charset=utf-8")


def _now() -> str:
    return datetime.now().isoformat(sep=" ", timespec="minutes")


def _answer(library: Library, make: Callable[[], Response]) -> Response:
    try:
        return make()
    except SegtrackError as error:
        return Response(library.hide_folder(str(error)), status_code=404, media_type="text/plain")
