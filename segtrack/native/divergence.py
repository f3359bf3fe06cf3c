"""Words for a vehicle of the native engine that diverged."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from segtrack.engine import what_diverged
from segtrack.native.tree import VehicleState


def what_diverged_natively(
    state: VehicleState, joints: Sequence[str], belts: Sequence[str], reach: float
) -> str:
    """Say which part of a vehicle diverged, where its body is, and the likely cause.

    Args:
        state: The vehicle's state.
        joints: Names of its joints, flippers first.
        belts: Names of its belts.
        reach: Farthest of any part from the root's centre of mass [m].
    """
    pose = float(state.position.sum() + state.orientation.sum())
    speeds = {
        "its body": float(np.linalg.norm(state.velocity)) + 0.0 * pose,
        "the rotation of its body": float(reach * np.linalg.norm(state.angular_velocity)),
    }
    for name, speed, angle in zip(joints, state.joint_speeds, state.joint_angles, strict=True):
        speeds[f"joint {name}"] = reach * float(speed) + 0.0 * float(angle)
    for name, speed, travel in zip(belts, state.speeds, state.travels, strict=True):
        speeds[f"belt {name}"] = float(speed) + 0.0 * float(travel)
    return what_diverged(speeds, state.position.tolist(), state.velocity.tolist())
