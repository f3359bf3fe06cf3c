"""Quantities of a mapping file: belts, body and flippers, with their channels, units, signs and noise."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from segtrack.description import Checks, Name, Number, Positive, Spec, check, exactly_one, in_radians, known
from segtrack.errors import Problem
from segtrack.geometry import STANDARD_GRAVITY

_TURN = 2 * math.pi
SIDES = ("left", "right")
"""Sides of a vehicle, as keys of belts end: `belt_speed.left`."""

_FOOT = 0.3048
LENGTH = MappingProxyType({"m": 1.0, "cm": 0.01, "mm": 0.001, "km": 1000.0, "in": _FOOT / 12, "ft": _FOOT})
SPEED = MappingProxyType(
    {
        "m/s": 1.0, "cm/s": 0.01, "mm/s": 0.001, "km/h": 1 / 3.6,
        "in/s": _FOOT / 12, "ft/s": _FOOT, "mph": 5280 * _FOOT / 3600,
    }
)  # fmt: skip
ANGLE = MappingProxyType({"rad": 1.0, "mrad": 0.001, "deg": math.radians(1.0), "turns": _TURN})
TURNING = MappingProxyType({"rad/s": 1.0, "deg/s": math.radians(1.0), "rpm": _TURN / 60, "turns/s": _TURN})
COUNTS = MappingProxyType({"counts": 1.0})
COUNTING = MappingProxyType({"counts/s": 1.0})
CURRENT = MappingProxyType({"A": 1.0, "mA": 0.001})
FORCE = MappingProxyType({"N": 1.0, "kN": 1000.0})
ENERGY = MappingProxyType({"J": 1.0, "kJ": 1000.0, "Wh": 3600.0})
ACCELERATION = MappingProxyType({"m/s^2": 1.0, "g": STANDARD_GRAVITY})
TIME = MappingProxyType({"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "d": 86400.0})

Units = Mapping[str, float]
"""Factors to segtrack's unit, by name."""

_OTHER_NAMES = {
    "deg": ("°", "degree", "degrees"),
    "rad": ("radian", "radians"),
    "deg/s": ("°/s", "deg/sec", "dps", "deg s-1", "deg s^-1"),
    "rad/s": ("rad/sec", "radps", "rad s-1", "rad s^-1"),
    "rpm": ("1/min", "rev/min", "r/min", "RPM"),
    "turns/s": ("rev/s", "rps", "Hz"),
    "turns": ("rev", "revolutions"),
    "m": ("meter", "meters", "metre", "metres"),
    "m/s": ("mps", "m/sec", "m s-1", "m s^-1"),
    "km/h": ("kph", "kmh", "km/hr"),
    "m/s^2": ("m/s²", "m/s2", "m/s/s", "m s-2", "m s^-2"),
    "counts": ("ticks", "count", "tick"),
    "counts/s": ("ticks/s", "cps", "count/s"),
    "us": ("µs", "μs"),
    "d": ("day", "days"),
    "in": ("inch", "inches"),
    "ft": ("foot", "feet"),
    "in/s": ("ips", "in/sec"),
    "ft/s": ("ft/sec",),
    "mph": ("mi/h",),
}
_PLAIN = {other: unit for unit, others in _OTHER_NAMES.items() for other in others}


def standard_unit(unit: str) -> str:
    """Return the name that a unit has here, if it is known by another one."""
    bare = unit.strip().strip("[]()").strip()
    return _PLAIN.get(bare, bare)


def unit_problem(unit: str, units: Units) -> str | None:
    """Describe the problem of a unit; None if it is one of these."""
    if standard_unit(unit) in units:
        return None
    close = get_close_matches(standard_unit(unit), units, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    *others, last = units
    listed = f"{', '.join(others)} or {last}" if others else last
    return f"must be {listed}, got {unit!r}{hint}"


def unit_among(units: Units) -> Any:
    """Return a validator that accepts these units, and converts other spellings."""

    def plain_one(unit: str) -> str:
        if (problem := unit_problem(unit, units)) is not None:
            raise ValueError(problem)
        return standard_unit(unit)

    return AfterValidator(plain_one)


def _as_list(given: Any) -> Any:
    return [given] if isinstance(given, str) else given


Text = Annotated[str, Field(strict=True, min_length=1)]
_NAMES = WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})
Texts = Annotated[tuple[Text, ...], Field(min_length=1), BeforeValidator(_as_list), _NAMES]
"""One or several channels; a channel that has several numbers at a time is enough."""


