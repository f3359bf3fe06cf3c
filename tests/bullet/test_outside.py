"""What pushes a vehicle beside its belts: a user's force, other bodies, the ground under its own shapes.

Statics says what holds: nothing at rest moves under a pull within Coulomb's limit, and belts carry whatever
the rest of the vehicle does not.
"""

import math

import numpy as np
import pybullet
import pytest
from pybullet_utils.bullet_client import BulletClient

import segtrack
from segtrack import terrain

MODELS = ["compliant", pytest.param("surface", marks=pytest.mark.slow)]
STEPS = [pytest.param(0.001, marks=pytest.mark.slow), pytest.param(0.002, marks=pytest.mark.slow), 0.005]
CREEP = 1e-5
"""Speed that counts as rest [m/s]."""
CREEP_ON_A_SKID = 5e-5
"""The same where PyBullet's contacts carry a part of the weight [m/s]."""
SKID = """<robot name="robot"><link name="base">
<inertial><mass value="20"/><inertia ixx="0.3" iyy="0.6" izz="0.7" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="-0.3 0 -0.07"/><geometry><box size="0.05 0.3 0.06"/></geometry></collision>
</link></robot>
"""
ON_A_SKID = """
name: robot
source: made up
body: {urdf: robot.urdf}
tracks:
  left: &t
    mount: {parent: base, xyz: [0, 0.22, 0]}
    path: {pulleys: [{x: -0.25, z: 0, radius: 0.085}, {x: 0.25, z: 0, radius: 0.085}]}
    width: 0.08
    belt: {mass: 2.0, thickness: 0.01}
    grousers: {count: 40, shape: {box: {length: 0.006, height: 0.008}}}
    drive: {max_force: 200.0, max_speed: 1.0}
    contact: {friction: 0.6}
  right: {<<: *t, mount: {parent: base, xyz: [0, -0.22, 0]}}
"""


def load_of(robot):
    return sum(track.read_grousers().normal_force.sum() for track in robot.tracks.values())


def stand(name, track_model, time_step):
    world = segtrack.World(engine="pybullet", time_step=time_step)
    world.add_terrain(terrain.Plane())
    robot = world.add_vehicle(name, track_model=track_model)
    world.run(0.1)
    return world, robot


def speed_of(robot, run, seconds=0.5):
    """Mean velocity over the ground [m/s]."""
    before = np.array(robot.state.position)
    run(seconds)
    return (np.array(robot.state.position) - before)[:2] / seconds


@pytest.mark.parametrize("heading", [0.0, pytest.param(37.0, marks=pytest.mark.slow), 90.0])
@pytest.mark.parametrize("time_step", STEPS)
@pytest.mark.parametrize("track_model", MODELS)
@pytest.mark.parametrize("name", ["packbot", pytest.param("quince", marks=pytest.mark.slow)])
def test_nothing_creeps_under_a_pull_that_friction_bears(name, track_model, time_step, heading):
    world, robot = stand(name, track_model, time_step)
    friction = robot.description.tracks["left"].contact.friction
    along = np.array([math.cos(math.radians(heading)), math.sin(math.radians(heading)), 0.0])
    limit = friction * robot.mass * 9.81
    for share in (0.3, 0.95):
        robot.apply_force(tuple(share * limit * along))
        world.run(0.2)
        assert np.abs(speed_of(robot, world.run)).max() < CREEP
    robot.apply_force(tuple(1.05 * limit * along))
    world.run(0.2)
    assert speed_of(robot, world.run) @ along[:2] > 0.05


@pytest.mark.parametrize("time_step", STEPS)
@pytest.mark.parametrize("track_model", MODELS)
def test_beyond_its_friction_it_slides_as_coulomb_says(track_model, time_step):
    """0.1 mu g, from the first tenth of a metre per second on."""
    world, robot = stand("packbot", track_model, time_step)
    friction = robot.description.tracks["left"].contact.friction
    robot.apply_force((0.0, 1.1 * friction * robot.mass * 9.81, 0.0))
    world.run(0.2)
    before = robot.state.velocity[1]
    world.run(0.3)
    assert (robot.state.velocity[1] - before) / 0.3 == pytest.approx(0.1 * friction * 9.81, rel=5e-3)


@pytest.mark.parametrize("time_step", STEPS)
@pytest.mark.parametrize("track_model", MODELS)
def test_belts_carry_the_weight_and_a_push(track_model, time_step):
    world, robot = stand("packbot", track_model, time_step)
    x, y, z = robot.state.position
    robot.apply_force((10.0, -5.0, -80.0), (x + 0.05, y - 0.03, z))
    world.run(0.4)
    assert load_of(robot) == pytest.approx(robot.mass * 9.81 + 80.0, rel=1e-3)


