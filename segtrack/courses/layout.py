"""Keys of ground in YAML: pieces of apparatus, in lanes and anywhere on a floor."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field, WithJsonSchema, create_model

from segtrack.courses.pieces import (
    APPARATUS,
    LOOSE_APPARATUS,
    SETTING,
    Apparatus,
    Length,
    Place,
    Rise,
    Turn,
    piece_fields,
)
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


class FloorPlace(Spec):
    """A place on the floor."""

    x: Place = 0.0
    """World x [m]."""
    y: Place = 0.0
    """World y [m]."""
    yaw_deg: Turn = 0.0
    """Angle about the world's z axis [deg]."""


class PieceGround(Spec):
    """Friction and soil of a piece."""

    friction: Friction | None = None
    """Coulomb friction, which that of the track multiplies; the course's if not given."""
    soil: SoilName | None = None
    """Published soil that it consists of; rigid if not given."""


_LaneKinds: Any = create_model("_LaneKinds", __base__=PieceGround, **piece_fields(APPARATUS))


class LanePiece(_LaneKinds):
    """One apparatus in a lane."""

    kinds: ClassVar[tuple[str, ...]] = tuple(APPARATUS)
    name: Name | None = None
    """Name by which gates call it."""
    elevation: Rise = 0.0
    """Height of its ground above the floor, down to which its solids reach [m]."""

    @check
    def _one_apparatus(self) -> Checks:
        yield from exactly_one(self, self.kinds)

    @property
    def apparatus(self) -> Apparatus:
        """Apparatus that the piece gives."""
        return given_one(self, self.kinds)


_LooseKinds: Any = create_model("_LooseKinds", __base__=LanePiece, **piece_fields(LOOSE_APPARATUS))


class Piece(_LooseKinds):
    """One apparatus anywhere on the floor."""

    kinds: ClassVar[tuple[str, ...]] = tuple(LOOSE_APPARATUS)
    place: FloorPlace = FloorPlace()
    """Middle of its entrance, and the direction into which it leads."""
    width: Length = 1.2
    """Width across [m]."""


class LaneWalls(Spec):
    """Walls of a lane."""

    height: Length = 0.4
    """Height above the ground driven on between them [m]."""
    left: bool = True
    right: bool = True
    start: bool = True
    """True if one closes the lane at its entrance."""
    end: bool = True
    """True if one closes it at its far end."""


class Lane(Spec):
    """Pieces one after another, between walls."""

    width: Length
    """Width between the walls [m]; 0.3, 0.6, 1.2 or 2.4 in the test methods."""
    place: FloorPlace = FloorPlace()
    """Middle of its entrance, and the direction into which it leads."""
    walls: LaneWalls | None = LaneWalls()
    """None for a lane without walls (`null`)."""
    pieces: Annotated[tuple[LanePiece, ...], Field(min_length=1)]


class Layout(Spec):
    """Floor and the pieces on it: a course's, or the ground of anything else that drives."""

    friction: Friction = 1.0
    """Coulomb friction of the floor, and of pieces without their own [-]."""
    soil: SoilName | None = None
    """Published soil of the floor; rigid if not given."""
    lanes: tuple[Lane, ...] = ()
    terrain: tuple[Piece, ...] = ()
    """Pieces on the floor beside lanes."""
