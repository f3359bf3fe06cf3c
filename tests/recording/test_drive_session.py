"""A drive's setup and its simulation: what it refuses, and that it repeats itself to the bit."""

import copy
import math
import pickle

import numpy as np
import pytest
from tables import each_row

from segtrack import load_vehicle
from segtrack.description import vehicle_links
from segtrack.errors import InvalidValueError, SegtrackError, UnknownNameError
from segtrack.recording import Command, DriveSession, DriveSetup

TURN = Command(0.3, -0.1, {"front_left": 0.8})


@pytest.fixture(scope="module")
def session():
    with DriveSession(DriveSetup()) as session:
        yield session


@pytest.fixture(autouse=True)
def at_the_start(request):
    if "session" in request.fixturenames:
        request.getfixturevalue("session").restart()


def drive(session, *commands, ticks=10):
    for command in commands:
        session.apply(command)
        session.advance(ticks)
    return np.concatenate([session.pose().flat(), session.readings()])


@each_row(
    "given, kind, message",
    [
        ({"vehicle": ""}, InvalidValueError, "vehicle must be a name or the path of a file, got ''"),
        ({"course": 3}, InvalidValueError, "course must be a name or the path of a file, got 3"),
        ({"engine": "ode"}, UnknownNameError, "no engine 'ode'; there are: pybullet, native, mujoco"),
        ({"friction": math.nan}, InvalidValueError, "friction [-] must be a finite number, got nan"),
        ({"payload": -1.0}, InvalidValueError, "payload [kg] must be at least 0, got -1.0"),
        ({"payload_position": (0, 1)}, InvalidValueError,
         "payload_position [m] must be 3 finite numbers, got (0, 1)"),
        ({"light": "day"}, UnknownNameError, "no light 'day'; there are: dark"),
        ({"visibility": 0}, InvalidValueError, "visibility [m] must be from 0.1 to 10000, got 0.0"),
        ({"time_step": 0.004}, InvalidValueError, "time_step [s] must be 0.001 or 0.002, got 0.004"),
        ({"seed": -1}, InvalidValueError, "seed must be a whole number from 0, below 2^53, got -1"),
        ({"seed": True}, InvalidValueError, "seed must be a whole number from 0, below 2^53, got True"),
    ],
)  # fmt: skip
def test_a_setup_that_no_drive_can_have_is_refused(given, kind, message):
    with pytest.raises(kind) as error:
        DriveSetup(**given)
    assert str(error.value) == message


@pytest.mark.parametrize(
    "engine, model, resolved",
    [
        (None, None, ("native", "compliant")),
        (None, "chain", ("native", "chain")),
        ("native", "surface", ("native", "surface")),
        pytest.param(None, "segments", ("pybullet", "segments"), id="pybullet's"),
    ],
)
def test_what_a_setup_leaves_open_is_native_where_that_runs_it(engine, model, resolved):
    if resolved[0] == "pybullet":
        pytest.importorskip("pybullet")
    setup = DriveSetup(engine=engine, track_model=model).resolved()
    assert (setup.engine, setup.track_model) == resolved


def test_a_setup_survives_json_and_unknown_keys_are_refused():
    setup = DriveSetup(payload=3.0, payload_position=(0.1, 0.0, 0.2), soil="LETE sand", seed=7)
    assert DriveSetup.from_json(setup.as_json()) == setup
    with pytest.raises(UnknownNameError, match="no key of a drive's setup 'wind'; there are: vehicle, "):
        DriveSetup.from_json({"wind": 3.0})


@pytest.mark.parametrize(
    "given, message",
    [
        ({"left": math.inf}, "left belt speed [m/s] must be a finite number, got inf"),
        (
            {"flipper_speeds": {"arm": math.nan}},
            "speed of flipper arm [rad/s] must be a finite number, got nan",
        ),
        ({"flatten": 1}, "flatten must be true or false, got 1"),
    ],
)
def test_a_command_that_is_none_is_refused(given, message):
    with pytest.raises(InvalidValueError) as error:
        Command(**given)
    assert str(error.value) == message


def test_commands_travel_between_processes():
    assert pickle.loads(pickle.dumps(TURN)) == copy.deepcopy(TURN) == TURN


