"""Compliant belts in PyBullet: the native engine, statics and conservation laws say how they must move."""

import math

import numpy as np
import pytest
from quick import some_of
from scipy.spatial.transform import Rotation

import segtrack
from segtrack import terrain
from segtrack.bullet.belts.parent_links import ParentLinks
from segtrack.description import load_vehicle, vehicle_links
from segtrack.errors import InvalidValueError
from segtrack.experiments import ClimbSetup, run_climb

ROBOTS = ("quince", "packbot", "example_rover", "bulldozer")


def stand(name="packbot", engine="pybullet", track_model="compliant", time_step=0.005, ground=None, **where):
    """A world with a robot that stands on its terrain."""
    world = segtrack.World(engine=engine, time_step=time_step)
    world.add_terrain(terrain.Plane() if ground is None else ground)
    robot = world.add_vehicle(name, track_model=track_model, **where)
    world.run(0.3)
    return world, robot


def turning_rate(engine, name="quince", flippers=1.0, **options):
    angles = dict.fromkeys(load_vehicle(name).flippers, flippers)
    world, robot = stand(name, engine, flippers=angles, **options)
    robot.set_belt_speed(-0.2, 0.2)
    world.run(0.4)
    before = robot.state.yaw
    world.run(0.6)
    return (robot.state.yaw - before) / 0.6


@pytest.mark.parametrize("name", some_of(ROBOTS, "quince", "bulldozer"))
def test_turning_on_the_spot_has_the_native_engines_rate(name):
    assert turning_rate("pybullet", name) == pytest.approx(
        turning_rate("native", name, time_step=1e-3), rel=0.02
    )


@pytest.mark.parametrize("track_model", ["compliant", "surface"])
@pytest.mark.parametrize("name", ["quince", "packbot"])
def test_it_holds_on_a_slope(name, track_model):
    """Sticking contacts are springs: no creep at 20 deg."""
    world, robot = stand(name, track_model=track_model)
    slope = math.radians(20)
    world.set_gravity((-9.81 * math.sin(slope), 0.0, -9.81 * math.cos(slope)))
    world.run(0.6)
    before = np.array(robot.state.position)
    world.run(1.0)
    assert np.linalg.norm(robot.state.position - before) < 1e-6


@pytest.mark.parametrize("time_step", [pytest.param(0.001, marks=pytest.mark.slow), 0.005])
def test_the_climb_is_the_native_engines(time_step):
    native = run_climb(ClimbSetup(track_model="compliant", engine="native"))
    ours = run_climb(ClimbSetup(track_model="compliant", engine="pybullet", time_step=time_step))
    assert native.success and ours.success
    count = min(len(native.trajectory["pitch"]), len(ours.trajectory["pitch"]))
    error = np.degrees(ours.trajectory["pitch"][:count] - native.trajectory["pitch"][:count])
    assert math.sqrt(np.mean(error**2)) < 1.0


@pytest.mark.parametrize("name", some_of(ROBOTS, "quince", "bulldozer"))
def test_grousers_carry_the_weight(name):
    world, robot = stand(name)
    world.run(1.0)
    load = sum(track.read_grousers().normal_force.sum() for track in robot.tracks.values())
    assert load == pytest.approx(robot.mass * 9.81, rel=1e-3)


def test_reading_changes_nothing():
    states = []
    for reads in (False, True):
        world, robot = stand()
        robot.set_belt_speed(0.2, 0.1)
        for _ in range(20):
            world.step()
            if reads:
                robot.tracks["left"].read_grousers()
        states.append(robot.state.position)
    assert states[0] == states[1]


def test_save_act_restore_act_again_is_equal():
    world, robot = stand("quince", ground=terrain.Step(height=0.1, distance=0.5))
    robot.set_belt_speed(0.3, 0.2)
    world.run(0.5)
    saved = world.save()
    ends = []
    for _ in range(2):
        world.run(0.5)
        ends.append((robot.state, robot.tracks["left"].travel, robot.energy))
        world.restore(saved)
    assert ends[0] == ends[1]


