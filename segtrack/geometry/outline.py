"""The two faces of a belt as polygons in its track plane, for drawings."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from segtrack.geometry.path import Arc, BeltPath, normal_of


def inner_outline(path: BeltPath, thickness: float) -> NDArray[np.float64]:
    """The belt's inner face (n, 2) in the track plane [m]."""
    along = _stations(path)
    return path.point(along) - thickness * normal_of(path.heading(along))


def outer_outline(path: BeltPath) -> NDArray[np.float64]:
    """The belt's outer face (n, 2) in the track plane [m], station by station as `inner_outline`."""
    return path.point(_stations(path))


def _stations(path: BeltPath) -> NDArray[np.float64]:
    """Belt coordinates at which an outline is drawn: the ends of lines, arcs every 6 degrees."""
    pieces = []
    for start, segment in zip(path.starts, path.segments, strict=False):
        count = 2 + int(abs(segment.turn) / math.radians(6)) if isinstance(segment, Arc) else 2
        pieces.append(start + np.linspace(0, segment.length * (1 - 1e-9), count))
    return np.concatenate(pieces)
