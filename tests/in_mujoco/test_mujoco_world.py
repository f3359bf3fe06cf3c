"""Worlds that MuJoCo runs, beside those of the native engine."""

import math

import numpy as np
import pytest
from friction_in_change import largest_excess, momenta_under_commands, on_ground
from mujoco_models import mujoco

import segtrack
from segtrack import terrain
from segtrack.engine import resolve, track_model_names
from segtrack.errors import InvalidValueError
from segtrack.experiments import ClimbSetup, run_climb
from segtrack.geometry import Box, Cylinder, Hull
from segtrack.terrain import HalfSpace

ENGINES = ("native", "mujoco")


def climb(height, angle, step, engine):
    """Quince at a step, front flippers at an angle [deg], as in table IV of Okada et al."""
    setup = ClimbSetup("quince", step=height, flippers=math.radians(angle), time_step=step, engine=engine)
    return run_climb(setup)


@pytest.mark.parametrize("height", [0.12, 0.24])
def test_a_climb_is_that_of_the_native_engine(height):
    """Pitch within 0.1 deg rms over the whole climb, at 4 ms."""
    paths = []
    for engine in ENGINES:
        with segtrack.World(engine=engine, time_step=0.004) as world:
            world.add_terrain(terrain.Step(height=height, distance=0.75))
            robot = world.add_vehicle("quince", track_model="compliant")
            robot.set_flippers(front_left=math.radians(45), front_right=math.radians(45))
            robot.set_belt_speed(left=0.2, right=0.2)
            pitches = []
            world.run(7.0, on_step=lambda kept=pitches, own=robot: kept.append(own.state.pitch))
            paths.append((np.degrees(pitches), robot.state.position[0]))
    assert np.sqrt(np.mean((paths[0][0] - paths[1][0]) ** 2)) < 0.1
    assert paths[0][1] == pytest.approx(paths[1][1], abs=0.005)


@pytest.mark.slow
@pytest.mark.parametrize("step", [0.001, 0.004])
@pytest.mark.parametrize(
    ("angle", "height", "climbed"),
    [
        (0, 0.04, True),
        (0, 0.12, True),
        (0, 0.19, False),
        (45, 0.12, True),
        (45, 0.24, True),
        (45, 0.38, False),
    ],
)
def test_the_heights_of_table_4_are_climbed(angle, height, climbed, step):
    assert (climb(height, angle, step, "mujoco").outcome == "climbed") == climbed


@pytest.mark.parametrize("vehicle", ["packbot", "quince"])
def test_friction_pushes_no_more_than_its_limit_in_change(vehicle):
    """Whatever drives and flippers do: momentum along the ground against friction times load."""
    friction, step = 0.5, 0.004
    world, robot = on_ground(vehicle, friction, step, engine="mujoco")
    with world:
        momenta = momenta_under_commands(world, robot, step, 2.0, seed=5)
        assert largest_excess(momenta, step, friction, robot.mass * 9.81) < 0.02


def test_save_restore_and_reset_are_equal_to_the_bit():
    with segtrack.World(engine="mujoco", time_step=0.004) as world:
        world.add_terrain(terrain.Step(height=0.12, distance=0.75))
        robot = world.add_vehicle("quince")
        robot.set_belt_speed(left=0.3, right=0.2)
        world.run(0.4)
        early, saved = robot.state, world.save()
        world.run(1.0)
        end = robot.state, robot.read_tracks()
        world.restore(saved)
        assert robot.state == early
        world.run(1.0)
        assert (robot.state, robot.read_tracks()) == end
        world.reset()
        world.run(0.4)
        assert robot.state == early


