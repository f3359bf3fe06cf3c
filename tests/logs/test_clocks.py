"""Clocks and mountings of sensors: on motions of a closed form, and refused where there is nothing to see."""

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from quick import some_of
from scipy.integrate import trapezoid
from scipy.spatial.transform import Rotation
from scipy.stats import binom
from tables import each_row

from segtrack.errors import ClockError
from segtrack.logs import Motion, Signal
from segtrack.logs.mapping import Estimate, SensorMounting, fit_clock, fit_to_receive_times
from segtrack.logs.mapping.increment_noise import NoiseLikelihood, NoiseModel
from segtrack.logs.mapping.views import (
    View,
    _correlation_problem,
    _Curve,
    compute_increments,
    compute_noise_weights,
)
from segtrack.logs.statistics import sandwich
from segtrack.reproduce.log_round_trip import (
    LoggedClimb,
    RoundTrip,
    estimates_of,
    recovered,
    run_round_trip,
    truth,
)

OFFSET, SKEW = 3.7, 0.02
MOUNTED = Rotation.from_euler("ZYX", [0.03, -0.025, 0.035])
BIAS = np.array([0.01, -0.02, 0.015])


def angles(times, only=None):
    """Yaw, pitch and roll of a vehicle that sways without ever repeating itself (n, 3)."""
    waves = (0.23, 0.61), (0.37, 0.83), (0.29, 1.13)
    found = np.stack(
        [
            0.3 * np.sin(7 * f * times + 0.06 * (times + 1) ** 2) + 0.1 * np.sin(7 * g * times)
            for f, g in waves
        ],
        1,
    )
    return found if only is None else found * np.eye(3)[only]


def orientations(times, only=None):
    return Rotation.from_euler("ZYX", angles(times, only))


def rates(times, only=None):
    """Mean angular velocities in the body frame, about each time, as a gyroscope has them."""
    reach = 0.0025
    return (orientations(times - reach, only).inv() * orientations(times + reach, only)).as_rotvec() / (
        2 * reach
    )


def pair(seed=0, only=None, duration=7.0):
    """An odometry, and a gyroscope that is turned, biased and on a clock of its own; both lose rows."""
    rng = np.random.default_rng(seed)
    times = np.sort(rng.uniform(0.5, duration, int(50 * duration)))
    turned = orientations(times, only) * Rotation.from_rotvec(rng.normal(0, 0.002, (len(times), 3)))
    odometry = Motion("odom", {"orientation": Signal(times, turned.as_quat(), source="odom")})
    seen = np.arange(1.0, duration - 0.5, 0.005) + rng.uniform(
        -0.001, 0.001, int((duration - 1.5) / 0.005 + 0.5)
    )
    seen = seen[rng.random(len(seen)) > 0.05]
    own = seen[0] + (seen - seen[0]) / (1 + SKEW) - OFFSET
    values = MOUNTED.inv().apply(rates(seen, only)) + BIAS + rng.normal(0, 0.005, (len(seen), 3))
    return odometry, Motion("imu", {"angular_velocity": Signal(own, values, source="imu")})


@pytest.fixture(scope="module")
def fit():
    return fit_clock(*pair())


def test_offset_skew_mounting_bias_and_noise_of_a_gyroscope_are_found(fit):
    """Within an interval and a half: of eleven that hold 95 % one may just miss."""
    assert fit.by == "turning"
    estimates = (fit.offset, fit.skew, fit.scale, *fit.mountings[0].rpy, *fit.bias, *fit.noises)
    true = (OFFSET, SKEW, 1.0, 0.035, -0.025, 0.03, *BIAS, 0.002, 0.005)
    errors = [
        abs(estimate.value - value) / estimate.margin for estimate, value in zip(estimates, true, strict=True)
    ]
    assert max(errors) < 1.5
    assert fit.offset.margin < 0.005 and fit.skew.margin < 0.001 and fit.mountings[0].rpy[0].margin < 0.005


