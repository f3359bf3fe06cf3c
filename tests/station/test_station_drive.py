"""What happens in a tick of the simulation's process: commands, trials, contact loads and failures."""

import numpy as np
import pytest

pytest.importorskip("mcap", reason="of an extra")

from segtrack.errors import NotReadyError
from segtrack.recording.recording import Recording
from segtrack.recording.setup import Command, DriveSetup
from segtrack.station.protocol import Flag
from segtrack.station.simulation.drive import StationDrive
from segtrack.station.simulation.exchange import SetTrial, StampedCommand, TrialEnded, TrialReport


@pytest.fixture
def drive(tmp_path):
    drive = StationDrive(DriveSetup(vehicle="quince", course="okada-step", time_step=0.002), 1, tmp_path)
    yield drive
    drive.close()


def run(drive, ticks, left=0.0, right=0.0, **changed):
    for _ in range(ticks):
        now = drive.session.time
        stamp = dict(scene=1, came=now, client_time=1.0, e_stop=False) | changed
        drive.tick(StampedCommand(**stamp, command=Command(left, right)), now)
    return drive.state(drive.session.time, 1.0, 0.0, False)


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


def test_a_trial_is_told_as_it_goes_and_ends_with_a_result(drive):
    drive.set_trial(SetTrial("begin", "Ann", 30, {"engine": "native"}))
    assert [type(report) for report in drive.reports()] == [TrialReport]
    state = run(drive, 10)
    assert (state.flags, state.trial_clock) == (Flag.TRIAL, pytest.approx(0.09))
    drive.set_trial(SetTrial("help", "Ann", 30, {}))
    (report,) = drive.reports()
    assert (report.fields["failures"], report.fields["paused"]) == (1, "asked for help")
    assert run(drive, 10).flags == Flag.TRIAL | Flag.TRIAL_PAUSED
    drive.restart()
    assert run(drive, 1).flags == Flag.TRIAL
    drive.set_trial(SetTrial("abandon", "Ann", 30, {}))
    *_, report, ended, _ = drive.reports()
    assert (report.fields["over"], report.fields["passed"]) == (True, False)
    assert isinstance(ended, TrialEnded)
    assert (ended.result.operator, ended.result.outcome) == ("Ann", "abandoned")
    assert ended.result.conditions == {"engine": "native"}


def test_going_back_in_a_trial_gives_the_repetition_up(drive):
    drive.set_trial(SetTrial("begin", "Ann", 30, {}))
    run(drive, 5, 0.3, 0.3)
    drive.reports()
    drive.restart()
    (report,) = drive.reports()
    assert (report.fields["failures"], report.fields["paused"]) == (1, None)
    assert drive.state(0.0, 1.0, 0.0, False).flags & Flag.TRIAL


def test_a_trial_that_is_over_has_its_recording_closed_and_listed(drive, tmp_path):
    drive.set_trial(SetTrial("begin", "Ann", 10, {}))
    run(drive, 5)
    drive.set_trial(SetTrial("help", "Ann", 10, {}))  # None of 10 may fail.
    ended, recorded = drive.reports()[-2:]
    assert (ended.result.outcome, ended.result.recording) == ("failed", recorded.name)
    recording = Recording.open(tmp_path / f"{recorded.name}.mcap")
    assert (recording.damaged, recording.events[-1].details["what"]) == (None, "end")


def test_what_no_trial_can_do_is_refused(drive):
    with pytest.raises(NotReadyError, match="^cannot help a trial: there is none$"):
        drive.set_trial(SetTrial("help", "Ann", 30, {}))


def test_contact_loads_carry_the_vehicle(drive):
    run(drive, 100)
    loads = drive.state(0.0, 1.0, 0.0, True).contacts
    weight = drive.session.robot.mass * 9.81
    assert loads[:, 3:].sum(axis=0) == pytest.approx([0.0, 0.0, weight], abs=0.02 * weight)
    assert loads[:, 2] == pytest.approx(np.zeros(len(loads)), abs=0.005)
    assert drive.state(0.0, 1.0, 0.0, False).contacts.shape == (0, 6)
