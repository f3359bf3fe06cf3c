import math
from dataclasses import replace

import numpy as np
import pytest
from chain_solver import (
    ChainSolver,
    angular_momentum,
    gather_loads,
    linear_momentum,
    strain_energy,
    total_energy,
    weight_energy,
)
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from scipy.special import ellipk
from tables import each_row

from segtrack.chain import Bushing, Chain, Shoe, kinetic_energy
from segtrack.chain.shoe_dynamics import allocate_work_arrays, drift, kick
from segtrack.chain.shoe_state import ChainState, state_along
from segtrack.chain.shoes import Anchor
from segtrack.chain.stability import MARGIN, check_sub_step, max_sub_step
from segtrack.engine import Bodies
from segtrack.errors import DivergedError, InvalidValueError
from segtrack.world import SettleResult
from segtrack.world.placement import settle

SHOE = Shoe.of_box(0.05, (0.038, 0.075, 0.010))  # About a PackBot's.
STIFF = Bushing(1e6, conical_stiffness=100.0)
DAMPED = Bushing(1e6, damping=20.0, conical_stiffness=100.0, conical_damping=0.02)
BENDING = Bushing(1e6, conical_stiffness=100.0, pin_stiffness=2.0)
STOPPED = Bushing(1e6, 20.0, 100.0, 0.02, 0.003, back_bend=math.radians(10), stop_stiffness=50.0)
NOWHERE = (0.0, 0.0, 0.0)
SPACE = (0.0, 0.0, 0.0)


def ring(count, pitch):
    """Hinges of a regular polygon that turns about +y, its centre in the origin."""
    angles = 2 * np.pi * np.arange(count + 1) / count
    return pitch / 2 / math.sin(math.pi / count) * np.stack([np.sin(angles), np.cos(angles)], axis=1)


def row(count, pitch):
    return np.stack([np.arange(count + 1) * pitch, np.zeros(count + 1)], axis=1)


def settle_chain(
    solver: ChainSolver, state: ChainState, tolerance: float = 1e-3, max_time: float = 60.0
) -> SettleResult:
    """Bring a chain to rest, in place; forces are measured by a shoe's weight, time stands still."""
    chain, begun = solver.chain, state.time
    masses = np.full(chain.count, chain.shoe.mass)
    result = settle(
        lambda steps, rate: solver.advance(state, steps, rate),
        lambda: Bodies(masses, state.positions.copy(), state.velocities.copy(), kinetic_energy(chain, state)),
        time_step=solver.sub_step,
        gravity=solver.gravity,
        weight=chain.shoe.mass * math.hypot(*solver.gravity),
        length=chain.count * chain.shoe.pitch,
        tolerance=tolerance,
        max_time=max_time,
    )
    state.time = begun
    return result


def shaken(state, speed=1.0, spin=20.0, moved=0.0, seed=1):
    """A state whose links move at random, and stand at random by `moved` [m] and ten times that [rad]."""
    random = np.random.default_rng(seed)
    n = len(state.positions)
    state.velocities += random.normal(scale=speed, size=(n, 3))
    state.angular_velocities_body += random.normal(scale=spin, size=(n, 3))
    state.positions += random.normal(scale=moved, size=(n, 3))
    return turned(state, 10 * random.normal(scale=moved, size=(n, 3)))


def turned(state, angles):
    """A state whose links are turned by rotation vectors (n, 3) in their own frames [rad]."""
    state.orientations[:] = (Rotation.from_quat(state.orientations) * Rotation.from_rotvec(angles)).as_quat()
    return state


def free_ring(bushing, sub_step, count=40):
    chain = Chain(count, SHOE, bushing)
    return ChainSolver(chain, sub_step, SPACE), shaken(state_along(chain, ring(count, SHOE.pitch)))


def energies(solver, state, duration, every):
    """Energy after each `every` sub-steps of a run."""
    found = [total_energy(solver, state)]
    for _ in range(round(duration / solver.sub_step / every)):
        solver.advance(state, every)
        found.append(total_energy(solver, state))
    return np.array(found)


# Shoes