def _numbers_as_list(given: Any) -> Any:
    return [given] if isinstance(given, int | float) else given


_NUMBERS = WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "array", "items": {"type": "number"}}]})
Numbers = Annotated[tuple[Number, ...], BeforeValidator(_numbers_as_list), _NUMBERS]
"""One or several numbers."""


class Despike(Spec):
    """Filter that leaves out numbers far from the median of those around them (Hampel's rule)."""

    window: Annotated[int, Field(strict=True, ge=3, le=1001)]
    """Numbers whose median it is, the number itself in the middle; odd, at most 1001."""
    limit: Positive
    """Largest distance from it, over the window's own deviation: 1.4826 times the median absolute one."""

    @check
    def _is_odd(self) -> Checks:
        if self.window % 2 == 0:
            yield Problem("window", f"must be odd, got {self.window}")


class Reference(Spec):
    """A quantity's place in a log."""

    units: ClassVar[Units] = {}
    """Units that its channels may have; empty for quantities without one."""
    std: Positive | None = None
    """Standard deviation of the noise, in segtrack's unit of the quantity (m/s, rad, m, rad/s, A)."""
    missing: Numbers = ()
    """Numbers of the channel that mean none, as -9999."""
    despike: Despike | None = None
    """Filter of spikes, over the channel's numbers."""

    def channel_names(self) -> Iterator[tuple[str, str]]:
        """Yield the key and name of each channel; invalid ones are skipped."""
        raise NotImplementedError


class OneChannel(Reference):
    """A quantity that one channel has."""

    channel: Text

    def channel_names(self) -> Iterator[tuple[str, str]]:
        """Yield the key and name of the channel."""
        if (name := known(self, "channel", None)) is not None:
            yield "channel", name


class ChannelOrValue(OneChannel):
    """A quantity that one channel has, or that was the same all the time and is stated."""

    channel: Text | None = None  # type: ignore[assignment]
    value: Number | None = None
    """Its constant value, in `unit`, instead of a channel."""

    @property
    def unit_of_value(self) -> str:
        """Unit of the value."""
        return str(getattr(self, "unit", ""))

    @check
    def _channel_or_value(self) -> Checks:
        yield from exactly_one(self, ("channel", "value"))

    @check
    def _value_has_a_unit(self) -> Checks:
        unit = getattr(self, "unit", None)
        if self.value is None:
            return
        if unit is None:
            yield Problem("unit", f"is missing: that of the value, {', '.join(self.units)}")
        elif unit == "rad" and abs(self.value) > _TURN:
            yield Problem("value", f"must be in radians, {in_radians(self.value)}")
        if getattr(self, "sensor", None) is not None:
            yield Problem("sensor", "must be left out beside value, which is in the body frame")
        for key in ("missing", "despike"):
            if getattr(self, key):
                yield Problem(key, "must be left out beside value")


class SeveralChannels(Reference):
    """A quantity of several numbers at a time."""

    channels: Texts
    sensor: Text | None = None
    """Name of its sensor among `sensors`; in the body frame if not given."""

    def channel_names(self) -> Iterator[tuple[str, str]]:
        """Yield the keys and names of all channels, in order."""
        for i, name in enumerate(known(self, "channels", ())):
            yield f"channels[{i}]", name


class SideChannels(Reference):
    """A quantity that there is for the left and the right belts."""

    left: Text | None = None
    right: Text | None = None
    reversed: tuple[Literal["left", "right"], ...] = ()
    """Sides whose numbers have the other sign, as those of motors that are mounted mirror-wise."""

    def channel_names(self) -> Iterator[tuple[str, str]]:
        """Names of the channels that this reference uses."""
        for side in SIDES:
            if (name := known(self, side, None)) is not None:
                yield side, name

    @check
    def _has_a_side(self) -> Checks:
        if self.left is None and self.right is None:
            yield Problem("", "must have left, right or both")


