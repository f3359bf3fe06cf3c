"""Recorded drives: what is written is read back, whatever became of the file, and can be simulated again."""

import errno
import json
import math
import platform
import resource
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mcap", reason="needs the extra station")
pytest.importorskip("rosbags", reason="needs the extra station")

import imageio_ffmpeg
import zstandard
from mcap.data_stream import RecordBuilder
from mcap.records import Chunk
from mcap.writer import Writer
from rosbags.typesys import Stores, get_typestore
from scipy.spatial.transform import Rotation
from typer.testing import CliRunner

import segtrack
from segtrack.cli.app import app
from segtrack.courses import find_course
from segtrack.description import bundled_vehicles, find_vehicle
from segtrack.errors import FileAccessError, InvalidValueError, NotReadyError, RecordingFileError
from segtrack.logs.reading import read_log
from segtrack.recording import (
    Command,
    DriveSession,
    DriveSetup,
    Recording,
    check_recording,
    compact,
    recorder,
    recording_columns,
    versions,
)
from segtrack.recording.messages import RecordedEvent, RecordedInput, odometry_message
from segtrack.recording.setup import VehicleFiles
from segtrack.rendering import Camera, PosedVehicle, look_of

TICKS = 200
FLIPPERS = "front_left", "front_right", "rear_left", "rear_right"
STILL = dict.fromkeys(FLIPPERS, 0.0)
INPUTS = (
    RecordedInput(0, Command(0.3, 0.25, dict.fromkeys(FLIPPERS, 0.4))),
    RecordedInput(60, Command(-0.2, 0.2, STILL)),
    RecordedInput(90, None),
    RecordedInput(90, Command(0.4, 0.4, STILL, flatten=True)),
)


@pytest.fixture(scope="module")
def drive(tmp_path_factory):
    """A drive of 2 s: its file, the file as it was just before it was closed, and its states."""
    folder = tmp_path_factory.mktemp("drives")
    setup = DriveSetup(payload=4.0, friction=0.9, setting=0.2, seed=5)
    with DriveSession(setup) as session:
        recorder = session.record(folder / "drive.mcap")
        head = recorder.path.stat().st_size
        states = [(session.pose().flat(), session.readings())]
        for tick in range(TICKS):
            for item in INPUTS:
                if item.tick == tick:
                    session.restart() if item.command is None else session.apply(item.command)
            session.apply(session.command)  # As a station does at each tick; it is held already.
            if tick == 120:
                recorder.event("gate", number=1, name="ramp")
            session.advance()
            states.append((session.pose().flat(), session.readings()))
        unclosed = folder / "unclosed.mcap"
        unclosed.write_bytes(recorder.path.read_bytes())
        picture = Camera(session.robot, session.world.terrains, size=(96, 64)).take()
        look = look_of(session.robot)
    return folder / "drive.mcap", unclosed, states, picture, look, head


@pytest.fixture(scope="module")
def recording(drive):
    return Recording.open(drive[0])


def run(*arguments):
    return CliRunner().invoke(app, ["replay", *map(str, arguments)])


def test_a_recording_is_read_as_a_log_to_the_bit(drive, recording):
    log = read_log(recording.path)
    assert not log.damage
    assert log.channels["/pose_array.data"].values.tobytes() == recording.poses.tobytes()
    assert log.channels["/readings.data"].values.tobytes() == recording.readings.tobytes()
    assert log.channels["/readings.data"].times == pytest.approx(recording.times, rel=1e-15)


def test_a_recording_holds_the_drive_to_the_bit(drive, recording):
    _, _, states, _, look, _ = drive
    poses, readings = (np.array(each) for each in zip(*states, strict=True))
    assert recording.poses[:, :7].tobytes() == poses[:, :7].tobytes()
    angles = [name.endswith("angle [rad]") for name in recording.reading_names]
    assert recording.readings[:, angles].tobytes() == readings[:, angles].tobytes()
    for stored, given in ((recording.poses, poses), (recording.readings, readings)):
        np.testing.assert_allclose(stored, given, rtol=6e-8, atol=1e-44)
    stored_poses, stored_readings = recording.stored(poses, readings)
    assert stored_poses.tobytes() == recording.poses.tobytes()
    assert stored_readings.tobytes() == recording.readings.tobytes()
    np.testing.assert_array_equal(recording.ticks, np.arange(TICKS + 1))
    assert recording.inputs == INPUTS
    assert recording.commands == tuple((tick, command or Command()) for tick, command in INPUTS)
    assert recording.events == (
        RecordedEvent(90, "restart", {}),
        RecordedEvent(120, "gate", {"number": 1, "name": "ramp"}),
    )
    assert recording.setup == DriveSetup(payload=4.0, friction=0.9, setting=0.2, seed=5).resolved()
    assert recording.versions == versions()
    assert recording.look.as_json() == look.as_json()
    assert recording.course_text == recording.course().source
    assert recording.vehicle_files == VehicleFiles.read("quince")
    assert (recording.damaged, recording.duration) == (None, 2.0)
    assert recording.began <= recording.ended


