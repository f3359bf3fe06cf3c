"""MATLAB files, files that are no logs, what a motion becomes in a file, and what is seen of a log."""

import json
import pickle

import numpy as np
import pytest
import scipy.io
from scipy.spatial.transform import Rotation
from typer.testing import CliRunner

from segtrack.cli import app
from segtrack.errors import FileAccessError, InvalidValueError, LogFileError
from segtrack.logs import Channel, Log, Motion, Signal
from segtrack.logs.reading import read_log, write_bag, write_csv, write_tum
from segtrack.logs.reading.inspection import inspect_log
from segtrack.report.logs.inspect_figure import draw_log

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


@pytest.mark.parametrize("compressed", [False, True])
def test_of_a_matlab_file_that_is_cut_all_numbers_are_read_that_are_left(compressed, tmp_path):
    path = write_mat(tmp_path / "log.mat", compressed)
    data, whole = path.read_bytes(), read_log(path)
    plain = {name: VARIABLES[name] for name in ("t", "v_m_s")} | {"mocap.data": VARIABLES["mocap"]["data"]}
    places = {name: data.find(np.ascontiguousarray(values.T).tobytes()) for name, values in plain.items()}
    counts = []
    for tenth in range(1, 10):
        cut = len(data) * tenth // 10
        path.write_bytes(data[:cut])
        log = read_log(path)
        assert log.damage
        counts.append(0)
        for name, channel in log.channels.items():
            values = whole.channels[name].values[: len(channel)]
            there = np.isfinite(channel.values)
            np.testing.assert_array_equal(channel.values[there], values[there])
            counts[-1] += there.sum()
        for name, place in places.items():
            if not compressed and cut > place + 8:
                size = whole.channels[name].values.size
                there = log.channels[name].values
                assert np.isfinite(there).sum() >= min(size, (cut - place) // 8)
    assert sorted(counts) == counts and counts[0] > 0


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


@pytest.mark.parametrize("name", ["motion.mcap", "motion"])
def test_a_motion_is_written_to_a_bag_and_read_equal(name, tmp_path):
    highlevel = pytest.importorskip("rosbags.highlevel", reason="of an extra")
    pytest.importorskip("mcap", reason="of an extra")
    path = write_bag(MOTION, tmp_path / name)
    log = read_log(path)
    assert not log.damage
    for key, expected in MOTION.signals.items():
        channel = log.channels[IN_BAG[key]]
        there = np.isfinite(channel.values.reshape(len(channel), -1)).all(axis=1)
        np.testing.assert_array_equal(channel.values[there], expected.values)
        np.testing.assert_allclose(channel.times[there], expected.times, rtol=0, atol=5e-10)
    with highlevel.AnyReader([path]) as reader:  # Definitions and hashes of types are checked, too.
        assert sum(1 for _ in reader.messages()) == log_count(log)


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
    with pytest.raises(FileAccessError, match=r": exists already$"):
        write_bag(MOTION, tmp_path)
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


def test_times_that_run_backwards_or_stand_are_counted(tmp_path):
    times = np.array([0.0, 1.0, 2.0, 1.5, 1.5, 3.0])
    log = Log(tmp_path / "a", "csv", {"v": Channel("v", times, times, source="a")})
    (source,) = inspect_log(log).sources
    assert (source.backwards, source.repeated, source.span) == (1, 1, 3.0)


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


def test_the_command_ends_with_one_line_where_there_is_no_log(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(GARBAGE)
    done = run(path, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert done.stderr.startswith("segtrack: log.csv: must be CSV, TSV, TUM,")
