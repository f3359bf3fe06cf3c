"""Intervals of clocks: beside the truth where gyroscopes tremble, over time, with what is known before."""

import math

import numpy as np
import pytest
from mapped_logs import channel, log_of, mapped, refused, swaying
from quick import some_of
from scipy.stats import binom, chi2

from segtrack.logs.mapping import ClockFit, Estimate, TimeUncertainty, fit_clock
from segtrack.logs.mapping.overlay import Overlay
from segtrack.logs.mapping.trembling import find_trembling
from segtrack.logs.mapping.views import View
from segtrack.logs.statistics import sandwich
from segtrack.reproduce.clocks import (
    CONDITIONS,
    NAMES,
    OFFSET,
    SKEW,
    ClockCondition,
    draw,
    run_clocks,
    simulate,
)

SEEDS = (4, 5)
"""Those by which errors were 5 and 10 standard deviations when trembling passed for motion."""


def test_errors_of_a_clock_are_as_large_as_they_are_said_to_be_though_its_gyroscope_aliases():
    """The sum of squared errors over their variances is below chi-squared's quantile of 0.999."""
    drawn = [draw((ClockCondition(0.1, averages=False), seed)) for seed in SEEDS]
    ratios = np.array([np.divide(each.errors, each.stds) for each in drawn])
    assert np.sum(ratios**2, axis=0).max() < chi2.ppf(0.999, len(drawn))


@pytest.mark.slow
def test_intervals_hold_however_a_gyroscope_trembles():
    """400 logs: 92 to 98 % of all intervals, of each quantity in each condition as many as chance allows.

    `segtrack reproduce clocks` prints them.
    """
    result = run_clocks()
    assert all(
        0.92 <= np.mean([result.share(name) for name in names]) <= 0.98 for names in (NAMES, NAMES[:2])
    )
    for condition, draws in result.draws.items():
        least = binom.ppf(1e-4, len(draws), 0.95)
        assert min(result.held(condition, name) for name in NAMES) >= least
    assert result.ratios(CONDITIONS) == pytest.approx(np.ones(5), abs=0.15)


@pytest.mark.parametrize("trembling", [0.0, 0.03, 0.1])
def test_a_gyroscope_that_trembles_at_half_its_rate_is_told(trembling):
    rates = [simulate(ClockCondition(trembling, averages=False), seed)[0] for seed in range(3)]
    found = [find_trembling(motion.signals["angular_velocity"]) for motion in rates]
    if not trembling:
        assert found == [None] * 3
    else:
        # What is between 25 and 50 Hz of tones between 50 and 95 Hz, which look like 5 to 50 Hz.
        assert [each.size for each in found] == pytest.approx([trembling * math.sqrt(25 / 45)] * 3, rel=0.25)
        # Of white noise half is there.
        assert [each.at_rest for each in found] == pytest.approx([0.006 / math.sqrt(2)] * 3, rel=0.2)


def test_trembling_that_the_samples_resolve_and_impacts_are_not_told():
    rng, times = np.random.default_rng(0), np.arange(0.0, 20.0, 0.01)
    values = rng.normal(0, 0.005, (len(times), 3))
    moving = times > 5
    low = 0.1 * np.sin(2 * np.pi * 12 * times) * moving
    impacts = np.where(np.arange(len(times)) % 700 == 650, 2.0, 0.0)
    for more in (low, impacts):
        signal = simulate(CONDITIONS[0], 0)[0].signals["angular_velocity"]
        seen = type(signal)(times, values + more[:, None] * [0.0, 1.0, 0.0])
        assert find_trembling(seen) is None


@pytest.mark.parametrize("levels", [(1.0, 1.0), (0.2, 3.0)])
def test_variances_of_uneven_residuals_are_theirs(levels):
    """Derivatives are in one short piece, whose level counts: 20 of 2000 residuals, in the loud half."""
    rng, count = np.random.default_rng(1), 2000
    jacobian = np.zeros((count, 1, 1))
    jacobian[1490:1510] = 1.0
    inverse = np.array([[1 / 20]])
    level = np.where(np.arange(count) < 1000, *levels)
    found = [sandwich(jacobian, (level * rng.normal(size=count))[:, None], inverse) for _ in range(200)]
    variances = np.array([each.covariance[0, 0] for each in found])
    true = levels[1] ** 2 / 20
    assert variances.mean() == pytest.approx(true, rel=0.05)
    # Degrees of freedom are no more than the variance of the variances has, and half as many or more.
    freedom, true_freedom = np.median([each.freedom[0] for each in found]), 2 * true**2 / variances.var()
    assert 0.4 * true_freedom < freedom < 1.3 * true_freedom


@pytest.mark.parametrize("place", [0.2, 0.7])
def test_a_jump_of_rates_between_samples_is_as_uncertain_as_its_place(place):
    """The integral errs by jump times a part of the time between samples that is evenly distributed."""
    slow, fast = np.arange(0.0, 4.0, 0.02), np.arange(0.0, 4.0, 0.01)
    jump, when = 3.0, 2.0 + 0.01 * place
    angle = View("yaw", False, slow, jump * np.maximum(slow - when, 0.0))
    overlay = Overlay(angle, View("yaw", True, fast, jump * (fast > when)), 0.03)
    values = np.array([0.0, 0.0, 1.0, 0.0])
    rows, stds = overlay.choose(values, 2.0, np.inf), (0.001, 0.0)
    variances = stds[0] ** 2 * overlay.noise_model(values, rows, stds).reference[0]
    true = np.full(len(variances), 2 * stds[0] ** 2)
    true[np.searchsorted(rows.times, when) - 1] += jump**2 * 0.01**2 / 12
    assert variances == pytest.approx(true)


