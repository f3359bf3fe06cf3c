"""The largest sub-step that keeps a chain stable.

Shoes whose masses M are joined by stiffness K and damping C, all matrices over all shoes, are
advanced stably by sub-steps h as long as 4 M - 2 h C - h^2 K is positive definite: the damping
acts on the velocity before the kick, which costs the term in C. A joint's strain is at most
the sum of its two shoes' displacements at it, so its energy is at most twice that of each of them alone
against a wall. K and C are thus bounded by matrices of single shoes, and so is h, whatever
shape the chain has; for a straight chain of equal shoes the bound is what its fastest
mode has. That is for a small robot the mode in which all shoes pitch alike:
2 / h = pitch * sqrt(K / I_y) without damping.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.shoes import Chain
from segtrack.errors import InvalidValueError

MARGIN = 0.95
"""Fraction of the bound that is allowed: tension stiffens a chain too, by tension / (stiffness * pitch)."""


def joint_bounds(chain: Chain) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bounds of the joints of one shoe, over its displacement and its rotation in its own frame.

    Returns:
        Stiffness (6, 6) [N/m, N, N m/rad] and damping (6, 6) [N s/m, N s, N m s/rad].
    """
    bushing, stops = chain.bushing, chain.bushing.back_bend < math.pi
    about_pin = bushing.pin_damping + stops * bushing.stop_damping
    stiffness = np.diag(
        [0, 0, 0, bushing.conical_stiffness, stops * bushing.stop_stiffness, bushing.conical_stiffness]
    )
    damping = np.diag([0, 0, 0, bushing.conical_damping, about_pin, bushing.conical_damping])
    stiffness, damping = 2.0 * stiffness, 2.0 * damping  # A shoe has two joints.
    for x, y, z in (chain.shoe.bushing_position, chain.shoe.pin_position):
        motion = np.hstack([np.eye(3), [[0, z, -y], [-z, 0, x], [y, -x, 0]]])  # Of the joint.
        stiffness += bushing.stiffness * motion.T @ motion
        damping += bushing.damping * motion.T @ motion
    return 2 * stiffness, 2 * damping


def max_stable_sub_step(
    masses: NDArray[np.float64], stiffness: NDArray[np.float64], damping: NDArray[np.float64]
) -> float:
    """The largest sub-step [s] at which a body of `masses` (k,) is stable under bounds (k, k).

    With s = 1 / h the bound is the largest s at which 4 M s^2 - 2 s C - K is singular.
    """
    root, size = np.sqrt(masses), len(masses)
    stiffness, damping = stiffness / np.outer(root, root), damping / np.outer(root, root)
    companion = np.block([[damping / 2, stiffness / 4], [np.eye(size), np.zeros((size, size))]])
    return 1 / float(np.linalg.eigvals(companion).real.max())


def is_stable(
    sub_step: float,
    masses: NDArray[np.float64],
    stiffness: NDArray[np.float64],
    damping: NDArray[np.float64],
) -> bool:
    """Return whether a body of `masses` (k,) is stable at a sub-step [s] under bounds (k, k)."""
    left = 4 * np.diag(masses) - 2 * sub_step * damping - sub_step**2 * stiffness
    return bool(np.linalg.eigvalsh(left / np.sqrt(np.outer(masses, masses)))[0] > 0)


def max_sub_step(chain: Chain) -> float:
    """The largest sub-step [s] at which a chain alone is stable, less `MARGIN`."""
    masses = np.array([chain.shoe.mass] * 3 + list(chain.shoe.inertia))
    return MARGIN * max_stable_sub_step(masses, *joint_bounds(chain))


def rounded_down(step: float) -> float:
    """Largest number of three digits that is not above a step > 0 [s]."""
    digits = 2 - math.floor(math.log10(step))
    return math.floor(step * 10**digits) / 10**digits


def check_sub_step(sub_step: float, largest: float, what: str = "sub-step of a chain") -> None:
    """Refuse a sub-step [s] that is larger than the largest stable one [s]; `what` is its name.

    Raises:
        InvalidValueError: It is, or it is not positive.
    """
    if not 0 < sub_step <= largest:
        expected = f"above 0 and at most {rounded_down(largest):.3g} s, for its stiffness and damping"
        raise InvalidValueError(what, expected, sub_step)
