"""Who drives, and what a message does: the hub, with a simulation that only notes what it is told."""

import json
import math

import numpy as np
import pytest

pytest.importorskip("mcap", reason="of an extra")
from station_doubles import NotedSimulation

from segtrack.courses import Trial, load_course
from segtrack.errors import NotReadyError
from segtrack.recording import Command
from segtrack.station import protocol
from segtrack.station.simulation import (
    Build,
    ProcessDied,
    Refused,
    RunReport,
    SceneReport,
    SetRun,
    SetTrial,
    ShowContacts,
    TrialEnded,
    TrialReport,
)
from segtrack.station.web import Catalogue, Hub, Library
from segtrack.station.web.client import MAX_LAG
from segtrack.station.web.crew import Seats
from segtrack.station.web.viewing import SeenState


@pytest.fixture
def simulation():
    return NotedSimulation()


@pytest.fixture(scope="module")
def catalogue():
    return Catalogue("quince")


@pytest.fixture
def hub(simulation, tmp_path, catalogue):
    hub = Hub(simulation, catalogue, Library(tmp_path))
    simulation.waiting = [RunReport("ready")]
    hub.broadcast(0.0)
    return hub


def join(hub, role, name="Ann"):
    return hub.join(protocol.Hello(name=name, role=role))


def at_wheel(hub):
    """A driver that has let everything go once."""
    driver = join(hub, "driver")
    hub.take(driver, controls(0, 0.0), 0.0)
    return driver


def sent(client):
    """What a client was sent and has not read."""
    messages = [json.loads(text) for text in (*client._answers, *client._latest.values())]
    return messages, client._state


def controls(seq=1, time=0.0, **changed):
    rest = dict(
        axes=(0.0,) * 4, buttons=(False,) * 17, keys=(), touch=(0.0,) * 4, dead_man=False, visible=True
    )
    return protocol.ControlsMessage(seq=seq, time=time, **(rest | changed))


def errors(client):
    return [message["what"] for message in sent(client)[0] if message["type"] == "error"]


def test_the_first_that_wants_to_drives_and_others_look_on(hub):
    roles = [join(hub, role).id for role in ("onlooker", "driver", "driver", "instructor")]
    assert [hub.seats.role(client) for client in roles] == ["onlooker", "driver", "onlooker", "instructor"]
    assert hub.seats.driver == roles[1]


def test_an_instructor_takes_over_and_gives_back(hub):
    driver, instructor = join(hub, "driver"), join(hub, "instructor")
    hub.take(instructor, protocol.RoleRequest(action="take"), 0.0)
    assert hub.seats.driver == instructor.id
    assert hub.seats.role(driver.id) == "onlooker"
    hub.broadcast(1.0)
    told = [sent(client)[0][-1] for client in (driver, instructor)]
    assert [each["role"] for each in told] == ["onlooker", "driver"]
    assert [info["role"] for info in told[1]["clients"]] == ["onlooker", "instructor"]
    hub.take(instructor, protocol.RoleRequest(action="give"), 0.0)
    assert hub.seats.driver == driver.id


def test_a_seat_that_is_taken_is_not_taken_by_who_looks_on(hub):
    driver, second = join(hub, "driver", "Ann"), join(hub, "driver", "Ben")
    hub.take(second, protocol.RoleRequest(action="take"), 0.0)
    assert hub.seats.driver == driver.id
    assert errors(second) == ["cannot take the driver's seat: Ann drives"]
    hub.take(driver, protocol.RoleRequest(action="release"), 0.0)
    hub.take(second, protocol.RoleRequest(action="take"), 0.0)
    assert hub.seats.driver == second.id


def seated(*people):
    seats = Seats()
    for client, (name, role) in enumerate(people, 1):
        seats.join(client, name, role)
    return seats


FOUR = ("Ann", "driver"), ("Ben", "driver"), ("Cem", "driver"), ("Ida", "instructor")


def test_who_drives_and_asks_for_the_seat_has_it():
    seats = seated(*FOUR)
    seats.take(1)
    assert (seats.driver, seats.queue) == (1, [2, 3])


def test_who_wants_to_drive_waits_in_the_order_of_coming():
    seats = seated(*FOUR)
    assert (seats.driver, seats.queue) == (1, [2, 3])
    seats.release(1)
    assert (seats.driver, seats.queue) == (None, [2, 3, 1])
    with pytest.raises(NotReadyError) as error:
        seats.take(3)
    assert str(error.value) == "cannot take the driver's seat: Ben is next"
    seats.join(5, "Dan", "driver")
    assert (seats.driver, seats.queue) == (None, [2, 3, 1, 5])
    seats.take(2)
    assert (seats.driver, seats.queue) == (2, [3, 1, 5])
    seats.leave(3)
    seats.give(2, 5)
    assert (seats.driver, seats.queue) == (5, [1, 2])


