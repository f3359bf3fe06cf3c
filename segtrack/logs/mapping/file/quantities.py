"""Which channels have which quantity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from segtrack.description.base import Checks, Name, Spec, check, known
from segtrack.errors import Problem
from segtrack.logs.mapping.file.belts import BeltForce, BeltSpeed, Current, SlipVelocity
from segtrack.logs.mapping.file.body import (
    AngularVelocity,
    FlipperAngle,
    Orientation,
    Pitch,
    Position,
    Roll,
    Velocity,
    Yaw,
    YawRate,
)
from segtrack.logs.mapping.file.reference import OneChannel, Reference, unit_among
from segtrack.logs.mapping.file.units import ENERGY, Units


class Energy(OneChannel):
    """Work of all drives."""

    units: ClassVar[Units] = ENERGY
    unit: Annotated[str, Field(strict=True), unit_among(ENERGY)] | None = None
    """J, kJ, Wh; the log's own if not given."""


class Quantities(Spec):
    """Which channels have which quantity; what is not given is not used."""

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
    energy: Energy | None = None

    def references(self) -> Iterator[tuple[str, Reference]]:
        """What is given, by its path: each quantity, and each flipper's; not what is no part at all."""
        for name in type(self).model_fields:
            value = known(self, name, None)
            if isinstance(value, Mapping):
                yield from ((f"{name}.{flipper}", reference) for flipper, reference in value.items())
            elif value is not None:
                yield name, value

    @check
    def _turned_once(self) -> Checks:
        angles = [name for name in ("roll", "pitch", "yaw") if getattr(self, name) is not None]
        if self.orientation is not None and angles:
            yield Problem(angles[0], "must not be given beside orientation, which has it already")