def test_the_same_command_again_after_a_restart_is_recorded_again(tmp_path):
    command = Command(0.3, 0.25, STILL)
    with DriveSession(DriveSetup()) as session:
        session.record(tmp_path / "drive.mcap")
        session.apply(command)
        session.advance(5)
        session.restart()
        session.apply(command)
        session.advance(5)
    recording = Recording.open(tmp_path / "drive.mcap")
    assert recording.inputs == (RecordedInput(0, command), RecordedInput(5, None), RecordedInput(5, command))
    assert check_recording(recording).difference is None


def test_rosbags_reads_a_recording_and_finds_what_moves(drive, recording):
    from rosbags.highlevel import AnyReader

    with AnyReader([drive[0]]) as reader:
        counts = {connection.topic: connection.msgcount for connection in reader.connections}
        read = {
            topic: [
                (time, reader.deserialize(raw, connection.msgtype))
                for connection, time, raw in reader.messages()
                if connection.topic == topic
            ]
            for topic in counts
        }
    every, tenth = TICKS + 1, TICKS // 10 + 1
    assert counts == {
        "/command": 3,
        "/pose_array": every,
        "/readings": every,
        "/odom": tenth,
        "/joint_states": tenth,
        "/events": 2,
    }
    times, poses = zip(*read["/pose_array"], strict=True)
    assert times == tuple(10_000_000 * tick for tick in range(every))
    np.testing.assert_array_equal([pose.data for pose in poses], recording.poses)
    odometry, before = read["/odom"][4][1], recording.look.pose(recording.poses[30]).body
    body = recording.look.pose(recording.poses[40]).body
    at = odometry.pose.pose.position
    np.testing.assert_array_equal([at.x, at.y, at.z], body.origin)
    velocity, spin = odometry.twist.twist.linear, odometry.twist.twist.angular
    moved = body.rotation.T @ (body.origin - before.origin) / 0.1
    np.testing.assert_allclose([velocity.x, velocity.y, velocity.z], moved, atol=1e-12)
    turned = before.rotation.T @ body.rotation
    assert spin.z == pytest.approx((turned[1, 0] - turned[0, 1]) / 2 / 0.1, abs=1e-3)
    joints = read["/joint_states"][4][1]
    travels = recording.look.pose(recording.poses[40]).travels
    assert tuple(joints.name[:4]) == FLIPPERS
    np.testing.assert_array_equal(joints.position[4:], travels)


@pytest.mark.parametrize("signs", [(1, 1), (-1, 1), (1, -1)])
def test_odometry_is_that_of_the_turn_whichever_sign_its_quaternions_have(signs):
    """The shorter way round, as scipy reads it."""
    before, turn = Rotation.from_euler("zyx", (3.0, 0.4, -0.2)), np.array((0.02, -0.05, 0.3))
    quaternions = [
        sign * r.as_quat()
        for sign, r in zip(signs, (before, before * Rotation.from_rotvec(turn)), strict=True)
    ]
    poses = [np.array([*np.zeros(3), *quaternion]) for quaternion in quaternions]
    data = odometry_message(2, poses[1], poses[0], 0.02)
    spin = (
        get_typestore(Stores.ROS2_HUMBLE).deserialize_cdr(data, "nav_msgs/msg/Odometry").twist.twist.angular
    )
    np.testing.assert_allclose((spin.x, spin.y, spin.z), turn / 0.02, atol=1e-9)


def test_a_drive_simulated_again_is_equal_to_the_bit(recording):
    result = check_recording(recording)
    assert result.summary() == {"equal": True, "states": TICKS + 1, "difference": None, "versions": {}}


def test_a_check_finds_one_command_that_is_another(recording):
    turned = replace(INPUTS[1].command, left=-0.2000001)
    inputs = (INPUTS[0], RecordedInput(60, turned), *INPUTS[2:])
    result = check_recording(replace(recording, inputs=inputs, versions={**versions(), "numba": "0.1"}))
    assert result.difference.time == 0.61 and result.states == 62
    assert result.other_versions == {"numba": ("0.1", versions()["numba"])}


