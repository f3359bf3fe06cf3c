"""MATLAB files, files that are no logs, what a motion becomes in a file, and what is seen of a log."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import scipy.io
from quick import some_of
from scipy import sparse
from scipy.spatial.transform import Rotation
from tables import each_row
from typer.testing import CliRunner

from segtrack.cli.app import app
from segtrack.errors import FileAccessError, InvalidValueError, LogFileError
from segtrack.logs import Channel, Log, Motion, Signal
from segtrack.logs.reading import (
    inspect_log,
    matlab,
    matlab_process,
    read_log,
    write_bag,
    write_csv,
    write_tum,
)
from segtrack.report.logs import draw_log, inspect_tables

RANDOM = np.random.default_rng(5)
COUNT = 60
TIMES = np.arange(COUNT) / 50
VARIABLES = {
    "t": TIMES,
    "v_m_s": RANDOM.normal(size=COUNT),
    "position": RANDOM.normal(size=(3, COUNT)),
    "mocap": {"time": np.arange(40) / 20, "data": RANDOM.normal(size=(40, 4)), "unit": "rad"},
    "counts": np.arange(COUNT, dtype=np.int16),
    "note": "dry grass",
    "mass": 27.0,
    "cells": np.array([np.arange(5.0), "x", {"inner": np.arange(4.0)}], dtype=object),
}


def write_mat(path, compressed):
    scipy.io.savemat(path, VARIABLES, do_compression=compressed)
    return path


def test_a_matlab_file_gives_vectors_matrices_and_structs(tmp_path):
    log = read_log(write_mat(tmp_path / "log.mat", True))
    assert (log.kind, log.damage) == ("mat", ())
    expected = {
        "t": TIMES,
        "v_m_s": VARIABLES["v_m_s"],
        "position": VARIABLES["position"].T,
        "mocap.time": VARIABLES["mocap"]["time"],
        "mocap.data": VARIABLES["mocap"]["data"],
        "counts": np.arange(float(COUNT)),
        "cells[0]": np.arange(5.0),
        "cells[2].inner": np.arange(4.0),
    }
    assert list(log.channels) == list(expected)
    for name, values in expected.items():
        np.testing.assert_array_equal(log.channels[name].values, values)
    assert dict(log.skipped) == {
        "mocap.unit": "text",
        "note": "text",
        "mass": "one number",
        "cells[1]": "text",
    }
    np.testing.assert_array_equal(log.channels["position"].times, TIMES)
    np.testing.assert_array_equal(log.channels["mocap.data"].times, VARIABLES["mocap"]["time"])
    np.testing.assert_array_equal(log.channels["cells[0]"].times, np.arange(5))
    units = {name: channel.unit for name, channel in log.channels.items() if channel.unit}
    assert units == {"t": "s", "v_m_s": "m/s", "mocap.time": "s", "mocap.data": "rad"}
    assert log.notes[-1] == (
        "there is no time beside cells[0], cells[2].inner: times are the numbers of the values, from 0"
    )


@pytest.mark.parametrize("compressed", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_of_a_matlab_file_that_is_cut_all_whole_variables_are_read(compressed, tmp_path):
    path = write_mat(tmp_path / "log.mat", compressed)
    data, whole = path.read_bytes(), read_log(path)
    plain = {name: VARIABLES[name] for name in ("t", "v_m_s", "position")}
    places = {name: data.find(np.ascontiguousarray(values.T).tobytes()) for name, values in plain.items()}
    counts = []
    for tenth in range(1, 10, 2):
        cut = len(data) * tenth // 10
        path.write_bytes(data[:cut])
        counts.append(0)
        try:
            log = read_log(path)
        except LogFileError as error:
            assert str(error) == (
                "log.mat: has no variables that can be read: "
                "from byte 128 on it is cut or damaged: no variable that begins there is read"
            )
            assert cut < places["t"] + TIMES.nbytes
            continue
        assert log.damage
        for name, channel in log.channels.items():
            np.testing.assert_array_equal(channel.values, whole.channels[name].values)
            counts[-1] += channel.values.size
        for name, place in places.items():
            if not compressed:
                assert (name in log.channels) == (cut >= place + plain[name].nbytes)
    assert sorted(counts) == counts and counts[1] > 0


@pytest.mark.slow
def test_of_a_matlab_file_with_bytes_overwritten_other_variables_are_read(tmp_path):
    path = write_mat(tmp_path / "log.mat", True)
    data, whole = path.read_bytes(), read_log(path)
    for tenth in range(10):
        at = len(data) * tenth // 10
        path.write_bytes(data[:at] + RANDOM.bytes(30) + data[at + 30 :])
        log = read_log(path)
        for name, channel in log.channels.items():
            np.testing.assert_array_equal(channel.values, whole.channels[name].values)
        lost = {name.split(".")[0].split("[")[0] for name in set(whole.channels) - set(log.channels)}
        assert len(lost) <= 2
        assert log.damage or not tenth


@pytest.mark.slow
def test_a_process_of_scipy_that_ends_or_stays_has_read_what_comes_before(tmp_path, monkeypatch):
    """The process is ended at, or stays at, the third of the variables, as damaged lengths make scipy do."""
    path = write_mat(tmp_path / "log.mat", False)
    program = Path(matlab_process.__file__).read_text()
    found = "        found = scipy.io.loadmat("
    at = path.read_bytes().index(b"position") - 48
    assert program.count(found) == 1
    for i, fault in enumerate(("__import__('os').abort()", "__import__('time').sleep(60)")):
        copy = tmp_path / f"program_{i}.py"
        copy.write_text(program.replace(found, f"        if start == {at}: {fault}\n{found}"))
        monkeypatch.setattr(matlab_process, "__file__", str(copy))
        monkeypatch.setattr(matlab, "_TIME", 4.0 if i else 60.0)
        log = read_log(path)
        assert log.damage == (
            f"scipy broke down at byte {at}: no variable that begins there or behind is read",
        )
        assert list(log.channels) == ["t", "v_m_s"]


def test_damaged_uncompressed_matlab_files_end_in_a_log_or_in_one_error(tmp_path):
    """Four bytes of a length or type of the second variable are damaged, in turn."""
    path = write_mat(tmp_path / "log.mat", False)
    data, whole = path.read_bytes(), read_log(path)
    second = data.index(b"v_m_s") - 48
    for at in (4, 24, 28, 32, 36, 60):
        path.write_bytes(data[: second + at] + b"\xff\xff\xff\x7f" + data[second + at + 4 :])
        log = read_log(path)
        assert log.damage
        for name in log.channels:
            np.testing.assert_array_equal(log.channels[name].values, whole.channels[name].values)
        assert "t" in log.channels


def test_the_nearest_matlab_time_of_a_values_length_is_its_time(tmp_path):
    """A struct's own time comes before that around it, which counts for a struct without one."""
    variables = {
        "t": np.arange(4.0),
        "own": {"time": 10 + np.arange(4.0), "v": np.arange(4.0)},
        "none": {"v": np.arange(4.0), "short": np.arange(3.0)},
        "cells": np.empty(64, dtype=object),
    }
    variables["cells"].fill(np.arange(2.0))
    scipy.io.savemat(tmp_path / "log.mat", variables)
    channels = read_log(tmp_path / "log.mat").channels
    starts = {name: channels[name].times[0] for name in ("own.v", "none.v", "none.short")}
    assert starts == {"own.v": 10.0, "none.v": 0.0, "none.short": 0.0}
    assert channels["none.short"].source == "none (3 values)" and channels["none.v"].source == "none"
    assert "cells[63]" in channels  # With one more none of them is read.


