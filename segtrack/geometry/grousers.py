"""Places of the grousers on a belt, and phase of its travel (Okada et al. 2020, section III)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from segtrack.geometry.path import BeltPath


def wrap_travel(travel: float, period: float) -> float:
    """Fold belt travel into one period, centred on zero.

    A belt whose grousers repeat every `period` looks the same at `travel` and at
    `travel - period`; segment joints are therefore kept within half a period of
    home (Okada et al. 2020, section III-C, centred here so that grousers leave a
    segment's two ends equally far).

    Args:
        travel: Belt travel since the start [m], any sign.
        period: Distance after which the belt's pattern repeats [m], > 0.

    Returns:
        The equivalent travel in [-period/2, period/2) [m].
    """
    return travel - period * math.floor(travel / period + 0.5)


@dataclass(frozen=True)
class Footprint:
    """Place of one grouser on the belt at home: belt coordinate and segment.

    Attributes:
        index: Number of the grouser, counted along the belt.
        coordinate: Belt coordinate of its middle when the belt is at home, in one round [m].
        segment: Index of the segment that carries it.
        along: Belt coordinate from that segment's start [m]. Outside of the segment it continues straight
            for a line, and on the arc's circle for an arc.
    """

    index: int
    coordinate: float
    segment: int
    along: float


def place_grousers(path: BeltPath, count: int, shapes: int = 1) -> tuple[Footprint, ...]:
    """Spread `count` grousers over a path, L/N apart, symmetric about the ground segment's middle.

    A grouser of a neighbouring arc that passed its lowest point would lift the vehicle
    by the height of its tip's corner, and drop it at the roll-back. A belt moves by half
    a period either way. So the ground segment carries all grousers that stand, at home, within
    half a period and a quarter of a pitch of its ends; with one shape these reach
    at most a quarter of a pitch beyond them. The others never get to the ground line.

    Args:
        path: Belt path, along its outer face.
        count: Grousers around the belt, >= 1.
        shapes: Number of grousers after which their shapes repeat, a divisor of `count`.

    Returns:
        One footprint a grouser, in belt order, those of the segment on the ground first.
    """
    pitch = path.perimeter / count
    ground = path.ground
    length = path.segments[ground].length
    carried = count if len(path.segments) == 1 else min(round(length / pitch) + shapes, count)
    first = (length - (carried - 1) * pitch) / 2
    footprints = []
    for n in range(count):
        along = first + n * pitch
        coordinate = (float(path.starts[ground]) + along) % path.perimeter
        segment = ground if n < carried else int(path.segment_of(coordinate))
        if n >= carried:
            along = coordinate - float(path.starts[segment])
        footprints.append(Footprint(n, coordinate, segment, along))
    return tuple(footprints)