def test_who_is_taken_over_or_loses_the_connection_is_next():
    seats = seated(*FOUR)
    seats.take(4)
    assert (seats.driver, seats.queue) == (4, [1, 2, 3])
    seats.give(4, None)
    assert (seats.driver, seats.queue) == (1, [2, 3])
    seats.leave(1)
    assert (seats.driver, seats.queue) == (None, [2, 3])
    seats.join(5, "Ann", "driver")
    assert (seats.driver, seats.queue) == (5, [2, 3])
    seats.leave(5)
    seats.take(2)
    seats.join(6, "Ann", "driver")
    assert (seats.driver, seats.queue) == (2, [6, 3])


def test_who_releases_the_seat_keeps_nobody_from_it():
    seats = seated(("Ann", "driver"))
    seats.release(1)
    seats.join(2, "Ben", "driver")
    assert (seats.driver, seats.queue) == (2, [])
    with pytest.raises(NotReadyError):
        seats.take(1)
    assert seats.queue == [1]


def test_a_trial_whose_driver_is_gone_ends_when_another_one_comes(hub, simulation):
    driver = join(hub, "driver")
    let_know(hub, simulation)
    hub.leave(driver)
    simulation.orders.clear()
    again = join(hub, "driver")
    assert simulation.orders == []
    hub.leave(again)
    join(hub, "driver", "Ben")
    assert simulation.orders == [SetTrial("abandon")]


def test_instructors_are_those_that_are_named():
    seats = Seats(["Ida"])
    seats.join(1, "Ida", "instructor")
    with pytest.raises(NotReadyError) as error:
        seats.join(2, "Eve", "instructor")
    assert str(error.value) == "cannot come in as instructor: 'Eve' is not among the instructors"


def passed(exercise, operator="Ann"):
    trial = Trial(load_course("first-drive"), operator, "Quince", exercise.repetitions, exercise.settings)
    trial._end_attempt(None)
    return trial.result("2026-01-02T10:00:00+00:00", {"exercise": exercise.name})


def test_conditions_of_seeing_and_of_each_way_of_the_link_are_conditions_of_a_trial(hub, simulation):
    driver, instructor = join(hub, "driver"), join(hub, "instructor", "Ida")
    setup = hub.run.setup.model_copy(update={"cameras": "real", "light": "dark", "visibility": 3.0})
    hub.take(driver, protocol.Configure(setup=setup), 0.0)
    assert simulation.orders[-1].setup.visibility == 3.0
    simulation.waiting = [RunReport("ready")]
    hub.broadcast(1.0)
    lossy = protocol.LinkQuality(loss=0.1)
    hub.take(instructor, protocol.LinkRequest(client=driver.id, telemetry=lossy), 1.0)
    hub.take(driver, protocol.TrialRequest(action="begin"), 1.0)
    conditions = simulation.orders[-1].conditions
    assert [conditions[name] for name in ("cameras", "light", "visibility")] == ["real", "dark", "3.0"]
    assert conditions["link"] == "readings loss 0.1"


def test_a_link_stays_as_it_was_when_the_trial_of_its_driver_began(hub, simulation):
    driver, instructor = join(hub, "driver"), join(hub, "instructor", "Ida")
    other = join(hub, "driver", "Ben")

    def degrade(client, loss):
        lossy = protocol.LinkQuality(loss=loss)
        hub.take(instructor, protocol.LinkRequest(client=client.id, video=lossy), 0.0)

    first = hub.classroom.syllabus.exercises[0]
    hub.take(driver, protocol.ExerciseRequest(action="begin", exercise=first.name), 0.0)
    degrade(driver, 0.2)  # While it is being built.
    simulation.waiting = [RunReport("ready")]
    hub.broadcast(1.0)
    assert simulation.orders[-1].conditions["link"] == "picture loss 0.2"

    degrade(driver, 0.0)  # Its trial is ordered, and has not begun.
    assert driver.link.video.loss == 0.2
    simulation.waiting = [RunReport("running"), TrialReport(trial())]
    hub.broadcast(2.0)
    degrade(driver, 0.0)
    refused = "cannot change the link of Ann: it is a condition of the trial that is on"
    assert errors(instructor) == [refused] * 2
    degrade(other, 0.1)
    assert other.link.video.loss == 0.1

    hub.take(instructor, protocol.RoleRequest(action="take"), 2.5)
    degrade(driver, 0.0)
    assert driver.link.video.loss == 0.2
    hub.take(instructor, protocol.RoleRequest(action="give"), 2.6)
    second = join(hub, "onlooker")  # Another page of hers.
    assert second.link.video.loss == 0.2
    hub.leave(driver)
    hub.leave(second)
    again = join(hub, "driver")
    assert hub.seats.driver == again.id
    assert again.link.video.loss == 0.2 and again.downlink is not None
    assert join(hub, "instructor").link is None  # Of her name, and yet an instructor.
    simulation.waiting = [TrialReport(trial(over=True))]
    hub.broadcast(3.0)
    degrade(again, 0.0)
    assert again.link is None


@pytest.mark.parametrize("report", [Refused("no"), RunReport("failed"), ProcessDied("died")])
def test_a_link_may_change_once_a_trial_has_not_begun(hub, simulation, report):
    driver, instructor = at_wheel(hub), join(hub, "instructor", "Ida")
    simulation.waiting = [RunReport("ready")]
    hub.broadcast(1.0)
    hub.take(driver, protocol.TrialRequest(action="begin"), 1.0)
    lossy = protocol.LinkRequest(client=driver.id, video=protocol.LinkQuality(loss=0.1))
    hub.take(instructor, lossy, 1.0)
    assert driver.link is None
    simulation.waiting = [report]
    hub.broadcast(2.0)
    hub.take(instructor, lossy, 2.0)
    assert driver.link == lossy


