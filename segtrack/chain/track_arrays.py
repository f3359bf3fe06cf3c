"""Everything of one track that kernels read and write."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.running_gear.arrays import RunningGearArrays
from segtrack.chain.shoes.loads import Frames, Loads
from segtrack.chain.shoes.model import Constants, Joints
from segtrack.chain.shoes.state import ChainArrays
from segtrack.chain.terrain_contact.arrays import TerrainContact
from segtrack.coupling.parent_frames import CouplingImpulses, ParentFrames, Reaction


class TrackArrays(NamedTuple):
    """Everything of one track that kernels read and write.

    Attributes:
        shoes: State of the shoes.
        joints: Shoes that each joint connects.
        frames: Work array, shoe kinematics.
        loads: Work array, shoe loads.
        constants: Shoe and bushing.
        parents: Parent links of the wheels.
        reaction: Work array, loads on the parent links.
        running_gear: Wheels.
        terrain_contact: Terrain contact of the shoes.
        coupling: Impulses on the parent links.
        max_joint_gap: Distance of a joint's bushing from its pin at which the joint has failed [m].
        max_lateral_offset: Distance of a shoe from the track's middle plane at which the chain is off its
            wheels [m].
    """

    shoes: ChainArrays
    joints: Joints
    frames: Frames
    loads: Loads
    constants: Constants
    parents: ParentFrames
    reaction: Reaction
    running_gear: RunningGearArrays
    terrain_contact: TerrainContact
    coupling: CouplingImpulses
    max_joint_gap: float
    max_lateral_offset: float


class DriveArrays(NamedTuple):
    """Drives of a vehicle's tracks during a step.

    Attributes:
        target_speeds: Of the driven wheels relative to their parent links (tracks,) [rad/s].
        torque_limits: Largest torques (tracks,) [N m].
        mean_torques: Mean torques of the step, filled in (tracks,) [N m].
    """

    target_speeds: NDArray[np.float64]
    torque_limits: NDArray[np.float64]
    mean_torques: NDArray[np.float64]