def fit_of(offset_std, skew_std, correlation):
    offset, skew = Estimate.normal(0.4, offset_std), Estimate.normal(0.0, skew_std)
    return ClockFit("a", "b", "turning", 10.0, offset, skew, correlation * offset_std * skew_std, 100)


@pytest.mark.parametrize("correlation", [0.0, -0.9, 0.5])
def test_the_deviation_of_times_is_that_of_offset_and_skew_together(correlation):
    """Beside the quadratic form, and two independent errors whose squares add up to it."""
    uncertainty = fit_of(0.004, 0.0005, correlation).uncertainty
    since = np.linspace(0.0, 20.0, 5)
    covariance = correlation * 0.004 * 0.0005
    true = np.sqrt(0.004**2 + 2 * covariance * since + (0.0005 * since) ** 2)
    assert uncertainty.std(10.4 + since) == pytest.approx(true)
    parts = [offset + skew * since for offset, skew in uncertainty.parts(10.4)]
    assert np.sqrt(np.sum(np.square(parts), axis=0)) == pytest.approx(true)


@pytest.mark.parametrize("skews", [(0.0, 0.0), (0.001, 0.0), (0.001, 0.0005)])
def test_errors_of_times_add_up(skews):
    one, other = (TimeUncertainty(0.003, skews[0], 2.0), TimeUncertainty(0.004, skews[1], 7.0))
    times = np.linspace(0.0, 10.0, 5)
    assert one.plus(other).std(times) == pytest.approx(np.hypot(one.std(times), other.std(times)))


def test_a_skew_that_is_known_beforehand_makes_the_offset_sure():
    """Not to be seen at all it stays at what is known, within its interval."""
    gyroscope, tracker = simulate(ClockCondition(0.0, averages=False), 0)
    free, known = (fit_clock(gyroscope, tracker, skew_std=std) for std in (0.03, 1e-4))
    assert known.skew.holds(SKEW) or abs(known.skew.value) < 4e-4
    assert abs(known.offset.value - OFFSET) < 3 * known.offset.std < 3 * 0.001 < free.offset.std
    assert known.skew.std < 1.01e-4 < free.skew.std


def two_stamped(skew=3e-4, step=0.0, count=500):
    """A pose and a gyroscope with stamps of their own clocks; those of the pose are early, and run slow.

    They are set by a step [s] in the middle.
    """
    rng, since = np.random.default_rng(0), np.arange(count) / 50
    rates = (swaying(since - 0.005).inv() * swaying(since + 0.005)).as_rotvec() / 0.01
    rates += rng.normal(0, 0.005, rates.shape)
    turned = swaying(since).as_quat() + rng.normal(0, 0.0005, (count, 4))
    turned /= np.linalg.norm(turned, axis=1, keepdims=True)
    late = [100 + since + 0.001 + rng.exponential(0.0005, count) for _ in range(2)]
    return log_of(
        channel("/pose.q", turned, "-", late[0], "/pose", 97.7 + since / (1 + skew) + step * (since > 5)),
        channel("/imu.w", rates, "rad/s", late[1], "/imu", 100 + since),
    )


STAMPED = "  orientation: {channels: /pose.q}\n  angular_velocity: {channels: /imu.w}"


def aligned(log, more=""):
    said = f"sources: {{/pose: {{align: /imu{more}}}, /imu: {{clock: header}}}}"
    return mapped(log, STAMPED, said)


def test_align_keeps_the_skew_that_receive_times_know():
    result = aligned(two_stamped())
    by_receiving, _, fit = result.clocks
    assert by_receiving.reference == "receive times" and by_receiving.skew.holds(3e-4)
    assert abs(fit.skew.value) < 3 * fit.skew.std and fit.skew.std < 3e-5
    assert abs(fit.offset.value) < 3 * fit.offset.std < 0.006
    times = result.time_uncertainties
    assert set(times) == {"/pose", "/imu"}
    assert times["/pose"].std(5.0) == pytest.approx(float(fit.uncertainty.std(5.0 + result.begin)), rel=0.01)


def test_an_uneven_clock_of_headers_knows_no_skew():
    assert aligned(two_stamped(step=0.1)).clocks[-1].skew.std > 1e-4


@pytest.mark.parametrize("skew", some_of([0.0, 5e-4, 3e-3, -0.01], 0.0, -0.01))
def test_a_skew_that_no_quartz_has_is_noted(skew):
    """Of times that are a channel, since nothing is known of them."""
    log = two_stamped(skew)
    pose = log.channels["/pose.q"]
    said = "sources: {/pose: {time: /pose.t, align: /imu}, /imu: {clock: receive}}"
    with_times = log_of(*log.channels.values(), channel("/pose.t", pose.stamps, "s", pose.times, "/pose"))
    found = [note for note in mapped(with_times, STAMPED, said).notes if "skew_std" in note]
    assert len(found) == (abs(skew) > 1e-3)
    for note in found:
        pace = "fast" if skew < 0 else "slow"
        assert note.startswith("/pose: its clock would run ") and f" % {pace} on that of /imu, where" in note


def test_a_skews_deviation_is_said_beside_align_alone():
    assert refused(two_stamped(), STAMPED, "sources: {/pose: {skew_std: 1e-4}, /imu: {}}") == (
        "m.yaml:1: sources./pose.skew_std must be left out without align"
    )
    with_zero = "sources: {/pose: {align: /imu, skew_std: 0}, /imu: {}}"
    assert refused(two_stamped(), STAMPED, with_zero) == (
        "m.yaml:1: sources./pose.skew_std must be greater than 0, got 0"
    )
