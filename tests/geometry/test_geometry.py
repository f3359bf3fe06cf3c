import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from segtrack.description import bundled_vehicles, load_vehicle
from segtrack.errors import InvalidValueError
from segtrack.geometry.grousers import place_grousers, wrap_travel
from segtrack.geometry.links import ground_dip, seam_error, segment_links, stance_on_belt, stance_on_segments
from segtrack.geometry.loops import Pulley, wrap_belt
from segtrack.geometry.mass import (
    MassProperties,
    quaternion_of,
    rotation_about_y,
    rotation_of,
    rpy_of,
    uniform_belt,
)
from segtrack.geometry.path import (
    Arc,
    BeltPath,
    Line,
    chain_segments,
    inner_outline,
    normal_of,
    outer_outline,
)
from segtrack.geometry.solids import Box, Cylinder, Hull, Placed, prism

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


def hull_perimeter(pulleys):
    """Cauchy's formula: the integral of the support function over the normal's angle."""
    total = 0.0
    for low, high, i in envelope(pulleys):
        p = pulleys[i]
        total += p.x * (math.sin(high) - math.sin(low)) - p.z * (math.cos(high) - math.cos(low))
        total += p.radius * (high - low)
    return total


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


def started_at(path, first):
    return BeltPath(path.segments[first:] + path.segments[:first])


def rows(stance, *columns):
    """A stance as a set: sorted rows of point, direction and further columns."""
    table = np.column_stack([stance.points, normal_of(stance.headings), *columns])
    return table[np.lexsort(np.round(table, 7).T)]


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
def test_grousers_stand_one_pitch_apart_all_around(belt):
    path, count, shapes = belt
    footprints = place_grousers(path, count, shapes)
    assert [f.index for f in footprints] == list(range(count))
    coordinates = np.array([f.coordinate for f in footprints])
    steps = np.mod(np.diff(coordinates, append=coordinates[0]), path.perimeter)
    steps[steps == 0] = path.perimeter
    np.testing.assert_allclose(steps, path.perimeter / count, rtol=1e-12)


@given(belts())
def test_grousers_on_the_ground_are_symmetric_about_its_middle(belt):
    path, count, shapes = belt
    length = path.segments[0].length
    along = np.array([f.along for f in place_grousers(path, count, shapes) if f.segment == 0])
    np.testing.assert_allclose(along, length - along[::-1], atol=1e-12)


@given(belts())
def test_grousers_of_arcs_stay_clear_of_the_ground_line_at_any_phase(belt):
    path, count, shapes = belt
    pitch, length = path.perimeter / count, path.segments[0].length
    footprints = place_grousers(path, count, shapes)
    others = np.array([f.coordinate for f in footprints if f.segment != 0])
    assert {f.segment for f in footprints} <= set(range(len(path.segments)))
    if others.size:
        beyond_its_end, before_its_start = others - length, path.perimeter - others
        assert min(beyond_its_end.min(), before_its_start.min()) >= shapes * pitch / 2 + pitch / 4 - EXACT


@given(belts(), st.integers(1, 11))
def test_where_a_path_begins_does_not_move_its_grousers(belt, first):
    path, count, shapes = belt
    moved = started_at(path, first % len(path.segments))
    here, there = place_grousers(path, count, shapes), place_grousers(moved, count, shapes)
    for phase in (-0.4, 0.0, 0.3):
        travel = phase * path.perimeter / count
        np.testing.assert_allclose(
            rows(stance_on_segments(path, here, travel), [f.index % shapes for f in here]),
            rows(stance_on_segments(moved, there, travel), [f.index % shapes for f in there]),
            atol=1e-7,
        )


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_grousers_have_a_home_on_a_circle_and_on_an_oval(count):
    for path in (oval(), wrap_belt([Pulley(0, 0, 0.1)])):
        footprints = place_grousers(path, count)
        assert len(footprints) == count
        points = stance_on_segments(path, footprints, 0.0).points
        np.testing.assert_allclose(points[:, 0].sum(), 0.0, atol=EXACT)


