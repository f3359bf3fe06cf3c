"""Sensors, clocks of sources, and trials of a log, as a mapping file gives them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from segtrack.description import (
    Angle,
    Checks,
    NonNegative,
    Number,
    Positive,
    Spec,
    Vector,
    check,
    exactly_one,
)
from segtrack.errors import Problem
from segtrack.logs.clocks import Seen
from segtrack.logs.mapping.quantities import Quantities
from segtrack.logs.mapping.references import Numbers, Text


class Sensor(Spec):
    """Position and orientation of a sensor."""

    xyz: Vector = (0.0, 0.0, 0.0)
    """Its place in the body frame [m]."""
    rpy: tuple[Angle, Angle, Angle] = (0.0, 0.0, 0.0)
    """Its frame in the body frame: roll, pitch (nose down positive, as in vehicle files) and yaw [rad]."""
    world_rpy: tuple[Angle, Angle, Angle] = (0.0, 0.0, 0.0)
    """The frame that its positions and orientations are in, in one whose z is up, likewise: [3.1416, 0, 0]
    for one whose z is down, [1.5708, 0, 0] for one whose y is up."""


class Split(Spec):
    """Trials of one log, each mapped by itself."""

    windows: Annotated[tuple[tuple[NonNegative, Positive], ...], Field(min_length=1)] | None = None
    """Begin and end of each, from the beginning of the log [s]."""
    channel: Text | None = None
    """Channel that numbers them, instead: rows that follow each other with one number are a trial."""
    missing: Numbers = ()
    """Numbers of that channel that mean none: rows between trials."""

    @check
    def _one_way(self) -> Checks:
        yield from exactly_one(self, ("windows", "channel"))
        if self.windows is not None and self.missing:
            yield Problem("missing", "must be left out beside windows")

    @check
    def _windows_ascend(self) -> Checks:
        edges = [edge for window in self.windows or () for edge in window]
        if any(low > high for low, high in zip(edges, edges[1:], strict=False)) or any(
            begin == end for begin, end in self.windows or ()
        ):
            yield Problem(
                "windows", f"must ascend and not overlap, got {[list(w) for w in self.windows or ()]}"
            )


class SourceClock(Spec):
    """Times of a source, and their alignment with the log's clock."""

    clock: Literal["header", "receive"] | None = None
    """Stamps in messages' headers, put on the clock of receiving, or times of receiving; stamps if there."""
    time: Text | None = None
    """A channel of the source with its times, instead of both."""
    unit: Literal["s", "ms", "us", "ns"] = "s"
    """Unit of that channel."""
    sort: Annotated[bool, Field(strict=True)] = False
    """Put its rows in order of their times, those of one time as they come."""
    align: Text | None = None
    """Source on whose clock it is put, by what both see."""
    by: Seen | None = None
    """Motion that both measure; the most informative one if not given."""
    sees: Quantities | None = None
    """Further quantities that the source measures, used for its clock alone."""
    offset: Number | None = None
    """Offset added to its times [s], instead of align."""
    skew: Number = 0.0
    """Rate by which its clock runs slow, as a ratio; added, times the time since its start."""

    @check
    def _one_way(self) -> Checks:
        if self.align is not None and (self.offset is not None or self.skew != 0):
            yield Problem("align", "must not be given beside offset or skew")
        if self.align is None and self.by is not None:
            yield Problem("by", "must be left out without align")
        if self.time is not None and self.clock is not None:
            yield Problem("time", "must not be given beside clock")

    @check
    def _sees_channels(self) -> Checks:
        for path, _ in () if self.sees is None else self.sees.constants():
            yield Problem(f"sees.{path}", "must be a channel: a constant shows nothing of a clock")
