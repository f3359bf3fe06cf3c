"""What a table of trials at steps holds."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from segtrack.description.base import NonNegative, Number, Positive, Spec
from segtrack.logs.compare.uncertainty.inputs import VEHICLE_INPUTS, stds_by

Outcome = Literal["climbed", "failed"]
CLIMB_INPUTS = ("height", "front_flippers_deg", "rear_flippers_deg", "speed", *VEHICLE_INPUTS)
"""What may be uncertain of a trial: its columns, and what a vehicle has."""
_HIGHEST = 5.0
_STEEPEST = 180.0


def _in_metres(height: float) -> float:
    if height > _HIGHEST:
        raise ValueError(
            f"must be in metres, got {height:g}, which in millimetres would be {height / 1e3:g} m"
        )
    return height


def _in_degrees(angle: float) -> float:
    if abs(angle) > _STEEPEST:
        raise ValueError(f"must be from -{_STEEPEST:g} to {_STEEPEST:g} degrees, got {angle:g}")
    return angle


Degrees = Annotated[Number, AfterValidator(_in_degrees)]
ClimbStds = stds_by("uncertain input", CLIMB_INPUTS)


class Trial(Spec):
    """One trial at a step; repeats are trials of their own."""

    height: Annotated[Positive, AfterValidator(_in_metres)]
    """Of the step [m]."""
    front_flippers_deg: Degrees | None = None
    """Angle of the front flippers, tips up positive; `segtrack climb`'s own where there are any."""
    rear_flippers_deg: Degrees | None = None
    """Likewise of the rear flippers."""
    speed: Positive = 0.1
    """Of the belts [m/s]."""
    friction: NonNegative | None = None
    """Between belts and ground; the vehicle file's if not given."""
    outcome: Outcome
    """How the robot's trial ended."""
    simulation: Outcome | None = None
    """How another simulation of it ended: a publication's."""
    vehicle: Annotated[str, Field(strict=True, min_length=1)] | None = None
    """Bundled name or vehicle file; the table's if not given."""


class ClimbTable(Spec):
    """A table of trials at steps."""

    title: Annotated[str, Field(strict=True)] = ""
    source: Annotated[str, Field(strict=True)] = ""
    """Where the outcomes are from."""
    simulation: Annotated[str, Field(strict=True)] = "another simulation"
    """Whose simulation the trials' `simulation` is."""
    vehicle: Annotated[str, Field(strict=True, min_length=1)] | None = None
    """Bundled name or vehicle file, of trials that have none of their own."""
    uncertain: ClimbStds = Field(default_factory=dict)  # type: ignore[valid-type]
    """Standard deviations of what the trials were driven with, by name."""
    trials: Annotated[tuple[Trial, ...], Field(min_length=1)]
