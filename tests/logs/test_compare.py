"""Errors and their uncertainties, where each is known beforehand."""

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from rod_climb import RodClimb
from scipy.spatial.transform import Rotation

from segtrack.description import load_vehicle
from segtrack.errors import InvalidValueError
from segtrack.logs import Motion, Signal
from segtrack.logs.compare import (
    DataUncertainty,
    InputPair,
    SampledMotion,
    Variants,
    compare_motions,
)
from segtrack.logs.compare.errors import rigid_motion
from segtrack.logs.compare.phases import even_times
from segtrack.logs.mapping import TimeUncertainty

TIMES = np.arange(0.0, 20.0, 0.05)
RESAMPLED = math.sqrt(np.mean([part**2 + (1 - part) ** 2 for part in (0.0, 0.4, 0.8, 0.2, 0.6)]))
"""Noise of a signal every 50 ms on the clock of 20 ms, interpolated linearly, over its own."""


def drive(left=0.5, right=0.5, slip=0.0, turn=1.0, name="drive", pitch=0.0, heading=0.0, begin=0.0):
    """A planar drive in closed form: belts [m/s], slip of both, yaw rate over no-slip; gauge 0.4 m."""
    rate = turn * (right - left) / 0.4
    speed = (1 - slip) * (left + right) / 2
    yaw = rate * TIMES
    if rate:
        x, y = speed / rate * np.sin(yaw), speed / rate * (1 - np.cos(yaw))
    else:
        x, y = speed * TIMES, 0.0 * TIMES
    cos, sin = math.cos(heading), math.sin(heading)
    position = np.stack([begin + cos * x - sin * y, sin * x + cos * y, 0.0 * x], axis=1)
    return Motion(
        name,
        {
            "belt_speed.left": Signal(TIMES, np.full(len(TIMES), left), 0.0),
            "belt_speed.right": Signal(TIMES, np.full(len(TIMES), right), 0.0),
            "position": Signal(TIMES, position, 0.0),
            "yaw": Signal(TIMES, yaw + heading, 0.0),
            "pitch": Signal(TIMES, pitch + 0.0 * TIMES, 0.0),
        },
    )


def compared(logged, simulated):
    """Both beside each other, of a vehicle with a gauge of 0.4 m."""
    return compare_motions(logged, simulated, sides=load_vehicle("trapezoidal").track_offsets)


def row(comparison, quantity, phase="whole"):
    found = comparison.find(quantity, phase)
    assert found is not None, [(r.quantity, r.phase) for r in comparison.rows]
    return found


def with_signal(motion, **changes):
    """A motion with other values of some signals."""
    signals = {key: replace(motion.signals[key], values=values) for key, values in changes.items()}
    return motion.with_signals(signals)


def test_a_motion_has_no_error_against_itself():
    rod = RodClimb().motion()
    comparison = compared(rod, rod)
    assert len(comparison.rows) > 20
    assert [r.error for r in comparison.rows] == pytest.approx([0.0] * len(comparison.rows), abs=1e-12)
    assert {r.verdict for r in comparison.rows} == {"within"}


def test_a_pitch_that_is_off_by_a_constant_has_that_error_and_mean():
    found = row(compare_motions(drive(), drive(pitch=-0.02)), "pitch RMSE")
    assert (found.error, found.mean) == (pytest.approx(0.02), pytest.approx(-0.02))
    assert found.interval == pytest.approx((0.02, 0.02))
    assert found.range_fraction is None  # Of a pitch that does not change.


def test_the_error_of_a_climb_is_also_told_as_a_fraction_of_its_range():
    rod = RodClimb()
    motion = rod.motion()
    higher = with_signal(motion, pitch=motion.signals["pitch"].values + 0.01)
    found = row(compare_motions(motion, higher), "pitch RMSE")
    assert found.range_fraction == pytest.approx(0.01 / rod.peak, rel=0.01)


