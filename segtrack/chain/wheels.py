"""What a chain runs around: wheels, tensioners, a sprocket, and the shoes' rails (Omar 2014, 4.2 and 4.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.hubs import WheelLoads, WheelMotion, Wheels
from segtrack.chain.model import Shoe
from segtrack.chain.sprocket import Sprocket
from segtrack.chain.teeth import Teeth, no_teeth
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
class Tensioner:
    """What presses a wheel against the chain: preload - stiffness * slide - damping * speed.

    Attributes:
        direction: In which the wheel slides, in (x, z) of the track frame, of norm 1.
        mass: That slides [kg].
        preload: The force where the slide is zero [N].
        stiffness: [N/m]
        damping: [N s/m]

    Raises:
        InvalidValueError: A number is out of range, or the direction's norm is not 1.
    """

    direction: tuple[float, ...]
    mass: float
    preload: float
    stiffness: float
    damping: float

    def __post_init__(self) -> None:
        """Check the numbers."""
        direction = finite_vector("direction of a tensioner", self.direction, 2)
        if abs(math.hypot(*direction) - 1) > 1e-6:
            raise InvalidValueError("direction of a tensioner", "of norm 1", direction)
        object.__setattr__(self, "direction", direction)
        read_number(self, "mass", above=True)
        for name in ("preload", "stiffness", "damping"):
            read_number(self, name)


@dataclass(frozen=True)
class Wheel:
    """A surface of revolution on an axle.

    Attributes:
        x: Of its middle in the track frame [m].
        z: The same [m].
        profile: Points (axial offset, radius) with rising offsets [m]; steep parts keep the chain on.
        inertia: About the axle [kg m^2].
        tensioner: What moves it, if anything.
        rounding: Axial distance on both sides of an inner point over which a parabola joins its two
            lines, so that a rail meets no jump of the normal [m].
        carrier: Which of the track's carriers it sits on.

    Raises:
        InvalidValueError: A number is out of range, offsets do not rise, or roundings overlap.
    """

    x: float
    z: float
    profile: tuple[tuple[float, ...], ...]
    inertia: float
    tensioner: Tensioner | None = None
    rounding: float = 1e-3
    carrier: int = 0

    def __post_init__(self) -> None:
        """Check the numbers."""
        finite_vector("middle of a wheel", (self.x, self.z), 2)
        read_number(self, "inertia", above=True)
        read_number(self, "rounding", above=True)
        points = tuple(finite_vector("a point of a wheel's profile", point, 2) for point in self.profile)
        object.__setattr__(self, "profile", points)
        if len(points) < 2:
            raise InvalidValueError("profile of a wheel", "at least two points", points)
        if min(radius for _, radius in points) <= 0:
            raise InvalidValueError("profile of a wheel", "of radii greater than 0", points)
        step = min(b[0] - a[0] for a, b in zip(points, points[1:], strict=False))
        if step <= 0:
            raise InvalidValueError("profile of a wheel", "of rising axial offsets", points)
        if len(points) > 2 and self.rounding > step / 2:
            expected = f"at most half the shortest step of the profile, {step / 2:.3g} m"
            raise InvalidValueError("rounding of a wheel", expected, self.rounding)

    @classmethod
    def flanged(
        cls,
        x: float,
        z: float,
        radius: float,
        inertia: float,
        half_width: float,
        flange: float,
        tensioner: Tensioner | None = None,
        slope: float = math.radians(60),
    ) -> Wheel:
        """A cylinder up to `half_width` [m], then rising by `flange` [m] at `slope` [rad] on both sides."""
        edge = half_width + flange / math.tan(slope)
        top = radius + flange
        profile = ((-edge, top), (-half_width, radius), (half_width, radius), (edge, top))
        return cls(x, z, profile, inertia, tensioner, min(1e-3, half_width, (edge - half_width) / 2))

    @property
    def largest_radius(self) -> float:
        """Of its profile [m]."""
        return max(radius for _, radius in self.profile)

    def pieces(self) -> NDArray[np.float64]:
        """The rounded profile as lines and parabolas in turn (P, 5).

        Their columns are the axial offsets of begin and end [m], radius [m] and slope at the begin,
        and the radius's second derivative [1/m].
        """
        offsets, radii = np.array(self.profile).T
        slopes = np.diff(radii) / np.diff(offsets)
        inner = offsets[1:-1, None] + self.rounding * np.array([-1.0, 1.0])
        edges = np.concatenate([offsets[:1], inner.ravel(), offsets[-1:]])
        bends = np.zeros(len(edges) - 1)
        bends[1::2] = np.diff(slopes) / (2 * self.rounding)
        heights = np.interp(edges[:-1], offsets, radii)
        return np.stack([edges[:-1], edges[1:], heights, np.repeat(slopes, 2)[:-1], bends], axis=1)


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
