"""`segtrack station`: the operator's page."""

from __future__ import annotations

import logging
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from segtrack.cli.output import JsonFlag, command, show, words
from segtrack.errors import InvalidValueError, MissingPackageError, finite

_PACKAGES = ("nicegui", "uvicorn", "mcap", "rosbags", "jinja2")


@command
def station(
    host: Annotated[
        str, typer.Option(help="Address to listen on; others than this machine's own need a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 for any that is free.")] = 8080,
    origin: Annotated[
        list[str] | None,
        typer.Option(help="Under which the page may be opened besides the address.", show_default=False),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Open no browser.")] = False,
    vehicle: Annotated[
        str | None, typer.Option(help="Bundled vehicle or vehicle file to begin with.", show_default=False)
    ] = None,
    course: Annotated[
        str | None, typer.Option(help="Bundled course or course file to begin with.", show_default=False)
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(help="For recordings and records of operators.", show_default=False)
    ] = None,
    measure: Annotated[
        float | None,
        typer.Option(
            help="Measure a station on this machine for so many seconds instead.", show_default=False
        ),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Serve the operator's station: drive, be scored and replay in a browser, until Ctrl-C.

    With --measure, a station of its own is driven over its sockets, and what was measured is printed.
    """
    for package in _PACKAGES:
        if find_spec(package) is None:
            raise MissingPackageError("the station", package, "station")
    if measure is not None:
        _measure(measure, as_json)
        return
    from segtrack.station.serve import StationOptions, serve_station
    from segtrack.station.web.library import default_folder

    logging.basicConfig(level=logging.WARNING, format="segtrack: %(message)s")
    options = StationOptions(
        host, port, tuple(origin or ()), vehicle, course, folder if folder is not None else default_folder()
    )
    serve_station(options, browser=not no_browser, started=_say_where)


def _measure(seconds: float, as_json: bool) -> None:
    from segtrack.station.measure import machine, measure_station

    if finite("--measure [s]", seconds) < 3:
        raise InvalidValueError("--measure [s]", "at least 3", seconds)
    before = machine()
    found = measure_station(seconds)
    title = f"{seconds:g} s on {before['cores']:g} cores, load {before['load']:.1f} before"
    table = Table("what", "measured", "target", "unit", "", title=title)
    for row in found:
        table.add_row(row.what, f"{row.value:.3g}", f"{row.target:g}", row.unit, "" if row.good else "missed")
    show(table, {"seconds": seconds, "machine": before, "measured": [vars(row) for row in found]}, as_json)


def _say_where(link: str) -> None:
    words().print(f"segtrack station: {link} (Ctrl-C ends it)", highlight=False, soft_wrap=True)
