"""Course files: keys of the ground's layout, and of the rules of a repetition."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field, WithJsonSchema, create_model

from segtrack.courses.course import Kind
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
from segtrack.description import (
    Checks,
    Name,
    NonNegative,
    Number,
    Positive,
    Spec,
    Text,
    bundled_vehicles,
    check,
    exactly_one,
    given_one,
    known,
)
from segtrack.errors import Problem, UnknownNameError
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
    """Place on the floor."""

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
        """The obstacle that this piece's keys describe."""
        return given_one(self, self.kinds)


_LooseKinds: Any = create_model("_LooseKinds", __base__=LanePiece, **piece_fields(LOOSE_APPARATUS))


class Piece(_LooseKinds):
    """One apparatus at a place on the floor."""

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
    """Consecutive pieces between walls."""

    width: Length
    """Width between the walls [m]; 0.3, 0.6, 1.2 or 2.4 in the test methods."""
    place: FloorPlace = FloorPlace()
    """Middle of its entrance, and the direction into which it leads."""
    walls: LaneWalls | None = LaneWalls()
    """None for a lane without walls (`null`)."""
    pieces: Annotated[tuple[LanePiece, ...], Field(min_length=1)]


class Layout(Spec):
    """Floor and pieces on it: a course's, or any other ground's."""

    friction: Friction = 1.0
    """Coulomb friction of the floor, and of pieces without their own [-]."""
    soil: SoilName | None = None
    """Published soil of the floor; rigid if not given."""
    lanes: tuple[Lane, ...] = ()
    terrain: tuple[Piece, ...] = ()
    """Pieces on the floor beside lanes."""


def _bundled(vehicle: str) -> str:
    if vehicle not in bundled_vehicles():
        there = ", ".join(bundled_vehicles())
        raise ValueError(f"must be a bundled vehicle, got {vehicle!r}; there are: {there}")
    return vehicle


class Gate(Spec):
    """Zone that a repetition passes: a piece, or a rectangle."""

    piece: Name | None = None
    """Name of a piece."""
    place: FloorPlace | None = None
    """The rectangle's middle."""
    length: Length = 1.0
    """Extent of the rectangle along its x axis [m]."""
    width: Length = 1.0
    """Extent of the rectangle along its y axis [m]."""
    elevation: Rise = 0.0
    """Height of the ground in the rectangle [m]."""
    inset: Rise = 0.0
    """Distance of the body frame from the ends of a piece at which the whole vehicle is on it [m]."""

    @check
    def _one_place(self) -> Checks:
        yield from exactly_one(self, ("piece", "place"))


class RaisedSetting(Spec):
    """Setting of a course: the number for the word `setting` in lanes and terrain."""

    name: Text
    unit: Text
    values: Annotated[tuple[Number, ...], Field(min_length=1)]
    """Ascending."""
    start: Number | None = None
    """The value in use if none is chosen; the lowest if not given."""

    @check
    def _ascending(self) -> Checks:
        if any(low >= high for low, high in zip(self.values, self.values[1:], strict=False)):
            yield Problem("values", f"must ascend, got {list(self.values)}")

    @check
    def _starts_at_one(self) -> Checks:
        if self.start is not None and self.start not in self.values:
            yield Problem("start", f"must be one of values {list(self.values)}, got {self.start:g}")


class CourseFile(Layout):
    """Course file."""

    title: Text
    description: Text
    kind: Kind = "obstacle"
    """Rated in repetitions a minute (obstacle), or in metres a minute (terrain)."""
    vehicle: Annotated[str, Field(strict=True), AfterValidator(_bundled)] | None = None
    """Bundled vehicle that it is meant for."""
    time_limit: Positive | None = None
    """Time limit of a trial [s]."""
    setting: RaisedSetting | None = None
    start: FloorPlace | None = None
    """The vehicle's; the middle of the first lane's first piece if not given."""
    gates: tuple[Gate, ...] = ()
    """Gates of one repetition, in order; by default the last lane's last piece and the first one's first."""
    margin: Rise = 0.5
    """Distance by which bounds reach beyond all pieces [m]."""
    lowest: Number = -0.5
    """Height of the body frame below which a vehicle has fallen [m]."""

    def _pieces(self) -> Iterator[tuple[str, Any]]:
        for i, lane in enumerate(known(self, "lanes", ())):
            for j, piece in enumerate(known(lane, "pieces", ())):
                yield f"lanes[{i}].pieces[{j}]", piece
        for i, piece in enumerate(known(self, "terrain", ())):
            yield f"terrain[{i}]", piece

    @check
    def _somewhere_to_drive(self) -> Checks:
        if not self.lanes and self.start is None:
            yield Problem("", "must have start where it has no lanes")

    @check
    def _something_to_do(self) -> Checks:
        if not self.lanes and not self.gates:
            yield Problem("", "must have gates where it has no lanes")

    @check
    def _names_are_unique(self) -> Checks:
        seen: dict[str, str] = {}
        for where, piece in self._pieces():
            name = known(piece, "name", None)
            if name is not None and name in seen:
                yield Problem(f"{where}.name", f"must be unique, got {name!r} as {seen[name]} has")
            elif name is not None:
                seen[name] = where

    @check
    def _gates_exist(self) -> Checks:
        names = {name for _, piece in self._pieces() if (name := known(piece, "name", None)) is not None}
        for i, gate in enumerate(self.gates):
            name = known(gate, "piece", None)
            if name is not None and name not in names:
                close = get_close_matches(name, names, n=1)
                hint = (
                    f"did you mean {close[0]}?"
                    if close
                    else f"there are: {', '.join(sorted(names)) or 'none'}"
                )
                yield Problem(f"gates[{i}].piece", f"is no piece's name, got {name!r}; {hint}")
