"""What a chain is made of: equal shoes, pin-bushings, anchors (Omar 2014, sections 3 and 4.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import InvalidValueError, Phrase, finite, finite_vector
from segtrack.ground.checks import check

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Shoe:
    """One link of a chain: a rigid body between two markers.

    Attributes:
        mass: [kg]
        inertia: Principal moments (3,) about the centre of mass, about the link's axes [kg m^2].
        rear: Its bushing marker in the link frame (3,) [m].
        front: Its pin marker in the link frame (3,) [m].

    Raises:
        InvalidValueError: The mass is not positive, no body has such moments, or the markers coincide.
    """

    mass: float
    inertia: Vector
    rear: Vector
    front: Vector

    def __post_init__(self) -> None:
        """Check that a body can be like this."""
        object.__setattr__(self, "mass", finite("mass of a shoe", self.mass))
        check(self, "mass", self.mass > 0, "greater than 0")
        for name in ("inertia", "rear", "front"):
            object.__setattr__(self, name, finite_vector(f"{name} of a shoe", getattr(self, name), 3))
        moments = sorted(self.inertia)
        possible = moments[0] > 0 and moments[0] + moments[1] >= moments[2] * (1 - 1e-9)
        check(self, "inertia", possible, "three positive moments, none of them above the sum of the others")
        check(self, "front", self.pitch > 0, "apart from its rear")

    @property
    def pitch(self) -> float:
        """Distance between its two markers [m]."""
        return math.dist(self.rear, self.front)

    @classmethod
    def of_box(cls, mass: float, size: Vector) -> Shoe:
        """A uniform box of `size` (3,) [m], with its markers in the middles of its two ends."""
        x, y, z = (side**2 * mass / 12 for side in size)
        return cls(mass, (y + z, x + z, x + y), (-size[0] / 2, 0.0, 0.0), (size[0] / 2, 0.0, 0.0))


@dataclass(frozen=True)
class Bushing:
    """The compliant joint between a pin and a bushing (Omar 2014, equation 25 and below).

    Attributes:
        stiffness: Between the markers, in every direction [N/m].
        damping: The same [N s/m].
        cross_stiffness: Against turning the pin out of the bushing's axis [N m/rad].
        cross_damping: The same [N m s/rad].
        pin_damping: About the pin, which is free otherwise [N m s/rad].
        back_bend: How far a joint bends backwards before the shoes meet [rad], pi: they never do.
        stop_stiffness: Of shoes that have met [N m/rad]; `cross_damping` acts there too.

    Raises:
        InvalidValueError: A value is negative, the stiffness is zero, or the angle is not in (0, pi].
    """

    stiffness: float
    damping: float = 0.0
    cross_stiffness: float = 0.0
    cross_damping: float = 0.0
    pin_damping: float = 0.0
    back_bend: float = math.pi
    stop_stiffness: float = 0.0

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
    """A marker at rest in the world, to which an end of an open chain is pinned.

    Attributes:
        position: In the world (3,) [m].
        orientation: Of its frame, whose y axis is the pin's, in the world (4,) (x, y, z, w).

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
    """A chain's numbers as its kernels read them; the units are those of `Shoe` and `Bushing`."""

    mass: float
    inertia: Vector
    rear: Vector
    front: Vector
    stiffness: float
    damping: float
    cross_stiffness: float
    cross_damping: float
    pin_damping: float
    back_bend: float
    stop_stiffness: float


class Joints(NamedTuple):
    """Which markers a chain's joints hold together.

    An entry below the count of links is a link, the two above are the anchors at the start
    and at the end.

    Attributes:
        pins: The link that gives the pin (m,).
        bushings: The link that gives the bushing (m,).
    """

    pins: NDArray[np.intp]
    bushings: NDArray[np.intp]


@dataclass(frozen=True)
class Chain:
    """A chain of equal shoes.

    Attributes:
        count: Of its links.
        shoe: Each of them.
        bushing: Each joint between them, and to an anchor.
        closed: Whether the last link's pin is held by the first link's bushing.
        start: What holds the first link's rear marker, if anything.
        end: What holds the last link's front marker, if anything.

    Raises:
        InvalidValueError: There is no link, fewer than three are closed, or a closed chain is anchored.
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
        """Of all its links [kg]."""
        return self.count * self.shoe.mass

    @cached_property
    def constants(self) -> Constants:
        """Its shoe's and its bushing's numbers, for kernels."""
        shoe, bushing = self.shoe, self.bushing
        return Constants(
            shoe.mass,
            shoe.inertia,
            shoe.rear,
            shoe.front,
            bushing.stiffness,
            bushing.damping,
            bushing.cross_stiffness,
            bushing.cross_damping,
            bushing.pin_damping,
            bushing.back_bend,
            bushing.stop_stiffness,
        )

    @cached_property
    def joints(self) -> Joints:
        """Its joints from the start to the end; those of a closed chain begin behind the first link."""
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
