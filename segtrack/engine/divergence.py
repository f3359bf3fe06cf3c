"""Words for a simulation that diverged: which part of a vehicle did, where, and the likely cause."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

_FALLEN = 10.0
"""Depth below the world's origin from which a vehicle that goes down has fallen off its ground [m]."""
_TOO_LONG = (
    "likely the time step is too long for its contacts, masses or drives, or it began inside the ground"
)


def what_diverged(speeds: Mapping[str, float], position: Sequence[float], velocity: Sequence[float]) -> str:
    """Say which part of a vehicle diverged, where its body is, and the likely cause.

    Args:
        speeds: Speeds of its parts by their names [m/s]; what is not finite where a part's state is not.
        position: Position of its body in the world [m].
        velocity: Velocity of its body in the world [m/s].
    """
    lost = [name for name, speed in speeds.items() if not math.isfinite(speed)]
    place = ", ".join(f"{number:.2f}" for number in position)
    if lost:
        return f"{' and '.join(lost)}, the body at ({place}) m; {_TOO_LONG}"
    part = max(speeds, key=lambda name: abs(speeds[name]))
    what = f"{part} at {abs(speeds[part]):.3g} m/s, the body at ({place}) m"
    if position[2] < -_FALLEN and velocity[2] < -0.9 * math.hypot(*velocity):
        return f"{what}; it falls: it has left its ground, or was placed where there is none"
    if part.startswith("belt"):
        return f"{what}; likely its drive is too strong, or its moving mass too small, for the time step"
    return f"{what}; {_TOO_LONG}"