def test_what_is_added_later_leaves_the_others_where_they_are():
    with segtrack.World(engine="mujoco", time_step=0.004) as world:
        world.add_terrain(terrain.Plane())
        first = world.add_vehicle("quince", flippers={"front_left": 0.3})
        first.set_belt_speed(left=0.2, right=0.2)
        world.run(1.0)
        before, angle = first.state, first.flippers["front_left"].state.angle
        second = world.add_vehicle("packbot", position=(3.0, 0.0))
        world.add_terrain(terrain.Step(height=0.1, distance=5.0))
        assert np.allclose(first.state.position, before.position, rtol=0, atol=1e-12)
        assert first.flippers["front_left"].state.angle == angle
        world.run(1.0)
        assert first.state.position[0] == pytest.approx(before.position[0] + 0.2, abs=0.01)
        assert second.state.position[0] == pytest.approx(3.0, abs=1e-3)


def test_hulls_of_two_vehicles_touch_and_it_is_told_that_belts_do_not(caplog):
    """In the native engine they pass through each other."""
    with segtrack.World(engine="mujoco", time_step=0.004) as world:
        world.add_terrain(terrain.Plane())
        low = world.add_vehicle("packbot")
        high = world.add_vehicle("packbot", position=(0.0, 0.0, 0.5))
        world.run(2.0)
        assert high.state.position[2] > low.state.position[2] + 0.09
    assert [record.getMessage() for record in caplog.records] == [
        "segtrack: vehicle 1 (packbot) and vehicle 2 (packbot) come near each other at 0.30 s and will touch "
        "with their hulls alone: belts have no contact with other vehicles"
    ]


@pytest.mark.parametrize(
    "solid",
    [
        Box((0.4, 0.6, 0.3), (0.1, 0.0, 0.1), (0.1, 0.2, 0.05, math.sqrt(1 - 0.0525))),
        Cylinder(0.2, 0.8, (0.0, 0.1, 0.1), (0.0, 0.1, 0.2, math.sqrt(0.95))),
        Hull.of(np.array([[x, y, z] for x in (-0.2, 0.3) for y in (-0.3, 0.3) for z in (0.0, 0.2)])),
        HalfSpace((0.0, 0.0, 0.1), (0.6, 0.0, 0.8)),
    ],
)
def test_solids_are_in_mujoco_where_belts_have_them(solid):
    """Rays of MuJoCo's against the terrain's own heights."""
    ground = terrain.StaticBody(parts=(solid,), name="solid")
    with segtrack.World(engine="mujoco") as world:
        world.add_terrain(ground)
        model, data = world.engine.model, world.engine.data
        mujoco.mj_forward(model, data)
        geom = np.zeros(1, dtype=np.int32)
        for x, y in np.random.default_rng(2).uniform(-0.15, 0.15, (50, 2)).tolist():
            start, down = np.array([x, y, 5.0]), np.array([0.0, 0.0, -1.0])
            far = mujoco.mj_ray(model, data, start, down, None, 1, -1, geom, None)
            met = 5.0 - far if far >= 0 else -math.inf
            assert met == pytest.approx(float(ground.height_at(x, y)), abs=1e-6)


def test_a_heightfield_is_in_mujoco_as_belts_have_it():
    heights = np.random.default_rng(3).random((7, 9))
    field = terrain.Heightfield(heights=heights, spacing=0.1, center=(0.2, -0.1), rising=True)
    with segtrack.World(engine="mujoco") as world:
        world.add_terrain(field)
        model, data = world.engine.model, world.engine.data
        mujoco.mj_forward(model, data)
        geom = np.zeros(1, dtype=np.int32)
        for x, y in np.random.default_rng(2).uniform(-0.09, 0.25, (50, 2)).tolist():
            start, down = np.array([x, y, 5.0]), np.array([0.0, 0.0, -1.0])
            far = mujoco.mj_ray(model, data, start, down, None, 1, -1, geom, None)
            assert 5.0 - far == pytest.approx(float(field.height_at(x, y)), abs=1e-6)


def test_it_settles_at_rest():
    with segtrack.World(engine="mujoco", time_step=0.004) as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle("packbot")
        assert world.settle().converged
        assert world.time == 0.0
        before = robot.state.position[2]
        world.run(0.5)
        assert robot.state.position[2] == pytest.approx(before, abs=1e-5)


