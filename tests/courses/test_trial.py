"""Trials as state machines, and the statistics of their results."""

import math

import pytest
import scipy.stats
from tables import each_row

from segtrack.courses import (
    Attempt,
    Course,
    ScoringSettings,
    Setting,
    Situation,
    Start,
    Trial,
    Zone,
    compare,
    shown_confidence,
)
from segtrack.errors import InvalidValueError, NotReadyError

HEIGHT = Setting("height", "m", (0.1, 0.2, 0.3), 0.2)


def course(kind="obstacle", time_limit=None, distance=5.0):
    """There and back along x: gates at x = 2 and x = 0, off course beyond |y| = 1."""
    return Course(
        name="there-and-back",
        title="There and back",
        description="",
        kind=kind,
        terrains=(),
        start=Start(0.0, 0.0, 0.0),
        gates=(Zone(2.0, 0.0, 0.0, 0.5, 2.0), Zone(0.0, 0.0, 0.0, 0.5, 2.0)),
        walls=(),
        bounds=Zone(1.0, 0.0, 0.0, 4.0, 2.0),
        lowest=-0.5,
        distance=distance,
        setting=HEIGHT,
        lane_width=None,
        vehicle=None,
        time_limit=time_limit,
        source="",
    )


class Drive:
    """A trial, and the simulated time of it."""

    def __init__(self, repetitions=10, **named):
        self.trial = Trial(course(**named), "Ada", "quince", repetitions)
        self.time = 100.0
        self.trial.update(Situation(self.time, (0.0, 0.0, 0.1)))

    def go(self, x, seconds=1.0, y=0.0, z=0.1, **named):
        self.time += seconds
        return self.trial.update(Situation(self.time, (x, y, z), **named))

    def repetition(self, seconds=10.0):
        return self.go(2.0, seconds / 2) + self.go(0.0, seconds / 2)

    def fault(self, seconds=3.0):
        events = self.go(1.0, seconds, touching_wall=True)
        if self.trial.state == "paused":
            self.trial.restart()
            self.go(0.0)
        return events


def test_repetition_is_all_gates_in_their_order():
    drive = Drive()
    assert drive.go(0.0) == []  # The last gate is where it starts, and is not passed by standing there.
    assert [event.text for event in drive.go(2.0)] == ["gate 1 of 2"]
    assert drive.go(2.0) == drive.go(1.0) == []
    events = drive.go(0.0)
    assert [(event.clock, event.kind, event.text) for event in events] == [
        (5.0, "gate", "gate 2 of 2"),
        (5.0, "repetition", "repetition 1 completed in 5.0 s"),
    ]
    assert drive.trial.completed == 1


@pytest.mark.parametrize(
    ("where", "fault"),
    [
        ({"x": 1.0, "touching_wall": True}, "touched a wall"),
        ({"x": 1.0, "roll": math.radians(-76)}, "fell"),
        ({"x": 1.0, "pitch": math.radians(76)}, "fell"),
        ({"x": 1.0, "z": -0.6}, "fell"),
        ({"x": 1.0, "y": 1.1}, "off course"),
        ({"x": math.nan}, "off course"),
    ],
)
def test_fault_pauses_the_clock_until_the_new_start(where, fault):
    drive = Drive(repetitions=30)
    drive.go(2.0, seconds=4.0)
    assert [event.text for event in drive.go(**where)] == [f"repetition 1 not credited: {fault}"]
    trial = drive.trial
    assert (trial.state, trial.clock, trial.completed, trial.failures) == ("paused", 5.0, 0, 1)
    assert drive.go(0.0, seconds=60.0) == []
    assert [event.text for event in trial.restart()] == ["repetition 2 begins at the start"]
    drive.go(0.0, seconds=7.0)
    assert trial.clock == 5.0  # It runs on from the first situation after the restart.
    drive.repetition()
    assert (trial.clock, trial.completed) == (15.0, 1)  # From the first gate again.
    assert trial.attempts[1].duration == 10.0


FAULTS = {
    "touched a wall": {"touching_wall": True},
    "fell": {"roll": math.radians(80)},
    "off course": {"y": 1.1},
}