def test_a_restart_and_ticks_in_one_go_give_the_same_bits(session):
    first = drive(session, TURN, Command(-0.2, 0.3, flatten=True))
    tick = session.tick
    session.restart()
    session.apply(TURN)
    for _ in range(10):
        session.advance()
    second = drive(session, Command(-0.2, 0.3, flatten=True))
    assert np.array(first).tobytes() == np.array(second).tobytes()
    assert session.tick == tick + 20


def test_a_session_begins_as_it_restarts(session):
    with DriveSession(DriveSetup()) as other:
        fresh = drive(other, TURN)
    drive(session, Command(0.1, 0.4))
    session.restart()
    assert np.array(drive(session, TURN)).tobytes() == np.array(fresh).tobytes()


def test_the_vehicle_stands_at_rest_at_its_start(session):
    start, before = session.course.start, session.pose().links[0]
    assert before[:2] == pytest.approx((start.x, start.y), abs=1e-3)
    session.advance(20)
    assert np.abs(session.pose().links[0] - before).max() < 1e-3


def test_flippers_flatten_turn_and_hold(session):
    names = tuple(session.robot.flippers)

    def angles():
        return np.array([flipper.angle for flipper in session.robot.flippers.values()])

    drive(session, Command(flipper_speeds=dict.fromkeys(names, 1.0)), ticks=50)
    np.testing.assert_allclose(angles(), 0.5, atol=0.02)
    held = angles()
    drive(session, Command(), ticks=50)
    np.testing.assert_allclose(angles(), held, atol=1e-3)
    drive(session, Command(flatten=True), ticks=150)
    np.testing.assert_allclose(angles(), 0.0, atol=0.01)


def test_an_unknown_flipper_changes_nothing(session):
    session.apply(TURN)
    with pytest.raises(UnknownNameError) as error:
        session.apply(Command(0.0, 0.0, {"tail": 1.0}))
    flippers = ", ".join(session.robot.flippers)
    assert str(error.value) == f"no flipper of quince 'tail'; there are: {flippers}"
    assert session.command == TURN and session.robot.tracks["left"].command == 0.3


def test_readings_are_what_their_names_say(session):
    drive(session, Command(0.2, 0.1), ticks=30)
    readings = dict(zip(session.reading_names, session.readings().tolist(), strict=True))
    left = session.robot.tracks["left"]
    assert readings["left speed [m/s]"] == left.speed == pytest.approx(0.2, abs=0.01)
    assert readings["right command [m/s]"] == 0.1
    assert readings["left force [N]"] == left.force
    assert readings["left slip [-]"] == left.slip
    assert readings["rear_left angle [rad]"] == session.robot.flippers["rear_left"].angle
    assert readings["energy [J]"] == session.robot.energy


def loaded_vehicle(payload, position=None, vehicle="quince"):
    """The vehicle of a session with a payload [kg]."""
    setup = DriveSetup(vehicle=vehicle, payload=payload, payload_position=position)
    with DriveSession(setup) as session:
        return session.robot.description


def test_a_payload_has_its_share_in_mass_and_centre_of_mass():
    quince, at = load_vehicle("quince"), (0.2, -0.1, 0.15)
    loaded = loaded_vehicle(8.0, at)
    own, both = (vehicle_links(vehicle).masses[0] for vehicle in (quince, loaded))
    assert both.mass - own.mass == pytest.approx(8.0)
    moment = own.mass * np.array(own.center) + 8.0 * np.array(at)
    np.testing.assert_allclose(np.array(both.center) * both.mass, moment, atol=1e-9)
    assert loaded_vehicle(0.0) == quince


def test_a_payload_stands_on_the_body_unless_it_is_placed():
    top = load_vehicle("quince").body.size[2] / 2
    assert loaded_vehicle(2.0) == loaded_vehicle(2.0, (0.0, 0.0, top))


def test_a_payload_on_a_body_of_a_urdf_is_refused():
    with pytest.raises(SegtrackError) as error:
        loaded_vehicle(1.0, vehicle="example_rover")
    assert str(error.value) == "body of example_rover must be given by mass and size, got a URDF"
