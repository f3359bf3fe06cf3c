"""What a chain runs around: wheels, a sprocket, and the shoes' rails (Omar 2014, 4.2 and 4.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.running_gear.arrays import Teeth, WheelLoads, WheelMotion, Wheels, no_teeth
from segtrack.chain.running_gear.sprocket import Sprocket
from segtrack.chain.running_gear.wheels import Tensioner, Wheel
from segtrack.chain.shoes.model import Shoe
from segtrack.errors import InvalidValueError, Phrase, finite_vector
from segtrack.ground.checks import read_number


@dataclass(frozen=True)
class Rail:
    """The inner surface of a shoe, which rolls on wheels: straight lines from its rear to its front end.

    Attributes:
        inset: From the line between the shoe's markers inwards, along the link's -z [m].
        stations: Lateral positions of the lines in the link frame [m].

    Raises:
        InvalidValueError: A number is not finite, or there is no station.
    """

    inset: float
    stations: tuple[float, ...]

    def __post_init__(self) -> None:
        """Check the numbers."""
        read_number(self, "inset")
        if len(self.stations) == 0:
            raise InvalidValueError("stations of a rail", "at least one", self.stations)
        read = finite_vector("stations of a rail", self.stations, len(self.stations))
        object.__setattr__(self, "stations", read)


@dataclass(frozen=True)
class Contact:
    """How a rail and a wheel press on each other and stick (Omar 2014, equation 44).

    Attributes:
        stiffness: Over depth to the power of 1.5 [N/m^1.5].
        damping: In the normal direction, and in the others as long as friction can hold it [N s/m].
        friction: Its coefficient.
        shear_stiffness: Of a contact that sticks [N/m].

    Raises:
        InvalidValueError: A number is negative, or a stiffness is zero.
    """

    stiffness: float
    damping: float
    friction: float
    shear_stiffness: float

    def __post_init__(self) -> None:
        """Check the numbers."""
        read_number(self, "stiffness", above=True)
        read_number(self, "damping")
        read_number(self, "friction")
        read_number(self, "shear_stiffness", above=True)

    def tangent_stiffness(self, force: float) -> float:
        """Of a contact under a normal force [N]: 1.5 K d^0.5 with d = (force / K)^(2/3) [N/m]."""
        return 1.5 * self.stiffness ** (2 / 3) * force ** (1 / 3)


@dataclass(frozen=True)
class Undercarriage:
    """The wheels of one track.

    Attributes:
        wheels: In any order.
        driven: Which of them the drive turns.
        rail: Of every shoe.
        contact: Between rails and wheels.
        sprocket: On the driven wheel, which then touches the chain through its teeth only.

    Raises:
        InvalidValueError: There is no such driven wheel, or two wheels overlap.
    """

    wheels: tuple[Wheel, ...]
    driven: int
    rail: Rail
    contact: Contact
    sprocket: Sprocket | None = None

    def __post_init__(self) -> None:
        """Check that the wheels have room."""
        object.__setattr__(self, "wheels", tuple(self.wheels))
        if not 0 <= self.driven < len(self.wheels):
            expected = f"one of 0 to {len(self.wheels) - 1}"
            raise InvalidValueError("driven wheel of an undercarriage", expected, self.driven)
        for a, b in combinations(range(len(self.wheels)), 2):
            first, second = self.wheels[a], self.wheels[b]
            common = np.array(sorted({offset for wheel in (first, second) for offset, _ in wheel.profile}))
            apart = math.hypot(first.x - second.x, first.z - second.z)
            depth = float(np.max(self._radii(a, common) + self._radii(b, common))) - apart
            if depth > 0:
                what = f"wheels {a} and {b} of an undercarriage"
                raise InvalidValueError(what, "apart", Phrase(f"an overlap of {depth:.3g} m"))

    def tables(self, shoe: Shoe) -> Wheels:
        """Its wheels' and rails' numbers for kernels, for a chain of such shoes."""
        wheels, rail = self.wheels, self.rail
        slides = [wheel.tensioner or Tensioner((1.0, 0.0), 1.0, 0.0, 0.0, 0.0) for wheel in wheels]
        held = np.array([wheel.tensioner is not None for wheel in wheels])
        shapes = [wheel.pieces() for wheel in wheels]
        pieces = np.full((len(wheels), max(map(len, shapes)), 5), -math.inf)
        for padded, shape in zip(pieces, shapes, strict=True):
            padded[: len(shape)] = shape
        radii = np.array([self._radius(w) for w in range(len(wheels))])
        begin = shoe.rear[0], shoe.rear[1], shoe.rear[2] - rail.inset
        ends = (begin, (shoe.front[0], shoe.front[1], shoe.front[2] - rail.inset), shoe.rear)
        rows = () if self.sprocket is None else self.sprocket.rows
        aside = max(abs(y) + abs(end[1]) for y in (*rail.stations, *rows) for end in ends)
        rolls = np.array([self.sprocket is None or w != self.driven for w in range(len(wheels))])
        bushing = 0.0 if self.sprocket is None else self.sprocket.bushing_radius
        return Wheels(
            np.array([wheel.carrier for wheel in wheels], dtype=np.intp),
            np.array([(wheel.x, wheel.z) for wheel in wheels]),
            np.array([slide.direction for slide in slides]),
            np.where(held, [slide.mass for slide in slides], 0.0),
            np.array([slide.preload for slide in slides]),
            np.array([slide.stiffness for slide in slides]),
            np.array([slide.damping for slide in slides]),
            np.array([wheel.inertia for wheel in wheels]),
            rolls,
            radii,
            radii + np.where(rolls, 0.0, bushing) + max(math.hypot(x, z) for x, _, z in ends),
            aside,
            shoe.pitch / 2,
            pieces,
            begin,
            (ends[1][0] - begin[0], ends[1][1] - begin[1], ends[1][2] - begin[2]),
            np.array(rail.stations),
            self.contact.stiffness,
            self.contact.damping,
            self.contact.friction,
            self.contact.shear_stiffness,
        )

    def teeth(self) -> Teeth:
        """The teeth of the driven wheel for kernels; none without a sprocket."""
        return no_teeth(self.driven) if self.sprocket is None else self.sprocket.teeth(self.driven)

    def at_rest(self, count: int) -> tuple[WheelMotion, WheelLoads]:
        """The state of wheels at rest on a chain of `count` links, and room for their loads."""
        size = len(self.wheels)
        angles, speeds, slides, slide_speeds, torques, forces = np.zeros((6, size))
        shear = np.zeros((size, count, len(self.rail.stations), 2))
        return WheelMotion(angles, speeds, slides, slide_speeds, shear), WheelLoads(torques, forces)

    def _radius(self, w: int) -> float:
        if self.sprocket is not None and w == self.driven:
            return self.sprocket.tip_radius
        return self.wheels[w].largest_radius

    def _radii(self, w: int, offsets: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of a wheel over axial offsets; minus infinity beside it."""
        ends, radii = np.array(self.wheels[w].profile).T
        if self.sprocket is not None and w == self.driven:
            radii = np.full_like(radii, self.sprocket.tip_radius)
        return np.interp(offsets, ends, radii, left=-math.inf, right=-math.inf)