def test_euler_parameters_are_read_as_scipy_reads_them():
    solver, state = free_ring(STIFF, 1e-5, count=5)
    turned(state, np.random.default_rng(0).normal(size=(5, 3)))
    expected = Rotation.from_quat(state.orientations).as_matrix()
    np.testing.assert_allclose(state.rotations, expected, atol=1e-15)
    frames = solver.frames(state)
    np.testing.assert_allclose(frames.rotations[:5], expected, atol=1e-15)
    np.testing.assert_allclose(
        frames.angular_velocities_world[:5],
        np.einsum("nij,nj->ni", expected, state.angular_velocities_body),
        atol=1e-13,
    )


def top(spin):
    """One free shoe."""
    chain = Chain(1, SHOE, STIFF, closed=False)
    return chain, ChainState(np.zeros((1, 3)), [[0.0, 0.0, 0.0, 1.0]], np.zeros((1, 3)), [spin])


def test_a_free_asymmetric_top_turns_as_eulers_equations_say():
    """About its middle axis, where it tumbles."""
    inertia = np.array(SHOE.inertia)

    def euler(_, y):
        x, y_, z, w = y[3:]
        a, b, c = y[:3]
        rates = -np.cross(y[:3], inertia * y[:3]) / inertia
        turn = [
            w * a + y_ * c - z * b,
            w * b + z * a - x * c,
            w * c + x * b - y_ * a,
            -x * a - y_ * b - z * c,
        ]
        return np.concatenate([rates, np.array(turn) / 2])

    middle = np.argsort(inertia)[1]
    spin = np.full(3, 0.05)
    spin[middle] = 20.0
    chain, state = top(spin)
    exact = solve_ivp(euler, (0, 1), np.concatenate([spin, state.orientations[0]]), rtol=1e-12, atol=1e-12)
    momentum, energy = angular_momentum(chain, state), kinetic_energy(chain, state)
    solver = ChainSolver(chain, 1e-4, SPACE)
    for _ in range(100):
        solver.advance(state, 100)
        np.testing.assert_allclose(angular_momentum(chain, state), momentum, atol=1e-12 * max(momentum))
        assert kinetic_energy(chain, state) == pytest.approx(energy, rel=1e-6)
    np.testing.assert_allclose(state.angular_velocities_body[0], exact.y[:3, -1], atol=1e-3)
    np.testing.assert_allclose(state.orientations[0], exact.y[3:, -1], atol=1e-4)


def test_the_drift_of_a_norm_is_fed_back():
    chain, state = top((1.0, 2.0, 3.0))
    state.orientations *= 1.01
    solver, errors = ChainSolver(chain, 1e-5, SPACE), []
    for _ in range(2):
        solver.advance(state)
        errors.append(np.linalg.norm(state.orientations) - 1)
    # One feedback takes an error to -3/2 of its square; a sub-step has two drifts.
    assert errors == [pytest.approx(-1.5 * (1.5 * 0.01**2) ** 2, rel=0.1), pytest.approx(0, abs=1e-15)]


# Joints


@pytest.mark.parametrize("moved", [1e-4, 0.02])
@pytest.mark.parametrize("closed", [True, False])
def test_loads_are_the_gradient_of_the_energy(moved, closed):
    """By central differences, with joints bent backwards, turned across their pins and apart."""
    law = Bushing(1e4, conical_stiffness=100.0, back_bend=0.1, stop_stiffness=50.0, pin_stiffness=30.0)
    shoe = Shoe(0.05, SHOE.inertia, (-0.02, 0.001, -0.002), (0.018, 0.003, 0.001))
    ends = {} if closed else {"start": Anchor(NOWHERE), "end": Anchor((0.2, 0, 0), (0, 0.6, 0, 0.8))}
    chain = Chain(6, shoe, law, closed, **ends)
    hinges = ring(6, shoe.pitch) if closed else row(6, shoe.pitch)
    state = shaken(state_along(chain, hinges), 0, 0, moved)
    turned(state, [[0.1, 0.3, 0.2], [0, -0.4, 0], [0, 0, 0], [0.2, 0, 0], [0, -2.0, 0], [0, 0.5, 0]])
    solver = ChainSolver(chain, 1e-5, gravity=(1.0, 2.0, 3.0))
    loads = solver.loads(state)

    def energy(state):
        return total_energy(solver, state)

    def moved_by(state, offsets):
        state = state.copy()
        state.positions += offsets
        return state

    forces, torques = loads.forces[:6].copy(), loads.torques[:6].copy()
    assert np.abs(torques).max() > 1
    for i in range(6):
        for k in range(3):
            by = np.zeros((6, 3))
            by[i, k] = 1e-6
            slope = (energy(moved_by(state, by)) - energy(moved_by(state, -by))) / 2e-6
            assert forces[i, k] == pytest.approx(-slope, rel=1e-6, abs=1e-6 * np.abs(forces).max())
            slope = (energy(turned(state.copy(), by)) - energy(turned(state.copy(), -by))) / 2e-6
            torque = torques[i] @ state.rotations[i, :, k]
            assert torque == pytest.approx(-slope, rel=1e-6, abs=1e-6 * np.abs(torques).max())


