"""The native engine: dynamics against a second implementation, conservation laws, and a world's promises."""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scenes import tilted_world, vary
from scipy.spatial.transform import Rotation

import segtrack
from segtrack import terrain
from segtrack.errors import DivergedError, InvalidValueError, NotReadyError, UnknownNameError
from segtrack.native.dynamics import FREE, gather_inertia, solve_velocities
from segtrack.native.kinematics import move, move_links, write
from segtrack.native.tree import VehicleState

GRAVITY = 9.81
ROBOTS = sorted(name for name in segtrack.bundled_vehicles() if name != "conveyor")


def plane(vehicle="quince", *, settled=True, **given):
    """A native world with a vehicle at rest on flat ground."""
    world = segtrack.World(
        engine="native", **{k: given.pop(k) for k in ("time_step", "preset") if k in given}
    )
    world.add_terrain(terrain.Plane())
    robot = world.add_vehicle(vehicle, **given)
    if settled:
        world.settle()
        world.run(0.1)
    return world, robot


# Dynamics


def random_motion(model, rng):
    """Give a vehicle any pose and motion; gently enough for one explicit step."""
    state = model.state
    state.orientation[0] = Rotation.random(random_state=rng).as_quat()
    state.velocity[0], state.angular_velocity[0] = rng.normal(size=(2, 3))
    state.joint_angles[0] = rng.uniform(-1, 1, state.joint_angles.shape[1])
    state.joint_speeds[0] = rng.normal(size=state.joint_speeds.shape[1])
    state.speeds[0] = rng.normal(size=state.speeds.shape[1])


def kinematics(model, q):
    """Rotations, centres and track axles of all links, by scipy, at q = (position, rotation vector, angles).

    The position is that of the root's centre of mass; the rotation vector turns the present attitude.
    """
    tree, state = model.arrays.tree, model.state
    root = Rotation.from_rotvec(q[3:6]) * Rotation.from_quat(state.orientation[0])
    rotations, centers = [root], [q[:3]]
    for j, angle in enumerate(q[6:]):
        pivot = q[:3] + root.apply(tree.joint_origins[j] - tree.centers[0])
        turn = (
            root
            * Rotation.from_matrix(tree.joint_rotations[j])
            * Rotation.from_rotvec(angle * tree.joint_axes[j])
        )
        rotations.append(turn)
        centers.append(pivot + turn.apply(tree.centers[j + 1]))
    axles = [
        (rotations[link] * Rotation.from_matrix(turn)).apply((0, 1, 0))
        for link, turn in zip(tree.belt_links, tree.belt_rotations, strict=True)
    ]
    return rotations, np.array(centers), np.array(axles)


def momenta(model):
    """Jacobians and momenta of every link by differences of `kinematics`, and of every belt.

    Returns:
        Of velocities and of spins by root and joints (n, links, 3) each; momentum and angular
        momentum, belts' included, of each link (links, 3); momentum of each belt along its travel; and
        the size of what gyroscopes do.
    """
    tree, state, h = model.arrays.tree, model.state, 1e-6
    q = np.concatenate([state.position[0], np.zeros(3), state.joint_angles[0]])
    u = np.concatenate([state.velocity[0], state.angular_velocity[0], state.joint_speeds[0]])
    rotations, _, axles = kinematics(model, q)
    ahead = [kinematics(model, q + d) for d in h * np.eye(len(q))]
    back = [kinematics(model, q - d) for d in h * np.eye(len(q))]
    linear = np.array([(a[1] - b[1]) / (2 * h) for a, b in zip(ahead, back, strict=True)])
    turning = np.array(
        [
            [(a * b.inv()).as_rotvec() / (2 * h) for a, b in zip(fore[0], aft[0], strict=True)]
            for fore, aft in zip(ahead, back, strict=True)
        ]
    )
    velocities, spins = np.tensordot(u, linear, 1), np.tensordot(u, turning, 1)
    angular, own = np.zeros((len(rotations), 3)), tree.belt_masses * state.speeds[0]
    for link, rotation in enumerate(rotations):
        turn = rotation.as_matrix()
        angular[link] = turn @ tree.inertias[link] @ turn.T @ spins[link]
        for t in np.flatnonzero(tree.belt_links == link):
            angular[link] += tree.spin_momenta[t] * state.speeds[0, t] * axles[t]
            own[t] += tree.spin_momenta[t] * axles[t] @ spins[link]
    gyroscopic = np.abs(np.cross(spins, angular)).sum()
    return linear, turning, tree.masses[:, None] * velocities, angular, own, gyroscopic


