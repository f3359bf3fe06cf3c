"""Whether a chain is still whole and on its wheels, compiled."""

from __future__ import annotations

import math

from segtrack.chain.shoes.sub_step import drift
from segtrack.chain.track_arrays import Track
from segtrack.ground.vectors import arm, axis, compiled, row


@compiled
def find_lost(track: Track) -> tuple[int, int]:
    """The first link that is lost, or -1, and why: 0 for no finite place, 1 parted, 2 off its wheels."""
    motion, joints, frames, constants = track.motion, track.joints, track.frames, track.constants
    carriers, apart, aside = track.carriers, track.apart, track.aside
    drift(motion, frames, constants, 0.0)
    for i in range(len(motion.positions)):
        x, y, z = row(frames.positions, i)
        if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
            return i, 0
        p, axle = carriers.position[0], axis(carriers.rotation, 0, 1)
        if abs((x - p[0]) * axle[0] + (y - p[1]) * axle[1] + (z - p[2]) * axle[2]) > aside:
            return i, 2
    for joint in range(len(joints.pins)):
        i, j = joints.pins[joint], joints.bushings[joint]
        pin, bushing = arm(frames.rotations, i, constants.front), arm(frames.rotations, j, constants.rear)
        square = 0.0
        for k in range(3):
            gap = frames.positions[j, k] + bushing[k] - frames.positions[i, k] - pin[k]
            square += gap * gap
        if not square < apart * apart:
            return i, 1
    return -1, 0