@pytest.mark.parametrize("bushing", [STIFF, DAMPED, STOPPED, BENDING])
def test_joints_push_and_turn_equally_and_oppositely(bushing):
    solver, _ = free_ring(bushing, 1e-5)
    state = shaken(state_along(solver.chain, ring(40, SHOE.pitch)), moved=0.01)
    loads = solver.loads(state)
    forces, torques = loads.forces[:40], loads.torques[:40] + np.cross(state.positions, loads.forces[:40])
    np.testing.assert_allclose(forces.sum(axis=0), 0, atol=1e-13 * np.abs(forces).sum())
    np.testing.assert_allclose(torques.sum(axis=0), 0, atol=1e-13 * np.abs(torques).sum())


def test_damping_feels_no_motion_of_the_chain_as_a_whole():
    solver, _ = free_ring(DAMPED, 1e-5)
    state = shaken(state_along(solver.chain, ring(40, SHOE.pitch)), 0, 0, moved=0.01)
    at_rest = solver.loads(state).forces.copy()
    spin = np.array([3.0, 4.0, 5.0])
    state.angular_velocities_body[:] = np.einsum("nji,j->ni", state.rotations, spin)
    state.velocities[:] = np.cross(spin, state.positions) + (1.0, 2.0, 3.0)
    np.testing.assert_allclose(solver.loads(state).forces, at_rest, atol=1e-12 * np.abs(at_rest).max())


def test_damping_takes_power_from_every_motion():
    """Against the same chain at rest, whose loads are those of its stiffness alone."""
    for seed in range(20):
        solver, _ = free_ring(STOPPED, 1e-5)
        still = shaken(state_along(solver.chain, ring(40, SHOE.pitch)), 0, 0, 0.003, seed)
        moving = shaken(still.copy(), seed=seed)
        velocities, spins = (array[:40].copy() for array in solver.frames(moving)[2:])

        def power(state, solver=solver, velocities=velocities, spins=spins):
            loads = solver.loads(state)
            return np.sum(loads.forces[:40] * velocities) + np.sum(loads.torques[:40] * spins)

        assert power(moving) < power(still)


def test_a_pin_is_free():
    """However far a joint is turned about it, no torque acts, and nothing is strained."""
    chain = Chain(2, SHOE, STIFF, closed=False)
    solver = ChainSolver(chain, 1e-5, SPACE)
    for turn in np.linspace(-3, 3, 7):
        bent = np.array([[0, 0], [1, 0], [1 + math.cos(turn), -math.sin(turn)]]) * SHOE.pitch
        state = state_along(chain, bent)
        assert strain_energy(solver, state) == pytest.approx(0, abs=1e-20)
        assert np.abs(solver.loads(state).torques).max() < 1e-10


def test_a_joint_that_bends_bears_a_moment_in_proportion_to_its_angle():
    chain = Chain(2, SHOE, replace(BENDING, pin_damping=0.1), closed=False)
    solver = ChainSolver(chain, 1e-5, SPACE)
    for turn in np.linspace(-3, 3, 7):
        bent = np.array([[0, 0], [1, 0], [1 + math.cos(turn), -math.sin(turn)]]) * SHOE.pitch
        state = state_along(chain, bent)
        assert strain_energy(solver, state) == pytest.approx(turn**2)
        state.angular_velocities_body[1, 1] = 3.0
        state.velocities[1] = np.cross((0, 3.0, 0), state.positions[1] - (SHOE.pitch, 0, 0))
        np.testing.assert_allclose(solver.loads(state).torques[1], (0, -2.0 * turn - 0.3, 0), atol=1e-9)