@pytest.mark.parametrize("array", ["poses", "readings"])
def test_a_check_finds_a_zero_of_the_other_sign(recording, array):
    values = getattr(recording, array).copy()
    column = int(np.flatnonzero(values[0] == 0.0)[0])
    values[0, column] = -values[0, column]
    difference = check_recording(replace(recording, **{array: values})).difference
    assert (difference.time, difference.recorded, difference.simulated) == (0.0, 0.0, 0.0)
    assert math.copysign(1.0, difference.recorded) == -math.copysign(1.0, difference.simulated)


def test_a_command_of_a_zero_of_the_other_sign_is_recorded(tmp_path):
    with DriveSession(DriveSetup(time_step=0.002)) as session:
        session.record(tmp_path / "drive.mcap")
        for left in (0.0, -0.0, -0.0):
            session.apply(Command(left, 0.0, STILL))
            session.advance(2)
    recording = Recording.open(tmp_path / "drive.mcap")
    assert [(tick, math.copysign(1.0, item.left)) for tick, item in recording.inputs] == [(0, 1.0), (2, -1.0)]
    assert check_recording(recording).difference is None


def test_the_recorded_vehicle_and_course_are_driven_though_their_files_have_changed(tmp_path):
    path, file = tmp_path / "tank.yaml", tmp_path / "drive.mcap"
    text = bundled_vehicles()["quince"].read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    with DriveSession(DriveSetup(vehicle=str(path))) as session:
        session.record(file)
        session.apply(Command(0.2, 0.2))
        session.advance(5)
    path.write_text("name: none\n", encoding="utf-8")
    recording = Recording.open(file)
    assert recording.vehicle_files == VehicleFiles("tank.yaml", {"tank.yaml": text.encode()})
    assert check_recording(recording).difference is None


def test_a_vehicles_files_are_put_back_with_what_they_name(tmp_path):
    files = VehicleFiles.read("trapezoidal")
    assert len(files.contents) > 1
    again = VehicleFiles.read(files.write(tmp_path))
    assert again.contents == files.contents


@pytest.mark.parametrize(
    "name", ["../there.yaml", "/there.yaml", "a/../../b.yaml", "C:there.yaml", "a\\b.yaml"]
)
def test_a_file_outside_its_folder_is_refused(name):
    with pytest.raises(InvalidValueError) as error:
        VehicleFiles(name, {name: b""})
    assert str(error.value) == f"file of a vehicle must be below the vehicle's folder, got {name!r}"


@pytest.mark.parametrize("name", ["../escaped", "/tmp/there"])
def test_a_course_is_put_back_in_its_folder_whatever_the_file_calls_it(drive, tmp_path, monkeypatch, name):
    whole, file = drive[1].read_bytes(), tmp_path / "attack.mcap"
    file.write_bytes(whole.replace(b'"okada-step"', f'"{name}"'.encode()))
    recording = Recording.open(file)
    assert recording.course_name == name
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with recording.unpacked() as setup:
        assert Path(setup.course).read_text() == recording.course_text
        assert Path(setup.course).parent.parent == tmp_path
        assert len(list(tmp_path.iterdir())) == 2
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_that_was_not_closed_lacks_nothing(drive, recording):
    _, unclosed, *_ = drive
    found = Recording.open(unclosed)
    np.testing.assert_array_equal(found.poses, recording.poses)
    size = unclosed.stat().st_size
    assert found.damaged == f"it ends in the middle of a record at byte {size} of {size}"


