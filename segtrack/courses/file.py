"""What a course file holds: the rules of a course, its lanes and what else stands on its floor."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from functools import cached_property
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field, WithJsonSchema

from segtrack.courses.apparatus.base import SETTING, Apparatus, Length, Place, Rise, Turn
from segtrack.courses.apparatus.hurdles import ConfinedSpace, Hurdle, KRails
from segtrack.courses.apparatus.plain import Bed, Flat, Gap, Ramp, Stairs, Step
from segtrack.courses.apparatus.posts import StepField
from segtrack.courses.apparatus.tilted import ContinuousRamps, CrossingRamps
from segtrack.courses.apparatus.upright import Doorway, Wall
from segtrack.courses.course import Kind
from segtrack.description import bundled_vehicles
from segtrack.description.base import (
    Checks,
    Name,
    NonNegative,
    Number,
    Positive,
    Spec,
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


def _bundled(vehicle: str) -> str:
    if vehicle not in bundled_vehicles():
        there = ", ".join(bundled_vehicles())
        raise ValueError(f"must be a bundled vehicle, got {vehicle!r}; there are: {there}")
    return vehicle


Text = Annotated[str, Field(strict=True, min_length=1)]
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


class Gate(Spec):
    """A zone through which a repetition leads: a piece, or a rectangle."""

    piece: Name | None = None
    """Name of a piece."""
    place: Pose | None = None
    """The rectangle's middle."""
    length: Length = 1.0
    """Of the rectangle, along its x axis [m]."""
    width: Length = 1.0
    """Of the rectangle [m]."""
    elevation: Rise = 0.0
    """Of the ground in the rectangle [m]."""
    inset: Rise = 0.0
    """How far from the ends of a piece the body frame must be, so that the whole vehicle is on it [m]."""

    @check
    def _one_place(self) -> Checks:
        yield from exactly_one(self, ("piece", "place"))


class RaisedSetting(Spec):
    """What is raised: the number that takes the place of the word `setting` in lanes and terrain."""

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


class CourseFile(Spec):
    """A course file."""

    title: Text
    description: Text
    kind: Kind = "obstacle"
    """Rated in repetitions a minute (obstacle), or in metres a minute (terrain)."""
    vehicle: Annotated[str, Field(strict=True), AfterValidator(_bundled)] | None = None
    """Bundled vehicle that it is meant for."""
    time_limit: Positive | None = None
    """Of a trial [s]."""
    setting: RaisedSetting | None = None
    friction: Friction = 1.0
    """Of the floor, and of pieces without their own."""
    soil: SoilName | None = None
    """Of the floor; rigid if not given."""
    lanes: tuple[Lane, ...] = ()
    terrain: tuple[Piece, ...] = ()
    """What stands on the floor beside lanes."""
    start: Pose | None = None
    """The vehicle's; the middle of the first lane's first piece if not given."""
    gates: tuple[Gate, ...] = ()
    """Of one repetition, in order; the last lane's last piece and the first one's first if not given."""
    margin: Rise = 0.5
    """How far bounds reach beyond all pieces [m]."""
    lowest: Number = -0.5
    """Height of the body frame below which a vehicle has fallen [m]."""

    @cached_property
    def named_pieces(self) -> dict[str, LanePiece]:
        """Pieces that have names."""
        return {piece.name: piece for _, piece in self._pieces() if known(piece, "name", None) is not None}

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
