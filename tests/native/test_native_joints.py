"""Trees of joints in the native engine, against Featherstone's algorithm, closed forms and conservation."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from articulated import Motion
from double_pendulum import DoublePendulum
from jointed_vehicles import Limb, jointed, random_limbs
from native_motions import moving_names, oracle, put, random_motion
from scipy.spatial.transform import Rotation

import segtrack
from segtrack import terrain


@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_a_step_changes_speeds_as_featherstones_algorithm_says(
    seed: int, fixed: bool, tmp_path: Path
) -> None:
    """Any tree, moving anyhow, with springs and dampers."""
    limbs, rng, step = random_limbs(seed, 9), np.random.default_rng(seed), 1e-6
    names = moving_names(limbs)
    stiff, soft = {"spring": {"stiffness": 30.0}}, {"damper": {"damping": 0.5}}
    file = jointed(tmp_path, limbs, {n: (stiff, soft, {})[i % 3] for i, n in enumerate(names)}, fixed=fixed)
    with segtrack.World(engine="native", time_step=step) as world:
        robot = world.add_vehicle(file, track_model="compliant")
        motion = random_motion(rng, len(names), fixed)
        put(robot, motion)
        state, center = robot.model.state, robot.model.tree.centers[0]
        before = [state.velocity[0].copy(), state.angular_velocity[0].copy(), state.joint_speeds[0].copy()]
        world.step()
        after = [state.velocity[0], state.angular_velocity[0], state.joint_speeds[0]]
    found = [(a - b) / step for a, b in zip(after, before, strict=True)]
    forces = [
        joint.design.passive_force(q, u)
        for joint, q, u in zip(robot.joints.values(), motion.positions, motion.speeds, strict=True)
    ]
    base, joints = oracle(file, limbs, fixed).accelerations(motion, np.array(forces))
    spin, velocity = motion.velocity[:3], motion.velocity[3:]
    own = base[3:] + np.cross(spin, velocity)
    own += np.cross(base[:3], center) + np.cross(spin, np.cross(spin, center))
    scale = np.abs(joints).max()
    np.testing.assert_allclose(found[2], joints, atol=1e-4 * scale)
    np.testing.assert_allclose(found[0], motion.rotation.apply(own), atol=1e-4 * scale)
    np.testing.assert_allclose(found[1], motion.rotation.apply(base[:3]), atol=1e-4 * scale)


@pytest.fixture
def present() -> Iterator[Any]:
    """Context in which a vehicle has the velocities of now, half a step after the middle of its last step."""

    @contextmanager
    def at_present(robot: Any) -> Iterator[None]:
        state = robot.model.state
        rows = (state.velocity, state.angular_velocity, state.joint_speeds)
        kept = [array.copy() for array in rows]
        ends = [3, 6, 6 + state.joint_speeds.shape[1]]
        for array, gained in zip(rows, np.split(state.last_changes[0], ends)[:3], strict=True):
            array[0] += gained / 2
        yield
        for array, before in zip(rows, kept, strict=True):
            array[:] = before

    yield at_present


def test_a_double_pendulum_swings_as_its_closed_form(tmp_path: Path) -> None:
    """Let go at rest half a step late, as speeds are those of steps' middles: errors fall with its square."""
    pendulum, start = DoublePendulum(), (1.2, 0.7)
    times = np.linspace(0.0, 2.0, 21)
    expected, worst = pendulum.swing(start, times), []
    for step in (0.002, 0.001):
        joints = {name: {"initial_position": at} for name, at in zip(("upper", "lower"), start, strict=True)}
        file = jointed(tmp_path, pendulum.limbs, joints, fixed=True)
        body = oracle(file, pendulum.limbs, True)
        still = Motion(Rotation.identity(), np.zeros(3), np.zeros(6), np.array(start), np.zeros(2))
        with segtrack.World(engine="native", time_step=step) as world:
            robot = world.add_vehicle(file, position=(0, 0, 5), track_model="compliant")
            robot.model.state.joint_speeds[0] = -step / 2 * body.accelerations(still, np.zeros(2))[1]
            path = [[joint.position for joint in robot.joints.values()]]
            for _ in times[1:]:
                world.run(0.1)
                path.append([joint.position for joint in robot.joints.values()])
        worst.append(np.abs(np.array(path) - expected).max())
    assert worst[1] < 1e-4 and worst[1] < 0.3 * worst[0]


def energy(robot: Any, gravity: float = 9.81) -> float:
    """Energy of masses and linear springs."""
    bodies, total = robot.bodies(), 0.0
    for joint in robot.joints.values():
        if joint.design.spring is not None:
            total -= joint.design.spring.slope(0.0) * joint.position**2 / 2
    return float(total + bodies.kinetic_energy + gravity * bodies.masses @ bodies.positions[:, 2])