@pytest.mark.parametrize("name", ["quince", "packbot", "example_rover"])
@pytest.mark.parametrize("seed", range(3))
def test_a_free_step_obeys_dalemberts_principle(name, seed):
    """Changes of the links' momenta do no work in any motion that root, joints and belts allow."""
    world = segtrack.World(engine="native", gravity=0.0)
    model, rng = world.add_vehicle(name, position=(0, 0, 5)).model, np.random.default_rng(seed)
    random_motion(model, rng)
    skew = rng.uniform(-1.0, 1.0, (3, 3))
    model.arrays.tree.inertias[0] += 0.01 * np.trace(model.arrays.tree.inertias[0]) * (skew + skew.T)
    tree, work, step = model.arrays.tree, model._work, 1e-5
    weak = tree._replace(max_torques=np.zeros(len(tree.max_torques)))  # Servos that do nothing.
    linear, turning, before, angular_before, own_before, gyroscopic = momenta(model)
    move_links(weak, model._view, work)
    for link in range(len(tree.masses)):
        write(work.forces, link, (0.0, 0.0, 0.0))
        write(work.torques, link, (0.0, 0.0, 0.0))
    work.pulls[:] = work.grips[:] = work.drive_forces[:] = work.following[:] = 0.0
    gather_inertia(weak, model._view, work, (0.0, 0.0, 0.0), step)
    solve_velocities(weak, model._view, work, step, 1.0)
    assert (work.modes == FREE).all()
    move(weak, model._view, work, step, 1.0)
    _, _, after, angular_after, own_after, _ = momenta(model)
    force, torque = (after - before) / step, (angular_after - angular_before) / step
    parts = np.einsum("nli,li->nl", linear, force), np.einsum("nli,li->nl", turning, torque)
    scale = max(np.abs(parts).sum(axis=0).max(), gyroscopic)
    assert scale > 0.1
    np.testing.assert_allclose((parts[0] + parts[1]).sum(axis=1), 0.0, atol=1e-3 * scale)
    np.testing.assert_allclose(own_after, own_before, atol=1e-3 * step * scale)


def conserved(model):
    """Momentum of the vehicle (3,), and angular momentum about its centre of mass (3,)."""
    bodies = model.bodies()
    tree, work = model.arrays.tree, model._work
    mass = bodies.masses.sum()
    center, velocity = bodies.masses @ bodies.positions / mass, bodies.masses @ bodies.velocities / mass
    angular = np.zeros(3)
    for link in range(len(bodies.masses)):
        r = work.rotations[link]
        angular += r @ tree.inertias[link] @ r.T @ work.angular_velocities[link]
        arm = bodies.positions[link] - center
        angular += bodies.masses[link] * np.cross(arm, bodies.velocities[link] - velocity)
    for t, stored in enumerate(tree.spin_momenta):
        angular += stored * model.state.speeds[0, t] * work.belt_rotations[t][:, 1]
    return mass * velocity, angular


@pytest.mark.parametrize("name", ROBOTS)
def test_free_fall_with_driven_and_reversed_belts(name):
    """The centre of mass falls at g, and angular momentum stays within a thousandth of the belts'."""
    world = segtrack.World(engine="native")
    robot = world.add_vehicle(name, position=(0, 0, 50))
    model = robot.model
    model.state.angular_velocity[0] = (0.3, -0.4, 0.5)
    speed = min(track.spec.drive.top_speed for track in robot.tracks.values())
    momentum, angular = conserved(model)
    world.run(0.2)
    for command in (speed, -speed, 0.5 * speed):
        robot.set_belt_speed(command, -command)
        robot.set_flippers(**{flipper: math.copysign(0.5, command) for flipper in robot.flippers})
        world.run(0.3)
    after, turned = conserved(model)
    fallen = np.array([0, 0, -robot.mass * GRAVITY * 1.1])
    np.testing.assert_allclose(after - momentum, fallen, atol=1e-5 * np.abs(fallen).max())
    of_belts = float(np.abs(model.arrays.tree.spin_momenta).sum() * speed)
    assert np.linalg.norm(turned - angular) < 1e-3 * max(of_belts, np.linalg.norm(angular))


