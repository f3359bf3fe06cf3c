"""Stages of a fit against what is known exactly: noise of rows, coloured noise, contradicting logs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from log_fit_doubles import VEHICLE, logged
from scipy.optimize import brentq
from scipy.stats import norm

from segtrack.description import VehicleDescription, load_vehicle
from segtrack.experiments import Workers
from segtrack.logs.fit import PARAMETERS, Choice, MotionCase, Profile
from segtrack.logs.fit.estimates import (
    FitUncertainty,
    effective_number,
    estimates_of,
    profile,
    uncertainty_of,
    with_sample,
)
from segtrack.logs.fit.evaluate import Evaluator, Store
from segtrack.logs.fit.fitting import describe
from segtrack.logs.fit.sampling import Sample, draw_sample
from segtrack.logs.fit.search import Noise, noise_of_row, same_branch
from segtrack.logs.fit.unknowns import unknowns_of
from segtrack.recording import version_of
from segtrack.robot import Motion, Signal

NO_PRIOR = np.zeros((1, 1))


class CountingWorkers(Workers):
    """This process, which counts what it simulates."""

    done = 0

    def run(self, function: Any, jobs: Any, on_done: Any = lambda job, done: None) -> Any:
        self.done += len(jobs)
        return super().run(function, jobs, on_done)


def test_a_new_scale_of_the_loss_needs_no_new_simulation_of_what_is_known_whole() -> None:
    """Its cost is the sum of Huber's losses, by the definition, with corners from the residuals' medians."""
    case, pool = logged("a", 0.2, 1), CountingWorkers(1)
    unknowns = unknowns_of({"com_x": Choice()}, VEHICLE, {"a": 0.0})
    evaluator = Evaluator(VEHICLE, [case], unknowns, pool, Store(), "huber")
    start = evaluator.start
    ((raw,),) = evaluator.raw_residuals([start])
    before = evaluator.costs([start])
    evaluator.rescale(start)
    (after,) = evaluator.costs([start])
    assert pool.done == 1
    assert evaluator.simulations == 5  # All that were asked for, two of them by `rescale`.
    corners = 1.345 * np.maximum(1.4826 * np.median(abs(raw), axis=0), 1.0)
    sizes = abs(raw)
    losses = np.where(sizes <= corners, raw**2, 2 * corners * sizes - corners**2)
    assert before == [pytest.approx((raw**2).sum())]
    assert after == pytest.approx(losses.sum()) and after < before[0]


def test_the_noise_of_a_smooth_function_is_what_was_added_to_it() -> None:
    x = np.linspace(-0.003, 0.003, 7)[:, None] + np.linspace(0, 1, 2000)
    noise = np.random.default_rng(1).normal(0, 1e-3, x.shape)
    assert noise_of_row(np.sin(3 * x) + noise) == pytest.approx(1e-3, rel=0.05)
    assert noise_of_row(np.sin(3 * x)) < 1e-12


def test_jumps_are_noise_where_many_are_between_the_points() -> None:
    """Rounding to multiples of d leaves an error evenly spread over d, whose deviation is d / sqrt(12)."""
    # Distances that are not alike, so that the errors of neighbours do not depend on each other.
    draw = np.random.default_rng(1)
    x = np.arange(7)[:, None] * draw.uniform(0.04, 0.06, 3000) + draw.uniform(0, 1, 3000)
    assert noise_of_row(np.round(x, 2)) == pytest.approx(0.01 / 12**0.5, rel=0.02)


@pytest.mark.parametrize(
    ("first", "last", "kept"),
    [(3, 6, slice(3, 7)), (0, 3, slice(0, 4)), (1, 5, slice(1, 6)), (0, 6, slice(0, 7))],
)
def test_another_branch_beyond_a_jump_is_no_noise(first: int, last: int, kept: slice) -> None:
    """A parabola about the middle, with a cliff outside some points."""
    x = np.arange(7)
    noise = np.random.default_rng(1).normal(0, 0.1, 7)
    row = (np.where((x < first) | (x > last), 1000.0, 0.0) + 0.5 * (x - 3.0) ** 2 + noise)[:, None]
    assert np.array_equal(same_branch(row), row[kept])
    assert noise_of_row(same_branch(row)) < 0.5


def test_a_row_that_jumps_everywhere_is_all_noise() -> None:
    row = np.random.default_rng(1).normal(0, 1000.0, (7, 1))
    assert np.array_equal(same_branch(row), row)
    apart = np.array([0.0, 0.0, 0.0, 1000.0, 0.0, 0.0, 0.0])[:, None]
    assert np.array_equal(same_branch(apart), apart), "too little of the middle's branch is left"


def autoregressive(generator: np.random.Generator, n: int, correlation: float) -> np.ndarray:
    """Noise of standard deviation 1 (n, 1) whose neighbours have a correlation."""
    steps = generator.normal(0, (1 - correlation**2) ** 0.5, n)
    steps[0] = generator.normal()
    values = np.zeros(n)
    values[0] = steps[0]
    for i in range(1, n):
        values[i] = correlation * values[i - 1] + steps[i]
    return values[:, None]


def test_white_noise_has_the_variance_of_least_squares() -> None:
    generator = np.random.default_rng(1)
    slopes = generator.normal(0, 1, (400, 1, 2))
    found = [
        uncertainty_of([generator.normal(0, 1, (400, 1))], [slopes], np.zeros((2, 2))) for _ in range(50)
    ]
    exact = np.sqrt(np.diag(np.linalg.inv(slopes[:, 0].T @ slopes[:, 0])))
    assert np.mean([each.std for each in found], axis=0) == pytest.approx(exact, rel=0.15)
    assert np.mean([each.freedom for each in found]) == pytest.approx(398, rel=0.15)


def test_intervals_hold_under_coloured_noise_where_those_of_white_noise_do_not() -> None:
    """A mean and a slope of two series with a correlation time of a fifteenth of them."""
    generator, inside, naively, seeds = np.random.default_rng(2), 0, 0, 150
    line = np.linspace(-1, 1, 300)
    slopes = np.stack([np.ones(300), line], axis=1)[:, None]
    for _ in range(seeds):
        noises = [autoregressive(generator, 300, 0.9) for _ in range(2)]
        estimate = np.linalg.lstsq(np.tile(slopes[:, 0], (2, 1)), np.concatenate(noises)[:, 0], rcond=None)[0]
        left = [noise - slopes[:, 0] @ estimate[:, None] for noise in noises]
        uncertainty = uncertainty_of(left, [slopes, slopes], np.zeros((2, 2)))
        inside += int((abs(estimate) < uncertainty.quantile * uncertainty.std).sum())
        naively += int((abs(estimate) < 1.96 * np.sqrt(np.diag(np.linalg.inv(uncertainty.curvature)))).sum())
    assert naively < 0.5 * 2 * seeds
    assert 0.9 * 2 * seeds <= inside


def test_series_that_are_alike_count_for_few() -> None:
    generator = np.random.default_rng(3)
    long = autoregressive(generator, 20000, 0.8)
    assert effective_number(long) == pytest.approx(20000 * (1 - 0.8) / (1 + 0.8), rel=0.15)
    assert effective_number(generator.normal(0, 1, (500, 40))) == pytest.approx(500, rel=0.15)


def test_logs_that_contradict_each_other_widen_the_interval_by_their_ratio() -> None:
    """Two means that differ: each residual is a constant, whose coloured variance is 2 / 3 of its square."""
    generator, n, apart = np.random.default_rng(4), 2000, 2.0
    residuals = [generator.normal(0, 1, (n, 1)) for _ in range(2)]
    residuals = [each - each.mean() + sign * apart for each, sign in zip(residuals, (-1, 1), strict=True)]
    slopes = [np.ones((n, 1, 1))] * 2
    together = uncertainty_of(residuals, slopes, NO_PRIOR)
    assert together.disagreement == pytest.approx(3**0.5, rel=0.05)
    assert together.std[0] == pytest.approx(3**0.5 * apart * (2 / 3) ** 0.5, rel=0.05)
    alone = uncertainty_of(residuals[:1], slopes[:1], NO_PRIOR)
    assert alone.disagreement is None


def test_directions_without_any_sensitivity_are_loose_and_others_are_not() -> None:
    slopes = np.ones((100, 1, 2))
    residuals = np.random.default_rng(5).normal(0, 1, (100, 1))
    found = uncertainty_of([residuals], [slopes], np.zeros((2, 2)))
    order = np.argsort(found.axis_std)
    firm, loose = found.axes.T[order]
    assert abs(firm @ [1, 1]) == pytest.approx(2**0.5) and abs(loose @ [1, -1]) == pytest.approx(2**0.5)
    # A hundred rows whose derivative along the firm axis is sqrt(2).
    std = np.sqrt((residuals**2).sum() / 99 / (2 * 100))
    assert found.axis_std[order] == pytest.approx([std, 1000], rel=0.01)
    assert found.correlations[0, 1] == pytest.approx(-1.0)


def test_a_prior_adds_its_curvature() -> None:
    noise = np.random.default_rng(6).normal(0, 1, (100, 1))
    found = uncertainty_of([noise], [np.zeros((100, 1, 1))], np.array([[10.0]]))
    assert found.std == pytest.approx([0.1])


@pytest.mark.parametrize(
    ("distances", "firm", "reason"),
    [
        ([3.0, 0.0, 3.0], [1.0, 0.0, 3.0], "another unknown runs into a bound"),
        ([0.1, 0.0, 3.0], [0.0, 0.0, 3.0], "less than noise and what the model gets wrong"),
    ],
    ids=["the bound ends the profile", "the profile is flat up to it"],
)
def test_a_bound_of_another_unknown_is_the_reason_only_where_the_profile_ends_at_it(
    distances: list[float], firm: list[float], reason: str
) -> None:
    whole = unknowns_of({"friction": Choice()}, load_vehicle("quince"), {"log": 0.0})
    noise = np.random.default_rng(1).normal(0, 1, (400, 1))
    seen = uncertainty_of([noise], [np.ones((400, 1, 1))], NO_PRIOR)
    found = Profile(np.array([0.2, 0.5, 0.8]), np.array(distances), np.array(firm), None, 0.8)
    (estimate,) = estimates_of(whole, np.array([0.5]), seen, [found], (), 1.0)
    assert estimate.status == "bounded above"
    assert reason in estimate.why


def test_a_fit_is_resumed_for_the_packages_that_simulated_it_alone() -> None:
    told = describe([], [])
    for package in ("numpy", "numba", "cmaes"):
        assert told[f"version of {package}"] == version_of(package)


WAVE = np.sin(np.arange(0.0, 5.0, 0.05))
LEVEL = 0.004


def by_height(vehicle: VehicleDescription, case: MotionCase, place: float, part: np.ndarray) -> Motion:
    """A pitch that is linear in the centre of mass, ahead by a wave and up by a part of its own."""
    x, z = (PARAMETERS[name].value_of(vehicle) for name in ("com_x", "com_z"))
    return Motion("linear", {"pitch": Signal(np.arange(100) * 0.05, 5.0 * (WAVE * x + part * z))})


def profile_beside(part: np.ndarray, room: float) -> tuple[Profile, float]:
    """Profile of com_x beside a com_z that has so much room to both sides [m], and the range of com_x."""
    simulate = partial(by_height, part=part)
    pitch = simulate(VEHICLE, None, 0.0).signals["pitch"]
    case = MotionCase("a", Motion("a", {"pitch": replace(pitch, std=LEVEL)}), {"pitch": None}, simulate)
    z = PARAMETERS["com_z"].value_of(VEHICLE)
    unknowns = unknowns_of({"com_x": Choice(), "com_z": Choice((z - room, z + room))}, VEHICLE, {"a": 0.0})
    evaluator = Evaluator(VEHICLE, [case], unknowns, Workers(1), Store())
    steps = np.array([0.01, 0.01])
    slopes, priors = evaluator.jacobian(evaluator.start, steps, raw=True)
    noise = np.random.default_rng(1).normal(0, 1, slopes[0].shape[:2])
    uncertainty = uncertainty_of([noise], slopes, priors)
    found = profile(evaluator, evaluator.start, 0, uncertainty, Noise(0.0, 0.0, 0.001, tuple(steps)))
    return found, unknowns[0].high - unknowns[0].low


def test_a_bound_at_which_another_unknown_makes_up_for_little_ends_no_profile() -> None:
    """A height that does what com_x does, a fiftieth of it, has 1 mm of room: it takes 20 um of com_x."""
    found, width = profile_beside(0.02 * WAVE, room=0.001)
    alone = 1.98 * LEVEL / (5.0 * np.linalg.norm(WAVE))
    assert found.low is not None and found.high is not None
    assert (found.high - found.low) * width / 2 == pytest.approx(alone, rel=0.3)


def test_a_bound_at_which_another_unknown_would_make_up_for_all_leaves_the_profile_open() -> None:
    """Both do nearly alike: the interval is no narrower than without bounds, or has no end."""
    part = WAVE + 0.3 * np.cos(np.arange(0.0, 5.0, 0.05))
    slopes = 5.0 / LEVEL * np.stack([WAVE, part], axis=1)
    x_std, z_std = np.sqrt(np.diag(np.linalg.inv(slopes.T @ slopes)))
    found, width = profile_beside(part, room=0.9 * z_std)
    for end in (found.low, found.high):
        assert end is None or abs(end - 0.5) * width > 1.9 * x_std
    sharp = np.interp(1.96 * x_std / width, found.scaled - 0.5, found.distances)
    assert sharp > 2.5, "the bounds alone would make it narrower"


class Costs:
    """Evaluator of a closed form."""

    def __init__(self, form: Callable[[np.ndarray], float]) -> None:
        self.form = form

    def costs(self, points: Sequence[np.ndarray]) -> list[float]:
        return [self.form(point) for point in points]


def needles(point: np.ndarray) -> float:
    """The likelihood of three least costs alike in height and width, in a row, and of one unknown more."""
    x, y = point
    others = [math.exp(-((x - at) ** 2) / (2 * 0.01**2)) for at in (0.5, 0.56, 0.62)]
    return -2 * math.log(sum(others) + 1e-300) + ((y - 0.3 - x / 5) / 0.05) ** 2


def test_a_sample_knows_of_least_costs_that_the_best_fit_does_not() -> None:
    """Quantiles of a sum of normal distributions, from a start at the first of them."""
    start, covariance = np.array([0.5, 0.4]), np.diag([0.01**2, 0.05**2])
    sample = draw_sample(Costs(needles), start, covariance, 1.0, seed=3)  # type: ignore[arg-type]
    shares = np.array([0.025, 0.5, 0.975])

    def share(x: float) -> float:
        return float(np.mean([norm.cdf(x, at, 0.01) for at in (0.5, 0.56, 0.62)]))

    exact = [brentq(lambda x, part=part: share(x) - part, 0.4, 0.8) for part in shares]
    assert sample.quantiles(0, 1.0, shares) == pytest.approx(exact, abs=0.012)
    spread = math.hypot(0.05, np.std([0.5, 0.56, 0.62]) / 5, 0.01 / 5)
    assert np.diff(sample.quantiles(1, 1.0, shares))[[0, -1]] == pytest.approx(1.96 * spread, rel=0.3)


def test_a_sample_keeps_to_the_bounds_and_is_as_wide_as_correlated_residuals_are() -> None:
    """Half of a normal distribution, whose variance is four times that of white noise, beside a bound."""
    costs = Costs(lambda point: float((point[0] / 0.05) ** 2))
    sample = draw_sample(costs, np.array([0.0]), np.array([[0.1**2]]), 4.0, seed=1)  # type: ignore[arg-type]
    found = sample.quantiles(0, 4.0, np.array([0.5, 0.95]))
    assert found == pytest.approx(norm.ppf([0.75, 0.975], 0.0, 0.1), rel=0.2)
    inside = (sample.points >= 0.0).ravel()
    assert sample.weights(4.0)[~inside].sum() == 0.0 and sample.weights(4.0).sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("off", "low", "high"),
    [
        (0.0, 0.48, 0.52),  # The sample says the same.
        (0.02, 0.48, 0.54),  # Its middle is a standard deviation farther.
        (0.55, 0.48, None),  # Beyond the bound.
    ],
)
def test_an_interval_takes_in_that_of_the_sample(off: float, low: float, high: float | None) -> None:
    """Standard deviation of 0.01, and a quantile of 2 for few residuals."""
    uncertainty = FitUncertainty(
        np.array([0.01]), np.eye(1), np.array([[1e4]]), 60.3, np.eye(1), np.array([0.01]), None
    )
    assert uncertainty.quantile == pytest.approx(2.0, abs=1e-3)
    values = np.array([0.48, 0.5, 0.52])
    own = Profile(values, np.array([2.0, 0.0, 2.0]), np.array([2.0, 0.0, 2.0]), 0.48, 0.52)
    points = norm.ppf((np.arange(2000) + 0.5) / 2000, 0.5 + off, 0.01)[:, None]
    found = with_sample(own, Sample(points, np.zeros(2000), np.zeros(2000)), 0, uncertainty)
    assert found.low == pytest.approx(low, abs=2e-4)
    assert found.high == (None if high is None else pytest.approx(high, abs=2e-4))
    open_ended = with_sample(
        replace(own, high=None), Sample(points, np.zeros(2000), np.zeros(2000)), 0, uncertainty
    )
    assert open_ended.high is None
