"""Accelerometers against gravity, and against the attitude."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.spatial.transform import Rotation

from segtrack.geometry import GRAVITY
from segtrack.logs.noise import noise_of
from segtrack.logs.plausibility.attitude import ALIKE
from segtrack.logs.plausibility.evidence import FEWEST, LogEvidence, Windows
from segtrack.logs.plausibility.finding import Observation
from segtrack.robot import Signal

_QUIET = 0.15
"""Share of the force by which that of a window may differ from the median of all windows [-]."""
_OVER = 1.0
"""Length of windows, over which impacts and vibration average out [s]."""
_TILTED = 0.1
"""Part of the vertical by which an attitude tilts, root mean square, from which its sense shows [-]."""
OFF, FAR_OFF = math.radians(25.0), math.radians(60.0)
"""Angles between specific force and the attitude's vertical that contradict each other [rad]."""


def check_gravity(evidence: LogEvidence) -> Iterator[Observation]:
    """Compare the size of the specific force with gravity, and its direction with the attitude's vertical.

    Means over a second count, and of the direction those whose size is that of most: what a vehicle with
    tracks accelerates by is small, and impacts average out.
    """
    force = evidence.motion.signals.get("specific_force")
    if force is None:
        return
    spacing = float(np.median(np.diff(force.times))) if len(force.times) > 1 else _OVER
    windows = Windows.over(force.times[0], force.times[-1], max(_OVER, 2 * spacing))
    if len(windows.begin) < FEWEST:
        return
    means = windows.mean(force)
    sizes = np.linalg.norm(means, axis=1)
    size = float(np.median(sizes))
    ratio, subject = size / GRAVITY, "specific_force"
    state = f"a specific force of {size:.3g} m/s^2 for half of the time"
    told = ""
    if ratio < 0.3:
        told = f"without gravity, of {GRAVITY:g} m/s^2, which accelerometers show at rest"
    elif not 0.8 <= ratio <= 1.25:
        told = f"which is {ratio:.3g} times gravity, of {GRAVITY:g} m/s^2"
    off = max(ratio, 1 / max(ratio, 1e-3))
    name = "accelerometer against gravity"
    yield Observation(
        name, (subject,), state, told, not 0.5 <= ratio <= 2.0, off, abs(math.log(max(ratio, 1e-3)))
    )
    if (vertical := _vertical(evidence)) is None or ratio < 0.3:
        return
    other, up = vertical
    middle = (windows.begin + windows.end) / 2
    chosen = (abs(sizes / size - 1) < _QUIET) & (middle >= up.times[0]) & (middle <= up.times[-1])
    if chosen.sum() < FEWEST:
        return
    seen, expected = (means / sizes[:, None])[chosen], windows.mean(up)[chosen]
    expected /= np.linalg.norm(expected, axis=1)[:, None]
    name, subjects = "accelerometer against attitude", (other, subject)
    angle = float(np.median(np.arccos(np.clip((seen * expected).sum(axis=1), -1.0, 1.0))))
    state = f"the specific force points {math.degrees(angle):.3g} deg off the vertical of the attitude"
    tilts = [each[:, :2] - np.median(each[:, :2], axis=0) for each in (seen, expected)]
    (measured, turned), told, is_sure = tilts, "", False
    moves = float(np.sqrt((turned**2).sum(axis=1).mean()))
    alike = 1.0
    if moves > max(_TILTED, 4 * noise_of(up.values)):
        alike = float(
            (measured * turned).sum() / max(np.sqrt((measured**2).sum() * (turned**2).sum()), 1e-12)
        )
    if angle > OFF:
        told, is_sure = "where a vehicle that hardly accelerates has it along it", angle > FAR_OFF
    elif alike < ALIKE / 2:
        told, is_sure = "and tilts the other way" if alike < -ALIKE else "and tilts otherwise", alike < -ALIKE
    yield Observation(name, subjects, state, told, is_sure, max(angle / OFF, 1.0), angle + 1 - alike)


def _vertical(evidence: LogEvidence) -> tuple[str, Signal] | None:
    """Quantity that tells the vertical, and that in the body frame; a roll that is not known counts as 0."""
    motion, attitude = evidence.motion, evidence.attitude
    if attitude is not None:
        name = "orientation" if "orientation" in motion.signals else "pitch"
        up = Rotation.from_quat(attitude.values).inv().apply([0.0, 0.0, 1.0])
        return name, Signal(attitude.times, up)
    if (pitch := motion.angle("pitch")) is None:
        return None
    zero = np.zeros(len(pitch.times))
    return "pitch", Signal(pitch.times, np.column_stack([np.sin(pitch.values), zero, np.cos(pitch.values)]))
