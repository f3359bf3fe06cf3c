"""Command group `segtrack event`: a vehicle at an obstacle of NG-NRMM, one command for each kind."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from segtrack.cli.filming import filming
from segtrack.cli.output import (
    INTERRUPTED,
    FilmFile,
    FilmView,
    FrameRate,
    FrameSize,
    JsonFlag,
    OutFolder,
    command,
    counting,
    film_options,
    progress,
    results_folder,
    say_written,
    show,
)
from segtrack.errors import InvalidValueError, Phrase, SegtrackError, UnknownNameError
from segtrack.files import write_csv, write_figure, write_json
from segtrack.reproduce import (
    HIGHEST_OBSTACLE,
    ROUGHEST_COURSE,
    WIDEST_GAP,
    EngineChoice,
    Friction,
    Preset,
    TrackModel,
    at_most,
    parse_numbers,
    parse_time_step,
)

if TYPE_CHECKING:  # With scipy's filters, which take a while to import.
    from segtrack.experiments import Criterion, EventObstacle, EventSetup, SearchTrial, UpwardSearch


VehicleName = Annotated[str, typer.Argument(help="Name of a bundled vehicle, or path of a vehicle file.")]
Speed = Annotated[
    float | None,
    typer.Option(
        parser=at_most(100.0, "m/s"),
        help="Belt speed [m/s], clipped to what the drives can do; the event's if not given.",
        show_default=False,
    ),
]
Flippers = Annotated[
    float | None,
    typer.Option(
        parser=at_most(360.0, "deg", least=-360.0),
        help="Angle of the front flippers [deg], 45 where there are any.",
        show_default=False,
    ),
]
TimeStep = Annotated[
    float | None,
    typer.Option(parser=parse_time_step, help="Time step instead of the preset's [s].", show_default=False),
]
DriverAt = Annotated[
    str | None,
    typer.Option(
        "--driver",
        help="Driver's place x,y,z in the body frame [m]; the vehicle file's, or the centre of mass.",
        show_default=False,
    ),
]
Raise = Annotated[
    str | None,
    typer.Option(
        "--raise",
        help="Search upwards: first,last,increment of the obstacle's size [m], until it is not passed.",
        show_default=False,
    ),
]
RaiseSpeed = Annotated[
    str | None,
    typer.Option(
        "--raise-speed",
        help="Search upwards: first,last,increment of the speed [m/s], until the criterion fails.",
        show_default=False,
    ),
]
CriterionName = Annotated[
    str | None,
    typer.Option(
        "--criterion",
        help="Criterion of --raise-speed: peak (if not given), filtered peak or absorbed power.",
        show_default=False,
    ),
]


_LARGEST: Mapping[str, float] = MappingProxyType(
    {"height": HIGHEST_OBSTACLE, "length": WIDEST_GAP, "rms": ROUGHEST_COURSE}
)
"""Largest size of an obstacle that can be asked for [m], by the size's name."""


