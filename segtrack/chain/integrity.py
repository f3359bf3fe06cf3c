"""Check that a chain is whole and on its wheels, compiled."""

from __future__ import annotations

import math

from segtrack.chain.track_arrays import TrackArrays
from segtrack.ground.vectors import arm, axis, compiled, row

FAILURES = (
    "its position is not finite",
    "its joint to the next shoe has separated",
    "the chain has come off its wheels",
)
"""Reasons that `check_integrity` returns by their index."""


@compiled
def check_integrity(track: TrackArrays) -> tuple[int, int]:
    """Index of the first shoe that has failed, or -1, and the reason's index in `FAILURES`.

    The frames are those of the state, as a drift leaves them.
    """
    shoes, joints, frames, constants = track.shoes, track.joints, track.frames, track.constants
    for i in range(len(shoes.positions)):
        x, y, z = row(frames.positions, i)
        if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
            return i, 0
        p, axle = track.parents.positions[0], axis(track.parents.rotations, 0, 1)
        lateral = (x - p[0]) * axle[0] + (y - p[1]) * axle[1] + (z - p[2]) * axle[2]
        if abs(lateral) > track.max_lateral_offset:
            return i, 2
    for joint in range(len(joints.pins)):
        i, j = joints.pins[joint], joints.bushings[joint]
        pin, bushing = (
            arm(frames.rotations, i, constants.pin_position),
            arm(frames.rotations, j, constants.bushing_position),
        )
        square = 0.0
        for k in range(3):
            gap = frames.positions[j, k] + bushing[k] - frames.positions[i, k] - pin[k]
            square += gap * gap
        if not square < track.max_joint_gap * track.max_joint_gap:
            return i, 1
    return -1, 0