def test_each_phase_has_the_error_of_its_own_time():
    rod = RodClimb()
    motion, times = rod.motion(), rod.motion().signals["pitch"].times
    on_the_edge = (times > rod.over_the_edge + 0.1) & (times < rod.tipping - 0.1)
    wrong = motion.signals["position"].values + np.outer(np.where(on_the_edge, 0.02, 0.0), [0, 1, 0])
    comparison = compare_motions(motion, with_signal(motion, position=wrong), alignment="none")
    assert row(comparison, "position error (ATE)", "nose lift").error == pytest.approx(0.0, abs=1e-12)
    assert row(comparison, "position error (ATE)", "pivot").error == pytest.approx(0.02, rel=0.1)
    assert row(comparison, "position error (ATE)", "settling").error == pytest.approx(0.0, abs=1e-12)


def test_numbers_are_those_of_each_motions_own_phases():
    early, late = RodClimb(ahead=0.08), RodClimb(ahead=0.05)
    comparison = compare_motions(late.motion(), early.motion())
    assert comparison.find("duration", "approach") is None
    found = row(comparison, "duration", "crest")
    assert (found.logged, found.simulated) == (pytest.approx(0.295, abs=0.02), pytest.approx(0.295, abs=0.02))
    found = row(comparison, "time to crest")
    expected = [r.begin_of["crest"] - r.begin_of["nose lift"] for r in (late, early)]
    assert (found.logged, found.simulated) == pytest.approx(tuple(expected), abs=0.02)
    assert found.error == found.simulated - found.logged
    found = row(comparison, "peak pitch")
    assert (found.logged, found.simulated) == pytest.approx((late.peak, early.peak), abs=0.02)


@pytest.mark.parametrize(
    ("alignment", "expected"), [("none", 0.3), ("start", 0.0), ("event", 0.0), ("se3", 0.0)]
)
def test_alignment_takes_away_where_the_simulation_began(alignment, expected):
    comparison = compare_motions(drive(), drive(begin=0.3), alignment=alignment, event=4.0)
    assert row(comparison, "position error (ATE)").error == pytest.approx(expected, abs=1e-9)
    assert row(comparison, "displacement error over 1 s (RPE)").error == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(("alignment", "rms"), [("start", 1.0 / math.sqrt(3)), ("event", 0.5 / math.sqrt(3))])
def test_what_is_aligned_at_an_event_errs_before_it_as_after_it(alignment, rms):
    """A simulation that is 0.05 m/s too fast for 20 s, laid onto the log at the start or half-way."""
    comparison = compare_motions(drive(), drive(0.55, 0.55), alignment=alignment, event=10.0)
    assert row(comparison, "position error (ATE)").error == pytest.approx(rms, rel=0.01)


def test_alignment_at_an_event_takes_away_the_heading_too():
    comparison = compare_motions(drive(), drive(heading=0.5, begin=0.2), alignment="event", event=10.0)
    assert row(comparison, "position error (ATE)").error == pytest.approx(0.0, abs=1e-9)


def test_alignment_never_moves_a_height_but_by_se3():
    motion = drive()
    higher = with_signal(motion, position=motion.signals["position"].values + [0.0, 0.0, 0.1])
    for alignment, expected in (("start", 0.1), ("event", 0.1), ("se3", 0.0)):
        comparison = compare_motions(motion, higher, alignment=alignment)
        assert row(comparison, "position error (ATE)").error == pytest.approx(expected, abs=1e-9)


