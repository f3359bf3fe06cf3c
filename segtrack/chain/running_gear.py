"""Running gear of a track: wheels, tensioners, a sprocket, and the shoes' rails (Omar 2014, 4.2, 4.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.running_gear_arrays import (
    RunningGearArrays,
    WheelContactParameters,
    Wheels,
    allocate_running_gear,
    no_teeth,
)
from segtrack.chain.shoes import Shoe
from segtrack.chain.sprocket import Sprocket
from segtrack.errors import InvalidValueError, Phrase, finite, finite_vector
from segtrack.ground import read_number


@dataclass(frozen=True)
class Tensioner:
    """Force that presses a wheel against the chain: preload - stiffness * deflection - damping * slide speed.

    The deflection is the slide beyond the place where the chain was tensioned.

    Attributes:
        direction: Direction in which the wheel slides, in (x, z) of the track frame, of norm 1.
        mass: Mass that slides [kg].
        preload: Force where the chain was tensioned [N].
        stiffness: Spring along the direction [N/m].
        damping: Damper along the direction [N s/m].
        curvature: Curvature of the way, if what slides is on an arm: 1 / length, where its pivot lies in the
            direction turned by a right angle from x to z, negative on the other side [1/m].

    Raises:
        InvalidValueError: A number is out of range, or the direction's norm is not 1.
    """

    direction: tuple[float, ...]
    mass: float
    preload: float
    stiffness: float
    damping: float
    curvature: float = 0.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        object.__setattr__(self, "curvature", finite("curvature of a tensioner", self.curvature))
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
        x: Wheel centre, forward in the track frame [m].
        z: Wheel centre, up in the track frame [m].
        profile: Points (axial offset, radius) with rising offsets [m]; steep parts keep the chain on.
        inertia: About the axle [kg m^2].
        tensioner: Spring and damper that move it, if any.
        rounding: Axial distance on both sides of an inner point over which a parabola joins its two
            lines, so that a rail meets no jump of the normal [m].
        parent: Index of its parent link among the track's.
        contact: Law of a rail on it; that of its running gear if not given.

    Raises:
        InvalidValueError: A number is out of range, offsets do not rise, or roundings overlap.
    """

    x: float
    z: float
    profile: tuple[tuple[float, ...], ...]
    inertia: float
    tensioner: Tensioner | None = None
    rounding: float = 1e-3
    parent: int = 0
    contact: WheelContactParameters | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        finite_vector("centre of a wheel", (self.x, self.z), 2)
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
    ) -> Wheel:
        """A cylinder up to `half_width` [m], then rising by `flange` [m] at 60 degrees on both sides."""
        edge = half_width + flange / math.tan(math.radians(60))
        top = radius + flange
        profile = ((-edge, top), (-half_width, radius), (half_width, radius), (edge, top))
        return cls(x, z, profile, inertia, tensioner, min(1e-3, half_width, (edge - half_width) / 2))

    @property
    def max_radius(self) -> float:
        """Largest radius of the profile [m]."""
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
class Rail:
    """Inner surface of a shoe, which rolls on wheels: straight lines from its rear to its front end.

    Attributes:
        inset: From the line between the shoe's two joints inwards, along the shoe's -z [m].
        stations: Lateral positions of the lines in the shoe frame [m].

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
class RunningGear:
    """The wheels of one track.

    Attributes:
        wheels: Wheels in any order.
        driven: Index of the wheel that the drive turns.
        rail: Inner surface of every shoe.
        contact: Law of a rail on a wheel that has none of its own.
        sprocket: Teeth of the driven wheel, which then touches the chain through them only.
        reflected_inertia: Part of the driven wheel's inertia that is the drive's rotor's [kg m^2].
        rotor_inertia: See `Wheels` [kg m^2].

    Raises:
        InvalidValueError: There is no such driven wheel, or two wheels overlap.
    """

    wheels: tuple[Wheel, ...]
    driven: int
    rail: Rail
    contact: WheelContactParameters
    sprocket: Sprocket | None = None
    reflected_inertia: float = 0.0
    rotor_inertia: float = 0.0

    def __post_init__(self) -> None:
        """Check that the wheels have room."""
        object.__setattr__(self, "wheels", tuple(self.wheels))
        if not 0 <= self.driven < len(self.wheels):
            expected = f"one of 0 to {len(self.wheels) - 1}"
            raise InvalidValueError("driven wheel of a running gear", expected, self.driven)
        for a, b in combinations(range(len(self.wheels)), 2):
            first, second = self.wheels[a], self.wheels[b]
            common = np.array(sorted({offset for wheel in (first, second) for offset, _ in wheel.profile}))
            apart = math.hypot(first.x - second.x, first.z - second.z)
            depth = float(np.max(self._radii(a, common) + self._radii(b, common))) - apart
            if depth > 0:
                what = f"wheels {a} and {b} of a running gear"
                raise InvalidValueError(what, "apart", Phrase(f"an overlap of {depth:.3g} m"))

    @property
    def contacts(self) -> tuple[WheelContactParameters, ...]:
        """Law of a rail on each of the wheels."""
        return tuple(wheel.contact or self.contact for wheel in self.wheels)

    @property
    def rolls(self) -> tuple[bool, ...]:
        """True for each wheel that rails roll on: all of them but one with teeth."""
        return tuple(self.sprocket is None or w != self.driven for w in range(len(self.wheels)))

    def pack(self, shoe: Shoe, count: int) -> RunningGearArrays:
        """Arrays for kernels, at rest, on a chain of `count` such shoes."""
        teeth = no_teeth(self.driven) if self.sprocket is None else self.sprocket.pack(self.driven)
        return allocate_running_gear(self._pack_wheels(shoe), teeth, count)

    def _pack_wheels(self, shoe: Shoe) -> Wheels:
        wheels, rail, sprocket = self.wheels, self.rail, self.sprocket
        tensioners = [wheel.tensioner or Tensioner((1.0, 0.0), 1.0, 0.0, 0.0, 0.0) for wheel in wheels]
        slides = np.array([wheel.tensioner is not None for wheel in wheels])
        rolls = np.array(self.rolls)
        radii = np.array([self._radius(w) for w in range(len(wheels))])
        rear, front = np.array(shoe.bushing_position), np.array(shoe.pin_position)
        inset = np.array([0.0, 0.0, rail.inset])
        start, end = rear - inset, front - inset
        touched = (start, end, rear)
        rows = () if sprocket is None else sprocket.rows
        bushing = 0.0 if sprocket is None else sprocket.bushing_radius
        shapes = [wheel.pieces() for wheel in wheels]
        pieces = np.full((len(wheels), max(map(len, shapes)), 5), -math.inf)
        for padded, shape in zip(pieces, shapes, strict=True):
            padded[: len(shape)] = shape
        return Wheels(
            parents=np.array([wheel.parent for wheel in wheels], dtype=np.intp),
            positions=np.array([(wheel.x, wheel.z) for wheel in wheels]),
            slide_directions=np.array([own.direction for own in tensioners]),
            slide_curvatures=np.array([own.curvature for own in tensioners]),
            slide_masses=np.where(slides, [own.mass for own in tensioners], 0.0),
            preloads=np.array([own.preload for own in tensioners]),
            slide_stiffness=np.array([own.stiffness for own in tensioners]),
            slide_damping=np.array([own.damping for own in tensioners]),
            inertias=np.array([wheel.inertia for wheel in wheels]),
            reflected_inertia=self.reflected_inertia,
            rotor_inertia=self.rotor_inertia,
            rolls=rolls,
            radii=radii,
            reaches=radii + np.where(rolls, 0.0, bushing) + max(math.hypot(x, z) for x, _, z in touched),
            max_lateral_offset=max(
                float(abs(y) + abs(point[1])) for y in (*rail.stations, *rows) for point in touched
            ),
            margin=shoe.pitch / 2,
            profile_pieces=pieces,
            rail_start=_vector(start),
            rail_span=_vector(end - start),
            stations=np.array(rail.stations),
            contacts=np.array(self.contacts),
        )

    def _radius(self, w: int) -> float:
        if self.sprocket is not None and w == self.driven:
            return self.sprocket.tip_radius
        return self.wheels[w].max_radius

    def _radii(self, w: int, offsets: NDArray[np.float64]) -> NDArray[np.float64]:
        """Radii of a wheel at axial offsets; minus infinity beside it [m]."""
        ends, radii = np.array(self.wheels[w].profile).T
        if self.sprocket is not None and w == self.driven:
            radii = np.full_like(radii, self.sprocket.tip_radius)
        return np.interp(offsets, ends, radii, left=-math.inf, right=-math.inf)


def _vector(array: NDArray[np.float64]) -> tuple[float, float, float]:
    x, y, z = array.tolist()
    return x, y, z
