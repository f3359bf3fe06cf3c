"""Keys of a track's link chain in a vehicle file; every key has a default derived from the belt."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field

from segtrack.description.base import Checks, Name, NonNegative, Number, Positive, Spec, check
from segtrack.errors import Problem


class ShoesSpec(Spec):
    """Shoes of a chain."""

    count: Annotated[int, Field(strict=True, ge=3, le=1000)] | None = None
    """Number of shoes in one round; the grousers' count if not given."""
    pitch: Positive | None = None
    """Between a shoe's two pins [m]. The idler is moved along its tensioner so that the chain closes;
    where it is not given, the chain closes around the wheels as they are."""
    mass: Positive | None = None
    """Mass of one shoe, grouser included [kg]; the belt's mass over the count if not given."""
    inertia: tuple[Positive, Positive, Positive] | None = None
    """Principal moments of one shoe about its centre, about its axes forward, across and out [kg m^2]; those
    of a box of pitch, width and thickness if not given."""
    thickness: Positive | None = None
    """Thickness of the plate, between its outer face and the rail that rolls on wheels [m]; the belt's."""

    @check
    def _some_body_has_it(self) -> Checks:
        least, middle, most = sorted(self.inertia or (1.0, 1.0, 1.0))
        if least + middle < most * (1 - 1e-9):
            given = list(self.inertia or ())
            yield Problem("inertia", f"must have none above the sum of the others, got {given}")


class BushingSpec(Spec):
    """Bushing between two shoes (Omar 2014, section 4.1)."""

    stiffness: Positive | None = None
    """Stiffness in every direction [N/m]; if not given, half of the chain stretches by 0.3 of its pitch under
    the drive's or brake's largest force, within half of the vehicle's weight and all of it; at least 1e6."""
    damping_ratio: NonNegative = 0.05
    """Damping of two shoes against each other, over critical [-]."""
    conical_stiffness: Positive | None = None
    """Against turning the pin out of the bushing's axis [N m/rad]; that of a bushing as wide as the
    track, stiffness * width^2 / 12, if not given."""
    bending_stiffness: NonNegative = 0.0
    """Against turning about the pin, with straight joints at rest, as of rubber [N m/rad]."""
    bending_damping: NonNegative = 0.0
    """Against turning about the pin [N m s/rad]."""
    back_bend: Annotated[float, Field(strict=True, gt=0, lt=3.14159)] = 0.3
    """Angle by which two shoes bend backwards before they meet [rad]."""
    radius: Positive | None = None
    """Radius of the cylinder that teeth touch [m]; 0.15 of the pitch if not given."""


class WheelSpec(Spec):
    """Wheel of a chain; its mass, and that of a tensioner's moving part, is included in the link's."""

    inertia: Positive | None = None
    """About its axle [kg m^2]; that of a disc of a part of the belt's mass if not given: a twentieth for
    pulleys, a fiftieth for road wheels and rollers."""
    contact_stiffness: Positive | None = None
    """Stiffness of each of a shoe's two rails on it, where the drive's stall force presses one [N/m]; a fifth
    of the bushings' if not given. The force grows with the depth to the power of 1.5."""
    friction: NonNegative | None = None
    """Coulomb coefficient of rails on it; the drum's, or 0.3 without one, if not given."""


class SprocketSpec(WheelSpec):
    """Toothed wheel that drives the chain (Omar 2014, section 4.2).

    Its inertia is without the drive's `reflected_mass`; contacts are those of a bushing with teeth, which are
    linear; their friction is 0.05 if not given.
    """

    teeth: Annotated[int, Field(strict=True, ge=5)] | None = None
    """Number of teeth; as many as fit around its pulley if not given."""
    pressure_angle: Annotated[float, Field(strict=True, gt=0, lt=0.8)] = 0.3
    """Angle by which a tooth's flank leans from the radial direction [rad]."""


class DrumSpec(WheelSpec):
    """Wheel without teeth that drives a rubber belt by friction.

    Its inertia is without the drive's `reflected_mass`.
    """

    friction: Positive = 0.8
    """Between drum and belt."""


class IdlerSpec(WheelSpec):
    """Idler, the wheel on the tensioner."""

    mass: Positive | None = None
    """Mass that slides on the tensioner, of the wheel and its carrier [kg]; a twentieth of the belt's if not
    given. On an arm, the moment of inertia about its pivot over its length squared."""


