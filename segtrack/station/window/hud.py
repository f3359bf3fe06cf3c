"""Instruments of a driven vehicle, in words."""

from __future__ import annotations

import math

from segtrack.recording.session import DriveSession
from segtrack.station.inputs import InputMapper

SLOW = 0.98
"""Real-time factor below which the simulation is said to be slow."""


def hud_lines(
    session: DriveSession, mapper: InputMapper, real_time_factor: float, focused: bool
) -> list[str]:
    """Return the lines to show: the state, then what keeps the vehicle from moving, if anything does."""
    robot = session.robot
    state = robot.state
    lines = [
        f"{session.time:6.1f} s   left {_belt(session, 'left')}   right {_belt(session, 'right')}   "
        f"roll {_degrees(state.roll)}   pitch {_degrees(state.pitch)}   {robot.energy:.0f} J   {mapper.mode}"
    ]
    if robot.flippers:
        angles = (f"{name} {_degrees(flipper.angle)}" for name, flipper in robot.flippers.items())
        lines.append("   ".join(angles))
    if mapper.stopped:
        lines.append("EMERGENCY STOP (Enter or Start releases it)")
    elif mapper.waits:
        lines.append("let go of everything before driving on")
    if not focused:
        lines.append("another window has the keys")
    if real_time_factor < SLOW:
        lines.append(f"slow: real-time factor {real_time_factor:.2f}")
    return lines


def _belt(session: DriveSession, side: str) -> str:
    """Format speed and slip of a side's first belt, one on the body if there is any."""
    tracks = [track for track in session.robot.tracks.values() if track.side == side]
    tracks = [track for track in tracks if track.flipper is None] or tracks
    if not tracks:
        return "-"
    return f"{_unsigned_zero(tracks[0].speed, 2):+.2f} m/s, slip {_unsigned_zero(tracks[0].slip, 2):+.2f}"


def _degrees(angle: float) -> str:
    return f"{_unsigned_zero(math.degrees(angle), 0):+.0f} deg"


def _unsigned_zero(value: float, digits: int) -> float:
    """Round a value to what will be shown, without the sign of a zero."""
    return round(value, digits) + 0.0
