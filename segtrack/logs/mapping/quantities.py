"""Quantities of a mapping file: belts, body and flippers, with their units and signs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from segtrack.description import Checks, Name, Number, Positive, Spec, check, known
from segtrack.errors import Problem
from segtrack.logs.mapping.belt_speed import BeltSpeed
from segtrack.logs.mapping.references import (
    ACCELERATION,
    ANGLE,
    CURRENT,
    ENERGY,
    FORCE,
    LENGTH,
    SPEED,
    TURNING,
    ChannelOrValue,
    OneChannel,
    Reference,
    SeveralChannels,
    SideChannels,
    Text,
    Texts,
    Units,
    unit_among,
)


class BeltForce(SideChannels):
    """Forces of the drives on the belts."""

    units: ClassVar[Units] = FORCE
    unit: Annotated[str, Field(strict=True), unit_among(FORCE)] | None = None
    """N, kN; the log's own if not given."""


class SlipVelocity(SideChannels):
    """Speeds of the belts over the ground below them."""

    units: ClassVar[Units] = SPEED
    unit: Annotated[str, Field(strict=True), unit_among(SPEED)] | None = None
    """m/s, cm/s, mm/s, km/h; the log's own if not given."""
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
    """x, y and z in a world whose z is up; z is taken as 0 where there are two."""
    latitude: Text | None = None
    """Channel in degrees, instead of channels: x is then east, y north of the first place, on WGS 84 ..."""
    longitude: Text | None = None
    """... with longitude ..."""
    height: Text | None = None
    """... and height [m]; taken as 0 if not given."""
    unit: Annotated[str, Field(strict=True), unit_among(LENGTH)] | None = None
    """m, cm, mm, km; the log's own if not given."""

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
    """m/s, cm/s, mm/s, km/h; the log's own if not given."""
    frame: Literal["body", "world"] = "body"
    """Frame of its axes: the sensor's, or that of the world in which orientations are given."""


class Orientation(SeveralChannels):
    """Attitude as unit quaternions of the vehicle, or of a sensor on it, in a world whose z is up."""

    order: Literal["xyzw", "wxyz"] = "xyzw"
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