def test_a_rigid_motion_comes_back_and_what_it_leaves_is_the_noise():
    rng, turn = np.random.default_rng(2), Rotation.from_euler("XYZ", [0.2, -0.1, 1.0])
    points = rng.normal(size=(3000, 3)) * [3.0, 2.0, 1.0]
    rotation, offset = rigid_motion(points, turn.apply(points) + [1.0, 2.0, 3.0])
    assert rotation == pytest.approx(turn.as_matrix(), abs=1e-9)
    assert offset == pytest.approx([1.0, 2.0, 3.0])
    noisy = turn.apply(points) + rng.normal(0.0, 0.01, points.shape)
    rotation, offset = rigid_motion(points, noisy)
    left = points @ rotation.T + offset - noisy
    assert np.sqrt((left**2).sum(axis=1).mean()) == pytest.approx(0.01 * math.sqrt(3.0), rel=0.05)


def test_a_faster_simulation_has_the_displacement_error_of_its_speed():
    comparison = compare_motions(drive(), drive(0.55, 0.55), alignment="start")
    assert row(comparison, "displacement error over 1 s (RPE)").error == pytest.approx(0.05)
    assert row(comparison, "belt speed left RMSE").error == pytest.approx(0.05)


@pytest.mark.parametrize(("left", "right"), [(0.5, 0.5), (0.4, 0.6)])
def test_slip_of_each_side_is_what_is_missing_from_its_belts_travel(left, right):
    """Turning without loss, each side has the slip of the way of its own track."""
    logged = drive(left, right)
    comparison = compared(logged, drive(left, right, slip=0.2))
    for side, belt in (("left", left), ("right", right)):
        missing = 0.2 * (left + right) / 2 / belt
        found = row(comparison, f"mean slip {side}")
        assert found.logged == pytest.approx(0.0, abs=0.001)
        assert found.simulated == pytest.approx(missing, abs=0.001)
        assert row(comparison, f"slip {side} RMSE").error == pytest.approx(missing, abs=0.002)


def test_yaw_rate_is_told_over_that_of_belts_that_do_not_slip():
    comparison = compared(drive(0.4, 0.6, turn=0.8), drive(0.4, 0.6, turn=0.6))
    found = row(comparison, "yaw rate over no-slip")
    assert (found.logged, found.simulated) == (pytest.approx(0.8), pytest.approx(0.6))
    assert compared(drive(), drive()).find("yaw rate over no-slip") is None


def test_a_simulation_that_turns_too_little_errs_in_slip_on_both_sides():
    """Tracks that go faster than their belts have less slip than none: belt over track, less 1."""
    comparison = compared(drive(0.4, 0.6, turn=0.8), drive(0.4, 0.6, turn=0.6))
    tracks = {"left": (0.42, 0.44), "right": (0.58, 0.56)}
    slips = {
        "left": [0.4 / way - 1 for way in tracks["left"]],
        "right": [1 - way / 0.6 for way in tracks["right"]],
    }
    for side, rounded in (("left", 0.043), ("right", 0.033)):
        logged, simulated = slips[side]
        error = row(comparison, f"slip {side} RMSE").error
        assert error == pytest.approx(abs(simulated - logged), abs=1e-4)
        assert round(error, 3) == rounded
    for side, mean in (("left", -0.05), ("right", 1 / 30)):
        assert row(comparison, f"mean slip {side}").logged == pytest.approx(mean, abs=1e-4)


def test_a_current_is_compared_by_its_shape_alone():
    force = 100.0 + 40.0 * np.sin(TIMES)
    simulated = drive(name="simulated").with_signals(
        {f"belt_force.{side}": Signal(TIMES, force) for side in ("left", "right")}
    )
    logged = drive().with_signals(
        {f"current.{side}": Signal(TIMES, force / 25.0, 0.0) for side in ("left", "right")}
    )
    comparison = compared(logged, simulated)
    assert [fit.side for fit in comparison.currents] == ["left", "right"]
    assert comparison.currents[0].force_per_current == pytest.approx(25.0)
    assert comparison.currents[0].correlation == pytest.approx(1.0)
    assert row(comparison, "belt force left RMSE").error == pytest.approx(0.0, abs=1e-9)


