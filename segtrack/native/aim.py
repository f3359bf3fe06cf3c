"""Aims of the drives in a step: the source of `engine.drive`, compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from segtrack.engine import follow_command as _follow_command
from segtrack.engine import force_at as _force_at
from segtrack.engine import next_pedal_target as _next_pedal_target
from segtrack.engine import next_target as _next_target
from segtrack.kernels import compiled, exponential
from segtrack.native.tree import VehicleState

follow_command, force_at = compiled(_follow_command), compiled(_force_at)
next_target, next_pedal_target = compiled(_next_target), compiled(_next_pedal_target)

LAW = 5
"""Column of a drive's array from which its table of speeds and forces begins."""


@compiled
def aim_drive(drives: NDArray[np.float64], state: VehicleState, t: int, step: float) -> None:
    """Write the target speed [m/s] of belt `t` in a step [s], and its force limit [N], into the state."""
    top, stall, brake, locking, lag = (
        drives[t, 0],
        drives[t, 1],
        drives[t, 2],
        drives[t, 3] == 1.0,
        drives[t, 4],
    )
    speed, strength = state.speeds[t], state.drive_factors[t]
    pedals, throttle = state.pedals[t, 0] == 1.0, state.pedals[t, 1]
    if pedals:
        command = 0.0
        if throttle != 0.0:
            command = top if throttle > 0.0 else -top
        state.references[t] = speed
        strength *= abs(throttle)
    else:
        kept = exponential(-step / lag) if lag > 0.0 else 0.0
        command = follow_command(state.references[t], state.commands[t], kept)
        state.references[t] = command
    driving = strength * force_at(drives[t, LAW:], speed if command >= 0.0 else -speed)
    brake *= state.drive_factors[t]
    if pedals and not locking:
        state.targets[t], state.limits[t] = next_pedal_target(
            command, speed, driving, brake * state.pedals[t, 2]
        )
        return
    state.targets[t], state.limits[t], holding = next_target(
        command,
        speed,
        state.forces[t],
        state.limits[t],
        state.holding[t] == 1.0,
        driving,
        strength * stall,
        brake,
        locking,
    )
    state.holding[t] = 1.0 if holding else 0.0
