"""A drive that begins anew."""

import pytest

from segtrack.recording import Command, DriveSession, DriveSetup


def test_no_command_of_before_a_restart_is_obeyed_after_it():
    with DriveSession(DriveSetup(vehicle="packbot", course="okada-step")) as session:
        at_start = session.pose().flat()
        session.apply(Command(0.2, 0.1))
        session.advance(20)
        assert session.pose().flat() != pytest.approx(at_start, abs=1e-2)
        session.restart()
        assert session.command == Command()
        session.advance(20)
        assert session.pose().flat() == pytest.approx(at_start, abs=1e-4)
