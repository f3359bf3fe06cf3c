"""Drive of a vehicle file: largest forces of motor, gears or engine, and brakes on a belt."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, pairwise
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from segtrack.description.base import (
    Checks,
    NonNegative,
    Number,
    Positive,
    Spec,
    check,
    exactly_one,
    given_one,
)
from segtrack.errors import Problem

Rows = tuple[tuple[float, float], ...]


class SprocketDrive(Spec):
    """Linear torque-speed line of a motor, at the sprocket."""

    radius: Positive
    """Radius of the sprocket's pitch circle [m]."""
    stall_torque: Positive
    """Torque at rest [N m]."""
    no_load_speed: Positive
    """Angular speed at no torque [rad/s]."""


class TorqueTable(Spec):
    """Torque of a motor or engine as a table over its speed, with the gears to the sprocket."""

    radius: Positive
    """Radius of the sprocket's pitch circle [m]."""
    rows: Annotated[tuple[tuple[NonNegative, NonNegative], ...], Field(min_length=1, max_length=32)]
    """Rows of a speed [rad/s] and the torque at full throttle [N m], linear between them and constant
    beyond them; of one side, for one sprocket."""
    gears: Annotated[tuple[Positive, ...], Field(min_length=1, max_length=16)] = (1.0,)
    """Turns of the motor per turn of the sprocket. Of several the one with the largest force is always in,
    without time or torque lost by shifting."""

    @check
    def _speeds_rise(self) -> Checks:
        for i, ((before, _), (speed, _)) in enumerate(pairwise(self.rows), start=1):
            if not speed > before:
                expected = f"must have a speed above that of the row before, {before:g}"
                yield Problem(f"rows[{i}]", f"{expected}, got {speed:g}")

    @check
    def _drives_at_all(self) -> Checks:
        if not any(torque > 0 for _, torque in self.rows):
            yield Problem("rows", "must have a torque above 0")

    @property
    def forces(self) -> Rows:
        """Rows of belt speed [m/s] and largest force in any gear there [N], linear between."""
        rows = np.array(self.rows)

        def of_gear(gear: float) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
            ratio = gear / self.radius
            return lambda speeds: np.interp(speeds * ratio, *rows.T) * ratio

        speeds = np.unique([rows[:, 0] * self.radius / gear for gear in self.gears])
        curves = [of_gear(gear) for gear in self.gears]
        crossings = []
        for one, other in combinations(curves, 2):
            lead = one(speeds) - other(speeds)
            k = np.flatnonzero(lead[:-1] * lead[1:] < 0)
            crossings.append(speeds[k] + np.diff(speeds)[k] * lead[k] / (lead[k] - lead[k + 1]))
        speeds = np.unique(np.concatenate([speeds, *crossings]))
        largest = np.max([curve(speeds) for curve in curves], axis=0)
        return tuple(zip(speeds.tolist(), largest.tolist(), strict=True))


_LAWS = "max_force", "sprocket", "torque_table"


class DriveSpec(Spec):
    """Drive of a belt: a constant force limit, a torque-speed line at the sprocket, or a torque table."""

    max_force: Positive | None = None
    """Along the belt [N]."""
    max_speed: Positive | None = None
    """Largest commanded belt speed [m/s]; faster commands are clipped to it, throttles end there."""
    sprocket: SprocketDrive | None = None
    torque_table: TorqueTable | None = None
    max_brake: Positive | None = None
    """Largest force of the brake along the belt [N]; the largest driving force if not given: a motor that
    brakes as well as it drives."""
    reflected_mass: NonNegative = 0.0
    """Inertia of motor, gearbox and pulleys as the belt feels it [kg]; MuJoCo calls it `armature`. It is part
    of the mass of the body or flipper that carries the track. `segments` let it move with the belt.
    Contacts of a belt much lighter than its vehicle converge slowly there."""
    gear_ratio: Number | None = None
    """Turns of the motor's rotor per turn of the sprocket, about the axle; negative if it turns against it.
    For `compliant`, `surface` and `chain`.
    The rotor's angular momentum is `reflected_mass` x sprocket radius / ratio per belt speed; nothing without
    a ratio, as it is for a rotor across the axle or a high ratio."""
    self_locking: bool = False
    """An overloaded drive holds the belt (worm gear) and is not driven back."""
    lag: NonNegative = 0.0
    """Time constant with which the speed that the drive aims at follows the command, of first order [s]."""

    @check
    def _one_law(self) -> Checks:
        yield from exactly_one(self, _LAWS)

    @check
    def _rotor_turns(self) -> Checks:
        if self.gear_ratio is not None and abs(self.gear_ratio) < 1.0:
            yield Problem("gear_ratio", f"must be at least 1, or at most -1, got {self.gear_ratio:g}")

    @check
    def _law_with_speed(self) -> Checks:
        given_one(self, _LAWS)
        if (self.sprocket is None) == (self.max_speed is None):
            yield Problem("", "must have max_speed with max_force or torque_table, and not with sprocket")

    @check
    def _worm_or_brake(self) -> Checks:
        if self.self_locking and self.max_brake is not None:
            yield Problem("max_brake", "must be left out where the drive is self_locking and holds its belt")

    @property
    def forces(self) -> Rows:
        """Rows of belt speed [m/s] and largest driving force there [N], linear between, constant beyond."""
        if self.sprocket is not None:
            return (0.0, self.sprocket.stall_torque / self.sprocket.radius), (self.top_speed, 0.0)
        if self.torque_table is not None:
            return self.torque_table.forces
        assert self.max_force is not None
        return ((0.0, self.max_force),)

    @property
    def force_table(self) -> tuple[float, ...]:
        """Numbers of `forces`, row after row, as `engine.drive.force_at` reads them."""
        return tuple(value for row in self.forces for value in row)

    @property
    def steepest_fall(self) -> float:
        """Steepest fall of a table's force with speed [N s/m]; 0 for a line, which ends at the top speed."""
        if self.torque_table is None:
            return 0.0
        return max((-(g - f) / (w - v) for (v, f), (w, g) in pairwise(self.forces)), default=0.0)

    @property
    def stall_force(self) -> float:
        """Largest driving force on the belt [N]: at rest, unless a table peaks elsewhere."""
        return max(force for _, force in self.forces)

    @property
    def brake_force(self) -> float:
        """Largest braking force on the belt [N]; a self-locking drive holds it with any force."""
        return self.stall_force if self.max_brake is None else self.max_brake

    @property
    def top_speed(self) -> float:
        """Largest belt speed command [m/s]."""
        if self.sprocket is not None:
            return self.sprocket.no_load_speed * self.sprocket.radius
        assert self.max_speed is not None
        return self.max_speed

    @property
    def sprocket_radius(self) -> float | None:
        """Radius of the sprocket's pitch circle [m]; None if the drive does not give it."""
        given = self.sprocket or self.torque_table
        return None if given is None else given.radius