@pytest.mark.parametrize("name", some_of(["log.csv", "log.mcap", "log"], "log.mcap"))
def test_a_files_first_bytes_count_before_its_name(name, tmp_path):
    scipy.io.savemat(tmp_path / "log.mat", {"v": np.arange(4.0)})
    (tmp_path / name).write_bytes((tmp_path / "log.mat").read_bytes())
    assert read_log(tmp_path / name).kind == "mat"
    (tmp_path / "text.mat").write_text("t,v\n0,1\n1,2\n")
    assert read_log(tmp_path / "text.mat").kind == "csv"


def test_matlab_values_that_are_no_numbers_over_time_are_named(tmp_path):
    variables = {
        "v": np.arange(3.0),
        "flag": np.array([True, False, True]),
        "complex": np.arange(3) * 1j,
        "sparse": sparse.csc_matrix(np.eye(3)),
        "block": np.zeros((2, 3, 4)),
        "empty": np.empty((0, 0)),
        "many": np.array([{"a": np.arange(2.0)}] * 65, dtype=object),
        "two": np.array([(1.0, np.arange(3.0)), (2.0, np.arange(4.0))], dtype=[("a", "O"), ("b", "O")]),
    }
    for form in ("5", "4"):
        chosen = {name: variables[name] for name in variables if form == "5" or name in ("v", "complex")}
        scipy.io.savemat(tmp_path / "log.mat", chosen, format=form)
        log = read_log(tmp_path / "log.mat")
        skipped = {
            "complex": "complex numbers",
            "sparse": "a sparse matrix",
            "block": "numbers with more than two dimensions",
            "empty": "empty",
            "many": "65 cells",
            "two[0].a": "one number",
            "two[1].a": "one number",
        }
        assert dict(log.skipped) == (skipped if form == "5" else {"complex": "complex numbers"})
        assert not log.damage
        np.testing.assert_array_equal(log.channels["v"].values, np.arange(3.0))
    assert list(log.channels) == ["v"]


