"""Where links are while loads are gathered, and what acts on them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.shoes.model import Anchor, Chain, Vector
from segtrack.ground.vectors import write_rotation


class Frames(NamedTuple):
    """Where links are at the instant of the loads: n links, and behind them the two anchors.

    Attributes:
        positions: Of the centres of mass in the world (n + 2, 3) [m].
        rotations: From the link frames to the world (n + 2, 3, 3).
        velocities: Of the centres of mass in the world (n + 2, 3) [m/s].
        spins: Angular velocities in the world (n + 2, 3) [rad/s]; in a state they are in link frames.
    """

    positions: NDArray[np.float64]
    rotations: NDArray[np.float64]
    velocities: NDArray[np.float64]
    spins: NDArray[np.float64]


class Loads(NamedTuple):
    """What acts on n links, and behind them on the two anchors, in the world frame.

    Attributes:
        forces: (n + 2, 3) [N].
        torques: About the centres of mass (n + 2, 3) [N m].
        pin_forces: From each joint's pin on its bushing (m, 3) [N].
    """

    forces: NDArray[np.float64]
    torques: NDArray[np.float64]
    pin_forces: NDArray[np.float64]


def room_for(chain: Chain) -> tuple[Frames, Loads]:
    """Arrays for the stages of a chain's sub-steps, with its anchors in place."""
    slots = chain.count + 2
    frames = Frames(*(np.zeros((slots, *shape)) for shape in ((3,), (3, 3), (3,), (3,))))
    ends = ((chain.start, chain.shoe.front), (chain.end, chain.shoe.rear))
    for slot, (anchor, marker) in enumerate(ends, start=chain.count):
        if anchor is not None:
            _place(frames, slot, anchor, marker)
    joints = len(chain.joints.pins)
    return frames, Loads(np.zeros((slots, 3)), np.zeros((slots, 3)), np.zeros((joints, 3)))


def joint_tension(chain: Chain, frames: Frames, pin_forces: NDArray[np.float64]) -> NDArray[np.float64]:
    """Tension (m,) in each joint [N]: the pin force (m, 3) along the mean direction of its two links.

    An anchored joint takes the direction of its one link.
    """
    shoe, joints = chain.shoe, chain.joints
    along = frames.rotations @ ((np.array(shoe.front) - shoe.rear) / shoe.pitch)
    along[chain.count :] = 0.0
    mean = along[joints.pins] + along[joints.bushings]
    return np.einsum("mi,mi->m", -pin_forces, mean) / np.linalg.norm(mean, axis=1)


def _place(frames: Frames, slot: int, anchor: Anchor, marker: Vector) -> None:
    """Hold a link that never moves where its marker is the anchor's."""
    write_rotation(frames.rotations[slot], np.array(anchor.orientation))
    frames.positions[slot] = np.array(anchor.position) - frames.rotations[slot] @ marker
