"""A simulated path laid onto a logged one, so that position errors are those that the alignment leaves."""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import UnknownNameError
from segtrack.logs.compare.motions.sampling import SampledMotion

Alignment = Literal["event", "start", "se3", "none"]
ALIGNMENTS: tuple[str, ...] = get_args(Alignment)


def check_alignment(alignment: str) -> None:
    """See to it that there is such an alignment.

    Raises:
        UnknownNameError: There is none.
    """
    if alignment not in ALIGNMENTS:
        raise UnknownNameError("alignment", alignment, ALIGNMENTS)


def aligned_positions(
    simulated: SampledMotion, logged: SampledMotion, alignment: Alignment, event: float | None
) -> NDArray[np.float64] | None:
    """Simulated positions, moved onto the logged ones (n, 3) [m]; None if either has none.

    Args:
        simulated: The simulated motion.
        logged: The logged motion, on the same clock.
        alignment: `event`: x, y and yaw agree at the event; `start`: at the first time at which both are
            known; `se3`: the rigid motion that leaves the least squares; `none`: both are taken as they are.
        event: When the event is [s]; None is the start.
    """
    if simulated.position is None or logged.position is None:
        return None
    known = np.isfinite(simulated.position).all(axis=1) & np.isfinite(logged.position).all(axis=1)
    if alignment == "none" or not known.any():
        return simulated.position
    if alignment == "se3":
        rotation, offset = rigid_motion(simulated.position[known], logged.position[known])
        return simulated.position @ rotation.T + offset
    shared = np.flatnonzero(known)
    at = shared[0]
    if alignment == "event" and event is not None:
        at = shared[np.argmin(abs(simulated.times[shared] - event))]
    return _laid(simulated, logged, int(at))


def rigid_motion(
    points: NDArray[np.float64], targets: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rotation (3, 3) and offset (3,) [m] that lay points (n, 3) onto targets (n, 3) with the least squares.

    Umeyama 1991, without the scale.
    """
    middle, target = points.mean(axis=0), targets.mean(axis=0)
    u, _, v = np.linalg.svd((targets - target).T @ (points - middle))
    signs = np.diag([1.0, 1.0, np.sign(np.linalg.det(u) * np.linalg.det(v))])
    rotation = u @ signs @ v
    return rotation, target - rotation @ middle


def _laid(simulated: SampledMotion, logged: SampledMotion, at: int) -> NDArray[np.float64]:
    """Simulated positions, turned and shifted on the ground so that x, y and yaw agree at a sample."""
    assert simulated.position is not None and logged.position is not None
    turn = 0.0
    if simulated.yaw is not None and logged.yaw is not None:
        turn = float(np.nan_to_num(logged.yaw[at] - simulated.yaw[at]))
    cos, sin = math.cos(turn), math.sin(turn)
    rotation = np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
    moved = (simulated.position - simulated.position[at]) @ rotation.T
    shift = simulated.position[at].copy()
    shift[:2] = logged.position[at, :2]
    return moved + shift
