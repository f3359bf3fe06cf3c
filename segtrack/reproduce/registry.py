"""Registry of the commands of `segtrack reproduce`, and the options that commands share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol, TypeVar

import typer

from segtrack.engine.track_models import describe_track_models
from segtrack.errors import InvalidValueError, MissingPyBulletError
from segtrack.world import resolve

TrackModel = Annotated[
    str | None,
    typer.Option(help=f"{describe_track_models()}; the engine's first if not given.", show_default=False),
]
TrackModels = Annotated[
    list[str] | None,
    typer.Option("--track-model", help=f"{describe_track_models()}; may be repeated.", show_default=False),
]
EngineChoice = Annotated[
    str | None,
    typer.Option(
        "--engine",
        help="pybullet or native; the one that runs the track model if not given, PyBullet where installed.",
        show_default=False,
    ),
]
Preset = Annotated[
    str | None,
    typer.Option(
        help="Solver settings; PyBullet's are exact (1 ms), fast (4 ms) and coarse (10 ms).",
        show_default=False,
    ),
]
Rounds = Annotated[int, typer.Option(help="How often each takes its turn.", min=1)]


def parse_numbers(option: str, text: str) -> tuple[float, ...]:
    """Parse the value of an option that takes several numbers.

    Raises:
        InvalidValueError: The text is not numbers with commas between them.
    """
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InvalidValueError(option, "numbers with commas between them", text) from None


if TYPE_CHECKING:
    from segtrack.report.outcome import Outcome

Choice = TypeVar("Choice")


class Session(Protocol):
    """Results folder and progress bars that a command hands to the `run` of its module."""

    @property
    def folder(self) -> Path:
        """Folder for results, known to be writable."""

    def rename(self, name: str) -> None:
        """Call the folder otherwise if the user did not name one.

        Raises:
            FileAccessError: Nothing can be written there.
        """

    def counting(self, what: str, total: int) -> AbstractContextManager[Callable[[], None]]:
        """Show a bar for pieces of work; yields a function to call after each."""

    def progress(self, what: str, total: float) -> AbstractContextManager[Callable[[float], None]]:
        """Show a bar; yields a function that sets how far the work is."""


@dataclass(frozen=True)
class Experiment:
    """One command.

    Attributes:
        name: Name of the command, and of its results folder.
        module: Module in `segtrack.reproduce`; its `run(session, ...)` does the work, and the keyword
            parameters of `run`, annotated with `typer.Option`, are the command's options.
        summary: Help of the command: what is reproduced.
    """

    name: str
    module: str
    summary: str

    @property
    def run(self) -> Callable[..., Outcome]:
        """Function that does the work; its module is imported here."""
        run: Callable[..., Outcome] = import_module(f"segtrack.reproduce.{self.module}").run
        return run


EXPERIMENTS = (
    Experiment(
        "okada-table-2",
        "okada_table_2",
        "Table II of Okada et al. 2020: how fast each track model is, PackBot on flat ground.",
    ),
    Experiment(
        "speed",
        "speed",
        "How fast Quince is simulated on a 240 mm step and turning, compliant belts over segments.",
    ),
    Experiment("films", "films", "Cost of a film of a climb beside the climb, in both engines."),
    Experiment(
        "okada-table-4",
        "okada_table_4",
        "Table IV of Okada et al. 2020: Quince at six steps, beside the physical robot.",
    ),
    Experiment(
        "turning",
        "turning",
        "Turning rates beside a closed form, and beside planar friction under each track model's own loads."
        "\n\n"
        "On the spot they are the vehicle's steering_efficiency, which vehicle files may have.",
    ),
    Experiment(
        "maxxii",
        "maxxii",
        "Recorded steady turns of a physical tracked vehicle, driven in simulation; nothing is tuned.",
    ),
    Experiment(
        "log-round-trip",
        "log_round_trip",
        "A simulated climb, spoilt as logs are and recovered: clock, mounting and bias of a gyroscope.",
    ),
    Experiment(
        "log-speed",
        "log_speed",
        "How fast a log of each kind is read, and compared: 200 Hz, 20 channels.",
    ),
    Experiment(
        "calibration",
        "calibration",
        "Friction, centre of mass and drive lag fitted to simulated climbs, of which the truth is known.",
    ),
    Experiment(
        "segments-vs-chain",
        "segments_vs_chain",
        "Segments and a link chain on flat ground, slope, hitch and Table IV: where they agree, and why not.",
    ),
)
"""All commands, in the order of the help."""


def markdown_table() -> str:
    """Return the table of all commands for a Markdown document, a row each."""
    rows = [
        f"| `segtrack reproduce {row.name}` | {row.summary.splitlines()[0].rstrip('.')} |"
        for row in EXPERIMENTS
    ]
    return "\n".join(["| command | what it reproduces |", "|---|---|", *rows])


def runnable(
    choices: Mapping[Choice, tuple[str | None, str]],
) -> tuple[tuple[Choice, ...], tuple[str, ...]]:
    """Leave out what needs PyBullet where it is not installed.

    Args:
        choices: Engine, None for the one that runs the track model, and track model, by name.

    Returns:
        Names of those that run here, and notes that name the others.

    Raises:
        MissingPyBulletError: Nothing is left.
        UnknownNameError: No such engine or track model.
        InvalidValueError: An engine does not run its track model.
    """
    run, missing = [], []
    for name, (engine, track_model) in choices.items():
        try:
            resolve(engine, track_model)  # type: ignore[arg-type]
            run.append(name)
        except MissingPyBulletError as error:
            missing.append(name)
            reason = error
    if missing and not run:
        raise reason
    notes = [f"left out: {', '.join(map(str, missing))}: {reason}"] if missing else []
    return tuple(run), tuple(notes)
