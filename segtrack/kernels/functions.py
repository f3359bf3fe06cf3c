"""Functions of one or two numbers for kernels, by sums and products alone.

Those of the processor's mathematical library differ in the last digit from one processor to the next, since
there are several for each of them. These do not. Series are Taylor's, after a reduction to where a few terms
reach the last digit; errors are within two units of it (`tests/kernels/test_functions.py`).
"""

from __future__ import annotations

import math

from segtrack.kernels.compiling import compiled, entry

_HALF_PI = 1.5707963267341256, 6.077100506506192e-11
"""Half of pi in two parts, of which the first has 33 bits: a multiple of it is exact."""
_LOG_2 = 0.6931471803691238, 1.9082149292705877e-10
"""Logarithm of 2, likewise with 32 bits."""
_PI = 3.141592653589793
_ARCTANGENTS = (
    0.0,
    0.12435499454676144,
    0.24497866312686414,
    0.35877067027057225,
    0.4636476090008061,
    0.5585993153435624,
    0.6435011087932844,
    0.7188299996216245,
    0.7853981633974483,
)
"""Arc tangents of 0, 1/8, ..., 1."""
_SQRT_HALF = 0.7071067811865476
_SINE = tuple((-1) ** k / math.factorial(2 * k + 1) for k in range(9))
_COSINE = tuple((-1) ** k / math.factorial(2 * k) for k in range(10))
_ARCTANGENT = tuple((-1) ** k / (2 * k + 1) for k in range(8))
_EXPONENTIAL = tuple(1 / math.factorial(k) for k in range(15))
_LOGARITHM = tuple(1 / (2 * k + 1) for k in range(12))
"""Terms of the series, the first ones first."""


@compiled
def series(terms: tuple[float, ...], x: float) -> float:
    """Sum of the terms of a power series in x."""
    total = 0.0
    for i in range(len(terms)):
        total = terms[len(terms) - 1 - i] + x * total
    return total


@compiled
def cosine_sine(angle: float) -> tuple[float, float]:
    """Cosine and sine of an angle [rad]."""
    quarter = math.floor(angle / _PI * 2 + 0.5)
    x = (angle - quarter * _HALF_PI[0]) - quarter * _HALF_PI[1]
    z = x * x
    cosine, sine = series(_COSINE, z), x * series(_SINE, z)
    turned = quarter - 4.0 * math.floor(quarter / 4.0)
    if turned == 0.0:
        return cosine, sine
    if turned == 1.0:
        return -sine, cosine
    if turned == 2.0:
        return -cosine, -sine
    return sine, -cosine


@compiled
def arctangent(y: float, x: float) -> float:
    """Angle of a point (x, y) from the x axis, from -pi to pi [rad]; 0 at the origin."""
    a, b = abs(y), abs(x)
    large, small = max(a, b), min(a, b)
    if large == 0.0:
        return 0.0
    step = math.floor(8.0 * small / large + 0.5)
    slope = step / 8.0
    u = (small - slope * large) / (large + slope * small)
    angle = _ARCTANGENTS[int(step)] + u * series(_ARCTANGENT, u * u)
    if a > b:
        angle = _PI / 2 - angle
    if x < 0.0:
        angle = _PI - angle
    return -angle if y < 0.0 else angle


@entry
def exponential(x: float) -> float:
    """The exponential function e^x."""
    if x < -745.0:
        return 0.0
    doublings = math.floor(x / (_LOG_2[0] + _LOG_2[1]) + 0.5)
    r = (x - doublings * _LOG_2[0]) - doublings * _LOG_2[1]
    return math.ldexp(series(_EXPONENTIAL, r), int(doublings))


@compiled
def logarithm(x: float) -> float:
    """Natural logarithm of a number above 0."""
    part, doublings = math.frexp(x)
    if part < _SQRT_HALF:
        part, doublings = 2.0 * part, doublings - 1
    s = (part - 1.0) / (part + 1.0)
    return doublings * _LOG_2[0] + (2.0 * s * series(_LOGARITHM, s * s) + doublings * _LOG_2[1])


@entry
def power(base: float, exponent: float) -> float:
    """The power base^exponent of a number above 0."""
    return exponential(exponent * logarithm(base))
