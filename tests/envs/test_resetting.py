"""Resets of a world: a robot put elsewhere, terrain cleared, friction and drives set."""

import math

import numpy as np
import pytest

import segtrack
from segtrack import terrain
from segtrack.errors import DisconnectedError, InvalidValueError

pytestmark = pytest.mark.pybullet
NAN, INF = math.nan, math.inf


@pytest.fixture
def world():
    with segtrack.World("coarse", resettable=False) as opened:
        yield opened


def test_a_robot_is_put_just_above_the_ground_under_it(world):
    world.add_terrain(terrain.Step(height=0.25, distance=0.0))
    robot = world.add_vehicle("quince", position=(-2.0, 0.0), flippers={"front_left": 0.4})
    world.run(0.1)
    for x, y, yaw, ground in [(2.0, 0.3, 0.7, 0.25), (-3.0, -1.0, -2.0, 0.0), (-0.3, 0.0, 0.0, 0.25)]:
        world.client.resetBaseVelocity(robot.model.body_id, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
        world.place_on_terrain(robot, x, y, yaw)
        state = robot.state
        assert state.position[:2] == pytest.approx((x, y))
        assert (state.roll, state.pitch, state.yaw) == pytest.approx((0.0, 0.0, yaw), abs=1e-6)
        assert robot.bounds()[0][2] == pytest.approx(ground, abs=1e-6)
        assert state.velocity == pytest.approx((0, 0, 0)) == state.angular_velocity
        assert robot.flippers["front_left"].angle == pytest.approx(0.4, abs=0.05)


@pytest.mark.parametrize(
    "at, message",
    [
        ((NAN, 0.0), "position [m] must be 2 finite numbers, got (nan, 0.0)"),
        ((0.0, "left"), "position [m] must be 2 finite numbers, got (0.0, 'left')"),
        ((0.0, 0.0, INF), "yaw [rad] must be a finite number, got inf"),
        ((9.0, 0.0), "position [m] must be given with a height where terrain has none to sample, "
         "got (9.0, 0.0)"),
    ],
)  # fmt: skip
def test_a_robot_is_put_nowhere_that_is_no_place(world, at, message):
    world.add_terrain(terrain.Heightfield(heights=np.zeros((5, 5)), spacing=1.0))
    robot = world.add_vehicle("packbot")
    before = robot.state
    with pytest.raises(InvalidValueError) as error:
        world.place_on_terrain(robot, *at)
    assert str(error.value) == message
    assert robot.state == before


def test_cleared_terrain_is_gone_and_another_can_take_its_place(world):
    robot = world.add_vehicle("packbot", position=(0.0, 0.0, 1.0))
    bare = world.save()
    for ground in (terrain.Step(height=0.2, distance=-5.0), terrain.Plane()):
        bodies = world.add_terrain(ground)
        assert world.client.getNumBodies() == 1 + len(bodies)
        assert float(world.height(0.0, 0.0)) == float(ground.height_at(0.0))
        world.place_on_terrain(robot, 0.0, 0.0)
        world.run(0.2)
        assert robot.bounds()[0][2] == pytest.approx(float(ground.height_at(0.0)), abs=0.01)
        world.clear_terrain()
        assert (world.client.getNumBodies(), world.terrains) == (1, ())
        assert float(world.height(0.0, 0.0)) == -math.inf
        world.restore(bare)
        assert world.time == 0.0
    world.clear_terrain()  # of nothing


def test_nothing_is_put_or_cleared_in_a_world_that_is_gone():
    world = segtrack.World("coarse")
    robot = world.add_vehicle("packbot")
    world.client.disconnect()
    for attempt, what in (
        (world.clear_terrain, "clear terrain"),
        (lambda: world.place_on_terrain(robot, 0.0, 0.0), "place packbot"),
        (lambda: robot.tracks["left"].set_friction(0.5), "set the friction of left"),
    ):
        with pytest.raises(DisconnectedError) as error:
            attempt()
        assert str(error.value) == f"{what}: the physics client is disconnected"


def test_a_tracks_friction_and_drive_are_set_and_no_other_tracks(world):
    robot = world.add_vehicle("quince")
    left = robot.tracks["left"]
    left.set_friction(0.9)
    left.scale_drive(0.5)
    left.scale_drive(0.25)  # of the description's, not of what was before
    for track, friction, force in zip(robot.model.tracks, (0.9, 0.6), (125.0, 500.0), strict=False):
        joints = track.belt.track_joints
        infos = [world.client.getDynamicsInfo(joints.body, link) for link in joints.joints]
        assert {info[1] for info in infos} == {friction}
        assert {info[6:8] for info in infos} == {(0.0, 0.0)}
        drive = track.drive
        assert (drive.factor * drive.spec.stall_force, drive.spec.top_speed) == (force, 0.5)


@pytest.mark.parametrize(
    "command, message",
    [
        (lambda t: t.set_friction(-0.1), "friction of left must be at least 0, got -0.1"),
        (lambda t: t.set_friction(NAN), "friction of left must be a finite number, got nan"),
        (lambda t: t.set_friction("high"), "friction of left must be a finite number, got 'high'"),
        (lambda t: t.scale_drive(0), "drive force factor of left must be greater than 0, got 0"),
        (lambda t: t.scale_drive(-1.0), "drive force factor of left must be greater than 0, got -1.0"),
        (lambda t: t.scale_drive(INF), "drive force factor of left must be a finite number, got inf"),
    ],
)
def test_frictions_and_drives_that_cannot_be_are_refused(world, command, message):
    robot = world.add_vehicle("packbot")
    track = robot.tracks["left"]
    before = robot.model.tracks[0].drive.factor
    with pytest.raises(InvalidValueError) as error:
        command(track)
    assert str(error.value) == message
    assert robot.model.tracks[0].drive.factor == before
