"""Wheels, tensioners and the law of rails on them, as descriptions of them say."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import InvalidValueError, finite, finite_vector
from segtrack.ground.parameters import read_number


class WheelContactParameters(NamedTuple):
    """Law of a contact between a rail and a wheel.

    Attributes:
        stiffness: Normal force over depth to the power of 1.5 [N/m^1.5].
        damping: Along the normal, and along the surface as long as friction can hold it [N s/m].
        friction: Coulomb coefficient [-].
        tangential_stiffness: Along the surface, as long as the contact sticks [N/m].
    """

    stiffness: float
    damping: float
    friction: float
    tangential_stiffness: float

    def linearized_stiffness(self, force: float) -> float:
        """Slope of the normal law under a force [N]: 1.5 K d^0.5 with d = (force / K)^(2/3) [N/m]."""
        return 1.5 * self.stiffness ** (2 / 3) * force ** (1 / 3)


def wheel_contact_parameters(
    stiffness: float, damping: float, friction: float, tangential_stiffness: float
) -> WheelContactParameters:
    """`WheelContactParameters` of numbers that make sense.

    Raises:
        InvalidValueError: One is negative, or a stiffness is zero.
    """
    given = WheelContactParameters(stiffness, damping, friction, tangential_stiffness)
    for name, value in zip(given._fields, given, strict=True):
        number = finite(f"{name} of a wheel contact", value)
        if number < 0 or (number == 0 and name.endswith("stiffness")):
            expected = "greater than 0" if name.endswith("stiffness") else "at least 0"
            raise InvalidValueError(f"{name} of a wheel contact", expected, value)
    return WheelContactParameters(*map(float, given))


@dataclass(frozen=True)
class Tensioner:
    """Force that presses a wheel against the chain: preload - stiffness * slide - damping * slide speed.

    Attributes:
        direction: Direction in which the wheel slides, in (x, z) of the track frame, of norm 1.
        mass: Mass that slides [kg].
        preload: Force where the slide is zero [N].
        stiffness: Spring along the direction [N/m].
        damping: Damper along the direction [N s/m].

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
        x: Wheel centre, forward in the track frame [m].
        z: Wheel centre, up in the track frame [m].
        profile: Points (axial offset, radius) with rising offsets [m]; steep parts keep the chain on.
        inertia: About the axle [kg m^2].
        tensioner: Spring and damper that move it, if any.
        rounding: Axial distance on both sides of an inner point over which a parabola joins its two
            lines, so that a rail meets no jump of the normal [m].
        parent: Index of its parent link among the track's.

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
        slope: float = math.radians(60),
    ) -> Wheel:
        """A cylinder up to `half_width` [m], then rising by `flange` [m] at `slope` [rad] on both sides."""
        edge = half_width + flange / math.tan(slope)
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