@pytest.mark.parametrize("turn", [[np.pi / 2, 0, 0], [0.0, 0, np.pi], [2.0, 1.0, -2.0]])
def test_a_sensor_may_sit_any_way_round(turn):
    odometry, imu = pair()
    gyro = imu.signals["angular_velocity"]
    turned = Rotation.from_euler("ZYX", turn)
    other = imu.with_signals({"angular_velocity": Signal(gyro.times, turned.inv().apply(gyro.values.copy()))})
    roll, pitch, yaw = fit_clock(odometry, other).mountings[0].rpy
    found = Rotation.from_euler("ZYX", [yaw.value, pitch.value, roll.value])
    assert (found.inv() * MOUNTED * turned).magnitude() < 0.005


def test_a_fit_puts_times_on_the_other_clock_as_a_motion_does(fit):
    motion = pair()[1]
    moved = motion.on_clock("imu", fit.offset.value, fit.skew.value).signals["angular_velocity"].times
    assert fit.times(motion.signals["angular_velocity"].times) == pytest.approx(moved)


def test_the_other_way_round_it_is_the_inverse(fit):
    back = fit_clock(*pair()[::-1])
    times = np.array([1.0, 5.0, 9.0])
    assert fit.times(back.times(times)) == pytest.approx(times, abs=1e-6)
    assert back.offset.margin == pytest.approx(fit.offset.margin, rel=0.3)


@pytest.mark.parametrize("is_reference", [False, True])
def test_a_bias_is_of_the_source_that_measures_rates_in_its_sensors_frame(is_reference):
    odometry, imu = pair()
    gyro = imu.signals["angular_velocity"]
    quarter = Rotation.from_euler("Z", np.pi / 2)
    turned = imu.with_signals({"angular_velocity": replace(gyro, values=quarter.apply(gyro.values.copy()))})
    fit = (
        fit_clock(turned, odometry, None, Rotation.from_euler("X", 1.0), quarter)
        if is_reference
        else fit_clock(odometry, turned, None, quarter, Rotation.from_euler("X", 1.0))
    )
    assert fit.biased == "imu"
    assert [part.value for part in fit.bias] == pytest.approx(BIAS, abs=0.002)


def test_pitching_alone_does_not_show_how_far_a_gyroscope_is_pitched():
    roll, pitch, yaw = fit_clock(*pair(only=1)).mountings[0].rpy
    assert pitch is None
    assert roll.holds(0.035) and yaw.holds(0.03)


def test_two_attitudes_show_the_mounting_by_gravity():
    rng = np.random.default_rng(1)
    odometry, imu = pair()
    gyro = imu.signals["angular_velocity"]
    seen = gyro.times + OFFSET + SKEW * (gyro.times - gyro.times[0])
    noise = Rotation.from_rotvec(rng.normal(0, 0.005, (len(seen), 3)))
    attitude = Rotation.from_euler("Z", 1.0) * orientations(seen) * MOUNTED * noise
    both = imu.with_signals({"orientation": Signal(gyro.times, attitude.as_quat(), source="imu")})
    by_rates, by_gravity = fit_clock(odometry, both).mountings
    assert by_gravity.by == "gravity"
    assert all(angle.holds(true) for angle, true in zip(by_gravity.rpy, (0.035, -0.025, 0.03), strict=True))
    assert by_gravity.rpy[0].margin < by_rates.rpy[0].margin


def test_belt_speeds_are_put_on_the_clock_of_a_pose_by_yaw():
    rng = np.random.default_rng(2)
    times = np.arange(0.0, 20.0, 0.02)
    pose = Motion("mocap", {"yaw": Signal(times, angles(times)[:, 0] + rng.normal(0, 0.002, len(times)))})
    seen = np.arange(1.0, 19.0, 0.05)
    turning = (angles(seen + 1e-4) - angles(seen - 1e-4))[:, 0] / 2e-4
    sides = {
        side: 0.2 + sign * 0.3 * turning + rng.normal(0, 0.01, len(seen))
        for side, sign in (("left", -1), ("right", 1))
    }
    belts = Motion(
        "csv", {f"belt_speed.{side}": Signal(seen - 1e9, values) for side, values in sides.items()}
    )
    fit = fit_clock(pose, belts)
    assert fit.by == "yaw"
    assert fit.offset.holds(1e9) and fit.offset.margin < 0.05
    assert fit.scale.value == pytest.approx(1 / 0.6, rel=0.05)


