"""What happens in a tick of the simulation's process: commands, trials, contact loads and failures."""

import math
import time

import numpy as np
import pytest

pytest.importorskip("mcap", reason="of an extra")

from segtrack.courses import Pace, Zone
from segtrack.errors import FileAccessError, NotReadyError
from segtrack.recording import TICK, Command, DriveSetup, Recording
from segtrack.station.folder import StationFolder
from segtrack.station.protocol import Flag
from segtrack.station.simulation import (
    RecordingReport,
    SetTrial,
    StampedCommand,
    TrialEnded,
    TrialReport,
    loads,
)
from segtrack.station.simulation.drive import StationDrive
from segtrack.station.simulation.exchange import WATCHDOG


@pytest.fixture
def drive(tmp_path):
    drive = StationDrive(
        DriveSetup(vehicle="quince", course="okada-step", time_step=0.002), 1, StationFolder(tmp_path)
    )
    yield drive
    drive.close()


def run(drive, ticks, left=0.0, right=0.0, **changed):
    for _ in range(ticks):
        now = drive.session.time
        stamp = dict(scene=1, came=now, client_time=1.0, e_stop=False) | changed
        drive.tick(StampedCommand(**stamp, command=Command(left, right)), now)
    return drive.state(drive.session.time, Pace(), 0.0)


def test_a_fresh_command_moves_the_vehicle_and_an_old_one_stops_it(drive):
    state = run(drive, 50, 0.3, 0.3)
    assert state.flags == Flag(0)
    assert state.pose[0] > 0.1
    assert run(drive, 1, 0.3, 0.3, came=-1.0).flags == Flag.WATCHDOG
    assert drive.session.command.left == 0.0
    for held, flag in ({"e_stop": True}, Flag.E_STOP), ({"scene": 2}, Flag.WATCHDOG):
        run(drive, 1, 0.3, 0.3)
        assert drive.session.command.left == 0.3
        assert run(drive, 1, 0.3, 0.3, **held).flags == flag
        assert drive.session.command == Command()


@pytest.mark.parametrize(
    "stop",
    [StationDrive.pause, StationDrive.restart, lambda drive: drive.set_trial(SetTrial("begin", "Ann", 30))],
)
def test_what_was_driven_before_a_stop_is_no_answer_to_what_comes_then(drive, stop):
    """The page takes the age of the controls that a state obeys for the driver's delay."""
    assert run(drive, 5, 0.3, 0.3).client_time == 1.0
    stop(drive)
    assert drive.state(0.0, Pace(), 0.0).client_time == 0.0
    assert run(drive, 1, 0.3, 0.3, client_time=2.0).client_time == 2.0


def test_a_trial_is_told_as_it_goes_and_ends_with_a_result(drive):
    drive.set_trial(SetTrial("begin", "Ann", 30, {"engine": "native"}))
    assert [type(report) for report in drive.reports()] == [RecordingReport, TrialReport]
    state = run(drive, 10)
    assert (state.flags, state.trial_clock) == (Flag.TRIAL, pytest.approx(0.09))
    drive.set_trial(SetTrial("help"))
    (report,) = drive.reports()
    assert (report.fields["failures"], report.fields["paused"]) == (1, "asked for help")
    assert run(drive, 10).flags == Flag.TRIAL | Flag.TRIAL_PAUSED
    drive.restart()
    assert run(drive, 1).flags == Flag.TRIAL
    drive.set_trial(SetTrial("abandon"))
    *_, report, ended, _ = drive.reports()
    assert (report.fields["over"], report.fields["passed"]) == (True, False)
    assert isinstance(ended, TrialEnded)
    assert (ended.result.operator, ended.result.outcome) == ("Ann", "abandoned")
    assert ended.result.conditions == {"engine": "native"}


