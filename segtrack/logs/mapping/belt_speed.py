"""Belt speeds in a mapping file: speeds of what turns, travels that are differentiated, twists, tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import Field

from segtrack.description import Checks, Number, Positive, check, known
from segtrack.errors import Problem
from segtrack.logs.mapping.references import (
    ANGLE,
    COUNTING,
    COUNTS,
    LENGTH,
    SPEED,
    TURNING,
    SideChannels,
    Text,
    Units,
    unit_among,
)

BELT_TRAVEL: Units = {**LENGTH, **ANGLE, **COUNTS}
"""Units of how far a belt has come; its speed is the derivative."""
BELT_SPEED: Units = {**SPEED, **TURNING, **COUNTING, **BELT_TRAVEL}


class BeltSpeed(SideChannels):
    """Speeds of the belts; or a twist of the vehicle that they are commanded by."""

    units: ClassVar[Units] = BELT_SPEED
    unit: Annotated[str, Field(strict=True), unit_among(BELT_SPEED)] | None = None
    """Speeds m/s, cm/s, mm/s, km/h, of what turns rad/s, deg/s, rpm, turns/s, counts/s; or how far they have
    come: m, cm, mm, rad, deg, turns, counts. The log's own if not given."""
    radius: Positive | None = None
    """Pitch radius of the sprocket [m]; for angles, turns and their rates."""
    gear_ratio: Positive = 1.0
    """Turns of what is measured for one of the sprocket."""
    counts_per_turn: Positive | None = None
    """Counts for one turn of the measured shaft; for counts."""
    wrap: Positive | None = None
    """Range after which a channel that is differentiated starts again, in its unit: 65536 counts."""
    table: Annotated[tuple[tuple[Number, Number], ...], Field(min_length=2)] | None = None
    """Pairs of the channel's number, as of PWM, and belt speed [m/s], linear between, instead of a unit."""
    linear: Text | None = None
    """Channel of the vehicle's forward speed [m/s], instead of left and right ..."""
    angular: Text | None = None
    """... and of its yaw rate, left positive [rad/s]."""
    gauge: Positive | None = None
    """Distance of the tracks' middles [m], with linear and angular; the vehicle's if not given."""

    def channel_names(self) -> Iterator[tuple[str, str]]:
        """Names of the channels of sides, or of a twist."""
        yield from super().channel_names()
        for key in ("linear", "angular"):
            if (name := known(self, key, None)) is not None:
                yield key, name

    @property
    def is_twist(self) -> bool:
        """True for a twist of the vehicle, False for speeds of the sides."""
        return self.linear is not None

    @check
    def _has_a_side(self) -> Checks:
        """Sides, or a twist instead, unlike other quantities of sides."""
        sides, twist = (self.left, self.right), (self.linear, self.angular)
        if any(sides) == any(twist) or None in (twist if any(twist) else sides):
            got = [key for key in ("left", "right", "linear", "angular") if getattr(self, key) is not None]
            message = f"must have left and right, or linear and angular, got {', '.join(got) or 'none'}"
            yield Problem("", message)

    @check
    def _unit_or_table(self) -> Checks:
        if self.table is not None and self.unit is not None:
            yield Problem("unit", "must be left out where there is a table, whose speeds are in m/s")
        if self.is_twist and (self.unit is not None or self.table is not None):
            message = "must have neither unit nor table with linear and angular, which are in m/s and rad/s"
            yield Problem("", message)

    @check
    def _table_ascends(self) -> Checks:
        if self.table is not None:
            numbers = [number for number, _ in self.table]
            if any(low >= high for low, high in zip(numbers, numbers[1:], strict=False)):
                yield Problem("table", f"must ascend, got {numbers}")

    @check
    def _turns_have_a_radius(self) -> Checks:
        yield from self.unit_problems("" if self.unit is None else self.unit)
        if self.wrap is not None and (self.table is not None or self.is_twist):
            yield Problem("wrap", "must be left out of speeds")

    def unit_problems(self, unit: str) -> Checks:
        """Yield a problem for each key that a unit requires and that is not given, or that it cannot have."""
        if self.wrap is not None and unit and unit not in BELT_TRAVEL:
            yield Problem("wrap", f"must be left out of speeds, got {self.wrap:g} beside {unit}")
        if unit in (*TURNING, *ANGLE, *COUNTING, *COUNTS) and self.radius is None:
            yield Problem("radius", f"is missing: {unit} become belt speeds with the sprocket's radius [m]")
        if unit in (*COUNTING, *COUNTS) and self.counts_per_turn is None:
            yield Problem("counts_per_turn", f"is missing: {unit} become turns with it")