@given(st.floats(-1e3, 1e3), st.floats(1e-3, 1.0))
def test_wrapped_travel_is_within_half_a_period_and_whole_periods_away(travel, period):
    wrapped = wrap_travel(travel, period)
    tolerance = 1e-12 * max(abs(travel), 1)
    assert -period / 2 - tolerance <= wrapped <= period / 2 + tolerance
    periods = (travel - wrapped) / period
    assert math.isclose(periods, round(periods), abs_tol=1e-6)


@given(st.floats(-0.499, 0.499), st.integers(-1000, 1000), st.floats(1e-3, 1.0))
def test_wrapping_forgets_whole_periods_and_nothing_else(fraction, periods, period):
    assert wrap_travel(fraction * period, period) == fraction * period
    assert math.isclose(wrap_travel((fraction + periods) * period, period), fraction * period, abs_tol=1e-9)


def test_half_a_period_is_wrapped_to_minus_half_a_period():
    assert wrap_travel(0.25, 0.5) == -0.25 == wrap_travel(-0.25, 0.5)


@given(belts(), st.floats(-0.49, 0.49), st.integers(-50, 50))
def test_travel_x_and_x_plus_a_period_build_the_same_picture(belt, fraction, periods):
    path, count, shapes = belt
    period = shapes * path.perimeter / count
    footprints = place_grousers(path, count, shapes)
    travel = fraction * period
    pictures = [
        stance_on_segments(path, footprints, wrap_travel(x, period))
        for x in (travel, travel + periods * period)
    ]
    np.testing.assert_allclose(rows(pictures[0]), rows(pictures[1]), atol=1e-9)


@given(belts(), fractions, st.integers(-5, 5))
def test_the_exact_belt_looks_the_same_a_period_later(belt, where, periods):
    """Why setting a belt back is allowed at all: grousers and their shapes repeat after a period."""
    path, count, shapes = belt
    period = shapes * path.perimeter / count
    footprints = place_grousers(path, count, shapes)
    kinds = [f.index % shapes for f in footprints]
    now, later = (
        rows(stance_on_belt(path, footprints, where * period + n * period), kinds) for n in (0, periods)
    )
    np.testing.assert_allclose(now, later, atol=1e-7)


@given(belts(), st.floats(-0.5, 0.5), st.floats(0.0, 0.03))
def test_grousers_stand_as_on_the_exact_belt_but_for_the_seam_error(belt, fraction, height):
    path, count, shapes = belt
    phase = fraction * shapes * path.perimeter / count
    footprints = place_grousers(path, count, shapes)
    built, exact = stance_on_segments(path, footprints, phase), stance_on_belt(path, footprints, phase)
    lengths = np.array([path.segments[f.segment].length for f in footprints])
    beyond = np.abs(np.array([f.along for f in footprints]) + phase - lengths / 2) - lengths / 2
    beyond = np.maximum(beyond, 0.0)
    sharpest = max(1 / s.radius for s in path.segments if isinstance(s, Arc))
    off = np.linalg.norm(built.points - exact.points, axis=1)
    tips_off = np.linalg.norm(built.tips(height) - exact.tips(height), axis=1)
    assert np.all(off <= sharpest * beyond**2 / 2 + EXACT)
    assert np.all(tips_off <= sharpest * (beyond**2 / 2 + height * beyond) + EXACT)


@given(belts(), st.sampled_from([-0.5, 0.5]), st.floats(0.0, 0.03))
def test_seam_error_is_that_of_the_worst_grouser_at_either_end_of_the_period(belt, end, height):
    path, count, shapes = belt
    period = shapes * path.perimeter / count
    footprints = place_grousers(path, count, shapes)
    error = seam_error(path, footprints, period, height)
    built, exact = (stance(path, footprints, end * period) for stance in (stance_on_segments, stance_on_belt))
    assert np.linalg.norm(built.points - exact.points, axis=1).max() <= error.footprint + EXACT
    assert np.linalg.norm(built.tips(height) - exact.tips(height), axis=1).max() <= error.tip + EXACT


