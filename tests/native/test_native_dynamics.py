"""Dynamics of the native engine against d'Alembert's principle and conservation laws."""

import math

import numpy as np
import pytest
from native_vehicles import ROBOTS, SPRUNG
from quick import some_of
from scenes import GRAVITY
from scipy.spatial.transform import Rotation

import segtrack
from segtrack import terrain
from segtrack.ground import FREE, HELD, LANES, ROOT, clear_loads
from segtrack.ground.contact_loads import SUMS, add_in_lane, add_sums
from segtrack.native import move_links
from segtrack.native.dynamics import gather_equations
from segtrack.native.kinematics import move
from segtrack.native.solve import solve_velocities, wanted_speed


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
@pytest.mark.parametrize("seed", some_of(range(3), 0))
def test_a_free_step_obeys_dalemberts_principle(name, seed):
    """Changes of the links' momenta do no work in any motion that root, joints and belts allow."""
    world = segtrack.World(engine="native", gravity=0.0)
    model, rng = world.add_vehicle(name, position=(0, 0, 5)).model, np.random.default_rng(seed)
    random_motion(model, rng)
    skew = rng.uniform(-1.0, 1.0, (3, 3))
    model.arrays.tree.inertias[0] += 0.01 * np.trace(model.arrays.tree.inertias[0]) * (skew + skew.T)
    tree, work, step = model.arrays.tree, model._work, 1e-5
    weak = tree._replace(max_torques=np.zeros(len(tree.max_torques)))  # Servos that do nothing.
    model.state.targets[:], model.state.limits[:] = 1.0, 0.0  # Drives that do nothing.
    linear, turning, before, angular_before, own_before, gyroscopic = momenta(model)
    move_links(weak, model._view, work)
    clear_loads(work.loads)
    gather_equations(weak, model._view, work, (0.0, 0.0, 0.0), step)
    solve_velocities(weak, model._view, work, step)
    assert (work.equations.modes == FREE).all()
    move(weak, model._view, work, step)
    _, _, after, angular_after, own_after, _ = momenta(model)
    force, torque = (after - before) / step, (angular_after - angular_before) / step
    parts = np.einsum("nli,li->nl", linear, force), np.einsum("nli,li->nl", turning, torque)
    scale = max(np.abs(parts).sum(axis=0).max(), gyroscopic)
    assert scale > 0.1
    np.testing.assert_allclose((parts[0] + parts[1]).sum(axis=1), 0.0, atol=1e-3 * scale)
    np.testing.assert_allclose(own_after, own_before, atol=1e-3 * step * scale)


@pytest.mark.parametrize("name", ["quince", "packbot"])
def test_contacts_add_their_masses_and_forces_to_the_equations(name):
    """The sums of J^T D J, and of h J^T F, of contacts on links and belts, J by differences."""
    world = segtrack.World(engine="native", gravity=0.0)
    model, rng = world.add_vehicle(name, position=(0, 0, 5)).model, np.random.default_rng(3)
    random_motion(model, rng)
    tree, work, step = model.arrays.tree, model._work, 2e-3
    linear, turning, *_ = momenta(model)
    move_links(tree, model._view, work)
    clear_loads(work.loads)
    gather_equations(tree, model._view, work, (0.0, 0.0, 0.0), step)
    free, still = np.tril(work.equations.matrix), work.equations.right.copy()
    joints, belts = len(tree.joint_parents), len(tree.belt_masses)
    added, acting = np.zeros_like(free), np.zeros_like(still)
    sums = np.zeros(SUMS * LANES)
    for n in range(30):
        belt = int(rng.integers(-1, belts))
        link = int(rng.integers(0, len(tree.masses)) if belt < 0 else tree.belt_links[belt])
        lever, force, along = rng.normal(size=(3, 3))
        root = rng.normal(size=(3, 3))
        mass = root @ root.T
        symmetric = tuple(mass[i, k] for i, k in ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0)))
        moved_by_belt = tuple(along) if belt >= 0 else (0.0, 0.0, 0.0)
        add_in_lane(sums, n % LANES, tuple(lever), moved_by_belt, tuple(force), symmetric)
        add_sums(work.loads, link, belt, sums)
        jacobian = np.zeros((3, ROOT + joints + belts))
        jacobian[:, : ROOT + joints] = (linear[:, link] + np.cross(turning[:, link], lever)).T
        if belt >= 0:
            jacobian[:, ROOT + joints + belt] = along
        added += jacobian.T @ mass @ jacobian
        acting += step * jacobian.T @ force
    gather_equations(tree, model._view, work, (0.0, 0.0, 0.0), step)
    size = np.abs(added).max()
    np.testing.assert_allclose(np.tril(work.equations.matrix) - free, np.tril(added), atol=1e-7 * size)
    np.testing.assert_allclose(work.equations.right - still, acting, atol=1e-8)


