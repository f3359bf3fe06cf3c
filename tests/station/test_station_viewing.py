"""A run is recorded, replayed and driven beside, as the web process shows it."""

import os
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mcap", reason="of an extra")

from segtrack.courses import Pace
from segtrack.errors import InvalidValueError, NotReadyError, UnknownNameError
from segtrack.recording import Command, DriveSetup
from segtrack.station.protocol import Flag, ReplayRequest, StateMessage
from segtrack.station.simulation import RecordingReport, SetTrial, StampedCommand, TrialReport
from segtrack.station.simulation.drive import StationDrive
from segtrack.station.web import Library
from segtrack.station.web.catalogue import MAX_LISTED
from segtrack.station.web.viewing import Viewing, _Reading

TICKS = 60


SETUP = DriveSetup(course="okada-step", time_step=0.002).resolved()


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A library with one recording, and the states that were seen while it was made."""
    library = Library(tmp_path_factory.mktemp("station"))
    drive = StationDrive(SETUP, 1, library.folder)
    drive.begin_recording()
    states = [drive.state(0.0, Pace(), 0.0)]
    for i in range(TICKS):
        drive.tick(StampedCommand(1, float(i), 0.0, False, Command(0.3, 0.3)), float(i))
        states.append(drive.state(0.0, Pace(), 0.0))
    drive.end_recording()
    begun, report = drive.reports()
    assert begun == RecordingReport(report.name, closed=False)
    drive.close()
    library.refresh()
    assert library.recordings() == (report.name,)
    assert isinstance(report, RecordingReport)
    return library, report.name, states


def opened(viewing, now=0.0):
    end = time.monotonic() + 20.0
    while not viewing.poll_library(now):
        assert time.monotonic() < end
        time.sleep(0.01)


def shown(viewing, now, flags=Flag.REPLAY):
    return StateMessage.unpack(viewing.replayed(now, flags).bytes_for(False))


def test_a_replay_shows_what_was_seen_while_driving(recorded):
    library, name, states = recorded
    viewing = Viewing(library)
    assert not viewing.obey(ReplayRequest(action="open", recording=name), 0.0)
    opened(viewing)
    assert viewing.scene_fields()["number"] == shown(viewing, 0.0).scene >= 2**31
    for i in (0, 17, TICKS):
        viewing.obey(ReplayRequest(action="seek", time=0.01 * i), 0.0)
        state = shown(viewing, 0.0)
        assert (state.flags, state.time) == (Flag.REPLAY, pytest.approx(0.01 * i))
        assert np.array_equal(state.pose, states[i].pose.astype("f4"))
        assert np.array_equal(state.readings, states[i].readings.astype("f4"))
    assert shown(viewing, 0.0, Flag.E_STOP).flags == Flag.REPLAY | Flag.E_STOP


def test_a_replay_plays_pauses_and_ends(recorded):
    library, name, _ = recorded
    viewing = Viewing(library)
    viewing.obey(ReplayRequest(action="open", recording=name), 0.0)
    opened(viewing)
    assert shown(viewing, 5.0).time == 0.0
    viewing.obey(ReplayRequest(action="play", speed=2.0), 10.0)
    assert shown(viewing, 10.1).time == pytest.approx(0.2)
    viewing.obey(ReplayRequest(action="pause"), 10.2)
    assert shown(viewing, 11.0).time == pytest.approx(0.4)
    viewing.obey(ReplayRequest(action="play"), 12.0)
    assert shown(viewing, 20.0).time == pytest.approx(0.6)
    assert not viewing.replay.playing
    viewing.obey(ReplayRequest(action="play"), 21.0)
    assert shown(viewing, 21.1).time == pytest.approx(0.1)
    assert viewing.obey(ReplayRequest(action="close"), 22.0)
    assert viewing.replayed(22.0, Flag(0)) is None


@pytest.mark.parametrize(("flags", "at"), [(Flag(0), 30), (Flag.TRIAL, 10)])
def test_a_ghost_is_where_the_recording_was_at_the_same_time(recorded, flags, at):
    library, name, states = recorded
    viewing = Viewing(library)
    viewing.show_ghost(name, SETUP)
    opened(viewing)
    live = StateMessage(**vars(states[0]) | {"time": 0.3, "trial_clock": 0.1, "flags": flags}).pack()
    state = StateMessage.unpack(viewing.simulated(live).bytes_for(False))
    assert state.flags == flags | Flag.GHOST
    assert np.array_equal(state.pose, states[0].pose.astype("f4"))
    assert np.array_equal(state.ghost, states[at].pose.astype("f4"))
    assert viewing.hide_ghost()
    assert viewing.simulated(live).bytes_for(True) == live


def test_it_is_told_how_far_a_recording_was_read(recorded, monkeypatch):
    library, name, _ = recorded
    viewing = Viewing(library)
    told, going_on = [], threading.Event()
    note = _Reading.note

    def noted(reading, share):
        note(reading, share)
        told.append((share, viewing.opening, viewing.is_moving))
        going_on.wait(5.0)

    monkeypatch.setattr(_Reading, "note", noted)
    assert viewing.opening is None
    viewing.obey(ReplayRequest(action="open", recording=name), 0.0)
    assert viewing.opening is not None
    going_on.set()
    opened(viewing)
    assert (viewing.opening, viewing.is_moving) == (None, False)
    shares = [share for share, _, _ in told]
    assert shares == sorted(shares)
    assert len(set(shares)) > 3
    assert 0 < shares[0] < 0.9 < shares[-1] <= 1
    later = told[1:]  # The first may come before it is known that something is read.
    assert all(share == seen and moving for share, seen, moving in later)


def test_of_two_recordings_that_are_read_the_one_that_was_read_least_is_told(recorded, monkeypatch):
    library, name, _ = recorded
    viewing = Viewing(library)
    begun, going_on = threading.Event(), threading.Event()
    note = _Reading.note

    def noted(reading, share):
        note(reading, share)
        begun.set()
        going_on.wait(5.0)

    monkeypatch.setattr(_Reading, "note", noted)
    viewing.obey(ReplayRequest(action="open", recording=name), 0.0)
    assert begun.wait(5.0)
    assert viewing.opening > 0
    viewing.show_ghost(name, SETUP)
    assert viewing.opening == 0
    going_on.set()
    opened(viewing)
    while viewing.opening is not None:
        viewing.poll_library(0.0)
    assert viewing.replay is not None and viewing.ghost is not None


def test_a_page_names_recordings_of_the_list_alone(recorded):
    library, name, _ = recorded
    viewing = Viewing(library)
    for wrong in ("../records/x", "/etc/passwd", f"{name}.mcap"):
        with pytest.raises(UnknownNameError) as error:
            viewing.obey(ReplayRequest(action="open", recording=wrong), 0.0)
        assert str(error.value) == f"no recording {wrong!r}; there are: {name}"
    with pytest.raises(InvalidValueError):
        viewing.obey(ReplayRequest(action="open"), 0.0)
    with pytest.raises(NotReadyError) as error:
        viewing.obey(ReplayRequest(action="play"), 0.0)
    assert str(error.value) == "cannot play a replay: none is open"


def test_what_is_no_recording_says_so(tmp_path):
    library = Library(tmp_path)
    (library.folder.recordings / "broken.mcap").write_bytes(b"nothing")
    library.refresh()
    viewing = Viewing(library)
    viewing.show_ghost("broken", SETUP)
    with pytest.raises(Exception, match="broken"):
        opened(viewing)
    assert viewing.ghost is None


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"friction": 0.5}, "quince, engine native, friction 0.5, payload 0.0"),
        ({"vehicle": "packbot", "payload": 2.0}, "packbot, engine native, payload 2.0"),
        ({"light": "dark"}, "quince, engine native, light dark, payload 0.0"),
        ({"seed": 7}, None),
        ({"vehicle": "/somewhere/quince", "seed": 7}, None),
    ],
)
def test_a_ghost_was_driven_under_the_same_conditions(recorded, changed, told):
    library, name, _ = recorded
    viewing = Viewing(library)
    viewing.show_ghost(name, replace(SETUP, **changed))
    if told is None:
        opened(viewing)
        assert viewing.ghost.name == name
        return
    with pytest.raises(NotReadyError) as error:
        opened(viewing)
    here = "okada-step with quince, engine native, payload 0.0, time step 0.002, track model compliant"
    there = f"okada-step with {told}, time step 0.002, track model compliant"
    assert str(error.value) == f"cannot show the ghost: it was driven on {here}, and this is {there}"
    assert viewing.ghost is None


def test_a_fault_is_looked_at_while_its_drive_is_still_recorded(tmp_path):
    library = Library(tmp_path)
    drive = StationDrive(SETUP, 1, library.folder)
    for i in range(-30, 0):  # Driven before, in a recording of its own.
        drive.tick(None, 0.01 * i)
    drive.set_trial(SetTrial("begin", "Ann", 30))
    for i in range(TICKS):
        drive.tick(None, 0.01 * i)
    drive.set_trial(SetTrial("help"))
    drive.tick(None, 0.01 * TICKS)
    fields = [report for report in drive.reports() if isinstance(report, TrialReport)][-1].fields
    assert (fields["paused"], fields["moment"]) == ("asked for help", pytest.approx(0.01 * TICKS))
    viewing = Viewing(library)
    moment = fields["moment"] - 0.2
    viewing.obey(ReplayRequest(action="open", recording=fields["recording"], time=moment), 0.0)
    opened(viewing)
    assert shown(viewing, 0.1).time == pytest.approx(moment + 0.1)
    (fault,) = viewing.replay.status(0.0)["faults"]
    assert fault["time"] == pytest.approx(0.01 * TICKS) and "asked for help" in fault["text"]
    drive.close()


def test_a_ghost_tells_the_split_times_of_its_fastest_repetition(tmp_path):
    """Gates of a trial on a course whose gates lie around the vehicle: each tick passes one."""
    library = Library(tmp_path)
    drive = StationDrive(SETUP, 1, library.folder)
    drive.set_trial(SetTrial("begin", "Ann", 10))
    trial = drive._judge.trial
    for clock in (1.0, 2.5, 4.0, 5.0):
        trial.clock = clock
        before = len(trial.events)
        trial._pass_gate()
        drive._note(trial.events[before:])
    status = drive._judge.status()
    assert status["splits"] == pytest.approx((1.5, 2.5))
    recording = drive.session.recorder.path.stem
    drive.close()
    viewing = Viewing(library)
    viewing.show_ghost(recording, SETUP)
    opened(viewing)
    assert viewing.ghost.splits == pytest.approx((1.0, 2.5))


def test_recordings_are_compressed_and_deleted_by_choice_and_by_age(tmp_path):
    library = Library(tmp_path)
    drive = StationDrive(SETUP, 1, library.folder)
    names = []
    for _ in range(3):
        drive.begin_recording()
        for i in range(TICKS):
            drive.tick(StampedCommand(1, float(i), 0.0, False, Command(0.3, 0.3)), float(i))
        names.append(drive.session.recorder.path.stem)
        drive.end_recording()
        drive.restart()
    drive.close()
    paths = [library.folder.recordings / f"{name}.mcap" for name in names]
    before = paths[0].stat().st_size
    for report in drive.reports():
        library.note_recording(report.name, report.closed)
    library.close()
    assert paths[0].stat().st_size < before
    for path, age in zip(paths, (4.5, 3.0, 1.0), strict=True):
        os.utime(path, 2 * (time.time() - 86400 * age,))
    (library.folder.recordings / "notes.txt").write_text("kept")
    assert library.delete_old(4.0) == 1
    assert library.recordings() == (names[2], names[1])
    library.delete(names[1])
    with pytest.raises(UnknownNameError):
        library.delete("../records/experts")
    left = sorted(path.name for path in library.folder.recordings.iterdir())
    assert left == [f"{names[2]}.mcap", "notes.txt"]


def write_recordings(library, *ages):
    """Write files that were written to last so many days ago, after which they are named."""
    for age in ages:
        path = library.folder.recordings / f"{age:g}.mcap"
        path.write_bytes(b"recording")
        os.utime(path, 2 * (time.time() - 86400 * age,))


HELD = "no old recordings are deleted until the next start: "


@pytest.mark.parametrize(
    ("ages", "kept", "told"),
    [
        ((1.0, 20.0, 40.0, 60.0), {"1", "20"}, []),
        ((1.0, 40.0, 90.0), {"1"}, []),
        ((401.0, 402.0), set(), []),
        ((-0.9, 40.0), {"-0.9"}, []),
        (
            (-400.0, -2.0, 1.0, 40.0),
            {"-400", "-2", "1", "40"},
            ["-400 is stamped 400.0 days ahead of the clock"],
        ),
    ],
    ids=["one after another", "pauses", "a long pause", "a bit ahead", "a clock that was ahead"],
)
def test_recordings_are_deleted_by_age_unless_one_is_stamped_ahead(tmp_path, caplog, ages, kept, told):
    library = Library(tmp_path)
    write_recordings(library, *ages)
    assert library.delete_old(30.0) == len(ages) - len(kept)
    assert library.delete_old(30.0) == 0
    assert set(library.recordings()) == kept
    assert caplog.messages == [HELD + doubt for doubt in told]
    library.close()


@pytest.mark.parametrize("days", [400.0, 1.1, -400.0])
def test_a_clock_that_jumps_while_the_station_runs_deletes_nothing_until_the_next_start(
    tmp_path, caplog, monkeypatch, days
):
    library, clock = Library(tmp_path), time.time
    write_recordings(library, 1.0, 40.0)
    monkeypatch.setattr(time, "time", lambda: clock() + 86400 * days)
    assert library.delete_old(30.0) == 0
    monkeypatch.undo()
    assert library.delete_old(30.0) == 0
    library.close()
    assert caplog.messages == [f"{HELD}the clock jumped by {days:+.1f} days"]
    again = Library(tmp_path)
    assert again.delete_old(30.0) == 1
    again.close()


@pytest.mark.skipif(not hasattr(time, "CLOCK_BOOTTIME"), reason="elsewhere no clock goes on for certain")
def test_a_machine_that_slept_for_days_deletes_by_age(tmp_path, caplog, monkeypatch):
    library, clock, boot = Library(tmp_path), time.time, time.clock_gettime
    write_recordings(library, 1.0, 40.0)
    monkeypatch.setattr(time, "time", lambda: clock() + 86400 * 3)
    monkeypatch.setattr(time, "clock_gettime", lambda which: boot(which) + 86400 * 3)
    assert library.delete_old(30.0) == 1
    assert not caplog.messages
    library.close()


def test_the_newest_recordings_are_listed_and_each_is_found_by_its_name(tmp_path):
    library = Library(tmp_path)
    names = [f"{number:04}" for number in range(MAX_LISTED + 2)]
    for name in names:
        (library.folder.recordings / f"{name}.mcap").write_bytes(b"nothing")
    library.refresh()
    assert library.recordings() == tuple(reversed(names[2:]))
    assert library.recording("0000") == library.folder.recordings / "0000.mcap"
    library.delete("0001")
    assert not (library.folder.recordings / "0001.mcap").exists()
    with pytest.raises(UnknownNameError):
        library.recording("0001")
    library.close()


def test_a_station_begins_without_empty_recordings_and_compresses_what_one_left(tmp_path):
    library = Library(tmp_path)
    drive = StationDrive(SETUP, 1, library.folder)
    drive.begin_recording()
    for i in range(TICKS):
        drive.tick(StampedCommand(1, float(i), 0.0, False, Command(0.3, 0.3)), float(i))
    left = drive.session.recorder.path
    drive.end_recording()
    drive.restart()
    drive.begin_recording()
    broken = drive.session.recorder.path
    broken.with_stem("broken").write_bytes(broken.read_bytes()[:5000])
    drive.close()
    broken.unlink()
    library.close()
    before = left.stat().st_size
    (library.folder.recordings / "empty.mcap").touch()
    again = Library(tmp_path)
    assert set(again.recordings()) == {left.stem, "broken"}
    again.close()
    after = left.stat().st_size, left.stat().st_mtime_ns
    assert after[0] < before
    Library(tmp_path).close()
    assert (left.stat().st_size, left.stat().st_mtime_ns) == after


@pytest.mark.parametrize("ends", [lambda library: library.note_recording("run", True), Library.recover])
def test_a_recording_under_way_is_never_deleted_however_long_nothing_is_written(tmp_path, ends):
    library = Library(tmp_path)
    path = library.folder.recordings / "run.mcap"
    for each, age in (path, 1.5), (path.with_stem("later"), 0.8):
        each.write_bytes(b"")
        os.utime(each, 2 * (time.time() - 86400 * age,))
    library.note_recording("run", closed=False)
    with pytest.raises(NotReadyError) as error:
        library.delete("run")
    assert str(error.value) == "cannot delete the recording: it is being written"
    assert library.delete_old(1.0) == 0
    ends(library)  # It was closed, or the simulation died.
    assert library.delete_old(1.0) == 1
    library.close()