def energy(robot):
    bodies = robot.model.bodies()
    return bodies.kinetic_energy + GRAVITY * float(bodies.masses @ bodies.positions[:, 2])


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("seed", range(2))
def test_contacts_never_create_energy(name, seed):
    """Thrown onto a step with held belts, tumbling: what it has is never more than it was thrown with."""
    rng = np.random.default_rng(seed)
    world = segtrack.World(engine="native")
    size = 10.0 if name == "bulldozer" else 1.0
    world.add_terrain(terrain.Step(height=0.1 * size, distance=0.0))
    robot = world.add_vehicle(name, position=(0.0, 0.0, 0.5 * size))
    state = robot.model.state
    state.orientation[0] = Rotation.from_euler("xyz", rng.uniform(-0.6, 0.6, 3)).as_quat()
    state.velocity[0], state.angular_velocity[0] = rng.normal(0, 0.5, (2, 3))
    begin, highest = energy(robot), -math.inf
    for _ in range(100):
        world.run(0.01)
        highest = max(highest, energy(robot))
    spread = robot.mass * GRAVITY * 0.1 * size
    assert highest <= begin + 1e-3 * spread
    assert energy(robot) < begin - 0.5 * spread  # And it did fall.


# Drives and servos


def test_the_slide_angle_of_held_belts_is_that_of_friction():
    for off, slides in ((-0.5, False), (0.5, True)):
        world, robot = tilted_world("packbot", math.degrees(math.atan(0.6)) + off)
        start = robot.state.position[0]
        world.run(2.0)
        assert (start - robot.state.position[0] > 0.01) == slides
        assert slides or start - robot.state.position[0] < 1e-5


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


def test_belts_that_spin_up_in_slip_do_not_depend_on_the_step():
    """Sliding contacts add no inertia: force minus friction over the belt's mass, at any step."""
    speeds = []
    for step in (2.5e-4, 1e-3, 2e-3):
        world, robot = plane(vary("packbot", contact={"friction": 0.2}), time_step=step)
        robot.set_belt_speed(2.5, 2.5)
        world.run(0.04)
        speeds.append(robot.tracks["left"].speed)
    slip_force = 300.0 - 0.2 * robot.mass * GRAVITY / 2
    # The body gives way by pitching, which lets the belts gain a little more.
    assert speeds[0] == pytest.approx(0.04 * slip_force / 7.0, rel=0.06)
    assert speeds == pytest.approx([speeds[0]] * 3, rel=0.03)


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


# Accuracy


def test_turning_does_not_depend_on_the_step():
    rates = {}
    for step in (5e-4, 1e-3, 2e-3):
        world, robot = plane(
            flippers=dict.fromkeys(segtrack.load_vehicle("quince").flippers, 1.0), time_step=step
        )
        robot.set_belt_speed(-0.2, 0.2)
        world.run(0.5)
        yaw = robot.state.yaw
        world.run(1.0)
        rates[step] = robot.state.yaw - yaw
    assert rates[1e-3] == pytest.approx(rates[5e-4], rel=1e-2)
    assert rates[2e-3] == pytest.approx(rates[5e-4], rel=1e-2)


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


def test_grousers_ride_without_a_seam():
    """On flat ground nothing but the belt's pitch is to be felt: an oval's height stays within 0.05 mm."""
    world, robot = plane("packbot")
    robot.set_belt_speed(0.3, 0.3)
    world.run(0.5)
    heights = []
    world.run(0.5, on_step=lambda: heights.append(robot.state.position[2]))
    assert np.ptp(heights) < 5e-5


# A grouser in soil


@pytest.mark.parametrize("soil", ["dry sand"])
def test_a_tip_in_soil_carries_what_bekker_says(soil):
    """The pressure under tips that are stiffer than the soil is (k_c / b + k_phi) z^n at their sinkage."""
    world = segtrack.World(engine="native", time_step=2e-4)
    kind = terrain.find_soil(soil)
    world.add_terrain(terrain.Plane(soil=kind))
    robot = world.add_vehicle(vary("packbot", contact={"stiffness": 1e6, "damping": 300.0}))
    world.settle(max_time=20.0)
    reading = robot.tracks["left"].read_grousers()
    tips = (reading.grousers >= 0) & (reading.sinkage > 0.5 * reading.sinkage.max())
    b = 0.005  # The tip's length, its smaller side.
    modulus = kind.cohesive_modulus / b + kind.frictional_modulus
    expected = modulus * reading.sinkage[tips] ** kind.sinkage_exponent
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
    assert set(contacts[:, 12]) == {2.0}  # The hull; no belt touches.
    assert contacts[:, 3].sum() == pytest.approx(robot.mass * GRAVITY, rel=0.02)


# The world's promises


