"""State of a chain's shoes, and its kinetic energy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segtrack.chain.shoes import Chain
from segtrack.errors import InvalidValueError, Phrase
from segtrack.geometry import normal_of, tangent_of


class ChainArrays(NamedTuple):
    """Arrays of a `ChainState`, for kernels."""

    positions: NDArray[np.float64]
    orientations: NDArray[np.float64]
    velocities: NDArray[np.float64]
    angular_velocities_body: NDArray[np.float64]


@dataclass
class ChainState:
    """State of a chain of n shoes; kernels change the arrays in place.

    Attributes:
        positions: Centres of mass in the world (n, 3) [m].
        orientations: Euler parameters of the shoe frames in the world (n, 4), ordered (x, y, z, w),
            which are e1, e2, e3, e0 in Omar 2014.
        velocities: Velocities of the centres of mass in the world (n, 3) [m/s].
        angular_velocities_body: Angular velocities in the shoe frames (n, 3) [rad/s].
        time: Since the start [s].

    Raises:
        InvalidValueError: An array has another shape than the first one asks for.
    """

    positions: NDArray[np.float64]
    orientations: NDArray[np.float64]
    velocities: NDArray[np.float64]
    angular_velocities_body: NDArray[np.float64]
    time: float = 0.0

    def __post_init__(self) -> None:
        """Own contiguous arrays of floats."""
        count = len(self.positions)
        for name in ChainArrays._fields:
            width = 4 if name == "orientations" else 3
            array = np.array(getattr(self, name), dtype=np.float64, order="C")
            if array.shape != (count, width):
                expected = f"of shape ({count}, {width})"
                raise InvalidValueError(f"{name} of a chain", expected, Phrase(str(array.shape)))
            setattr(self, name, array)

    def copy(self) -> ChainState:
        """A state with arrays of its own."""
        return ChainState(*self.arrays, self.time)

    @property
    def arrays(self) -> ChainArrays:
        """The state's arrays, for kernels."""
        return ChainArrays(self.positions, self.orientations, self.velocities, self.angular_velocities_body)

    @property
    def rotations(self) -> NDArray[np.float64]:
        """Rotation matrices from the shoe frames to the world (n, 3, 3)."""
        x, y, z, w = self.orientations.T
        rows = [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
        return np.moveaxis(np.array(rows), -1, 0)


def state_along(chain: Chain, hinges: ArrayLike) -> ChainState:
    """State of a chain along hinges in the x-z plane, at rest.

    Each shoe's bushing stands on its hinge, and its pin points to the next.

    Args:
        chain: n shoes, whose bushings and pins lie in their frame's x-z plane.
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
    rear, front = np.array(chain.shoe.bushing_position)[[0, 2]], np.array(chain.shoe.pin_position)[[0, 2]]
    steps = np.diff(points, axis=0)
    tilt = np.arctan2(-(front - rear)[1], (front - rear)[0])
    headings = np.arctan2(-steps[:, 1], steps[:, 0]) - tilt
    centres = points[:-1] - rear[0] * tangent_of(headings) - rear[1] * normal_of(headings)
    zero = np.zeros(chain.count)
    return ChainState(
        positions=np.stack([centres[:, 0], zero, centres[:, 1]], axis=1),
        orientations=np.stack([zero, np.sin(headings / 2), zero, np.cos(headings / 2)], axis=1),
        velocities=np.zeros((chain.count, 3)),
        angular_velocities_body=np.zeros((chain.count, 3)),
    )


def kinetic_energy(chain: Chain, state: ChainState) -> float:
    """Kinetic energy of all shoes [J]."""
    shoe = chain.shoe
    return (
        float(
            shoe.mass * np.sum(state.velocities**2) + np.sum(shoe.inertia * state.angular_velocities_body**2)
        )
        / 2
    )


def circulate(chain: Chain, state: ChainState, speed: float) -> None:
    """Add the motion of a closed chain along itself to the velocities of its shoes.

    With unit vectors e from the bushing to the pin of the shoes before and behind a joint, it moves at
    speed (e1 + e2) / (1 + e1 . e2): then both ends of each shoe move along it at the speed, so that no
    shoe is stretched, and the joints around a sprocket move along its pitch circle.

    Args:
        chain: Its shoes, which are joined.
        state: Changed in place: velocities, and angular velocities.
        speed: From bushings to pins [m/s].
    """
    shoe, rotations = chain.shoe, state.rotations
    rear, front = np.array(shoe.bushing_position), np.array(shoe.pin_position)
    along = rotations @ ((front - rear) / shoe.pitch)
    before = np.roll(along, 1, axis=0)
    cosines = np.sum(before * along, axis=1, keepdims=True)
    joints = speed * (before + along) / (1 + cosines)
    turning = np.cross(along, np.roll(joints, -1, axis=0) - joints) / shoe.pitch
    state.velocities += joints - np.cross(turning, rotations @ rear)
    state.angular_velocities_body += np.einsum("nji,nj->ni", rotations, turning)