def test_one_sides_current_is_compared_by_itself():
    force = 100.0 + 50.0 * np.sin(TIMES)
    forces = {f"belt_force.{side}": Signal(TIMES, force, 0.0) for side in ("left", "right")}
    logged = drive().with_signals({"current.right": Signal(TIMES, force / 25.0, 0.0)})
    comparison = compare_motions(logged, drive().with_signals(forces))
    assert [(fit.side, fit.force_per_current) for fit in comparison.currents] == [
        ("right", pytest.approx(25.0))
    ]


def test_windows_of_half_a_second_have_their_middles():
    sampled = SampledMotion(drive(), even_times(1.0, 4.0))
    assert sampled.middles == pytest.approx([1.25, 1.75, 2.25, 2.75, 3.25, 3.75])


def test_the_work_of_each_phase_is_a_fraction_of_the_whole_whatever_a_current_stands_for():
    rod = RodClimb()
    motion = rod.motion()
    times = motion.signals["pitch"].times
    hard = np.where((times > rod.begin_of["nose lift"]) & (times < rod.begin_of["pivot"]), 3.0, 1.0)
    logged = motion.with_signals({f"current.{s}": Signal(times, hard, 0.0) for s in ("left", "right")})
    simulated = motion.with_signals(
        {f"belt_force.{s}": Signal(times, 50.0 + 0.0 * times) for s in ("left", "right")}
    )
    # A force that never changes has no correlation with a current, so it takes one that does.
    simulated = with_signal(simulated, **{"belt_force.left": 50.0 + 0.001 * times})
    simulated = with_signal(simulated, **{"belt_force.right": 50.0 + 0.001 * times})
    lift = rod.begin_of["pivot"] - rod.begin_of["nose lift"]
    found = row(compare_motions(logged, simulated), "fraction of work", "nose lift")
    assert found.logged == pytest.approx(3 * lift / (times[-1] + 2 * lift), rel=0.02)
    assert found.simulated == pytest.approx(lift / times[-1], rel=0.02)


def test_energy_is_that_of_the_phase():
    power = Signal(TIMES, 30.0 * TIMES, 0.0)
    comparison = compare_motions(
        drive().with_signals({"energy": power}),
        drive().with_signals({"energy": replace(power, values=33.0 * TIMES)}),
    )
    assert row(comparison, "energy").error == pytest.approx(3.0 * TIMES[-1], rel=0.01)


def test_what_lies_in_a_gap_of_the_log_is_not_compared():
    times = np.concatenate([TIMES[TIMES < 8.0], TIMES[TIMES > 12.0]])
    gap = {key: Signal(times, signal.at(times), 0.0) for key, signal in drive().signals.items()}
    wrong = np.where((TIMES > 8.1) & (TIMES < 11.9), 0.5, 0.0)
    comparison = compare_motions(Motion("gap", gap), with_signal(drive(), pitch=wrong))
    assert row(comparison, "pitch RMSE").error == pytest.approx(0.0, abs=1e-12)


def test_noise_is_its_standard_deviation_and_hides_an_error_of_its_size():
    logged = with_signal(drive(), pitch=0.01 * np.random.default_rng(3).standard_normal(len(TIMES)))
    logged = logged.with_signals({"pitch": replace(logged.signals["pitch"], std=0.01)})
    found = row(compare_motions(logged, drive()), "pitch RMSE")
    assert found.parts.data["noise"] == pytest.approx(0.01 * RESAMPLED, rel=0.02)
    assert found.verdict == "within"
    found = row(compare_motions(logged, drive(pitch=0.05)), "pitch RMSE")
    assert found.verdict == "beyond"
    assert found.words == f"errs by {found.error:.3g} +- {2 * found.uncertainty:.2g}"


