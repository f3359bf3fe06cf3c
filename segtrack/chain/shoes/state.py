"""Where a chain's links are and how they move."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segtrack.chain.shoes.model import Chain
from segtrack.errors import InvalidValueError, Phrase
from segtrack.geometry.path import normal_of, tangent_of


@dataclass
class ChainState:
    """The motion of a chain of n links; the solver changes the arrays in place.

    Attributes:
        positions: Of the centres of mass in the world (n, 3) [m].
        orientations: Euler parameters of the link frames in the world (n, 4), ordered (x, y, z, w),
            which are e1, e2, e3, e0 in Omar 2014.
        velocities: Of the centres of mass in the world (n, 3) [m/s].
        spins: Angular velocities in the world, expressed in the link frames (n, 3) [rad/s].
        time: Since the start [s].

    Raises:
        InvalidValueError: An array has another shape than the first one asks for.
    """

    positions: NDArray[np.float64]
    orientations: NDArray[np.float64]
    velocities: NDArray[np.float64]
    spins: NDArray[np.float64]
    time: float = 0.0

    def __post_init__(self) -> None:
        """Own contiguous arrays of floats."""
        count = len(self.positions)
        for name, width in (("positions", 3), ("orientations", 4), ("velocities", 3), ("spins", 3)):
            array = np.array(getattr(self, name), dtype=np.float64, order="C")
            if array.shape != (count, width):
                expected = f"of shape ({count}, {width})"
                raise InvalidValueError(f"{name} of a chain", expected, Phrase(str(array.shape)))
            setattr(self, name, array)

    def copy(self) -> ChainState:
        """The same, with arrays of its own."""
        return ChainState(self.positions, self.orientations, self.velocities, self.spins, self.time)

    @property
    def rotations(self) -> NDArray[np.float64]:
        """Rotation matrices (n, 3, 3) from the link frames to the world."""
        x, y, z, w = self.orientations.T
        rows = [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
        return np.moveaxis(np.array(rows), -1, 0)


def state_along(chain: Chain, hinges: ArrayLike) -> ChainState:
    """Lay a chain along hinges in the x-z plane, at rest.

    Each link's rear marker stands on its hinge, and its front marker points to the next.

    Args:
        chain: With n links, whose markers lie in their frame's x-z plane.
        hinges: (n + 1, 2) in (x, z) of the world [m]; the last is the first again in a closed chain.

    Returns:
        The state. Hinges that are not a pitch apart leave its joints strained.

    Raises:
        InvalidValueError: There are fewer or more hinges.
    """
    points = np.asarray(hinges, dtype=float)
    if points.shape != (chain.count + 1, 2):
        expected = f"of shape ({chain.count + 1}, 2)"
        raise InvalidValueError("hinges of a chain", expected, Phrase(str(points.shape)))
    rear, front = np.array(chain.shoe.rear)[[0, 2]], np.array(chain.shoe.front)[[0, 2]]
    steps = np.diff(points, axis=0)
    tilt = np.arctan2(-(front - rear)[1], (front - rear)[0])
    headings = np.arctan2(-steps[:, 1], steps[:, 0]) - tilt
    centres = points[:-1] - rear[0] * tangent_of(headings) - rear[1] * normal_of(headings)
    zero = np.zeros(chain.count)
    return ChainState(
        positions=np.stack([centres[:, 0], zero, centres[:, 1]], axis=1),
        orientations=np.stack([zero, np.sin(headings / 2), zero, np.cos(headings / 2)], axis=1),
        velocities=np.zeros((chain.count, 3)),
        spins=np.zeros((chain.count, 3)),
    )
