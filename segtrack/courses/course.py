"""A course: terrain to drive over, and the rules of a repetition on it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from segtrack.terrain import Terrain, find_soil

Kind = Literal["obstacle", "terrain"]
_ROUNDING = 1e-9
"""Overlaps this small are none [m]."""


@dataclass(frozen=True)
class Start:
    """Pose of the vehicle's body frame at the beginning of a repetition; its height follows from the ground.

    Attributes:
        x: World x [m].
        y: World y [m].
        yaw: Angle about the world's z axis [rad].
    """

    x: float
    y: float
    yaw: float


@dataclass(frozen=True)
class Rectangle:
    """Rectangle in plan.

    Attributes:
        x: World x of its middle [m].
        y: World y of its middle [m].
        yaw: Angle of its own x axis about the world's z axis [rad].
        length: Extent along its own x axis [m].
        width: Extent along its own y axis [m].
    """

    x: float
    y: float
    yaw: float
    length: float
    width: float


@dataclass(frozen=True)
class Zone(Rectangle):
    """Upright box of space, a rectangle in plan, in which the origin of a vehicle's body frame is or is not.

    Attributes:
        z_min: Height of its lower end in the world [m].
        z_max: Height of its upper end in the world [m].
    """

    z_min: float = -math.inf
    z_max: float = math.inf

    def contains(self, x: float, y: float, z: float) -> bool:
        """Return True for a point of the world [m] in the zone, its sides included."""
        along, across = seen_from(self, x, y)
        inside = abs(along) <= self.length / 2 and abs(across) <= self.width / 2
        return inside and self.z_min <= z <= self.z_max

    def overlaps(self, other: Zone) -> bool:
        """Return True if some space is in both zones; touching sides are none."""
        if min(self.z_max, other.z_max) - max(self.z_min, other.z_min) < _ROUNDING:
            return False
        return not (_beside(self, other) or _beside(other, self))


@dataclass(frozen=True)
class Wall(Rectangle):
    """Upright box, a rectangle in plan, that a vehicle must not touch.

    Attributes:
        bottom: Height of its lower end in the world [m].
        top: Height of its upper end in the world [m].
    """

    bottom: float
    top: float


@dataclass(frozen=True)
class Setting:
    """Length or angle of a course's apparatus that makes it harder.

    Attributes:
        name: Name in words.
        unit: Unit of its values.
        values: Values offered, ascending.
        value: Value in use, which need not be one of them.
    """

    name: str
    unit: str
    values: tuple[float, ...]
    value: float

    @property
    def next_value(self) -> float | None:
        """Next value above the one in use; None at the top: "raise the setting until it fails"."""
        return min((value for value in self.values if value > self.value), default=None)


@dataclass(frozen=True, eq=False)
class Course:
    """A course at one setting.

    Attributes:
        name: Name by which it is found.
        title: Title for people.
        description: Path that is driven, and the test method that it is modelled on.
        kind: `obstacle` is rated in repetitions a minute, `terrain` in metres a minute.
        terrains: Terrains for `World.add_terrain`, the floor first; walls are among them.
        start: Start of each repetition.
        gates: Zones that one repetition leads through, in this order.
        walls: Boxes that are a fault to touch.
        bounds: Zone outside of which a vehicle is off course.
        lowest: Height of the body frame's origin in the world, below which the vehicle has fallen [m].
        distance: Nominal length of the path of one repetition [m].
        setting: Setting that can be raised; None if there is none.
        lane_width: Width of the narrowest lane between its walls [m]; None without lanes.
        vehicle: Bundled vehicle that it is meant for.
        time_limit: Time limit of a trial [s]; None if there is none.
        source: YAML text from which it was made.
    """

    name: str
    title: str
    description: str
    kind: Kind
    terrains: tuple[Terrain, ...]
    start: Start
    gates: tuple[Zone, ...]
    walls: tuple[Wall, ...]
    bounds: Zone
    lowest: float
    distance: float
    setting: Setting | None
    lane_width: float | None
    vehicle: str | None
    time_limit: float | None
    source: str

    def with_ground(self, friction: float | None = None, soil: str | None = None) -> Course:
        """Return the course on other ground.

        Args:
            friction: Coulomb friction of all rigid ground [-]; as it is if not given.
            soil: Published soil that the floor and beds of soil consist of; as they are if not given.

        Raises:
            UnknownNameError: There is no such soil.
            InvalidValueError: The friction is negative or not finite.
        """
        terrains = self.terrains
        if friction is not None:
            terrains = tuple(t if t.soil is not None else replace(t, friction=friction) for t in terrains)
        if soil is not None:
            yielding = find_soil(soil)
            floor, *others = terrains
            beds = (t if t.soil is None else replace(t, soil=yielding) for t in others)
            terrains = (replace(floor, soil=yielding), *beds)
        return replace(self, terrains=terrains)


def seen_from(place: Rectangle, x: float, y: float) -> tuple[float, float]:
    """Return a point of the world along and across a place, from its middle [m]."""
    cosine, sine = math.cos(place.yaw), math.sin(place.yaw)
    return cosine * (x - place.x) + sine * (y - place.y), cosine * (y - place.y) - sine * (x - place.x)


def _beside(one: Zone, other: Zone) -> bool:
    """Return True if a side of one zone has the other beyond it, in plan."""
    along, across = seen_from(one, other.x, other.y)
    cosine, sine = abs(math.cos(other.yaw - one.yaw)), abs(math.sin(other.yaw - one.yaw))
    length = (one.length + cosine * other.length + sine * other.width) / 2
    width = (one.width + sine * other.length + cosine * other.width) / 2
    return abs(along) > length - _ROUNDING or abs(across) > width - _ROUNDING