@pytest.mark.parametrize("fault", ["touched a wall", "fell"])
@pytest.mark.parametrize("gates", [0, 1])
def test_a_gate_that_is_reached_with_a_fault_is_not_passed(fault, gates):
    drive = Drive(30)
    for x in (2.0, 0.0)[:gates]:
        drive.go(x)
    events = drive.go((2.0, 0.0)[gates], **FAULTS[fault])
    assert [event.text for event in events] == [f"repetition 1 not credited: {fault}"]
    assert (drive.trial.next_gate, drive.trial.completed, drive.trial.failures) == (0, 0, 1)


@pytest.mark.parametrize(
    ("named", "together"),
    [("fell", "touched a wall"), ("off course", "touched a wall"), ("fell", "off course")],
)
def test_of_two_faults_the_worse_is_named(named, together):
    for faults in (FAULTS[named] | FAULTS[together], FAULTS[together] | FAULTS[named]):
        (event,) = Drive(30).go(1.0, **faults)
        assert event.text == f"repetition 1 not credited: {named}"
    drive = Drive(30, time_limit=5.0)
    assert drive.go(2.0, seconds=5.0, **faults)[0].text == "repetition 1 not credited: out of time"
    assert drive.trial.state == "failed"


@pytest.mark.parametrize(
    ("within", "beyond", "fault"),
    [
        ({"roll": math.radians(74.999)}, {"roll": math.radians(75.001)}, "fell"),
        ({"pitch": math.radians(-74.999)}, {"pitch": math.radians(-75.001)}, "fell"),
        ({"z": -0.5}, {"z": -0.501}, "fell"),
        ({"y": 0.999}, {"y": 1.001}, "off course"),
        ({"y": -0.999}, {"y": -1.001}, "off course"),
        ({"seconds": 24.999}, {"seconds": 25.0}, "out of time"),
    ],
)
def test_a_fault_begins_at_its_bound(within, beyond, fault):
    def at(where):
        return [event.text for event in Drive(30, time_limit=25.0).go(1.0, **where)]

    assert at(within) == []
    assert at(beyond)[0] == f"repetition 1 not credited: {fault}"


def test_slope_is_no_fall():
    assert Drive().go(1.0, pitch=math.radians(45), roll=math.radians(-40)) == []


def test_help_is_a_fault():
    drive = Drive(repetitions=20)
    events = drive.trial.ask_help()
    assert [event.text for event in events] == ["repetition 1 not credited: asked for help"]
    with pytest.raises(NotReadyError, match="cannot ask for help: the trial is paused"):
        drive.trial.ask_help()


def test_time_limit_ends_the_trial():
    drive = Drive(time_limit=25.0, repetitions=30)
    drive.repetition()
    drive.repetition()
    assert drive.go(1.0, seconds=4.0) == []
    assert [event.text for event in drive.go(1.0, seconds=4.0)] == [
        "repetition 3 not credited: out of time",
        "failed: out of time after 3 of 30 repetitions",
    ]
    assert (drive.trial.state, drive.trial.completed) == ("failed", 2)


@pytest.mark.parametrize(
    ("repetitions", "pattern", "state", "tried", "last"),
    [
        (10, "." * 10, "passed", 10, "passed: 0 of 10 failed, 0 may"),
        (30, "." * 10, "passed", 10, "passed: 0 of 10 failed, 0 may"),
        (10, "..x", "failed", 3, "failed: 1 of 3 failed, 0 of 10 may"),
        (20, "..x" + "." * 17, "passed", 20, "passed: 1 of 20 failed, 1 may"),
        (20, "..x" + "." * 10 + "x", "failed", 14, "failed: 2 of 14 failed, 1 of 20 may"),
        (30, "..x" + "." * 10 + "x" + "." * 15 + "x", "passed", 30, "passed: 3 of 30 failed, 3 may"),
        (30, "xxxx", "failed", 4, "failed: 4 of 4 failed, 3 of 30 may"),
    ],
)
def test_trial_goes_on_as_far_as_the_rules_allow(repetitions, pattern, state, tried, last):
    drive = Drive(repetitions)
    for step in pattern:
        assert drive.trial.state == "running"
        drive.repetition() if step == "." else drive.fault()
    assert (drive.trial.state, len(drive.trial.attempts)) == (state, tried)
    assert drive.trial.events[-1].text == last
    assert drive.go(2.0) == []


def test_next_level_is_announced():
    drive = Drive(30)
    drive.fault()
    for _ in range(9):
        drive.repetition()
    assert drive.trial.events[-1].text == "1 of 10 failed: on to 20, of which 1 may"


