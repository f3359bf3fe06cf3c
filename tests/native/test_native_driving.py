"""Belts and flippers that the native engine drives, against closed forms, and their accuracy."""

import math
from dataclasses import replace

import numpy as np
import pytest
from jointed_vehicles import jointed
from native_vehicles import plane
from quick import some_of
from scenes import GRAVITY, tilt, tilted_world, vary

import segtrack
from segtrack import terrain
from segtrack.experiments.contact_loads import watch
from segtrack.geometry import balance_friction

# Drives and servos


def test_the_slide_angle_of_held_belts_is_that_of_friction():
    for off, slides in ((-0.5, False), (0.5, True)):
        world, robot = tilted_world("packbot", math.degrees(math.atan(0.6)) + off)
        start = robot.state.position[0]
        world.run(2.0)
        assert (start - robot.state.position[0] > 0.01) == slides
        assert slides or start - robot.state.position[0] < 1e-5


@pytest.mark.parametrize(
    ("left", "ground", "most"),
    [
        (0.15, terrain.Plane(), 1.05),
        (-0.15, terrain.Plane(), 1.2),
        (0.15, terrain.Step(height=0.25, distance=0.6), 3.0),
    ],
    ids=["straight", "turning", "at a riser"],
)
def test_a_step_is_solved_few_times(left, ground, most):
    """Once where contacts do as is expected; mean over a second at 4 ms."""
    with segtrack.World(engine="native", time_step=0.004) as world:
        world.add_terrain(ground)
        robot = world.add_vehicle("packbot", track_model="compliant")
        world.run(0.4)
        robot.set_belt_speed(left, 0.15)
        world.run(4.0)
        before = robot.model.solutions
        world.run(1.0)
    assert 1.0 <= (robot.model.solutions - before) / 250 <= most


def test_a_robot_at_rest_on_a_slope_does_not_creep():
    world, robot = tilted_world("quince", 25.0)
    before = robot.state.position
    world.run(5.0)
    np.testing.assert_allclose(robot.state.position, before, atol=1e-6)


@pytest.mark.parametrize(("share", "climbs"), [(1.05, True), (0.95, False)])
def test_stalled_belts_on_a_slope_pull_at_their_limit(share, climbs):
    """The drives need weight * sin(20 deg): 5 % spare climb, 5 % missing do not."""
    needed = 24.0 * GRAVITY * math.sin(math.radians(20)) / 2
    world, robot = tilted_world(vary("packbot", drive={"max_force": share * needed}), 20.0)
    robot.set_belt_speed(0.1, 0.1)
    start = robot.state.position[0]
    world.run(3.0)
    way = robot.state.position[0] - start
    assert (way > 0.1) if climbs else (way < 0.02)
    if not climbs:
        for track in robot.tracks.values():
            assert track.force == pytest.approx(share * needed, rel=0.03)


def test_belts_that_spin_up_in_slip_come_a_step_and_a_half_late():
    """Sliding contacts add no inertia: force minus friction over the belt's mass, in the limit of the step.

    A step's friction is bounded by the normal force and the slip at its beginning: in the one in which a
    drive begins to pull, contacts still stick.
    """
    steps, speeds = np.array((2.5e-4, 1e-3, 2e-3, 4e-3)), []
    for step in steps.tolist():
        world, robot = plane(vary("packbot", contact={"friction": 0.2}), time_step=step)
        robot.set_belt_speed(2.5, 2.5)
        world.run(0.04)
        speeds.append(robot.tracks["left"].speed)
    slip_force = 300.0 - 0.2 * robot.mass * GRAVITY / 2
    late = 0.04 * slip_force / 7.0 - np.array(speeds)
    assert (late < 1.6 * 300.0 / 7.0 * steps).all()
    assert late[0] - (late[1] - late[0]) / 3 == pytest.approx(0.0, abs=3e-3 * speeds[0])


def test_energy_of_driven_belts_is_that_of_their_momentum():
    """A torque-free vehicle whose belts are driven gains what the drives put in."""
    world = segtrack.World(engine="native", gravity=0.0)
    robot = world.add_vehicle("quince", position=(0, 0, 5))
    robot.model.state.angular_velocity[0] = (0.1, 2.0, 0.2)
    before = robot.model.bodies().kinetic_energy
    robot.set_belt_speed(0.5, 0.5)
    world.run(0.5)
    gained = robot.model.bodies().kinetic_energy - before
    flippers = sum(abs(flipper.torque) for flipper in robot.flippers.values())
    assert gained == pytest.approx(robot.energy, abs=0.02 * robot.energy + 1e-3 * flippers)


