"""Energy and momentum of a chain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.model import Chain
from segtrack.chain.solver import ChainSolver
from segtrack.chain.state import ChainState


def kinetic_energy(chain: Chain, state: ChainState) -> float:
    """Of all links [J]."""
    shoe = chain.shoe
    return float(shoe.mass * np.sum(state.velocities**2) + np.sum(shoe.inertia * state.spins**2)) / 2


def strain_energy(solver: ChainSolver, state: ChainState) -> float:
    """Potential energy of all joints [J], of which `add_bushings` applies the negative gradient."""
    chain, bushing = solver.chain, solver.chain.bushing
    frames, (i, j) = solver.frames(state), chain.joints
    pins = frames.positions[i] + frames.rotations[i] @ chain.shoe.front
    bushings = frames.positions[j] + frames.rotations[j] @ chain.shoe.rear
    between = np.einsum("mka,mkb->mab", frames.rotations[i], frames.rotations[j])
    turns = np.arctan2(-between[:, 2, 0], between[:, 0, 0])
    beyond = np.maximum(0.0, -turns - bushing.back_bend)
    energies = (
        bushing.stiffness / 2 * np.sum((bushings - pins) ** 2, axis=1)
        + bushing.cross_stiffness * (1 - between[:, 1, 1])
        + bushing.stop_stiffness / 2 * beyond**2
    )
    return float(energies.sum())


def weight_energy(solver: ChainSolver, state: ChainState) -> float:
    """Potential energy of all links' weight, over the world's origin [J]."""
    return float(-solver.chain.shoe.mass * np.sum(state.positions @ solver.gravity))


def total_energy(solver: ChainSolver, state: ChainState) -> float:
    """Kinetic energy, and potential energy of joints and weight [J]."""
    return kinetic_energy(solver.chain, state) + strain_energy(solver, state) + weight_energy(solver, state)


def linear_momentum(chain: Chain, state: ChainState) -> NDArray[np.float64]:
    """Of all links, in the world (3,) [kg m/s]."""
    return chain.shoe.mass * state.velocities.sum(axis=0)


def angular_momentum(chain: Chain, state: ChainState) -> NDArray[np.float64]:
    """Of all links about the world's origin, in the world (3,) [kg m^2/s]."""
    orbital = chain.shoe.mass * np.cross(state.positions, state.velocities)
    own = np.einsum("nij,nj->ni", state.rotations, state.spins * chain.shoe.inertia)
    return (orbital + own).sum(axis=0)
