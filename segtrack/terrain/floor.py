"""Flat ground, and what stands on it or opens in it.

Upright obstacles are boxes, since box against box is Bullet's fastest and most
exact contact. What has an edge flatter than a right angle (the top of a ramp)
is one convex prism, never two solids that meet at this edge: a grouser that
slides from one to the other, a few micrometres deep, would be stopped dead by
the second one's hidden face. For the same reason no flat surface is pieced
together, and flanks run on below the ground.
"""

from __future__ import annotations

from collections.abc import Sequence

from segtrack.terrain.solids import Box, Prism, Solid

FLOOR_REACH = 50.0
"""How far the floor goes on before and behind the world's origin, and to each side [m]."""

FLOOR_DEPTH = 1.0
"""How thick a floor is [m]; boxes on it are sunk half as deep."""

ROOT_DEPTH = 0.05
"""How far sloping flanks run on below the ground [m]."""


def floor() -> tuple[Solid, ...]:
    """Return flat ground at z = 0; the one place that decides how it is built.

    A plane (`HalfSpace()`) would be cheaper, but Bullet keeps a single
    contact point for a flat grouser on a plane, always at the same corner,
    which a box makes four.
    """
    return (floor_piece(-FLOOR_REACH, FLOOR_REACH),)


def floor_piece(x_min: float, x_max: float, top: float = 0.0, depth: float = FLOOR_DEPTH) -> Box:
    """Return flat ground from `x_min` to `x_max`, over the floor's whole width [m]."""
    return block(x_min, x_max, -FLOOR_REACH, FLOOR_REACH, top, depth)


def standing(x_min: float, x_max: float, width: float, top: float) -> Box:
    """Return a block on the floor, across y = 0, sunk into the ground [m]."""
    return block(x_min, x_max, -width / 2, width / 2, top, top + FLOOR_DEPTH / 2)


def block(x_min: float, x_max: float, y_min: float, y_max: float, top: float, depth: float) -> Box:
    """Return an upright box that reaches from `top` down by `depth` [m]."""
    return Box(
        center_in_world=((x_min + x_max) / 2, (y_min + y_max) / 2, top - depth / 2),
        half_extents=((x_max - x_min) / 2, (y_max - y_min) / 2, depth / 2),
    )


def mound(outline: Sequence[tuple[float, float]], width: float) -> Prism:
    """Return a convex mound across y = 0, whose flanks run on below the ground.

    Args:
        outline: World x and z of its corners above ground from front to back [m]; the
            first and the last have z = 0.
        width: Extent along y [m].

    Returns:
        The mound.
    """
    front = run_on(outline[1], outline[0])
    back = run_on(outline[-2], outline[-1])
    return Prism((front, back, *reversed(outline[1:-1])), width)


def run_on(upper: tuple[float, float], lower: tuple[float, float]) -> tuple[float, float]:
    """Return the point where a flank from `upper` to `lower`, x and z [m], ends below the ground."""
    beyond = ROOT_DEPTH / (upper[1] - lower[1])
    return (lower[0] + beyond * (lower[0] - upper[0]), lower[1] - ROOT_DEPTH)
