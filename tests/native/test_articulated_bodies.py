"""The second implementation of articulated bodies itself, against closed forms and conservation laws."""

from __future__ import annotations

import numpy as np
import pytest
from articulated import ArticulatedBody, Motion
from double_pendulum import DoublePendulum
from jointed_vehicles import BASE_INERTIA, BASE_MASS, Limb, random_limbs
from quick import some_of
from scipy.spatial.transform import Rotation

BASE = (BASE_MASS, np.array([0.01, -0.02, 0.03]), np.diag(BASE_INERTIA))


def without_forces(positions: np.ndarray, speeds: np.ndarray) -> np.ndarray:
    return np.zeros(len(positions))


def random_motion(rng: np.random.Generator, count: int) -> Motion:
    return Motion(
        Rotation.random(random_state=rng),
        rng.normal(size=3),
        rng.normal(size=6),
        rng.uniform(-1, 1, count),
        rng.normal(size=count),
    )


def test_a_double_pendulum_swings_as_its_closed_form() -> None:
    pendulum = DoublePendulum()
    body = ArticulatedBody(BASE, pendulum.limbs, ("upper", "lower"), True)
    times = np.linspace(0.0, 3.0, 31)
    start = Motion(Rotation.identity(), np.zeros(3), np.zeros(6), np.array([1.2, 0.7]), np.zeros(2))
    path = body.integrate(start, times, without_forces)
    np.testing.assert_allclose([m.positions for m in path], pendulum.swing((1.2, 0.7), times), atol=1e-8)


@pytest.mark.parametrize("seed", some_of(range(3), 0))
@pytest.mark.parametrize("fixed", [True, False])
def test_energy_is_conserved(seed: int, fixed: bool) -> None:
    limbs, rng = random_limbs(seed, 6), np.random.default_rng(seed)
    moving = [limb.name for limb in limbs if limb.kind != "fixed"]
    body, start = ArticulatedBody(BASE, limbs, moving, fixed), random_motion(rng, len(moving))
    if fixed:
        start.velocity[:] = 0.0
    path = body.integrate(start, np.linspace(0.0, 1.0, 6), without_forces)
    energies = [body.energy(motion) for motion in path]
    np.testing.assert_allclose(energies, energies[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", some_of(range(3), 1))
def test_momentum_is_conserved_whatever_the_joints_do(seed: int) -> None:
    limbs, rng = random_limbs(seed, 6), np.random.default_rng(seed)
    moving = [limb.name for limb in limbs if limb.kind != "fixed"]
    body = ArticulatedBody(BASE, limbs, moving, False, gravity=0.0)
    start, pushes = random_motion(rng, len(moving)), rng.normal(size=len(moving))
    path = body.integrate(start, np.linspace(0.0, 1.0, 6), lambda q, u: pushes * np.cos(q))
    for motion in path:
        for now, before in zip(body.momentum(motion), body.momentum(start), strict=True):
            np.testing.assert_allclose(now, before, rtol=1e-9, atol=1e-8)


def test_a_pendulum_on_a_free_base_swings_by_the_reduced_mass() -> None:
    """A slide of 1 kg on a base of 3 kg: force over 1 x 3 / (1 + 3) kg."""
    base = (3.0, np.zeros(3), np.eye(3))
    limb = Limb("sled", kind="prismatic", mass=1.0, axis=(1, 0, 0))
    body = ArticulatedBody(base, [limb], ("sled",), False, gravity=0.0)
    still = Motion(Rotation.identity(), np.zeros(3), np.zeros(6), np.zeros(1), np.zeros(1))
    _, joints = body.accelerations(still, np.array([6.0]))
    assert joints[0] == pytest.approx(6.0 / 0.75)