@pytest.mark.parametrize("time_step", STEPS)
def test_a_force_of_somebodys_own_loop_is_felt(time_step):
    """PyBullet does not say what a program applies: the vehicle's momentum does."""
    client = BulletClient(pybullet.DIRECT)
    segtrack.configure(client)
    client.setTimeStep(time_step)
    client.setGravity(0, 0, -9.81)
    shape = client.createCollisionShape(pybullet.GEOM_BOX, halfExtents=[5, 5, 0.5])
    client.createMultiBody(0, shape, basePosition=[0, 0, -0.5])
    robot = segtrack.attach(client, "packbot", track_model="compliant", position=[0, 0, 0.1])

    def run(seconds, force=(-30.0, 20.0, -60.0)):
        for _ in range(round(seconds / time_step)):
            robot.before_step()
            at, _ = client.getBasePositionAndOrientation(robot.body_id)
            client.applyExternalForce(robot.body_id, -1, force, at, client.WORLD_FRAME)
            client.stepSimulation()

    run(0.5)
    assert np.abs(speed_of(robot, run)).max() < CREEP
    assert load_of(robot) == pytest.approx(robot.mass * 9.81 + 60.0, rel=1e-3)
    client.disconnect()


@pytest.mark.parametrize("time_step", STEPS)
def test_a_parcel_is_carried(time_step):
    world, robot = stand("packbot", "compliant", time_step)
    client = world.client
    box = client.createCollisionShape(pybullet.GEOM_BOX, halfExtents=[0.1, 0.1, 0.05])
    _, high = client.getAABB(robot.model.body_id)
    x, y, _ = robot.state.position
    client.createMultiBody(8.0, box, basePosition=[x, y, high[2] + 0.051])
    world.run(1.0)
    assert load_of(robot) == pytest.approx((robot.mass + 8.0) * 9.81, rel=2e-3)
    assert np.abs(speed_of(robot, world.run)).max() < CREEP


@pytest.mark.parametrize("time_step", STEPS)
@pytest.mark.parametrize("track_model", MODELS)
def test_nothing_creeps_on_a_skid_of_the_body(tmp_path, track_model, time_step):
    """PyBullet's own contacts carry nearly half of the weight."""
    (tmp_path / "robot.urdf").write_text(SKID)
    (tmp_path / "robot.yaml").write_text(ON_A_SKID)
    world, robot = stand(tmp_path / "robot.yaml", track_model, time_step)
    world.run(0.5)
    assert 0.4 < load_of(robot) / (robot.mass * 9.81) < 0.7
    assert np.abs(speed_of(robot, world.run)).max() < CREEP_ON_A_SKID
    robot.apply_force((40.0, 0.0, 0.0))
    world.run(0.3)
    assert np.abs(speed_of(robot, world.run)).max() < CREEP_ON_A_SKID


def test_an_impact_of_one_step_is_not_taken_for_a_force():
    """The wrench from outside is the smaller of two steps', and what a program applies in flight."""
    with segtrack.World(engine="pybullet", time_step=0.002) as world:
        robot = world.add_vehicle("quince", track_model="compliant", position=(0.0, 0.0, 5.0))
        world.run(0.01)
        links, client, body = robot.model._belts._links, world.client, robot.model.body_id
        felt, force, lever = [], np.array([30.0, -20.0, 50.0]), np.array([0.1, 0.2, -0.05])
        for applied in (0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.5):
            vehicle = links.compose(links.read(), (0.0, 0.0, -9.81))
            robot.model.prepare_step(world.time_step)
            if applied:
                at = (vehicle.center + lever).tolist()
                client.applyExternalForce(body, -1, (applied * force).tolist(), at, client.WORLD_FRAME)
            client.stepSimulation()
            raw = links.snapshot()[-1]
            felt.append(np.where(raw[0] * raw[1] > 0, np.where(abs(raw[0]) < abs(raw[1]), *raw), 0.0))
        wrench = np.concatenate([force, np.cross(lever, force)])
        for i, share in enumerate((0, 0, 0, 0, 0, 0, 1, 1)):
            np.testing.assert_allclose(felt[i], share * wrench, atol=0.02 * np.abs(wrench).max(), rtol=0.0)


def test_what_acted_from_outside_is_saved_and_restored():
    world, robot = stand("packbot", "compliant", 0.005)
    client = world.client

    def run():
        ends = []
        for _ in range(10):
            at, _ = client.getBasePositionAndOrientation(robot.model.body_id)
            client.applyExternalForce(robot.model.body_id, -1, (-60.0, 10.0, 30.0), at, client.WORLD_FRAME)
            world.step()
            ends.append((robot.state, load_of(robot)))
        return ends

    run()
    saved = world.save()
    first = run()
    world.restore(saved)
    assert run() == first


@pytest.mark.slow
def test_chains_carry_the_weight_and_a_push():
    world, robot = stand("packbot", "chain", 0.005)
    robot.apply_force((0.0, 0.0, -80.0))
    world.run(0.5)
    loads = []
    for _ in range(20):
        world.run(0.01)
        loads.append(sum(track.read_chain().ground_force.sum() for track in robot.tracks.values()))
    assert np.mean(loads) == pytest.approx(robot.mass * 9.81 + 80.0, rel=0.01)