def test_going_back_in_a_trial_gives_the_repetition_up(drive):
    drive.set_trial(SetTrial("begin", "Ann", 30, {}))
    run(drive, 110, 0.1, 0.1)
    drive.reports()
    drive.restart()
    (report,) = drive.reports()
    assert (report.fields["failures"], report.fields["paused"]) == (1, None)
    assert drive.state(0.0, Pace(), 0.0).flags & Flag.TRIAL


def test_a_trial_that_is_over_has_its_recording_closed_and_listed(drive, tmp_path):
    drive.set_trial(SetTrial("begin", "Ann", 10, {}))
    run(drive, 5)
    drive.set_trial(SetTrial("help"))  # None of 10 may fail.
    ended, recorded = drive.reports()[-2:]
    assert (ended.result.outcome, ended.result.recording) == ("failed", recorded.name)
    recording = Recording.open(tmp_path / "recordings" / f"{recorded.name}.mcap")
    assert (recording.damaged, recording.events[-1].details["what"]) == (None, "end")


def test_what_no_trial_can_do_is_refused(drive):
    with pytest.raises(NotReadyError, match="^cannot help a trial: there is none$"):
        drive.set_trial(SetTrial("help"))


def test_contact_loads_carry_the_vehicle(drive):
    run(drive, 100)
    drive.loads.wanted = True
    drive.loads.update(1.0)
    state = drive.state(time.monotonic(), Pace(), 0.0)
    weight = drive.session.robot.mass * 9.81
    assert state.contacts[:, 3:].sum(axis=0) == pytest.approx([0.0, 0.0, weight], abs=0.02 * weight)
    assert state.contacts[:, 2] == pytest.approx(np.zeros(len(state.contacts)), abs=0.005)
    assert state.flags & Flag.CONTACTS


def test_contact_loads_are_read_in_time_that_is_left_and_not_shown_when_old(drive, monkeypatch):
    read = []

    def slowly(session):
        read.append(session)
        time.sleep(0.02)
        return np.ones((1, 6))

    monkeypatch.setattr(loads, "read_contact_forces", slowly)
    monkeypatch.setattr(loads, "LOADS_PERIOD", 0.0)
    drive.loads.update(1.0)
    assert not read  # Nobody looks.
    drive.loads.wanted = True
    drive.loads.update(0.0)  # It is not known yet that it takes long.
    for _ in range(5):
        drive.loads.update(0.01)
    assert len(read) == 1
    drive.loads.update(1.0)
    assert len(read) == 2
    monkeypatch.setattr(loads, "SHARE", 1.0)  # Of the time that it takes.
    time.sleep(0.04)
    drive.loads.update(0.01)
    assert len(read) == 3
    now = time.monotonic()
    assert len(drive.state(now, Pace(), 0.0).contacts) == 1
    old = drive.state(now + loads.STALE, Pace(), 0.0)
    assert (len(old.contacts), old.flags & Flag.CONTACTS) == (0, 0)


def test_a_trial_is_kept_as_far_as_it_has_come(drive, tmp_path):
    """What a process that is killed leaves behind, taken up by the next."""
    drive.set_trial(SetTrial("begin", "Ann", 30, {"engine": "native"}))
    run(drive, 10)
    drive.set_trial(SetTrial("help"))
    records = StationFolder(tmp_path).records
    (result,), problems = records.recover()
    assert (result.outcome, result.failed, problems) == ("abandoned", 1, ())
    assert result.recording == drive.session.recorder.path.stem
    assert records.read("Ann").results == (result,)
    assert records.recover() == ((), ())


def test_time_without_commands_is_in_the_result(drive):
    drive.set_trial(SetTrial("begin", "Ann", 10, {}))
    command = StampedCommand(1, 0.0, 0.0, False)
    for k in range(60):  # The last command came 0.6 s ago.
        drive.tick(command, TICK * k)
    drive.set_trial(SetTrial("abandon"))
    (ended,) = [report for report in drive.reports() if isinstance(report, TrialEnded)]
    assert ended.result.uncommanded == pytest.approx(ended.result.elapsed - WATCHDOG, abs=2 * TICK)