def test_exercises_are_begun_in_their_order_once_what_they_take_is_built(hub, simulation):
    driver, instructor = join(hub, "driver"), join(hub, "instructor", "Ida")
    first, second, third, *_ = hub.classroom.syllabus.exercises
    hub.take(driver, protocol.ExerciseRequest(action="begin", exercise=second.name), 0.0)
    hub.take(driver, protocol.ExerciseRequest(action="practise", exercise="none"), 0.0)
    assert errors(driver)[0] == f"cannot begin {second.title}: pass {first.title} before"
    assert errors(driver)[1].startswith("no exercise 'none'; there are: first-lesson, ")
    simulation.orders.clear()
    hub.take(driver, protocol.ExerciseRequest(action="begin", exercise=first.name), 0.0)
    (build,) = simulation.orders
    assert (build.setup.course, build.setup.vehicle) == ("first-drive", hub.run.drive_setup.vehicle)
    simulation.waiting = [RunReport("ready")]
    hub.broadcast(1.0)
    trial = simulation.orders[-1]
    assert (trial.action, trial.operator, trial.repetitions) == ("begin", "Ann", 10)
    assert trial.conditions["exercise"] == "first-lesson"
    assert trial.allowed_failures[1] == 0
    simulation.waiting = [TrialEnded(passed(first))]
    hub.broadcast(2.0)
    status = [message for message in sent(driver)[0] if message["type"] == "status"][-1]
    assert [row["passed"] for row in status["exercises"]][:3] == [True, False, False]
    assert [row["open"] for row in status["exercises"]][:3] == [True, True, False]
    simulation.orders.clear()
    hub.take(driver, protocol.ExerciseRequest(action="begin", exercise=second.name), 2.0)
    assert [type(order) for order in simulation.orders] == [SetTrial]  # It stands there.
    hub.take(driver, protocol.ExerciseRequest(action="practise", exercise=second.name), 2.0)
    assert [type(order) for order in simulation.orders] == [SetTrial]  # It is about to begin.
    let_know(hub, simulation, over=True)
    hub.take(driver, protocol.ExerciseRequest(action="practise", exercise=second.name), 2.0)
    assert simulation.orders[-1] == SetRun("reset")  # From the start.
    let_know(hub, simulation)
    hub.take(driver, protocol.ExerciseRequest(action="practise", exercise=second.name), 2.0)
    assert simulation.orders == []  # A trial goes on.
    hub.take(instructor, protocol.ExerciseRequest(action="practise", exercise=third.name), 2.0)
    assert simulation.orders[-1].setup.course == third.course


def test_an_exercise_that_is_passed_too_slowly_is_not_passed(hub, simulation):
    driver = join(hub, "driver")
    first, second, *_ = hub.classroom.syllabus.exercises
    simulation.waiting = [TrialEnded(passed(first))]
    hub.broadcast(1.0)
    hub.take(driver, protocol.ExerciseRequest(action="begin", exercise=second.name), 1.0)
    simulation.waiting = [RunReport("ready")]
    hub.broadcast(2.0)
    for rate, verdict in ((1.4, False), (1.6, True)):
        simulation.waiting = [TrialReport(trial(exercise=second.name, over=True, passed=True, rate=rate))]
        hub.broadcast(3.0)
        assert hub.trials.status().passed is verdict


def test_seats_refuse_what_nobody_may():
    seats = Seats()
    seats.join(1, "Ann", "driver")
    seats.join(2, "Ben", "onlooker")
    for action, complaint in [
        (lambda: seats.take(2), "cannot take the driver's seat: an onlooker looks on"),
        (lambda: seats.give(1, 2), "cannot give the driver's seat: there is nobody to give it to"),
        (
            lambda: seats.give(2, 1),
            "cannot give the driver's seat: neither the driver nor an instructor asks",
        ),
    ]:
        with pytest.raises(NotReadyError) as error:
            action()
        assert str(error.value) == complaint
    seats.leave(1)
    assert seats.driver is None


def test_the_driver_s_keys_become_belt_speeds_and_nobody_else_s(hub, simulation):
    driver, second = at_wheel(hub), join(hub, "driver")
    for seq in range(40):
        hub.take(driver, controls(seq, 20.0 * seq, keys=("KeyW",)), 0.02 * seq)
        hub.take(second, controls(seq, 20.0 * seq, keys=("KeyS",)), 0.02 * seq)
    latest = simulation.commands[-1]
    assert latest.command.left == latest.command.right == hub.run.steering._mapper.top_speed
    assert (latest.scene, latest.came, latest.client_time) == (1, pytest.approx(0.78), 780.0)
    hub.take(driver, controls(41, 820.0), 0.82)
    assert (simulation.commands[-1].command.left, simulation.commands[-1].command.right) == (0.0, 0.0)


