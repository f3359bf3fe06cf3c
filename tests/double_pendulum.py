"""A double pendulum of rods by its closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jointed_vehicles import Limb
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

GRAVITY = 9.81


@dataclass(frozen=True)
class DoublePendulum:
    """Two rods that swing in a plane; joint angles from hanging down, the second relative to the first.

    Attributes:
        masses: Masses of the rods [kg].
        lengths: Their lengths; the centres of mass are in their middle [m].
    """

    masses: tuple[float, float] = (1.5, 0.8)
    lengths: tuple[float, float] = (0.6, 0.4)

    @property
    def limbs(self) -> list[Limb]:
        """Joints of the rods, which hang down at angle 0 and turn about y."""
        (first, second), (long, short) = self.masses, self.lengths
        return [
            Limb(
                "upper", "base", "continuous", mass=first, center=(0, 0, -long / 2), inertia=rod(first, long)
            ),
            Limb(
                "lower",
                "upper_link",
                "continuous",
                xyz=(0, 0, -long),
                mass=second,
                center=(0, 0, -short / 2),
                inertia=rod(second, short),
            ),
        ]

    def swing(self, start: tuple[float, float], times: NDArray[np.float64]) -> NDArray[np.float64]:
        """Angles of the joints (n, 2) at times (n,) [s] from 0 on, let go at rest.

        Lagrange's equations in the absolute angles a, b of the rods:
        A a'' + C cos(a - b) b'' + C sin(a - b) b'^2 + P sin a = 0,
        C cos(a - b) a'' + B b'' - C sin(a - b) a'^2 + Q sin b = 0.
        """
        (first, second), (long, short) = self.masses, self.lengths
        a_inertia = first * long**2 / 3 + second * long**2
        b_inertia = second * short**2 / 3
        coupling = second * long * short / 2
        a_weight, b_weight = (first / 2 + second) * long * GRAVITY, second * short / 2 * GRAVITY

        def rates(_: float, y: NDArray[np.float64]) -> NDArray[np.float64]:
            a, b, da, db = y
            c, s = coupling * np.cos(a - b), coupling * np.sin(a - b)
            right = [-s * db**2 - a_weight * np.sin(a), s * da**2 - b_weight * np.sin(b)]
            return np.concatenate([[da, db], np.linalg.solve([[a_inertia, c], [c, b_inertia]], right)])

        first_angles = [start[0], start[0] + start[1], 0.0, 0.0]
        solved = solve_ivp(
            rates, (0, times[-1]), first_angles, t_eval=times, method="DOP853", rtol=1e-12, atol=1e-12
        )
        return np.stack([solved.y[0], solved.y[1] - solved.y[0]], axis=1)


def rod(mass: float, length: float) -> tuple[float, float, float]:
    """Principal moments of a thin rod along z, a little thick [kg m^2]."""
    across = mass * length**2 / 12
    return across, across, 1e-3 * across