def scripted(seconds=1.0, world_and_robot=None):
    world, robot = world_and_robot or plane(settled=False)
    for k in range(round(seconds / 0.1)):
        robot.set_belt_speed(0.3 * math.sin(k), 0.3 * math.cos(2 * k))
        robot.set_flippers(front_left=0.1 * k, rear_right=-0.05 * k)
        world.run(0.1)
    return robot.state


def test_two_runs_are_equal_to_the_bit():
    assert scripted() == scripted()


@pytest.mark.parametrize("name", ["quince", "maxxii", "bulldozer"])
def test_save_act_restore_act_is_equal_to_the_bit_over_thin_walls(name):
    """Edges deep between grousers count whenever candidates were listed last."""
    size = 6.0 if name == "bulldozer" else 1.0
    walls = tuple(
        terrain.GroundBox(x=size * x, y=0, length=0.02 * size, width=8 * size, height=0.03 * size)
        for x in np.arange(0.3, 1.5, 0.09)
    )
    world = segtrack.World(engine="native")
    world.add_terrain(terrain.Boxes(boxes=walls))
    robot = world.add_vehicle(name, position=(-0.2 * size, 0.0))
    robot.set_belt_speed(0.4, 0.35)
    for _ in range(20):
        world.run(0.1)
        saved = world.save()
        world.run(0.05)
        first = robot.state
        world.restore(saved)
        world.run(0.05)
        assert robot.state == first