GARBAGE = bytes(range(256)) * 4
NO_LOG = (
    "must be CSV, TSV, TUM, .mat, .bag, .db3, .mcap or the folder of a ROS 2 bag, got a file that begins with"
)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("log.csv", b"", "log.csv: is empty"),
        ("log.mcap", b"", "log.mcap: is empty"),
        ("log.csv", GARBAGE, rf"log.csv: {NO_LOG} b'\x00\x01\x02\x03\x04\x05\x06\x07'"),
        (
            "log.csv",
            pickle.dumps({"a": [1, 2]}),
            "log.csv: is a pickle, which is never read, since it can run any program: save it as CSV",
        ),
        (
            "log.mat",
            b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(512) + b"\x89HDF\r\n\x1a\n",
            "log.mat: is of MATLAB's version 7.3, which is not read: save it as save('log.mat', '-v7')",
        ),
        (
            "log.mat",
            GARBAGE,
            "log.mat: has no variables that can be read: it is none of the versions 4 to 7.2, or damaged",
        ),
        ("log.csv", b"no numbers here\nnor here\n", "log.csv: has no rows of numbers"),
    ],
)
def test_a_file_that_is_no_log_is_refused(name, data, message, tmp_path):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(LogFileError) as error:
        read_log(tmp_path / name)
    assert str(error.value) == message


def test_a_folder_without_a_bag_and_a_file_that_is_not_there_are_refused(tmp_path):
    pytest.importorskip("rosbags", reason="of an extra")
    with pytest.raises(LogFileError, match=r": is a folder without \.db3 or \.mcap: no ROS 2 bag$"):
        read_log(tmp_path)
    with pytest.raises(FileAccessError, match=r"^cannot read .*gone\.csv: No such file or directory$"):
        read_log(tmp_path / "gone.csv")


TURNS = Rotation.from_rotvec(RANDOM.normal(size=(COUNT, 3)))
LATER = TIMES[:50] + 0.003


def signal(width=None, times=TIMES):
    return Signal(times, RANDOM.normal(size=(len(times), width) if width else len(times)))