def test_controls_of_a_page_that_is_not_seen_stop_the_belts(hub, simulation):
    driver = at_wheel(hub)
    for seq in range(10):
        hub.take(driver, controls(seq, 20.0 * seq, keys=("KeyW",), visible=seq < 9), 0.02 * seq)
    assert simulation.commands[-2].command.left > 0
    assert simulation.commands[-1].command.left == 0


def test_what_is_held_when_a_page_is_seen_again_or_the_seat_changes_moves_nothing(hub, simulation):
    driver, instructor = at_wheel(hub), join(hub, "instructor")
    hub.take(driver, controls(1, 20.0, keys=("KeyW",), visible=False), 0.02)
    hub.take(driver, controls(2, 40.0, keys=("KeyW",)), 0.04)
    assert simulation.commands[-1].command.left == 0
    hub.take(driver, controls(3, 60.0), 0.06)
    hub.take(driver, controls(4, 80.0, keys=("KeyW",)), 0.08)
    assert simulation.commands[-1].command.left > 0
    hub.take(instructor, protocol.RoleRequest(action="take"), 0.1)
    hub.take(instructor, controls(1, 120.0, keys=("KeyW",)), 0.12)
    assert simulation.commands[-1].command.left == 0


def test_controls_that_are_old_or_from_before_a_stall_are_dropped(hub, simulation):
    driver = join(hub, "driver")
    hub.take(driver, controls(5, 100.0, keys=("KeyW",)), 0.1)
    count = len(simulation.commands)
    hub.take(driver, controls(5, 120.0, keys=("KeyW",)), 0.12)
    hub.take(driver, controls(4, 140.0, keys=("KeyW",)), 0.14)
    hub.take(driver, controls(6, 90.0, keys=("KeyW",)), 0.16)
    hub.take(driver, controls(7, 120.0, keys=("KeyW",)), 2.0)
    assert len(simulation.commands) == count
    hub.take(driver, controls(8, 1980.0, keys=("KeyW",)), 2.0)
    assert len(simulation.commands) == count + 1


def time_dropped(hub, simulation, ways, period=0.02):
    """Time in which controls are dropped whose ways take these times more than the first [s]."""
    driver, began, late = at_wheel(hub), 10.0, []
    for i, way in enumerate(ways):
        count = len(simulation.commands)
        came = began + i * period
        hub.take(driver, controls(i + 1, 1000 * (came - way), keys=("KeyW",)), came)
        late.append(len(simulation.commands) == count)
    return late.count(True) * period


def test_controls_of_a_constant_backlog_are_dropped(hub, simulation):
    assert time_dropped(hub, simulation, [4.0] * 400) == pytest.approx(8.0)


def test_controls_from_before_a_stall_are_dropped_however_slowly_they_come(hub, simulation):
    drained, drift = 0.01, 1e-4  # By each message, of the backlog, and of clocks that differ [s].
    stalled = [4.0 - drained * i for i in range(401)]
    dropped = (4.0 - MAX_LAG) / (drained + drift)
    assert time_dropped(hub, simulation, stalled) == pytest.approx(0.02 * dropped, abs=0.03)


@pytest.mark.parametrize(("late", "taken"), [(-1e-3, True), (1e-3, False)])
def test_controls_count_up_to_their_largest_lag(hub, simulation, late, taken):
    driver = at_wheel(hub)  # Its first controls took no time.
    count = len(simulation.commands)
    hub.take(driver, controls(1, 20.0), 0.02 + MAX_LAG + late)
    assert (len(simulation.commands) > count) == taken


@pytest.mark.parametrize(("wait", "ramped"), [(0.02, 0.02), (0.09, 0.09), (5.0, 0.1)])
def test_a_key_s_ramp_does_not_go_on_while_nothing_is_heard(hub, simulation, wait, ramped):
    driver, mapper = at_wheel(hub), hub.run.steering._mapper
    hub.take(driver, controls(1, 1000 * wait, keys=("KeyW",)), wait)
    expected = mapper.top_speed * mapper.settings.ramp * ramped
    assert simulation.commands[-1].command.left == pytest.approx(expected)


def test_a_driver_that_leaves_leaves_the_belts_at_rest(hub, simulation):
    driver = at_wheel(hub)
    for seq in range(10):
        hub.take(driver, controls(seq, 20.0 * seq, keys=("KeyW",)), 0.02 * seq)
    hub.leave(driver)
    latest = simulation.commands[-1]
    assert (latest.command, latest.came) == (Command(), -math.inf)
    assert hub.seats.driver is None


