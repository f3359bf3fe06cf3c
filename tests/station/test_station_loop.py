"""The simulation's process, in this one: what fails is reported, and the next order is taken."""

import multiprocessing
import struct
import time

import pytest

pytest.importorskip("mcap", reason="of an extra")

from segtrack.errors import DivergedError
from segtrack.recording import Command, DriveSetup
from segtrack.station.folder import StationFolder
from segtrack.station.simulation import (
    Build,
    NoPriority,
    RecordingReport,
    Refused,
    RunReport,
    SetRun,
    SetTrial,
    StampedCommand,
    TrialEnded,
    TrialReport,
)
from segtrack.station.simulation.drive import StationDrive
from segtrack.station.simulation.exchange import Close, LatestValue, Taken
from segtrack.station.simulation.loop import SimulationLoop, simulate

SETUP = DriveSetup(course="okada-step", time_step=0.002)


class NotedPipe:
    def __init__(self):
        self.sent = []

    def send(self, report):
        self.sent.append(report)


@pytest.fixture
def loop(tmp_path):
    context = multiprocessing.get_context("spawn")
    loop = SimulationLoop(
        LatestValue(context, 1024), LatestValue(context, 1 << 20), NotedPipe(), StationFolder(tmp_path)
    )
    yield loop
    loop.close()


@pytest.mark.parametrize(("chosen", "reports"), [(-5, []), (5, [NoPriority()])])
def test_a_priority_that_a_user_chose_stays_and_is_told_where_it_is_low(monkeypatch, chosen, reports):
    def closed(*_):
        raise EOFError

    monkeypatch.setattr("os.getpriority", lambda *_: chosen)
    monkeypatch.setattr("os.setpriority", closed)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    monkeypatch.setattr(SimulationLoop, "run", closed)
    pipe = NotedPipe()
    context = multiprocessing.get_context("spawn")
    simulate(LatestValue(context, 1024), LatestValue(context, 1024), pipe, StationFolder("nowhere"))
    assert pipe.sent == reports


def told(loop, order):
    """What is reported of an order but for scenes."""
    loop._orders.sent.clear()
    loop._obey(order)
    *reports, taken = loop._orders.sent
    assert taken == Taken()
    return [report for report in reports if isinstance(report, RunReport | Refused)]


def test_a_setup_that_cannot_be_built_fails_and_the_next_is_built(loop):
    compiling, failed = told(loop, Build(1, DriveSetup(course="nothing")))
    assert (compiling.state, failed.state) == ("compiling", "failed")
    assert failed.reason.startswith("no course 'nothing'; there are: ")
    for action in ("start", "reset"):
        assert told(loop, SetRun(action)) == [Refused(f"cannot {action} the run: nothing is simulated")]
    assert [report.state for report in told(loop, Build(2, SETUP))] == ["compiling", "ready"]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (DivergedError("quince", 1.25, "too fast"), "simulation diverged: quince at t = 1.2500 s: too fast"),
        (ZeroDivisionError("by zero"), "ZeroDivisionError: by zero"),
    ],
)
def test_a_tick_that_fails_ends_the_run_and_a_reset_begins_anew(loop, monkeypatch, error, reason):
    told(loop, Build(1, SETUP))
    assert told(loop, SetRun("start")) == [RunReport("running")]
    with monkeypatch.context() as patched:

        def tick(*_):
            raise error

        patched.setattr(StationDrive, "tick", tick)
        loop._tick()
    assert loop._orders.sent[-1] == RunReport("failed", reason)
    for action in ("start", "pause"):
        assert told(loop, SetRun(action)) == [Refused(f"cannot {action} the run: it has failed")]
    assert told(loop, SetRun("reset")) == [RunReport("ready")]
    assert told(loop, SetRun("start")) == [RunReport("running")]


def test_a_run_starts_pauses_stops_and_starts_from_the_start(loop):
    told(loop, Build(1, SETUP))
    states = [told(loop, SetRun(action))[-1].state for action in ("start", "pause", "start", "stop", "start")]
    assert states == ["running", "paused", "running", "stopped", "running"]
    assert len(list(loop._folder.recordings.glob("*.mcap"))) == 2


