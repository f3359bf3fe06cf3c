"""Obstacles of events against the paper's numbers, and ride courses against what they promise."""

import math

import numpy as np
import pytest

from segtrack.errors import InvalidValueError
from segtrack.experiments import (
    GapObstacle,
    HalfRoundObstacle,
    RideCourse,
    StepObstacle,
    TrapezoidObstacle,
)
from segtrack.terrain import profile

# Koerner 2024, Fig. 4.18: flat, slope, run of a slope, base of a barrier or opening of a ditch [m, deg].
TRAPEZOIDS = {
    1: (0.1524, 16, 2.6574, 5.4672),
    2: (0.1524, 26, 1.5623, 3.2771),
    3: (0.1524, 38, 0.9753, 2.1030),
    4: (0.1524, 68, 0.3079, 0.7681),
    5: (0.7620, 16, 2.6574, 6.0768),
    8: (0.7620, 68, 0.3079, 1.3777),
    9: (3.5560, 16, 2.6574, 8.8708),
    12: (3.5560, 68, 0.3079, 4.1717),
}


@pytest.mark.parametrize("number", TRAPEZOIDS)
@pytest.mark.parametrize("ditch", [False, True])
def test_trapezoids_have_the_papers_geometry(number, ditch):
    flat, slope, run, outer = TRAPEZOIDS[number]
    obstacle = TrapezoidObstacle(number, ditch)
    assert obstacle.flat == pytest.approx(flat) and math.degrees(obstacle.slope) == pytest.approx(slope)
    assert obstacle.end == pytest.approx(outer, abs=1e-4)
    sign = -1 if ditch else 1
    heights = obstacle.terrain(1.0, 1.0).height_at([-0.01, run / 2, run + flat / 2, outer + 0.01])
    assert heights == pytest.approx([0.0, sign * 0.381, sign * 0.762, 0.0], abs=1e-4)


def test_a_smaller_trapezoid_is_similar():
    large, small = TrapezoidObstacle(7), TrapezoidObstacle(7, height=0.0762)
    assert (small.end, small.flat) == pytest.approx((large.end / 10, large.flat / 10))
    assert small.slope == large.slope


def test_half_round_is_as_high_as_its_radius():
    terrain = HalfRoundObstacle(0.3048).terrain(1.0, 1.0)
    x = np.linspace(0.0, 0.6096, 101)
    assert terrain.height_at(x) == pytest.approx(np.sqrt(np.clip(0.3048**2 - (x - 0.3048) ** 2, 0, None)))


def test_step_and_gap_begin_at_the_origin():
    step, gap = StepObstacle(0.5), GapObstacle(1.5, 0.8)
    assert step.terrain(1.0, 1.0).height_at([-0.01, 0.01]) == pytest.approx([0.0, 0.5])
    assert gap.terrain(1.0, 1.0).height_at([-0.01, 0.01, 1.49, 1.51]) == pytest.approx([0.0, -0.8, -0.8, 0.0])
    assert (step.end, gap.end) == (0.0, 1.5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: StepObstacle(0.0), "height of a step [m] must be above 0, got 0.0"),
        (lambda: GapObstacle(1.0, -1.0), "depth of a gap [m] must be above 0, got -1.0"),
        (lambda: TrapezoidObstacle(13), "number of a trapezoid must be from 1 to 12, got 13"),
        (lambda: RideCourse(0.0), "rms of a ride course [m] must be above 0, got 0.0"),
        (
            lambda: RideCourse(0.1, correlation=2.0),
            "correlation of a ride course must be from 0 to 1, got 2.0",
        ),
        (
            lambda: RideCourse(0.1, shortest=20.0),
            "shortest of a ride course [m] must be below the longest wave and the length of 18.288, got 20.0",
        ),
    ],
)
def test_numbers_that_make_no_obstacle_are_refused(make, message):
    with pytest.raises(InvalidValueError) as error:
        make()
    assert str(error.value) == message


@pytest.mark.parametrize("correlation", [0.0, 0.4, 1.0])
def test_a_course_has_its_roughness_no_slope_and_its_correlation(correlation):
    course = RideCourse(0.02, length=80.0, seed=3, correlation=correlation)
    x = np.arange(course.profiles.shape[1]) * course.spacing
    for heights in course.profiles:
        assert np.sqrt(np.mean(heights**2)) == pytest.approx(0.02)
        assert np.polyfit(x, heights, 1) == pytest.approx([0.0, 0.0], abs=1e-12)
    assert np.corrcoef(course.profiles)[0, 1] == pytest.approx(correlation, abs=1e-9)


def test_a_courses_spectrum_falls_with_the_square_of_the_wave_number_within_its_waves():
    courses = [RideCourse(0.02, length=180.0, seed=seed).profiles[0] for seed in range(20)]
    spacing = RideCourse(0.02).spacing
    waves = np.fft.rfftfreq(len(courses[0]), spacing)
    power = np.mean([np.abs(np.fft.rfft(heights)) ** 2 for heights in courses], axis=0)
    inside = (waves > 0.1) & (waves < 1.5)
    slope, _ = np.polyfit(np.log(waves[inside]), np.log(power[inside]), 1)
    assert slope == pytest.approx(-2.0, abs=0.05)
    assert power[waves > 2.0].sum() + power[waves < 0.04].sum() < 0.01 * power.sum()


def test_equal_seeds_make_equal_courses_and_others_do_not():
    a, b, c = (RideCourse(0.02, seed=seed).profiles for seed in (1, 1, 2))
    assert np.array_equal(a, b) and not np.allclose(a, c)


def test_the_ground_of_a_course_is_its_profiles_between_flat_ground():
    course = RideCourse(0.02, length=10.0, gauge=1.0, correlation=0.2, longest=5.0)
    ground = course.terrain(4.0, 3.0, 2.0)
    x = np.arange(course.profiles.shape[1]) * course.spacing
    for y, heights in ((0.7, course.profiles[0]), (-0.7, course.profiles[1])):
        assert ground.height_at(x, y) == pytest.approx(heights, abs=1e-9)
    assert ground.height_at([-3.0, 12.5]) == pytest.approx([0.0, 0.0])
    outline = profile(ground, -3.5, 12.5)
    assert np.abs(np.diff(outline.z)).max() < 0.02