def test_velocity_and_joints_are_set_as_in_the_native_engine():
    ends = []
    for engine in ENGINES:
        with segtrack.World(engine=engine, time_step=0.004) as world:
            world.add_terrain(terrain.Plane())
            robot = world.add_vehicle("quince", track_model="compliant", flippers={"rear_left": 0.4})
            world.place_on_terrain(robot, 0.5, 0.2, 0.3)
            robot.set_velocity(0.5)
            at_once = robot.state
            robot.set_belt_speed(left=0.5, right=0.5)
            world.run(0.4)
            ends.append((at_once, robot.state, robot.read_actuators()))
    (own, then, actuators), (other, later, others) = ends
    for one, two in ((own, other), (then, later)):
        assert one.position == pytest.approx(two.position, abs=1e-4)
        assert one.velocity == pytest.approx(two.velocity, abs=1e-3)
    for name, values in actuators._asdict().items():
        if not name.endswith(("forces", "torques", "energies")):
            assert values == pytest.approx(getattr(others, name), abs=1e-3), name


def test_a_conveyor_runs_and_stands():
    with segtrack.World(engine="mujoco", time_step=0.004) as world:
        robot = world.add_vehicle("conveyor", position=(0.0, 0.0, 1.0), yaw=0.3)
        robot.set_belt_speed(left=0.2, right=0.2)
        world.run(0.5)
        assert robot.state.position == pytest.approx((0.0, 0.0, 1.0)) and robot.state.yaw == pytest.approx(
            0.3
        )
        (track,) = robot.read_tracks().values()
        assert track.speed == pytest.approx(0.2)


def test_an_arm_of_the_vehicle_file_moves_by_its_servo():
    """Joints of the body's URDF, in both engines."""
    path = "demos/armed_packbot/armed_packbot.yaml"
    ends = []
    for engine in ENGINES:
        with segtrack.World(engine=engine, time_step=0.004) as world:
            world.add_terrain(terrain.Plane())
            robot = world.add_vehicle(path, track_model="compliant")
            name = next(iter(robot.joints))
            robot.set_joints(**{name: 0.3})
            world.run(2.0)
            ends.append([joint.state.position for joint in robot.joints.values()])
    assert ends[0] == pytest.approx(ends[1], abs=1e-3)


def test_the_registry_knows_what_mujoco_runs():
    assert track_model_names("mujoco") == ("compliant", "surface")
    assert resolve("mujoco", None) == ("mujoco", "compliant")
    with pytest.raises(InvalidValueError) as error:
        resolve("mujoco", "segments")
    assert str(error.value) == "engine for track model 'segments' must be pybullet, got 'mujoco'"


def test_surfaces_drive_too():
    with segtrack.World(engine="mujoco", time_step=0.004) as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle("packbot", track_model="surface")
        world.run(0.4)
        robot.set_belt_speed(left=0.2, right=0.2)
        world.run(1.0)
        assert robot.state.position[0] == pytest.approx(0.2, abs=0.02)


def test_a_vehicle_that_is_refused_leaves_the_world_as_it_was():
    with segtrack.World(engine="mujoco", time_step=0.004) as world:
        world.add_terrain(terrain.Plane(soil=terrain.find_soil("dry sand")))
        robot = world.add_vehicle("packbot")
        bodies = world.engine.model.nbody
        with pytest.raises(InvalidValueError):
            world.add_vehicle("packbot", track_model="surface", position=(3.0, 0.0))
        assert world.engine.model.nbody == bodies and world.robots == (robot,)
        world.run(0.1)


def test_belts_sink_into_soil_as_in_the_native_engine():
    depths = []
    for engine in ENGINES:
        with segtrack.World(engine=engine, time_step=0.004) as world:
            world.add_terrain(terrain.Plane(soil=terrain.find_soil("dry sand")))
            robot = world.add_vehicle("packbot", track_model="compliant")
            robot.set_belt_speed(left=0.2, right=0.2)
            world.run(1.5)
            depths.append(robot.state.position)
    assert depths[0] == pytest.approx(depths[1], abs=1e-4)