def test_two_shoes_on_a_bending_pin_swing_at_the_root_of_two_stiffnesses_over_inertia():
    """Their centres stay where they are: I phi'' = -k 2 phi. Half a period later they are bent backwards."""
    chain = Chain(2, SHOE, BENDING, closed=False)
    half_period = math.pi / math.sqrt(2 * 2.0 / SHOE.inertia[1])
    solver, count = ChainSolver(chain, half_period / 400, SPACE), 400
    state, turn = state_along(chain, row(2, SHOE.pitch)), 0.01
    turned(state, [[0, -turn, 0], [0, turn, 0]])
    half = SHOE.pitch / 2
    state.positions[:, 0] = [-half * math.cos(turn), half * math.cos(turn)]
    energy = total_energy(solver, state)
    solver.advance(state, count)
    np.testing.assert_allclose(2 * state.orientations[:, 1], [turn, -turn], rtol=0.01)
    assert total_energy(solver, state) == pytest.approx(energy, rel=0.01)


def test_shoes_that_meet_hold_a_link_up():
    """Pushed upwards, an anchored link bends backwards until m g p/2 cos(b) = K (b - back_bend)."""
    chain = Chain(1, SHOE, STOPPED, closed=False, start=Anchor(NOWHERE))
    solver = ChainSolver(chain, 2e-5, (0, 0, 981.0))
    state = state_along(chain, row(1, SHOE.pitch))
    assert settle_chain(solver, state, tolerance=1e-4).converged
    moment = SHOE.mass * 981.0 * SHOE.pitch / 2
    expected = brentq(lambda b: moment * math.cos(b) - 50.0 * (b - math.radians(10)), 0, 1)
    along = state.rotations[0, :, 0]
    assert expected > math.radians(10.8)
    assert math.atan2(along[2], along[0]) == pytest.approx(expected, rel=1e-4)


# Chains that move


@pytest.mark.parametrize("bushing", [STIFF, DAMPED, STOPPED])
def test_a_free_chain_keeps_its_momenta(bushing):
    """For 1 s; over the sum of all links' momenta, and of their momenta times the ring's radius."""
    solver, state = free_ring(bushing, 5e-5)
    scale = SHOE.mass * np.linalg.norm(state.velocities, axis=1).sum()
    radius = np.linalg.norm(state.positions[0])
    linear, angular = linear_momentum(solver.chain, state), angular_momentum(solver.chain, state)
    for _ in range(20):
        solver.advance(state, 1000)
        np.testing.assert_allclose(linear_momentum(solver.chain, state), linear, atol=1e-12 * scale)
        np.testing.assert_allclose(
            angular_momentum(solver.chain, state), angular, atol=1e-12 * scale * radius
        )
        norms = np.linalg.norm(state.orientations, axis=1)
        np.testing.assert_allclose(norms, 1, atol=1e-15)


def test_energy_never_grows_with_damping():
    solver, state = free_ring(DAMPED, 1e-4)
    found = energies(solver, state, 0.1, every=1)
    assert (np.diff(found) <= 0).all()
    assert found[-1] < 0.3 * found[0]
    solver.advance(state, 9000)
    assert total_energy(solver, state) <= found[-1]


def test_energy_drifts_as_the_square_of_the_sub_step_without_damping():
    drifts = []
    for sub_step in (5e-5, 2.5e-5, 1.25e-5):
        found = energies(*free_ring(STIFF, sub_step), 1.0, every=round(0.005 / sub_step))
        drifts.append(np.abs(found - found[0]).max() / found[0])
    assert drifts[0] < 0.03
    assert drifts[0] / drifts[1] == pytest.approx(4, rel=0.15)
    assert drifts[1] / drifts[2] == pytest.approx(4, rel=0.15)


@pytest.mark.parametrize("speed", [1.0, 5.0])
def test_a_spinning_loop_is_under_tension(speed):
    """(m/p) v^2, over cos(pi/n) for a polygon whose links' middles move at v."""
    chain = Chain(40, SHOE, Bushing(1e6, 60.0, 100.0, 0.02))
    solver = ChainSolver(chain, 5e-5, SPACE)
    state = state_along(chain, ring(40, SHOE.pitch))
    rate = np.array([0, speed / np.linalg.norm(state.positions[0]), 0])
    state.angular_velocities_body[:] = rate
    state.velocities[:] = np.cross(rate, state.positions)
    solver.advance(state, 20_000)
    settled = np.linalg.norm(state.velocities, axis=1)
    tension = SHOE.mass / SHOE.pitch * settled**2
    np.testing.assert_allclose(settled, speed, rtol=2e-3)
    np.testing.assert_allclose(solver.tension(state), tension, rtol=0.02)
    np.testing.assert_allclose(solver.tension(state), tension / math.cos(math.pi / 40), rtol=0.005)


