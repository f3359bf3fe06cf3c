"""Compliant belts beside PyBullet against statics and the native engine: tipping, drops, friction, joints."""

import math

import numpy as np
import pybullet
import pybullet_data
import pytest
from jointed_vehicles import TRACK, Limb, jointed
from oval_statics import GROUSER, HALF_BASE, RADIUS, climbs, fall, largest_step, oval, tipping_angle
from pybullet_utils.bullet_client import BulletClient

import segtrack
from segtrack import terrain
from segtrack.description import load_vehicle

STEPS = [pytest.param(0.001, marks=pytest.mark.slow), pytest.param(0.002, marks=pytest.mark.slow), 0.005]


def load_of(robot):
    return sum(track.read_grousers().normal_force.sum() for track in robot.tracks.values())


@pytest.mark.slow
@pytest.mark.parametrize("time_step", [0.001, 0.005])
@pytest.mark.parametrize("track_model", ["compliant", "surface"])
def test_a_vehicle_tips_over_where_the_native_engines_does(track_model, time_step):
    vehicle = oval(3.0, -0.1, 0.167)
    angle = tipping_angle(vehicle, track_model, time_step, "pybullet")
    assert angle == pytest.approx(tipping_angle(vehicle, track_model), abs=0.5)
    grouser = GROUSER if track_model == "compliant" else 0.0
    rigid = math.degrees(math.atan((HALF_BASE - 0.1) / (RADIUS + grouser + 0.167)))
    assert rigid - 1.5 < angle < rigid + 0.3


@pytest.mark.slow
@pytest.mark.parametrize("time_step", [0.001, 0.005])
def test_belts_without_grousers_climb_what_statics_allow(time_step):
    most, vehicle = largest_step(1.5, 0.0, 0.0, 0.0), oval(1.5)
    assert climbs(vehicle, "surface", 0.98 * most, 0.1, time_step, "pybullet")
    assert not climbs(vehicle, "surface", 1.02 * most, 0.1, time_step, "pybullet")


@pytest.mark.parametrize("time_step", STEPS)
@pytest.mark.parametrize("name", ["packbot", pytest.param("quince", marks=pytest.mark.slow)])
def test_a_vehicle_that_is_dropped_does_not_bounce(name, time_step):
    heights = fall(name, time_step, "pybullet")
    assert heights.min() > -0.002
    assert heights[np.argmin(heights[:80]) :].max() < 0.001


@pytest.mark.parametrize("time_step", STEPS)
@pytest.mark.parametrize("restitution", [0.3, pytest.param(0.6, marks=pytest.mark.slow), 0.9])
def test_a_vehicle_rebounds_with_its_restitution(restitution, time_step):
    heights = fall(oval(0.6, restitution=restitution), time_step, "pybullet")
    lowest = np.argmin(heights[:80])
    assert math.sqrt(heights[lowest:].max() / 0.3) == pytest.approx(restitution, abs=0.015)


@pytest.mark.parametrize("time_step", [*STEPS, 0.01])
@pytest.mark.parametrize("torque", [pytest.param(5.0, marks=pytest.mark.slow), 0.5, 0.01])
def test_flippers_without_strength_come_to_rest_as_in_the_native_engine(torque, time_step):
    """Quince, dropped from 0.3 m."""
    vehicle = load_vehicle("quince")
    weak = {n: f.model_copy(update={"max_torque": torque}) for n, f in vehicle.flippers.items()}
    vehicle = vehicle.model_copy(update={"flippers": weak})
    ends = []
    for engine, step in (("native", 0.001), ("pybullet", time_step)):
        with segtrack.World(engine=engine, time_step=step) as world:
            world.add_terrain(terrain.Plane())
            flat = dict.fromkeys(weak, 0.0)
            robot = world.add_vehicle(
                vehicle, track_model="compliant", position=(0.0, 0.0, 0.4), flippers=flat
            )
            world.run(1.5)
            assert np.linalg.norm(robot.state.velocity) < 1e-6
            assert load_of(robot) == pytest.approx(robot.mass * 9.81, rel=1e-4)
            ends.append([robot.state.position[2], *(f.angle for f in robot.flippers.values())])
    np.testing.assert_allclose(ends[1], ends[0], atol=5e-4)