@pytest.mark.parametrize("name", ROBOTS)
def test_momentum_is_what_gravity_and_the_ground_gave(name):
    """What belts do to PyBullet's links in a step is what the ground does to the belts."""
    world, robot = stand(name)
    robot.set_belt_speed(0.3, 0.2)
    world.run(0.2)
    group = robot.model._belts
    motions = group._links.read()
    masses = group._links.masses.masses
    before = masses @ motions[:, 7:10]
    group.advance(0.0, None)
    given = group._wrenches[:, :3].sum(axis=0) * world.time_step
    world.client.stepSimulation()
    after = masses @ group._links.read()[:, 7:10]
    gravity = masses.sum() * np.array([0.0, 0.0, -9.81]) * world.time_step
    assert not world.client.getContactPoints(bodyA=robot.model.body_id)
    assert np.linalg.norm(given) > 0.1
    # Links turn within the step, by which a flipper's momentum changes by some 1e-6 N s.
    np.testing.assert_allclose(after - before, given + gravity, atol=2e-6)


def test_spinning_belts_up_in_the_air_turns_the_vehicle_back():
    """Angular momentum about the axles of vehicle and belts together stays zero."""
    world = segtrack.World(engine="pybullet", time_step=0.005, gravity=0.0)
    robot = world.add_vehicle("packbot", track_model="compliant", position=(0.0, 0.0, 1.0))
    robot.set_belt_speed(0.3, 0.3)
    world.run(0.2)
    belts = robot.model._belts.belts
    mass = vehicle_links(robot.description).whole
    carried = float(belts.arrays.spin_momenta @ belts.motion.speeds)
    assert carried > 0.01
    assert mass.inertia[1, 1] * robot.state.angular_velocity[1] == pytest.approx(-carried, rel=0.01)


def test_a_belt_that_nothing_drives_keeps_its_momentum_while_its_vehicle_is_pitched():
    """mass speed + (angular momentum per speed) rate: afloat, with a drive that can do next to nothing."""
    with segtrack.World(engine="pybullet", gravity=0.0) as world:
        robot = world.add_vehicle("packbot", track_model="compliant", position=(0.0, 0.0, 5.0))
        for track in robot.tracks.values():
            track.scale_drive(1e-9)
        x, y, z = robot.state.position
        robot.apply_force((0.0, 0.0, 20.0), (x - 0.3, y, z))
        world.run(0.1)
        rate, track = robot.state.angular_velocity[1], robot.tracks["left"]
        design = robot.model._belts.belts.designs[0]
        assert rate > 0.1
        assert track.speed == pytest.approx(-design.spin_momentum * rate / design.moving_mass, rel=0.03)


def test_an_overloaded_belt_is_driven_back_with_its_limit():
    """Somebody pushes harder than weak drives can: they exert what they can, and belts go along."""
    world, robot = stand()
    robot.tracks["left"].scale_drive(1e-3)
    robot.tracks["right"].scale_drive(1e-3)
    robot.apply_force((-100.0, 0.0, 0.0))
    robot.set_belt_speed(0.2, 0.2)
    world.run(0.5)
    forces = [track.force for track in robot.tracks.values()]
    stall = robot.description.tracks["left"].drive.stall_force * 1e-3
    assert forces == pytest.approx([stall, stall], rel=1e-6)
    assert robot.state.velocity[0] < -0.1