def test_a_link_swings_as_long_as_a_pendulum():
    """From 90 deg; the period of a rigid pendulum by its elliptic integral."""
    chain = Chain(1, SHOE, STIFF, closed=False, start=Anchor(NOWHERE))
    solver = ChainSolver(chain, 1e-4)
    state = state_along(chain, row(1, SHOE.pitch))
    lever = SHOE.pitch / 2
    slow = math.sqrt((SHOE.inertia[1] + SHOE.mass * lever**2) / (SHOE.mass * 9.81 * lever))
    period = 4 * slow * ellipk(math.sin(math.pi / 4) ** 2)
    spins = []
    for _ in range(round(2.2 * period / solver.sub_step)):
        solver.advance(state)
        spins.append(state.angular_velocities_body[0, 1])
    spins = np.array(spins)
    back = np.flatnonzero((spins[:-1] < 0) & (spins[1:] >= 0))
    share = -spins[back] / (spins[back + 1] - spins[back])
    returns = (back + 1 + share) * solver.sub_step
    np.testing.assert_allclose(returns, period * np.array([1, 2]), rtol=1e-3)


def test_a_force_added_between_the_stages_acts_like_weight():
    """What the stages do one by one, with the weight as somebody else's force, is what the solver does."""
    solver, state = free_ring(DAMPED, 1e-4)
    falling, chain = state.copy(), solver.chain
    ChainSolver(chain, 1e-4).advance(falling, 50)
    frames, loads = allocate_work_arrays(chain)
    motion = state.arrays
    drift(motion, frames, chain.constants, 0.5e-4)
    for step in range(50):
        gather_loads(chain.joints, frames, loads, chain.constants, SPACE)
        loads.forces[:40] += (0, 0, -9.81 * SHOE.mass)
        kick(motion, frames, loads, chain.constants, 1e-4, 1.0)
        drift(motion, frames, chain.constants, 1e-4 if step < 49 else 0.5e-4)
    np.testing.assert_allclose(state.velocities, falling.velocities, atol=1e-9)


def test_left_and_right_mirror():
    solver, right = free_ring(STOPPED, 5e-5)
    left = right.copy()
    for array, signs in (
        (left.positions, (1, -1, 1)),
        (left.orientations, (-1, 1, -1, 1)),
        (left.velocities, (1, -1, 1)),
        (left.angular_velocities_body, (-1, 1, -1)),
    ):
        array *= signs
    solver.advance(right, 200)
    solver.advance(left, 200)
    np.testing.assert_allclose(left.positions, right.positions * (1, -1, 1), atol=1e-12)


def test_the_same_state_moves_the_same_to_the_bit():
    solver, state = free_ring(STOPPED, 1e-5)
    solver.advance(state, 100)
    again = state.copy()
    solver.advance(state, 100)
    solver.tension(state)
    ChainSolver(solver.chain, 1e-5, SPACE).advance(again, 100)
    for name in ("positions", "orientations", "velocities", "angular_velocities_body", "time"):
        assert np.array_equal(getattr(state, name), getattr(again, name))


def test_a_diverged_chain_names_the_link_and_the_time():
    solver, state = free_ring(STIFF, 1e-5)
    state.positions[3, 1] = math.nan
    state.velocities[1, 2] = math.nan
    with pytest.raises(DivergedError) as error:
        solver.advance(state, 100)
    assert str(error.value) == "simulation diverged: shoe 0 at t = 0.0010 s: its position is not finite"


# Chains at rest


