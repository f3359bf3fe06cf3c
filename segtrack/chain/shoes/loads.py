"""Kinematics of shoes while loads are gathered, and the loads on them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.shoes.model import Anchor, Chain, Vector
from segtrack.ground.vectors import write_rotation


class Frames(NamedTuple):
    """Kinematics of n shoes, and behind them the two anchors, at the instant of the loads.

    Attributes:
        positions: Centres of mass in the world (n + 2, 3) [m].
        rotations: From the shoe frames to the world (n + 2, 3, 3).
        velocities: Velocities of the centres of mass in the world (n + 2, 3) [m/s].
        angular_velocities_world: Angular velocities in the world (n + 2, 3) [rad/s].
    """

    positions: NDArray[np.float64]
    rotations: NDArray[np.float64]
    velocities: NDArray[np.float64]
    angular_velocities_world: NDArray[np.float64]


class Loads(NamedTuple):
    """Loads on n shoes, and behind them on the two anchors, in the world frame.

    Attributes:
        forces: Forces at the centres of mass (n + 2, 3) [N].
        torques: Torques about the centres of mass (n + 2, 3) [N m].
        pin_forces: Force of each joint's pin on its bushing (m, 3) [N].
    """

    forces: NDArray[np.float64]
    torques: NDArray[np.float64]
    pin_forces: NDArray[np.float64]


def allocate_work_arrays(chain: Chain) -> tuple[Frames, Loads]:
    """Kinematics and loads for the stages of a chain's sub-steps, with its anchors in place."""
    slots = chain.count + 2
    frames = Frames(*(np.zeros((slots, *shape)) for shape in ((3,), (3, 3), (3,), (3,))))
    ends = ((chain.start, chain.shoe.pin_position), (chain.end, chain.shoe.bushing_position))
    for slot, (anchor, end) in enumerate(ends, start=chain.count):
        if anchor is not None:
            _place(frames, slot, anchor, end)
    joints = len(chain.joints.pins)
    return frames, Loads(np.zeros((slots, 3)), np.zeros((slots, 3)), np.zeros((joints, 3)))


def joint_tension(chain: Chain, frames: Frames, pin_forces: NDArray[np.float64]) -> NDArray[np.float64]:
    """Tension (m,) in each joint [N]: the pin force (m, 3) along the mean direction of its two shoes.

    An anchored joint takes the direction of its one shoe.
    """
    shoe, joints = chain.shoe, chain.joints
    along = frames.rotations @ ((np.array(shoe.pin_position) - shoe.bushing_position) / shoe.pitch)
    along[chain.count :] = 0.0
    mean = along[joints.pins] + along[joints.bushings]
    return np.einsum("mi,mi->m", -pin_forces, mean) / np.linalg.norm(mean, axis=1)


def _place(frames: Frames, slot: int, anchor: Anchor, end: Vector) -> None:
    """Set the pose of a shoe that never moves, one end of which is the anchor's."""
    write_rotation(frames.rotations[slot], np.array(anchor.orientation))
    frames.positions[slot] = np.array(anchor.position) - frames.rotations[slot] @ end
