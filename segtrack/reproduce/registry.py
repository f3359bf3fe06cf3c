"""Registry of the `segtrack reproduce` commands, with their common options and timing harness."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol, TypeVar

import typer

from segtrack.engine import describe_track_models, resolve
from segtrack.errors import InvalidValueError, MissingPyBulletError

HIGHEST_OBSTACLE = 3.0
"""Highest obstacle that can be asked for [m], several times what any tracked vehicle climbs."""
WIDEST_GAP = 20.0
"""Widest gap that can be asked for [m]."""
ROUGHEST_COURSE = 1.0
"""Largest root mean square height of a ride course that can be asked for [m]."""
MOST_THREADS = 1024
"""Most threads that can be asked for."""
MOST_ROBOTS = 100_000
"""Most robots side by side that can be asked for."""


def at_most(most: float, unit: str, least: float = -math.inf) -> Callable[[str], float]:
    """Return a parser of a number option that refuses values beyond bounds, as mistyped or in a wrong unit.

    Args:
        most: Largest sensible number.
        unit: Unit of the bounds; "" for none.
        least: Smallest sensible number; negative ones are left to the computation to refuse.
    """
    bounds = f"at most {most:g}" if least == -math.inf else f"from {least:g} to {most:g}"
    bounds = f"{bounds} {unit}".rstrip()

    def number(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            raise typer.BadParameter(f"must be a number {bounds}, got {text!r}")
        return value

    return number


parse_time_step = at_most(0.1, "s", least=1e-5)
"""Parser of a time step [s]."""

TrackModel = Annotated[
    str | None,
    typer.Option(
        help=f"{describe_track_models()}; the engine's first if not given, chain on sprung wheels.",
        show_default=False,
    ),
]
TrackModels = Annotated[
    list[str] | None,
    typer.Option("--track-model", help=f"{describe_track_models()}; may be repeated.", show_default=False),
]
EngineChoice = Annotated[
    str | None,
    typer.Option(
        "--engine",
        help="pybullet, native or mujoco; the one that runs the track model if not given, PyBullet where "
        "installed (native for chains on sprung wheels).",
        show_default=False,
    ),
]
Preset = Annotated[
    str | None,
    typer.Option(
        help="Solver settings; PyBullet's are exact (1 ms), fast (5 ms) and coarse (10 ms).",
        show_default=False,
    ),
]
Friction = Annotated[
    float | None,
    typer.Option(
        parser=at_most(10.0, ""), help="Friction instead of the vehicle file's.", show_default=False
    ),
]
Rounds = Annotated[int, typer.Option(help="How often each takes its turn.", min=1)]


def parse_numbers(option: str, text: str) -> tuple[float, ...]:
    """Parse the value of an option with several numbers.

    Raises:
        InvalidValueError: The text is not numbers with commas between them.
    """
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InvalidValueError(option, "numbers with commas between them", text) from None


if TYPE_CHECKING:
    from segtrack.report import Outcome

Choice = TypeVar("Choice")


class Session(Protocol):
    """Results folder and progress bars, passed from a command to the `run` of its module."""

    @property
    def folder(self) -> Path:
        """Folder for results; it exists and is writable."""

    def rename(self, name: str) -> None:
        """Rename the default results folder; a folder that the user chose keeps its name.

        Raises:
            FileAccessError: Nothing can be written there.
        """

    def counting(self, what: str, total: int) -> AbstractContextManager[Callable[[], None]]:
        """Show a progress bar; yields a function to call after each piece of work."""

    def progress(self, what: str, total: float) -> AbstractContextManager[Callable[[float], None]]:
        """Show a progress bar; yields a function that sets the progress."""


@dataclass(frozen=True)
class Experiment:
    """Command of `segtrack reproduce`.

    Attributes:
        name: Name of the command, of its results folder and, with underscores, of its module in
            `segtrack.reproduce`, whose `run(session, ...)` does the work; the keyword parameters of `run`,
            annotated with `typer.Option`, are the command's options.
        summary: Help text of the command.
    """

    name: str
    summary: str

    @property
    def run(self) -> Callable[..., Outcome]:
        """Function of the experiment's module, imported here."""
        run: Callable[..., Outcome] = import_module(f"segtrack.reproduce.{self.name.replace('-', '_')}").run
        return run