def test_the_drawbar_pull_is_friction_times_weight_or_the_drives():
    for limit in (300.0, 40.0):
        world, robot = plane(vary("packbot", drive={"max_force": limit}))
        robot.set_belt_speed(0.2, 0.2)
        expected = min(0.6 * robot.mass * GRAVITY, 2 * limit)
        for factor, holds in ((0.95, True), (1.05, False)):
            robot.apply_force((-factor * expected, 0, 0), robot.state.position[:2] + (0.0,))
            world.run(4.0)
            start = robot.state.position[0]
            world.run(1.0)
            assert (robot.state.position[0] > start) == holds


def test_work_of_the_drives_lifts_the_vehicle_up_a_slope():
    world, robot = tilted_world("packbot", 20.0)
    robot.set_belt_speed(0.1, 0.1)
    world.run(1.0)
    start, work = robot.state.position[0], robot.energy
    world.run(4.0)
    way = robot.state.position[0] - start
    assert robot.energy - work == pytest.approx(
        robot.mass * GRAVITY * math.sin(math.radians(20)) * way, rel=5e-3
    )


def test_a_flipper_goes_where_it_is_sent_at_its_speed_and_stops_at_its_limit():
    world, robot = plane()
    flipper = robot.flippers["front_left"]
    robot.set_flippers(front_left=1.0)
    world.run(0.5)
    assert flipper.angle == pytest.approx(0.5, abs=0.02)  # max_speed is 1 rad/s.
    assert flipper.speed == pytest.approx(1.0, rel=1e-3)
    world.run(1.0)
    assert flipper.angle == pytest.approx(1.0, abs=1e-3)
    robot.set_flipper_speeds(front_left=1.0)
    world.run(1.5)
    assert flipper.angle == pytest.approx(flipper.spec.limits[1], abs=1e-9)


def test_flippers_that_are_too_weak_give_way_with_their_torque():
    """Quince lowers its flippers onto the ground; the servos' torque is what the ground's forces make."""
    description = segtrack.load_vehicle("quince")
    flippers = {n: f.model_copy(update={"max_torque": 2.0}) for n, f in description.flippers.items()}
    world, robot = plane(
        description.model_copy(update={"flippers": flippers}), flippers=dict.fromkeys(flippers, 0.5)
    )
    robot.set_flippers(**dict.fromkeys(flippers, -1.0))
    world.run(3.0)
    for flipper in robot.flippers.values():
        assert abs(flipper.torque) == pytest.approx(2.0, rel=1e-6)
        assert flipper.angle > -0.5  # They cannot lift 33 kg.


@pytest.mark.parametrize(
    ("belt", "ground", "slip"),
    [(0.2, 0.1, 0.5), (-0.2, -0.1, 0.5), (0.2, 0.0, 1.0), (-0.2, 0.0, 1.0), (-0.2, -0.2, 0.0)],
)
def test_slip_is_what_a_belt_travels_in_vain_forward_and_in_reverse(belt, ground, slip):
    _, robot = plane(settled=False)
    robot.model.state.speeds[0], robot.model.state.velocity[0] = belt, (ground, 0.0, 0.0)
    assert robot.tracks["left"].slip == pytest.approx(slip, abs=1e-9)


# Accuracy


TURNING = [n for n in segtrack.bundled_vehicles() if segtrack.load_vehicle(n).track_offsets]


@pytest.mark.parametrize("track_model", some_of(["compliant", "surface"], "compliant"))
@pytest.mark.parametrize("name", some_of(TURNING, "quince"))
def test_turning_does_not_depend_on_the_step(name, track_model):
    """Within 1 % from 1 to 4 ms, flippers up, and without grousers within 1e-4."""
    rates = {}
    for step in (1e-3, 2e-3, 4e-3):
        flippers = dict.fromkeys(segtrack.load_vehicle(name).flippers, 1.0)
        world, robot = plane(name, track_model=track_model, flippers=flippers, time_step=step)
        robot.set_belt_speed(-0.2, 0.2)
        world.run(0.6)
        ride = watch(world, robot, 2.0)
        rates[step] = ride.twists(np.zeros(3))[:, 2].mean()
        if (name, track_model) == ("quince", "surface"):
            ((_, loads),) = ride.windows(len(ride.loads))
            expected = balance_friction(loads.planar(np.zeros(2)), [0.0, 0.0]).yaw_rate
            assert rates[step] == pytest.approx(expected, rel=2e-4)
    within = 1e-4 if track_model == "surface" else 0.01
    assert rates == pytest.approx(dict.fromkeys(rates, rates[1e-3]), rel=within)


def test_faces_that_slide_over_level_ground_slip_along_it():
    """Those on arcs, too: a belt that slides along its face takes nothing into the ground or out of it."""
    raised = dict.fromkeys(segtrack.load_vehicle("quince").flippers, 1.0)
    world, robot = plane("quince", track_model="surface", flippers=raised)
    robot.set_belt_speed(0.4, 0.4)
    world.run(0.5)
    slips = np.concatenate([track.read_grousers().slip_velocity for track in robot.tracks.values()])
    assert len(slips) > 10 and np.abs(slips[:, 2]).max() < 1e-4