def test_obstacle_is_rated_in_repetitions_and_terrain_in_metres():
    for kind, rate in (("obstacle", 6.0), ("terrain", 6.0 * 5.0)):
        drive = Drive(kind=kind)
        for _ in range(10):
            drive.repetition(10.0)
        result = drive.trial.result("2026-01-01T10:00:00")
        assert (result.rate, drive.trial.rate, result.elapsed) == pytest.approx((rate, rate, 100.0))
        assert result.rate_unit == {"obstacle": "1/min", "terrain": "m/min"}[kind]


def test_time_of_a_failed_repetition_counts_in_the_rate():
    drive = Drive(30)
    drive.fault(seconds=5.0)
    drive.repetition(10.0)
    assert drive.trial.rate == pytest.approx(60 / 15)


def test_abandoned_trial_has_a_result_without_the_repetition_under_way():
    drive = Drive()
    drive.repetition()
    drive.go(2.0)
    drive.trial.abandon()
    result = drive.trial.result("2026-01-01", {"delay": "200 ms"}, "a.mcap")
    assert (result.outcome, result.completed, result.failed) == ("abandoned", 1, 0)
    assert (result.setting, result.setting_name, result.recording) == (0.2, "height", "a.mcap")
    with pytest.raises(NotReadyError, match="cannot abandon: the trial is abandoned"):
        drive.trial.abandon()


def test_summary_counts_and_tells():
    drive = Drive(20)
    drive.fault()
    for _ in range(12):
        drive.repetition()
    summary = drive.trial.summary()
    assert (summary["done"], summary["failures"], summary["state"]) == (12, 1, "running")
    assert len(summary["events"]) == 20
    assert summary["events"][-1] == {
        "clock": drive.trial.clock,
        "kind": "repetition",
        "text": "repetition 13 completed in 10.0 s",
    }


@each_row(
    "do, message",
    [
        (lambda: Drive(repetitions=15), "repetitions must be 10 or 20 or 30, got 15"),
        (lambda: Drive().go(0.0, seconds=-1.0), "time of the situation [s] must be at least 100.0, got 99.0"),
        (
            lambda: Drive().go(0.0, seconds=math.nan),
            "time of the situation [s] must be a finite number, got nan",
        ),
        (lambda: Drive().trial.restart(), "cannot restart: the trial is running"),
        (lambda: ScoringSettings(reliability=1.0), "reliability must be in (0, 1), got 1.0"),
        (lambda: ScoringSettings(confidence=-0.1), "confidence must be in (0, 1), got -0.1"),
        (lambda: ScoringSettings(pass_fraction=-1.0), "pass_fraction must be at least 0, got -1.0"),
        (
            lambda: ScoringSettings(allowed_failures={10: 10}),
            "allowed_failures must be fewer failures than repetitions, at least once, got {10: 10}",
        ),
        (lambda: shown_confidence(1, -1, 0.8), "completed and failed must be at least 0, got (1, -1)"),
        (lambda: shown_confidence(1, 1, 1.0), "reliability must be in (0, 1), got 1.0"),
    ],
)
def test_what_makes_no_sense_is_refused(do, message):
    with pytest.raises((InvalidValueError, NotReadyError)) as error:
        do()
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("tried", "failed", "confidence"),
    [(10, 0, 0.893), (20, 1, 0.931), (30, 3, 0.877), (40, 4, 0.924), (50, 6, 0.897), (60, 8, 0.873)],
)
def test_confidence_is_the_exact_binomial_one(tried, failed, confidence):
    """Of 80 % reliability: 1 - P(failures <= k of n)."""
    found = shown_confidence(tried - failed, failed, 0.8)
    assert found == pytest.approx(confidence, abs=5e-4)
    sums = sum(math.comb(tried, k) * 0.2**k * 0.8 ** (tried - k) for k in range(failed + 1))
    assert found == pytest.approx(1 - sums)


def reliability(completed, failed, confidence):
    """The reliability that a trial of so many repetitions shows."""
    attempts = tuple(
        Attempt(begun=0.0, duration=1.0, fault=fault) for fault in [None] * completed + ["fell"] * failed
    )
    return (
        Drive().trial.result("2026-01-01").model_copy(update={"attempts": attempts}).reliability(confidence)
    )


