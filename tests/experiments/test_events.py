"""Events of bundled vehicles: what passes by statics, what limits, and acceleration every step."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from jointed_vehicles import Limb, jointed

import segtrack
from segtrack import terrain
from segtrack.engine import force_at
from segtrack.errors import DivergedError, InvalidValueError, UnknownNameError
from segtrack.experiments import (
    LIMITS,
    Assumptions,
    BeltSpeedDriver,
    EventSetup,
    GapObstacle,
    HalfRoundObstacle,
    StepObstacle,
    TrapezoidObstacle,
    UpwardSearch,
    run_event,
    with_friction,
)
from segtrack.experiments.event_limits import HullClearance, LimitSensor, commanded_speed

BRIEF = Assumptions(run_up=0.5, rest=0.2, step_rest=0.2, stall_time=2.0, past=0.5)
PACKBOT = segtrack.load_vehicle("packbot")


def event(obstacle, vehicle=PACKBOT, track_model="compliant", **settings):
    setup = {"engine": "native", "time_step": 0.004, "assumptions": BRIEF} | settings
    return run_event(EventSetup(vehicle, obstacle, track_model=track_model, **setup))


def with_body(vehicle, **values):
    return vehicle.model_copy(update={"body": vehicle.body.model_copy(update=values)})


def with_drive(vehicle, **values):
    tracks = {
        name: track.model_copy(update={"drive": track.drive.model_copy(update=values)})
        for name, track in vehicle.tracks.items()
    }
    return vehicle.model_copy(update={"tracks": tracks})


def test_acceleration_is_that_of_every_step():
    """Its sum over a passage is the change in vertical velocity, and the body ends where it says."""
    result = event(HalfRoundObstacle(0.03), speed=0.5)
    ridden = result.ridden
    assert result.passed and np.diff(ridden.times) == pytest.approx(0.004)
    assert ridden.times[-1] == pytest.approx(result.duration)
    velocity = np.cumsum(ridden.acceleration) * ridden.time_step
    climbed = np.cumsum(velocity)[-1] * ridden.time_step
    assert velocity[-1] == pytest.approx(0.0, abs=1e-3)
    z = result.motion["position"][:, 2]
    assert climbed == pytest.approx(z[-1] - z[0], abs=1e-4)
    assert result.driver.source == "centre of mass of the body"
    height = np.cumsum(velocity).max() * ridden.time_step
    assert height == pytest.approx(z.max() - z[0], abs=1e-3) and height > 0.02


def test_the_drivers_place_is_that_of_the_vehicle_file_unless_given():
    seated = PACKBOT.model_copy(update={"driver_position": (0.2, 0.0, 0.1)})
    own = event(HalfRoundObstacle(0.03), seated, speed=0.5)
    given = event(HalfRoundObstacle(0.03), seated, speed=0.5, driver_position=(0.2, 0.0, 0.1))
    middle = event(HalfRoundObstacle(0.03), speed=0.5)
    assert (own.driver.source, given.driver.source) == ("vehicle file", "given")
    assert np.array_equal(own.ridden.acceleration, given.ridden.acceleration)
    assert own.ridden.filtered_peak > middle.ridden.filtered_peak


@pytest.mark.parametrize(("aside", "yaw"), [(0.2, 0.0), (-0.2, 0.1), (0.0, 0.3)])
def test_a_driver_comes_back_to_its_line(aside, yaw):
    """From either side and heading, without running off to the other side first."""
    given, speed = Assumptions(), 0.5
    with segtrack.World(engine="native", time_step=0.004) as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle(PACKBOT, track_model="compliant", position=(0.0, aside), yaw=yaw)
        drive_by, most = BeltSpeedDriver(speed, given), 0.0
        for _ in range(600):
            drive_by(robot, world.time)
            world.run(0.02)
            most = max(most, abs(robot.state.position[1]))
    assert abs(robot.state.position[1]) < 0.02 and abs(robot.state.yaw) < 0.02
    assert robot.state.position[0] > 3.0
    assert aside == 0.0 or most < 0.21


def test_two_equal_events_are_equal_to_the_bit():
    a, b = (event(StepObstacle(0.08), speed=0.5) for _ in range(2))
    assert np.array_equal(a.ridden.acceleration, b.ridden.acceleration)
    assert {**a.summary(), "real_time_factor": 0} == {**b.summary(), "real_time_factor": 0}


def test_a_gap_is_passed_by_statics():
    """The middle of the front pulley is over the far edge before the centre of mass leaves the near one."""
    half = max(pulley.x for pulley in PACKBOT.tracks["left"].path.pulleys)
    length = 2 * half + 2 * PACKBOT.tracks["left"].path.pulleys[0].radius
    short, long = event(GapObstacle(0.98 * half)), event(GapObstacle(1.1 * length))
    assert short.passed and abs(short.max_pitch) < math.radians(8.0)
    assert not long.passed and short.limited_by == ()


def test_belts_without_grip_slip_at_a_step():
    result = event(StepObstacle(0.12), with_friction(PACKBOT, 0.2), speed=0.3)
    assert result.outcome == "stuck" and result.limited_by[0] == "friction"
    assert "torque" not in result.limited_by and result.limits.slips[-1] > 0.5
    for outcome in ("diverged", "interrupted"):
        assert replace(result, outcome=outcome).limited_by == ()


def test_weak_drives_stall_at_a_step():
    """Far below what friction could bear: 2 x 15 N of a weight of some 200 N."""
    result = event(StepObstacle(0.12), with_drive(PACKBOT, max_force=15.0), speed=0.3)
    assert result.outcome == "stuck" and result.limited_by[0] == "torque"
    assert "friction" not in result.limited_by and result.limits.drives[-1] == pytest.approx(1.0, abs=0.02)
    assert "front wheel" in result.limited_by


def test_a_nose_before_the_tracks_stops_at_a_step():
    """It bears what friction pushes the vehicle by, as nothing else touches the face: all of mu m g."""
    pushes = []

    def watch(now):
        readings = [track.read_grousers() for track in now.robot.tracks.values()]
        pushes.append(sum(reading.tangential_force[:, 0].sum() for reading in readings))

    size = (1.2, *PACKBOT.body.size[1:])
    setup = EventSetup(
        with_body(PACKBOT, size=size), StepObstacle(0.2), 0.3, engine="native", track_model="compliant"
    )
    result = run_event(setup, observer=watch)
    assert result.outcome == "stuck" and "hull" in result.limited_by
    assert "front wheel" not in result.limited_by
    friction, weight = PACKBOT.tracks["left"].contact.friction, 9.81 * PACKBOT.mass
    assert np.mean(pushes[-50:]) == pytest.approx(friction * weight, rel=0.1)


def test_a_passive_arm_at_its_limit_or_in_its_buffer_is_at_its_stop(tmp_path):
    limbs = [Limb(name, limits=(-0.5, 1.0)) for name in ("road", "servo")]
    buffer = {"upper": {"position": 0.8, "stiffness": 1e5, "damping": 10.0}}
    file = jointed(tmp_path, limbs, {"road": {"stops": buffer}, "servo": {"servo": {"max_force": 10.0}}})
    with segtrack.World(engine="native") as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle(file, track_model="compliant")
        sensor = LimitSensor(robot, world.terrains[0], 0.001)
        for road, servo, found in (
            (0.0, 0.0, False),
            (0.85, 0.0, True),
            (-0.5, 0.0, True),
            (0.0, 1.0, False),
        ):
            robot.joints["road"].place(road)
            robot.joints["servo"].place(servo)
            assert sensor.read().found[LIMITS.index("arm at its stop")] is found


def test_a_hulls_clearance_is_the_distance_from_the_ground():
    with segtrack.World(engine="native") as world:
        ground = terrain.Step(height=0.05, distance=0.0)
        world.add_terrain(ground)
        robot = world.add_vehicle("packbot", track_model="compliant", position=(-1.0, 0.0, 0.3))
        length, _, height = PACKBOT.body.size
        hull = HullClearance(robot, ground)
        assert hull.read(0.0) == pytest.approx(0.3 - height / 2)
        robot.reset_base_pose((0.0, 0.0, 0.3))
        assert hull.read(0.001) == pytest.approx(0.25 - height / 2 - 0.001)
        pitch = 0.2
        robot.reset_base_pose((-1.0, 0.0, 0.3), (0.0, -math.sin(pitch / 2), 0.0, math.cos(pitch / 2)))
        lowest = 0.3 - length / 2 * math.sin(pitch) - height / 2 * math.cos(pitch)
        assert hull.read(0.0) == pytest.approx(lowest)
        # Its face just before the step's, lower than its edge: nothing is above it but a wider body is.
        robot.reset_base_pose((-length / 2 - 0.0005, 0.0, 0.01 + height / 2))
        assert hull.read(0.0) > 0 > hull.read(0.001)


def test_a_drive_can_exert_what_its_law_says():
    """A line, a constant, and a table, also for a belt that is pushed backwards."""
    triangular = segtrack.load_vehicle("triangular")
    drive = next(iter(triangular.tracks.values())).drive
    line, constant = drive.force_table, PACKBOT.tracks["left"].drive.force_table
    assert force_at(line, 0.0) == force_at(line, -0.5) == pytest.approx(160.0)
    assert force_at(line, 0.5) == pytest.approx(80.0)
    assert force_at(constant, 1.0) == 300.0
    engine = segtrack.load_vehicle("m113").tracks["left"].drive.force_table
    assert force_at(engine, 17.94 * 0.2492) == pytest.approx(3570 / 0.2492)


def test_a_throttle_commands_the_top_speed_in_its_direction():
    with segtrack.World(engine="native") as world:
        track = world.add_vehicle("packbot").tracks["left"]
        track.set_speed(0.3)
        assert commanded_speed(track) == 0.3
        for throttle, expected in ((0.4, 1.0), (-0.4, -1.0), (0.0, 0.0)):
            track.set_throttle(throttle)
            assert commanded_speed(track) == expected * track.spec.drive.top_speed


def test_a_run_begins_at_its_speed_and_its_passage_before_the_front_has_crossed():
    """The peak of what it meets first is within it, however long a control step is."""
    given = replace(BRIEF, run_up=0.51)
    result = event(HalfRoundObstacle(0.02), speed=1.5, assumptions=given)
    times, x = result.motion.times, result.motion["position"][:, 0]
    front = x - x[0] - given.run_up * 1.5
    begin = int(np.searchsorted(times, result.ridden.window[0] - 1e-9))
    assert front[begin] <= 0.0 <= front[begin + 1]
    started = int(np.searchsorted(times, given.rest + 1e-9))
    assert np.diff(x)[started] / np.diff(times)[started] == pytest.approx(1.5, rel=0.02)


@pytest.mark.parametrize("samples", [0, 5])
def test_a_simulation_that_diverges_is_a_result_with_its_reason(samples, monkeypatch):
    """At rest already, or while driving."""
    left = iter(range(samples))
    run = segtrack.World.run

    def diverge(world, *given, **named):
        if next(left, None) is None:
            raise DivergedError("packbot", world.time, "too fast")
        run(world, *given, **named)

    monkeypatch.setattr(segtrack.World, "run", diverge)
    result = event(StepObstacle(0.05), speed=0.4)
    assert result.outcome == "diverged" and result.reason.startswith("simulation diverged: packbot at t = ")
    json.dumps(result.summary(), allow_nan=False)


def test_a_speed_that_the_drives_do_not_do_ends_a_search():
    result = event(StepObstacle(0.02), with_drive(PACKBOT, max_speed=0.5), speed=0.7)
    assert result.speed == 0.5
    search = UpwardSearch(0.5, 0.9, 0.2, "peak", 1e9, "speed")
    found = search.found([search.trial(0.5, result), search.trial(0.7, result)])
    assert found == (0.5, "0.7 is not passed: its drives do 0.5 m/s")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"past": -1.0}, "past must be at least 0, got -1.0"),
        ({"low_pass": 0.0}, "low_pass must be above 0, got 0.0"),
        ({"run_up": math.inf}, "run_up must be a finite number, got inf"),
    ],
)
def test_assumptions_that_cannot_be_are_refused(given, message):
    with pytest.raises(InvalidValueError) as error:
        Assumptions(**given)
    assert str(error.value) == message


def test_a_driver_can_be_put_in():
    told = []

    def make(speed):
        def drive(robot, time):
            told.append((time, speed))
            robot.set_belt_speed(left=speed / 2, right=speed / 2)

        return drive

    result = event(StepObstacle(0.03), speed=0.4, driver=make)
    assert told[0] == (0.0, 0.4) and told[1][0] == pytest.approx(0.02)
    assert result.passed and result.passage_speed == pytest.approx(0.2, abs=0.02)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"speed": -1.0}, InvalidValueError, "speed [m/s] must be greater than 0, got -1.0"),
        ({"flippers": 0.5}, UnknownNameError, "no front flipper of 'packbot'; there are: none"),
        ({"driver_position": (0.0, math.nan, 0.0)}, InvalidValueError, "driver's place [m] must be 3 finite"),
        (
            {"assumptions": Assumptions(low_pass=200.0)},
            InvalidValueError,
            "time_step [s] must be below 0.0025, for the low pass of 200 Hz, got 0.004",
        ),
    ],
)
def test_setups_that_cannot_be_are_refused(settings, error, message):
    with pytest.raises(error) as refusal:
        event(StepObstacle(0.1), **settings)
    assert str(refusal.value).startswith(message)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("vehicle", "track_model"), [("packbot", "compliant"), ("quince", "compliant"), ("packbot", "chain")]
)
def test_small_obstacles_are_passed_and_large_ones_are_not(vehicle, track_model):
    for obstacle in (
        StepObstacle(0.06),
        GapObstacle(0.15, 0.3),
        HalfRoundObstacle(0.04),
        TrapezoidObstacle(9, height=0.1),
        TrapezoidObstacle(9, ditch=True, height=0.1),
    ):
        assert event(obstacle, vehicle, track_model, speed=0.4, time_step=0.001).passed, obstacle.title
    for obstacle in (StepObstacle(0.8), GapObstacle(1.6, 1.0)):
        result = event(obstacle, vehicle, track_model, speed=0.4, time_step=0.001)
        assert not result.passed, obstacle.title


@pytest.mark.slow
@pytest.mark.pybullet
@pytest.mark.parametrize("track_model", ["segments", "compliant"])
def test_events_run_in_pybullet(track_model):
    passed = run_event(
        EventSetup(PACKBOT, StepObstacle(0.06), 0.4, engine="pybullet", track_model=track_model)
    )
    stuck = run_event(EventSetup(PACKBOT, StepObstacle(0.5), 0.4, engine="pybullet", track_model=track_model))
    assert passed.passed and not stuck.passed
    assert "friction" in stuck.limited_by or stuck.outcome == "tipped over"


@pytest.mark.parametrize(
    ("vehicle", "given", "resolved"),
    [
        ("m113", {}, ("native", "chain")),
        ("m113", {"engine": "native"}, ("native", "compliant")),
        ("bulldozer", {"engine": "native"}, ("native", "compliant")),
    ],
)
def test_sprung_chains_run_where_they_can_unless_something_is_chosen(vehicle, given, resolved):
    assert EventSetup(vehicle, StepObstacle(0.3), **given).resolved == resolved