def test_the_emergency_stop_latches_and_only_who_drives_or_instructs_releases_it(hub, simulation):
    driver, second, onlooker = join(hub, "driver"), join(hub, "driver"), join(hub, "onlooker")
    hub.take(onlooker, protocol.EmergencyStop(on=True), 0.0)
    assert errors(onlooker) == ["cannot stop: an onlooker looks on"]
    assert not hub.run.steering.e_stop
    hub.take(second, protocol.EmergencyStop(on=True), 0.0)
    hub.take(driver, controls(1, 0.0, keys=("KeyW",)), 0.02)
    assert simulation.commands[-1].e_stop
    hub.take(second, protocol.EmergencyStop(on=False), 0.0)
    assert errors(second) == ["cannot release the emergency stop: only the driver and an instructor can"]
    hub.take(driver, protocol.EmergencyStop(on=False), 0.0)
    hub.take(driver, controls(2, 20.0, keys=("KeyW",)), 0.04)
    assert not simulation.commands[-1].e_stop
    assert simulation.commands[-1].command.left == 0.0
    hub.take(driver, controls(3, 40.0), 0.06)
    hub.take(driver, controls(4, 60.0, keys=("KeyW",)), 0.08)
    assert simulation.commands[-1].command.left > 0.0


def test_the_emergency_stop_outlives_a_change_of_the_driver(hub, simulation):
    driver, instructor = join(hub, "driver"), join(hub, "instructor")
    hub.take(driver, protocol.EmergencyStop(on=True), 0.0)
    hub.take(instructor, protocol.RoleRequest(action="take"), 0.0)
    hub.take(instructor, controls(1, 0.0, keys=("KeyW",)), 0.02)
    assert simulation.commands[-1].e_stop
    assert simulation.commands[-1].command.left == 0.0


def test_the_emergency_stop_outlives_another_setup_and_the_driver(hub, simulation):
    driver = at_wheel(hub)
    hub.take(driver, protocol.EmergencyStop(on=True), 0.0)
    hub.take(driver, protocol.Configure(setup=hub.run.setup), 0.0)
    assert (simulation.commands[-1].scene, simulation.commands[-1].e_stop) == (2, True)
    hub.leave(driver)
    assert simulation.commands[-1].e_stop
    second = join(hub, "driver")
    for seq, keys in enumerate([(), ("KeyW",), ("KeyW",)]):
        hub.take(second, controls(seq, 20.0 * seq, keys=keys), 0.02 * seq)
        assert (simulation.commands[-1].e_stop, simulation.commands[-1].command.left) == (True, 0.0)


def test_a_stop_by_key_is_the_driver_s_on_a_page_that_is_seen(hub, simulation):
    driver, second = at_wheel(hub), join(hub, "driver")
    hub.take(second, controls(1, 20.0, keys=("Space",)), 0.02)
    hub.take(driver, controls(1, 20.0, keys=("Space",), visible=False), 0.02)
    assert not simulation.commands[-1].e_stop
    hub.take(driver, controls(2, 40.0, keys=("Space",)), 0.04)
    assert simulation.commands[-1].e_stop
    hub.take(driver, controls(3, 60.0), 0.06)  # It is let go, and stays on.
    assert simulation.commands[-1].e_stop


def test_who_looks_on_changes_nothing(hub, simulation):
    join(hub, "driver")
    second = join(hub, "driver")
    before = list(simulation.orders)
    for message in (
        protocol.Configure(setup=hub.run.setup),
        protocol.RunRequest(action="start"),
        protocol.TrialRequest(action="begin"),
        protocol.LinkRequest(client=1),
        protocol.ReplayRequest(action="open", recording="x"),
        protocol.GhostRequest(recording="x"),
        protocol.DeleteRequest(recording="x"),
    ):
        hub.take(second, message, 0.0)
    assert simulation.orders == before
    assert errors(second) == [
        "cannot configure: only the driver and an instructor can",
        "cannot run: only the driver and an instructor can",
        "cannot trial: only the driver and an instructor can",
        "cannot degrade a link: only an instructor can",
        "cannot replay: only the driver and an instructor can",
        "cannot ghost: only the driver and an instructor can",
        "cannot delete a recording: only an instructor can",
    ]


def test_the_driver_builds_and_runs(hub, simulation):
    driver = join(hub, "driver")
    setup = hub.run.setup.model_copy(update={"payload": 5.0})
    hub.take(driver, protocol.RunRequest(action="start"), 0.0)
    hub.take(driver, protocol.TrialRequest(action="begin", repetitions=20), 0.0)
    hub.take(driver, protocol.Configure(setup=setup), 0.0)
    first, start, trial, build = simulation.orders
    assert isinstance(first, Build)
    assert start == SetRun("start")
    assert (trial.action, trial.operator, trial.repetitions) == ("begin", "Ann", 20)
    assert trial.conditions["track_model"] == "compliant"
    assert (build.scene, build.setup.payload) == (2, 5.0)
    assert hub.run.state == "compiling"
    hub.take(driver, protocol.Configure(setup=setup), 0.0)
    hub.take(driver, protocol.RunRequest(action="start"), 0.0)
    assert errors(driver) == [
        "cannot build the setup: another one is being built",
        "cannot start the run: it is compiling",
    ]


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"vehicle": "../../etc/passwd"}, "no vehicle '../../etc/passwd'; there are: "),
        ({"course": "/etc/passwd"}, "no course '/etc/passwd'; there are: "),
        ({"soil": "cheese"}, "no soil 'cheese'; there are: "),
        ({"engine": "chrono"}, "no engine 'chrono'; there are: "),
        ({"time_step": 0.005}, "time_step [s] must be 0.001 or 0.002, got 0.005"),
    ],
)
def test_a_setup_that_is_not_on_offer_is_refused(hub, simulation, changed, complaint):
    driver = join(hub, "driver")
    before = list(simulation.orders)
    hub.take(driver, protocol.Configure(setup=hub.run.setup.model_copy(update=changed)), 0.0)
    assert simulation.orders == before
    (what,) = errors(driver)
    assert what.startswith(complaint)