@pytest.mark.parametrize("slack", [0.5, 0.7, 0.95])
def test_a_hung_chain_is_a_catenary(slack):
    """Between two points; sag and tension in closed form."""
    count, pitch = 50, SHOE.pitch
    length, span = count * pitch, slack * count * pitch
    parameter = brentq(lambda a: 2 * a * math.sinh(span / 2 / a) - length, span / 20, 50 * span)
    sag = parameter * (math.cosh(span / 2 / parameter) - 1)
    chain = Chain(count, SHOE, DAMPED, False, Anchor(NOWHERE), Anchor((span, 0, 0)))
    solver = ChainSolver(chain, 1e-4)
    steps = np.arange(count + 1) * pitch
    tent = np.stack([steps * slack, -np.minimum(steps, length - steps) * math.sqrt(1 - slack**2)], axis=1)
    state = state_along(chain, tent)
    assert settle_chain(solver, state).converged
    lowest = (state.positions + state.rotations @ SHOE.pin_position)[:, 2].min()
    assert -lowest == pytest.approx(sag, rel=0.01)
    line_weight = SHOE.mass / pitch * 9.81
    tension = solver.tension(state)
    assert tension.min() == pytest.approx(line_weight * parameter, rel=0.01)
    assert tension[0] == pytest.approx(line_weight * (parameter + sag), rel=0.01)
    np.testing.assert_allclose(tension, tension[::-1], rtol=1e-3)
    pulls = solver.loads(state).forces[count:]  # On the two anchors.
    weight = count * SHOE.mass * 9.81
    np.testing.assert_allclose(pulls[:, 2], -weight / 2, rtol=1e-3)
    np.testing.assert_allclose(pulls[:, 0], [tension.min(), -tension.min()], rtol=2e-3)


@pytest.mark.parametrize(
    "angles", [5.0 + np.arange(50), [90.0], [179.0]], ids=["chain of 50", "pendulum", "pendulum upside down"]
)
def test_energy_drainage_leaves_a_chain_hanging_straight(angles):
    """From the angles to the vertical [deg] in Omar's examples, and from nearly upright."""
    shoe = Shoe.of_box(1.0, (0.1, 0.02, 0.02))
    chain = Chain(len(angles), shoe, Bushing(1e6, 50.0, 100.0, 0.02), False, start=Anchor(NOWHERE))
    solver = ChainSolver(chain, 0.99 * max_sub_step(chain))
    steps = 0.1 * np.stack([np.sin(np.radians(angles)), -np.cos(np.radians(angles))], axis=1)
    state = state_along(chain, np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)]))
    before = weight_energy(solver, state)
    rest = settle_chain(solver, state)
    drained = before - weight_energy(solver, state)
    along = state.rotations[:, :, 0]
    tilt = np.degrees(np.arctan2(np.hypot(along[:, 0], along[:, 1]), -along[:, 2]))
    assert rest.converged and state.time == 0
    assert tilt.max() < 0.1
    assert rest.kinetic_energy == kinetic_energy(chain, state) < 1e-6 * 9.81 * 0.1 * len(angles)
    assert rest.dissipated_energy == pytest.approx(drained, rel=1e-3)
    assert rest.max_residual_force < 1e-3 * 9.81


def test_a_chain_that_has_no_time_to_settle_says_how_far_it_is():
    solver, _ = free_ring(DAMPED, 1e-4)
    state = state_along(solver.chain, ring(40, SHOE.pitch))
    rest = settle_chain(ChainSolver(solver.chain, 1e-4), state, max_time=0.05)
    assert not rest.converged and 0.05 <= rest.time < 0.1
    assert rest.max_residual_force == pytest.approx(9.81 * SHOE.mass, rel=0.06)  # A ring falls freely,
    assert rest.kinetic_energy > 0.5 * 40 * SHOE.mass * 0.4**2  # and fast.


# Sub-steps


def slopes(solver, state):
    """Stiffness, damping (6n, 6n) about a state, by central differences, and masses (6n,)."""
    n = len(state.positions)

    def loads(offset, rate):
        moved = state.copy()
        moved.positions += offset.reshape(n, 6)[:, :3]
        moved.velocities += rate.reshape(n, 6)[:, :3]
        moved.angular_velocities_body += rate.reshape(n, 6)[:, 3:]
        turned(moved, offset.reshape(n, 6)[:, 3:])
        found = solver.loads(moved)
        torques = np.einsum("nji,nj->ni", moved.rotations, found.torques[:n])
        return np.hstack([found.forces[:n], torques]).ravel()

    zero, basis = np.zeros(6 * n), np.eye(6 * n)
    stiffness = [(loads(-1e-7 * e, zero) - loads(1e-7 * e, zero)) / 2e-7 for e in basis]
    damping = [(loads(zero, -1e-3 * e) - loads(zero, 1e-3 * e)) / 2e-3 for e in basis]
    masses = np.tile([SHOE.mass] * 3 + list(SHOE.inertia), n)
    return np.array(stiffness).T, np.array(damping).T, masses