MOTION = Motion(
    "m",
    {
        "position": signal(3),
        "orientation": Signal(TIMES, TURNS.as_quat()),
        "velocity": signal(3),
        "angular_velocity": signal(3),
        "belt_speed.left": signal(),
        "belt_speed.right": signal(),
        "belt_force.left": signal(),
        "belt_force.right": signal(),
        "belt_speed_command.left": signal(),
        "belt_speed_command.right": signal(times=LATER),
        "flipper_angle.front_left": signal(),
        "pitch": signal(times=LATER),
        "current.left": signal(),
    },
)
IN_BAG = {
    "position": "/odom.pose.pose.position",
    "orientation": "/odom.pose.pose.orientation",
    "velocity": "/odom.twist.twist.linear",
    "angular_velocity": "/odom.twist.twist.angular",
    "belt_speed.left": "/belts.velocity[left belts]",
    "belt_speed.right": "/belts.velocity[right belts]",
    "belt_force.left": "/belts.effort[left belts]",
    "belt_force.right": "/belts.effort[right belts]",
    "belt_speed_command.left": "/belt_commands.velocity[left belts]",
    "belt_speed_command.right": "/belt_commands.velocity[right belts]",
    "flipper_angle.front_left": "/flippers.position[front_left]",
    "pitch": "/pitch.data",
    "current.left": "/current/left.data",
}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("motion.mcap", "mcap"),
        ("motion", "ros2 bag"),
        ("run.2026-01-31", "ros2 bag"),
        ("motion.db3", "ros2 bag"),
        ("motion.bag", "ros1 bag"),
    ],
)
def test_a_motion_is_written_to_a_bag_and_read_equal(name, kind, tmp_path):
    highlevel = pytest.importorskip("rosbags.highlevel", reason="of an extra")
    pytest.importorskip("mcap", reason="of an extra")
    path = write_bag(MOTION, tmp_path / name)
    log = read_log(path)
    assert log.kind == kind and not log.damage
    assert path.is_dir() == (name in ("motion", "run.2026-01-31"))
    assert list(tmp_path.iterdir()) == [path]
    for key, expected in MOTION.signals.items():
        channel = log.channels[IN_BAG[key]]
        there = np.isfinite(channel.values.reshape(len(channel), -1)).all(axis=1)
        np.testing.assert_array_equal(channel.values[there], expected.values)
        np.testing.assert_allclose(channel.times[there], expected.times, rtol=0, atol=5e-10)
    with highlevel.AnyReader([path]) as reader:  # Definitions and hashes of types are checked, too.
        messages = [reader.deserialize(data, it.msgtype) for it, _, data in reader.messages()]
    assert len(messages) == log_count(log)
    if kind == "ros1 bag":
        numbers = [message.header.seq for message in messages if "Odometry" in type(message).__name__]
        assert numbers == list(range(len(TIMES)))


def log_count(log):
    return sum(len(channels[0]) for channels in log.sources.values())


def test_parts_of_a_motion_become_messages_of_their_own(tmp_path):
    pytest.importorskip("rosbags", reason="of an extra")
    pytest.importorskip("mcap", reason="of an extra")
    both = {key: MOTION.signals[key] for key in ("position", "orientation")}
    turning = {key: MOTION.signals[key] for key in ("orientation", "angular_velocity")}
    cases = [
        (both, {"/pose": "geometry_msgs/msg/PoseStamped"}),
        (turning, {"/imu": "sensor_msgs/msg/Imu"}),
        ({"position": both["position"]}, {"/position": "geometry_msgs/msg/PointStamped"}),
        ({"velocity": signal(3)}, {"/velocity": "geometry_msgs/msg/Vector3Stamped"}),
        ({"orientation": both["orientation"]}, {"/orientation": "geometry_msgs/msg/QuaternionStamped"}),
    ]
    for i, (signals, types) in enumerate(cases):
        assert dict(read_log(write_bag(Motion("m", signals), tmp_path / f"{i}.mcap")).types) == types


def test_a_motion_is_written_to_a_table_and_read_equal(tmp_path):
    log = read_log(write_csv(MOTION, tmp_path / "motion.csv"))
    assert log.damage == log.notes == ()
    np.testing.assert_array_equal(
        log.channels["belt_speed.left [m/s]"].values, MOTION.signals["belt_speed.left"].values
    )
    np.testing.assert_array_equal(
        [log.channels[f"orientation.{axis} [-]"].values for axis in "xyzw"],
        MOTION.signals["orientation"].values.T,
    )
    pitch = log.channels["pitch [rad]"]
    inside = (TIMES >= LATER[0]) & (TIMES <= LATER[-1])
    np.testing.assert_array_equal(np.isfinite(pitch.values), inside)
    between = np.interp(TIMES[inside], LATER, MOTION.signals["pitch"].values)
    np.testing.assert_array_equal(pitch.values[inside], between)
    chosen = read_log(write_csv(MOTION, tmp_path / "chosen.csv", [0.0, 0.01, 1.0]))
    np.testing.assert_array_equal(chosen.channels["time [s]"].values, [0.0, 0.01, 1.0])