def test_noise_that_is_not_stated_is_estimated_and_said():
    motion = with_signal(drive(), pitch=0.01 * np.random.default_rng(3).standard_normal(len(TIMES)))
    motion = motion.with_signals({"pitch": replace(motion.signals["pitch"], std=None)})
    comparison = compare_motions(motion, drive())
    assert row(comparison, "pitch RMSE").parts.data["noise"] == pytest.approx(0.01 * RESAMPLED, rel=0.1)
    assert "noise not stated, and estimated from second differences: pitch" in comparison.notes


def test_a_clock_counts_by_how_fast_things_change_a_bias_and_a_drift_by_themselves():
    motion = with_signal(drive(), pitch=0.1 * TIMES)
    uncertain = DataUncertainty(
        clocks={"": TimeUncertainty(0.02)}, bias={"pitch": 0.003}, drift={"pitch": 0.001}
    )
    data = row(compare_motions(motion, motion, data=uncertain), "pitch RMSE").parts.data
    assert data["clock"] == pytest.approx(0.002, rel=0.01)
    assert data["bias"] == pytest.approx(0.003)
    assert data["drift"] == pytest.approx(0.001 * TIMES[-1] / math.sqrt(3), rel=0.01)


def test_a_clock_with_a_skew_counts_as_its_times_are_uncertain():
    """The pitch grows evenly, so that it errs by its rate times the error of the time, at each time."""
    motion, times = with_signal(drive(), pitch=0.1 * TIMES), TimeUncertainty(0.002, skew=0.005, best=2.0)
    data = row(
        compare_motions(motion, motion, data=DataUncertainty(clocks={"": times})), "pitch RMSE"
    ).parts.data
    assert data["clock"] == pytest.approx(0.1 * np.sqrt(np.mean(times.std(TIMES) ** 2)), rel=0.02)


def test_a_bias_of_position_that_the_alignment_takes_away_does_not_count():
    uncertain = DataUncertainty(bias={"position": 0.01})
    free, aligned = (
        row(compare_motions(drive(), drive(), alignment=a, data=uncertain), "position error (ATE)")
        for a in ("none", "start")
    )
    assert free.uncertainty == pytest.approx(0.01 * math.sqrt(3))
    assert aligned.uncertainty == pytest.approx(0.01)


def test_numerics_inputs_and_data_add_up_by_their_squares():
    motion, uncertain = drive(), DataUncertainty(bias={"pitch": 0.003})
    finer = [drive(pitch=-0.004 + 0.004 * h) for h in (0.5, 0.25)]
    inputs = {"friction": InputPair(drive(pitch=-0.005), drive(pitch=0.005))}
    found = row(
        compare_motions(motion, drive(), variants=Variants(finer, inputs), data=uncertain), "pitch RMSE"
    )
    assert found.parts.numerics.method == "GCI"
    assert found.parts.numerics.value == pytest.approx(1.25 * 0.004 / 1.15)
    assert found.parts.input_uncertainty == pytest.approx(0.005)
    assert found.uncertainty == pytest.approx(math.sqrt(0.003**2 + 0.005**2 + (1.25 * 0.004 / 1.15) ** 2))


def test_inputs_that_were_not_given_are_said_not_to_be():
    comparison = compare_motions(drive(), drive())
    assert {"u_num: not tried", "u_input: not given"} <= set(comparison.notes)
    assert row(comparison, "pitch RMSE").summary()["u_input"] == "not given"


def test_an_input_that_takes_the_climb_away_leaves_its_numbers_uncertain():
    rod = RodClimb()
    motion = rod.motion()
    stuck = motion.between(0.0, rod.over_the_edge + 0.5)
    inputs = {"friction": InputPair(stuck, motion)}
    comparison = compare_motions(motion, motion, variants=Variants((), inputs))
    assert row(comparison, "time to crest").verdict == "unknown"
    assert row(comparison, "pitch RMSE").verdict == "within"


def test_a_simulation_that_failed_is_said():
    inputs = {"friction": InputPair(None, drive())}
    comparison = compare_motions(drive(), drive(), variants=Variants((), inputs))
    assert "the simulation with friction lower failed" in comparison.notes
    assert {r.verdict for r in comparison.rows} == {"unknown"}


