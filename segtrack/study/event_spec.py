"""Event of a study file: a kind of obstacle with its numbers, and how it is driven at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated, Literal

from pydantic import Field

from segtrack.description import Angle, Checks, NonNegative, Positive, Spec, Vector, check, known
from segtrack.errors import InvalidValueError, Problem
from segtrack.events import (
    EventObstacle,
    GapObstacle,
    HalfRoundObstacle,
    RideCourse,
    RideObstacle,
    StepObstacle,
    TrapezoidObstacle,
)

Kind = Literal["step", "gap", "half-round", "trapezoid", "ride"]
_KINDS: Mapping[str, tuple[type, tuple[str, ...]]] = {
    "step": (StepObstacle, ("height",)),
    "gap": (GapObstacle, ("length",)),
    "half-round": (HalfRoundObstacle, ("height",)),
    "trapezoid": (TrapezoidObstacle, ("number",)),
    "ride": (RideCourse, ("rms",)),
}
"""What each kind of obstacle is made by, and what it needs."""
_SHARED = ("kind", "speed", "friction", "flippers", "rear_flippers", "driver_position")


class EventSpec(Spec):
    """Event of a study: a kind of obstacle with its numbers, and how it is driven at."""

    kind: Kind
    """Kind of obstacle."""
    height: Positive | None = None
    """Height of a step, half-round or trapezoid [m]."""
    length: Positive | None = None
    """Length of a gap or a ride course [m]."""
    depth: Positive | None = None
    """Depth of a gap [m]."""
    number: Annotated[int, Field(strict=True, ge=1, le=12)] | None = None
    """Number of a trapezoid."""
    ditch: Annotated[bool, Field(strict=True)] | None = None
    """A trapezoid ditch instead of a barrier."""
    rms: Positive | None = None
    """Roughness of a ride course [m]."""
    gauge: Positive | None = None
    """Distance between the profiles of a ride course [m]."""
    seed: Annotated[int, Field(strict=True, ge=0)] | None = None
    """Seed of a ride course."""
    correlation: NonNegative | None = None
    """Correlation of the profiles of a ride course [-]."""
    longest: Positive | None = None
    """Longest wave of a ride course [m]."""
    shortest: Positive | None = None
    """Shortest wave of a ride course [m]."""
    speed: Positive | None = None
    """Belt speed [m/s]; the event's if not given."""
    friction: NonNegative | None = None
    """Friction on every track instead of the vehicle's."""
    flippers: Angle | None = None
    """Angle of the front flippers [rad]."""
    rear_flippers: Angle | None = None
    """Angle of the rear flippers [rad]."""
    driver_position: Vector | None = None
    """Driver's place in the body frame [m]; the vehicle's if not given."""

    @check
    def _fits_its_kind(self) -> Checks:
        make, needed = _KINDS[self.kind]
        takes = [field.name for field in fields(make)]
        for name in needed:
            if known(self, name, 0.0) is None:
                yield Problem(name, f"is missing for a {self.kind}")
        for name in self.model_fields_set:
            if name not in takes and name not in _SHARED:
                yield Problem(name, f"is nothing of a {self.kind}; it takes {', '.join(takes)}")

    @check
    def _makes_an_obstacle(self) -> Checks:
        if not list(self._fits_its_kind()):
            try:
                self.obstacle  # noqa: B018
            except InvalidValueError as error:
                yield Problem("", str(error))

    @property
    def obstacle(self) -> EventObstacle:
        """Obstacle that it describes."""
        make, _ = _KINDS[self.kind]
        names = [field.name for field in fields(make)]
        given = {name: value for name in names if (value := getattr(self, name)) is not None}
        made = make(**given)
        return RideObstacle(made) if isinstance(made, RideCourse) else made