@pytest.mark.parametrize(("ticks", "failures"), [(2, 1), (110, 2)])
def test_a_double_reset_is_one_failure_and_one_after_a_second_is_another(drive, ticks, failures):
    drive.set_trial(SetTrial("begin", "Ann", 30, {}))
    run(drive, 110)
    drive.restart()
    run(drive, ticks)
    drive.restart()
    drive.set_trial(SetTrial("abandon"))
    (ended,) = [report for report in drive.reports() if isinstance(report, TrialEnded)]
    assert ended.result.failed == failures


@pytest.mark.parametrize(("ticks", "failures"), [(2, 0), (110, 1)])
def test_a_reset_just_after_a_completed_repetition_is_no_failure(drive, monkeypatch, ticks, failures):
    drive.set_trial(SetTrial("begin", "Ann", 30, {}))
    run(drive, 110)
    with monkeypatch.context() as everywhere:
        everywhere.setattr(Zone, "contains", lambda *_: True)
        run(drive, len(drive.session.course.gates))
    run(drive, ticks)
    drive.restart()
    drive.set_trial(SetTrial("abandon"))
    (ended,) = [report for report in drive.reports() if isinstance(report, TrialEnded)]
    assert (ended.result.completed, ended.result.failed) == (1, failures)


def test_a_repetition_of_a_slow_simulation_is_void_and_flagged(drive):
    drive.set_trial(SetTrial("begin", "Ann", 10, {}))
    for k in range(20):
        drive.tick(None, 0.03 * k, late=True)
    assert drive.state(0.6, Pace(), 0.0).flags & Flag.SLOW
    drive.set_trial(SetTrial("help"))
    drive.set_trial(SetTrial("abandon"))
    (ended,) = [report for report in drive.reports() if isinstance(report, TrialEnded)]
    assert (ended.result.void, ended.result.failed, ended.result.late) == (1, 0, 1.0)
    assert ended.result.real_time_factor == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("pace", "slow"),
    [(Pace(0.01, 0.03), False), (Pace(1.9, 1.99), False), (Pace(1.9, 2.01), True), (Pace(9.9, 10.05), False)],
)
def test_a_simulation_is_slow_by_more_than_it_makes_up_for_and_a_trial_by_its_repetition(drive, pace, slow):
    assert bool(drive.state(0.0, pace, 0.0).flags & Flag.SLOW) == slow
    drive.set_trial(SetTrial("begin", "Ann", 10, {}))
    assert not drive.state(0.0, pace, 0.0).flags & Flag.SLOW


def test_a_delay_that_the_driver_saw_is_in_the_result(drive):
    drive.set_trial(SetTrial("begin", "Ann", 10, {}))
    for k in range(100):
        now = drive.session.time
        drive.tick(StampedCommand(1, now, 1.0, False, Command(), 0.001 * k if k else math.nan), now)
    drive.set_trial(SetTrial("abandon"))
    (ended,) = [report for report in drive.reports() if isinstance(report, TrialEnded)]
    assert ended.result.delay == pytest.approx(np.percentile(0.001 * np.arange(1, 100), 95))


def test_a_trial_that_a_full_disk_ends_has_its_result(drive, monkeypatch):
    drive.set_trial(SetTrial("begin", "Ann", 30, {}))
    run(drive, 5)
    drive.set_trial(SetTrial("help"))

    def full(*_, **__):
        raise FileAccessError("write to", "run.mcap", "No space left on device")

    monkeypatch.setattr(drive.session.recorder, "event", full)
    with pytest.raises(FileAccessError):
        drive.end()
    (ended,) = [report for report in drive.reports() if isinstance(report, TrialEnded)]
    assert (ended.result.outcome, ended.result.failed) == ("abandoned", 1)
