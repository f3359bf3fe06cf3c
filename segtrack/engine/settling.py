"""Dynamic relaxation of bodies to rest."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Bodies(NamedTuple):
    """Rigid bodies in motion.

    Attributes:
        masses: (n,) [kg].
        positions: Centres of mass in the world (n, 3) [m].
        velocities: Velocities of the centres of mass in the world (n, 3) [m/s].
        kinetic_energy: Translation and rotation, of all bodies [J].
    """

    masses: NDArray[np.float64]
    positions: NDArray[np.float64]
    velocities: NDArray[np.float64]
    kinetic_energy: float


@dataclass(frozen=True)
class SettleResult:
    """Result of bringing bodies to rest, and how far from equilibrium they stopped.

    Attributes:
        converged: True if forces and kinetic energy are within the tolerance.
        time: Simulated settling time [s].
        kinetic_energy: Residual [J].
        dissipated_energy: Kinetic energy and that of weight dissipated [J].
        max_residual_force: Largest unbalanced force on a body [N].
    """

    converged: bool
    time: float
    kinetic_energy: float
    dissipated_energy: float
    max_residual_force: float


def relaxation_rate(gravity: float, length: float) -> float:
    """Damping rate [1/s] that suits any motion under gravity: sqrt(4 g / length).

    The slowest motion, a chain swinging from one end, has the frequency 1.2 sqrt(g / length) and
    is then nearly critically damped. Everything faster decays at half the rate.

    Args:
        gravity: Magnitude [m/s^2], > 0.
        length: Largest extent of what moves [m], > 0.
    """
    return math.sqrt(4 * gravity / length)


def settle(
    advance: Callable[[int, float], object],
    measure: Callable[[], Bodies],
    *,
    time_step: float,
    gravity: Sequence[float],
    weight: float,
    length: float,
    tolerance: float,
    max_time: float,
) -> SettleResult:
    """Let bodies come to rest.

    Args:
        advance: Takes a number of steps, given a damping rate [1/s].
        measure: Returns the bodies after the latest step.
        time_step: Duration of a step [s].
        gravity: Gravity in the world (3,) [m/s^2], not zero.
        weight: Reference for forces [N].
        length: Largest extent of what moves [m].
        tolerance: Bound for rest, where no body has an unbalanced force above this fraction of `weight`, and
            kinetic energy is at most `weight` times `length` times the fraction squared.
        max_time: Simulated time after which to give up [s].

    Returns:
        Convergence flag, energies and residual force.
    """
    down = np.asarray(gravity, dtype=float)
    rate = relaxation_rate(float(np.linalg.norm(down)), length)
    count = max(1, math.ceil(0.1 / rate / time_step))
    window, spent = count * time_step, 0.0
    before = measure()
    begin = _energy(before, down)
    while True:
        advance(count, rate)
        spent += window
        now = measure()
        # What the damping takes away is what keeps a body from speeding up.
        gained = (now.velocities - before.velocities) / window + rate * now.velocities
        force = float(np.max(now.masses * np.linalg.norm(gained, axis=1)))
        converged = force <= tolerance * weight and now.kinetic_energy <= tolerance**2 * weight * length
        if converged or spent >= max_time:
            dissipated = begin - _energy(now, down)
            return SettleResult(bool(converged), spent, now.kinetic_energy, dissipated, force)
        before = now


def _energy(bodies: Bodies, gravity: NDArray[np.float64]) -> float:
    """Kinetic energy and that of weight [J]."""
    return bodies.kinetic_energy - float(bodies.masses @ (bodies.positions @ gravity))
