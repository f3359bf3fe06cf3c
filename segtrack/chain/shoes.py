"""Shoes, bushings and chains: constants of link-chain dynamics (Omar 2014)."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import InvalidValueError, Phrase, finite, finite_vector
from segtrack.ground import check

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Shoe:
    """One body of a chain, between the bushing at its rear end and the pin at its front end.

    Attributes:
        mass: [kg]
        inertia: Principal moments (3,) about the centre of mass, about the shoe's axes [kg m^2].
        bushing_position: Middle of its bushing in the shoe frame (3,) [m].
        pin_position: Middle of its pin in the shoe frame (3,) [m].

    Raises:
        InvalidValueError: The mass is not positive, no body has such moments, or pin and bushing coincide.
    """

    mass: float
    inertia: Vector
    bushing_position: Vector
    pin_position: Vector

    def __post_init__(self) -> None:
        """Check that a body can be like this."""
        object.__setattr__(self, "mass", finite("mass of a shoe", self.mass))
        check(self, "mass", self.mass > 0, "greater than 0")
        for name in ("inertia", "bushing_position", "pin_position"):
            object.__setattr__(self, name, finite_vector(f"{name} of a shoe", getattr(self, name), 3))
        moments = sorted(self.inertia)
        possible = moments[0] > 0 and moments[0] + moments[1] >= moments[2] * (1 - 1e-9)
        check(self, "inertia", possible, "three positive moments, none of them above the sum of the others")
        check(self, "pin_position", self.pitch > 0, "apart from its bushing_position")

    @property
    def pitch(self) -> float:
        """Distance between bushing and pin [m]."""
        return math.dist(self.bushing_position, self.pin_position)

    @classmethod
    def of_box(cls, mass: float, size: Vector) -> Shoe:
        """A uniform box of `size` (3,) [m], with bushing and pin in the middles of its two ends."""
        x, y, z = (side**2 * mass / 12 for side in size)
        return cls(mass, (y + z, x + z, x + y), (-size[0] / 2, 0.0, 0.0), (size[0] / 2, 0.0, 0.0))


@dataclass(frozen=True)
class Bushing:
    """The compliant joint between a pin and a bushing (Omar 2014, equation 25 and below).

    Attributes:
        stiffness: Between pin and bushing, in every direction [N/m].
        damping: Between pin and bushing, in every direction [N s/m].
        conical_stiffness: Against turning the pin out of the bushing's axis [N m/rad].
        conical_damping: Against turning the pin out of the bushing's axis [N m s/rad].
        pin_damping: About the pin, which is free otherwise but for `pin_stiffness` [N m s/rad].
        back_bend: Angle by which a joint bends backwards before the shoes meet [rad], pi: they never do.
        stop_stiffness: Between shoes that have met [N m/rad].
        stop_damping: Between shoes that have met [N m s/rad].
        pin_stiffness: About the pin, of a joint that is straight at rest [N m/rad].

    Raises:
        InvalidValueError: A value is negative, the stiffness is zero, or the angle is not in (0, pi].
    """

    stiffness: float
    damping: float = 0.0
    conical_stiffness: float = 0.0
    conical_damping: float = 0.0
    pin_damping: float = 0.0
    back_bend: float = math.pi
    stop_stiffness: float = 0.0
    stop_damping: float = 0.0
    pin_stiffness: float = 0.0

    def __post_init__(self) -> None:
        """Check the values' signs."""
        for field in fields(self):
            object.__setattr__(
                self, field.name, finite(f"{field.name} of a bushing", getattr(self, field.name))
            )
            check(self, field.name, getattr(self, field.name) >= 0, "at least 0")
        check(self, "stiffness", self.stiffness > 0, "greater than 0")
        check(self, "back_bend", 0 < self.back_bend <= math.pi, "in (0, pi]")


@dataclass(frozen=True)
class Anchor:
    """A pin or bushing at rest in the world, to which an end of an open chain is joined.

    Attributes:
        position: Position in the world (3,) [m].
        orientation: Quaternion of its frame, whose y axis is the pin's, in the world (4,) (x, y, z, w).

    Raises:
        InvalidValueError: A number is not finite, or the orientation's norm is not 1.
    """

    position: Vector
    orientation: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        """Check the numbers."""
        object.__setattr__(self, "position", finite_vector("position of an anchor", self.position, 3))
        object.__setattr__(
            self, "orientation", finite_vector("orientation of an anchor", self.orientation, 4)
        )
        unit = abs(math.hypot(*self.orientation) - 1) < 1e-6
        check(self, "orientation", unit, "a quaternion with norm 1")


class Constants(NamedTuple):
    """Shoe and bushing as kernels read them; the units are those of `Shoe` and `Bushing`."""

    mass: float
    inertia: Vector
    bushing_position: Vector
    pin_position: Vector
    stiffness: float
    damping: float
    conical_stiffness: float
    conical_damping: float
    pin_damping: float
    back_bend: float
    stop_stiffness: float
    stop_damping: float
    pin_stiffness: float


class Joints(NamedTuple):
    """Shoes that each of a chain's m joints connects.

    An index below the count of shoes is a shoe, the two above are the anchors at the start
    and at the end.

    Attributes:
        pins: Index of the shoe that gives the pin (m,).
        bushings: Index of the shoe that gives the bushing (m,).
    """

    pins: NDArray[np.intp]
    bushings: NDArray[np.intp]


@dataclass(frozen=True)
class Chain:
    """A chain of equal shoes.

    Attributes:
        count: Number of shoes.
        shoe: Each of them.
        bushing: Each joint between them, and to an anchor.
        closed: True if the last shoe's pin is held by the first shoe's bushing.
        start: Anchor of the first shoe's bushing, if any.
        end: Anchor of the last shoe's pin, if any.

    Raises:
        InvalidValueError: There is no shoe, fewer than three are closed, or a closed chain is anchored.
    """

    count: int
    shoe: Shoe
    bushing: Bushing
    closed: bool = True
    start: Anchor | None = None
    end: Anchor | None = None

    def __post_init__(self) -> None:
        """Check that the ends fit."""
        check(self, "count", self.count >= (3 if self.closed else 1), "at least 3, or 1 if it is open")
        if self.closed and (self.start is not None or self.end is not None):
            held = "at its start" if self.start is not None else "at its end"
            raise InvalidValueError(
                "anchors of a chain", "left out where it is closed", Phrase(f"one {held}")
            )

    @property
    def mass(self) -> float:
        """Mass of all shoes [kg]."""
        return self.count * self.shoe.mass

    @property
    def slowest_frequency(self) -> float:
        """Angular frequency of the mode in which its halves stretch alike, between two wheels [rad/s]."""
        return math.pi / self.count * math.sqrt(self.bushing.stiffness / self.shoe.mass)

    @cached_property
    def constants(self) -> Constants:
        """Shoe and bushing for kernels."""
        return Constants(**vars(self.shoe), **vars(self.bushing))

    @cached_property
    def joints(self) -> Joints:
        """Joints from the start to the end; those of a closed chain begin behind the first shoe."""
        pairs = [(i - 1, i) for i in range(1, self.count)]
        if self.closed:
            pairs.insert(0, (self.count - 1, 0))
        if self.start is not None:
            pairs.insert(0, (self.count, 0))
        if self.end is not None:
            pairs.append((self.count - 1, self.count + 1))
        table = np.array(pairs, dtype=np.intp).reshape(-1, 2)
        table.setflags(write=False)
        return Joints(np.ascontiguousarray(table[:, 0]), np.ascontiguousarray(table[:, 1]))
