"""The path of a belt, as a vehicle file gives it."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Annotated

from pydantic import AfterValidator, Field

from segtrack.description.base import (
    Angle,
    Checks,
    Name,
    Number,
    Positive,
    Spec,
    UnknownPartError,
    check,
    exactly_one,
    given_one,
    not_zero,
)
from segtrack.errors import InvalidValueError, Problem
from segtrack.geometry import BeltPath, Pulley, chain_segments, wrap_belt


class PulleySpec(Spec):
    """A pulley of a path, in the track plane."""

    name: Name | None = None
    """By which a chain says what drives and what tensions it."""
    x: Number
    """Centre, forward [m]."""
    z: Number
    """Centre, up [m]."""
    radius: Positive
    """Radius to the outer face of the belt, grousers not included [m]."""


class LineSpec(Spec):
    """A straight piece of a path."""

    length: Positive
    """Along the belt [m]."""


class ArcSpec(Spec):
    """A circular piece of a path."""

    radius: Positive
    """Radius of the belt's outer face [m]."""
    turn: Annotated[Angle, AfterValidator(not_zero)]
    """Turn about +y [rad]; negative bends inwards."""


class SegmentSpec(Spec):
    """One piece of an explicit path: a line or an arc."""

    line: LineSpec | None = None
    arc: ArcSpec | None = None

    @check
    def _one_kind(self) -> Checks:
        yield from exactly_one(self, ("line", "arc"))


class PathSpec(Spec):
    """The belt's outer face: around convex pulleys, or along explicit segments."""

    pulleys: tuple[PulleySpec, ...] | None = Field(default=None, min_length=1)
    """Pulleys in any order; the belt is their convex hull."""
    segments: tuple[SegmentSpec, ...] | None = Field(default=None, min_length=1)
    """Pieces in the order in which a belt that drives forward passes them: backward along the ground."""
    start: tuple[Number, Number] = (0.0, 0.0)
    """First point (x, z) of explicit segments [m]."""
    heading: Angle = math.pi
    """Direction of travel at `start`, about +y [rad]; pi runs backward along the ground."""

    @check
    def _one_way(self) -> Checks:
        yield from exactly_one(self, ("pulleys", "segments"))

    @check
    def _names_differ(self) -> Checks:
        seen = set[str]()
        for i, pulley in enumerate(self.pulleys or ()):
            if pulley.name is not None and pulley.name in seen:
                yield Problem(f"pulleys[{i}].name", f"must differ from the others', got {pulley.name!r}")
            seen |= {pulley.name} if pulley.name is not None else set()

    @check
    def _no_start_of_pulleys(self) -> Checks:
        if self.pulleys is not None and {"start", "heading"} & self.model_fields_set:
            yield Problem("", "must not have start or heading beside pulleys")

    @check
    def _closes(self) -> Checks:
        try:
            self._build()
        except InvalidValueError as error:
            yield Problem("pulleys" if self.pulleys is not None else "segments", error.complaint)

    @cached_property
    def belt_path(self) -> BeltPath:
        """The path as geometry."""
        try:
            return self._build()
        except InvalidValueError:
            raise UnknownPartError("belt_path") from None

    def _build(self) -> BeltPath:
        given = given_one(self, ("pulleys", "segments"))
        if self.pulleys is not None:
            return wrap_belt([Pulley(p.x, p.z, p.radius) for p in self.pulleys])
        pieces = []
        for segment in given:
            piece = given_one(segment, ("line", "arc"))
            pieces.append((piece.length, None) if isinstance(piece, LineSpec) else (piece.radius, piece.turn))
        return BeltPath(chain_segments(self.start, self.heading, pieces))
