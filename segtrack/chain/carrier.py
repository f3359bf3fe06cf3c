"""What carries a track: the bodies on which its wheels sit, and what the chain does to them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.vectors import compiled


class Carriers(NamedTuple):
    """The track frames on a chain's C carriers at an instant; kernels move them in place.

    Each carrier has the frame that coincides with the track frame while the vehicle's joints
    stand at zero.

    Attributes:
        position: Of the frames' origins in the world (C, 3) [m].
        rotation: From the frames to the world (C, 3, 3).
        velocity: Of the origins in the world (C, 3) [m/s].
        spin: Angular velocities in the world (C, 3) [rad/s].
    """

    position: NDArray[np.float64]
    rotation: NDArray[np.float64]
    velocity: NDArray[np.float64]
    spin: NDArray[np.float64]


class Reaction(NamedTuple):
    """What a chain does to its carriers at an instant.

    Attributes:
        force: In the world (C, 3) [N].
        torque: About the frames' origins, in the world (C, 3) [N m].
    """

    force: NDArray[np.float64]
    torque: NDArray[np.float64]


@compiled
def drift_carriers(carriers: Carriers, duration: float) -> None:
    """Let carriers go on for `duration` [s] at the velocities and angular velocities that they have."""
    for i in range(len(carriers.position)):
        for k in range(3):
            carriers.position[i, k] += duration * carriers.velocity[i, k]
        # Cayley's form of a rotation about the spin: exact in direction, third order in angle.
        half, rotation = duration / 2, carriers.rotation[i]
        x, y, z = half * carriers.spin[i, 0], half * carriers.spin[i, 1], half * carriers.spin[i, 2]
        share = 2 / (1 + x * x + y * y + z * z)
        for k in range(3):
            a, b, c = rotation[0, k], rotation[1, k], rotation[2, k]
            u, v, w = a + y * c - z * b, b + z * a - x * c, c + x * b - y * a
            rotation[0, k] = a + share * (y * w - z * v)
            rotation[1, k] = b + share * (z * u - x * w)
            rotation[2, k] = c + share * (x * v - y * u)