@given(st.floats(0.3, 0.8), st.floats(0.05, 0.1), st.integers(20, 60), st.floats(0.0, 0.02))
def test_seam_error_of_an_oval_is_its_closed_form(distance, radius, count, height):
    path = oval(distance, radius)
    error = seam_error(path, place_grousers(path, count), path.perimeter / count, height)
    d, reach = error.overrun, radius + height
    assert d <= 0.75 * path.perimeter / count + EXACT
    angle = d / radius
    tip = math.hypot(d - reach * math.sin(angle), reach * (1 - math.cos(angle)))
    footprint = math.hypot(d - radius * math.sin(angle), radius * (1 - math.cos(angle)))
    assert math.isclose(error.tip, tip, abs_tol=EXACT)
    assert math.isclose(error.footprint, footprint, abs_tol=EXACT)
    assert footprint <= d**2 / (2 * radius)


def test_a_lugged_wheel_has_no_seam_error():
    path = wrap_belt([Pulley(0, 0, 0.08)])
    error = seam_error(path, place_grousers(path, 24), path.perimeter / 24, 0.015)
    assert error.overrun == 0.0
    assert error.footprint < EXACT and error.tip < EXACT


@pytest.mark.parametrize(
    "name, overrun, footprint, tip",
    [
        ("packbot", 13.66, 1.14, 1.78),
        ("quince", 21.48, 3.07, 5.62),
        ("okada_example", 74.51, 23.86, 28.23),
        ("lugged_wheel", 0.0, 0.0, 0.0),
    ],
)
def test_seam_error_of_bundled_vehicles(name, overrun, footprint, tip):
    """In millimetres; the READMEs of packbot and okada_example quote the tip's."""
    worst = [
        seam_error(t.spec.belt_path, t.spec.footprints(), t.spec.period, t.spec.grousers.height)
        for t in load_vehicle(name).mounted_tracks()
    ]
    found = [1e3 * max(getattr(e, key) for e in worst) for key in ("overrun", "footprint", "tip")]
    np.testing.assert_allclose(found, [overrun, footprint, tip], atol=0.006)


@settings(max_examples=30)
@given(belts(), st.floats(0.02, 0.3), st.floats(0.1, 5.0))
def test_a_uniform_belt_weighs_what_its_points_weigh(belt, width, mass):
    path, _, _ = belt
    found = uniform_belt(path, width, mass)
    points = path.point((np.arange(40000) + 0.5) / 40000 * path.perimeter)
    table = np.column_stack([points[:, 0], np.zeros(len(points)), points[:, 1]])
    second = mass * table.T @ table / len(table) + np.diag([0, mass * width**2 / 12, 0])
    assert math.isclose(found.mass, mass)
    np.testing.assert_allclose(found.first_moment, mass * table.mean(axis=0), atol=1e-7 * mass)
    np.testing.assert_allclose(found.second_moment, second, atol=1e-7 * mass)


def test_a_circular_belt_is_a_hoop():
    mass, r, w = 0.5, 0.08, 0.05
    belt = uniform_belt(wrap_belt([Pulley(0.1, 0.2, r)]), w, mass)
    np.testing.assert_allclose(belt.center, [0.1, 0, 0.2], atol=EXACT)
    across = mass * (r**2 / 2 + w**2 / 12)
    np.testing.assert_allclose(belt.inertia, np.diag([across, mass * r**2, across]), atol=1e-12)


def test_an_oval_belt_has_its_textbook_inertia():
    mass, d, r = 2.0, 0.5, 0.08
    line, half = mass * d / (2 * d + 2 * math.pi * r), mass * math.pi * r / (2 * d + 2 * math.pi * r)
    lines = 2 * line * (d**2 / 12 + r**2)
    halves = 2 * half * (r**2 + (d / 2) ** 2 + 2 * (d / 2) * (2 * r / math.pi))
    belt = uniform_belt(oval(d, r), 0.1, mass)
    assert math.isclose(belt.inertia[1, 1], lines + halves, rel_tol=1e-12)
    np.testing.assert_allclose(belt.center, 0, atol=EXACT)