def test_two_processes_are_equal_to_the_bit():
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "sys.path.insert(0, sys.argv[2])\nfrom test_native import scripted\nprint(repr(scripted()))"
    )
    folder = str(Path(__file__).parent)
    said = subprocess.run(
        [sys.executable, "-c", program, folder, str(Path(folder).parent)],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert said.stdout.strip() == repr(scripted())


def test_save_act_restore_act_is_equal_to_the_bit():
    world, robot = plane(settled=False)
    scripted(0.5, (world, robot))
    saved = world.save()
    first = scripted(0.5, (world, robot))
    world.restore(saved)
    assert scripted(0.5, (world, robot)) == first
    world.reset()
    assert world.time == 0.0


def test_long_and_short_calls_are_equal_to_the_bit():
    states = []
    for chunk in (0.5, 0.001, 0.02):
        world, robot = plane(settled=False)
        robot.set_belt_speed(0.1, -0.2)
        for _ in range(round(0.5 / chunk)):
            world.run(chunk)
        states.append(robot.state)
    assert states[0] == states[1] == states[2]


def test_many_boxes_under_one_grouser_are_all_felt():
    """More solids and edges than there is room for at first; the result does not depend on the room."""
    boxes = tuple(
        terrain.GroundBox(x=x, y=y, length=0.008, width=0.008, height=0.02)
        for x in np.arange(-0.3, 0.3, 0.012)
        for y in np.arange(-0.3, 0.3, 0.012)
    )
    states = []
    for room in (False, True):
        world = segtrack.World(engine="native")
        world.add_terrain(terrain.Boxes(boxes=boxes))
        robot = world.add_vehicle("packbot")
        if room:
            robot.model._outcome[2:] = 500, 5000
            robot.model._make_room()
        world.run(0.05)
        states.append(robot.state)
    assert states[0] == states[1]
    assert robot.state.position[2] > 0.1


def test_the_native_engine_runs_where_pybullet_cannot_be_imported():
    program = (
        "import sys; sys.modules['pybullet'] = sys.modules['pybullet_utils'] = None\n"
        "import segtrack\nfrom segtrack import terrain\n"
        "with segtrack.World(engine='native') as world:\n"
        "    world.add_terrain(terrain.Step(height=0.1, distance=1.0))\n"
        "    robot = world.add_vehicle('quince')\n    world.run(0.1)\n    print(robot.state.position[2])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert (done.stderr, float(done.stdout)) == ("", pytest.approx(0.091, abs=0.002))


def test_several_vehicles_move_in_one_world():
    world, quince = plane(settled=False)
    packbot = world.add_vehicle("packbot", position=(0.0, 3.0))
    alone = plane("packbot", settled=False, position=(0.0, 3.0))
    for w, robot in ((world, packbot), alone):
        robot.set_belt_speed(0.2, 0.3)
        w.run(0.5)
    assert packbot.state == alone[1].state
    assert quince.state.position[0] == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize(
    "ground",
    [
        terrain.Plane(),
        terrain.Step(height=0.05, distance=0.6),
        terrain.Stairs(count=2, riser=0.05, tread=0.3, distance=0.6),
        terrain.Ramp(slope=0.3, length=1.0, distance=0.5),
        terrain.Gap(length=0.1, distance=0.6),
        terrain.Ridge(height=0.05, length=0.2, distance=0.6),
        terrain.HalfRound(radius=0.05, distance=0.6),
        terrain.Waves(heights=(0.02, 0.03), lengths=(0.5, 0.4), distance=0.5),
    ],
    ids=lambda ground: type(ground).__name__,
)
@pytest.mark.parametrize("name", ["quince", "packbot"])
def test_vehicles_drive_over_every_kind_of_terrain(name, ground):
    world = segtrack.World(engine="native")
    world.add_terrain(ground)
    robot = world.add_vehicle(name)
    robot.set_belt_speed(0.3, 0.3)
    world.run(4.0)
    assert robot.state.position[0] > 0.7
    x, y, z = robot.state.position
    assert 0.0 < z - float(world.height(x, y)) < 0.3


# Bad input


def soft_world():
    world = segtrack.World(engine="native")
    world.add_terrain(terrain.Plane(soil=terrain.find_soil("dry sand")))
    return world


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: segtrack.World(engine="bullet"),
            UnknownNameError,
            "no engine 'bullet'; there are: pybullet, native",
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
            lambda: segtrack.World(engine="native", time_step=0.02).add_vehicle("quince"),
            InvalidValueError,
            "time_step [s] must be at most 0.00227 for the contact stiffness of quince, got 0.02",
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


@pytest.mark.parametrize(
    ("belt", "ground", "slip"),
    [(0.2, 0.1, 0.5), (-0.2, -0.1, 0.5), (0.2, 0.0, 1.0), (-0.2, 0.0, 1.0), (-0.2, -0.2, 0.0)],
)
def test_slip_is_what_a_belt_travels_in_vain_forward_and_in_reverse(belt, ground, slip):
    _, robot = plane(settled=False)
    robot.model.state.speeds[0], robot.model.state.velocity[0] = belt, (ground, 0.0, 0.0)
    assert robot.tracks["left"].slip == pytest.approx(slip, abs=1e-9)


def test_stiff_contacts_ask_for_short_steps():
    stiff = vary("packbot", contact={"stiffness": 1e8, "damping": 10.0})
    with pytest.raises(InvalidValueError) as error:
        plane(stiff)
    assert str(error.value) == (
        "time_step [s] must be at most 7.07e-05 for the contact stiffness of packbot, got 0.001"
    )
    world, robot = plane(stiff, time_step=7.07e-5, settled=False)
    world.run(0.2)
    assert np.isfinite(robot.state.position).all()


@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize(
    "name", [*VehicleState._fields[:4], "joint_speeds", "joint_angles", "speeds", "travels"]
)
@pytest.mark.parametrize("component", [0, -1])
def test_a_single_component_that_is_not_finite_stops_the_run(name, component, bad):
    world, robot = plane(settled=False)
    getattr(robot.model.state, name)[0, component] = bad
    with pytest.raises(DivergedError) as error:
        world.run(0.1)
    assert str(error.value).startswith("simulation diverged: quince at t = ")
    assert str(error.value).endswith("its state is not finite")


@pytest.mark.parametrize("name", ["position", "orientation", "travels", "speeds"])
def test_a_fixed_body_that_is_not_finite_stops_the_run(name):
    world, robot = plane("conveyor", settled=False)
    getattr(robot.model.state, name)[0, 0] = math.nan
    with pytest.raises(DivergedError):
        world.run(0.1)


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("track_model", ["compliant", "surface"])
def test_the_longest_step_that_is_allowed_is_stable(name, track_model):
    """At it a vehicle turns, stops, and stands still, on its tracks as on its back."""
    with pytest.raises(InvalidValueError) as error:
        plane(name, track_model=track_model, time_step=0.1)
    longest = float(str(error.value).split("at most ")[1].split()[0])
    for upside_down in (False, True):
        world, robot = plane(name, track_model=track_model, time_step=longest, settled=False)
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


def test_a_vehicle_that_is_absurdly_fast_stops_the_run():
    world, robot = plane(settled=False)
    robot.model.state.velocity[0] = (0.0, 0.0, 150.0)
    with pytest.raises(DivergedError) as error:
        world.run(0.1)
    assert str(error.value).startswith(
        "simulation diverged: quince at t = 0.0010 s: a part of it is faster than 100 m/s, up to 1"
    )