FLAT = (
    "the peak is flat: what both see varies too little, or is not the same (the best correlation is {}, "
    "at least 0.6 is needed)"
)
HEAD = "the clock of imu cannot be put on that of odom: "


def yawing(yaw, rate):
    """An odometry and a gyroscope of a yaw and its rate, each with noise."""
    rng = np.random.default_rng(3)
    slow, fast = np.arange(0.0, 10.0, 0.02), np.arange(0.0, 10.0, 0.005)
    odometry = Motion("odom", {"yaw": Signal(slow, yaw(slow) + rng.normal(0, 0.002, len(slow)))})
    values = rate(fast) + rng.normal(0, 0.005, len(fast))
    return odometry, Motion("imu", {"yaw_rate": Signal(fast, values)})


@pytest.mark.parametrize(
    ("yaw", "rate", "message"),
    [
        (lambda t: 0 * t, lambda t: 0 * t, f"by yaw: {FLAT.format('0.28')}"),
        (lambda t: 0.3 * t, lambda t: 0.3 + 0 * t, f"by yaw: {FLAT.format('0.28')}"),
        (
            lambda t: 0.3 * np.sin(4 * t),
            lambda t: 1.2 * np.cos(4 * t),
            "by yaw: what both see repeats itself: offsets 3.2 s apart fit alike "
            "(correlations 1.00 and 1.00)",
        ),
        (
            lambda t: angles(t)[:, 0],
            lambda t: -(angles(t + 1e-4) - angles(t - 1e-4))[:, 0] / 2e-4,
            "by yaw: they go against each other (correlation -1.00): is a sign in the mapping wrong?",
        ),
    ],
    ids=["stands", "turns steadily", "repeats itself", "wrong sign"],
)
def test_a_clock_is_refused_where_the_motion_does_not_show_it(yaw, rate, message):
    with pytest.raises(ClockError) as error:
        fit_clock(*yawing(yaw, rate))
    assert str(error.value) == HEAD + message


def test_sources_that_see_nothing_in_common_are_told_so():
    odometry = pair()[0]
    energy = Motion("imu", {"energy": Signal(np.arange(3.0), np.arange(3.0))})
    with pytest.raises(ClockError) as error:
        fit_clock(odometry, energy)
    assert str(error.value) == (
        HEAD + "imu sees nothing and odom sees turning, pitch, yaw; one of these must be seen by both"
    )


def test_increments_of_rates_and_of_what_they_integrate_to_are_equal():
    fine, times = np.linspace(0.0, 4.0, 4001), np.array([0.3, 0.32, 0.39, 0.4, 0.43])
    turned = View("turning", False, fine, orientations(fine).as_quat())
    spun = View("turning", True, fine, rates(fine))
    assert compute_increments(spun, times) == pytest.approx(compute_increments(turned, times), abs=5e-6)
    coning = compute_increments(spun, times) - np.diff(
        [trapezoid(rates(fine[fine <= t]), fine[fine <= t], axis=0) for t in times], axis=0
    )
    assert np.abs(coning).max() > 2e-5  # What the product of rates and angles adds is more than what is left.


def test_noise_weights_are_the_derivatives_of_increments_by_samples():
    rng = np.random.default_rng(4)
    samples, times = np.sort(rng.uniform(0, 1, 12)), np.array([0.3, 0.31, 0.5, 0.7])
    for is_rate in (False, True):
        view = View("yaw", is_rate, samples, rng.normal(size=12))
        weights = compute_noise_weights(view, times)
        assert weights @ view.values == pytest.approx(compute_increments(view, times)[:, 0])