@dataclass(frozen=True)
class AskedEvent:
    """Options shared by all events."""

    vehicle: VehicleName
    speed: Speed = None
    friction: Friction = None
    flippers: Flippers = None
    driver: DriverAt = None
    track_model: TrackModel = None
    engine: EngineChoice = None
    preset: Preset = None
    time_step: TimeStep = None
    sizes: Raise = None
    speeds: RaiseSpeed = None
    criterion: CriterionName = None
    record: FilmFile = None
    view: FilmView = None
    frame_rate: FrameRate = None
    frame_size: FrameSize = None
    out: OutFolder = None
    as_json: JsonFlag = False

    def run(self, obstacle: EventObstacle) -> None:
        """Run one event, or a search for its limit."""
        from segtrack.experiments import EventSetup, UpwardSearch, limit_of

        setup = EventSetup(
            vehicle=self.vehicle,
            obstacle=obstacle,
            speed=self.speed,
            friction=self.friction,
            flippers=None if self.flippers is None else math.radians(self.flippers),
            driver_position=None if self.driver is None else _three("--driver", self.driver, 20.0, "m"),
            track_model=self.track_model,
            engine=self.engine,  # type: ignore[arg-type]
            preset=self.preset,
            time_step=self.time_step,
        )
        film = film_options("--record", self.record, self.view, self.frame_rate, self.frame_size)
        criterion = _criterion("peak" if self.criterion is None else self.criterion)
        folder = results_folder(self.out, f"event-{obstacle.name}-{Path(self.vehicle).stem}")
        if self.sizes is not None and self.speeds is not None:
            raise InvalidValueError("--raise", "left out with --raise-speed", self.sizes)
        if self.criterion is not None and self.speeds is None:
            raise InvalidValueError("--raise-speed", "given with --criterion", Phrase("none"))
        if self.speed is not None and self.speeds is not None:
            raise InvalidValueError("--speed", "left out with --raise-speed", self.speed)
        if self.record is not None and (self.sizes is not None or self.speeds is not None):
            raise InvalidValueError("--record", "left out of a search", str(self.record))
        if self.sizes is not None:
            most = _LARGEST[obstacle.size_name]
            self._search(setup, UpwardSearch(*_three("--raise", self.sizes, most, "m")), folder)
        elif self.speeds is not None:
            limit = limit_of(criterion, setup.assumptions)
            search = UpwardSearch(
                *_three("--raise-speed", self.speeds, 100.0, "m/s"), criterion, limit, "speed"
            )
            self._search(setup, search, folder)
        else:
            self._once(setup, folder, film)

    def _once(self, setup: EventSetup, folder: Path, film: Mapping[str, Any]) -> None:
        """Run one event, print its result and write its files."""
        from segtrack.experiments import EventInterrupted, EventProgress, run_event
        from segtrack.report import draw_event, draw_loads, event_table

        interrupted = False
        with progress(setup.obstacle.name, 1.0) as advance, filming(self.record, film) as take:

            def observe(now: EventProgress) -> None:
                advance(now.fraction)
                take(now)

            try:
                result = run_event(setup, observer=observe)
            except EventInterrupted as error:
                result, interrupted = error.result, True
        written = [write_json(folder / "summary.json", result.summary())]
        for name, columns in result.columns().items():
            written.append(write_csv(folder / name, list(columns), zip(*columns.values(), strict=True)))
        if not interrupted and result.ridden.duration > 0:
            written.append(write_figure(folder / "event.png", draw_event(result)))
            if result.chains:
                written.append(write_figure(folder / "loads.png", draw_loads(result)))
        show(event_table(result), result.summary(), self.as_json)
        say_written(*written, *([self.record] if self.record is not None else []))
        if interrupted:
            raise typer.Exit(INTERRUPTED)
        if result.outcome == "diverged":
            raise SegtrackError(result.reason)

    def _search(self, setup: EventSetup, search: UpwardSearch, folder: Path) -> None:
        """Search for the limit of an event, print its result and write its files."""
        from segtrack.experiments import Found, run_event
        from segtrack.report import draw_search, search_table

        trials: list[SearchTrial] = []
        runs: list[dict[str, object]] = []
        interrupted = False
        with counting("searching upwards", len(search.values)) as advance:
            try:
                while (value := search.next(trials)) is not None:
                    result = run_event(search.setup_at(setup, value))
                    runs.append(result.summary())
                    trials.append(search.trial(value, result))
                    advance()
            except KeyboardInterrupt:
                if not trials:
                    raise
                interrupted = True
        found = search.found(trials) if not interrupted else Found(None, "interrupted before its end")
        name, unit = ("speed", "m/s") if search.raised == "speed" else (setup.obstacle.size_name, "m")
        what = f"{name} [{unit}]"
        title = f"{runs[0]['vehicle']}: limiting {name}, {setup.obstacle.name}"
        summary = {
            "criterion": search.criterion,
            "limit": search.limit,
            "raised": name,
            "found": found.value,
            "reason": found.reason,
            "runs": runs[: len(trials)],
        }
        figure = draw_search(search, trials, found, what)
        written = write_json(folder / "search.json", summary), write_figure(folder / "search.png", figure)
        show(search_table(search, trials, found, what, title), summary, self.as_json)
        say_written(*written)
        if interrupted:
            raise typer.Exit(INTERRUPTED)
        if not trials[-1].decided:
            raise SegtrackError(found.reason)


def _three(option: str, text: str, most: float, unit: str) -> tuple[float, float, float]:
    """Parse three numbers of an option."""
    numbers = parse_numbers(option, text)
    if len(numbers) != 3:
        raise InvalidValueError(option, "three numbers with commas between them", text)
    if max(numbers) > most:
        raise InvalidValueError(option, f"three numbers of at most {most:g} {unit}", text)
    return numbers[0], numbers[1], numbers[2]


