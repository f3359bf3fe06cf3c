"""Throttles and brakes against motions in closed form, in all track models and both engines."""

import itertools
import math
import pickle

import pytest
from scenes import vary

from segtrack.description import DriveSpec
from segtrack.engine import DriveController, Pedals, next_pedal_target
from segtrack.terrain import Plane
from segtrack.world import World

FORCE, FALL, KNEE = 200.0, 240.0, 0.25
"""Force up to the knee of a table [N], its fall behind [N s/m], and the knee's belt speed [m/s]."""
TABLE = {"radius": 0.1, "rows": ((0.0, 10.0), (5.0, 10.0), (15.0, 4.0)), "gears": (2.0,)}
DRIVE = {"max_force": None, "max_speed": 0.7, "torque_table": TABLE, "max_brake": 400.0}
MODELS = [
    ("native", "surface", 1e-3),
    ("native", "compliant", 0.02),
    ("pybullet", "compliant", 0.02),
    ("pybullet", "segments", 2e-3),
    pytest.param("native", "chain", 0.07, marks=pytest.mark.slow),
    pytest.param("pybullet", "chain", 0.07, marks=pytest.mark.slow),
]
"""Track models, and how far from a motion without any loss they are: grousers that come to the ground cost
some, and pins and rolling a chain 2.1 of 40 N, by which it slows down at 0.056 m/s^2 without a throttle."""


def at_rest(engine="native", track_model="surface"):
    """A world, and a PackBot with a table of torques on its flat ground."""
    if engine == "pybullet":
        pytest.importorskip("pybullet")
    world = World(engine=engine)
    world.add_terrain(Plane())
    robot = world.add_vehicle(vary("packbot", drive=DRIVE), track_model=track_model)
    world.settle()
    return world, robot


def inertia(robot):
    """Mass that a vehicle's speed moves, what runs round in its belts included [kg]."""
    return robot.mass + sum(track.spec.moving_mass for track in robot.tracks.values())


def speed_under(throttle, mass, time):
    """Speed of two tracks with the table from rest: linear up to the knee, then exponential [m/s]."""
    push, at_knee = 2 * throttle * FORCE / mass, KNEE * mass / (2 * throttle * FORCE)
    if time <= at_knee:
        return push * time
    final = KNEE + FORCE / FALL
    rate = 2 * throttle * FALL / mass
    return final - (final - KNEE) * math.exp(-rate * (time - at_knee))


@pytest.mark.parametrize(("engine", "track_model", "tolerance"), MODELS)
def test_a_throttle_drives_by_its_table_and_a_brake_stops(engine, track_model, tolerance):
    world, robot = at_rest(engine, track_model)
    mass, before = inertia(robot), robot.energy
    robot.set_throttle(0.1, 0.1)
    for time in (0.2, 0.6):
        world.run(time - world.time)
        assert robot.state.velocity[0] == pytest.approx(speed_under(0.1, mass, time), rel=tolerance)
    speed = robot.state.velocity[0]
    if engine == "pybullet":
        world.step()  # Belts are read before each step.
    assert robot.energy - before == pytest.approx(mass * speed**2 / 2, rel=2 * tolerance)
    speed = robot.state.velocity[0]
    robot.set_throttle(0.0, 0.0)
    world.run(0.1)
    assert robot.state.velocity[0] == pytest.approx(speed, rel=tolerance)
    robot.set_throttle(0.0, 0.0, left_brake=0.1, right_brake=0.1)
    speed = robot.state.velocity[0]
    world.run(0.1)
    braked = speed - 2 * 0.1 * 400.0 / mass * 0.1
    assert robot.state.velocity[0] == pytest.approx(braked, abs=tolerance * speed)
    world.run(0.4)
    assert abs(robot.state.velocity[0]) < 2e-3 + tolerance / 10, "a chain rocks on its pins"


def test_a_throttle_backwards_is_the_mirror_image_and_none_drives_faster_than_its_drive():
    runs = []
    for sign in (1.0, -1.0):
        world, robot = at_rest()
        robot.set_throttle(sign, sign)
        world.run(0.05)
        runs.append(sign * robot.state.velocity[0])
        world.run(1.0)
        assert robot.state.velocity[0] == pytest.approx(sign * 0.7, abs=1e-6)
    assert runs[0] == pytest.approx(runs[1], rel=1e-9)


def test_a_throttle_leaves_a_belt_alone_that_is_faster_than_its_drive():
    world, robot = at_rest()
    robot.set_velocity(0.9)
    robot.set_throttle(0.5, 0.5)
    world.run(0.1)
    assert robot.state.velocity[0] == pytest.approx(0.9, abs=1e-6)