def growth(stiffness, damping, masses, sub_step):
    """Largest factor by which one sub-step lets a small motion grow."""
    one = np.eye(len(masses))
    kept = one - sub_step * damping / masses[:, None]
    pull = sub_step * stiffness / masses[:, None]
    step = np.block([[one - sub_step * pull, sub_step * kept], [-pull, kept]])
    return np.abs(np.linalg.eigvals(step)).max()


@pytest.mark.parametrize(
    "bushing",
    [
        pytest.param(STIFF, id="stiff", marks=pytest.mark.slow),
        pytest.param(DAMPED, id="damped"),
        pytest.param(Bushing(1e6, 200.0), id="much damped", marks=pytest.mark.slow),
        pytest.param(Bushing(1e5, 20.0, 1e3, 0.3), id="stiff across"),
    ],
)
def test_the_largest_sub_step_is_where_a_chain_becomes_unstable(bushing):
    """By the eigenvalues of a sub-step of the whole chain: safe for any shape, sharp for a straight one."""
    count = 10
    chain = Chain(count, SHOE, bushing)
    bound = max_sub_step(chain) / MARGIN
    solver = ChainSolver(chain, 1e-6, SPACE)
    bent = slopes(solver, state_along(chain, ring(count, SHOE.pitch)))
    assert growth(*bent, 0.999 * bound) < 1 + 1e-4
    chain = Chain(count, SHOE, bushing, closed=False)
    solver = ChainSolver(chain, 1e-6, SPACE)
    straight = slopes(solver, state_along(chain, row(count, SHOE.pitch)))
    assert growth(*straight, 0.999 * bound) < 1 + 1e-4
    assert growth(*straight, 1.03 * bound) > 1.01


def test_the_sub_step_bears_joints_that_bend():
    """By 36 degrees, in a ring. One that bends less easily than it turns out of its axes flips."""
    bushing = Bushing(1e6, 20.0, 100.0, 0.02, 0.003, pin_stiffness=100.0)
    chain = Chain(10, SHOE, bushing)
    solver, bound = ChainSolver(chain, 1e-6, SPACE), max_sub_step(chain) / MARGIN
    assert bound < max_sub_step(replace(chain, bushing=replace(bushing, pin_stiffness=0.0))) / MARGIN
    assert growth(*slopes(solver, state_along(chain, ring(10, SHOE.pitch))), 0.999 * bound) < 1 + 1e-4


def test_the_fastest_mode_is_that_of_pitching_shoes():
    """2 / (p sqrt(K / I_y)), and with pins and stops only what they add about y."""
    shoe = SHOE
    fastest = shoe.pitch * math.sqrt(1e6 / shoe.inertia[1])
    assert max_sub_step(Chain(40, shoe, STIFF)) == pytest.approx(MARGIN * 2 / fastest, rel=1e-9)
    stopped = Chain(40, shoe, Bushing(1e6, back_bend=0.1, stop_stiffness=500.0))
    fastest = math.sqrt((1e6 * shoe.pitch**2 + 4 * 500.0) / shoe.inertia[1])
    assert max_sub_step(stopped) == pytest.approx(MARGIN * 2 / fastest, rel=1e-9)


def test_pins_and_stops_that_damp_shorten_the_sub_step_together():
    """4 I - 2 h C - h^2 K is 0 about y, each joint of a shoe counted twice."""
    bushing = Bushing(1e6, pin_damping=0.05, back_bend=0.1, stop_stiffness=500.0, stop_damping=0.1)
    inertia, stiffness = SHOE.inertia[1], 1e6 * SHOE.pitch**2 + 4 * 500.0
    damping = 4 * (0.05 + 0.1)
    largest = brentq(lambda h: 4 * inertia - 2 * h * damping - h**2 * stiffness, 0.0, 1.0, xtol=1e-16)
    assert max_sub_step(Chain(40, SHOE, bushing)) == pytest.approx(MARGIN * largest, rel=1e-9)