@pytest.mark.parametrize("rate", some_of([0.0, 0.0003, 0.001, 0.003, 0.1], 0.0, 0.001, 0.1))
@pytest.mark.parametrize("angle", some_of([1e-5, 0.001, 0.005, 0.01], 1e-5, 0.01))
def test_noise_of_both_has_an_interval_however_small_the_one_is(angle, rate):
    """Within an interval and a half."""
    rng, times = np.random.default_rng(0), np.arange(0.0, 60.0, 0.02)
    angles, spins = (
        compute_noise_weights(View("yaw", is_rate, times, times), times) for is_rate in (False, True)
    )
    samples = rng.normal(size=(2, len(times), 3))
    residual = angles @ (angle * samples[0]) + spins @ (rate * samples[1])
    likelihood = NoiseLikelihood(NoiseModel.of(angles, spins), residual, np.zeros((*residual.shape, 1)))
    for estimate, true in zip(likelihood.estimates(likelihood.likeliest()), (angle, rate), strict=True):
        assert estimate.low <= estimate.value <= estimate.high
        assert abs(estimate.value - true) < 1.5 * estimate.margin


def stamped(seed, delays, count=668, slow=0.053):
    """Stamps of a device's uptime in ticks of 4 ms, and when they are received; it runs slow."""
    rng = np.random.default_rng(seed)
    since = np.sort(rng.uniform(0, 2.8, count))
    return 1551.0 + np.floor(since / (1 + slow) / 0.004) * 0.004, 1.7e9 + since + delays(rng, count)


@pytest.mark.parametrize(
    "delays",
    [
        lambda rng, n: rng.exponential(0.002, n),
        lambda rng, n: rng.exponential(0.002, n) + (rng.random(n) < 0.1) * rng.exponential(0.1, n),
    ],
    ids=["short", "some long"],
)
def test_intervals_of_a_devices_skew_hold_it_as_often_as_they_say(delays):
    held = sum(fit_to_receive_times("imu", *stamped(seed, delays)).skew.holds(0.053) for seed in range(30))
    assert held >= 26


def test_a_devices_clock_is_put_on_the_clock_of_receiving():
    stamps, times = stamped(0, lambda rng, n: rng.exponential(0.002, n))
    fit = fit_to_receive_times("imu", stamps, times)
    late = times - fit.times(stamps)
    assert -0.005 < late.min() and np.median(late) < 0.01
    assert fit.delays[0] == pytest.approx(np.median(late), abs=1e-6)


@pytest.mark.parametrize(
    ("stamps", "message"),
    [
        (np.arange(5.0), "it has 5 messages, at least 24 are needed"),
        (np.full(30, 7.0), "all its messages have the same stamp"),
    ],
)
def test_stamps_that_show_no_clock_are_refused(stamps, message):
    with pytest.raises(ClockError) as error:
        fit_to_receive_times("imu", stamps, np.arange(float(len(stamps))))
    assert str(error.value) == f"the clock of imu cannot be put on that of receive times: {message}"


@pytest.fixture(scope="module")
def swaying():
    """A body that sways as in a climb, without a simulator."""
    times = np.arange(0.5, 6.0, 0.002)
    return LoggedClimb(times, np.zeros((len(times), 3)), orientations(times).as_quat())


def test_what_was_spoilt_is_recovered(swaying):
    """One seed of a body that sways more than a climb does."""
    found = estimates_of(recovered(swaying, 0))
    assert [
        name for name, estimate in found.items() if not estimate or not estimate.holds(truth()[name])
    ] == []
    assert abs(found["offset [s]"].value - 0.37) < 0.01


def test_an_angle_that_is_not_seen_is_counted_and_not_held():
    times = np.arange(0.5, 6.0, 0.002)
    pitching = LoggedClimb(times, np.zeros((len(times), 3)), orientations(times, only=1).as_quat())
    unseen = estimates_of(recovered(pitching, 0))
    seen = {name: Estimate.normal(value, 0.1) for name, value in truth().items()}
    result = RoundTrip(truth(), {name: (unseen[name], seen[name]) for name in seen})
    name = "sensor's pitch [rad]"
    assert (result.held(name), result.not_seen(name)) == (1, 1)
    assert result.errors(name) == pytest.approx([0.0])
    summary = RoundTrip({name: 0.0}, {name: (None,)}).summary()
    assert summary[name] == {
        "truth": 0.0,
        "held": 0,
        "not_seen": 1,
        "seeds": 1,
        "mean_error": None,
        "rms_error": None,
        "largest_error": None,
        "median_margin": None,
        "estimates": [None],
    }