def test_reliability_is_the_limit_of_clopper_and_pearson():
    assert reliability(10, 0, 0.8) == pytest.approx(0.2 ** (1 / 10)) == pytest.approx(0.851, abs=5e-4)
    for completed, failed in ((19, 1), (27, 3), (1, 9)):
        test = scipy.stats.binomtest(completed, completed + failed, alternative="greater")
        expected = test.proportion_ci(confidence_level=0.8, method="exact").low
        assert reliability(completed, failed, 0.8) == pytest.approx(expected)
    assert reliability(0, 5, 0.8) == reliability(0, 0, 0.8) == shown_confidence(0, 0, 0.8) == 0.0


def test_reliability_and_confidence_are_inverse():
    shown = reliability(18, 2, 0.9)
    assert shown_confidence(18, 2, shown) == pytest.approx(0.9)


def test_operator_is_compared_by_rate():
    def result(seconds, **changes):
        drive = Drive()
        for _ in range(10):
            drive.repetition(seconds)
        return drive.trial.result("2026-01-01").model_copy(update=changes)

    expert = result(8.0)
    assert compare(result(10.0), expert, 0.8).fraction == pytest.approx(0.8)
    assert compare(result(9.9), expert, 0.8).passed
    assert not compare(result(10.1), expert, 0.8).passed
    assert not compare(result(7.0, outcome="failed"), expert, 0.8).passed
    with pytest.raises(InvalidValueError) as error:
        compare(result(8.0, vehicle="packbot"), expert, 0.8)
    assert str(error.value) == (
        "an expert's trial must be of there-and-back at 0.2 with packbot, "
        "got 'there-and-back at 0.2 with quince'"
    )
    with pytest.raises(InvalidValueError, match="with quince, soil sand, got 'there-and-back at 0.2"):
        compare(result(8.0, conditions={"soil": "sand"}), expert, 0.8)
    assert compare(result(8.0, conditions={"seed": "3"}), expert, 0.8).passed


def paced(drive, factor, seconds=10.0, ticks=100, **where):
    """Let wall time pass besides: simulated over elapsed time is `factor`."""
    for _ in range(ticks):
        drive.wall += seconds / ticks / factor
        drive.go(0.0, seconds=seconds / ticks, wall_clock=drive.wall, **where)


@pytest.mark.parametrize(("factor", "void"), [(1.0, False), (0.99, False), (0.97, True), (0.1, True)])
def test_a_repetition_of_a_slow_simulation_is_void_and_run_again(factor, void):
    drive = Drive(10)
    drive.wall = 100.0
    drive.go(0.0, seconds=0.0, wall_clock=drive.wall)
    paced(drive, factor)
    assert drive.trial.slow == void
    drive.go(2.0, seconds=0.0, wall_clock=drive.wall)
    drive.go(0.0, seconds=0.0, wall_clock=drive.wall)
    assert (drive.trial.completed, drive.trial.failures) == (int(not void), 0)
    result = drive.trial.result("now")
    assert (result.completed, result.void) == (int(not void), int(void))
    assert result.real_time_factor == pytest.approx(factor, abs=2e-3)
    clock = drive.trial.clock
    paced(drive, 1.0)
    drive.go(2.0, seconds=0.0, wall_clock=drive.wall)
    drive.go(0.0, seconds=0.0, wall_clock=drive.wall)
    assert drive.trial.completed == 2 - void
    # The time of a void repetition does not count either.
    counted = drive.trial.clock - (clock if void else 0.0)
    assert drive.trial.rate == pytest.approx(60 * (2 - void) / counted)


def test_a_fault_of_a_slow_simulation_is_no_failure_and_a_short_delay_voids_nothing():
    drive = Drive(10)
    drive.wall = 0.0
    drive.go(0.0, seconds=0.0, wall_clock=0.0)
    paced(drive, 0.5, seconds=0.05, ticks=5)  # 0.05 s behind: the next ticks make up for that.
    assert not drive.trial.slow
    paced(drive, 0.5, seconds=1.0)
    drive.trial.ask_help()
    assert (drive.trial.state, drive.trial.failures) == ("paused", 0)
    assert [event.kind for event in drive.trial.events] == ["void"]
    drive.trial.restart()
    drive.go(0.0, seconds=0.0, wall_clock=drive.wall)
    drive.trial.note_pause()
    drive.wall += 100.0  # An instructor explains.
    drive.go(0.0, seconds=0.0, wall_clock=drive.wall)
    paced(drive, 1.0)
    assert not drive.trial.slow