def state(frame=1, contacts=0):
    flags = protocol.Flag.CONTACTS if contacts else protocol.Flag(0)
    numbers = dict.fromkeys(
        "time server_time trial_clock client_time real_time_factor late_share energy command_age".split(), 0.0
    )
    arrays = {"pose": np.arange(7.0), "ghost": np.empty(0), "readings": np.empty(0)}
    loads = np.ones((contacts, 6))
    return protocol.StateMessage(scene=1, frame=frame, flags=flags, contacts=loads, **numbers, **arrays)


def test_clients_get_the_latest_state_and_contacts_only_where_they_want_them(hub, simulation):
    driver, second = join(hub, "driver"), join(hub, "driver")
    hub.take(second, protocol.ViewRequest(contacts=True), 0.0)
    hub.broadcast(0.05)
    assert simulation.orders[-1] == ShowContacts(True)
    simulation.latest = (1, state(1, contacts=3).pack())
    hub.broadcast(0.1)
    simulation.latest = (2, state(2, contacts=3).pack())
    hub.broadcast(0.2)
    plain, loaded = (protocol.StateMessage.unpack(sent(client)[1]) for client in (driver, second))
    assert (plain.frame, len(plain.contacts), plain.flags) == (2, 0, 0)
    assert (loaded.frame, len(loaded.contacts), loaded.flags) == (2, 3, protocol.Flag.CONTACTS)
    assert np.array_equal(plain.pose, loaded.pose)
    hub.leave(second)
    hub.broadcast(0.3)
    assert simulation.orders[-1] == ShowContacts(False)


def test_an_instructor_degrades_a_link_and_sees_the_undelayed_view(hub, simulation):
    driver, instructor = join(hub, "driver"), join(hub, "instructor")
    quality = protocol.LinkQuality(delay=0.5)
    hub.take(instructor, protocol.LinkRequest(client=driver.id, video=quality, command=quality), 0.0)
    hub.take(instructor, protocol.LinkRequest(client=instructor.id, video=quality), 0.0)
    assert errors(instructor) == ["cannot degrade a link: an instructor's is never degraded"]
    simulation.latest = (1, state(1).pack())
    hub.broadcast(1.0)
    unseen, undelayed = (protocol.StateMessage.unpack(sent(client)[1]) for client in (driver, instructor))
    assert (unseen.frame, unseen.flags, undelayed.flags) == (1, protocol.Flag.NO_PICTURE, 0)
    simulation.latest = (2, state(2).pack())
    hub.broadcast(1.51)
    seen = protocol.StateMessage.unpack(sent(driver)[1])
    assert (seen.frame, seen.picture_frame) == (2, 1)  # Instruments are not degraded here.

    count = len(simulation.commands)
    hub.take(driver, controls(1, 0.0, keys=("KeyW",)), 2.0)
    assert hub.deliver(driver, 2.4) == 2.5
    assert len(simulation.commands) == count
    assert hub.deliver(driver, 2.6) is None
    assert simulation.commands[-1].came == 2.6


def test_a_scene_and_a_status_reach_those_who_come_late(hub, simulation):
    fields = dict(number=1, look={}, ground={}, course={"title": "x"}, readings=("speed",))
    simulation.waiting = [SceneReport(fields), RunReport("failed", "simulation diverged")]
    hub.broadcast(1.0)
    client = join(hub, "onlooker")
    hub.broadcast(1.3)
    welcome, scene, status = sent(client)[0]
    assert (welcome["type"], welcome["client"], welcome["role"]) == ("welcome", client.id, "onlooker")
    assert (scene["type"], scene["number"], scene["course"]) == ("scene", 1, {"title": "x"})
    assert (status["run"], status["reason"]) == ("failed", "simulation diverged")


@pytest.mark.parametrize("keys", [("Space",), ("KeyW", "Space")])
def test_a_stop_by_key_is_not_delayed_or_lost_by_the_link_and_undone_by_nothing_older(hub, simulation, keys):
    driver, instructor = at_wheel(hub), join(hub, "instructor")
    quality = protocol.LinkQuality(delay=0.5)
    hub.take(instructor, protocol.LinkRequest(client=driver.id, command=quality), 0.0)
    hub.take(driver, controls(1, 20.0, keys=("Enter",)), 0.02)
    hub.take(driver, controls(2, 40.0, keys=keys), 0.04)
    assert simulation.commands[-1].e_stop
    hub.take(instructor, protocol.EmergencyStop(on=False), 0.5)
    hub.take(driver, controls(3, 600.0, keys=("Enter",)), 0.6)
    hub.take(instructor, protocol.EmergencyStop(on=True), 0.7)
    assert hub.deliver(driver, 2.0) is None
    assert simulation.commands[-1].e_stop