@pytest.mark.parametrize("step", [0.001, 0.004])
def test_motors_exert_their_most_only_where_they_do_not_reach_what_they_aim_at(step):
    """Held at their aim with less than their limit, or at their limit short of it: on a step, both ways."""
    world = segtrack.World(engine="native", time_step=step)
    world.add_terrain(terrain.Step(height=0.1, distance=0.6))
    robot = world.add_vehicle("quince")
    model, state, servos = robot.model, robot.model.state, len(robot.flippers)
    free = 0
    for n in range(round(2.0 / step)):
        if n % round(0.25 / step) == 0:
            side = 1 if n // round(0.5 / step) % 2 == 0 else -1
            robot.set_belt_speed(0.3 * side, 0.3 if n * step < 1.0 else -0.3)
            robot.set_flippers(**dict.fromkeys(robot.flippers, 0.3 * math.sin(5 * n * step)))
        aims = [wanted_speed(model.tree, model._view, j, step) for j in range(servos)]
        world.step()
        aims += state.targets[0].tolist()
        reached = [*state.joint_speeds[0], *state.speeds[0]]
        forces = [*state.joint_torques[0], *state.forces[0]]
        most = [*model.tree.max_torques, *state.limits[0]]
        motors = zip(model._work.equations.modes[ROOT:], aims, reached, forces, most, strict=True)
        for mode, aim, speed, force, limit in motors:
            assert abs(force) <= limit * (1 + 1e-12)
            if mode == HELD:
                assert speed == pytest.approx(aim, abs=1e-12)
            elif mode == FREE:
                free += 1
                assert abs(force) == limit
                assert force * (speed - aim) <= 1e-9 * limit
    assert free > 5


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


@pytest.mark.parametrize("name", [name for name in ROBOTS if name not in SPRUNG])
@pytest.mark.parametrize("seed", range(2))
def test_contacts_never_create_energy(name, seed):
    """Thrown onto a step with held belts, tumbling: what it has is never more than it was thrown with."""
    rng = np.random.default_rng(seed)
    world = segtrack.World(engine="native")
    size = {"bulldozer": 10.0, "markhor": 1.5}.get(name, 1.0)
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


@pytest.mark.parametrize("name", ["quince", "maxxii"])
def test_a_damped_step_is_one_that_begins_with_the_slower_motion(name):
    """In the air, tumbling, flippers turning: gyroscopes and centrifugal forces are those of what is left."""
    kept, step, ends = 0.5, 0.004, []
    for damped in (True, False):
        with segtrack.World(engine="native", time_step=step) as world:
            robot = world.add_vehicle(name, position=(0, 0, 50))
            random_motion(robot.model, np.random.default_rng(3))
            if damped:
                world.engine.advance(1, damping_rate=-math.log(kept) / step)
            else:
                state = robot.model.state
                for velocities in (state.velocity, state.angular_velocity, state.joint_speeds):
                    velocities *= kept
                world.step()
            bodies = robot.bodies()
            ends.append(
                (*bodies.velocities.ravel(), bodies.kinetic_energy, *robot.read_actuators().belt_speeds)
            )
    np.testing.assert_allclose(*ends, rtol=1e-12, atol=1e-13)
