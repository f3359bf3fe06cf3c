"""Operators' reports, by number and never by path."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse

from segtrack.errors import SegtrackError
from segtrack.station.web.library import REPORTS, Library

_PAGE = "<!doctype html><meta charset=utf-8><title>segtrack reports</title><h1>Reports</h1>{}"


def report_routes(library: Library) -> APIRouter:
    """Routes of a list of operators, and of each one's report as HTML and CSV."""
    router = APIRouter(prefix=REPORTS)

    @router.get("", response_class=HTMLResponse)
    def operators() -> str:
        rows = [
            f'<li>{escape(name)}: <a href="{REPORTS}/{i}">report</a>, <a href="{REPORTS}/{i}/csv">CSV</a>'
            for i, name in enumerate(library.records.operators())
        ]
        return _PAGE.format(f"<ul>{''.join(rows)}</ul>" if rows else "<p>No trial has ended yet.")

    @router.get("/{number}")
    def report(number: int) -> Response:
        return _answer(library, lambda: HTMLResponse(library.report(number, "html")))

    @router.get("/{number}/csv")
    def table(number: int) -> Response:
        return _answer(library, lambda: Response(library.report(number, "csv"), media_type="text/csv"))

    return router


def _answer(library: Library, make: Callable[[], Response]) -> Response:
    try:
        return make()
    except SegtrackError as error:
        return Response(library.without_path(str(error)), status_code=404, media_type="text/plain")
