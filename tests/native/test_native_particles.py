"""Trees of joints in the native engine against the particle recursion of Attia 2005.

The engine has joint positions, rotations and a mass matrix; the recursion has Cartesian particles and
balances of momenta, whose masses come from (2.1). Nothing of the dynamics is shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from articulated import Motion
from jointed_vehicles import Limb, jointed, random_limbs
from native_motions import base_of, moving_names, oracle, put, random_motion
from particle_trees import ParticleTree, free_velocities, limb_body, turning
from scipy.spatial.transform import Rotation

import segtrack
from segtrack.reproduce.attia.particles import ParticleJoint, ParticleMotion, RigidBody
from segtrack.reproduce.attia.recursion import ParticleLoads, ParticleSystem


def first_step(file: Path, motion: Motion) -> tuple[list[np.ndarray], np.ndarray]:
    """Accelerations in a step of the root's centre of mass, of its turning and of the joints; that centre."""
    step = 1e-3
    with segtrack.World(engine="native", time_step=step) as world:
        robot = world.add_vehicle(file, track_model="compliant")
        put(robot, motion)
        state = robot.model.state
        rows = (state.velocity[0], state.angular_velocity[0], state.joint_speeds[0])
        before = [row.copy() for row in rows]
        world.step()
        found = [(after - row) / step for after, row in zip(rows, before, strict=True)]
        return found, robot.model.tree.centers[0]


