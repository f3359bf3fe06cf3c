"""Belts that Hypothesis draws, two by name, and the support functions of their pulleys."""

import math

from hypothesis import assume
from hypothesis import strategies as st

from segtrack.geometry import BeltPath, Pulley, chain_segments, wrap_belt

EXACT = 1e-9
fractions = st.floats(0.0, 1.0)
turns = st.floats(-math.pi, math.pi)


def envelope(pulleys):
    """The hull of discs by the upper envelope of their support functions c . n + r.

    Returns the intervals (from, to, disc) of the normal's angle that it consists of.
    """
    edges = {-math.pi, math.pi}
    for i, a in enumerate(pulleys):
        for b in pulleys[:i]:
            apart = math.hypot(b.x - a.x, b.z - a.z)
            middle, half = math.atan2(b.z - a.z, b.x - a.x), math.acos((a.radius - b.radius) / apart)
            edges |= {math.remainder(middle + sign * half, 2 * math.pi) for sign in (-1, 1)}
    pieces = []
    for low, high in zip(sorted(edges), sorted(edges)[1:], strict=False):
        middle = (low + high) / 2
        pieces.append((low, high, max(range(len(pulleys)), key=lambda i: support(pulleys[i], middle))))
    return pieces


def support(pulley, angle):
    return pulley.x * math.cos(angle) + pulley.z * math.sin(angle) + pulley.radius


def least_bend(pulleys):
    bends = [0.0] * len(pulleys)
    for low, high, i in envelope(pulleys):
        bends[i] += high - low
    return min(bends)


@st.composite
def pulley_rings(draw):
    """Pulleys strewn around an ellipse, far enough apart not to overlap."""
    count = draw(st.integers(2, 6))
    tilt = draw(turns)
    pulleys = []
    for k in range(count):
        angle = 2 * math.pi * (k + draw(st.floats(-0.3, 0.3))) / count
        x, z = 0.5 * math.cos(angle), 0.3 * math.sin(angle)
        center = (
            x * math.cos(tilt) - z * math.sin(tilt) + 0.1,
            x * math.sin(tilt) + z * math.cos(tilt) - 0.2,
        )
        pulleys.append(Pulley(*center, draw(st.floats(0.02, 0.07))))
    return draw(st.permutations(pulleys))


@st.composite
def convex_pulleys(draw):
    pulleys = draw(pulley_rings())
    assume(least_bend(pulleys) > 2e-3)
    return pulleys


@st.composite
def belts(draw):
    """A path, and a number of grousers and of their shapes for it."""
    path = wrap_belt(draw(convex_pulleys()))
    shapes = draw(st.integers(1, 3))
    return path, shapes * draw(st.integers(1, 24)), shapes


def oval(distance=0.5, radius=0.08):
    return wrap_belt([Pulley(-distance / 2, 0.0, radius), Pulley(distance / 2, 0.0, radius)])


def bean(length=0.6, radius=0.1, dent=0.3):
    """A belt whose upper run is bent inwards: its arc of turn -2 dent meets the ends' circles."""
    inner = length / (2 * math.sin(dent)) - radius
    end = (radius, math.pi + dent)
    return BeltPath(
        chain_segments((length / 2, -radius), math.pi, [(length, None), end, (inner, -2 * dent), end])
    )