def test_a_motion_is_written_as_a_trajectory_and_read_equal(tmp_path):
    log = read_log(write_tum(MOTION, tmp_path / "motion.tum"))
    assert log.kind == "tum"
    for key in ("position", "orientation"):
        np.testing.assert_allclose(log.channels[key].values, MOTION.signals[key].values, rtol=0, atol=0)
        np.testing.assert_array_equal(log.channels[key].times, TIMES)


def test_what_cannot_be_written_is_refused(tmp_path):
    pytest.importorskip("rosbags", reason="of an extra")
    pytest.importorskip("mcap", reason="of an extra")
    early = Motion("m", {"pitch": Signal(np.array([-1.0, 0.0]), np.zeros(2))})
    with pytest.raises(InvalidValueError) as error:
        write_bag(early, tmp_path / "a.mcap")
    assert str(error.value) == (
        "times of signal pitch must be 0 or more for a bag, which counts from 1970, got -1 s"
    )
    for kind in ("mcap", "db3", "bag"):
        late = Motion("m", {"position": Signal(np.array([0.0, 2.0**31 - 1]), np.zeros((2, 3)))})
        channels = read_log(write_bag(late, tmp_path / f"last.{kind}")).channels
        assert next(iter(channels.values())).stamps[-1] == 2.0**31 - 1
        for last in (2.0**31, 1e10):
            late = Motion("m", {"position": Signal(np.array([0.0, last]), np.zeros((2, 3)))})
            with pytest.raises(InvalidValueError) as error:
                write_bag(late, tmp_path / f"late.{kind}")
            assert str(error.value) == (
                "times of signal position must be below 2147483648 s for a bag, which counts from 1970, "
                f"got {last:.10g} s"
            )
    with pytest.raises(FileAccessError, match=r": exists already$"):
        write_bag(MOTION, tmp_path)
    with pytest.raises(InvalidValueError) as error:
        write_bag(MOTION, tmp_path / "motion.csv")
    assert str(error.value) == (
        "path of a bag must be FILE.mcap, FILE.db3 or FILE.bag, or a folder, got 'motion.csv'"
    )
    with pytest.raises(
        InvalidValueError, match=r"^motion m must be one with position and orientation, got pitch$"
    ):
        write_tum(early, tmp_path / "a.tum")
    with pytest.raises(
        InvalidValueError, match=r"^times of a table must be one or more that ascend, got others$"
    ):
        write_csv(early, tmp_path / "a.csv", [1.0, 0.5])


def stamped_log(tmp_path, skew=0.053):
    """A topic at 100 Hz with a hole, a header clock that runs slow, and values that miss for a while."""
    times = 1.76e9 + np.delete(np.arange(600), slice(300, 340)) / 100
    late = RANDOM.exponential(0.001, len(times))
    stamps = 1551.0 + (times - times[0]) / (1 + skew)
    values = RANDOM.normal(size=len(times))
    values[100:107] = np.nan
    channels = {
        "/imu.x": Channel("/imu.x", times + late, values, "rad/s", "/imu", stamps),
        "/imu.covariance": Channel("/imu.covariance", times + late, np.zeros((560, 9)), "", "/imu", stamps),
    }
    return Log(tmp_path / "log.bag", "ros1 bag", channels, types={"/imu": "sensor_msgs/msg/Imu"})