def _criterion(name: str) -> Criterion:
    from segtrack.experiments import UNITS

    if name not in UNITS:
        raise UnknownNameError("criterion", name, UNITS)
    return name  # type: ignore[return-value]


event = typer.Typer(help="Drive a vehicle at an obstacle of NG-NRMM.", no_args_is_help=True)


def _event(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a command for a kind of obstacle: the options of its function, and those of `AskedEvent`."""

    def register(make: Callable[..., Any]) -> Callable[..., Any]:
        own = inspect.signature(make, eval_str=True).parameters

        def call(**options: Any) -> None:
            obstacle = make(**{option: options.pop(option) for option in own})
            AskedEvent(**options).run(obstacle)

        shared = inspect.signature(AskedEvent, eval_str=True).parameters
        parameters = [
            each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in (*own.values(), *shared.values())
        ]
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {each.name: each.annotation for each in parameters}
        call.__doc__ = make.__doc__
        event.command(name)(command(call))
        return make

    return register


@_event("step")
def _step(
    height: Annotated[
        float, typer.Option(parser=at_most(HIGHEST_OBSTACLE, "m"), help="Height of the step [m].")
    ],
) -> Any:
    """Climb a vertical step from rest right before it, at full speed unless told otherwise."""
    from segtrack.experiments import StepObstacle

    return StepObstacle(height)


@_event("gap")
def _gap(
    length: Annotated[
        float, typer.Option(parser=at_most(WIDEST_GAP, "m"), help="Distance between the walls [m].")
    ],
    depth: Annotated[
        float, typer.Option(parser=at_most(20.0, "m"), help="Depth of the bottom [m], an assumption.")
    ] = 1.0,
) -> Any:
    """Cross a gap with upright walls, at 0.36 m/s unless told otherwise."""
    from segtrack.experiments import GapObstacle

    return GapObstacle(length, depth)


@_event("half-round")
def _half_round(
    height: Annotated[
        float,
        typer.Option(parser=at_most(HIGHEST_OBSTACLE, "m"), help="Height and radius of the half-round [m]."),
    ],
) -> Any:
    """Drive over half of a lying cylinder, at full speed unless told otherwise."""
    from segtrack.experiments import HalfRoundObstacle

    return HalfRoundObstacle(height)


@_event("trapezoid")
def _trapezoid(
    number: Annotated[
        int, typer.Option(help="1 to 12: tops of 6, 30, 140 in; of each the slopes of 16, 26, 38, 68 deg.")
    ],
    ditch: Annotated[bool, typer.Option("--ditch", help="A ditch instead of a barrier.")] = False,
    height: Annotated[
        float,
        typer.Option(
            parser=at_most(HIGHEST_OBSTACLE, "m"),
            help="Height of the barrier or depth of the ditch [m]; lengths are in proportion.",
        ),
    ] = 0.762,
) -> Any:
    """Cross a trapezoid barrier or ditch, at 1 m/s unless told otherwise, which is an assumption."""
    from segtrack.experiments import TrapezoidObstacle

    return TrapezoidObstacle(number, ditch, height)


@_event("ride")
def _ride(
    rms: Annotated[
        float,
        typer.Option(
            parser=at_most(ROUGHEST_COURSE, "m"), help="Root mean square height of either profile [m]."
        ),
    ],
    length: Annotated[
        float, typer.Option(parser=at_most(10_000.0, "m"), help="Length of the course [m].")
    ] = 60.0,
    gauge: Annotated[
        float, typer.Option(parser=at_most(20.0, "m"), help="Distance between left and right profile [m].")
    ] = 2.0,
    seed: Annotated[int, typer.Option(help="Seed of the phases.", min=0)] = 0,
    correlation: Annotated[float, typer.Option(help="Correlation of left and right, 0 to 1.")] = 1.0,
    longest: Annotated[float, typer.Option(parser=at_most(1000.0, "m"), help="Longest wave [m].")] = 18.288,
    shortest: Annotated[
        float, typer.Option(parser=at_most(1000.0, "m", least=0.01), help="Shortest wave [m].")
    ] = 0.6,
) -> Any:
    """Ride over a random course, at full speed unless told otherwise."""
    from segtrack.experiments import RideCourse, RideObstacle

    return RideObstacle(RideCourse(rms, length, gauge, seed, correlation, longest, shortest))