def test_a_chain_at_its_largest_sub_step_stays_whole():
    """Although one of its links is hit."""
    chain = Chain(40, SHOE, DAMPED)
    solver, state = free_ring(DAMPED, max_sub_step(chain))
    state.velocities[0] += 20.0
    found = energies(solver, state, 1.0, every=100)
    assert (found[1:] < found[0]).all()


def test_a_sub_step_that_is_too_large_is_refused():
    chain = Chain(40, SHOE, DAMPED)
    with pytest.raises(InvalidValueError) as error:
        ChainSolver(chain, 2e-4)
    assert str(error.value) == (
        "sub-step of a chain must be above 0 and at most 0.000109 s, for its stiffness and "
        "damping, got 0.0002"
    )
    check_sub_step(0.000109, max_sub_step(chain))


# Bad input


@each_row(
    "make, message",
    [
        (lambda: Shoe.of_box(0.0, (1, 1, 1)), "mass of a shoe must be greater than 0, got 0.0"),
        (
            lambda: Shoe(1.0, (1, 1, 3), (0, 0, 0), (1, 0, 0)),
            "inertia of a shoe must be three positive moments, none of them above the sum of the others, "
            "got (1.0, 1.0, 3.0)",
        ),
        (
            lambda: Shoe(1.0, (1, 1, 1), (1, 0, 0), (1, 0, 0)),
            "pin_position of a shoe must be apart from its bushing_position, got (1.0, 0.0, 0.0)",
        ),
        (lambda: Bushing(0.0), "stiffness of a bushing must be greater than 0, got 0.0"),
        (lambda: Bushing(1e6, -1.0), "damping of a bushing must be at least 0, got -1.0"),
        (lambda: Bushing(1e6, back_bend=4.0), "back_bend of a bushing must be in (0, pi], got 4.0"),
        (lambda: Bushing(math.inf), "stiffness of a bushing must be a finite number, got inf"),
        (
            lambda: Anchor(NOWHERE, (0, 0, 0, 2)),
            "orientation of an anchor must be a quaternion with norm 1, got (0.0, 0.0, 0.0, 2.0)",
        ),
        (lambda: Chain(2, SHOE, STIFF), "count of a chain must be at least 3, or 1 if it is open, got 2"),
        (
            lambda: Chain(3, SHOE, STIFF, start=Anchor(NOWHERE)),
            "anchors of a chain must be left out where it is closed, got one at its start",
        ),
        (
            lambda: state_along(Chain(3, SHOE, STIFF), ring(4, 0.04)),
            "hinges of a chain must be of shape (4, 2), got (5, 2)",
        ),
        (
            lambda: ChainState(np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 3))),
            "orientations of a chain must be of shape (2, 4), got (2, 3)",
        ),
        (
            lambda: ChainSolver(Chain(4, SHOE, STIFF), 1e-5).advance(free_ring(STIFF, 1e-5)[1]),
            "state must be of a chain of 4 shoes, got one of 40",
        ),
    ],
)
def test_bad_values_are_refused(make, message):
    with pytest.raises(InvalidValueError) as error:
        make()
    assert str(error.value) == message


@pytest.mark.parametrize(("spin", "drift_of_energy"), [(20.0, 2e-6), (100.0, 2e-3)])
def test_free_shoes_keep_momentum_and_nearly_their_energy(spin, drift_of_energy):
    """Over 10 s in drifts of 0.1 ms, spinning about all axes at once [rad/s]."""
    inertia = np.array([2.0, 3.5, 4.9]) * 1e-5
    chain = Chain(20, Shoe(0.05, tuple(inertia), (-0.02, 0.0, 0.0), (0.02, 0.0, 0.0)), Bushing(1e4), True)
    state, (frames, _) = state_along(chain, ring(20, 0.04)), allocate_work_arrays(chain)
    state.angular_velocities_body[:] = np.random.default_rng(1).normal(0.0, spin, (20, 3))

    def momenta_and_energies():
        momenta = inertia * state.angular_velocities_body
        in_world = Rotation.from_quat(state.orientations).apply(momenta)
        return in_world, np.sum(momenta * state.angular_velocities_body, axis=1)

    momenta, before = momenta_and_energies()
    for _ in range(100_000):
        drift(state.arrays, frames, chain.constants, 1e-4)
    after = momenta_and_energies()
    np.testing.assert_allclose(after[0], momenta, atol=1e-9 * np.abs(momenta).max())
    np.testing.assert_allclose(after[1], before, rtol=drift_of_energy)