def test_motions_without_a_time_in_common_are_refused():
    later = Motion("later", {"pitch": Signal(TIMES + 100.0, TIMES)})
    with pytest.raises(InvalidValueError) as error:
        compare_motions(drive(), later)
    assert str(error.value) == (
        "times of drive and later must be overlapping, got 0 to 19.95 s and 100 to 120 s"
    )


def test_a_comparison_is_written_down_and_travels():
    comparison = compare_motions(RodClimb().motion(), RodClimb(height=0.21).motion(name="simulated"))
    summary = comparison.summary()
    assert [phase["name"] for phase in summary["logged_phases"]["phases"]][0] == "approach"
    assert {"quantity", "phase", "error", "u_val", "u_num", "u_input", "u_data", "verdict"} <= set(
        summary["rows"][0]
    )
    assert pickle.loads(pickle.dumps(comparison.logged_phases)) == comparison.logged_phases


def turned(rolls, pitches, yaws, std=0.0):
    """The drive with an orientation in place of its angles [rad]; pitch nose up positive."""
    quaternions = Rotation.from_euler("ZYX", np.stack([yaws, -pitches, rolls], axis=1)).as_quat()
    signals = {key: signal for key, signal in drive().signals.items() if key not in ("yaw", "pitch")}
    return Motion("drive", signals | {"orientation": Signal(TIMES, quaternions, std)})


@pytest.mark.parametrize("stated", [True, False])
def test_noise_of_an_orientation_is_an_angle_about_each_axis(stated):
    noise = 0.01 * np.random.default_rng(5).standard_normal((3, len(TIMES)))
    logged = turned(*(noise + np.array([[0.3], [0.4], [1.0]])), std=0.01 if stated else None)
    simulated = turned(0.3 + 0 * TIMES, 0.4 + 0 * TIMES, 1.0 + 0 * TIMES)
    found = row(compare_motions(logged, simulated), "pitch RMSE")
    assert found.parts.data["noise"] == pytest.approx(0.01 * RESAMPLED, rel=0.1)
    assert found.verdict == "within"


def test_bias_and_drift_of_an_orientation_are_angles_about_each_axis():
    level = turned(0 * TIMES, 0 * TIMES, 0.7 + 0 * TIMES)
    uncertain = DataUncertainty(bias={"orientation": 0.01}, drift={"orientation": 0.001})
    data = row(compare_motions(level, level, data=uncertain), "pitch RMSE").parts.data
    assert data["bias"] == pytest.approx(0.01)
    assert data["drift"] == pytest.approx(0.001 * TIMES[-1] / math.sqrt(3), rel=0.01)


def without(motion, key, first, last):
    """The motion with a signal that has a gap from one time to another [s]."""
    signal = motion.signals[key]
    kept = (signal.times < first) | (signal.times > last)
    cut = replace(signal, times=signal.times[kept], values=signal.values[kept])
    return motion.with_signals({key: cut})


def test_a_peak_that_may_lie_in_a_gap_is_left_out_and_said():
    rod = RodClimb()
    motion = rod.motion()
    comparison = compare_motions(without(motion, "pitch", rod.tipping - 0.6, rod.tipping + 0.3), motion)
    assert comparison.find("peak pitch") is None
    assert "log: no peak pitch: its pitch has a gap while it climbs" in comparison.notes
    comparison = compare_motions(without(motion, "pitch", 0.2, 0.9), motion)
    assert row(comparison, "peak pitch").error == pytest.approx(0.0, abs=1e-3)
    assert not [note for note in comparison.notes if "gap" in note]