@given(belts(), st.sets(st.integers(0, 11), max_size=3))
def test_links_weigh_no_more_than_the_belt_and_move_like_all_of_it(belt, left_out):
    """Joint inertia per belt travel: a line's mass, an arc's spin inertia over r^2."""
    path, _, _ = belt
    arcs = [name for name, s in zip(path.names, path.segments, strict=True) if s.kind == "arc"]
    omit = [name for i, name in enumerate(path.names) if i in left_out and name != arcs[0]]
    links = segment_links(path, 0.1, 0.01, 1.7, [], omit)
    assert [link.name for link in links] == [name for name in path.names if name not in omit]
    assert sum(link.mass for link in links) <= 1.7 + EXACT
    moved = [link.mass if link.joint == "slider" else link.inertia[1] * link.ratio**2 for link in links]
    assert math.isclose(sum(moved), 1.7, rel_tol=1e-12)


@given(convex_pulleys(), st.floats(0.02, 0.07))
def test_a_belt_around_equal_pulleys_moves_no_mass(pulleys, radius):
    """Lines balance each other, so the belt's weight does not drive it, and a roll-back lifts nothing."""
    pulleys = [Pulley(p.x, p.z, radius) for p in pulleys]
    assume(least_bend(pulleys) > 2e-3)
    shift = np.zeros(3)
    for link in segment_links(wrap_belt(pulleys), 0.1, 0.01, 1.7, []):
        if link.joint == "slider":
            shift += link.mass * rotation_of((0, link.heading, 0))[:, 0]
    np.testing.assert_allclose(shift, 0, atol=EXACT)


@given(belts(), st.floats(-0.4, 0.4), st.floats(0.0, 0.03))
def test_links_carry_their_grousers_where_the_stance_says(belt, fraction, lift):
    path, count, shapes = belt
    travel = fraction * path.perimeter / count
    footprints = place_grousers(path, count, shapes)
    solid = Box((1e-3, 0.1, 1e-3))
    links = segment_links(path, 0.1, 0.01, 1.0, [(f, solid, lift) for f in footprints])
    found = []
    for link in links:
        slide, turn = (travel, 0.0) if link.joint == "slider" else (0.0, travel * link.ratio)
        rotation = rotation_of((0, link.heading + turn, 0))
        for placed in link.shapes:
            if placed.solid is solid:
                found.append(
                    rotation @ [placed.x, 0, placed.z]
                    + rotation_of((0, link.heading, 0))[:, 0] * slide
                    + [link.x, 0, link.z]
                )
    expected = stance_on_segments(path, footprints, travel).tips(lift)
    found, expected = np.array(found)[:, [0, 2]], np.array(expected)
    order = [np.lexsort(np.round(a, 7).T) for a in (found, expected)]
    np.testing.assert_allclose(found[order[0]], expected[order[1]], atol=1e-7)


@pytest.mark.parametrize("path", [bean(), oval()], ids=["bean", "oval"])
def test_arcs_without_room_for_a_disc_are_chords_close_to_the_belt(path):
    links = segment_links(path, 0.1, 0.01, 1.0, [])
    outline = path.outline(1e-4)
    for link in links:
        rotation = rotation_of((0, link.heading, 0))
        for placed in link.shapes:
            if isinstance(placed.solid, Box) and link.joint == "hinge":
                length, _, thickness = placed.solid.size
                spin = rotation_of((0, placed.heading, 0))
                for x in (-length / 2, 0, length / 2):
                    corner = rotation @ (spin @ [x, 0, thickness / 2] + [placed.x, 0, placed.z])
                    gap = np.linalg.norm(outline - (corner + [link.x, 0, link.z])[[0, 2]], axis=1).min()
                    assert gap < 1.6e-4
    assert any(isinstance(s.solid, Box) for s in links[2].shapes)


