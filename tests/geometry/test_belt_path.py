"""Paths of belts around pulleys against the hull of their discs."""

import math

import numpy as np
import pytest
from drawn_belts import EXACT, bean, belts, convex_pulleys, envelope, fractions, oval, support
from hypothesis import assume, given
from hypothesis import strategies as st

from segtrack.errors import InvalidValueError
from segtrack.geometry import Arc, BeltPath, Line, Pulley, chain_segments, normal_of, wrap_belt


def hull_perimeter(pulleys):
    """Cauchy's formula: the integral of the support function over the normal's angle."""
    total = 0.0
    for low, high, i in envelope(pulleys):
        p = pulleys[i]
        total += p.x * (math.sin(high) - math.sin(low)) - p.z * (math.cos(high) - math.cos(low))
        total += p.radius * (high - low)
    return total


@given(convex_pulleys())
def test_random_pulleys_make_a_closed_and_smooth_loop(pulleys):
    path = wrap_belt(pulleys)
    before = [s.point_at(np.array([s.length]))[0] for s in path.segments]
    after = [np.asarray(s.start) for s in (*path.segments[1:], path.segments[0])]
    np.testing.assert_allclose(before, after, rtol=0, atol=EXACT)
    leaving = [normal_of(s.heading_at(np.array([s.length]))[0]) for s in path.segments]
    entering = [normal_of(s.heading) for s in (*path.segments[1:], path.segments[0])]
    np.testing.assert_allclose(leaving, entering, rtol=0, atol=EXACT)
    assert math.isclose(sum(s.turn for s in path.segments), 2 * math.pi, abs_tol=EXACT)


@given(convex_pulleys())
def test_perimeter_is_that_of_the_hull_of_the_discs(pulleys):
    assert math.isclose(wrap_belt(pulleys).perimeter, hull_perimeter(pulleys), abs_tol=EXACT)


@given(convex_pulleys(), st.lists(fractions, min_size=5, max_size=20))
def test_every_point_of_the_belt_is_the_hulls_farthest_in_its_normals_direction(pulleys, where):
    path = wrap_belt(pulleys)
    coordinates = np.array(where) * path.perimeter
    normals = normal_of(path.heading(coordinates))
    reach = np.einsum("ni,ni->n", path.point(coordinates), normals)
    farthest = [max(support(p, math.atan2(nz, nx)) for p in pulleys) for nx, nz in normals]
    np.testing.assert_allclose(reach, farthest, rtol=0, atol=EXACT)


@given(convex_pulleys(), st.lists(st.floats(0.1, 1.0), min_size=6, max_size=6), st.floats(0.1, 0.9))
def test_a_pulley_inside_the_belt_of_the_others_is_refused(pulleys, weights, size):
    shares = np.array(weights[: len(pulleys)]) / sum(weights[: len(pulleys)])
    inner = Pulley(
        float(shares @ [p.x for p in pulleys]),
        float(shares @ [p.z for p in pulleys]),
        size * min(p.radius for p in pulleys),
    )
    assume(all(math.dist(inner.center, p.center) > inner.radius + p.radius for p in pulleys))
    with pytest.raises(InvalidValueError) as error:
        wrap_belt([*pulleys, inner])
    assert str(error.value) == (
        "pulleys must be in convex position, each bending the belt by at least 0.001 rad, "
        f"got pulley {len(pulleys)} bending it by 0 rad"
    )


def test_pulleys_may_touch_and_must_not_overlap():
    assert wrap_belt([Pulley(-0.3, 0, 0.1), Pulley(-0.1, 0, 0.1)]).perimeter > 0
    with pytest.raises(InvalidValueError) as error:
        wrap_belt([Pulley(0, 0, 0.1), Pulley(1, 0, 0.1), Pulley(0.15, 0, 0.1)])
    assert str(error.value) == "pulleys must be apart, got pulleys 0 and 2 overlapping by 0.05 m"


@given(convex_pulleys(), st.randoms(use_true_random=False))
def test_the_order_of_pulleys_does_not_matter(pulleys, random):
    shuffled = random.sample(list(pulleys), len(pulleys))
    np.testing.assert_allclose(wrap_belt(pulleys).outline(), wrap_belt(shuffled).outline(), atol=EXACT)


def test_a_large_pulley_between_small_ones_bends_the_belt_on_both_sides():
    pulleys = [Pulley(-0.3, 0, 0.05), Pulley(0.0, 0, 0.1), Pulley(0.3, 0, 0.05)]
    path = wrap_belt(pulleys)
    radii = [s.radius for s in path.segments if isinstance(s, Arc)]
    assert radii.count(0.1) == 2
    assert math.isclose(path.perimeter, hull_perimeter(pulleys), abs_tol=EXACT)