@pytest.mark.parametrize("time_step", STEPS)
def test_a_push_on_a_flipper_is_carried(time_step):
    with segtrack.World(engine="pybullet", time_step=time_step) as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle("quince", track_model="compliant")
        link, client = robot.links[next(name for name in robot.links if "front_left" in name)], world.client
        for _ in range(round(0.5 / time_step)):
            place = client.getLinkState(robot.body_id, link)[0]
            client.applyExternalForce(robot.body_id, link, (0.0, 0.0, -60.0), place, client.WORLD_FRAME)
            world.step()
        assert load_of(robot) == pytest.approx(robot.mass * 9.81 + 60.0, rel=1e-3)


def on_limbs(folder, limbs, joints):
    """A vehicle whose tracks, two a limb, are on limbs alone."""
    tracks = {
        f"{limb.name}_{side}": TRACK | {"mount": {"parent": limb.link, "xyz": [0.0, y, 0.0]}}
        for limb in limbs[-1:]
        for side, y in (("left", 0.25), ("right", -0.25))
    }
    return jointed(folder, limbs, joints, tracks=tracks)


@pytest.mark.parametrize("time_step", STEPS)
@pytest.mark.parametrize("joints", [{}, {"lift": {"servo": {"max_force": 500.0}}}])
def test_belts_on_joints_behind_joints_carry_what_the_native_engine_says(tmp_path, joints, time_step):
    """A body on a sliding joint, and both belts on a turning one behind it: a spring or servo carries it."""
    limbs = [
        Limb("lift", kind="prismatic", axis=(0.0, 0.0, 1.0), mass=2.0, limits=(-0.1, 0.1), velocity=1.0),
        Limb("rock", parent="lift_link", mass=2.0, limits=(-0.3, 0.3), inertia=(0.05, 0.05, 0.05)),
    ]
    springs = {"lift": {"spring": {"stiffness": 4000.0}, "damper": {"damping": 200.0}}, "rock": {}} | joints
    ends = []
    for engine, step in (("native", 0.001), ("pybullet", time_step)):
        with segtrack.World(engine=engine, time_step=step) as world:
            world.add_terrain(terrain.Plane())
            robot = world.add_vehicle(on_limbs(tmp_path, limbs, springs), track_model="compliant")
            robot.reset_base_pose((0.0, 0.0, 0.25))
            world.run(3.0)
            loads = [track.read_grousers().normal_force.sum() for track in robot.tracks.values()]
            assert sum(loads) == pytest.approx(robot.mass * 9.81, rel=1e-3)
            ends.append(
                [robot.state.position[2], robot.joints["lift"].position, robot.joints["rock"].position]
            )
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-3)


@pytest.mark.parametrize("time_step", STEPS)
@pytest.mark.parametrize(("thickness", "drop"), [(0.01, 0.3), (0.001, 0.3), (None, 0.3)])
def test_a_thin_floor_of_somebodys_own_program_carries(thickness, drop, time_step):
    """Decks of 10 and 1 mm, and pybullet_data's plane100.urdf, 1 mm thin."""
    client = BulletClient(pybullet.DIRECT)
    client.setGravity(0, 0, -9.81)
    if thickness is None:
        client.setAdditionalSearchPath(pybullet_data.getDataPath())
        client.loadURDF("plane100.urdf")
        top = client.getAABB(0)[1][2]
    else:
        shape = client.createCollisionShape(pybullet.GEOM_BOX, halfExtents=[20, 20, thickness / 2])
        client.createMultiBody(0, shape)
        top = thickness / 2
    segtrack.configure(client)
    client.setTimeStep(time_step)
    heights = []
    robot = segtrack.attach(
        client, "example_rover", track_model="compliant", position=[0, 0, top + 0.0985 + drop]
    )
    for speed in (0.0, 0.3):
        robot.set_belt_speed(speed, speed)
        start = robot.state.position[0]
        for _ in range(round(1.0 / time_step)):
            robot.before_step()
            client.stepSimulation()
        heights.append(robot.state.position[2] - top)
    assert heights == pytest.approx([0.098, 0.098], abs=1e-3)
    assert robot.state.position[0] - start > 0.28
    client.disconnect()