def test_a_stop_from_before_a_stall_stops(hub, simulation):
    driver = at_wheel(hub)
    hub.take(driver, controls(1, 20.0, keys=("Space",)), 2.0)
    assert simulation.commands[-1].e_stop


class Opened:
    """A replay that is looked at."""

    playing = False

    def state(self, now):
        return state()

    def status(self, now):
        return {"name": "x"}


@pytest.mark.parametrize(
    "message",
    [
        protocol.RunRequest(action="start"),
        protocol.RunRequest(action="reset"),
        protocol.TrialRequest(action="begin"),
        protocol.TrialRequest(action="raise"),
        None,
    ],
)
def test_whoever_drives_a_run_sees_it_and_no_replay(hub, message):
    driver = join(hub, "driver")
    hub.take(driver, protocol.Configure(setup=hub.run.setup.model_copy(update={"course": "okada-step"})), 0.0)
    hub.run.state, hub.viewing.replay = "ready", Opened()
    hub.viewing._reading["replay"] = None
    if message is None:
        hub.run.simulation.waiting = [RunReport("running")]
        hub.broadcast(1.0)
    else:
        hub.take(driver, message, 0.0)
    assert errors(driver) == []
    assert (hub.viewing.replay, hub.viewing._reading) == (None, {})


def test_a_replay_comes_over_no_degraded_link(hub, simulation):
    driver, instructor = join(hub, "driver"), join(hub, "instructor", "Ida")
    lost = protocol.LinkQuality(loss=1.0)
    hub.take(instructor, protocol.LinkRequest(client=driver.id, video=lost, telemetry=lost), 0.0)
    simulation.latest = (1, state(1).pack())
    hub.broadcast(1.0)
    assert sent(driver)[1] is None
    hub.viewing.replayed = lambda now, flags: SeenState(state(7).pack())
    hub.viewing.replay = Opened()
    hub.broadcast(2.0)
    assert protocol.StateMessage.unpack(sent(driver)[1]).frame == 7


def test_the_end_of_a_reading_is_told(hub, monkeypatch):
    client, reading = join(hub, "onlooker"), [True]
    monkeypatch.setattr(type(hub.viewing), "is_moving", property(lambda viewing: bool(reading)))
    monkeypatch.setattr(hub.viewing, "poll_library", lambda now: False)
    hub.broadcast(1.0)
    assert client._latest.pop("status")
    monkeypatch.setattr(hub.viewing, "poll_library", lambda now: reading.clear() is None)
    hub.broadcast(2.0)
    assert client._latest.pop("status")
    hub.broadcast(3.0)
    assert not client._latest


def trial(**changed):
    required = [name for name, field in protocol.TrialStatus.model_fields.items() if field.is_required()]
    fields = dict.fromkeys(required)
    numbers = dict(repetitions=30, done=0, failures=0, void=0, next_gate=0)
    return fields | numbers | {"operator": "Ann", "unit": "1/min", "over": False, "events": ()} | changed


def let_know(hub, simulation, **changed):
    simulation.waiting = [RunReport("running"), TrialReport(trial(**changed))]
    hub.broadcast(1.0)
    simulation.orders.clear()


def test_a_change_of_the_driver_in_a_trial_is_help(hub, simulation):
    join(hub, "driver")
    instructor = join(hub, "instructor")
    let_know(hub, simulation)
    hub.take(instructor, protocol.RoleRequest(action="take"), 1.0)
    assert simulation.orders == [SetTrial("help")]
    for what in ({"paused": "help"}, {"over": True}):
        let_know(hub, simulation, **what)
        hub.take(instructor, protocol.RoleRequest(action="give"), 1.0)
        hub.take(instructor, protocol.RoleRequest(action="take"), 1.0)
        assert simulation.orders == []


def test_a_trial_goes_on_with_its_operator_alone(hub, simulation):
    driver, instructor = join(hub, "driver"), join(hub, "instructor", "Ida")
    let_know(hub, simulation)
    hub.take(instructor, protocol.RoleRequest(action="take"), 1.0)
    let_know(hub, simulation, paused="asked for help")
    hub.take(instructor, protocol.RunRequest(action="reset"), 1.0)
    assert errors(instructor) == ["cannot go on with the trial of Ann: Ida drives"]
    assert simulation.orders == []
    hub.take(instructor, protocol.RoleRequest(action="give"), 1.0)
    for client in (instructor, driver):
        hub.take(client, protocol.RunRequest(action="reset"), 1.0)
    assert simulation.orders == [SetRun("reset")] * 2
    let_know(hub, simulation, over=True)
    hub.take(instructor, protocol.RoleRequest(action="take"), 1.0)
    hub.take(instructor, protocol.RunRequest(action="reset"), 1.0)
    assert simulation.orders == [SetRun("reset")]