def test_mass_properties_add_and_move_like_those_of_points():
    random = np.random.default_rng(7)
    points, masses = random.normal(size=(20, 3)), random.uniform(0.1, 1.0, 20)
    arm = points - masses @ points / masses.sum()
    inertia = sum(m * (a @ a * np.eye(3) - np.outer(a, a)) for m, a in zip(masses, arm, strict=True))
    whole = MassProperties.of(masses.sum(), masses @ points / masses.sum(), inertia)
    parts = [MassProperties.of(m, p, np.zeros((3, 3))) for m, p in zip(masses, points, strict=True)]
    total = sum(parts[1:], parts[0])
    rotation, origin = rotation_of((0.3, -0.8, 1.1)), np.array([0.4, -0.2, 0.9])
    moved = total.transformed(rotation, origin)
    np.testing.assert_allclose(total.inertia, whole.inertia)
    np.testing.assert_allclose(moved.center, rotation @ whole.center + origin)
    np.testing.assert_allclose(moved.inertia, rotation @ whole.inertia @ rotation.T, atol=1e-12)
    np.testing.assert_allclose((whole - parts[0]).mass, masses[1:].sum())


@given(st.tuples(turns, turns, turns))
def test_roll_pitch_yaw_are_those_of_urdf(rpy):
    matrix = rotation_of(rpy)
    np.testing.assert_allclose(matrix, Rotation.from_euler("xyz", rpy).as_matrix(), atol=1e-12)
    np.testing.assert_allclose(rotation_of(rpy_of(matrix)), matrix, atol=1e-12)


@pytest.mark.parametrize("pitch", [math.pi / 2, -math.pi / 2])
@pytest.mark.parametrize("roll, yaw", [(0.0, 0.0), (0.4, -1.1)])
def test_roll_pitch_yaw_survive_gimbal_lock(roll, pitch, yaw):
    matrix = rotation_of((roll, pitch, yaw))
    np.testing.assert_allclose(rotation_of(rpy_of(matrix)), matrix, atol=1e-9)


def test_a_grousers_tip_stands_highest_in_its_middle():
    tip = np.array(prism(0.018, 0.005, 0.016, 0.17, 1e-4).vertices)
    np.testing.assert_allclose(tip.max(axis=0), [0.009, 0.085, 0.016])
    np.testing.assert_allclose(sorted(set(tip[tip[:, 1] != 0][:, 2])), [0.0, 0.0159])
    flat = np.array(prism(0.018, 0.005, 0.016, 0.17, 0.0).vertices)
    assert len(flat) == 8 and set(flat[:, 2]) == {0.0, 0.016}


@pytest.mark.parametrize("name", bundled_vehicles())
def test_left_and_right_tracks_are_built_alike(name):
    tracks = {t.name: t for t in load_vehicle(name).mounted_tracks()}
    for left, track in tracks.items():
        if "left" in left:
            mirror = tracks[left.replace("left", "right")]
            assert track.spec.segment_links() == mirror.spec.segment_links()
            assert track.y == -mirror.y


@pytest.mark.parametrize("angle", [-2.0, 0.0, 0.3, 1.7])
def test_rotations_are_scipys(angle):
    about_y = rotation_about_y(angle)
    np.testing.assert_allclose(about_y, Rotation.from_euler("y", angle).as_matrix(), atol=1e-15)
    turned = Rotation.from_quat(quaternion_of(about_y @ rotation_of((0.3, 0.0, angle))))
    expected = Rotation.from_euler("y", angle) * Rotation.from_euler("xyz", (0.3, 0.0, angle))
    assert (turned.inv() * expected).magnitude() == pytest.approx(0.0, abs=1e-9)


def area(polygon):
    """Of a polygon (n, 2), by the shoelace formula."""
    x, z = polygon.T
    return abs(np.sum(x * np.roll(z, -1) - z * np.roll(x, -1))) / 2


def test_faces_of_an_oval_are_drawn_at_their_distance_from_its_axis():
    distance, radius, thickness = 0.5, 0.08, 0.02
    path = oval(distance, radius)
    drawn = ((outer_outline(path), radius), (inner_outline(path, thickness), radius - thickness))
    for polygon, reach in (*drawn, (path.outline(), radius)):
        beside = np.clip(polygon[:, 0], -distance / 2, distance / 2)
        np.testing.assert_allclose(np.hypot(polygon[:, 0] - beside, polygon[:, 1]), reach, atol=1e-9)
        assert area(polygon) == pytest.approx(2 * distance * reach + math.pi * reach**2, rel=2e-3)
    edges = np.linalg.norm(np.diff(path.outline(0.01), axis=0), axis=1)
    assert np.sort(edges)[:-2].max() < 0.01
    assert np.sort(edges)[-2:] == pytest.approx([distance] * 2)