BELT_TRAVEL: Units = {**LENGTH, **ANGLE, **COUNTS}
"""Units of how far a belt has come; its speed is the derivative."""
BELT_SPEED: Units = {**SPEED, **TURNING, **COUNTING, **BELT_TRAVEL}


class BeltSpeed(SideChannels):
    """Speeds of the belts; or a twist of the vehicle that they are commanded by."""

    units: ClassVar[Units] = BELT_SPEED
    unit: Annotated[str, Field(strict=True), unit_among(BELT_SPEED)] | None = None
    """Speeds m/s, cm/s, mm/s, km/h, in/s, ft/s, mph, of what turns rad/s, deg/s, rpm, turns/s, counts/s; or
    how far they have come: m, cm, mm, in, ft, rad, deg, turns, counts. The log's own if not given."""
    radius: Positive | None = None
    """Pitch radius of the sprocket [m]; for angles, turns and their rates."""
    gear_ratio: Positive = 1.0
    """Turns of what is measured for one of the sprocket."""
    counts_per_turn: Positive | None = None
    """Counts for one turn of the measured shaft; for counts."""
    wrap: Positive | None = None
    """Range after which a channel that is differentiated starts again, in its unit: 65536 counts."""
    table: Annotated[tuple[tuple[Number, Number], ...], Field(min_length=2)] | None = None
    """Pairs of the channel's number, as of PWM, and belt speed [m/s], linear between, instead of a unit."""
    linear: Text | None = None
    """Channel of the vehicle's forward speed [m/s], instead of left and right ..."""
    angular: Text | None = None
    """... and of its yaw rate, left positive [rad/s]."""
    gauge: Positive | None = None
    """Distance of the tracks' middles [m], with linear and angular; the vehicle's if not given."""

    def channel_names(self) -> Iterator[tuple[str, str]]:
        """Names of the channels of sides, or of a twist."""
        yield from super().channel_names()
        for key in ("linear", "angular"):
            if (name := known(self, key, None)) is not None:
                yield key, name

    @property
    def is_twist(self) -> bool:
        """True for a twist of the vehicle, False for speeds of the sides."""
        return self.linear is not None

    @check
    def _has_a_side(self) -> Checks:
        """Sides, or a twist instead, unlike other quantities of sides."""
        sides, twist = (self.left, self.right), (self.linear, self.angular)
        if any(sides) == any(twist) or None in (twist if any(twist) else sides):
            got = [key for key in ("left", "right", "linear", "angular") if getattr(self, key) is not None]
            message = f"must have left and right, or linear and angular, got {', '.join(got) or 'none'}"
            yield Problem("", message)

    @check
    def _unit_or_table(self) -> Checks:
        if self.table is not None and self.unit is not None:
            yield Problem("unit", "must be left out where there is a table, whose speeds are in m/s")
        if self.is_twist and (self.unit is not None or self.table is not None):
            message = "must have neither unit nor table with linear and angular, which are in m/s and rad/s"
            yield Problem("", message)

    @check
    def _table_ascends(self) -> Checks:
        if self.table is not None:
            numbers = [number for number, _ in self.table]
            if any(low >= high for low, high in zip(numbers, numbers[1:], strict=False)):
                yield Problem("table", f"must ascend, got {numbers}")

    @check
    def _turns_have_a_radius(self) -> Checks:
        yield from self.unit_problems("" if self.unit is None else self.unit)
        if self.wrap is not None and (self.table is not None or self.is_twist):
            yield Problem("wrap", "must be left out of speeds")

    def unit_problems(self, unit: str) -> Checks:
        """Yield a problem for each key that a unit requires and that is not given, or that it cannot have."""
        if self.wrap is not None and unit and unit not in BELT_TRAVEL:
            yield Problem("wrap", f"must be left out of speeds, got {self.wrap:g} beside {unit}")
        if unit in (*TURNING, *ANGLE, *COUNTING, *COUNTS) and self.radius is None:
            yield Problem("radius", f"is missing: {unit} become belt speeds with the sprocket's radius [m]")
        if unit in (*COUNTING, *COUNTS) and self.counts_per_turn is None:
            yield Problem("counts_per_turn", f"is missing: {unit} become turns with it")


class BeltForce(SideChannels):
    """Forces of the drives on the belts."""

    units: ClassVar[Units] = FORCE
    unit: Annotated[str, Field(strict=True), unit_among(FORCE)] | None = None
    """N, kN; the log's own if not given."""


