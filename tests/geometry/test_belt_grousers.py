"""Grousers along a belt: pitch, wrapped travel, and the seam error of links."""

import math

import numpy as np
import pytest
from drawn_belts import EXACT, belts, fractions, oval
from hypothesis import given
from hypothesis import strategies as st
from stances import seam_error, stance_on_belt, stance_on_segments

from segtrack.description import load_vehicle
from segtrack.geometry import Arc, BeltPath, Pulley, normal_of, place_grousers, prism, wrap_belt, wrap_travel


def started_at(path, first):
    return BeltPath(path.segments[first:] + path.segments[:first])


def rows(stance, *columns):
    """A stance as a set: sorted rows of point, direction and further columns."""
    table = np.column_stack([stance.points, normal_of(stance.headings), *columns])
    return table[np.lexsort(np.round(table, 7).T)]


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


def test_a_grousers_tip_stands_highest_in_its_middle():
    tip = np.array(prism(0.018, 0.005, 0.016, 0.17, 1e-4).vertices)
    np.testing.assert_allclose(tip.max(axis=0), [0.009, 0.085, 0.016])
    np.testing.assert_allclose(sorted(set(tip[tip[:, 1] != 0][:, 2])), [0.0, 0.0159])
    flat = np.array(prism(0.018, 0.005, 0.016, 0.17, 0.0).vertices)
    assert len(flat) == 8 and set(flat[:, 2]) == {0.0, 0.016}
