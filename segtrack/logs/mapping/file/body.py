"""What a mapping says of the vehicle's body and flippers: where it is, how it is turned, how it moves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from segtrack.description.base import Checks, Number, check, known
from segtrack.errors import Problem
from segtrack.logs.mapping.file.reference import OneChannel, SeveralChannels, Text, Texts, unit_among
from segtrack.logs.mapping.file.units import ANGLE, LENGTH, SPEED, TURNING, Units


class FlipperAngle(OneChannel):
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
        """Those of lengths, or of satellites."""
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
    """Whose axes it is along: the sensor's, or those of the world that orientations are in."""


class Orientation(SeveralChannels):
    """Attitude as unit quaternions of the vehicle, or of a sensor on it, in a world whose z is up."""

    order: Literal["xyzw", "wxyz"] = "xyzw"


class _Angle(OneChannel):
    units: ClassVar[Units] = ANGLE
    unit: Annotated[str, Field(strict=True), unit_among(ANGLE)] | None = None
    """rad, mrad, deg, turns; the log's own if not given."""
    sensor: Text | None = None
    """Which of `sensors` measures it; in the body frame if not given."""


class Roll(_Angle):
    """Roll: the turn about the body's x axis, after yaw and pitch."""

    positive: Literal["right side down", "left side down"] = "right side down"


class Pitch(_Angle):
    """Pitch: the turn about the body's y axis, after yaw."""

    positive: Literal["nose up", "nose down"] | None = None
    """What a positive number means."""

    @check
    def _sign_is_said(self) -> Checks:
        if self.positive is None:
            yield Problem(
                "positive", "must be said: nose up (as segtrack counts it) or nose down (as REP 103 does)"
            )


class Yaw(_Angle):
    """Yaw: the turn about the world's z axis."""

    positive: Literal["left", "right"] = "left"
    """The way that it grows: left, or right as a compass counts."""


class YawRate(OneChannel):
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
    """That it has at rest, along the sensor's axes [rad/s]; it is taken off."""
