"""A track's link chain, as a vehicle file may give it; every key has a default that the belt gives."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from segtrack.description.base import (
    MistakesError,
    Name,
    NonNegative,
    Number,
    Positive,
    Spec,
)
from segtrack.errors import Problem


class ShoesPart(Spec):
    """The shoes of a chain."""

    count: Annotated[int, Field(strict=True, ge=3, le=1000)] | None = None
    """In one round; the grousers' count if not given."""
    pitch: Positive | None = None
    """Between a shoe's two pins [m]. The idler is moved along its tensioner so that the chain closes;
    where it is not given, the chain closes around the wheels as they are."""
    mass: Positive | None = None
    """Of one shoe, grouser included [kg]; the belt's mass over the count if not given."""
    thickness: Positive | None = None
    """Of the plate, between its outer face and the rail that rolls on wheels [m]; the belt's."""


class BushingPart(Spec):
    """The pin-bushing that joins two shoes (Omar 2014, section 4.1)."""

    stiffness: Positive = 1e6
    """In every direction [N/m]."""
    damping_ratio: NonNegative = 0.05
    """Of two shoes against each other, over critical [-]."""
    conical_stiffness: Positive | None = None
    """Against turning the pin out of the bushing's axis [N m/rad]; that of a bushing as wide as the
    track, stiffness * width^2 / 12, if not given."""
    back_bend: Annotated[float, Field(strict=True, gt=0, lt=3.14159)] = 0.3
    """How far two shoes bend backwards before they meet [rad]."""
    radius: Positive | None = None
    """Of the cylinder that teeth touch [m]; 0.15 of the pitch if not given."""


class SprocketPart(Spec):
    """The toothed wheel that drives the chain (Omar 2014, section 4.2)."""

    teeth: Annotated[int, Field(strict=True, ge=5)] | None = None
    """As many as fit around its pulley if not given."""
    pressure_angle: Annotated[float, Field(strict=True, gt=0, lt=0.8)] = 0.3
    """By which a tooth's flank leans from the radial direction [rad]."""


class DrumPart(Spec):
    """A wheel without teeth that drives a rubber belt by friction."""

    friction: Positive = 0.8
    """Between drum and belt."""


class TensionerPart(Spec):
    """The idler's spring and damper, which push it away from the driven wheel."""

    pretension: Positive | None = None
    """Tension that the spring would give the chain with the idler where its pulley is drawn [N]; a fifth
    of the drive's stall force if not given. At rest the idler has moved outwards, and about half is left."""
    stiffness: Positive | None = None
    """Of the spring [N/m]; one that gives by half a pitch at twice the stall force, if not given."""
    damping_ratio: NonNegative = 0.5
    """Of the idler on its spring, over critical [-]."""


class EvenRollersPart(Spec):
    """Road wheels and support rollers, evenly along the straight pieces that are not omitted."""

    spacing: Positive | None = None
    """Between rollers, or somewhat more [m]; one pitch if not given."""
    radius: Positive | None = None
    """[m]; 0.4 of the spacing if not given."""


class RoadWheelPart(Spec):
    """A road wheel or support roller where the vehicle's makers put it."""

    link: Name | None = None
    """Link of the body's URDF that is its parent, a sprung road arm for instance; that of the track if
    not given."""
    x: Number
    """Centre, forward in the track frame, all joints of the body's URDF at 0 [m]."""
    z: Number
    """Centre, up [m]."""
    radius: Positive
    """[m]"""


class SuspensionPart(Spec):
    """The spring and damper of the joint of a link of the body's URDF with wheels on it."""

    stiffness: Positive
    """[N m/rad] or [N/m]"""
    damping: NonNegative = 0.0
    """[N m s/rad] or [N s/m]"""
    free_position: Number = 0.0
    """Joint position at which the spring is without load [rad] or [m]."""


class ShoeContactPart(Spec):
    """Stiffness and damping of shoes on rigid ground."""

    stiffness: Positive | None = None
    """Of each contact point [N/m]; a tenth of the bushings' if not given."""
    damping_ratio: NonNegative = 0.1
    """Of a shoe on its contact points, over critical [-]."""


class ChainPart(Spec):
    """A track as a chain of shoes, for the track model `chain`."""

    shoes: ShoesPart = ShoesPart()
    bushing: BushingPart = BushingPart()
    sprocket: SprocketPart | None = None
    """The driven wheel has teeth if neither it nor a drum is given."""
    drum: DrumPart | None = None
    """Instead of a sprocket."""
    tensioner: TensionerPart = TensionerPart()
    even_rollers: EvenRollersPart | None = None
    """Left out where road wheels are given."""
    road_wheels: tuple[RoadWheelPart, ...] | None = None
    """Road wheels and support rollers one by one, instead of even ones."""
    suspension: dict[Name, SuspensionPart] = {}
    """Springs of the joints of links of the body's URDF that carry wheels, by link."""
    shoe_contact: ShoeContactPart = ShoeContactPart()
    sub_step: Positive | None = None
    """Of its integration [s]; the largest that is stable if not given."""

    @model_validator(mode="after")
    def _one_of_each(self) -> ChainPart:
        problems = [
            Problem(other, f"must be left out where {one} is given")
            for one, other in (("drum", "sprocket"), ("road_wheels", "even_rollers"))
            if getattr(self, one) is not None and getattr(self, other) is not None
        ]
        if problems:
            raise MistakesError(problems)
        return self
