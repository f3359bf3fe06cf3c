"""Options shared by commands of `segtrack log`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, fields
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from segtrack.cli.output import Jobs, JsonFlag, OutFolder, command, path, results_folder
from segtrack.reproduce import EngineChoice, TrackModel

VehicleOption = Annotated[
    str | None, typer.Option(help="Bundled vehicle or vehicle file; the mapping's.", show_default=False)
]
ConstantsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A quantity that was the same all the time, over what the mapping says of it, in segtrack's "
        "sign and with its unit: flipper_angle.front_left=45deg; may be repeated.",
        show_default=False,
    ),
]
TrialOption = Annotated[
    int | None,
    typer.Option(help="Number of the trial, of a log that the mapping splits.", min=1, show_default=False),
]


def log_path(text: str) -> Path:
    """Parse the path of a log; `.` and `..` become that of the folder, which has a name."""
    found = path(text)
    return found.resolve() if found.name in ("", "..") else found


@dataclass(frozen=True)
class SimulationOptions:
    """Options of a command that simulates trials of robots, the last in its help.

    Attributes:
        track_model: Track model of the vehicle; None for the engine's first.
        engine: Engine; None for the one that runs the track model.
        jobs: Number of processes; None for as many as there are cores.
        out: Folder of results; None for the command's own.
        as_json: True for one JSON object on standard output.
    """

    track_model: TrackModel = None
    engine: EngineChoice = None
    jobs: Jobs = None
    out: OutFolder = None
    as_json: JsonFlag = False

    def folder(self, name: str) -> Path:
        """Return the folder of results, a named one unless the user chose one.

        Raises:
            FileAccessError: Nothing can be written there.
        """
        return results_folder(self.out, name)


def simulation_command(function: Callable[..., None]) -> Callable[..., None]:
    """Make a command of a function that takes `SimulationOptions` first, whose options follow its own."""

    @functools.wraps(function)
    def call(**options: Any) -> None:
        shared = {each.name: options.pop(each.name) for each in fields(SimulationOptions)}
        function(SimulationOptions(**shared), **options)

    _, *own = signature(function, eval_str=True).parameters.values()
    types = get_type_hints(SimulationOptions, include_extras=True)
    parameters = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in own]
    parameters += [
        Parameter(each.name, Parameter.KEYWORD_ONLY, default=each.default, annotation=types[each.name])
        for each in fields(SimulationOptions)
    ]
    call.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {each.name: each.annotation for each in parameters}
    return command(call)
