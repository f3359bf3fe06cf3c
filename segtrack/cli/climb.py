"""`segtrack climb`: a vehicle drives at a step."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from segtrack import experiments
from segtrack.cli.output import (
    INTERRUPTED,
    FilmFile,
    FilmView,
    FrameRate,
    FrameSize,
    JsonFlag,
    OutFolder,
    command,
    film_options,
    progress,
    results_folder,
    say_written,
    show,
)
from segtrack.engine import find_track_model
from segtrack.experiments import FRONT_FLIPPERS_DEG, REAR_FLIPPERS_DEG
from segtrack.files import write_csv, write_figure, write_json
from segtrack.reproduce import HIGHEST_OBSTACLE, EngineChoice, Friction, Preset, TrackModel, at_most

if TYPE_CHECKING:  # Numba takes half a second to import.
    from segtrack.rendering import Film


@command
def climb(
    vehicle: Annotated[str, typer.Argument(help="Name of a bundled vehicle, or path of a vehicle file.")],
    step: Annotated[
        float, typer.Option(parser=at_most(HIGHEST_OBSTACLE, "m"), help="Height of the step [m].")
    ] = 0.24,
    flippers: Annotated[
        float | None,
        typer.Option(
            parser=at_most(360.0, "deg", least=-360.0),
            help=f"Angle of the front flippers [deg], {FRONT_FLIPPERS_DEG:g} where there are any.",
            show_default=False,
        ),
    ] = None,
    rear_flippers: Annotated[
        float | None,
        typer.Option(
            parser=at_most(360.0, "deg", least=-360.0),
            help=f"Angle of the rear flippers [deg], {REAR_FLIPPERS_DEG:g}.",
            show_default=False,
        ),
    ] = None,
    speed: Annotated[
        float,
        typer.Option(
            parser=at_most(100.0, "m/s"), help="Belt speed [m/s], clipped to what the drives can do."
        ),
    ] = 0.1,
    track_model: TrackModel = None,
    engine: EngineChoice = None,
    preset: Preset = None,
    friction: Friction = None,
    gui: Annotated[bool, typer.Option("--gui", help="Show a window.")] = False,
    record: FilmFile = None,
    view: FilmView = None,
    frame_rate: FrameRate = None,
    frame_size: FrameSize = None,
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Drive a vehicle at a step and see whether it climbs; failing to climb is a result, not an error."""
    from segtrack.report import climb_table, draw_chains, draw_climb, draw_grousers

    options = film_options("--record", record, view, frame_rate, frame_size)
    setup = experiments.ClimbSetup(
        vehicle=vehicle,
        step=step,
        flippers=None if flippers is None else math.radians(flippers),
        rear_flippers=None if rear_flippers is None else math.radians(rear_flippers),
        speed=speed,
        track_model=track_model,
        engine=engine,  # type: ignore[arg-type]
        preset=preset,
        friction=friction,
    )
    film = None if record is None else partial(_open_film, record, options)
    folder = results_folder(out, f"climb-{Path(vehicle).stem}")
    ended: experiments.ClimbInterrupted | experiments.ClimbDivergedError | None = None
    reads_grousers = find_track_model(setup.resolved[1]).contacts == "grousers"
    recorder = experiments.GrouserRecorder() if reads_grousers else None
    try:
        result = _run(setup, gui, film, recorder)
    except (experiments.ClimbInterrupted, experiments.ClimbDivergedError) as error:
        result, ended = error.result, error
    columns = experiments.trajectory_columns(result.trajectory)
    written = [
        write_csv(folder / "trajectory.csv", list(columns), zip(*columns.values(), strict=True)),
        write_json(folder / "summary.json", result.summary()),
    ]
    if result.chains is not None:
        written.append(write_csv(folder / "chain.csv", experiments.CHAIN_COLUMNS, result.chains.rows()))
    grousers = None if recorder is None else recorder.history()
    if grousers is not None:
        written.append(write_csv(folder / "grousers.csv", experiments.GROUSER_COLUMNS, grousers.rows()))
    if not isinstance(ended, experiments.ClimbInterrupted):
        written.append(write_figure(folder / "climb.png", draw_climb(result)))
        if result.chains is not None:
            written.append(write_figure(folder / "chain.png", draw_chains(result)))
        if grousers is not None:
            written.append(write_figure(folder / "grousers.png", draw_grousers(result, grousers)))
    show(climb_table(result), result.summary(), as_json)
    say_written(*written, *([record] if record is not None else []))
    if isinstance(ended, experiments.ClimbInterrupted):
        raise typer.Exit(INTERRUPTED)
    if ended is not None:
        raise ended


def _run(
    setup: experiments.ClimbSetup,
    gui: bool,
    open_film: Callable[[experiments.ClimbProgress], Film] | None,
    recorder: experiments.GrouserRecorder | None,
) -> experiments.ClimbResult:
    """Simulate a climb with a progress bar, and a film or grouser readings if wanted."""
    film: Film | None = None
    with ExitStack() as stack:
        advance = stack.enter_context(
            progress("climbing" if open_film is None else "climbing and filming", 1.0)
        )

        def observe(now: experiments.ClimbProgress) -> None:
            nonlocal film
            advance(now.time / now.time_limit)
            if recorder is not None:
                recorder.sample(now.time, now.robot)
            if film is None and open_film is not None:
                film = stack.enter_context(open_film(now))
            if film is not None:
                film.take(now.time)

        return experiments.run_climb(setup, gui=gui, observer=observe)


def _open_film(path: Path, options: Mapping[str, Any], now: experiments.ClimbProgress) -> Film:
    """Begin the film of a climb."""
    from segtrack.rendering import Film

    return Film(path, now.robot, now.world.terrains, **options)