@pytest.mark.parametrize(("down", "slides"), [(25.0, False), (40.0, True)])
def test_a_belt_that_is_told_to_stand_is_held_by_its_brake(down, slides):
    """600 N are more than 2 x 200 N of its motors, and 960 N more than 2 x 400 N of its brakes."""
    world, robot = at_rest()
    world.set_gravity((0.0, 0.0, -100.0))
    world.run(0.3)
    world.set_gravity((-down, 0.0, -100.0))
    world.run(0.1)  # Until contacts have given way as far as they do.
    before = robot.state.velocity[0]
    world.run(0.1)
    # Belts slide along their faces: the load, which presses on these, does not pull them, tilted or not.
    gained = (robot.mass * down - 2 * 400.0) / inertia(robot) * 0.1
    assert robot.state.velocity[0] - before == pytest.approx(-gained if slides else 0.0, abs=1e-4)


@pytest.mark.parametrize(("brake", "slides"), [(0.5, False), (0.2, True)])
def test_a_brake_holds_on_a_slope_up_to_its_force(brake, slides):
    world, robot = at_rest()
    robot.set_throttle(0.0, 0.0, left_brake=brake, right_brake=brake)
    down = 9.81 * math.sin(math.radians(60))
    world.set_gravity((-down, 0.0, -20.0))
    world.run(0.3)
    gained = (robot.mass * down - 2 * brake * 400.0) / inertia(robot) * 0.3
    assert gained > 0 if slides else gained < 0
    assert robot.state.velocity[0] == pytest.approx(-gained if slides else 0.0, abs=2e-3)


def test_what_a_throttle_leaves_of_a_brake_holds():
    for throttle, brake, speed in itertools.product((-0.5, 0.0, 0.5), (0.0, 0.3, 0.6), (-0.4, 0.0, 0.4)):
        push, grip = 200.0 * abs(throttle), 400.0 * brake
        command = math.copysign(0.7, throttle) if throttle else 0.0
        target, limit = next_pedal_target(command, speed, push, grip)
        force = math.copysign(limit, target - speed) if target != speed else 0.0
        expected = math.copysign(push, command) if command else 0.0
        if speed != 0.0:
            assert force == pytest.approx(expected - math.copysign(grip, speed))
        else:
            assert abs(force) == pytest.approx(max(push - grip, 0.0))
            assert limit == pytest.approx(abs(push - grip))


def test_a_self_locking_drive_holds_without_a_throttle_and_drives_with_one():
    drive = DriveController(DriveSpec(max_force=100.0, max_speed=1.0, self_locking=True))
    drive.pedals = Pedals(0.0, 0.0)
    drive.update_command()
    assert drive.holding and (drive.target, drive.limit) == (0.0, 1e6)
    drive.pedals = Pedals(-0.3, 0.0)
    drive.update_command()
    assert not drive.holding and (drive.target, drive.limit) == (-1.0, pytest.approx(30.0))


@pytest.mark.parametrize(("engine", "track_model"), [("native", "surface"), ("pybullet", "segments")])
def test_pedals_last_until_a_speed_is_commanded_and_come_back_with_a_state(engine, track_model):
    world, robot = at_rest(engine, track_model)
    robot.set_throttle(0.1, 0.2, right_brake=0.05)
    pedals = {"left": (0.1, 0.0), "right": (0.2, 0.05)}
    world.settle()
    assert {name: track.pedals for name, track in robot.tracks.items()} == pedals
    assert abs(robot.state.velocity[0]) < 1e-3
    world.run(0.1)
    saved = world.save()
    world.run(0.2)
    after = robot.state
    robot.set_belt_speed(0.3, 0.3)
    assert [track.pedals for track in robot.tracks.values()] == [None, None]
    world.run(0.2)
    world.restore(saved)
    assert {name: track.pedals for name, track in robot.tracks.items()} == pedals
    world.run(0.2)
    assert robot.state == after


def test_a_pickled_vehicle_keeps_its_pedals():
    _, robot = at_rest()
    robot.set_throttle(0.1, -0.2, right_brake=0.05)
    copied = pickle.loads(pickle.dumps(robot.model))
    assert [copied.belt_pedals(track) for track in (0, 1)] == [(0.1, 0.0), (-0.2, 0.05)]


def test_a_belt_commanded_a_speed_has_its_table_too():
    """From rest with all that the table gives, then slower with what the brake gives; a tenth of both."""
    world, robot = at_rest()
    for track in robot.tracks.values():
        track.scale_drive(0.1)
    mass = inertia(robot)
    robot.set_belt_speed(0.6, 0.6)
    for time in (0.2, 0.6):
        world.run(time - world.time)
        assert robot.state.velocity[0] == pytest.approx(speed_under(0.1, mass, time), rel=3e-3)
    world.run(1.0)
    assert robot.state.velocity[0] == pytest.approx(0.6, abs=1e-6)
    robot.set_belt_speed(0.2, 0.2)
    world.run(0.1)
    assert robot.state.velocity[0] == pytest.approx(0.6 - 2 * 40.0 / mass * 0.1, rel=2e-3)
