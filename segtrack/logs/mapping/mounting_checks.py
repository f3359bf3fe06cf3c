"""Places of markers on the vehicle, and flippers that it would stand on, of a mapped log."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from segtrack.logs.mapping.evidence import FEWEST, Correction, LogEvidence, Observation
from segtrack.logs.statistics import noise_of

_TURNS = 0.1
"""Yaw rate from which a lever shows [rad/s]."""
_ASIDE = 0.15
"""Distance of a marker aside of the body's middle that is told [m]."""
_AHEAD = 0.3
"""Distance ahead of it that is told, over the vehicle's length: tracks turn about places ahead of it, too."""
_SURE = 5.0
"""Lever over its standard deviation from which it is told."""


def check_lever(evidence: LogEvidence) -> Iterator[Observation]:
    """Compare how a marker goes in turns with how the body's middle would: aside by x w, ahead by -y w.

    Belts slip in turns both ways alike, so a lever aside needs turns of both senses.
    """
    driving, position, rotation = evidence.driving, evidence.motion.signals.get("position"), evidence.attitude
    length = evidence.background.length
    if driving is None or position is None or rotation is None or driving.way is None or length is None:
        return
    windows = driving.windows
    turned = evidence.yaw_rates_at(windows)
    body = evidence.rotation_at((windows.begin + windows.end) / 2)
    if turned is None or body is None or driving.windows.length * float(np.max(abs(turned))) > 1.5:
        return
    ways = body.inv().apply(driving.way) / windows.length
    turns = abs(turned) > _TURNS
    if turns.sum() < FEWEST or driving.straight.sum() < FEWEST:
        return
    along = driving.forward[driving.straight]
    grip = float(ways[driving.straight, 0] @ along / (along @ along))
    rates, behind = turned[turns], ways[turns, 0] - grip * driving.forward[turns]
    ahead, ahead_std = _slopes(rates[:, None], ways[turns, 1])
    has_both = min(np.sum(rates > 0), np.sum(rates < 0)) >= FEWEST // 2
    terms = np.stack([-rates, abs(rates) * driving.forward[turns]], axis=1)
    aside, aside_std = _slopes(terms, behind) if has_both else (0.0, math.inf)
    state = f"in turns its places go as those of a point {ahead:.2g} m ahead"
    state += f" and {aside:.2g} m to the left of the body's middle" if has_both else ""
    is_ahead = abs(ahead) > max(_AHEAD * length, _SURE * ahead_std)
    is_aside = abs(aside) > max(_ASIDE, _SURE * aside_std)
    lever = (ahead if abs(ahead) > _ASIDE else 0.0), (aside if is_aside else 0.0), 0.0
    told = "which is a lever that the mapping does not know" if is_ahead or is_aside else ""
    size, misfit = 1 + math.hypot(*lever) / length, math.hypot(ahead, aside) / length
    fits = (Correction("lever", "position", lever),) if told else ()
    yield Observation("marker's lever", ("position",), state, told, False, size, misfit, fits=fits)


def _slopes(terms: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """First coefficient of a linear fit of values (n,) by terms (n, k), and its standard deviation."""
    found, *_ = np.linalg.lstsq(terms, values, rcond=None)
    left = values - terms @ found
    freedom = max(len(values) - terms.shape[1], 1)
    covariance = np.linalg.pinv(terms.T @ terms) * float(left @ left) / freedom
    return float(found[0]), math.sqrt(covariance[0, 0])


_LEVEL = math.radians(2.5)
"""Pitch by which a vehicle may stand otherwise than its flippers make it [rad]."""
_LIFTED = math.radians(4.0)
"""Difference of the pitches that both signs of the flippers would give, from which they can be told [rad]."""
_STANDS = 0.5
"""Time at rest in the beginning over which it is looked at [s]."""


def check_flipper_signs(evidence: LogEvidence) -> Iterator[Observation]:
    """Compare the pitch at rest in the beginning with that of standing on the flippers, on level ground."""
    stands, pitch = evidence.background.standing_pitch, evidence.motion.angle("pitch")
    angles = _first_angles(evidence)
    if stands is None or pitch is None or not angles or not _stands_first(evidence):
        return
    begin = evidence.motion.span[0]
    first = pitch.values[pitch.times <= begin + _STANDS]
    if not len(first) or noise_of(pitch.values) > _LEVEL:
        return
    measured = float(np.median(first))
    turned = {name: -angle for name, angle in angles.items()}
    mapped, other = (stands(tuple(each.items())) for each in (angles, turned))
    if abs(mapped - other) < _LIFTED:
        return
    shown = [f"{math.degrees(value) + 0.0:.2g}" for value in (mapped, measured)]
    state = f"on its flippers it would stand pitched up by {shown[0]} deg, and it stands at {shown[1]} deg"
    subjects = tuple(f"flipper_angle.{name}" for name in angles)
    is_other = abs(measured - other) < _LEVEL < abs(measured - mapped)
    told = "as with the flippers turned the other way" if is_other else ""
    off = abs(measured - mapped)
    yield Observation("flippers against ground", subjects, state, told, False, 1 + off, off)


def _first_angles(evidence: LogEvidence) -> dict[str, float]:
    """Logged angles of flippers in the beginning, by name [rad]."""
    vehicle = evidence.background.vehicle
    angles = evidence.motion.by_name("flipper_angle")
    known = () if vehicle is None else vehicle.flippers
    return {name: float(np.median(values[:5])) for name, values in angles.items() if name in known}


def _stands_first(evidence: LogEvidence) -> bool:
    """Return whether the belts stand in the beginning of the log, on what may be level ground."""
    if evidence.belts is None:
        return False
    begin = evidence.motion.span[0]
    for side in evidence.belts[1:]:
        first = side.values[side.times <= begin + _STANDS]
        if not len(first) or abs(float(np.median(first))) > 2e-3 + noise_of(side.values):
            return False
    return True
