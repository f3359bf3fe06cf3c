"""Pulleys of a belt around circles, and pulleys fitted to the convex outline of a shape.

The outline of points or circles in the track plane is their support function: for each direction u(a) = (cos
a, sin a) the farthest extent h(a) = max_i (c_i . u + r_i). A belt around pulleys has the same form, so that
pulleys are fitted by least squares on h; the greatest difference of the two h is the greatest distance of the
outlines.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from segtrack.errors import InvalidValueError
from segtrack.geometry import Pulley, arcs_of, wrap_belt, wrap_hull

Array = NDArray[np.float64]
_WAYS = 240
"""Directions in which outlines are compared for a fit."""
_FINE = 10
"""Directions in which a fitted outline's distance is told, per direction of the fit: a curved outline is the
farthest from a line of the belt at the line's own direction, which may lie between those of the fit."""
_MOST_PULLEYS = 7
"""Most pulleys that are fitted to an outline."""
_TOLERANCE, _SHARE, _LARGEST = 3e-3, 0.01, 5e-3
"""Distance within which a fitted outline is close enough: in metres, and over the outline's length [-], of
which the larger counts; but at most the third, in metres."""
_LEAST_RADIUS = 0.1
"""Smallest radius of a fitted pulley over the outline's height [-]."""
_APART = 1e-3
"""Fitted pulleys are this far apart, over the outline's length [-]."""
_HARD = 30.0
"""Weight of an overlap of pulleys, over that of the outlines' distance [-]."""
_BENDS = 2e-3
"""Least bend of the belt around a wheel that is made a pulley [rad]."""

_ANGLES = np.linspace(0.0, 2 * np.pi, _WAYS, endpoint=False)
_DIRECTIONS = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)])


class PulleyOutline(NamedTuple):
    """Convex outline as pulleys.

    Attributes:
        pulleys: Circles whose hull it is.
        error: Greatest distance from what was outlined [m].
    """

    pulleys: tuple[Pulley, ...]
    error: float


def support(circles: Array) -> Array:
    """Support function (ways,) of circles with rows x, z, radius (n, 3) [m]; points have radius 0."""
    return (circles[:, :2] @ _DIRECTIONS + circles[:, 2:]).max(axis=0)