def test_rates_gaps_and_clocks_are_seen(tmp_path):
    inspection = inspect_log(stamped_log(tmp_path))
    (source,), (channel, held) = inspection.sources, inspection.channels
    assert source.rate == pytest.approx(100, rel=0.05)
    assert source.largest_gap == pytest.approx(0.41, abs=0.01)
    assert source.gap_at - source.first == pytest.approx(2.99, abs=0.01)
    assert (source.gaps, source.backwards, source.repeated, source.is_timed) == (1, 0, 0, True)
    assert source.clock.skew == pytest.approx(0.053, abs=0.0005)
    assert source.clock.skews == pytest.approx((0.053, 0.053), abs=0.002)
    assert source.clock.offset == pytest.approx(1.76e9 - 1551, abs=0.005)
    assert (channel.missing, channel.missing_runs, channel.longest_run, channel.changes) == (7, 1, 7, True)
    assert (held.width, held.low, held.high, held.changes) == (9, 0.0, 0.0, False)


def test_jitter_holds_for_95_percent_of_the_intervals(tmp_path):
    """Intervals spread evenly about 1 s by up to 0.1 s."""
    times = np.cumsum(np.concatenate([[0.0], RANDOM.permutation(np.linspace(0.9, 1.1, 201))]))
    (source,) = inspect_log(Log(tmp_path / "a", "csv", {"v": Channel("v", times, times, source="a")})).sources
    assert (source.rate, source.jitter) == pytest.approx((1.0, 0.095))


def test_scatter_is_the_median_distance_from_the_clocks_line(tmp_path):
    stamps = np.arange(400.0)
    late = np.tile([-0.03, 0.01, -0.01, 0.03, 0.0], 80)
    channel = Channel("v", 5.0 + stamps + late, stamps, source="a", stamps=stamps)
    (source,) = inspect_log(Log(tmp_path / "a", "ros1 bag", {"v": channel})).sources
    assert source.clock.scatter == pytest.approx(0.01, abs=1e-4)
    assert source.clock.offset == pytest.approx(5.0, abs=1e-3)


def test_rows_without_a_number_are_counted_by_their_runs(tmp_path):
    values = np.arange(12.0)
    values[[2, 3, 7, 8, 9, 11]] = np.nan
    log = Log(tmp_path / "a", "csv", {"v": Channel("v", np.arange(12.0), values, source="a")})
    (channel,) = inspect_log(log).channels
    assert (channel.missing, channel.missing_runs, channel.longest_run) == (6, 3, 3)
    assert (channel.low, channel.high, channel.changes) == (0.0, 10.0, True)


@pytest.mark.parametrize(("longest", "gaps"), [(5.0, 0), (5.01, 1)])
def test_a_gap_is_more_than_five_median_intervals(longest, gaps, tmp_path):
    times = np.cumsum([0.0] + [1.0] * 6 + [longest] + [1.0] * 6)
    log = Log(tmp_path / "a", "csv", {"v": Channel("v", times, times, source="a")})
    (source,) = inspect_log(log).sources
    assert (source.gaps, source.largest_gap, source.gap_at) == (gaps, pytest.approx(longest), 6.0)


@pytest.mark.parametrize(("count", "is_seen"), [(9, False), (10, True)])
def test_a_clock_is_seen_from_ten_messages_on(count, is_seen, tmp_path):
    stamps = np.arange(float(count))
    channel = Channel("v", 2.0 * stamps + 7, stamps, source="a", stamps=stamps)
    (source,) = inspect_log(Log(tmp_path / "a", "ros1 bag", {"v": channel})).sources
    assert (source.clock is not None) == is_seen
    if source.clock is not None:
        assert (source.clock.offset, source.clock.skew) == pytest.approx((7.0, 1.0))


@pytest.mark.parametrize(("off", "tick"), [(0.009, 1.0), (0.011, None)])
def test_a_tick_is_one_that_all_intervals_are_multiples_of_within_a_hundredth(off, tick, tmp_path):
    stamps = np.cumsum([0.0] + [1.0] * 10 + [3.0 + off])
    channel = Channel("v", stamps, stamps, source="a", stamps=stamps)
    (source,) = inspect_log(Log(tmp_path / "a", "ros1 bag", {"v": channel})).sources
    assert source.clock.tick == tick


def test_times_that_run_backwards_or_stand_are_counted(tmp_path):
    times = np.array([0.0, 1.0, 2.0, 1.5, 1.5, 3.0])
    log = Log(tmp_path / "a", "csv", {"v": Channel("v", times, times, source="a")})
    (source,) = inspect_log(log).sources
    assert (source.backwards, source.repeated, source.span) == (1, 1, 3.0)