def assert_equal(found: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> None:
    """Compare accelerations within 1e-9 of the largest."""
    scale = max(np.abs(row).max() for row in expected)
    for own, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(own, other, rtol=0, atol=1e-9 * scale)


@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_a_step_changes_speeds_as_particles_accelerate(seed: int, fixed: bool, tmp_path: Path) -> None:
    """Any tree, moving anyhow. Without springs a step of 1 ms takes the forces of its beginning, exactly."""
    limbs, rng = random_limbs(seed, 9), np.random.default_rng(seed)
    names = moving_names(limbs)
    file = jointed(tmp_path, limbs, {name: {} for name in names}, fixed=fixed)
    motion = random_motion(rng, len(names), fixed)
    found, center = first_step(file, motion)
    tree = ParticleTree(oracle(file, limbs, fixed), base_of(file, limbs), limbs, motion, fixed)
    # The root's centre of mass is that of the base and of what is fixed to it.
    assert_equal(found, tree.accelerations(np.zeros(len(names)), center))


def double_arm(name: str, rng: np.random.Generator) -> tuple[list[Limb], np.ndarray]:
    """Arms, equal and parallel, around any axis, a knuckle that steers between them, and its kingpin.

    The lower arm carries a link without mass, which stays parallel to the base, and this the knuckle.
    """
    rpy, place = rng.uniform(-1.5, 1.5, 3), rng.uniform(-0.3, 0.3, 3)
    kingpin, out = np.array([0.03, 0.02, 0.24]), np.array([0.02, 0.3, 0.05])
    above = place + Rotation.from_euler("xyz", rpy).apply(kingpin)
    leader, hinge = f'joint="{name}_lower"', {"kind": "continuous", "axis": (1, 0, 0), "rpy": rpy.tolist()}

    def heavy() -> dict[str, Any]:
        return {
            "mass": float(rng.uniform(0.5, 3.0)),
            "center": rng.uniform(-0.1, 0.2, 3).tolist(),
            "inertia": (0.02 + rng.uniform(0, 0.01, 3)).tolist(),
            "turn": rng.uniform(-1.5, 1.5, 3).tolist(),
        }

    return [
        Limb(f"{name}_lower", xyz=place.tolist(), **hinge, **heavy()),
        Limb(
            f"{name}_level",
            f"{name}_lower_link",
            "continuous",
            out.tolist(),
            axis=(1, 0, 0),
            mass=1e-12,
            inertia=(1e-13, 1e-13, 1e-13),
            mimic=f'{leader} multiplier="-1"',
        ),
        Limb(f"{name}_steer", f"{name}_level_link", "continuous", axis=kingpin.tolist(), **heavy()),
        Limb(f"{name}_upper", xyz=above.tolist(), mimic=f'{leader} multiplier="1"', **hinge, **heavy()),
    ], kingpin


@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_joints_that_follow_others_move_as_loops_closed_by_cut_joints(
    seed: int, fixed: bool, tmp_path: Path
) -> None:
    """Two double A-arms in any motion: `<mimic>` here, spherical joints there, of which one is cut."""
    rng, count = np.random.default_rng(seed), 2
    corners = [double_arm(f"c{i}", rng) for i in range(count)]
    limbs = [limb for own, _ in corners for limb in own]
    named = {f"c{i}_{joint}": {} for i in range(count) for joint in ("lower", "steer")}
    file = jointed(tmp_path, limbs, named, fixed=fixed)
    motion = random_motion(rng, 4 * count, fixed)
    for i in range(0, 4 * count, 4):
        for positions in (motion.positions, motion.speeds):
            positions[i + 1], positions[i + 3] = -positions[i], positions[i]
    found, center = first_step(file, motion)
    body = oracle(file, limbs, fixed)
    frames, (_, _, spatial) = body.frames(motion), body._velocities(motion)
    (turn, origin), (mass, own_center, inertia) = frames[0], base_of(file, limbs)
    joint: ParticleJoint = "held" if fixed else "free"
    bodies = [RigidBody(mass, turn @ own_center + origin, turn @ inertia @ turn.T, joint)]
    chosen, cuts = [0], []
    for i, (own, kingpin) in enumerate(corners):
        lower, level, knuckle, upper = range(4 * i + 1, 4 * i + 5)
        bodies.append(limb_body(own[0], frames[lower], "revolute", 0))
        bodies.append(limb_body(own[2], frames[knuckle], "spherical", 3 * i + 1))
        bodies.append(limb_body(own[3], frames[upper], "revolute", 0))
        turn, origin = frames[level]
        cuts.append((3 * i + 3, 3 * i + 2, turn @ kingpin + origin))
        chosen += [lower, knuckle, upper]
    system = ParticleSystem(bodies, cuts)
    moving = [frames[k] for k in chosen], [spatial[k] for k in chosen]
    now = system.look(system.start, free_velocities(system, *moving))
    unknowns = np.append(system.accelerations(now, ParticleLoads(np.zeros(len(bodies)))), 1.0)
    spins = [turning(now, b, unknowns)[1] for b in range(len(bodies))]
    expected = []
    for i in range(count):
        lower, knuckle, upper = (
            np.asarray(bodies[b].axis) @ (spins[b] - spins[0]) for b in range(3 * i + 1, 3 * i + 4)
        )
        assert upper == pytest.approx(lower, rel=1e-9)
        expected += [lower, -lower, knuckle, upper]
    turn, origin = frames[0]
    middle = now.acceleration(system.point(0, turn @ center + origin)) @ unknowns
    assert_equal(found, [middle, spins[0], np.array(expected)])


@pytest.mark.slow
def test_a_sprung_arm_on_a_free_base_moves_as_particles(tmp_path: Path) -> None:
    """Four joints of two kinds, springs and dampers: what is left falls with the step, and extrapolates."""
    limbs = [
        Limb("yaw", axis=(0, 0, 1), xyz=(0.1, 0, 0.1), mass=1.5, center=(0.05, 0, 0.05)),
        Limb("bend", "yaw_link", axis=(0, 1, 0.3), xyz=(0, 0, 0.1), mass=2.0, center=(0.1, 0.02, 0.1)),
        Limb("slide", "bend_link", "prismatic", axis=(1, 0, 0), xyz=(0.2, 0, 0.1), center=(0.1, 0, 0)),
        Limb("tip", "slide_link", axis=(0, 1, 0), xyz=(0.2, 0, 0), mass=0.6, center=(0.1, 0.03, 0)),
    ]
    names, springs = moving_names(limbs), np.array([8.0, 20.0, 200.0, 5.0])
    dampings = np.array([0.05, 0.1, 1.0, 0.02])
    joints = {
        name: {"spring": {"stiffness": float(k)}, "damper": {"damping": float(c)}}
        for name, k, c in zip(names, springs, dampings, strict=True)
    }
    file = jointed(tmp_path, limbs, joints)
    start = Motion(
        Rotation.identity(),
        np.array([0.0, 0.0, 5.0]),
        np.zeros(6),
        np.array([0.4, 0.5, 0.05, -0.4]),
        np.zeros(4),
    )
    duration, ends = 0.4, {}
    for step in (0.002, 0.001, 0.0005):
        with segtrack.World(engine="native", gravity=0.0, time_step=step) as world:
            robot = world.add_vehicle(file, track_model="compliant")
            put(robot, start)
            world.run(duration)
            bodies = robot.bodies()
            ends[step] = bodies.positions.copy()
    base = base_of(file, limbs)
    tree = ParticleTree(oracle(file, limbs, False, 0.0), base, limbs, start, False, 0.0)
    system, loads = tree.system, spring_loads(tree, springs, dampings, start)
    path = system.integrate(system.start, tree.velocities, np.array([0.0, duration]), loads)
    centers = [system.point(b, body.center) for b, body in enumerate(system.bodies)]
    expected = np.array([path[-1].place(center) for center in centers])
    moved = np.abs(expected - [path[0].place(center) for center in centers]).max()
    worst = {step: np.abs(end - expected).max() / moved for step, end in ends.items()}
    assert worst[0.0005] < 2e-3
    extrapolated = np.abs(2 * ends[0.0005] - ends[0.001] - expected).max() / moved
    before = np.abs(2 * ends[0.001] - ends[0.002] - expected).max() / moved
    assert extrapolated < 0.3 * before and extrapolated < 1e-4


def spring_loads(tree: ParticleTree, springs: np.ndarray, dampings: np.ndarray, start: Motion) -> Any:
    """Springs and dampers at the joints of a tree, of which the third slides."""
    system = tree.system
    seat = system.point(2, system.bodies[3].point)

    def slide(now: ParticleMotion) -> tuple[float, float]:
        axis = now.places[3, 1] - now.places[3, 0]
        axis /= np.linalg.norm(axis)
        return (
            axis @ (now.places[3, 0] - now.place(seat)),
            axis @ (now.velocities[3, 0] - now.velocity(seat)),
        )

    def loads(now: ParticleMotion) -> ParticleLoads:
        forces = np.zeros(1 + len(springs))
        for b in range(1, len(forces)):
            moved, rate = slide(now) if b == 3 else system.angle(now, b)
            forces[b] = -springs[b - 1] * (start.positions[b - 1] + moved) - dampings[b - 1] * rate
        return ParticleLoads(forces)

    return loads
