"""What carries a track: the body on which its wheels sit, and what the chain does to it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.vectors import compiled


class Carrier(NamedTuple):
    """The track frame of a chain's carrier at an instant; kernels move it in place.

    Attributes:
        position: Of the frame's origin in the world (3,) [m].
        rotation: From the frame to the world (3, 3).
        velocity: Of the origin in the world (3,) [m/s].
        spin: Angular velocity in the world (3,) [rad/s].
    """

    position: NDArray[np.float64]
    rotation: NDArray[np.float64]
    velocity: NDArray[np.float64]
    spin: NDArray[np.float64]


class Reaction(NamedTuple):
    """What a chain does to its carrier at an instant.

    Attributes:
        force: In the world (3,) [N].
        torque: About the carrier's origin, in the world (3,) [N m].
    """

    force: NDArray[np.float64]
    torque: NDArray[np.float64]


@compiled
def drift_carrier(carrier: Carrier, duration: float) -> None:
    """Let a carrier go on for `duration` [s] at the velocity and angular velocity that it has."""
    for k in range(3):
        carrier.position[k] += duration * carrier.velocity[k]
    # Cayley's form of a rotation about the spin: exact in direction, third order in angle.
    x, y, z = (duration / 2 * carrier.spin[0], duration / 2 * carrier.spin[1], duration / 2 * carrier.spin[2])
    share = 2 / (1 + x * x + y * y + z * z)
    for k in range(3):
        a, b, c = carrier.rotation[0, k], carrier.rotation[1, k], carrier.rotation[2, k]
        u, v, w = a + y * c - z * b, b + z * a - x * c, c + x * b - y * a
        carrier.rotation[0, k] = a + share * (y * w - z * v)
        carrier.rotation[1, k] = b + share * (z * u - x * w)
        carrier.rotation[2, k] = c + share * (x * v - y * u)
