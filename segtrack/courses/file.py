"""Content of a course file: the layout of the ground, and the rules of a repetition on it."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from segtrack.courses.course import Kind
from segtrack.courses.layout import FloorPlace, Layout
from segtrack.courses.pieces import Length, Rise
from segtrack.description import bundled_vehicles
from segtrack.description.base import Checks, Name, Number, Positive, Spec, check, exactly_one, known
from segtrack.errors import Problem


def _bundled(vehicle: str) -> str:
    if vehicle not in bundled_vehicles():
        there = ", ".join(bundled_vehicles())
        raise ValueError(f"must be a bundled vehicle, got {vehicle!r}; there are: {there}")
    return vehicle


Text = Annotated[str, Field(strict=True, min_length=1)]


class Gate(Spec):
    """A zone through which a repetition leads: a piece, or a rectangle."""

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
    """Setting that is raised: the number that takes the place of the word `setting` in lanes and terrain."""

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
    """A course file."""

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