def test_left_and_right_are_mirror_images():
    poses = []
    for side in (1.0, -1.0):
        world = segtrack.World(engine="native")
        world.add_terrain(terrain.Step(height=0.1, distance=0.6))
        robot = world.add_vehicle("quince", yaw=side * 0.2)
        robot.set_belt_speed(0.3 - side * 0.05, 0.3 + side * 0.05)
        world.run(3.0)
        x, y, z = robot.state.position
        poses.append((x, side * y, z, side * robot.state.yaw, side * robot.state.roll, robot.state.pitch))
    np.testing.assert_allclose(poses[0], poses[1], atol=1e-6)


@pytest.mark.parametrize("track_model", ["compliant", "surface"])
def test_forward_and_backward_are_mirror_images(tmp_path, track_model):
    """Up a slope, over thin slats whose edges pass from one part of a belt to the next."""
    file = jointed(tmp_path, [], {})
    slats = [
        terrain.GroundBox(x=x, y=0.0, length=0.004, width=2.0, height=0.1) for x in np.linspace(-0.9, 0.9, 7)
    ]
    poses = []
    for side in (1.0, -1.0):
        with segtrack.World(engine="native", time_step=0.002) as world:
            world.add_terrain(terrain.Boxes(boxes=tuple(slats)))
            robot = world.add_vehicle(file, track_model=track_model, position=(0.0, 0.0))
            tilt(world, side * 15.0)
            robot.set_belt_speed(side * 0.1, side * 0.1)
            world.run(1.5)
            x, _, z = robot.state.position
            poses.append((side * x, z, side * robot.state.pitch, robot.energy))
    assert abs(poses[0][0]) > 0.01
    np.testing.assert_allclose(poses[0], poses[1], atol=1e-7)


def test_grousers_ride_without_a_seam():
    """On flat ground nothing but the belt's pitch is to be felt: an oval's height stays within 0.05 mm."""
    world, robot = plane("packbot")
    robot.set_belt_speed(0.3, 0.3)
    world.run(0.5)
    heights = []
    world.run(0.5, on_step=lambda: heights.append(robot.state.position[2]))
    assert np.ptp(heights) < 5e-5


# A grouser in soil


@pytest.mark.parametrize("elastic", [True, False])
def test_a_tip_in_soil_carries_what_bekker_says(elastic):
    """The pressure under tips that are stiffer than the soil is (k_c / b + k_phi) z^n at their sinkage.

    In soil that does not come up again it is that of their greatest, which the drop has left, less what the
    line of unloading takes off: ten times as steep as loading where nothing is known of it.
    """
    world = segtrack.World(engine="native", time_step=2e-4)
    kind = terrain.find_soil("dry sand")
    kind = replace(kind, unloading_stiffness=0.0) if elastic else kind
    world.add_terrain(terrain.Plane(soil=kind))
    robot = world.add_vehicle(vary("packbot", contact={"stiffness": 1e6, "damping": 300.0}))
    world.settle(max_time=20.0)
    reading = robot.tracks["left"].read_grousers()
    tips = (reading.grousers >= 0) & (reading.sinkage > 0.5 * reading.sinkage.max())
    b = 0.005  # The tip's length, its smaller side.
    modulus = kind.cohesive_modulus / b + kind.frictional_modulus
    sinkage = reading.sinkage[tips] if elastic else reading.max_sinkage[tips]
    expected = modulus * sinkage**kind.sinkage_exponent
    if not elastic:
        slope = np.minimum(10 * kind.sinkage_exponent * expected / sinkage, reading.bed_stiffness[tips])
        expected -= slope * (sinkage - reading.sinkage[tips])
    np.testing.assert_allclose(reading.pressure[tips], expected, rtol=0.02)


# The body


@pytest.mark.parametrize(
    "posts", [((0.0, 0.0, 0.4, 0.2),), ((-0.11, 0.0), (0.1, 0.09), (0.1, -0.09))], ids=["plate", "posts"]
)
def test_a_body_on_its_belly_is_carried_and_reported(posts):
    """The hull's contacts carry the weight, its edges' included, on a plate and on three posts."""
    boxes = tuple(
        terrain.GroundBox(
            x=x, y=y, length=size[0] if size else 0.02, width=size[1] if size else 0.02, height=0.2
        )
        for x, y, *size in posts
    )
    world = segtrack.World(engine="native")
    world.add_terrain(terrain.Boxes(boxes=boxes))
    robot = world.add_vehicle("packbot", position=(0.0, 0.0, 0.251))
    assert world.settle(max_time=20.0).converged
    world.run(0.3)
    contacts = robot.model.read_contacts()
    assert abs(robot.state.pitch) < 0.02
    assert set(contacts.groups) == {2}  # The hull; no belt touches.
    assert contacts.normal_forces.sum() == pytest.approx(robot.mass * GRAVITY, rel=0.02)