@pytest.mark.slow
def test_a_drive_whose_process_is_killed_keeps_all_ticks(tmp_path):
    program = (
        "import os, signal\n"
        "from pathlib import Path\n"
        "from segtrack.recording import Command, DriveSession, DriveSetup\n"
        "session = DriveSession(DriveSetup())\n"
        "session.record(Path('drive.mcap'))\n"
        "session.apply(Command(0.2, 0.2))\n"
        "session.advance(50)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path)
    recording = Recording.open(tmp_path / "drive.mcap")
    assert (done.returncode, recording.duration) == (-signal.SIGKILL, 0.5)
    assert recording.damaged is not None and check_recording(recording).difference is None


@pytest.mark.parametrize("tenth", range(10))
def test_a_truncated_file_is_read_up_to_there(drive, recording, tmp_path, tenth):
    whole, head = drive[0].read_bytes(), drive[5]
    cut, file = tenth * len(whole) // 10, tmp_path / "cut.mcap"
    file.write_bytes(whole[:cut])
    if cut < head:
        with pytest.raises(RecordingFileError) as error:
            Recording.open(file)
        reason = f"has no drive in it: it ends in the middle of a record at byte {cut} of {cut}"
        foreign = "must be a recording of a drive by segtrack"
        assert str(error.value) == f"cut.mcap: {reason if cut else foreign}"
        return
    found = Recording.open(file)
    count = len(found.ticks)
    share = (cut - head) / (len(whole) - head)
    assert share * TICKS - 8 < count < TICKS + 1
    np.testing.assert_array_equal(found.poses, recording.poses[:count])
    assert found.inputs == tuple(item for item in INPUTS if item.tick < count)
    assert found.damaged == f"it ends in the middle of a record at byte {cut} of {cut}"


def double(value):
    """A number as files hold it."""
    return np.float64(value).tobytes()


def key(name, value):
    """A key of metadata, and its value."""
    return name.encode() + len(value).to_bytes(4, "little") + value.encode()


@pytest.mark.parametrize(
    "old, new, problem",
    [
        (b"MCAP0", b"MCAP1", "must be a recording of a drive by segtrack"),
        (key("version", "2"), key("version", "3"), "must be of version 2, got 3"),
        (double(0.25), double(np.inf),
         "/command at tick 0: right belt speed [m/s] must be a finite number, got inf"),
        (key("payload", "4.0"), key("payload", "-40"),
         "is not whole before its first state: payload [kg] must be at least 0, got -40"),
        (None, double(np.nan), "pose at tick 200 must be of finite numbers"),
    ],
    ids=["no MCAP", "version", "command", "setup", "pose"],
)  # fmt: skip
def test_what_is_no_recording_is_one_clear_error(drive, tmp_path, old, new, problem):
    _, unclosed, states, *_ = drive
    file = tmp_path / "drive.mcap"
    file.write_bytes(unclosed.read_bytes().replace(states[-1][0].tobytes()[:8] if old is None else old, new))
    with pytest.raises(RecordingFileError) as error:
        Recording.open(file)
    assert str(error.value) == f"drive.mcap: {problem}"


def test_another_programs_mcap_file_is_refused(tmp_path):
    file = tmp_path / "other.mcap"
    with file.open("wb") as stream:
        writer = Writer(stream)
        writer.start()
        channel = writer.register_channel("/odom", "json", 0)
        writer.add_message(channel, 0, b"{}", 0)
        writer.finish()
    with pytest.raises(RecordingFileError) as error:
        Recording.open(file)
    assert str(error.value) == "other.mcap: must be a recording of a drive by segtrack"


def test_a_file_with_a_wrong_byte_is_read_or_refused_and_nothing_else(drive, tmp_path):
    random, whole, file = np.random.default_rng(3), drive[0].read_bytes(), tmp_path / "wrong.mcap"
    said = 0
    for _ in range(30):
        damaged = bytearray(whole)
        at = int(random.choice([random.integers(len(whole)), random.integers(2000)]))
        damaged[at] ^= int(random.integers(1, 256))
        file.write_bytes(damaged)
        try:
            said += Recording.open(file).damaged is not None
        except RecordingFileError:
            said += 1
    assert said == 30


def test_no_file_is_said(tmp_path):
    with pytest.raises(FileAccessError) as error:
        Recording.open(tmp_path / "none.mcap")
    assert str(error.value) == f"cannot read {tmp_path / 'none.mcap'}: No such file or directory"


def test_a_recording_begins_at_the_start_and_replaces_nothing(drive, tmp_path):
    with DriveSession(DriveSetup()) as session:
        with pytest.raises(FileAccessError) as error:
            session.record(drive[0])
        assert str(error.value) == f"cannot write to {drive[0]}: File exists"
        session.advance()
        with pytest.raises(NotReadyError) as late:
            session.record(tmp_path / "late.mcap")
        assert str(late.value) == "cannot record the drive: it has left its start"
        session.restart()
        session.record(tmp_path / "drive.mcap")
        with pytest.raises(NotReadyError) as twice:
            session.record(tmp_path / "twice.mcap")
        assert str(twice.value) == "cannot record the drive: it is recorded already"
        session.advance(3)
        session.end_recording()
        session.advance()
    assert Recording.open(tmp_path / "drive.mcap").ticks.tolist() == [0, 1, 2, 3]
    assert [path.name for path in tmp_path.iterdir()] == ["drive.mcap"]


def test_a_full_disk_leaves_no_empty_recording(tmp_path, monkeypatch):
    def full(writer, *_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Writer, "add_attachment", full)
    with DriveSession(DriveSetup()) as session, pytest.raises(FileAccessError) as error:
        session.record(tmp_path / "drive.mcap")
    assert str(error.value) == f"cannot write to {tmp_path / 'drive.mcap'}: No space left on device"
    assert list(tmp_path.iterdir()) == []


def test_poses_at_times_are_the_nearest_and_the_ends_hold(recording):
    found = recording.poses_at([-1.0, 0.5, 0.504, 0.506, 9.0])
    np.testing.assert_array_equal(found, recording.poses[[0, 50, 50, 51, TICKS]])
    np.testing.assert_array_equal(recording.poses_at(0.5), recording.poses[50])


def test_a_recording_shows_the_picture_that_was_there(drive, recording):
    vehicle = PosedVehicle(recording.look, recording.look.pose(recording.poses[-1]))
    picture = Camera(vehicle, recording.course().terrains, size=(96, 64)).take()
    np.testing.assert_array_equal(picture, drive[3])


def test_the_command_checks_films_and_writes(drive, recording, tmp_path):
    film, table = tmp_path / "drive.mp4", tmp_path / "drive.csv"
    done = run(drive[0], "--check", "--json", "--film", film, "--frame-size", "96x64", "--csv", table)
    assert done.exit_code == 0
    summary = json.loads(done.stdout)
    assert summary["check"] == {"equal": True, "states": TICKS + 1, "difference": None, "versions": {}}
    assert summary["events"][1] == {"time": 1.2, "kind": "gate", "details": {"number": 1, "name": "ramp"}}
    frames = imageio_ffmpeg.read_frames(str(film))
    assert next(frames)["size"] == (96, 64) and len(list(frames)) == 51
    header, *rows = table.read_text(encoding="utf-8").splitlines()
    names, _ = recording_columns(recording)
    assert header == ",".join(names) and len(rows) == TICKS + 1
    row = dict(zip(names, map(float, rows[95].split(",")), strict=True))
    assert (row["time [s]"], row["command left [m/s]"], row["command flatten"]) == (0.95, 0.4, 1.0)
    assert row["body z [m]"] == recording.poses[95, 2]
    assert row["energy [J]"] == recording.readings[95, -1]


def test_a_table_has_each_command_from_its_own_tick_on(recording):
    names, rows = recording_columns(recording)
    left = [row[names.index("command left [m/s]")] for row in rows]
    for (tick, command), (end, _) in pairwise([*recording.commands, (TICKS + 1, None)]):
        assert set(left[tick:end]) <= {command.left}
    assert len(set(left)) > 2


def test_the_command_says_where_a_drive_differs(drive, tmp_path):
    file = tmp_path / "other.mcap"
    file.write_bytes(drive[1].read_bytes().replace(double(0.25), double(0.26), 1))
    done = run(file, "--check")
    assert done.exit_code == 1
    assert "of which the last differs" in done.stdout and "at 0.01 s" in done.stdout
    assert "it ends in the middle of a record" in done.stdout


def test_without_the_extra_the_command_says_what_to_install(drive, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "mcap"]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.startswith("segtrack.recording")]:
        monkeypatch.delitem(sys.modules, name)  # The door, too: it keeps what it has imported.
    found = [path for path in sys.path if not Path(path, "mcap").is_dir()]
    monkeypatch.setattr(sys, "path", found)
    done = run(drive[0])
    message = 'reading a recording needs mcap, which is not installed: pip install "segtrack[station]"'
    assert (done.exit_code, done.stderr) == (2, f"segtrack: {message}\n")


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--view", "top"], "--film must be given with --view, --frame-rate or --frame-size, got none"),
        (["--csv", "drive.txt"], "--csv must be a file of .csv, got 'drive.txt'"),
    ],
)
def test_options_that_cannot_be_are_refused(drive, arguments, message):
    done = run(drive[0], *arguments)
    assert (done.exit_code, done.stderr) == (2, f"segtrack: {message}\n")