def test_a_round_belts_link_is_a_hoop_and_a_lines_is_a_plate():
    """Textbook inertias about their own middles: a thin hoop of some width, and a box."""
    mass, width, thickness, radius = 2.0, 0.1, 0.01, 0.3
    (hoop,) = segment_links(wrap_belt([Pulley(0.2, 0.5, radius)]), width, thickness, mass, [])
    across = mass * (radius**2 / 2 + width**2 / 12)
    assert hoop.inertia == pytest.approx((across, mass * radius**2, across))
    path = oval(0.5, 0.08)
    lines = [link for link in segment_links(path, width, thickness, mass, []) if link.joint == "slider"]
    for line in lines:
        share = mass * 0.5 / path.perimeter
        plate = MassProperties.of_box(share, (0, 0, 0), (0.5, width, thickness))
        assert line.mass == pytest.approx(share)
        np.testing.assert_allclose(line.own_properties.inertia, plate.inertia, atol=1e-12)
    for link in (hoop, *lines):
        np.testing.assert_allclose(link.own_properties.center, 0.0, atol=1e-12)
        np.testing.assert_allclose(link.properties.center, (link.x, 0.0, link.z), atol=1e-12)


@pytest.mark.parametrize(
    ("solid", "length", "height", "size"),
    [
        (Box((0.4, 9.0, 0.2)), 0.4, 0.2, 0.08),
        (Cylinder(0.1, 9.0), 0.2, 0.2, math.pi * 0.01),
        (
            Hull(tuple((x, y, z) for x in (-0.2, 0.2) for y in (-5.0, 9.0) for z in (-0.1, 0.1))),
            0.4,
            0.2,
            0.08,
        ),
    ],
    ids=["box", "cylinder", "hull"],
)
def test_solids_are_seen_along_their_axle(solid, length, height, size):
    at_home = Placed(solid).outline
    np.testing.assert_allclose(np.ptp(at_home, axis=0), (length, height), rtol=1e-3)
    assert area(at_home) == pytest.approx(size, rel=6e-3)
    moved = Placed(solid, 0.7, -0.3, 0.4).outline
    corners = np.insert(at_home, 1, 0.0, axis=1) @ rotation_about_y(0.4).T + (0.7, 0.0, -0.3)
    np.testing.assert_allclose(moved, corners[:, [0, 2]], atol=1e-12)


def lens(radius=0.05, flank=0.5, turn=0.6):
    """Two half turns, each a wide arc and a narrow one; the wide ones' discs stick out of the belt."""
    wide, narrow = (flank, turn), (radius, math.pi - turn)
    return BeltPath(chain_segments((0.3, 0.1), math.pi - turn / 2, [wide, narrow, wide, narrow]))


@given(convex_pulleys())
def test_arcs_around_pulleys_are_discs_in_their_place(pulleys):
    arcs = [link for link in segment_links(wrap_belt(pulleys), 0.1, 0.01, 1.0, []) if link.joint == "hinge"]
    for arc in arcs:
        disc = arc.shapes[0]
        assert (disc.x, disc.z) == (0.0, 0.0)
        (pulley,) = [p for p in pulleys if math.dist((arc.x, arc.z), p.center) < 1e-9]
        assert disc.solid == Cylinder(pulley.radius, 0.1)


