"""Commands of operators' drives: `segtrack drive`, `replay` and `station`."""

from __future__ import annotations

import logging
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from segtrack.cli.files import VehicleFile
from segtrack.cli.output import (
    FilmFile,
    FilmView,
    FrameRate,
    FrameSize,
    JsonFlag,
    command,
    film_options,
    path,
    progress,
    say_written,
    show,
    words,
)
from segtrack.errors import InvalidValueError, MissingPackageError, Phrase, finite
from segtrack.files import check_file, write_csv
from segtrack.reproduce import TrackModel


@command
def drive(
    vehicle: VehicleFile,
    gui: Annotated[
        bool, typer.Option("--gui", help="Show PyBullet's window, and a small one that takes the keys.")
    ] = False,
    course: Annotated[str, typer.Option(help="Bundled course, or path of a course file.")] = "okada-step",
    setting: Annotated[
        float | None,
        typer.Option(help="Of the course, in its unit; its own if not given.", show_default=False),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            help="pybullet, native or mujoco; native if not given and it runs the track model, pybullet with "
            "--gui.",
            show_default=False,
        ),
    ] = None,
    track_model: TrackModel = None,
    seconds: Annotated[
        float | None, typer.Option(help="Simulated duration; until the window is closed if not given.")
    ] = None,
) -> None:
    """Drive a vehicle in a window, in real time, with a gamepad or keys; which do what is printed."""
    if find_spec("pygame") is None:
        raise MissingPackageError("a window to drive in", "pygame-ce", "drive")
    if seconds is not None and finite("--seconds [s]", seconds) <= 0:
        raise InvalidValueError("--seconds [s]", "greater than 0", seconds)
    from segtrack.recording import DriveSession, DriveSetup
    from segtrack.station.window import DriveWindow, window_help

    setup = DriveSetup(
        vehicle=vehicle,
        course=course,
        setting=setting,
        engine="pybullet" if gui and engine is None else engine,  # type: ignore[arg-type]
        track_model=track_model,
    )
    with DriveSession(setup, gui=gui) as session, DriveWindow(session, gui=gui) as window:
        keys = window_help(flippers=bool(session.robot.flippers))
        words().print(keys, markup=False, highlight=False, soft_wrap=True)
        window.run(seconds)
        words().print(f"{session.time:.1f} s driven, {window.clock.dropped:.1f} s too late", highlight=False)


_DIFFERENT = 1
"""Exit code where a drive that was simulated again differs."""


@command
def replay(
    file: Annotated[
        Path, typer.Argument(parser=path, help="Recording of a drive, .mcap.", show_default=False)
    ],
    check: Annotated[
        bool, typer.Option("--check", help="Simulate the inputs again; exit code 1 if a state differs.")
    ] = False,
    film: FilmFile = None,
    view: FilmView = None,
    frame_rate: FrameRate = None,
    frame_size: FrameSize = None,
    csv: Annotated[
        Path | None,
        typer.Option(parser=path, help="Table of poses, commands and readings to write.", show_default=False),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Show a recorded drive; simulate it again, film it or write its numbers."""
    options = film_options("--film", film, view, frame_rate, frame_size)
    if csv is not None:
        check_file("--csv", csv, (".csv",))
    try:
        from segtrack.recording import Recording, check_recording, film_recording, recording_columns
    except ModuleNotFoundError as error:
        raise MissingPackageError("reading a recording", str(error.name), "station") from None
    from segtrack.report import replay_tables

    with progress("reading", 1.0) as advance:
        recording = Recording.open(file, advance)
    result = None
    if check:
        with progress("simulating again", recording.times[-1]) as advance:
            result = check_recording(recording, advance)
    if film is not None:
        with progress("filming", recording.times[-1]) as advance:
            film_recording(recording, film, advance, **options)
        say_written(film)
    if csv is not None:
        say_written(write_csv(csv, *recording_columns(recording)))

    summary = recording.summary() | {"check": None if result is None else result.summary()}
    show(replay_tables(recording, result), summary, as_json)
    if result is not None and result.difference is not None:
        raise typer.Exit(_DIFFERENT)


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
        Path | None,
        typer.Option(parser=path, help="For recordings and records of operators.", show_default=False),
    ] = None,
    exercises: Annotated[
        str, typer.Option(help="Bundled exercises, or path of a file of exercises.")
    ] = "first-day",
    instructor: Annotated[
        list[str] | None,
        typer.Option(help="Name that may instruct; any may if none is given.", show_default=False),
    ] = None,
    keep_days: Annotated[
        float | None,
        typer.Option(
            help="Age at which recordings are deleted, unless the clock jumped by more than a day since the "
            "start or a recording is stamped more than a day ahead of it; never if not given.",
            show_default=False,
        ),
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
    if as_json:
        raise InvalidValueError("--measure", "given with --json", Phrase("none"))
    from segtrack.station import StationOptions, serve_station
    from segtrack.station.web import default_folder

    logging.basicConfig(level=logging.WARNING, format="segtrack: %(message)s")
    place = folder if folder is not None else default_folder()
    if keep_days is not None and finite("--keep-days [d]", keep_days) <= 0:
        raise InvalidValueError("--keep-days [d]", "greater than 0", keep_days)
    origins, instructors = tuple(origin or ()), tuple(instructor or ())
    options = StationOptions(host, port, origins, vehicle, course, place, exercises, instructors, keep_days)

    def say_where(link: str) -> None:
        words().print(f"segtrack station: {link} (Ctrl-C ends it)", highlight=False, soft_wrap=True)

    serve_station(options, browser=not no_browser, started=say_where)


def _measure(seconds: float, as_json: bool) -> None:
    """Measure a station of its own, and print the results."""
    from segtrack.station import machine, measure_station

    if finite("--measure [s]", seconds) < 3:
        raise InvalidValueError("--measure [s]", "at least 3", seconds)
    before = machine()
    found = measure_station(seconds)
    title = f"{seconds:g} s on {before['cores']:g} cores, load {before['load']:.1f} before"
    table = Table("what", "measured", "target", "unit", "", title=title)
    for row in found:
        table.add_row(row.what, f"{row.value:.3g}", f"{row.target:g}", row.unit, "" if row.good else "missed")
    show(table, {"seconds": seconds, "machine": before, "measured": [vars(row) for row in found]}, as_json)