def test_a_recording_is_compressed_once_it_is_closed(drive, recording, tmp_path):
    path = tmp_path / "drive.mcap"
    path.write_bytes(drive[0].read_bytes())
    compact(path)
    found = Recording.open(path)
    assert (found.poses.tobytes(), found.readings.tobytes()) == (
        recording.poses.tobytes(),
        recording.readings.tobytes(),
    )
    assert (found.inputs, found.events, found.began) == (recording.inputs, recording.events, recording.began)
    assert (found.setup, found.vehicle_files, found.damaged) == (
        recording.setup,
        recording.vehicle_files,
        None,
    )
    head = drive[5]
    assert path.stat().st_size - head < 0.45 * (drive[0].stat().st_size - head)
    before = path.read_bytes()
    compact(path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["drive.mcap"]
    log = read_log(path)
    assert log.channels["/pose_array.data"].values.tobytes() == recording.poses.tobytes()


def test_what_is_not_whole_is_not_compressed(drive, tmp_path):
    path = tmp_path / "cut.mcap"
    for cut in (drive[0].read_bytes()[:-5000], b"", b"x" * 100):
        path.write_bytes(cut)
        with pytest.raises(RecordingFileError) as error:
            compact(path)
        assert str(error.value).startswith("cut.mcap: is not whole")
        assert path.read_bytes() == cut


def test_a_chunk_that_would_grow_to_too_much_is_damage(drive, tmp_path):
    """A gigabyte of zeros in 30 kB, as a chunk that claims to be small, or that says what it is."""
    path = tmp_path / "bomb.mcap"
    zeros = zstandard.compress(bytes(2**30))
    for claimed in (2**30, 1000):
        with path.open("wb") as file:
            file.write(drive[1].read_bytes())
            builder = RecordBuilder()
            Chunk("zstd", zeros, 0, 0, 0, claimed).write(builder)
            file.write(builder.end())
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        found = Recording.open(path)
        assert found.damaged is not None and len(found.ticks) == TICKS + 1
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # [kB]


def test_a_recording_says_nothing_of_the_machine_that_made_it(tmp_path):
    vehicle, course = tmp_path / "mine.yaml", tmp_path / "own.yaml"
    vehicle.write_bytes(find_vehicle("quince").read_bytes())
    course.write_bytes(find_course("okada-step").read_bytes())
    path = tmp_path / "drive.mcap"
    with DriveSession(DriveSetup(vehicle=str(vehicle), course=str(course))) as session:
        session.record(path)
        session.advance(5)
    recording = Recording.open(path)
    assert (recording.setup.vehicle, recording.setup.course) == ("mine.yaml", "own.yaml")
    content = path.read_bytes()
    own = str(Path(segtrack.__file__).parent)
    for word in (str(tmp_path), tmp_path.name, str(Path.home()), platform.node(), own):
        assert word.encode() not in content, word
    assert check_recording(recording).difference is None


def test_a_file_of_the_first_version_is_read_and_checked_to_the_bit(drive, recording, tmp_path, monkeypatch):
    monkeypatch.setattr(recorder, "FORMAT_VERSION", 1)
    monkeypatch.setattr(recorder, "rounding", lambda look, names: lambda pose, readings: (pose, readings))
    path = tmp_path / "old.mcap"
    with DriveSession(DriveSetup()) as session:
        session.record(path)
        session.apply(Command(0.3, 0.2, STILL))
        session.advance(20)
        pose = session.pose().flat()
    found = Recording.open(path)
    assert found.format_version == 1 and found.poses[-1].tobytes() == pose.tobytes()
    assert check_recording(found).difference is None


def test_a_wrong_byte_in_a_compressed_file_is_damage_and_no_other_error(drive, tmp_path):
    path = tmp_path / "drive.mcap"
    path.write_bytes(drive[0].read_bytes())
    compact(path)
    whole, damaged = path.read_bytes(), 0
    for at in np.random.default_rng(1).integers(drive[5], len(whole), 60).tolist():
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :])
        try:
            damaged += Recording.open(path).damaged is not None
        except RecordingFileError:
            damaged += 1
    assert damaged > 30


def test_many_chunks_that_grow_together_are_damage(drive, tmp_path):
    """16 MiB each, of 1 kB each: 3 GB in all."""
    path = tmp_path / "bomb.mcap"
    zeros = zstandard.compress(bytes(2**24))
    with path.open("wb") as file:
        file.write(drive[1].read_bytes())
        for _ in range(200):
            builder = RecordBuilder()
            Chunk("zstd", zeros, 0, 0, 0, 2**24).write(builder)
            file.write(builder.end())
    assert Recording.open(path).damaged is not None