EXPERIMENTS = (
    Experiment(
        "okada-table-2",
        "Table II of Okada et al. 2020: how fast each track model is, PackBot on flat ground.",
    ),
    Experiment(
        "speed", "How fast Quince is simulated on a 240 mm step and turning, compliant belts over segments."
    ),
    Experiment(
        "chain-speed",
        "How fast link chains are simulated, PackBot's and an M113-like one, at steps of 1, 2 and 4 ms.",
    ),
    Experiment("films", "Cost of a film of a climb beside the climb, in both engines."),
    Experiment(
        "okada-table-4", "Table IV of Okada et al. 2020: Quince at six steps, beside the physical robot."
    ),
    Experiment(
        "turning",
        "Turning rates beside a closed form, and beside planar friction under each track model's own loads."
        "\n\n"
        "On the spot they are the vehicle's steering_efficiency, which vehicle files may have.",
    ),
    Experiment(
        "mujoco-tracks",
        "Turning of what MuJoCo has for tracks, moving surfaces and wheels, beside segtrack's belts in it.",
    ),
    Experiment(
        "maxxii",
        "Recorded steady turns of a physical tracked vehicle, driven in simulation; nothing is tuned.",
    ),
    Experiment(
        "robots",
        "Speed, turns, steps and flippers published of Absolem, Bunker, Markhor and a Jaguar, beside ours.",
    ),
    Experiment(
        "step-limit",
        "The highest step that Quince can climb: an open-loop search beside the policy that sees it.",
    ),
    Experiment(
        "log-round-trip",
        "A simulated climb, spoilt as logs are and recovered: clock, mounting and bias of a gyroscope.",
    ),
    Experiment(
        "clocks",
        "Clocks fitted to simulated logs whose gyroscope trembles: how often intervals hold, errors in time.",
    ),
    Experiment("log-speed", "How fast a log of each kind is read, and compared: 200 Hz, 20 channels."),
    Experiment(
        "calibration",
        "Friction, centre of mass and drive lag fitted to simulated climbs: how many intervals hold.",
    ),
    Experiment(
        "verdict",
        "Which of nine vehicle files, eight of them wrong, logs of a robot in MuJoCo prefer.",
    ),
    Experiment(
        "segments-vs-chain",
        "Segments and a link chain on flat ground, slope, hitch and Table IV: where they agree, and why not.",
    ),
    Experiment(
        "attia",
        "Vehicle with double A-arms of Attia 2005, let go: as particles with cut joints, and natively.",
    ),
    Experiment(
        "korner",
        "Koerner 2024: an M113 at steps, gaps, trapezoids and half-rounds, and with its sprocket moved.",
    ),
)
"""All commands, in the order of the help."""


def markdown_table() -> str:
    """Return a Markdown table of all commands, a row each."""
    rows = [
        f"| `segtrack reproduce {row.name}` | {row.summary.splitlines()[0].rstrip('.')} |"
        for row in EXPERIMENTS
    ]
    return "\n".join(["| command | what it reproduces |", "|---|---|", *rows])


def runnable(choices: Mapping[Choice, tuple[str | None, str]]) -> tuple[tuple[Choice, ...], tuple[str, ...]]:
    """Leave out the choices that need PyBullet if it is not installed.

    Args:
        choices: Engine (None for one that runs the track model) and track model, by name.

    Returns:
        Names of the available choices, and notes that name the others.

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


Name = TypeVar("Name")
Sample = TypeVar("Sample")


@dataclass(frozen=True)
class Elapsed:
    """Duration of a call.

    Attributes:
        clock: Wall time [s].
        processor: Processor time [s].
    """

    clock: float
    processor: float


def stopwatch(call: Callable[[], object]) -> Elapsed:
    """Measure the duration of a call."""
    clock, processor = time.perf_counter(), time.process_time()
    call()
    return Elapsed(time.perf_counter() - clock, time.process_time() - processor)


def take_turns(
    contenders: Mapping[Name, Callable[[], Sample]],
    rounds: int,
    on_done: Callable[[], object] = lambda: None,
    warm_up: bool = False,
) -> dict[Name, tuple[Sample, ...]]:
    """Call each contender once in each round.

    Args:
        contenders: Functions that run a contender and return a sample, by name.
        rounds: Number of rounds, at least 1.
        on_done: Function called after each counted call.
        warm_up: True for a first round that does not count, to compile kernels.

    Returns:
        Samples of the rounds, by name.

    Raises:
        InvalidValueError: No rounds.
    """
    if rounds < 1:
        raise InvalidValueError("rounds", "at least 1", rounds)
    samples: dict[Name, list[Sample]] = {name: [] for name in contenders}
    for call in contenders.values() if warm_up else ():
        call()
    for _ in range(rounds):
        for name, call in contenders.items():
            samples[name].append(call())
            on_done()
    return {name: tuple(values) for name, values in samples.items()}