RESTARTED = np.concatenate([np.arange(100.0, 110.0, 0.02), np.arange(0.0, 6.0, 0.02)])


def restarted_log(tmp_path, times=RESTARTED):
    values = np.arange(len(times), dtype=float)
    return Log(tmp_path / "a", "csv", {"v": Channel("v", times, values, source="a")})


def test_a_clock_that_restarts_is_told_from_rows_out_of_order(tmp_path):
    inspection = inspect_log(restarted_log(tmp_path))
    (source,) = inspection.sources
    assert source.restarts == (pytest.approx((109.98, 0.0)),)
    assert (
        json.dumps(inspection.summary()["sources"][0]["restarts"])
        == f"[[{source.restarts[0].before!r}, 0.0]]"
    )
    (*_, remarks) = inspect_tables(inspection)
    assert list(remarks.columns[1].cells)[-1] == "a: its clock restarts after 109.98 s, at 0 s"
    single = RESTARTED[:500].copy()
    single[200] = 0.0
    late = RESTARTED[:500].copy()
    late[[200, 201]] = late[[201, 200]]
    for times in (single, late, RESTARTED[:500]):
        assert inspect_log(restarted_log(tmp_path, times)).sources[0].restarts == ()


def test_the_picture_shows_both_parts_of_a_clock_that_restarts(tmp_path):
    bars, panel = draw_log(inspect_log(restarted_log(tmp_path))).axes
    assert len(bars.collections[0].get_paths()) == 2
    assert [text.get_text().strip() for text in bars.texts] == ["restarts: 109.98 s to 0 s"]
    assert "a clock that restarts goes on behind" in bars.get_xlabel()
    dashed, line = panel.get_lines()
    times, values = line.get_data()
    there = np.isfinite(times)
    assert (np.diff(times[there]) > 0).all()
    np.testing.assert_array_equal(values[there], np.arange(800.0))
    np.testing.assert_allclose(times[there][:500], RESTARTED[:500] - 100.0, rtol=0, atol=1e-9)
    assert np.diff(times[there])[500:] == pytest.approx(np.diff(RESTARTED[500:]))
    assert list(np.flatnonzero(~there)) == [500]
    assert times[499] < dashed.get_xdata()[0] < times[501]
    low, high = panel.get_xlim()
    assert low < 0 and high > times[-1]


def test_the_picture_has_a_bar_with_its_gap_and_a_panel_for_each_channel_that_changes(tmp_path):
    inspection = inspect_log(stamped_log(tmp_path))
    figure = draw_log(inspection)
    bars, clocks, panel = figure.axes
    assert len(bars.collections[0].get_paths()) == 2
    assert clocks.get_title(loc="left").startswith("reception less stamp")
    assert panel.get_title(loc="left") == "/imu.x [rad/s]"
    slope = np.polyfit(*np.array([part[np.isfinite(part)] for part in clocks.lines[0].get_data()]), 1)[0]
    assert slope == pytest.approx(1e3 * (1 - 1 / 1.053), rel=0.02)


def run(*arguments):
    return CliRunner().invoke(app, ["log", "inspect", *map(str, arguments)], env={"COLUMNS": "200"})


