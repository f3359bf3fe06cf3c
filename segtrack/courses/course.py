"""Course: terrain to drive over, and the rules of a repetition on it."""

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
    """Start pose of the vehicle's body frame in a repetition; its height follows from the ground.

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
    """Upright box, rectangular in plan, that contains the origin of a vehicle's body frame or not.

    Attributes:
        z_min: Height of its lower end in the world [m].
        z_max: Height of its upper end in the world [m].
    """

    z_min: float = -math.inf
    z_max: float = math.inf

    def contains(self, x: float, y: float, z: float) -> bool:
        """Return whether a point of the world [m] is in the zone; its sides count."""
        along, across = seen_from(self, x, y)
        inside = abs(along) <= self.length / 2 and abs(across) <= self.width / 2
        return inside and self.z_min <= z <= self.z_max

    def overlaps(self, other: Zone) -> bool:
        """Return whether two zones share space; touching sides do not count."""
        if min(self.z_max, other.z_max) - max(self.z_min, other.z_min) < _ROUNDING:
            return False
        return not (_beside(self, other) or _beside(other, self))


@dataclass(frozen=True)
class Wall(Rectangle):
    """Upright box, rectangular in plan, that a vehicle must not touch.

    Attributes:
        bottom: Height of its lower end in the world [m].
        top: Height of its upper end in the world [m].
    """

    bottom: float
    top: float


@dataclass(frozen=True)
class Setting:
    """Length or angle of a course's apparatus that sets its difficulty.

    Attributes:
        name: Name of the setting, in words.
        unit: Unit of the values.
        values: Offered values, ascending.
        value: Present value; it need not be an offered one.
    """

    name: str
    unit: str
    values: tuple[float, ...]
    value: float

    @property
    def next_value(self) -> float | None:
        """Next offered value above the present one; None at the top."""
        return min((value for value in self.values if value > self.value), default=None)


@dataclass(frozen=True, eq=False)
class Course:
    """A course at one setting.

    Attributes:
        name: Name in files and commands.
        title: Title for people.
        description: Path to drive, and the test method behind it.
        kind: `obstacle`, rated in repetitions per minute, or `terrain`, in metres per minute.
        terrains: Terrains for `World.add_terrain`: the floor first, walls included.
        start: Start of each repetition.
        gates: Zones that a repetition passes, in this order.
        walls: Boxes; touching one is a fault.
        bounds: Zone outside of which a vehicle is off course.
        lowest: World z of the body frame's origin below which the vehicle has fallen [m].
        distance: Nominal length of the path of one repetition [m].
        setting: Setting of the course; None if there is none.
        lane_width: Width of the narrowest lane between its walls [m]; None without lanes.
        vehicle: Bundled vehicle for which it was designed.
        time_limit: Time limit of a trial [s]; None if there is none.
        source: YAML text of the course.
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
        """Return the course with another friction or soil.

        Args:
            friction: Coulomb friction of all rigid ground [-]; unchanged if not given.
            soil: Published soil for the floor and beds of soil; unchanged if not given.

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
    """Transform a point of the world to coordinates along and across a rectangle, from its middle [m]."""
    cosine, sine = math.cos(place.yaw), math.sin(place.yaw)
    return cosine * (x - place.x) + sine * (y - place.y), cosine * (y - place.y) - sine * (x - place.x)


def _beside(one: Zone, other: Zone) -> bool:
    """Return whether a side of one zone separates it from the other in plan."""
    along, across = seen_from(one, other.x, other.y)
    cosine, sine = abs(math.cos(other.yaw - one.yaw)), abs(math.sin(other.yaw - one.yaw))
    length = (one.length + cosine * other.length + sine * other.width) / 2
    width = (one.width + sine * other.length + cosine * other.width) / 2
    return abs(along) > length - _ROUNDING or abs(across) > width - _ROUNDING