def test_a_free_swing_keeps_its_energy(tmp_path: Path, present: Any) -> None:
    """Within 2e-4 of what changes hands, over ten seconds of 1 ms; a spring with it."""
    pendulum = DoublePendulum()
    joints = {
        "upper": {"initial_position": 1.2},
        "lower": {"initial_position": 0.7, "spring": {"stiffness": 2.0}},
    }
    file = jointed(tmp_path, pendulum.limbs, joints, fixed=True)
    with segtrack.World(engine="native", time_step=0.001) as world:
        robot = world.add_vehicle(file, position=(0, 0, 5), track_model="compliant")
        begin, kinetic, found = energy(robot), 0.0, []
        for _ in range(200):
            world.run(0.05)
            with present(robot):
                found.append(energy(robot))
            kinetic = max(kinetic, robot.bodies().kinetic_energy)
    assert kinetic > 1.0
    assert np.abs(np.array(found) - begin).max() < 2e-4 * kinetic


SIX = ["yaw", "shoulder", "elbow", "roll", "bend", "flange"]


def six_joint_arm() -> list[Limb]:
    """An arm of six joints, some 7 kg and 0.9 m long, as industry has them."""
    servo: dict[str, Any] = {"effort": 60.0, "velocity": 2.0}
    parts = [
        ("yaw", "base", (0.1, 0, 0.1), (0, 0, 1), 1.5, (0, 0, 0.05)),
        ("shoulder", "yaw_link", (0, 0, 0.1), (0, 1, 0), 2.0, (0, 0, 0.15)),
        ("elbow", "shoulder_link", (0, 0, 0.3), (0, 1, 0), 1.5, (0, 0, 0.12)),
        ("roll", "elbow_link", (0, 0, 0.25), (0, 0, 1), 0.8, (0, 0, 0.05)),
        ("bend", "roll_link", (0, 0, 0.1), (0, 1, 0), 0.6, (0, 0, 0.05)),
        ("flange", "bend_link", (0, 0, 0.1), (0, 0, 1), 0.4, (0, 0.02, 0.03)),
    ]
    return [
        Limb(
            name, parent, xyz=xyz, axis=axis, mass=mass, center=center, inertia=(0.01, 0.012, 0.005), **servo
        )
        for name, parent, xyz, axis, mass, center in parts
    ]


def momenta(robot: Any) -> tuple[np.ndarray, np.ndarray]:
    """Momentum (3,), and angular momentum about the centre of mass (3,), belts at rest."""
    model, bodies = robot.model, robot.bodies()
    center = bodies.masses @ bodies.positions / bodies.masses.sum()
    angular = np.zeros(3)
    for link, (mass, place, velocity) in enumerate(
        zip(bodies.masses, bodies.positions, bodies.velocities, strict=True)
    ):
        turn = model._work.rotations[link]
        angular += turn @ model.tree.inertias[link] @ turn.T @ model._work.angular_velocities[link]
        angular += mass * np.cross(place - center, velocity)
    return bodies.masses @ bodies.velocities, angular


def test_a_six_joint_arm_reacts_on_its_base_and_keeps_momentum(tmp_path: Path, present: Any) -> None:
    """Afloat: servos move the base, the whole keeps still, and errors fall with the square of the step."""
    file, worst = jointed(tmp_path, six_joint_arm(), {name: {"servo": {}} for name in SIX}), []
    for step in (0.002, 0.001):
        with segtrack.World(engine="native", gravity=0.0, time_step=step) as world:
            robot = world.add_vehicle(file, position=(0, 0, 5), track_model="compliant")
            drift, moved, turned = np.zeros(2), 0.0, 0.0
            for k in range(round(1.0 / step)):
                for i, joint in enumerate(robot.joints.values()):
                    joint.set_speed(1.5 * math.sin((3 + i) * k * step))
                world.step()
                with present(robot):
                    linear, angular = momenta(robot)
                bodies = robot.bodies()
                moved = max(moved, float(bodies.masses[1:] @ np.linalg.norm(bodies.velocities[1:], axis=1)))
                turned = max(turned, float(np.abs(robot.state.angular_velocity).max()))
                drift = np.maximum(drift, [np.linalg.norm(linear), np.linalg.norm(angular)])
        worst.append(drift)
    assert moved > 1.0 and turned > 0.2
    assert (worst[1] < 1e-3 * moved).all()
    assert (worst[1] < 0.35 * worst[0]).all()


