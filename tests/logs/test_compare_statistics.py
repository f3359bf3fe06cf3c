"""Statistics of errors: autoregressive series in closed form, a second implementation, known convergence."""

import math

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.spatial.transform import Rotation
from scipy.stats import norm, wasserstein_distance

from segtrack.errors import InvalidValueError
from segtrack.logs.compare import Numerics, area_rows
from segtrack.logs.compare.comparison import area
from segtrack.logs.compare.errors import Error, Key, rigid_motion
from segtrack.logs.compare.uncertainty import input_of, numerics_of
from segtrack.logs.statistics import correlation_of, mean_interval


def autoregressive(factor, n, seed):
    """x_i = factor x_(i-1) + noise, stationary."""
    noise = np.random.default_rng(seed).standard_normal(n + 500)
    return lfilter([1.0], [1.0, -factor], noise)[500:]


@pytest.mark.parametrize("factor", [0.3, 0.7, 0.9])
def test_block_length_is_the_best_of_an_autoregressive_series(factor):
    n = 5_000
    found = np.median([correlation_of(autoregressive(factor, n, seed)).block_length for seed in range(40)])
    best = (6 * factor**2 / (1 - factor**2) ** 2 * n) ** (1 / 3)
    assert found == pytest.approx(best, rel=0.1)


@pytest.mark.parametrize("factor", [0.0, 0.5, 0.9])
def test_correlated_samples_count_as_fewer_independent_ones(factor):
    n = 5_000
    found = np.median([correlation_of(autoregressive(factor, n, seed)).independent for seed in range(40)])
    assert found == pytest.approx(n * (1 - factor) / (1 + factor), rel=0.15)


def test_the_interval_of_white_noise_is_that_of_the_normal_distribution():
    values = np.random.default_rng(1).standard_normal(4000)
    low, high = mean_interval(values)
    expected = norm.interval(0.95, values.mean(), values.std() / math.sqrt(len(values)))
    assert (low, high) == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize(("factor", "least"), [(0.0, 0.88), (0.8, 0.85)])
def test_intervals_hold_the_true_mean_as_often_as_they_say(factor, least):
    intervals = [mean_interval(autoregressive(factor, 500, seed)) for seed in range(40)]
    assert least <= np.mean([low <= 0.0 <= high for low, high in intervals]) <= 1.0


def test_a_constant_series_has_an_interval_without_length():
    assert mean_interval(np.full(20, 3.0)) == (3.0, 3.0)
    assert correlation_of(np.full(20, 3.0)) == (1, 20.0)


def test_rigid_motion_is_that_of_an_independent_library():
    draw = np.random.default_rng(2)
    points = draw.normal(size=(30, 3))
    turn = Rotation.from_euler("ZYX", [0.4, -0.2, 1.0])
    targets = turn.apply(points) + [1.0, 2.0, 3.0] + 0.01 * draw.normal(size=(30, 3))
    rotation, offset = rigid_motion(points, targets)
    expected, _ = Rotation.align_vectors(targets - targets.mean(0), points - points.mean(0))
    assert rotation == pytest.approx(expected.as_matrix())
    assert rotation @ points.mean(0) + offset == pytest.approx(targets.mean(0))


def test_points_in_a_plane_are_turned_and_not_mirrored():
    points = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [2.0, 1.0, 0.0]])
    rotation, _ = rigid_motion(points, points[:, [1, 0, 2]])
    assert np.linalg.det(rotation) == pytest.approx(1.0)


KEY = Key("pitch", "whole", "course")


def errors(*values):
    return {KEY: Error("rad", np.array(values, dtype=float).reshape(-1, 1))}


@pytest.mark.parametrize("order", [1.0, 2.0])
def test_three_time_steps_that_converge_give_the_grid_convergence_index(order):
    pattern = np.array([1.0, -2.0, 0.5])
    steps = [errors(*(7.0 + pattern * h**order)) for h in (0.2, 0.1, 0.05)]
    found = numerics_of(steps, KEY)
    true = float(np.sqrt(np.mean((pattern * 0.2**order) ** 2)))
    assert found.method == "GCI"
    assert found.order == pytest.approx(order)
    assert found.value == pytest.approx(1.25 * true / 1.15)


def test_three_time_steps_that_do_not_converge_give_their_spread():
    assert numerics_of([errors(1.0), errors(2.0), errors(1.0)], KEY) == Numerics(
        pytest.approx(1.0 / 1.693), "difference", None
    )


def test_three_time_steps_that_are_equal_are_certain():
    assert numerics_of([errors(1.0, 2.0)] * 3, KEY).value == 0.0


def test_numerics_need_three_time_steps_that_all_have_the_number():
    assert numerics_of([errors(1.0), errors(2.0)], KEY) is None
    assert numerics_of([errors(1.0), errors(2.0), {}], KEY) is None


def test_an_input_is_as_uncertain_as_half_of_what_is_between_its_two_sides():
    assert input_of(errors(1.0, 5.0), errors(4.0, 1.0), KEY) == pytest.approx(math.sqrt((9 + 16) / 2) / 2)
    assert input_of(errors(1.0), {}, KEY) is None


def test_the_area_of_distributions_that_do_not_overlap_is_the_difference_of_their_means():
    found, (low, high) = area([3.0, 4.0, 5.0], [1.0, 2.0, 1.5])
    assert found == pytest.approx(2.5)
    assert low <= found <= high


def test_the_interval_of_an_area_is_that_of_drawing_repeats_one_by_one():
    draw = np.random.default_rng(8)
    simulated, logged = draw.normal(size=6), draw.normal(0.5, 2.0, size=6)
    rows = np.random.default_rng(20090).integers(0, 6, (1000, 6))
    areas = [wasserstein_distance(simulated[row], logged[row]) for row in rows]
    assert area(simulated, logged)[1] == pytest.approx(np.percentile(areas, [2.5, 97.5]))


def test_the_area_of_equal_distributions_is_none_in_whatever_order():
    assert area([1.0, 2.0, 3.0], [3.0, 1.0, 2.0])[0] == pytest.approx(0.0)


def test_one_trial_is_no_repeat():
    with pytest.raises(InvalidValueError) as error:
        area_rows([])
    assert str(error.value) == "repeats of a trial must be two or more, got 0"
