"""Process that draws reports one at a time, at a lower priority than the simulation."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from segtrack.courses import (
    Records,
    ScoringSettings,
    Syllabus,
    class_csv,
    class_html,
    class_rows,
    report_csv,
    report_html,
)
from segtrack.errors import NotReadyError, SegtrackError
from segtrack.experiments import interrupts_blocked
from segtrack.language import Language

REPORT_WITHIN = 120.0
"""Longest time from a request to its report, those before it included [s]."""
MAX_REPORTS = 8
"""Reports that are drawn or waited for at a time."""
_NICENESS = 5
"""Nice value of the process above the web process's: a third of its share where both want all."""
_DRAW = "draw the report"


class ReportProcess:
    """Process that draws reports: it takes seconds, during which the web process must send states.

    It is started by the first report, and anew after one that took too long, for which it is killed.
    """

    def __init__(self) -> None:
        """Begin without a process."""
        self._context = get_context("spawn")
        self._asking = ThreadPoolExecutor(1, "segtrack-report")
        self._asked = 0
        self._closed = False
        self._process: BaseProcess | None = None
        self._pipe: Connection

    async def draw(self, report: Callable[..., str], *arguments: object) -> str:
        """Draw a report in the process; the function belongs to a module, the arguments can be pickled.

        Raises:
            SegtrackError: Error raised by the function.
            NotReadyError: Too many reports are waited for, it takes too long, the process died, or it was
                closed.
        """
        if self._closed:
            raise _station_ends()
        if self._asked >= MAX_REPORTS:
            raise NotReadyError(_DRAW, f"{MAX_REPORTS} others are waited for")
        self._asked += 1
        until = time.monotonic() + REPORT_WITHIN
        try:
            return await asyncio.wrap_future(self._asking.submit(self._ask, report, arguments, until))
        finally:
            self._asked -= 1

    def close(self) -> None:
        """End the process; pending reports fail. May be called again."""
        self._closed = True  # A process that is being started is not known here yet.
        process = self._process  # The thread that asks may end it meanwhile.
        if process is not None:
            process.kill()
        self._asking.shutdown()

    def _ask(self, report: Callable[..., str], arguments: tuple[object, ...], until: float) -> str:
        """Draw a report by the time `until`; restart the process if it died, end it if it is late."""
        if self._closed:
            raise _station_ends()
        late = NotReadyError(_DRAW, f"it takes more than {REPORT_WITHIN:g} s")
        if time.monotonic() >= until:
            raise late
        if self._process is not None and not self._process.is_alive():  # It died while nothing was asked.
            self._end()
        if self._process is None:
            self._start()
        if self._closed:
            self._end()
            raise _station_ends()
        with suppress(EOFError, OSError):
            self._pipe.send((report, arguments))
            if self._pipe.poll(max(until - time.monotonic(), 0.0)):
                drawn: str | SegtrackError = self._pipe.recv()
                if isinstance(drawn, SegtrackError):
                    raise drawn
                return drawn
            self._end()
            raise late
        self._end()
        raise _station_ends() if self._closed else NotReadyError(_DRAW, "its process died")

    def _start(self) -> None:
        """Start the process, with its pipe."""
        self._pipe, theirs = self._context.Pipe()
        process = self._context.Process(
            target=_draw_reports, args=(theirs,), name="segtrack-report", daemon=True
        )
        with interrupts_blocked():
            process.start()
        theirs.close()
        self._process = process

    def _end(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.join()
        self._process = None
        self._pipe.close()


def _station_ends() -> NotReadyError:
    return NotReadyError(_DRAW, "the station ends")


def _draw_reports(pipe: Connection) -> None:
    """Draw the requested reports until the web process ends."""
    if hasattr(os, "nice"):  # Not on Windows.
        os.nice(_NICENESS)
    with suppress(EOFError, OSError):
        while True:
            report, arguments = pipe.recv()
            try:
                pipe.send(report(*arguments))
            except SegtrackError as error:
                pipe.send(error)


def operator_page(records: Records, operator: str, written: str, language: Language) -> str:
    """Return an operator's report as HTML; see `report_html`."""
    return report_html(records, operator, ScoringSettings(), written, language)


def operator_table(records: Records, operator: str) -> str:
    """Return an operator's results as CSV, with English names; see `report_csv`."""
    return report_csv(records, operator, ScoringSettings())


def class_page(
    records: Records, syllabus: Syllabus, written: str, live: Mapping[str, Any], language: Language
) -> str:
    """Return the class's results as HTML; see `class_html`."""
    return class_html(class_rows(records, syllabus), syllabus, written, live, language)


def class_table(records: Records, syllabus: Syllabus) -> str:
    """Return the class's results as CSV; see `class_csv`."""
    return class_csv(class_rows(records, syllabus))