@pytest.mark.slow
def test_intervals_of_a_spoilt_climb_hold_the_truth():
    """As many as 95 % allows for by chance, of each quantity, which all see; the offset within 10 ms.

    `segtrack reproduce log-round-trip` does so with 400 seeds.
    """
    seeds = 100
    least = binom.ppf(1e-4, seeds, 0.95)
    result = run_round_trip(seeds)
    assert [name for name in result.truth if result.not_seen(name)] == []
    assert {name: result.held(name) for name in result.truth if result.held(name) < least} == {}
    assert np.abs(result.errors("offset [s]")).max() < 0.01


@pytest.mark.parametrize(("count", "is_fitted"), [(23, False), (24, True)])
def test_a_devices_clock_is_fitted_from_24_messages_on(count, is_fitted):
    stamps = np.arange(float(count))
    with nullcontext() if is_fitted else pytest.raises(ClockError):
        found = fit_to_receive_times("imu", stamps, 1.25 * stamps + 3.0)
    if is_fitted:
        assert (found.offset.value, found.skew.value) == pytest.approx((3.0, 0.25))


def curve(best, rival=0.0, rivals_share=1.0):
    """Correlations with a peak of given height, and another one apart from it."""
    values, shares = np.zeros(101), np.ones(101)
    values[30], values[80], shares[80] = best, rival, rivals_share
    return _Curve(np.arange(101) - 50, values, shares, np.ones(101))


@each_row(
    "seen, opposed, problem",
    [
        (curve(0.59), None, "the peak is flat"),
        (curve(0.61), None, None),
        (curve(0.8, 0.71), None, None),
        (curve(0.8, 0.73), None, "what both see repeats itself: offsets 2.5 s apart fit alike"),
        (curve(0.8, 0.9, 0.49), None, None),
        (curve(0.8, 0.9, 0.51), None, "what both see repeats itself"),
        (curve(0.8), curve(-0.88), None),
        (curve(0.8), curve(-0.9), "they go against each other (correlation -0.90)"),
        (curve(0.5), curve(-0.59), "the peak is flat"),
        (curve(0.5), curve(-0.61), "they go against each other (correlation -0.61)"),
    ],
)
def test_a_correlation_is_trusted_up_to_its_bounds(seen, opposed, problem):
    found = _correlation_problem(seen, opposed)
    assert found is None if problem is None else found.startswith(problem)


@pytest.mark.parametrize(("std", "is_seen"), [(0.099, True), (0.101, False)])
def test_an_angle_of_a_sensor_is_given_up_to_a_tenth_of_a_radian(std, is_seen):
    mounting = SensorMounting.of("rates", Rotation.identity(), np.diag([std, 0.01, 0.02]) ** 2)
    roll, pitch, yaw = mounting.rpy
    assert (roll is not None) == is_seen
    assert (pitch.margin, yaw.margin) == pytest.approx((0.0196, 0.0392), rel=1e-3)


def test_an_interval_holds_its_ends():
    estimate = Estimate(1.0, 0.5, 2.0)
    assert [estimate.holds(value) for value in (0.499, 0.5, 2.0, 2.001)] == [False, True, True, False]


def test_variances_of_correlated_residuals_are_those_of_their_mean():
    """A mean of n residuals with autocorrelation a varies (1 + a) / (1 - a) times as much."""
    rng, a, count = np.random.default_rng(0), 0.6, 200_000
    residual = np.empty(count)
    residual[0] = 0.0
    for i, step in enumerate(rng.normal(size=count - 1)):
        residual[i + 1] = a * residual[i] + step
    inverse = np.array([[1.0 / count]])
    found = sandwich(np.ones((count, 1, 1)), residual[:, None], inverse).covariance[0, 0]
    assert found * count / np.var(residual) == pytest.approx((1 + a) / (1 - a), rel=0.1)
