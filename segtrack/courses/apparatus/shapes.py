"""Solids in the frame of a piece.

What has an edge flatter than a right angle is one solid, never two that meet there: a grouser a
little below the surface would run into the second one's hidden face. For the same reason slopes that
end on the ground run on below it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from segtrack.terrain.floor import ROOT_DEPTH, block
from segtrack.terrain.solids import Box, Hull

Point = tuple[float, float]


def standing(x: Point, y: Point, top: float, root: float) -> Box:
    """An upright box between two x and two y, from `root` below the ground to `top` above it [m]."""
    return block(*x, *y, top, top + root)


def turned(center: Point, size: Point, yaw: float, top: float, root: float) -> Box:
    """An upright box around a place, its length and width [m] turned by a yaw [rad]."""
    depth = top + root
    return Box(
        (*center, top - depth / 2),
        (size[0] / 2, size[1] / 2, depth / 2),
        (0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2)),
    )


def drawn_out(outline: Sequence[Point], y: Point) -> Hull:
    """A convex outline, x and z [m], drawn out between two y [m]."""
    return Hull(np.array([(x, side, z) for side in y for x, z in outline]))


def slope(start: float, end: float, rise: float, top: float, y: Point, root: float, down: bool) -> Hull:
    """A slope between two x up to `rise`, a level top of a length, and as much of a slope down or a face [m].

    Slopes go on below the ground.
    """
    run = end - start
    foot, back = ROOT_DEPTH * run / rise, end + top
    upper = [(start - foot, -ROOT_DEPTH), (end, rise), (back, rise)]
    if down:
        upper.append((back + run + foot, -ROOT_DEPTH))
    return drawn_out([*upper, (upper[0][0], -root), (upper[-1][0], -root)], y)


def roof(plan: Sequence[Point], heights: Sequence[float], root: float) -> Hull:
    """A solid under corners at places in plan and heights [m], which are those of something convex."""
    top = [(x, y, height) for (x, y), height in zip(plan, heights, strict=True)]
    return Hull(np.unique(np.array([*top, *((x, y, -root - ROOT_DEPTH) for x, y in plan)]), axis=0))


def clip(polygon: Sequence[Point], normal: Point, offset: float) -> list[Point]:
    """The part of a convex polygon where normal . point <= offset."""
    depths = [normal[0] * x + normal[1] * y - offset for x, y in polygon]
    kept: list[Point] = []
    for i, (x, y) in enumerate(polygon):
        j = (i + 1) % len(polygon)
        if depths[i] <= 0:
            kept.append((x, y))
        if depths[i] * depths[j] < 0:
            share = depths[i] / (depths[i] - depths[j])
            kept.append((x + share * (polygon[j][0] - x), y + share * (polygon[j][1] - y)))
    return kept


def rectangle(x: Point, y: Point) -> list[Point]:
    """The corners of a rectangle between two x and two y [m]."""
    return [(x[0], y[0]), (x[1], y[0]), (x[1], y[1]), (x[0], y[1])]


def ridge(field: Sequence[Point], crest: float, half: float, slope: float, turn: float, root: float) -> Hull:
    """A ridge within a convex field in plan, whose slopes go on below the ground.

    Args:
        field: Corners of the field [m].
        crest: Where the crest is along the direction `turn` from the frame's origin [m].
        half: From the crest to either foot [m].
        slope: Of both sides [rad].
        turn: Of the direction that crosses the ridge, from the x axis [rad].
        root: How far it reaches below the ground [m].
    """
    across = math.cos(turn), math.sin(turn)
    back = -across[0], -across[1]
    reach = half + ROOT_DEPTH / math.tan(slope)
    strip = clip(clip(field, across, crest + reach), back, reach - crest)
    plan = [*clip(strip, across, crest), *clip(strip, back, -crest)]
    offsets = [abs(across[0] * x + across[1] * y - crest) for x, y in plan]
    return roof(plan, [(half - offset) * math.tan(slope) for offset in offsets], root)
