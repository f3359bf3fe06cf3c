"""What a file says of ground: pieces of apparatus, in lanes and anywhere on a floor."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field, WithJsonSchema

from segtrack.courses.apparatus.base import SETTING, Apparatus, Length, Place, Rise, Turn
from segtrack.courses.apparatus.hurdles import ConfinedSpace, Hurdle, KRails
from segtrack.courses.apparatus.plain import Bed, Flat, Gap, Ramp, Stairs, Step
from segtrack.courses.apparatus.posts import StepField
from segtrack.courses.apparatus.tilted import ContinuousRamps, CrossingRamps
from segtrack.courses.apparatus.upright import Doorway, Wall
from segtrack.description.base import Checks, Name, NonNegative, Spec, check, exactly_one, given_one
from segtrack.errors import UnknownNameError
from segtrack.terrain import find_soil


def _published(soil: str) -> str:
    try:
        find_soil(soil)
    except UnknownNameError as error:
        there = ", ".join(error.known)
        raise ValueError(f"must be a published soil, got {soil!r}; there are: {there}") from None
    return soil


SoilName = Annotated[str, Field(strict=True), AfterValidator(_published)]
Friction = Annotated[
    NonNegative, WithJsonSchema({"anyOf": [{"type": "number", "minimum": 0}, {"const": SETTING}]})
]


class Pose(Spec):
    """A place on the floor."""

    x: Place = 0.0
    """In the world [m]."""
    y: Place = 0.0
    """In the world [m]."""
    yaw_deg: Turn = 0.0
    """About the world's z axis [deg]."""


class Ground(Spec):
    """What a piece consists of."""

    friction: Friction | None = None
    """Coulomb friction, which that of the track multiplies; the course's if not given."""
    soil: SoilName | None = None
    """Published soil that it consists of; rigid if not given."""


class LanePiece(Ground):
    """One apparatus in a lane."""

    kinds: ClassVar[tuple[str, ...]] = (
        "flat",
        "step",
        "ramp",
        "stairs",
        "gap",
        "bed",
        "hurdle",
        "k_rails",
        "confined_space",
        "continuous_ramps",
        "crossing_ramps",
        "step_field",
        "doorway",
    )
    name: Name | None = None
    """By which gates call it."""
    elevation: Rise = 0.0
    """Of its ground above the floor, down to which its solids reach [m]."""
    flat: Flat | None = None
    step: Step | None = None
    ramp: Ramp | None = None
    stairs: Stairs | None = None
    gap: Gap | None = None
    bed: Bed | None = None
    hurdle: Hurdle | None = None
    k_rails: KRails | None = None
    confined_space: ConfinedSpace | None = None
    continuous_ramps: ContinuousRamps | None = None
    crossing_ramps: CrossingRamps | None = None
    step_field: StepField | None = None
    doorway: Doorway | None = None

    @check
    def _one_apparatus(self) -> Checks:
        yield from exactly_one(self, self.kinds)

    @property
    def apparatus(self) -> Apparatus:
        """The one that it is."""
        return given_one(self, self.kinds)


class Piece(LanePiece):
    """One apparatus anywhere on the floor."""

    kinds: ClassVar[tuple[str, ...]] = (*LanePiece.kinds, "wall")
    place: Pose = Pose()
    """The middle of its entrance, and where it leads."""
    width: Length = 1.2
    """Across [m]."""
    wall: Wall | None = None

    @check
    def _one_apparatus(self) -> Checks:
        yield from exactly_one(self, self.kinds)


class Sides(Spec):
    """Walls of a lane."""

    height: Length = 0.4
    """Above what is driven on between them [m]."""
    left: bool = True
    right: bool = True
    start: bool = True
    """Whether one closes the lane at its entrance."""
    end: bool = True
    """Whether one closes it at its far end."""


class Lane(Spec):
    """Pieces one after another, between walls."""

    width: Length
    """Between the walls [m]; 0.3, 0.6, 1.2 or 2.4 in the test methods."""
    place: Pose = Pose()
    """The middle of its entrance, and where it leads."""
    walls: Sides | None = Sides()
    """None for a lane without walls (`null`)."""
    pieces: Annotated[tuple[LanePiece, ...], Field(min_length=1)]


class Layout(Spec):
    """A floor and what stands on it: a course's, or the ground of anything else that drives."""

    friction: Friction = 1.0
    """Of the floor, and of pieces without their own."""
    soil: SoilName | None = None
    """Of the floor; rigid if not given."""
    lanes: tuple[Lane, ...] = ()
    terrain: tuple[Piece, ...] = ()
    """What stands on the floor beside lanes."""
