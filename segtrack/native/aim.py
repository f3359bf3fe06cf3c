"""Aims of the drives in a step: the source of `engine.drive`, compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from segtrack.engine.drive import follow_command as _follow_command
from segtrack.engine.drive import next_target as _next_target
from segtrack.ground.functions import exponential
from segtrack.ground.kernels import compiled
from segtrack.native.tree import VehicleState

follow_command, next_target = compiled(_follow_command), compiled(_next_target)


@compiled
def aim_drive(drives: NDArray[np.float64], state: VehicleState, t: int, step: float) -> tuple[float, float]:
    """Find the target speed [m/s] of belt `t` in a step [s], and its force limit [N]; noted in the state."""
    stall, top, line, locking, lag = drives[t]
    kept = exponential(-step / lag) if lag > 0.0 else 0.0
    state.references[t] = follow_command(state.references[t], state.commands[t], kept)
    target, limit, holding = next_target(
        state.references[t],
        state.speeds[t],
        state.forces[t],
        state.limits[t],
        state.holding[t] == 1.0,
        stall * state.drive_factors[t],
        top,
        line == 1.0,
        locking == 1.0,
    )
    state.targets[t], state.limits[t], state.holding[t] = target, limit, 1.0 if holding else 0.0
    return target, limit