def test_another_setup_ends_the_trial_and_the_recording_that_are_under_way(loop):
    told(loop, Build(1, SETUP))
    told(loop, SetTrial("begin", "Ann", 10, {}))
    assert loop.state == "running"
    told(loop, Build(2, SETUP))
    (ended,) = [report for report in loop._orders.sent if isinstance(report, TrialEnded)]
    (recorded,) = [report for report in loop._orders.sent if isinstance(report, RecordingReport)]
    assert recorded.closed
    assert (ended.result.outcome, ended.result.recording) == ("abandoned", recorded.name)


def test_a_stop_abandons_the_trial_and_lists_its_recording(loop):
    told(loop, Build(1, SETUP))
    told(loop, SetTrial("begin", "Ann", 10, {}))
    told(loop, SetRun("stop"))
    reports = loop._orders.sent
    (ended,) = [report for report in reports if isinstance(report, TrialEnded)]
    (recorded,) = [report for report in reports if isinstance(report, RecordingReport)]
    assert recorded.closed
    assert (ended.result.outcome, ended.result.recording) == ("abandoned", recorded.name)
    assert loop.state == "stopped"


def test_a_tick_that_fails_in_a_trial_abandons_it_and_lists_its_recording(loop, monkeypatch):
    told(loop, Build(1, SETUP))
    told(loop, SetTrial("begin", "Ann", 10, {}))
    monkeypatch.setattr(StationDrive, "permitted_command", lambda *_: 1 / 0)
    loop._tick()
    *_, listed, failed = loop._orders.sent
    (ended,) = [report for report in loop._orders.sent if isinstance(report, TrialEnded)]
    assert (ended.result.outcome, ended.result.recording) == ("abandoned", listed.name)
    assert failed == RunReport("failed", "ZeroDivisionError: division by zero")


def test_a_pause_is_an_event_of_the_trial_and_its_clock_stands(loop):
    told(loop, Build(1, SETUP))
    told(loop, SetTrial("begin", "Ann", 10, {}))
    loop._tick()
    told(loop, SetRun("pause"))
    (report,) = [report for report in loop._orders.sent if isinstance(report, TrialReport)]
    assert report.fields["events"] == [{"clock": 0.0, "kind": "pause", "text": "the simulation was paused"}]
    told(loop, SetRun("start"))
    loop._tick()
    told(loop, SetTrial("abandon"))
    (ended,) = [report for report in loop._orders.sent if isinstance(report, TrialEnded)]
    assert (ended.result.pauses, ended.result.elapsed) == (1, pytest.approx(0.01))


def test_a_run_goes_on_after_its_trial_and_is_recorded_again_from_the_start(loop):
    told(loop, Build(1, SETUP))
    told(loop, SetTrial("begin", "Ann", 10, {}))
    loop._tick()
    told(loop, SetTrial("abandon"))
    loop._tick()
    states = [told(loop, SetRun(action)) for action in ("pause", "start", "reset")]
    assert states == [[RunReport("paused")], [RunReport("running")], [RunReport("running")]]
    assert len(list(loop._folder.recordings.glob("*.mcap"))) == 2


def test_an_order_that_is_refused_changes_nothing(loop):
    told(loop, Build(1, SETUP))
    refused = told(loop, SetTrial("help"))
    assert refused == [Refused("cannot help a trial: there is none")]
    assert told(loop, SetRun("pause")) == []  # Nothing runs.
    assert loop.state == "ready"


def test_a_writer_that_is_in_the_way_leaves_the_latest_command(loop):
    told(loop, Build(1, SETUP))
    told(loop, SetRun("start"))
    loop._commands.write(StampedCommand(1, time.monotonic(), 0.0, False, Command(0.3, 0.3)).pack())
    loop._tick()
    struct.pack_into("<Q", loop._commands._memory, 0, 3)  # Odd: in the middle of writing.
    assert loop._commands.read() is None
    loop._tick()
    assert loop._drive.session.command.left == 0.3


def test_the_end_of_the_station_ends_the_trial_with_a_result(loop):
    told(loop, Build(1, SETUP))
    told(loop, SetTrial("begin", "Ann", 10, {}))
    loop._tick()
    told(loop, Close())
    (ended,) = [report for report in loop._orders.sent if isinstance(report, TrialEnded)]
    assert (ended.result.operator, ended.result.outcome) == ("Ann", "abandoned")