class SlipVelocity(SideChannels):
    """Speeds of the belts over the ground below them."""

    units: ClassVar[Units] = SPEED
    unit: Annotated[str, Field(strict=True), unit_among(SPEED)] | None = None
    """m/s, cm/s, mm/s, km/h, in/s, ft/s, mph; the log's own if not given."""
    positive: Literal["belt faster", "ground faster"] | None = None
    """Meaning of a positive number."""

    @check
    def _sign_is_said(self) -> Checks:
        if self.positive is None:
            yield Problem("positive", "must be said: belt faster (as segtrack counts it) or ground faster")


class Current(SideChannels):
    """Currents of the motors."""

    units: ClassVar[Units] = CURRENT
    unit: Annotated[str, Field(strict=True), unit_among(CURRENT)] | None = None
    """A, mA; the log's own if not given."""
    force_per_current: Positive | None = None
    """Force on a side's belts for each ampere: torque constant x gear ratio x efficiency / radius [N/A]."""


class FlipperAngle(ChannelOrValue):
    """Angle of a flipper."""

    units: ClassVar[Units] = ANGLE
    unit: Annotated[str, Field(strict=True), unit_among(ANGLE)] | None = None
    """rad, mrad, deg, turns; the log's own if not given."""
    zero: Number = 0.0
    """The channel's number, in its unit, where segtrack's angle is 0: the flipper lies along the body."""
    positive: Literal["tip up", "tip down"] = "tip up"


class Position(SeveralChannels):
    """Place of the vehicle, or of a sensor on it: two or three lengths, or by satellites."""

    units: ClassVar[Units] = LENGTH
    channels: Texts | None = None  # type: ignore[assignment]
    """x, y and z in a world whose z is up; z is taken as 0 where there are two. Twelve are a pose by rows."""
    latitude: Text | None = None
    """Channel in degrees, instead of channels: x is then east, y north of the first place, on WGS 84 ..."""
    longitude: Text | None = None
    """... with longitude ..."""
    height: Text | None = None
    """... and height [m]; taken as 0 if not given."""
    unit: Annotated[str, Field(strict=True), unit_among(LENGTH)] | None = None
    """m, cm, mm, km, in, ft; the log's own if not given."""

    def channel_names(self) -> Iterator[tuple[str, str]]:
        """Names of the channels of lengths, or of satellite positions."""
        if known(self, "channels", None) is not None:
            yield from super().channel_names()
        for key in ("latitude", "longitude", "height"):
            if (name := known(self, key, None)) is not None:
                yield key, name

    @check
    def _one_way(self) -> Checks:
        has_both = self.latitude is not None and self.longitude is not None
        has_any = self.latitude is not None or self.longitude is not None or self.height is not None
        if (self.channels is None) != has_both or (self.channels is not None and has_any):
            yield Problem("", "must have channels, or latitude and longitude")
        if has_both and self.unit is not None:
            yield Problem("unit", "must be left out with latitude and longitude, which are in degrees")


class Velocity(SeveralChannels):
    """Velocity of the vehicle, or of a sensor on it."""

    units: ClassVar[Units] = SPEED
    unit: Annotated[str, Field(strict=True), unit_among(SPEED)] | None = None
    """m/s, cm/s, mm/s, km/h, in/s, ft/s, mph; the log's own if not given."""
    frame: Literal["body", "world"] = "body"
    """Frame of its axes: the sensor's, or that of the world in which orientations are given."""


class Orientation(SeveralChannels):
    """Attitude of the vehicle, or of a sensor on it, in a world whose z is up.

    Unit quaternions; or rotation matrices by rows, nine numbers, or twelve with the position behind each row.
    """

    order: Literal["xyzw", "wxyz"] = "xyzw"
    """Order of a quaternion's numbers."""
    given: Literal["body in world", "world in body"] = "body in world"
    """What the numbers turn into what: the body's axes into the world's, or the other way."""

    @check
    def _is_not_filtered(self) -> Checks:
        if self.despike is not None:
            yield Problem("despike", "must be left out: the parts of quaternions are not filtered alone")