def test_the_command_writes_a_picture_and_prints_what_is_in_a_log(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("t,v [m/s]\n0,1\n1,2\n2\n3,4\n")
    done = run(path, "--out", tmp_path / "out", "--json")
    assert done.exit_code == 0
    summary = json.loads(done.stdout)
    assert summary["damage"] == ["1 line is left out: not 2 cells in line 4"]
    assert summary == json.loads((tmp_path / "out" / "inspect.json").read_text())
    assert (tmp_path / "out" / "inspect.png").stat().st_size > 10_000


def test_the_folder_in_which_one_stands_is_called_by_its_name(tmp_path, monkeypatch):
    pytest.importorskip("rosbags", reason="of an extra")
    pytest.importorskip("mcap", reason="of an extra")
    motion = Motion("run", {"pitch": Signal(np.arange(3.0), np.zeros(3))})
    monkeypatch.chdir(write_bag(motion, tmp_path / "run7"))
    assert "run7: ros2 bag" in run(".", "--out", tmp_path / "a").stdout
    assert run(".").exit_code == 0
    assert (tmp_path / "run7" / "out" / "log-run7" / "inspect.png").exists()


@each_row(
    "name, text, outcome",
    [
        ("a.csv", "t,v\n0,nan\n1,nan\n2,nan\n", ""),
        ("a.csv", "t,v\nnan,1\n0,2\n2,3\n", "1 row is left out: without a time"),
        ("a.csv", "t,v\nnan,1\nnan,2\n", "has no row with a time"),
        (
            "a.csv",
            "t,v\n0,inf\n1,-inf\n2,inf\n",
            "column 'v': infinite, taken as missing, in rows 1, 2 and 3",
        ),
        ("a.csv", "t,v\ninf,1\n1,2\n3,3\n", "1 row is left out: without a time"),
        ("a.csv", "t,v\n0,1e308\n1,-1e308\n2,1\n", ""),
        ("a.csv", "t,v\n-1e308,1\n1e308,2\n3,3\n", "2 rows are left out: without a time"),
        ("a.csv", "v,w\n1e308,1\n-1e308,2\n", ""),
        ("a.csv", "t,v\n0,1\n1e-320,2\n2e-320,3\n", ""),
        ("a.csv", "t,v\n5,1\n5,2\n5,3\n", ""),
        ("a.csv", "t,$x_{a$\n0,1\n1,2\n", ""),
        ("a.csv", "t,v\n0,1\n1,2\n2,", ""),
        ("a.tum", "nan 0 0 0 0 0 0 1\nnan 1 1 1 0 0 0 1\n", "has no row with a time"),
        ("a.tum", "0 1e308 0 0 0 0 0 1\n1 -1e308 1 1 0 0 0 1\n", ""),
        ("a.tum", "0 1 0 0 1e308 0 0 1e308\n1 1 1 1 0 0 0 1\n", ""),
    ],
)
def test_numbers_that_are_none_or_too_large_to_draw_are_inspected_or_refused(name, text, outcome, tmp_path):
    (tmp_path / name).write_text(text)
    done = run(tmp_path / name, "--out", tmp_path / "out", "--json")
    if outcome.startswith("has no row"):
        assert (done.exit_code, done.stderr) == (2, f"segtrack: {name}: {outcome}\n")
        return
    assert done.exit_code == 0, done.exception
    summary = json.loads(done.stdout)  # Which has no infinity.
    assert ("".join(summary["damage"]) == outcome) or "does not end" in summary["damage"][0]


def test_matlab_times_that_are_none_are_left_out(tmp_path):
    variables = {"t": [0.0, np.nan, 1e308, 3.0], "v": np.arange(4.0)}
    scipy.io.savemat(tmp_path / "a.mat", variables)
    log = read_log(tmp_path / "a.mat")
    np.testing.assert_array_equal(log.channels["v"].times, [0.0, 3.0])
    np.testing.assert_array_equal(log.channels["v"].values, [0.0, 3.0])
    assert "2 of 4 numbers of t are no times: values of these are left out" in log.notes
    scipy.io.savemat(tmp_path / "a.mat", {**variables, "t": np.full(4, np.inf)})
    assert run(tmp_path / "a.mat", "--out", tmp_path / "out").exit_code == 0


def test_values_too_large_to_draw_are_counted_in_the_panel(tmp_path):
    (tmp_path / "a.csv").write_text("t,v\n0,1e150\n1,1.1e150\n2,-1.1e150\n3,1\n")
    *_, axes = draw_log(inspect_log(read_log(tmp_path / "a.csv"))).axes
    assert axes.get_title(loc="left") == "v, 2 beyond 1e+150 not drawn"
    assert np.nanmax(axes.lines[0].get_ydata()) == 1e150


def test_the_command_ends_with_one_line_where_there_is_no_log(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(GARBAGE)
    done = run(path, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert done.stderr.startswith("segtrack: log.csv: must be CSV, TSV, TUM,")