@pytest.mark.parametrize("path", [lens(), bean()], ids=["lens", "bean"])
def test_chords_of_an_arc_are_inscribed_from_its_start_to_its_end(path):
    """As few as stay within 0.1 mm of it; their outer corners lie on it and meet."""
    links = segment_links(path, 0.1, 0.01, 1.0, [])
    chains = [
        (segment, link) for segment, link in zip(path.segments, links, strict=True)
        if isinstance(segment, Arc) and isinstance(link.shapes[0].solid, Box)
    ]  # fmt: skip
    assert len(chains) >= 1
    for arc, link in chains:
        count = len(link.shapes)
        sagittas = [arc.radius * (1 - math.cos(abs(arc.turn) / 2 / n)) for n in (count, max(count - 1, 1))]
        assert sagittas[0] <= 1e-4 * (1 + 1e-9) and (count == 1 or sagittas[1] > 1e-4)
        stations = arc.point_at(np.linspace(0, arc.length, count + 1))
        for shape, corners, ends in zip(
            link.shapes, link.outlines, zip(stations, stations[1:], strict=False), strict=True
        ):
            np.testing.assert_allclose(corners[[3, 2]], ends, atol=1e-9)
            assert np.linalg.norm(corners[0] - corners[3]) == pytest.approx(0.01)
            assert shape.solid.size[1] == 0.1


def test_only_arcs_whose_discs_stick_out_are_chords():
    """An outward arc wider than its belt is high, beside the ends that are discs."""
    kinds = [type(link.shapes[0].solid) for link in segment_links(lens(), 0.1, 0.01, 1.0, [])]
    assert kinds == [Box, Cylinder, Box, Cylinder]


def test_a_lines_plate_lies_under_its_line():
    path = oval(0.5, 0.08)
    for segment, link in zip(path.segments, segment_links(path, 0.1, 0.01, 1.0, []), strict=True):
        if isinstance(segment, Line):
            outer = segment.point_at(np.array([0.0, segment.length]))
            inner = outer - 0.01 * normal_of(segment.heading)
            np.testing.assert_allclose(link.outlines[0], [*inner, *outer[::-1]], atol=1e-12)


def test_arcs_spin_with_the_mass_of_an_omitted_line():
    """Moments of thin hoops: about their axis what moves with the belt, across it half and the width's."""
    mass, width, radius, distance = 1.7, 0.1, 0.08, 0.5
    path = oval(distance, radius)
    per_length = mass / path.perimeter
    links = segment_links(path, width, 0.01, mass, [], ["line_2"])
    spin = (mass - per_length * distance) / 2 * radius**2
    across = spin / 2 + per_length * math.pi * radius * width**2 / 12
    for link in links:
        if link.joint == "hinge":
            assert link.mass == pytest.approx(per_length * math.pi * radius)
            assert link.inertia == pytest.approx((across, spin, across))
            assert link.ratio == pytest.approx(1 / radius)


@pytest.mark.parametrize("height", [0.0, 0.01])
@pytest.mark.parametrize("period", [0.01, 0.1])
def test_lines_of_an_upright_belt_run_on_below_its_lower_arc(period, height):
    """No line of it faces down: what lies lowest is an arc, and the lines slide straight down beside it."""
    radius = 0.02
    path = wrap_belt([Pulley(0.1, 0.3, radius), Pulley(0.1, 0.8, radius)])
    found = ground_dip(path, segment_links(path, 0.1, 0.01, 1.0, []), period, height)
    assert found == pytest.approx(max(0.0, period / 2 - radius - height), abs=1e-6)


@given(st.floats(0.02, 0.1), st.floats(0.2, 1.2), st.floats(0.001, 0.2))
def test_dip_of_a_smooth_trapezoid_is_its_closed_form(radius, slope, period):
    """Its slanted lines run on by half a period from where their arcs begin, r (1 - cos) above the ground."""
    half, height = 0.4, 0.5
    corners = [(half, 0), (-half, 0)] + [
        (side * (half + height / math.tan(slope)), height) for side in (-1, 1)
    ]
    path = wrap_belt([Pulley(x, z, radius) for x, z in corners])
    dip = period / 2 * math.sin(slope) - radius * (1 - math.cos(slope))
    found = ground_dip(path, segment_links(path, 0.1, 0.005, 1.0, ()), period, 0.0)
    assert found == pytest.approx(max(dip, 0.0), abs=1e-9)
