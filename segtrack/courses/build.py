"""From a course file to a course: the ground, and the rules of a repetition on it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from segtrack.courses.course import Course, Setting, Start, Zone
from segtrack.courses.file import CourseFile, Gate
from segtrack.courses.ground import Frame, LaidPiece, Site, build_ground, lay_out, zone_at


def build_course(file: CourseFile, name: str, value: float | None, source: str) -> Course:
    """Build a course.

    Args:
        file: With the setting's value in its places.
        name: Of the course.
        value: Of the setting; None if there is none.
        source: Text of the file.

    Returns:
        The course.
    """
    site = lay_out(file)
    start, gates = _start(file, site), tuple(gates_of(file, site))
    setting = None
    if file.setting is not None and value is not None:
        setting = Setting(file.setting.name, file.setting.unit, file.setting.values, value)
    return Course(
        name=name,
        title=file.title,
        description=file.description,
        kind=file.kind,
        terrains=build_ground(file, name),
        start=start,
        gates=gates,
        walls=site.walls,
        bounds=_bounds(site.pieces, gates, file.margin),
        lowest=file.lowest,
        distance=_distance(start, gates),
        setting=setting,
        lane_width=min((lane.width for lane in file.lanes), default=None),
        vehicle=file.vehicle,
        time_limit=file.time_limit,
        source=source,
    )


def _start(file: CourseFile, site: Site) -> Start:
    if file.start is not None:
        return Start(*Frame.of(file.start))
    zone = site.lanes[0][0].zone()
    return Start(zone.x, zone.y, zone.yaw)


def gates_of(file: CourseFile, site: Site) -> Iterator[Zone]:
    """The gates of a repetition, in order."""
    if not file.gates:
        yield from (site.lanes[-1][-1].zone(), site.lanes[0][0].zone())
    named = {laid.piece.name: laid for laid in site.pieces}
    for gate in file.gates:
        yield named[gate.piece].zone(gate.inset) if gate.piece is not None else _rectangle(gate)


def _rectangle(gate: Gate) -> Zone:
    assert gate.place is not None
    return zone_at(Frame.of(gate.place), gate.length, gate.width, gate.elevation)


def _bounds(pieces: Sequence[LaidPiece], gates: Sequence[Zone], margin: float) -> Zone:
    """Around all pieces and gates, along the world's axes."""
    corners = [corner for laid in pieces for corner in laid.corners()]
    for gate in gates:
        middle = Frame(gate.x, gate.y, gate.yaw)
        ends = [(a * gate.length / 2, b * gate.width / 2) for a in (-1, 1) for b in (-1, 1)]
        corners += [middle.at(*end)[:2] for end in ends]
    low, high = np.min(corners, axis=0) - margin, np.max(corners, axis=0) + margin
    (x, y), (length, width) = ((low + high) / 2).tolist(), (high - low).tolist()
    return Zone(x, y, 0.0, length, width)


def _distance(start: Start, gates: Sequence[Zone]) -> float:
    """From the start to each gate's middle in turn, and from the last one to the start [m]."""
    places = [(start.x, start.y), *((gate.x, gate.y) for gate in gates), (start.x, start.y)]
    return sum(math.dist(a, b) for a, b in zip(places, places[1:], strict=False))
