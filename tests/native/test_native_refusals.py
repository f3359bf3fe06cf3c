"""What the native engine refuses, and where it stops a run."""

import math

import numpy as np
import pytest
from native_vehicles import ROBOTS, plane
from quick import some_of
from scenes import vary
from tables import each_row

import segtrack
from segtrack import terrain
from segtrack.errors import DivergedError, InvalidValueError, NotReadyError, UnknownNameError
from segtrack.geometry import Box
from segtrack.native import VehicleState


def soft_world():
    world = segtrack.World(engine="native")
    world.add_terrain(terrain.Plane(soil=terrain.find_soil("dry sand")))
    return world


@each_row(
    "make, error, message",
    [
        (
            lambda: segtrack.World(engine="bullet"),
            UnknownNameError,
            "no engine 'bullet'; there are: pybullet, native, mujoco",
        ),
        (
            lambda: segtrack.World("coarse", engine="native"),
            UnknownNameError,
            "no preset of the engine native 'coarse'; there are: exact, fast",
        ),
        (
            lambda: segtrack.World(engine="native", gui=True),
            InvalidValueError,
            "engine for a window must be pybullet, got 'native'",
        ),
        (
            lambda: segtrack.World(engine="native", time_step=0.0),
            InvalidValueError,
            "time_step [s] must be positive, got 0.0",
        ),
        (
            lambda: segtrack.World(engine="native", time_step=0.02),
            InvalidValueError,
            "time_step [s] must be at most 0.01, got 0.02",
        ),
        (
            lambda: plane()[1].set_belt_speed(math.nan, 0.0),
            InvalidValueError,
            "left belt speed [m/s] must be a finite number, got nan",
        ),
        (
            lambda: plane()[1].tracks["left"].read_chain(),
            NotReadyError,
            "cannot read the chain of left: only the track model 'chain' has one",
        ),
        (
            lambda: plane(track_model="segments"),
            InvalidValueError,
            "engine for track model 'segments' must be pybullet, got 'native'",
        ),
        (
            lambda: soft_world().add_vehicle("packbot", track_model="surface"),
            InvalidValueError,
            "ground of track model 'surface' must be rigid, got soil, which remembers where it was pressed",
        ),
        (
            lambda: plane(track_model="surface")[0].add_terrain(soft_world().terrains[0]),
            InvalidValueError,
            "ground of track model 'surface' must be rigid, got soil, which remembers where it was pressed",
        ),
        (
            lambda: plane()[1].before_step(),
            NotReadyError,
            "cannot prepare quince for a step: its engine steps by itself",
        ),
    ],
)
def test_bad_input_gets_one_clear_error(make, error, message):
    with pytest.raises(error) as raised:
        make()
    assert str(raised.value) == message


@pytest.mark.parametrize("step", [0.001, 0.01])
def test_contacts_as_stiff_as_steel_need_no_short_steps(step):
    """Without damping of their own, and too stiff to see them give way: they lift by a step of free fall.

    And by what corners of grousers stand out under the lower run, 0.04 mm, as they come around an arc, or did
    within the 3 ms of a fall from there.
    """
    world, robot = plane(vary("packbot", contact={"stiffness": 1e8, "damping": 0.0}), time_step=step)
    z, belt, travels = robot.state.position[2], robot.model.belts[0], robot.model.state.travels[0]
    bottom, fall, level = belt.points(travels[0])[:, 2].min(), 9.81 * step**2, 0
    dips = [0.0] * (1 + math.ceil(3e-3 / step))
    robot.set_belt_speed(0.3, 0.3)
    for _ in range(round(1.0 / step)):
        world.step()
        dips = [*dips[1:], bottom - belt.points(travels[0])[:, 2].min()]
        assert -fall < robot.state.position[2] - z < max(dips) + fall
        level += max(dips) < 1e-9
    assert level > 0.1 / step
    assert robot.state.position[0] == pytest.approx(0.3, abs=0.02)


@each_row("bad", [math.nan, math.inf])
@each_row("name", [*VehicleState._fields[:4], "joint_speeds", "joint_angles", "speeds", "travels"])
@each_row("component", [0, -1])
def test_a_single_component_that_is_not_finite_stops_the_run(name, component, bad):
    world, robot = plane(settled=False)
    getattr(robot.model.state, name)[0, component] = bad
    with pytest.raises(DivergedError) as error:
        world.run(0.1)
    assert str(error.value).startswith("simulation diverged: quince at t = ")
    part = {"joint_speeds": "joint ", "joint_angles": "joint ", "speeds": "belt ", "travels": "belt "}
    of = "the rotation of its body" if name == "angular_velocity" else part.get(name, "its body")
    assert f"its state is not finite: {of}" in str(error.value)


