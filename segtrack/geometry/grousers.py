"""Where the grousers of a belt stand (Okada et al. 2020, section III-B)."""

from __future__ import annotations

from dataclasses import dataclass

from segtrack.geometry.path import BeltPath


@dataclass(frozen=True)
class Footprint:
    """The place of one grouser on the belt.

    Attributes:
        index: Which grouser of the belt, counted along it.
        coordinate: Belt coordinate of its middle when the belt is at home [m].
        segment: Index of the segment that carries it.
        along: Belt coordinate from that segment's start [m].
    """

    index: int
    coordinate: float
    segment: int
    along: float


def place_grousers(path: BeltPath, count: int) -> tuple[Footprint, ...]:
    """Spread `count` grousers over a path, L/N apart, symmetric about the middle of its first segment.

    The first segment is the one on the ground. A grouser of a neighbouring arc that
    passed its lowest point would lift the vehicle by the height of its tip's corner,
    and drop it at the roll-back. So the belt's phase is chosen (a grouser or a gap in the
    segment's middle) such that the outermost grousers of the first segment stand at
    home within a quarter of a pitch of its ends, inside or outside; then the arcs'
    grousers stay at least a quarter of a pitch clear of the ground line at any phase.

    Args:
        path: The belt.
        count: Grousers in one round, >= 1.

    Returns:
        One footprint a grouser, in belt order, the first segment's first.
    """
    pitch = path.perimeter / count
    length = path.segments[0].length
    on_first = min(round(length / pitch) + 1, count) if len(path.segments) > 1 else count
    first = (length - (on_first - 1) * pitch) / 2
    footprints = []
    for n in range(count):
        coordinate = first + n * pitch
        segment = 0 if n < on_first else int(path.segment_of(coordinate))
        folded = coordinate if n < on_first else coordinate % path.perimeter
        footprints.append(Footprint(n, coordinate % path.perimeter, segment, folded - float(path.starts[segment])))
    return tuple(footprints)