def test_an_instructor_alone_interrupts_a_trial_and_ends_it_by_a_stop(hub, simulation):
    driver, instructor = join(hub, "driver"), join(hub, "instructor")
    let_know(hub, simulation)
    for message in (
        protocol.RunRequest(action="pause"),
        protocol.RunRequest(action="stop"),
        protocol.ReplayRequest(action="open", recording="x"),
    ):
        hub.take(driver, message, 1.0)
    because = "a trial is on; abandon it, or ask an instructor"
    assert errors(driver) == [f"cannot {action} the run: {because}" for action in ("pause", "stop", "pause")]
    assert simulation.orders == []
    hub.take(instructor, protocol.RunRequest(action="pause"), 1.0)
    hub.take(instructor, protocol.RunRequest(action="stop"), 1.0)
    assert simulation.orders == [SetRun("pause"), SetTrial("abandon"), SetRun("stop")]
    let_know(hub, simulation, over=True)
    hub.take(driver, protocol.RunRequest(action="stop"), 1.0)
    assert simulation.orders == [SetRun("stop")]


def test_experts_that_cannot_be_read_begin_no_trial_and_no_client_learns_where_they_are(hub, simulation):
    driver = join(hub, "driver")
    hub.library.records.folder.joinpath("experts.json").write_text("nothing")
    simulation.orders.clear()
    hub.take(driver, protocol.TrialRequest(action="begin"), 0.0)
    assert simulation.orders == []
    (what,) = errors(driver)
    assert what.startswith("cannot read records/experts.json: ")


def test_a_process_that_died_knows_of_no_trial_and_is_told_anew_what_to_show(hub, simulation):
    hub.take(join(hub, "driver"), protocol.ViewRequest(contacts=True), 0.0)
    let_know(hub, simulation)
    simulation.orders.clear()
    simulation.waiting = [ProcessDied("the simulation's process ended with code 1")]
    hub.broadcast(2.0)
    assert hub.trials.status() is None
    built, shown = simulation.orders
    assert (built.setup, shown) == (hub.run._catalogue.drive_setup(hub.run.setup), ShowContacts(True))
    assert hub.run.state == "compiling"
    assert hub.run.reason == "the simulation's process ended with code 1; it is built again"
    simulation.waiting = [ProcessDied("the simulation's process ended with code 1")]  # While it is built.
    hub.broadcast(3.0)
    assert (hub.run.state, hub.run.reason) == ("failed", "the simulation's process ended with code 1")


def test_the_last_reports_of_a_simulation_that_is_closed_are_kept(hub, simulation, monkeypatch):
    course = hub.run._catalogue.course("okada-step")
    ended = TrialEnded(Trial(course, "Ann", "quince").result("2026-01-02"))
    monkeypatch.setattr(simulation, "close", lambda: [RunReport("stopped"), ended])
    hub.close()
    (kept,) = hub.library.records.read("Ann").results
    assert kept == ended.result
    assert hub.library.report_link("Ann") == "/station/report/Ann"


def test_a_trial_goes_on_in_nobody_elses_name(hub, simulation):
    first, second, instructor = (
        join(hub, "driver"),
        join(hub, "driver", "Ben"),
        join(hub, "instructor", "Ida"),
    )
    let_know(hub, simulation)
    for to, asked in ((instructor.id, "help"), (first.id, "help"), (second.id, "abandon")):
        simulation.orders.clear()
        hub.take(instructor, protocol.RoleRequest(action="give", to=to), 0.0)
        assert simulation.orders == [SetTrial(asked)]


@pytest.mark.parametrize("leaves", [True, False])
def test_an_exercise_that_waits_is_not_begun_for_who_does_not_drive_any_more(hub, simulation, leaves):
    driver = join(hub, "driver")
    hub.take(driver, protocol.ExerciseRequest(action="begin", exercise="first-lesson"), 0.0)
    if leaves:
        hub.leave(driver)
    else:
        hub.take(driver, protocol.RoleRequest(action="release"), 0.0)
    simulation.orders.clear()
    simulation.waiting = [RunReport("ready")]
    hub.broadcast(1.0)
    assert not any(isinstance(order, SetTrial) for order in simulation.orders)


def test_a_record_that_cannot_be_read_stops_no_status(hub, tmp_path):
    driver = join(hub, "driver")
    (tmp_path / "records" / "Ann.jsonl").mkdir(parents=True)
    hub.classroom.forget()
    hub.broadcast(1.0)
    status = [message for message in sent(driver)[0] if message["type"] == "status"][-1]
    assert not any(row["passed"] for row in status["exercises"])


def test_a_refused_order_is_answered_to_those_who_give_orders_and_each_has_their_own_report(hub, simulation):
    driver, instructor, onlooker = at_wheel(hub), join(hub, "instructor", "Ida"), join(hub, "onlooker", "Oda")
    simulation.waiting = [Refused("no")]
    hub.broadcast(1.0)
    assert [errors(each) for each in (driver, instructor, onlooker)] == [["no"], ["no"], []]
    simulation.waiting = [TrialReport(trial(over=True))]
    hub.broadcast(2.0)
    course = hub.run._catalogue.course("okada-step")
    hub.library.records.add(Trial(course, "Ann", "quince").result("2026-01-02"))
    hub.take(onlooker, protocol.ReportRequest(), 2.0)
    hub.take(instructor, protocol.ReportRequest(), 2.0)
    links = [json.loads(each._answers[-1])["link"] for each in (onlooker, instructor)]
    assert links == ["/station/report", "/station/report/Ann"]