@pytest.mark.parametrize("name", ["position", "orientation", "travels", "speeds"])
def test_a_fixed_body_that_is_not_finite_stops_the_run(name):
    world, robot = plane("conveyor", settled=False)
    getattr(robot.model.state, name)[0, 0] = math.nan
    with pytest.raises(DivergedError):
        world.run(0.1)


@pytest.mark.parametrize("name", some_of(ROBOTS, "quince", "bulldozer", "lugged_wheel"))
@pytest.mark.parametrize("track_model", ["compliant", "surface"])
@pytest.mark.parametrize("step", some_of([0.001, 0.004, 0.008], 0.008))
def test_every_vehicle_is_stable_at_short_and_long_steps(name, track_model, step):
    """It turns, stops, and stands still, on its tracks as on its back, and after it was thrown up."""
    for upside_down in (False, True):
        world, robot = plane(name, track_model=track_model, time_step=step, settled=False)
        if upside_down:
            height = robot.bounds()[1][2] + 0.001
            robot.reset_base_pose((0.0, 0.0, height), (1.0, 0.0, 0.0, 0.0))
        world.run(0.5)
        robot.set_belt_speed(-0.2, 0.2)
        world.run(0.5)
        robot.set_belt_speed(0.0, 0.0)
        world.run(3.0)
        assert np.linalg.norm(robot.state.velocity) < 1e-4
        assert np.linalg.norm(robot.state.angular_velocity) < 1e-3
    robot.model.state.velocity[0] += (0.3, -0.2, 1.0)
    robot.model.state.angular_velocity[0] += (0.5, 1.0, -0.7)
    world.run(5.0)
    assert np.linalg.norm(robot.state.velocity) < 1e-4
    assert np.linalg.norm(robot.state.angular_velocity) < 1e-3


def test_a_vehicle_that_is_absurdly_fast_stops_the_run():
    world, robot = plane(settled=False)
    robot.model.state.velocity[0] = (0.0, 0.0, 150.0)
    with pytest.raises(DivergedError) as error:
        world.run(0.1)
    assert str(error.value).startswith(
        "simulation diverged: quince at t = 0.0010 s: a part of it is faster than 100 m/s, up to 1"
    )
    assert ": its body at 150 m/s, the body at (" in str(error.value)
    assert str(error.value).endswith("masses or drives, or it began inside the ground")


def test_a_vehicle_that_left_its_ground_is_told_to_fall():
    """And a belt that ran away is named, whatever the body does."""
    with segtrack.World(engine="native", time_step=4e-3) as world:
        world.add_terrain(terrain.StaticBody(parts=(Box((1.0, 1.0, 0.2), (0.0, 0.0, -0.1)),)))
        world.add_vehicle("packbot", position=(5.0, 0.0, 0.0))
        with pytest.raises(DivergedError) as error:
            world.run(12.0)
    assert "its body at 100 m/s, the body at (5.00, 0.00, -5" in str(error.value)
    assert str(error.value).endswith("it falls: it has left its ground, or was placed where there is none")
    world, robot = plane("packbot", settled=False)
    robot.model.state.speeds[0, 1] = -250.0
    with pytest.raises(DivergedError) as error:
        world.run(0.1)
    name = list(robot.tracks)[1]
    assert f": belt {name} at " in str(error.value)
    assert "likely its drive is too strong" in str(error.value)


def test_ground_that_was_refused_is_not_there_for_the_next_vehicle():
    with segtrack.World(engine="native") as world:
        world.add_terrain(terrain.Plane())
        world.add_vehicle("packbot", track_model="surface")
        with pytest.raises(InvalidValueError, match="rigid"):
            world.add_terrain(terrain.Plane(soil=terrain.find_soil("LETE sand")))
        other = world.add_vehicle("packbot", track_model="surface", position=(0.0, 2.0))
        world.settle()
        assert other.state.position[2] == pytest.approx(world.robots[0].state.position[2], abs=1e-6)
