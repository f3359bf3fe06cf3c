"""Motions: keys, clocks, cuts, and angles by an independent library."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from segtrack.errors import InvalidValueError, UnknownNameError
from segtrack.experiments import trajectory_columns
from segtrack.logs import Motion, Signal, quantity_of
from segtrack.robot import SignalRecorder

TIMES = np.linspace(0.0, 1.0, 11)


def test_angles_of_an_orientation_are_those_of_an_independent_library():
    angles = np.random.default_rng(1).uniform(-1.2, 1.2, (11, 3))
    turns = Rotation.from_euler("ZYX", angles)
    motion = Motion("m", {"orientation": Signal(TIMES, turns.as_quat())})
    for name, expected in zip(("yaw", "pitch", "roll"), angles.T * [[1], [-1], [1]], strict=True):
        assert motion.angle(name).values == pytest.approx(expected)


def test_a_turn_of_several_rounds_has_a_continuous_yaw():
    turns = Rotation.from_euler("Z", np.linspace(0.0, 15.0, 11)[:, None])
    motion = Motion("m", {"orientation": Signal(TIMES, turns.as_quat())})
    assert motion.angle("yaw").values == pytest.approx(np.linspace(0.0, 15.0, 11))


def test_an_orientation_between_samples_takes_the_shorter_way():
    quaternions = Rotation.from_euler("Z", [[0.0], [0.2]]).as_quat() * [[1.0], [-1.0]]
    between = Signal(np.array([0.0, 1.0]), quaternions).at(0.5)
    assert Rotation.from_quat(between).as_euler("ZYX") == pytest.approx([0.1, 0.0, 0.0])


def test_a_source_is_put_on_another_clock_and_others_are_not():
    pitch, yaw = Signal(TIMES + 5.0, TIMES, source="a"), Signal(TIMES, TIMES, source="b")
    moved = Motion("m", {"pitch": pitch, "yaw": yaw}).on_clock("a", offset=-5.0, skew=0.02)
    assert moved.signals["pitch"].times == pytest.approx(1.02 * TIMES)
    assert moved.signals["yaw"] is yaw
    assert moved.span == pytest.approx((0.0, 1.0))


def test_a_part_of_a_motion_has_what_is_in_it():
    part = Motion("m", {"pitch": Signal(TIMES, TIMES), "yaw": Signal(TIMES + 2, TIMES)}).between(0.25, 0.55)
    assert list(part.signals) == ["pitch"]
    assert part.signals["pitch"].values == pytest.approx([0.3, 0.4, 0.5])


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("belt_speed", "quantity belt_speed must be belt_speed.left or belt_speed.right, got 'belt_speed'"),
        (
            "flipper_angle",
            "quantity flipper_angle must be flipper_angle. and the flipper's name, got 'flipper_angle'",
        ),
        ("pitch.left", "quantity pitch must be without anything after it, got 'pitch.left'"),
    ],
)
def test_a_key_says_which_side_or_flipper(key, message):
    with pytest.raises(InvalidValueError) as error:
        quantity_of(key)
    assert str(error.value) == message


def test_a_quantity_that_there_is_not_is_refused():
    with pytest.raises(UnknownNameError, match="^no quantity 'pich'; there are: belt_speed_command, "):
        quantity_of("pich")


SHAPE = "must be one or more times with {} values each, got times {} and values {}"


@pytest.mark.parametrize(
    ("key", "times", "values", "message"),
    [
        ("pitch", [], [], f"signal pitch {SHAPE.format(1, (0,), (0,))}"),
        ("position", [0.0], [1.0], f"signal position {SHAPE.format(3, (1,), (1,))}"),
        ("pitch", [0.0, 1.0], [0.0, np.nan], "signal pitch must be of finite numbers, got others"),
        ("pitch", [0.0, 0.0], [0, 1], "times of signal pitch must be ascending, got a fall at row 1"),
        (
            "orientation",
            [0.0],
            [[0.0, 0.0, 0.0, 1.1]],
            "signal orientation must be unit quaternions, got one of length 1.1 at row 0",
        ),
    ],
)
def test_a_signal_that_is_none_is_refused(key, times, values, message):
    with pytest.raises(InvalidValueError) as error:
        Motion("m", {key: Signal(np.array(times), np.array(values))})
    assert str(error.value) == message


def recorded(times):
    recorder = SignalRecorder("climb", "simulation")
    for time in times:
        values = {"position": (time, 0.0, 0.5), "orientation": (0.0, 0.0, 0.0, 1.0), "pitch": -time}
        values |= {"flipper_angle.front": 0.1, "track_travel.left": 2 * time}
        recorder.add(time, values | {"track_speed.left": 2.0, "track_force.left": 7.0})
    return recorder.motion()


def test_a_recorded_motion_has_each_sample_in_its_signals():
    motion = recorded(TIMES.tolist())
    assert motion.times.tolist() == TIMES.tolist()
    assert motion["position"][:, 0].tolist() == TIMES.tolist()
    assert motion["pitch"].tolist() == (-TIMES).tolist()
    assert {signal.source for signal in motion.signals.values()} == {"simulation"}
    assert list(motion.by_name("track_travel")) == ["left"]
    assert motion.by_name("track_travel")["left"].tolist() == (2 * TIMES).tolist()
    assert motion.flippers == ("front",)


def test_a_sample_that_is_cut_off_leaves_a_motion_of_those_before_it():
    recorder = SignalRecorder("climb")
    recorder.add(0.0, {"pitch": 1.0})
    assert recorder.motion()["pitch"].tolist() == [1.0]
    recorder.add(1.0, {"pitch": 2.0})
    assert recorder.motion()["pitch"].tolist() == [1.0, 2.0]


def test_the_table_of_a_climb_has_the_columns_of_its_file():
    table = trajectory_columns(recorded([0.0, 0.5]))
    assert list(table) == [
        *("time_s", "x_m", "y_m", "z_m", "qx", "qy", "qz", "qw", "pitch_rad", "front_angle_rad"),
        *("left_travel_m", "left_speed_m_s", "left_force_N"),
    ]
    assert [column[1] for column in table.values()] == [
        0.5, 0.5, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0, -0.5, 0.1, 1.0, 2.0, 7.0,
    ]  # fmt: skip


def test_the_forward_axis_is_that_of_an_independent_library():
    turns = Rotation.from_rotvec(np.random.default_rng(1).normal(size=(11, 3)))
    motion = Motion("m", {"orientation": Signal(TIMES, turns.as_quat())})
    assert motion.forward_axis == pytest.approx(turns.as_matrix()[:, :, 0])


def test_a_quantity_of_a_track_names_the_track():
    assert quantity_of("track_force.front_left_belt").unit == "N"
    with pytest.raises(InvalidValueError) as error:
        quantity_of("track_force")
    assert str(error.value) == (
        "quantity track_force must be track_force. and the track's name, got 'track_force'"
    )
