"""Heights of solids at any pose: against the sampler of boxes, tessellations, and formulas."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scenes import boxes_anywhere
from scipy.spatial import Delaunay
from scipy.spatial.transform import Rotation

from segtrack.geometry import Box, Cylinder, Hull
from segtrack.terrain import Boxes, HalfSpace, StaticBody, profile

ABOVE = 1e-7
"""How far above and below a surface a tessellation is asked whether there is anything [m]."""


def random_points(seed, count=120, reach=1.2):
    return np.random.default_rng(seed).uniform(-reach, reach, (count, 2))


def assert_is_surface_of(body, points, tessellation, slack=0.0):
    """Below each height there is something, above it nothing; where there is no height, nothing at all."""
    heights = body.height_at(*points.T)
    met = np.isfinite(heights)
    assert met.any()
    places = np.column_stack([points[met], heights[met]])
    below = tessellation.find_simplex(places - (0, 0, ABOVE + slack)) >= 0
    above = tessellation.find_simplex(places + (0, 0, ABOVE)) >= 0
    # A line may pass through an edge in less than this.
    assert not above.any() and below.mean() > (0.99 if slack == 0 else 0.9)
    lines = np.array([(x, y, z) for x, y in points[~met] for z in np.linspace(-2, 2, 13)])
    assert (tessellation.find_simplex(lines) < 0).all()


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_height_of_a_hull_is_where_its_tessellation_ends(seed):
    points = np.random.default_rng(seed).normal(size=(12, 3)) * (0.5, 0.5, 0.3)
    body = StaticBody(parts=(Hull.of(points),))
    assert_is_surface_of(body, random_points(seed), Delaunay(points))


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_height_of_a_turned_box_is_where_its_tessellation_ends(seed):
    rng = np.random.default_rng(seed)
    half, turn = rng.uniform(0.1, 0.6, 3), Rotation.random(random_state=seed)
    corners = np.array([(a, b, c) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]) * half
    box = Box(tuple(2 * half), (0.1, -0.2, 0.3), tuple(turn.as_quat()))
    body = StaticBody(parts=(box,))
    assert_is_surface_of(body, random_points(seed), Delaunay(turn.apply(corners) + box.center))


@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_height_of_a_turned_cylinder_is_where_one_of_many_sides_ends(seed):
    turn = Rotation.random(random_state=seed)
    around = np.linspace(0, 2 * np.pi, 120, endpoint=False)
    rim = np.stack([0.4 * np.cos(around), 0 * around, 0.4 * np.sin(around)], axis=1)
    corners = np.concatenate([rim - (0, 0.5, 0), rim + (0, 0.5, 0)])
    body = StaticBody(parts=(Cylinder(0.4, 1.0, (0.1, 0.0, -0.2), tuple(turn.as_quat())),))
    assert_is_surface_of(body, random_points(seed), Delaunay(turn.apply(corners) + (0.1, 0.0, -0.2)), 1e-3)


@given(boxes=st.lists(boxes_anywhere, min_size=1, max_size=4))
def test_upright_boxes_are_as_high_as_their_own_sampler_says(boxes):
    described = Boxes(boxes=tuple(boxes))
    body = StaticBody(parts=described.solids())
    x, y = random_points(0).T
    assert body.height_at(x, y) == pytest.approx(described.height_at(x, y), abs=1e-12)
    breaks = [place for place in body.x_breaks() if abs(place) < 40]  # Those of the floor are further off.
    assert np.unique(np.round(breaks, 9)) == pytest.approx(np.unique(np.round(described.x_breaks(), 9)))


def test_upright_cylinders_are_discs_and_lying_ones_half_rounds():
    standing = tuple(Rotation.from_euler("x", 90, degrees=True).as_quat())
    upright = StaticBody(parts=(Cylinder(0.1, 0.4, (1.0, 0.0, 0.2), standing),))
    pipe = StaticBody(parts=(Cylinder(0.05, 1.2, (1.0, 0.0, 0.05)),))
    assert upright.height_at([0.89, 0.9, 1.0, 1.1, 1.11]).tolist() == [-math.inf, 0.4, 0.4, 0.4, -math.inf]
    assert pipe.height_at([1.0, 1.03, 1.06]) == pytest.approx([0.1, 0.09, -math.inf])
    assert pipe.height_at(1.0, [0.59, 0.61]) == pytest.approx([0.1, -math.inf])
    assert upright.x_breaks() == pytest.approx((0.9, 1.1)) and pipe.x_breaks() == pytest.approx((0.95, 1.05))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(["hull", "box", "cylinder"]))
def test_the_outline_jumps_and_bends_at_breaks_alone(seed, kind):
    """Of flat faces; a mantle is smooth between its breaks."""
    rng, turn = np.random.default_rng(seed), tuple(Rotation.random(random_state=seed).as_quat())
    center = (0.0, float(rng.uniform(-0.3, 0.3)), 0.0)
    solid = {
        "hull": Hull.of(rng.normal(size=(9, 3)) * 0.4 + center),
        "box": Box((1.0, 0.4, 0.6), center, turn),
        "cylinder": Cylinder(0.3, 0.8, center, turn),
    }[kind]
    body = StaticBody(parts=(solid,))
    x = np.linspace(-2, 2, 4001)
    height = np.nan_to_num(body.height_at(x), neginf=-5.0)
    breaks = np.array(body.x_breaks())
    if kind == "cylinder":
        odd = np.nonzero(np.abs(np.diff(height)) > 0.15)[0]
    else:
        odd = np.nonzero(np.abs(np.diff(height, 2)) > 1e-9)[0] + 1
    for i in odd:
        assert (np.abs(breaks - x[i]) < 1.01e-3).any()


def test_a_half_space_reaches_to_its_plane_and_a_roof_to_the_sky():
    slope = HalfSpace((1.0, 0.0, 0.5), (-math.sin(0.3), 0.0, math.cos(0.3)))
    body = StaticBody(parts=(slope,))
    x, y = random_points(1).T
    assert body.height_at(x, y) == pytest.approx(0.5 + (x - 1.0) * math.tan(0.3))
    wall = StaticBody(parts=(HalfSpace((1.0, 0.0, 0.0), (-1.0, 0.0, 0.0)),))
    assert wall.height_at([0.9, 1.1]).tolist() == [-math.inf, math.inf]
    assert StaticBody(parts=(HalfSpace(normal=(0.0, 0.0, -1.0)),)).height_at(0.0) == math.inf
    assert body.x_breaks() == ()


def test_a_profile_has_the_upright_faces_of_a_static_body():
    body = StaticBody(parts=(Box((10.0, 10.0, 1.0), (0.0, 0.0, -0.5)), Box((0.6, 2.0, 0.2), (1.0, 0.0, 0.1))))
    x, z = profile(body, 0.0, 2.0, samples=3)
    assert x == pytest.approx([0.0, 0.7, 0.7, 1.0, 1.3, 1.3, 2.0])
    assert z == pytest.approx([0.0, 0.0, 0.2, 0.2, 0.2, 0.0, 0.0])
