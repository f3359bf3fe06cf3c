"""`segtrack drive`: a vehicle in a window of one's own, by keys and pad."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated

import typer

from segtrack.cli.options import TrackModel
from segtrack.cli.output import command, words
from segtrack.cli.vehicles import VehicleFile
from segtrack.errors import InvalidValueError, MissingPackageError, finite


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
            help="pybullet or native; native if not given and it runs the track model, pybullet with --gui.",
            show_default=False,
        ),
    ] = None,
    track_model: TrackModel = None,
    seconds: Annotated[
        float | None, typer.Option(help="Simulated duration; until the window is closed if not given.")
    ] = None,
) -> None:
    """Drive a vehicle in a window, in real time, with a gamepad or keys; which do what is printed."""
    if seconds is not None and finite("--seconds [s]", seconds) <= 0:
        raise InvalidValueError("--seconds [s]", "greater than 0", seconds)
    if find_spec("pygame") is None:
        raise MissingPackageError("a window to drive in", "pygame-ce", "drive")
    from segtrack.recording.session import DriveSession
    from segtrack.recording.setup import DriveSetup
    from segtrack.station.window.loop import DriveWindow, window_help

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
