"""Arrays of belts beside an engine: what changes of them, and what kernels work in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.ground.parent_frames import CouplingImpulses, NetWrench, ParentFrames, Reaction


class BeltMotion(NamedTuple):
    """State of T belts, and what their drives are told; kernels change it in place.

    Attributes:
        travels: Since the start (T,) [m].
        speeds: (T,) [m/s].
        forces: Mean force of the drives along the belts' travel in the engine's last step (T,) [N].
        axle_rates: Turning of the parent frames about the axles in the last sub-step (T,) [rad/s].
        targets: Speeds at which the drives aim (T,) [m/s].
        limits: Force limits of the drives (T,) [N].
        frictions: Friction of the tracks (T,) [-].
        slack: How far any part may move before candidates are looked for again (1,) [m].
    """

    travels: NDArray[np.float64]
    speeds: NDArray[np.float64]
    forces: NDArray[np.float64]
    axle_rates: NDArray[np.float64]
    targets: NDArray[np.float64]
    limits: NDArray[np.float64]
    frictions: NDArray[np.float64]
    slack: NDArray[np.float64]


class Beside(NamedTuple):
    """Work arrays of a vehicle's belts.

    Attributes:
        parents: Track frames, which go on within the engine's step.
        reaction: Load of the belts on them.
        coupling: What they did to them in the engine's step.
        net: Load on the vehicle.
        axes: Axes of a section (3, 3).
        outcome: Sub-steps taken, how the call ended, and the largest numbers of solids and edges near
            one section (4,).
    """

    parents: ParentFrames
    reaction: Reaction
    coupling: CouplingImpulses
    net: NetWrench
    axes: NDArray[np.float64]
    outcome: NDArray[np.intp]