def test_sums_are_over_what_both_motions_have():
    energy = Signal(TIMES, 10.0 * TIMES, 0.0)
    whole = drive(0.4, 0.6, slip=0.2).with_signals({"energy": energy})
    half = whole.with_signals({"energy": Signal(TIMES[:200], energy.values[:200], 0.0)})
    half = without(half, "belt_speed.left", 6.0, 9.0)
    comparison = compared(half, whole)
    for quantity in ("energy", "mean slip left", "mean slip right", "yaw rate over no-slip"):
        assert row(comparison, quantity).error == pytest.approx(0.0, abs=1e-9)
    assert row(comparison, "energy").logged == pytest.approx(10.0 * TIMES[199], rel=0.01)


def test_a_phase_is_compared_only_where_the_same_phase_follows_it():
    rod = RodClimb()
    motion, times = rod.motion(), rod.motion().signals["pitch"].times
    begin, end = rod.begin_of["nose lift"], rod.tipping
    # Without a knee nose lift lasts until the crest.
    even = np.interp(times, [begin, end], [0.0, rod.peak])
    pitch = np.where(times < end, even, motion.signals["pitch"].values)
    comparison = compare_motions(with_signal(motion, pitch=pitch), motion)
    assert comparison.logged_phases.find("pivot") is None
    assert comparison.find("duration", "nose lift") is None
    assert comparison.find("mean slip left", "nose lift") is None
    assert row(comparison, "duration", "crest").error == pytest.approx(0.0, abs=0.02)


def noisy(motion, seed, std=0.006):
    signal = motion.signals["pitch"]
    values = signal.values + std * np.random.default_rng(seed).standard_normal(len(signal.times))
    return motion.with_signals({"pitch": replace(signal, values=values, std=std)})


def test_where_nothing_is_climbed_there_is_no_peak():
    """It would be the largest of what the noise leaves."""
    assert compare_motions(noisy(drive(), 3), drive()).find("peak pitch") is None


@pytest.mark.slow
def test_a_perfect_model_is_within_as_often_as_it_should():
    rod = RodClimb()
    exact = rod.motion()
    rows = [row(compare_motions(noisy(exact, seed), exact), "peak pitch") for seed in range(20)]
    assert sum(found.verdict == "within" for found in rows) >= 17
    assert np.mean([found.error for found in rows]) == pytest.approx(0.0, abs=0.001)


def test_a_simulation_that_heads_elsewhere_and_drives_alike_has_no_displacement_error():
    """Displacements are told in the body frame: of an arc, along and across it."""
    for turned in (0.5, math.pi / 2, -2.0):
        other = drive(0.4, 0.6, heading=turned)
        comparison = compare_motions(drive(0.4, 0.6), other, alignment="none")
        assert row(comparison, "displacement error over 1 s (RPE)").error == pytest.approx(0.0, abs=1e-9)
    sampled = SampledMotion(drive(0.4, 0.6, heading=math.pi / 2), even_times(1.0, 4.0))
    chord = 2 * 0.5 / 0.5 * math.sin(0.25)
    expected = (chord * math.cos(0.25), chord * math.sin(0.25), 0.0)
    moved = sampled.displacements()
    assert len(moved) == len(sampled.times) - 50
    np.testing.assert_allclose(moved, np.tile(expected, (len(moved), 1)), rtol=0, atol=2e-4)


def test_slip_is_that_of_the_measured_belt_where_there_is_its_command_too():
    """Without measured ones, of the commanded."""
    commands = {
        f"belt_speed_command.{s}": Signal(TIMES, np.full(len(TIMES), 0.8), 0.0) for s in ("left", "right")
    }
    both = drive(slip=0.2).with_signals(commands)
    alone = Motion("commanded", {k: v for k, v in both.signals.items() if not k.startswith("belt_speed.")})
    for motion, slip in ((both, 0.2), (alone, 0.5)):
        for side in ("left", "right"):
            assert SampledMotion(motion, even_times(1.0, 4.0)).slip(side) == pytest.approx(slip, abs=1e-3)
