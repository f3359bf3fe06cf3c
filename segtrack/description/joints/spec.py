"""Keys of a vehicle file for the body's joints: servo, spring, damper, friction, stops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from segtrack.description.base import Checks, NonNegative, Number, Positive, Spec, check, exactly_one
from segtrack.errors import Problem

JointName = Annotated[str, Field(strict=True, min_length=1)]
"""Name of a joint of a URDF, which may have any letters."""
Row = tuple[Number, Number]
Table = Annotated[tuple[Row, ...], Field(min_length=2, max_length=32)]
"""Rows of a table that is interpolated linearly, and goes on as steeply as it ends."""


class ServoSpec(Spec):
    """Servo that moves a joint to a position or at a speed."""

    max_force: Positive | None = None
    """Largest torque [N m] or force [N]; the URDF's effort if not given."""
    max_speed: Positive | None = None
    """Largest speed that it aims at [rad/s] or [m/s]; the URDF's velocity if not given."""
    rate: Positive | None = None
    """Fraction of its position error that it aims to close in a second [1/s]; 100 if not given."""
    stiffness: Positive | None = None
    """Proportional gain [N m/rad] or [N/m] of a servo that gives way like a spring. A servo without gains
    is as stiff as its largest force allows."""
    damping: NonNegative | None = None
    """Derivative gain beside `stiffness` [N m s/rad] or [N s/m]; 0 if not given."""

    @check
    def _rate_or_gains(self) -> Checks:
        if self.stiffness is not None and self.rate is not None:
            yield Problem("rate", "must be left out where stiffness is given")
        if self.stiffness is None and self.damping is not None:
            yield Problem("damping", "must be left out where stiffness is not given")


class SpringSpec(Spec):
    """Torsion bar or coil spring between the joint's two links."""

    stiffness: Positive | None = None
    """[N m/rad] or [N/m]"""
    table: Table | None = None
    """Instead: rows of a deflection from `free_position` [rad] or [m] and the torque [N m] or force [N] that
    resists it. One that starts at [0, 0] holds for both directions."""
    free_position: Number = 0.0
    """Joint position at which the spring exerts its preload [rad] or [m]."""
    preload: Number = 0.0
    """Torque [N m] or force [N] on the joint at `free_position`, towards larger positions if positive."""

    @check
    def _stiffness_or_table(self) -> Checks:
        yield from exactly_one(self, ("stiffness", "table"))

    @check
    def _table_resists(self) -> Checks:
        if self.table is not None:
            yield from rising(self.table, "the resisting force")


class DamperSpec(Spec):
    """Damper between the joint's two links, in place of the URDF's damping."""

    damping: NonNegative | None = None
    """[N m s/rad] or [N s/m]"""
    table: Table | None = None
    """Instead: rows of a speed [rad/s] or [m/s] and the torque [N m] or force [N] that resists it, through
    [0, 0]. One that starts there holds for both directions."""

    @check
    def _damping_or_table(self) -> Checks:
        yield from exactly_one(self, ("damping", "table"))

    @check
    def _table_takes_energy(self) -> Checks:
        if self.table is None:
            return
        yield from rising(self.table, "the resisting force")
        if (0.0, 0.0) not in self.table:
            yield Problem("table", f"must have a row [0, 0], got {_shown(self.table)}")


class StopSpec(Spec):
    """Buffer at the end of a joint's travel; the URDF's limits are hard."""

    position: Number
    """Joint position at which it is touched [rad] or [m]."""
    stiffness: Positive
    """[N m/rad] or [N/m]"""
    damping: NonNegative = 0.0
    """While it is touched [N m s/rad] or [N s/m]."""


class StopsSpec(Spec):
    """Buffers at both ends of a joint's travel."""

    lower: StopSpec | None = None
    """At the least positions."""
    upper: StopSpec | None = None
    """At the largest positions."""

    @check
    def _lower_below_upper(self) -> Checks:
        if self.lower is not None and self.upper is not None and self.lower.position >= self.upper.position:
            got = f"{self.lower.position:g} and {self.upper.position:g}"
            yield Problem("", f"must have lower.position below upper.position, got {got}")


class JointSpec(Spec):
    """Moving joint of the body's URDF; joints that the file does not name stay at 0."""

    servo: ServoSpec | None = None
    """Its motor; without one nothing drives the joint."""
    spring: SpringSpec | None = None
    damper: DamperSpec | None = None
    """The URDF's damping if not given."""
    friction: NonNegative | None = None
    """Dry friction [N m] or [N]; the URDF's if not given."""
    stops: StopsSpec = StopsSpec()
    initial_position: Number = 0.0
    """Joint position at the start [rad] or [m]."""


def rising(table: Sequence[Row], what: str) -> Checks:
    """Yield a mistake if a table's first column does not rise, or its second one falls."""
    for (first, force), (second, other) in zip(table, table[1:], strict=False):
        if second <= first:
            yield Problem("table", f"must have rows that rise, got {first:g} before {second:g}")
            return
        if other < force:
            yield Problem("table", f"must not let {what} fall, got {force:g} before {other:g}")
            return


def both_ways(table: Sequence[Row]) -> tuple[Row, ...]:
    """Extend a table that starts at the origin to negative values by point symmetry."""
    if tuple(table[0]) != (0.0, 0.0):
        return tuple(table)
    return (*((-x, -force) for x, force in reversed(table[1:])), *table)


def _shown(table: Sequence[Row]) -> str:
    return ", ".join(f"[{x:g}, {force:g}]" for x, force in table)
