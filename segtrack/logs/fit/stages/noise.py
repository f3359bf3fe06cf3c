"""How rough a simulation is as a function of its parameters, and by how much to change them for a derivative.

A belt touches a step's edge one time step earlier or later, and everything after that comes out a little
different: between such events the simulation is smooth, across them it jumps. Differences over less than the
distance of two events see one smooth piece, whose slope is not that of the whole. The noise is therefore
measured over `SPACINGS` at which there are many events, by the differences of a row of points (Moré and
Wild 2011, section 4), and derivatives are differences over what balances it against the curvature (Moré and
Wild 2012, section 2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.logs.fit.simulated.evaluate import Evaluator

Array = NDArray[np.float64]
SPACINGS = (1e-4, 1e-3, 5e-3)
"""Distances of the points, as shares of the unknowns' ranges [-]; the roughest of them counts."""
POINTS = 7
"""In a row."""
_ALIKE = 4.0
"""Estimates by differences of three orders agree on the noise if they differ by no more than this factor."""
_CURVED = (0.02, 0.05, 0.1)
"""Distances over which curvatures are looked for, the first that tells one from the noise counts [-]."""
SMALLEST, LARGEST = 1e-3, 0.05
"""Steps of derivatives [-]."""


@dataclass(frozen=True)
class Noise:
    """How rough a fit's simulations are.

    Attributes:
        level: Root mean square over all residuals, in their standard deviations [-].
        cost: The same of the sum of all squared residuals [-].
        spacing: At which it is that large, as a share of the unknowns' ranges [-].
        steps: By which each unknown is changed for a derivative, as a share of its range (p,) [-].
    """

    level: float
    cost: float
    spacing: float
    steps: tuple[float, ...]


def measure_noise(evaluator: Evaluator, point: Array, seed: int) -> Noise:
    """Measure the noise around a point (p,) of the scaled unknowns, along a random direction."""
    direction = np.random.default_rng(seed).choice([-1.0, 1.0], len(point))
    rows = {spacing: _row(point, direction * spacing) for spacing in SPACINGS}
    values = evaluator.flat([each for row in rows.values() for each in row])
    tables = [np.array(values[i * POINTS : (i + 1) * POINTS]) for i in range(len(SPACINGS))]
    level, spacing = max((noise_of_row(table), each) for table, each in zip(tables, SPACINGS, strict=True))
    cost = max(noise_of_row((table**2).sum(axis=1, keepdims=True)) for table in tables)
    steps = tuple(_step(evaluator, point, i, level) for i in range(len(point)))
    return Noise(level, cost, spacing, steps)


def noise_of_row(values: Array) -> float:
    """Noise of functions by their values at equally spaced points (m, n), root mean square over n.

    The k-th difference of a smooth function falls with k, that of noise of standard deviation e has the
    mean square e^2 (2 k)! / (k!)^2. Of the first three orders that agree the highest counts, in which least
    of the function is left; if none agree, the highest of all.
    """
    levels, differences = [], values
    for k in range(1, len(values)):
        differences = np.diff(differences, axis=0)
        squares = float((differences**2).mean())
        levels.append(math.sqrt(squares * math.factorial(k) ** 2 / math.factorial(2 * k)))
    for three in zip(levels, levels[1:], levels[2:], strict=False):
        if max(three) <= _ALIKE * min(three):
            return three[-1]
    return levels[-1]


def _row(point: Array, step: Array) -> list[Array]:
    """Points around one, moved into the bounds as a whole."""
    ends = [point - step * (POINTS - 1) / 2, point + step * (POINTS - 1) / 2]
    low, high = np.minimum(*ends), np.maximum(*ends)
    shift = np.maximum(0.0 - low, 0.0) + np.minimum(1.0 - high, 0.0)
    return [point + shift + step * (i - (POINTS - 1) / 2) for i in range(POINTS)]


def _step(evaluator: Evaluator, point: Array, i: int, level: float) -> float:
    """Step of one unknown: that of a forward difference, over which a central one errs less."""
    curvature = 0.0
    for width in _CURVED:
        middle = point.copy()
        middle[i] = min(max(middle[i], width), 1.0 - width)
        sides = [middle.copy(), middle.copy()]
        sides[0][i] -= width
        sides[1][i] += width
        before, here, after = evaluator.flat([sides[0], middle, sides[1]])
        second = math.sqrt(float(((before - 2 * here + after) ** 2).mean()))
        # Noise alone has a second difference of sqrt(6) times its level.
        curvature = second / width**2
        if second > 2 * math.sqrt(6) * level:
            break
    if curvature == 0.0:
        return LARGEST
    return min(max(8**0.25 * math.sqrt(level / curvature), SMALLEST), LARGEST)