def test_the_composite_body_weighs_what_the_description_does():
    """Mass and inertia as kernels put PyBullet's links together, however turned, against the file's."""
    world, place, turn = segtrack.World(engine="pybullet"), (0.4, -0.7, 1.0), Rotation.random(random_state=1)
    for name in ROBOTS:
        robot = world.add_vehicle(name, track_model="compliant")
        robot.reset_base_pose(place, turn.as_quat())
        links = ParentLinks(robot.model.physics_client_id, robot.model.body_id)
        body = links.compose(links.read(), (0.0, 0.0, -9.81))
        whole = vehicle_links(robot.description).whole
        assert 1 / body.inverse_mass == pytest.approx(whole.mass, rel=1e-6)
        np.testing.assert_allclose(body.center, turn.apply(whole.center) + place, atol=1e-6)
        inertia = turn.inv().as_matrix() @ np.linalg.inv(body.inverse_inertia) @ turn.as_matrix()
        np.testing.assert_allclose(inertia, whole.inertia, rtol=1e-3, atol=1e-6 * whole.inertia.max())


def test_pybullet_collides_no_belt_with_the_ground():
    """Links of tracks have no shape in PyBullet, so that nothing is touched twice."""
    world, robot = stand("quince")
    client, body = world.client, robot.model.body_id
    assert client.getNumJoints(body) == len(robot.flippers)
    for link in range(client.getNumJoints(body)):
        assert not client.getCollisionShapeData(body, link)
    assert not client.getContactPoints(bodyA=body)


def test_link_poses_are_those_after_the_step():
    """PyBullet keeps the poses of before it unless it is asked for forward kinematics."""
    world = segtrack.World(engine="pybullet")
    robot = world.add_vehicle("quince", track_model="compliant", position=(0.0, 0.0, 5.0))
    world.run(0.5)
    at_body = robot.tracks["left"].parent_motion()
    on_flipper = robot.tracks["front_left_belt"].parent_motion()
    mount = robot.description.flippers["front_left"].mount.xyz
    np.testing.assert_allclose(on_flipper.position - at_body.position, mount, atol=1e-9)


def test_flippers_that_their_servos_cannot_hold_stay_calm_at_the_longest_step():
    vehicle = load_vehicle("quince")
    weak = {n: f.model_copy(update={"max_torque": 0.5}) for n, f in vehicle.flippers.items()}
    world, robot = stand(vehicle.model_copy(update={"flippers": weak}), flippers=dict.fromkeys(weak, 0.0))
    robot.set_flippers(**dict.fromkeys(weak, -0.5))
    world.run(1.0)
    angles = []
    for _ in range(20):
        world.step()
        angles.append([flipper.angle for flipper in robot.flippers.values()])
    assert np.ptp(angles, axis=0).max() < 1e-6


def test_steps_beyond_10_ms_are_refused():
    world = segtrack.World(engine="pybullet", time_step=0.011)
    world.add_vehicle("quince", track_model="compliant", position=(0.0, 0.0, 1.0))
    with pytest.raises(InvalidValueError) as error:
        world.step()
    expected = "time_step [s] must be at most 0.01 with compliant belts of quince, got 0.011"
    assert str(error.value) == expected


def test_surface_refuses_soil():
    world = segtrack.World(engine="pybullet")
    world.add_vehicle("packbot", track_model="surface", position=(0.0, 0.0, 1.0))
    with pytest.raises(InvalidValueError) as error:
        world.add_terrain(terrain.Plane(soil=terrain.find_soil("LETE sand")))
    got = "got soil, which remembers where it was pressed"
    assert str(error.value) == f"ground of track model 'surface' must be rigid, {got}"


def test_belts_follow_a_vehicle_that_somebody_puts_elsewhere():
    """Where what is near is looked for again: a teleported robot stands on what is under it."""
    world, robot = stand(ground=terrain.Step(height=0.2, distance=1.0))
    client, body = world.client, robot.model.body_id
    (x, y, z), orientation = client.getBasePositionAndOrientation(body)
    client.resetBasePositionAndOrientation(body, (x + 2.0, y, z + 0.2), orientation)
    world.run(0.5)
    assert robot.state.position[2] == pytest.approx(z + 0.2, abs=1e-3)
