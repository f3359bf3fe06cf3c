"""Rest by energy drainage (Omar, Static Analysis of Large-Scale Multibody Systems, 2014).

A chain moves under its loads while a damping that is not physical takes its speed away: after
the accelerations are solved for, a term proportional to velocity is subtracted, a <- a - rate v.
Unlike damping in the joints it acts on every motion, swinging as a whole included. Here that
term is integrated exactly, as a decay of velocities, so no rate makes it unstable.

The paper stops at a target of the kinetic energy. That alone is also met where a motion turns
back, so here the loads have to balance too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from segtrack.chain.shoes.measures import kinetic_energy
from segtrack.chain.shoes.solver import ChainSolver, total_energy
from segtrack.chain.shoes.state import ChainState
from segtrack.errors import InvalidValueError


@dataclass(frozen=True)
class Rest:
    """How a chain came to rest, and how far from equilibrium it stopped.

    Attributes:
        reached: Whether everything is within the tolerance.
        time: That it took, drained [s].
        kinetic_energy: Left [J].
        drained_energy: Kinetic and potential, taken away [J].
        force: The largest that is not balanced, on any link [N].
        torque: The largest that is not balanced, about any link's centre of mass [N m].
    """

    reached: bool
    time: float
    kinetic_energy: float
    drained_energy: float
    force: float
    torque: float


def drainage_rate(solver: ChainSolver) -> float:
    """A rate [1/s] that suits any motion of a chain under gravity: sqrt(4 g / length).

    The slowest motion, a chain swinging from one end, has the frequency 1.2 sqrt(g / length) and
    is then nearly critically damped. Everything faster decays at half the rate.
    """
    return math.sqrt(4 * math.hypot(*solver.gravity) / (solver.chain.count * solver.chain.shoe.pitch))


def settle(
    solver: ChainSolver,
    state: ChainState,
    tolerance: float = 1e-3,
    longest: float = 60.0,
    rate: float | None = None,
) -> Rest:
    """Bring a chain to rest under gravity, in place; the state's time stands still.

    Args:
        solver: Its gravity must not be zero.
        state: Where it starts.
        tolerance: At rest no link has an unbalanced force above this share of its weight, or torque
            above this share of weight times pitch, and the kinetic energy is at most the share's
            square of the drained energy.
        longest: Time after which to give up [s].
        rate: Of the drainage [1/s], see `drainage_rate`.

    Raises:
        InvalidValueError: There is no gravity.
        DivergedError: A link is no longer at a finite place.
    """
    weight = solver.chain.shoe.mass * math.hypot(*solver.gravity)
    if weight == 0:
        raise InvalidValueError("gravity of a chain that settles", "other than zero", solver.gravity)
    if rate is None:
        rate = drainage_rate(solver)
    begun, energy = state.time, total_energy(solver, state)
    count = math.ceil(0.1 / rate / solver.sub_step)
    while True:
        rest = _measure(solver, state, energy, state.time - begun, weight, tolerance)
        if rest.reached or rest.time >= longest:
            state.time = begun
            return rest
        solver.advance(state, count, rate)


def _measure(
    solver: ChainSolver, state: ChainState, energy: float, time: float, weight: float, tolerance: float
) -> Rest:
    loads, n = solver.loads(state), solver.chain.count
    force = float(np.linalg.norm(loads.forces[:n], axis=1).max())
    torque = float(np.linalg.norm(loads.torques[:n], axis=1).max())
    kinetic = kinetic_energy(solver.chain, state)
    drained = energy - total_energy(solver, state)
    lever = weight * solver.chain.shoe.pitch
    reached = (
        force <= tolerance * weight
        and torque <= tolerance * lever
        and kinetic <= tolerance**2 * max(drained, tolerance * lever)
    )
    return Rest(reached, time, kinetic, drained, force, torque)
