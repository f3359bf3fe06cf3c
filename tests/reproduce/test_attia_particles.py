"""The particle recursion of Attia 2005 itself: rigid bodies, closed forms, conservation, a closed loop."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from articulated import ArticulatedBody, Motion
from double_pendulum import DoublePendulum
from jointed_vehicles import BASE_INERTIA, BASE_MASS, random_limbs
from particle_trees import ParticleTree
from scipy.spatial.transform import Rotation

from segtrack.reproduce.attia.particle_model import ParticleVehicle
from segtrack.reproduce.attia.particles import ParticleMotion, RigidBody
from segtrack.reproduce.attia.recursion import ParticleLoads, ParticleSystem

BASE = (BASE_MASS, np.array([0.01, -0.02, 0.03]), np.diag(BASE_INERTIA))


def random_tree(
    seed: int, fixed: bool, gravity: float = 9.81
) -> tuple[ArticulatedBody, Motion, ParticleTree]:
    limbs, rng = random_limbs(seed, 8), np.random.default_rng(seed)
    moving = [limb.name for limb in limbs if limb.kind != "fixed"]
    body = ArticulatedBody(BASE, limbs, moving, fixed, gravity)
    motion = Motion(
        Rotation.random(random_state=rng),
        rng.normal(size=3),
        np.zeros(6) if fixed else rng.normal(size=6),
        rng.uniform(-1, 1, len(moving)),
        rng.normal(size=len(moving)),
    )
    return body, motion, ParticleTree(body, BASE, limbs, motion, fixed, gravity)


@pytest.mark.parametrize("seed", range(3))
def test_ten_particles_have_a_bodys_energy_and_momenta(seed: int) -> None:
    """(2.1), whatever the body: half m v^2 and w I w, and both momenta about another point."""
    rng = np.random.default_rng(seed)
    turn = Rotation.random(random_state=rng).as_matrix()
    inertia = turn @ np.diag([0.5, 0.7, 0.9]) @ turn.T
    center, velocity, spin = rng.normal(size=(3, 3))
    system = ParticleSystem([RigidBody(1.3, center, inertia)], gravity=0.0)
    now = system.look(system.start, velocity + np.cross(spin, system.start - center))
    linear, angular = system.momentum(now)
    assert system.energy(now) == pytest.approx((1.3 * velocity @ velocity + spin @ inertia @ spin) / 2)
    np.testing.assert_allclose(linear, 1.3 * velocity, rtol=1e-12)
    np.testing.assert_allclose(angular, np.cross(center, 1.3 * velocity) + inertia @ spin, atol=1e-12)


@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_a_tree_accelerates_as_featherstones_algorithm_says(seed: int, fixed: bool) -> None:
    body, motion, tree = random_tree(seed, fixed)
    forces = np.random.default_rng(seed).normal(0, 5, len(motion.positions))
    base, joints = body.accelerations(motion, forces)
    _, spin, found = tree.accelerations(forces, BASE[1])
    scale = np.abs(joints).max()
    np.testing.assert_allclose(found, joints, rtol=0, atol=1e-11 * scale)
    np.testing.assert_allclose(spin, motion.rotation.apply(base[:3]), rtol=0, atol=1e-11 * scale)


@pytest.mark.slow
def test_a_double_pendulum_swings_as_its_closed_form() -> None:
    pendulum, start = DoublePendulum(), (1.2, 0.7)
    times = np.linspace(0.0, 1.0, 6)
    body = ArticulatedBody(BASE, pendulum.limbs, ("upper", "lower"), True)
    still = Motion(Rotation.identity(), np.zeros(3), np.zeros(6), np.array(start), np.zeros(2))
    tree = ParticleTree(body, BASE, pendulum.limbs, still, True)
    system = tree.system
    path = system.integrate(system.start, tree.velocities, times, lambda _: ParticleLoads(np.zeros(3)))
    found = [[at + system.angle(now, b)[0] for b, at in zip((1, 2), start, strict=True)] for now in path]
    np.testing.assert_allclose(found, pendulum.swing(start, times), atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_a_free_tree_keeps_energy_and_momenta(seed: int) -> None:
    _, _, tree = random_tree(seed, fixed=False)
    system, none, times = (
        tree.system,
        ParticleLoads(np.zeros(len(tree.system.bodies))),
        np.linspace(0.0, 0.4, 3),
    )
    path = system.integrate(system.start, tree.velocities, times, lambda _: none)
    assert_kept(system, path, times)


@pytest.mark.slow
def test_a_thrown_vehicle_with_closed_loops_keeps_energy_and_momenta() -> None:
    """Tumbling, with springs at its arms: loops closed by cut joints take and give nothing."""
    built, times = ParticleVehicle(), np.linspace(0.0, 0.3, 3)
    system, arms = built.system, [corner.arm for corner in built.corners]

    def springs(now: ParticleMotion) -> ParticleLoads:
        joints = np.zeros(len(system.bodies))
        for arm in arms:
            joints[arm] = -1000.0 * (system.angle(now, arm)[0] - 0.5)
        return ParticleLoads(joints)

    spin = np.array([1.0, -2.0, 1.5])
    velocities = np.array([3.0, 1.0, 2.0]) + np.cross(spin, system.start)
    path = system.integrate(system.start, velocities, times, springs)
    assert max(abs(system.angle(path[-1], arm)[0]) for arm in arms) > 0.3
    assert np.abs(system.gaps(path[-1])).max() < 1e-10
    stored = [sum(500.0 * (system.angle(now, arm)[0] - 0.5) ** 2 for arm in arms) for now in path]
    assert_kept(system, path, times, stored)


def assert_kept(
    system: ParticleSystem,
    path: list[ParticleMotion],
    times: np.ndarray,
    stored: Sequence[float] = (0.0, 0.0, 0.0),
) -> None:
    """In free fall within 1e-9: energy, angular momentum about the centre of mass, and all distances."""
    masses = np.array([body.mass for body in system.bodies])
    centers = [system.point(b, body.center) for b, body in enumerate(system.bodies)]
    found = []
    for now, time, spring in zip(path, times, stored, strict=True):
        linear, angular = system.momentum(now)
        center = masses @ [now.place(center) for center in centers] / masses.sum()
        lengths = [np.linalg.norm(r[i] - r[k]) for r in now.places for i, k in ((0, 1), (0, 2), (1, 2))]
        falling = linear + masses.sum() * 9.81 * time * np.array([0.0, 0.0, 1.0])
        found.append((system.energy(now) + spring, falling, angular - np.cross(center, linear), lengths))
    for first, *later in zip(*found, strict=True):
        for value in later:
            np.testing.assert_allclose(value, first, rtol=0, atol=1e-9 * np.abs(first).max())


def test_the_vehicle_has_the_papers_sixteen_degrees_of_freedom() -> None:
    """Free particles less the rank of all distances and cut joints, by differences."""
    system = ParticleVehicle().system
    start = system.start

    def constraints(places: np.ndarray) -> np.ndarray:
        now = system.look(places, np.zeros_like(places))
        lengths = [
            np.linalg.norm(now.places[b, i] - now.places[b, k])
            for b in range(len(system.bodies))
            for i, k in ((0, 1), (0, 2), (1, 2))
        ]
        return np.append(lengths, system.gaps(now))

    columns = []
    for step in 1e-6 * np.eye(start.size).reshape(-1, *start.shape):
        columns.append((constraints(start + step) - constraints(start - step)) / 2e-6)
    assert start.size - np.linalg.matrix_rank(np.array(columns), tol=1e-6) == 16


class FourBar:
    """Four-bar linkage in the x-z plane, by closed-form kinematics and energy; its crank's angle is q.

    With positions of crank, coupler and rocker in q, one coordinate is left: T = J(q) q'^2 / 2, and the
    energy T + V stays. That is the whole of Lagrange's equation.
    """

    pivot, other = np.array([0.0, 0.0]), np.array([0.9, 0.15])
    crank, coupler, rocker = 0.3, 0.8, 0.5
    masses, inertias = (1.5, 2.0, 1.2), (0.02, 0.15, 0.04)

    def places(self, q: float) -> tuple[np.ndarray, np.ndarray]:
        """Joints between crank and coupler, and between coupler and rocker, which is above the line."""
        first = self.pivot + self.crank * np.array([math.cos(q), math.sin(q)])
        apart = self.other - first
        distance = float(np.linalg.norm(apart))
        along = (distance**2 + self.coupler**2 - self.rocker**2) / (2 * distance)
        height = math.sqrt(self.coupler**2 - along**2)
        unit = apart / distance
        return first, first + along * unit + height * np.array([-unit[1], unit[0]])

    def kinetic(self, q: float, rate: float) -> float:
        """Kinetic energy [J] at an angle of the crank and its rate."""
        first, second = self.places(q)
        turned = [np.array([-v[1], v[0]]) for v in (first - self.pivot, second - first, second - self.other)]
        # Speeds of coupler and rocker for q' = 1: turned[0] + turned[1] a = turned[2] b.
        a, b = np.linalg.solve(np.column_stack([turned[1], -turned[2]]), -turned[0])
        middle = turned[0] + turned[1] * a / 2
        (m, n, k), (i, j, h) = self.masses, self.inertias
        inertia = m * self.crank**2 / 4 + i + n * middle @ middle + j * a**2
        inertia += (k * self.rocker**2 / 4 + h) * b**2
        return inertia * rate**2 / 2

    def potential(self, q: float) -> float:
        first, second = self.places(q)
        m, n, k = self.masses
        heights = (first[1] / 2, (first + second)[1] / 2, (second + self.other)[1] / 2)
        return 9.81 * (m * heights[0] + n * heights[1] + k * heights[2])

    def system(self, q: float) -> ParticleSystem:
        """The same as particles: spherical joints at both ends of the coupler, of which one is cut."""

        def spatial(place: np.ndarray) -> np.ndarray:
            return np.array([place[0], 0.0, place[1]])

        first, second = self.places(q)
        axis, moments = (0.0, -1.0, 0.0), [i * np.eye(3) for i in self.inertias]
        (m, n, k), turning = self.masses, "revolute"
        bodies = [
            RigidBody(1.0, (0, 0, 0), np.eye(3), "held"),
            RigidBody(
                m, spatial((self.pivot + first) / 2), moments[0], turning, 0, spatial(self.pivot), axis
            ),
            RigidBody(n, spatial((first + second) / 2), moments[1], "spherical", 1, spatial(first)),
            RigidBody(
                k, spatial((second + self.other) / 2), moments[2], turning, 0, spatial(self.other), axis
            ),
        ]
        return ParticleSystem(bodies, [(2, 3, spatial(second))])


def test_a_four_bar_closed_by_a_cut_joint_moves_as_lagranges_equation_in_one_coordinate() -> None:
    """Arms neither equal nor parallel, let go: kinetic energy at each of the crank's angles, within 1e-9."""
    linkage, start = FourBar(), 1.9
    system = linkage.system(start)
    times, none = np.linspace(0.0, 1.0, 21), ParticleLoads(np.zeros(4))
    path = system.integrate(system.start, np.zeros_like(system.start), times, lambda _: none)
    turns = [(start + turned, rate) for turned, rate in (system.angle(now, 1) for now in path)]
    found = np.array([linkage.kinetic(q, rate) for q, rate in turns])
    fallen = np.array([linkage.potential(start) - linkage.potential(q) for q, _ in turns])
    np.testing.assert_allclose(found, fallen, rtol=0, atol=1e-9 * fallen.max())
    assert fallen.max() > 5.0  # J
    assert np.abs([system.gaps(now) for now in path]).max() < 1e-12