def outline_of(circles: Array) -> PulleyOutline:
    """Outline of circles and points with rows x, z, radius (n, 3) [m].

    It is exact where the hull's circles can be pulleys, which points within it do not change. Circles that
    overlap a little are made smaller until they do not; else pulleys are fitted.
    """
    round_ones = [Pulley(*row) for row in circles[circles[:, 2] > 0].tolist()]
    extent = support(circles)
    length = float((extent[: _WAYS // 2] + extent[_WAYS // 2 :]).max())
    if round_ones:
        pulleys = _apart(_around(round_ones))
        error = float(np.abs(support(_rows(pulleys)) - extent).max())
        if error < _tolerance(length) and _is_belt(pulleys):
            return PulleyOutline(pulleys, _distance(circles, pulleys))
    pulleys = fit_pulleys(tuple(extent.tolist())).pulleys
    return PulleyOutline(pulleys, _distance(circles, pulleys))


@lru_cache(maxsize=64)
def fit_pulleys(extents: tuple[float, ...]) -> PulleyOutline:
    """Fit the fewest pulleys to an outline given by its support function (ways,) [m].

    The fewest of one to `_MOST_PULLEYS` count whose distance is below 3 mm or 1 % of the outline's length,
    the larger of the two, but at most 5 mm; where none is, those of the smallest distance.
    """
    extent = np.array(extents)
    widths = extent[: _WAYS // 2] + extent[_WAYS // 2 :]
    length, height = float(widths.max()), float(widths.min())
    best: PulleyOutline | None = None
    start = _two_ends(extent)
    for count in range(1, _MOST_PULLEYS + 1):
        fitted = min(
            (_fitted(extent, circles, length, height) for circles in _starts(extent, start, count, height)),
            key=lambda outline: outline.error,
        )
        if count > 1:
            start = _rows(fitted.pulleys)
        if (best is None or fitted.error < best.error) and _is_belt(fitted.pulleys):
            best = fitted
            if best.error < _tolerance(length):
                break
    assert best is not None  # One pulley is always a belt.
    return best


def _distance(circles: Array, pulleys: Sequence[Pulley]) -> float:
    """Greatest distance between the outlines of circles with rows x, z, radius (n, 3) and of pulleys [m]."""
    fitted, worst = _rows(pulleys), 0.0
    for turn in np.arange(_FINE) * 2 * np.pi / _WAYS / _FINE:
        cos, sin = math.cos(turn), math.sin(turn)
        back = np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
        worst = max(worst, float(np.abs(support(circles @ back) - support(fitted @ back)).max()))
    return worst


def _tolerance(length: float) -> float:
    """Distance from an outline of a length within which pulleys are close enough to it [m]."""
    return min(max(_TOLERANCE, _SHARE * length), _LARGEST)


def moved_out(outline: PulleyOutline, by: float) -> PulleyOutline:
    """Outline that lies farther out by a length, or farther in by a negative one [m]."""
    moved = outline_of(_rows([Pulley(p.x, p.z, p.radius + by) for p in outline.pulleys]))
    return moved._replace(error=outline.error + moved.error)


def _apart(circles: Sequence[Pulley]) -> tuple[Pulley, ...]:
    """Circles that are made smaller where they overlap, both by half of that."""
    radii = [circle.radius for circle in circles]
    for i, j in itertools.combinations(range(len(circles)), 2):
        one, other = circles[i], circles[j]
        overlap = one.radius + other.radius - math.dist((one.x, one.z), (other.x, other.z))
        if overlap > 0:
            half = overlap / 2 + 1e-6
            radii[i], radii[j] = min(radii[i], one.radius - half), min(radii[j], other.radius - half)
    return tuple(Pulley(c.x, c.z, r) for c, r in zip(circles, radii, strict=True) if r > 0)


def _around(circles: Sequence[Pulley]) -> tuple[Pulley, ...]:
    """Circles that the taut belt around all of them bends around, each once."""
    arcs = [arc for arc in arcs_of(wrap_hull(circles)) if arc.turn >= _BENDS]
    found: list[Pulley] = []
    for arc in arcs:
        x, z = arc.center
        if not any(math.dist((p.x, p.z), (x, z)) < 1e-9 for p in found):
            found.append(Pulley(float(x), float(z), float(arc.radius)))
    return tuple(found)


def _is_belt(pulleys: Sequence[Pulley]) -> bool:
    try:
        wrap_belt(pulleys)
    except InvalidValueError:
        return False
    return True


def _rows(pulleys: Sequence[Pulley]) -> Array:
    return np.array([[p.x, p.z, p.radius] for p in pulleys])


def _two_ends(extent: Array) -> Array:
    """Two circles (2, 3) at the ends of an outline, across whose length they reach."""
    widths = extent[: _WAYS // 2] + extent[_WAYS // 2 :]
    across = int(widths.argmin())
    along = (across + _WAYS // 4) % _WAYS
    radius = widths[across] / 2
    middle = _DIRECTIONS[:, across] * (extent[across] - radius)
    way = _DIRECTIONS[:, along]
    ahead, behind = extent[along] - radius, extent[(along + _WAYS // 2) % _WAYS] - radius
    return np.array([[*(middle + way * ahead), radius], [*(middle - way * behind), radius]])


def _starts(extent: Array, before: Array, count: int, height: float) -> Iterator[Array]:
    """Yield circles (count, 3) that a fit may start from; those for one less are `before`."""
    if count == 1:
        radius = float(extent.mean())
        yield np.array([[2 * (extent * _DIRECTIONS[0]).mean(), 2 * (extent * _DIRECTIONS[1]).mean(), radius]])
    elif count == 2:
        yield before
    else:
        lacking = extent - support(before)
        peaks = [
            k
            for k in range(_WAYS)
            if lacking[k] > 0 and lacking[k] >= max(lacking[k - 1], lacking[(k + 1) % _WAYS])
        ]
        for k in sorted(peaks, key=lambda k: -lacking[k])[:4] or [int(lacking.argmax())]:
            radius = height / 4
            # The point of the outline with this normal: h u + h' t.
            slope = (extent[(k + 1) % _WAYS] - extent[k - 1]) * _WAYS / (4 * np.pi)
            normal, tangent = _DIRECTIONS[:, k], np.array([-_DIRECTIONS[1, k], _DIRECTIONS[0, k]])
            place = (extent[k] - radius) * normal + slope * tangent
            for share in (1.0, 0.5):
                old = before * (1.0, 1.0, share)
                yield np.vstack([old, [*place, radius * share]])


def _fitted(extent: Array, start: Array, length: float, height: float) -> PulleyOutline:
    """Outline fitted from a start (n, 3)."""
    n, least = len(start), _LEAST_RADIUS * height
    pairs = list(itertools.combinations(range(n), 2))

    def overlaps(circles: Array) -> Array:
        apart = [math.dist(circles[i, :2], circles[j, :2]) for i, j in pairs]
        reach = [circles[i, 2] + circles[j, 2] + _APART * length for i, j in pairs]
        return np.maximum(0.0, np.array(reach) - np.array(apart))

    def residuals(values: Array) -> Array:
        circles = values.reshape(n, 3)
        return np.concatenate([support(circles) - extent, _HARD * overlaps(circles)]) / length

    def slopes(values: Array) -> Array:
        circles = values.reshape(n, 3)
        touched = (circles[:, :2] @ _DIRECTIONS + circles[:, 2:]).argmax(axis=0)
        found = np.zeros((_WAYS + len(pairs), n, 3))
        found[np.arange(_WAYS), touched, :2] = _DIRECTIONS.T
        found[np.arange(_WAYS), touched, 2] = 1.0
        for row, ((i, j), overlap) in enumerate(zip(pairs, overlaps(circles), strict=True), start=_WAYS):
            if overlap > 0:
                way = circles[j, :2] - circles[i, :2]
                way = way / max(float(np.hypot(*way)), 1e-12)
                found[row, i], found[row, j] = _HARD * np.array([*way, 1.0]), _HARD * np.array([*-way, 1.0])
        return found.reshape(len(found), -1) / length

    begin = start.copy()
    begin[:, 2] = np.clip(begin[:, 2], 1.01 * least, height)
    low, high = np.tile([-np.inf, -np.inf, least], n), np.tile([np.inf, np.inf, 1.01 * length], n)
    solved = least_squares(residuals, begin.ravel(), slopes, bounds=(low, high), x_scale=length, max_nfev=200)
    circles = solved.x.reshape(n, 3)
    pulleys = tuple(Pulley(*row) for row in circles.tolist())
    return PulleyOutline(pulleys, float(np.abs(support(circles) - extent).max()))