@pytest.mark.pybullet
def test_a_free_arm_moves_as_in_pybullet(tmp_path: Path) -> None:
    """Six joints without servos on a free base, thrown: within 1 % of the motion after 0.5 s."""
    limbs = six_joint_arm()
    settings: dict[str, Any] = {name: {"initial_position": 0.2 * i} for i, name in enumerate(SIX)}
    settings["elbow"] |= {"spring": {"stiffness": 20.0}, "damper": {"damping": 0.3}}
    found = {}
    for engine in ("native", "pybullet"):
        file = jointed(tmp_path, limbs, settings)
        with segtrack.World(engine=engine, time_step=0.0005) as world:
            robot = world.add_vehicle(file, position=(0, 0, 20), track_model="compliant")
            start = robot.link_frame("flange_link").origin
            world.run(0.5)
            positions = [joint.position for joint in robot.joints.values()]
            found[engine] = np.array(positions), robot.link_frame("flange_link").origin - start
    begin = 0.2 * np.arange(6)
    moved = np.abs(found["native"][0] - begin).max()
    assert moved > 0.3
    np.testing.assert_allclose(found["native"][0], found["pybullet"][0], atol=0.01 * moved)
    travelled = np.linalg.norm(found["native"][1])
    np.testing.assert_allclose(found["native"][1], found["pybullet"][1], atol=0.01 * travelled)


@pytest.mark.parametrize("step", [0.0005, 0.001, 0.004, 0.01])
def test_stiff_springs_and_buffers_do_not_shorten_the_step(step: float, tmp_path: Path) -> None:
    """1 kg on 1e7 N/m, whose closed form is stable below 0.6 ms only, thrown onto a buffer of 1e7 N/m."""
    limb = Limb("sled", kind="prismatic", mass=1.0, axis=(0, 0, 1), limits=(-1.0, 1.0))
    for settings in (
        {"spring": {"stiffness": 1e7}, "initial_position": 0.01},
        {"stops": {"lower": {"position": -0.05, "stiffness": 1e7, "damping": 100.0}}},
        {"damper": {"damping": 1e6}, "spring": {"stiffness": 1e7}, "initial_position": 0.01},
    ):
        file = jointed(tmp_path, [limb], {"sled": settings}, fixed=True)
        with segtrack.World(engine="native", time_step=step) as world:
            robot = world.add_vehicle(file, position=(0, 0, 5), track_model="compliant")
            (joint,) = robot.joints.values()
            fastest = 0.0
            for _ in range(200):
                world.run(step * max(1, round(0.01 / step)))
                fastest = max(fastest, abs(joint.speed))
            assert fastest < 0.01 * math.sqrt(1e7)
            rest = -0.05 if "stops" in settings else 0.0
            assert joint.position == pytest.approx(rest - 9.81 / 1e7, abs=1e-4 if step > 0.001 else 1e-3)


def test_the_hull_of_a_moving_link_touches_the_ground(tmp_path: Path) -> None:
    """A box on a free slide falls onto the ground and bears its own weight; the base does not move."""
    foot = Limb(
        "foot", kind="prismatic", mass=2.0, axis=(0, 0, 1), limits=(-2.0, 0.5), collision=(0.2, 0.1, 0.3)
    )
    file = jointed(tmp_path, [foot], {"foot": {}}, fixed=True)
    with segtrack.World(engine="native") as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle(file, position=(0, 0, 1.0), track_model="compliant")
        low, _ = robot.bounds()
        assert low[2] == pytest.approx(0.85)
        world.run(1.5)
        joint = robot.joints["foot"]
        assert joint.position == pytest.approx(-0.85, abs=1e-3)
        assert abs(joint.speed) < 1e-4


def test_an_arm_that_presses_on_the_ground_lifts_its_vehicle(tmp_path: Path) -> None:
    """Its tip bears its share of the weight: about the rear grousers, the moments over its distance."""
    arm = Limb(
        "arm",
        xyz=(0.3, 0, 0.1),
        axis=(0, 1, 0),
        mass=0.5,
        center=(0.2, 0, 0),
        collision=(0.4, 0.1, 0.05),
        effort=500.0,
    )
    file = jointed(tmp_path, [arm], {"arm": {"servo": {}}})
    with segtrack.World(engine="native") as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle(file, track_model="compliant", position=(0, 0, 0.09))
        world.settle()
        before = robot.state.pitch
        robot.joints["arm"].set_position(0.9)
        world.run(3.0)
        assert robot.state.pitch > before + 0.1
        frame = robot.link_frame("arm_link")
        tip = frame.points(np.array([0.4, 0.0, -0.025]))
        assert tip[2] == pytest.approx(0.0, abs=1e-3)
        bodies, rows = robot.bodies(), robot.model.read_contacts()
        rear = rows.places[rows.groups < 2].mean(axis=0)
        share = 9.81 * bodies.masses @ (bodies.positions[:, 0] - rear[0]) / (tip[0] - rear[0])
        assert rows.of_group(2).normal_forces.sum() == pytest.approx(share, rel=0.02)
