"""Trials of vehicles in the simulation, on the bundled courses."""

import pytest

from segtrack.courses import ScoringSettings, Trial, TrialObserver, bundled_courses, load_course
from segtrack.recording import Command, DriveSession, DriveSetup

MEANT = {name: vehicle for name in bundled_courses() if (vehicle := load_course(name).vehicle) is not None}


class Judged:
    """A session and the trial that is judged in it."""

    def __init__(self, session):
        self.session, settings = session, ScoringSettings()
        self.trial = Trial(session.course, "Ada", session.robot.name, 30, settings)
        self.observer = TrialObserver(session.robot, session.course, settings)

    def look(self):
        return self.trial.update(self.observer.look(self.session.time))

    def drive(self, speed, seconds):
        """Drive until something happens."""
        self.session.apply(Command(speed, speed))
        for _ in range(round(seconds / 0.04)):
            self.session.advance(4)
            if events := self.look():
                return [event.text for event in events]
        return []


@pytest.mark.parametrize("name", MEANT)
def test_vehicle_at_the_start_makes_no_fault(name):
    with DriveSession(DriveSetup(vehicle=MEANT[name], course=name)) as session:
        judged = Judged(session)
        assert judged.look() == []
        start = session.course.start
        assert session.robot.state.position[:2] == pytest.approx((start.x, start.y), abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("name", bundled_courses())
def test_trial_does_not_begin_with_a_fault_at_any_setting(name):
    if name not in MEANT:
        pytest.skip(f"no bundled vehicle fits into a lane of {load_course(name).lane_width} m")
    setting = load_course(name).setting
    for value in (None,) if setting is None else setting.values:
        with DriveSession(DriveSetup(vehicle=MEANT[name], course=name, setting=value)) as session:
            judged = Judged(session)
            for _ in range(100):
                assert not judged.observer.look(session.time).touching_wall
                assert judged.look() == []
                session.advance()


def test_repetition_is_driven_there_and_back_and_the_end_wall_is_a_fault():
    setup = DriveSetup(vehicle="packbot", course="straight-ramp", time_step=0.002)
    with DriveSession(setup) as session:
        judged = Judged(session)
        judged.look()
        assert judged.drive(1.2, 8.0) == ["gate 1 of 2"]
        there = session.time
        gate, repetition = judged.drive(-1.2, 8.0)
        assert gate == "gate 2 of 2"
        assert repetition == f"repetition 1 completed in {session.time:.1f} s"
        assert judged.drive(-1.2, 4.0) == ["repetition 2 not credited: touched a wall"]
        session.restart()
        judged.trial.restart()
        judged.look()
        clock = judged.trial.clock
        assert judged.drive(1.2, 8.0) == ["gate 1 of 2"]
        assert judged.trial.clock - clock == pytest.approx(there, abs=0.1)