class _Angle(ChannelOrValue):
    units: ClassVar[Units] = ANGLE
    unit: Annotated[str, Field(strict=True), unit_among(ANGLE)] | None = None
    """rad, mrad, deg, turns; the log's own if not given."""
    sensor: Text | None = None
    """Name of its sensor among `sensors`; in the body frame if not given."""


class Roll(_Angle):
    """Roll: the turn about the body's x axis, after yaw and pitch."""

    positive: Literal["right side down", "left side down"] = "right side down"


class Pitch(_Angle):
    """Pitch: the turn about the body's y axis, after yaw."""

    positive: Literal["nose up", "nose down"] | None = None
    """Meaning of a positive number."""

    @check
    def _sign_is_said(self) -> Checks:
        if self.positive is None:
            message = "must be said: nose up (as segtrack counts it) or nose down (as REP 103 does)"
            yield Problem("positive", message)


class Yaw(_Angle):
    """Yaw: the turn about the world's z axis."""

    positive: Literal["left", "right"] = "left"
    """The way that it grows: left, or right as a compass counts."""


class YawRate(ChannelOrValue):
    """Rate of turning about the world's z axis."""

    units: ClassVar[Units] = TURNING
    unit: Annotated[str, Field(strict=True), unit_among(TURNING)] | None = None
    """rad/s, deg/s, rpm, turns/s; the log's own if not given."""
    positive: Literal["left", "right"] = "left"


class AngularVelocity(SeveralChannels):
    """Angular velocity, along the axes of the vehicle or of a sensor on it."""

    units: ClassVar[Units] = TURNING
    unit: Annotated[str, Field(strict=True), unit_among(TURNING)] | None = None
    """rad/s, deg/s, rpm, turns/s; the log's own if not given."""
    bias: tuple[Number, Number, Number] = (0.0, 0.0, 0.0)
    """Reading at rest, along the sensor's axes [rad/s]; it is subtracted."""


class SpecificForce(SeveralChannels):
    """Specific force, which accelerometers measure: 9.8 m/s^2 upwards at rest."""

    units: ClassVar[Units] = ACCELERATION
    unit: Annotated[str, Field(strict=True), unit_among(ACCELERATION)] | None = None
    """m/s^2, g; the log's own if not given."""


class Energy(OneChannel):
    """Work of all drives."""

    units: ClassVar[Units] = ENERGY
    unit: Annotated[str, Field(strict=True), unit_among(ENERGY)] | None = None
    """J, kJ, Wh; the log's own if not given."""


class Quantities(Spec):
    """Channels of each quantity; those that are not given are not used."""

    belt_speed_command: BeltSpeed | None = None
    """Commanded."""
    belt_speed: BeltSpeed | None = None
    """Measured."""
    belt_force: BeltForce | None = None
    slip_velocity: SlipVelocity | None = None
    current: Current | None = None
    flipper_angle_command: dict[Name, FlipperAngle] = {}
    """Commanded, by the flipper's name in the vehicle file."""
    flipper_angle: dict[Name, FlipperAngle] = {}
    """Measured, likewise."""
    position: Position | None = None
    velocity: Velocity | None = None
    orientation: Orientation | None = None
    roll: Roll | None = None
    pitch: Pitch | None = None
    yaw: Yaw | None = None
    yaw_rate: YawRate | None = None
    angular_velocity: AngularVelocity | None = None
    specific_force: SpecificForce | None = None
    energy: Energy | None = None

    def references(self) -> Iterator[tuple[str, Reference]]:
        """Yield each given quantity, and each flipper's, with its path; invalid ones are skipped."""
        for name in type(self).model_fields:
            value = known(self, name, None)
            if isinstance(value, Mapping):
                yield from ((f"{name}.{flipper}", reference) for flipper, reference in value.items())
            elif value is not None:
                yield name, value

    def constants(self) -> Iterator[tuple[str, ChannelOrValue]]:
        """Yield each quantity that is a constant, with its path."""
        for path, reference in self.references():
            if isinstance(reference, ChannelOrValue) and known(reference, "value", None) is not None:
                yield path, reference

    @check
    def _turned_once(self) -> Checks:
        angles = [name for name in ("roll", "pitch", "yaw") if getattr(self, name) is not None]
        if self.orientation is not None and angles:
            yield Problem(angles[0], "must not be given beside orientation, which has it already")
