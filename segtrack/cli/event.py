"""Command group `segtrack event`: a vehicle at an obstacle of NG-NRMM, a command for each kind."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from segtrack.cli.event_run import AskedEvent
from segtrack.cli.output import command
from segtrack.reproduce import HIGHEST_OBSTACLE, ROUGHEST_COURSE, WIDEST_GAP, at_most

event = typer.Typer(help="Drive a vehicle at an obstacle of NG-NRMM.", no_args_is_help=True)


def _event(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a command for a kind of obstacle: options of what makes it, and of `AskedEvent`."""

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
    from segtrack.events import StepObstacle

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
    from segtrack.events import GapObstacle

    return GapObstacle(length, depth)


@_event("half-round")
def _half_round(
    height: Annotated[
        float,
        typer.Option(parser=at_most(HIGHEST_OBSTACLE, "m"), help="Height and radius of the half-round [m]."),
    ],
) -> Any:
    """Drive over half of a lying cylinder, at full speed unless told otherwise."""
    from segtrack.events import HalfRoundObstacle

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
    from segtrack.events import TrapezoidObstacle

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
    from segtrack.events import RideCourse, RideObstacle

    return RideObstacle(RideCourse(rms, length, gauge, seed, correlation, longest, shortest))
