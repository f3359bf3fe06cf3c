"""Kinetic energy and momentum of a chain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.shoes.model import Chain
from segtrack.chain.shoes.state import ChainState


def kinetic_energy(chain: Chain, state: ChainState) -> float:
    """Kinetic energy of all shoes [J]."""
    shoe = chain.shoe
    return (
        float(
            shoe.mass * np.sum(state.velocities**2) + np.sum(shoe.inertia * state.angular_velocities_body**2)
        )
        / 2
    )


def linear_momentum(chain: Chain, state: ChainState) -> NDArray[np.float64]:
    """Momentum of all shoes in the world (3,) [kg m/s]."""
    return chain.shoe.mass * state.velocities.sum(axis=0)


def angular_momentum(chain: Chain, state: ChainState) -> NDArray[np.float64]:
    """Angular momentum of all shoes about the world's origin, in the world (3,) [kg m^2/s]."""
    orbital = chain.shoe.mass * np.cross(state.positions, state.velocities)
    own = np.einsum("nij,nj->ni", state.rotations, state.angular_velocities_body * chain.shoe.inertia)
    return (orbital + own).sum(axis=0)