@pytest.mark.parametrize("x", [-0.1, 0.0, 0.2])
def test_a_pulley_on_a_straight_run_is_refused(x):
    with pytest.raises(InvalidValueError) as error:
        wrap_belt([Pulley(-0.3, 0, 0.04), Pulley(x, 0, 0.04), Pulley(0.3, 0, 0.04)])
    assert str(error.value) == (
        "pulleys must be in convex position, each bending the belt by at least 0.001 rad, "
        "got pulley 1 bending it by 0 rad"
    )


@pytest.mark.parametrize("drop", [0.01, 0.0, -0.01])
def test_a_pulley_that_bends_one_run_may_touch_pass_or_bend_the_other(drop):
    """Its top is `drop` below the top run: the belt bends around it there only where it is above."""
    pulleys = [Pulley(-0.3, 0, 0.05), Pulley(0.0, -0.03 - drop, 0.08), Pulley(0.3, 0, 0.05)]
    path = wrap_belt(pulleys)
    radii = [s.radius for s in path.segments if isinstance(s, Arc)]
    assert radii.count(0.08) == (2 if drop < 0 else 1)
    assert math.isclose(path.perimeter, hull_perimeter(pulleys), abs_tol=EXACT)


def test_an_oval_has_two_lines_and_two_half_circles():
    path = oval(0.5, 0.08)
    assert path.names == ("line_0", "arc_1", "line_2", "arc_3")
    np.testing.assert_allclose(path.starts, np.cumsum([0, 0.5, 0.08 * math.pi, 0.5, 0.08 * math.pi]))
    np.testing.assert_allclose(path.point([0.0, 0.25]), [[0.25, -0.08], [0.0, -0.08]], atol=EXACT)


def test_a_single_pulley_is_a_circle():
    path = wrap_belt([Pulley(0.1, 0.2, 0.08)])
    assert path.names == ("arc_0",)
    assert math.isclose(path.perimeter, 2 * math.pi * 0.08)


@given(convex_pulleys())
def test_a_belt_that_drives_forward_runs_backward_along_the_ground(pulleys):
    path = wrap_belt(pulleys)
    lines = [s for s in path.segments if isinstance(s, Line) and math.cos(s.heading) < -EXACT]
    assume(lines)
    assert path.ground == 0 and path.tangent([path.segments[0].length / 2])[0, 0] < 0
    heights = [s.point_at(np.array([s.length / 2]))[0, 1] for s in lines]
    assert math.isclose(heights[0], min(heights), abs_tol=EXACT)


@given(belts(), fractions)
def test_tangent_is_the_derivative_of_the_point(belt, where):
    path, _, _ = belt
    step, s = 1e-6, where * path.perimeter
    seams = np.abs(path.starts - s).min()
    assume(seams > step)
    difference = (path.point([s + step]) - path.point([s - step])) / (2 * step)
    np.testing.assert_allclose(path.tangent([s]), difference, atol=1e-8)


def test_an_inward_arc_closes_and_counts_its_length():
    path = bean(0.6, 0.1, 0.3)
    inner = 0.6 / (2 * math.sin(0.3)) - 0.1
    assert math.isclose(path.perimeter, 0.6 + 2 * 0.1 * (math.pi + 0.3) + inner * 0.6)
    assert path.point([path.perimeter - 0.1 * (math.pi + 0.3) - inner * 0.3])[0, 1] < 0.1


@pytest.mark.parametrize(
    "pieces, message",
    [
        ([(0.7, None), (0.1, math.pi), (0.6, None), (0.1, math.pi)],
         "path must be closed to 1e-09 m, got a gap of 0.1 m after segment 3"),
        ([(7e-5, None), (1e-5, math.pi), (7e-5, None), (1e-5, 3.14159)],
         "path must be tangent-continuous to 1e-09 rad, got a kink of 2.65e-06 rad after segment 3"),
        ([(0.1, 2 * math.pi), (0.1, 2 * math.pi)],
         "path must be one full turn of 2 pi about +y, got 12.5664 rad"),
        ([(0.1, -2 * math.pi)], "path must be one full turn of 2 pi about +y, got -6.28319 rad"),
        ([], "path must be at least one segment, got none"),
    ],
)  # fmt: skip
def test_a_path_that_is_no_smooth_loop_is_refused(pieces, message):
    with pytest.raises(InvalidValueError) as error:
        BeltPath(chain_segments((0.0, 0.0), math.pi, pieces))
    assert str(error.value) == message


@given(belts())
def test_points_of_a_path_are_those_of_its_segments(belt):
    path, *_ = belt
    along = np.linspace(-0.1, 1.0, 9)
    for i, segment in enumerate(path.segments):
        here = np.full(len(along), i)
        assert np.array_equal(path.point_on(here, along), segment.point_at(along))
        assert np.array_equal(path.heading_on(here, along), segment.heading_at(along))