class TensionerSpec(Spec):
    """Spring and damper that push the idler away from the driven wheel."""

    pretension: Positive | None = None
    """Tension of the runs beside the idler at rest, without weight and terrain [N]; if not given, a fifth of
    the drive's stall force, but at most what moves the idler by a quarter of the pitch, as bushings
    stretch."""
    stiffness: Positive | None = None
    """Stiffness of the spring along the idler's way [N/m]; half a pitch at twice the stall force if not
    given."""
    direction: tuple[Number, Number] | None = None
    """Direction (x, z) in the track frame in which it pushes and the idler slides; away from the driven wheel
    if not given."""
    pivot: tuple[Number, Number] | None = None
    """Pivot (x, z) in the track frame of an arm on which the idler swings, instead of sliding on a line."""
    damping_ratio: NonNegative = 0.5
    """Damping of the idler on its spring, over critical [-]."""

    @check
    def _line_or_arm(self) -> Checks:
        if self.pivot is not None and self.direction is not None:
            yield Problem("direction", "must be left out where pivot is given")

    @check
    def _some_direction(self) -> Checks:
        if self.direction is not None and math.hypot(*self.direction) < 1e-9:
            yield Problem("direction", f"must not be of no length, got {list(self.direction)}")


class EvenRollersSpec(WheelSpec):
    """Road wheels and support rollers, evenly spaced along the straight segments that are not omitted."""

    spacing: Positive | None = None
    """Between rollers, or somewhat more [m]; one pitch if not given."""
    radius: Positive | None = None
    """[m]; 0.4 of the spacing if not given."""


class RoadWheelSpec(WheelSpec):
    """Road wheel or support roller at a given place."""

    link: Name | None = None
    """Link of the body's URDF that is its parent, a sprung road arm for instance; that of the track if
    not given."""
    x: Number
    """Centre, forward in the track frame, all joints of the body's URDF at 0 [m]."""
    z: Number
    """Centre, up [m]."""
    radius: Positive
    """[m]"""


class SuspensionSpec(Spec):
    """Spring and damper for the joint of a URDF link that carries wheels."""

    stiffness: Positive
    """[N m/rad] or [N/m]"""
    damping: NonNegative = 0.0
    """[N m s/rad] or [N s/m]"""
    free_position: Number = 0.0
    """Joint position at which the spring is without load [rad] or [m]."""


class ShoeContactSpec(Spec):
    """Stiffness and damping of shoe contacts on rigid ground."""

    stiffness: Positive | None = None
    """Stiffness of each contact point [N/m]; a tenth of the bushings' if not given."""
    damping_ratio: NonNegative = 0.1
    """Damping of a shoe on its contact points, over critical [-]."""


class ChainSpec(Spec):
    """Track as a chain of shoes, for the track model `chain`."""

    shoes: ShoesSpec = ShoesSpec()
    bushing: BushingSpec = BushingSpec()
    driven: Name | None = None
    """Pulley of the track's path that drives the chain; the one around which it turns most if not given."""
    tensioned: Name | None = None
    """Pulley that the tensioner pushes away from the driven one; the farthest from that if not given."""
    sprocket: SprocketSpec | None = None
    """The driven wheel has teeth if neither it nor a drum is given."""
    drum: DrumSpec | None = None
    """Instead of a sprocket."""
    idler: IdlerSpec = IdlerSpec()
    tensioner: TensionerSpec = TensionerSpec()
    even_rollers: EvenRollersSpec | None = None
    """Left out where road wheels are given."""
    road_wheels: tuple[RoadWheelSpec, ...] | None = None
    """Road wheels and support rollers one by one, instead of even ones."""
    suspension: dict[Name, SuspensionSpec] = {}
    """Springs of the joints of links of the body's URDF that carry wheels, by link."""
    shoe_contact: ShoeContactSpec = ShoeContactSpec()
    sub_step: Positive | None = None
    """Sub-step of its integration [s]; the largest that is stable if not given."""
    sub_steps_held: Annotated[int, Field(strict=True, ge=1)] | None = None
    """Most sub-steps for which the places and directions of its contacts serve before they are found
    anew; as many as make 0.5 ms, about, if not given. 1 finds them in each, as a reference."""

    @check
    def _drum_or_sprocket(self) -> Checks:
        if self.drum is not None and self.sprocket is not None:
            yield Problem("sprocket", "must be left out where drum is given")

    @check
    def _two_pulleys(self) -> Checks:
        if self.driven is not None and self.driven == self.tensioned:
            yield Problem("tensioned", f"must be another pulley than driven, got {self.tensioned!r}")

    @check
    def _road_wheels_or_rollers(self) -> Checks:
        if self.road_wheels is not None and self.even_rollers is not None:
            yield Problem("even_rollers", "must be left out where road_wheels is given")
