"""Belts of a mapped log against path, turning, drives and commands.

On ground that does not move a vehicle's belts slip backwards when they drive it: its path is at most as long
as their travel, and it turns at most as fast as belts without slip would turn it. Downhill and in free motion
both may be exceeded for a while, so medians count.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import SegtrackError
from segtrack.logs.mapping.evidence import (
    FEWEST,
    Array,
    Correction,
    Driving,
    LogEvidence,
    Observation,
    moving,
)
from segtrack.logs.mapping.mapped_log import SteadyTable
from segtrack.logs.mapping.quantities import SIDES
from segtrack.logs.statistics import noise_of
from segtrack.robot import Signal

BEYOND_BELTS, FAR_BEYOND_BELTS = 1.25, 1.5
"""Path over belt travel, as a median, from which it contradicts them, and from which beyond doubt."""
BEHIND_BELTS, FAR_BEHIND_BELTS = 0.6, 0.3
"""The same for what only one window in ten exceeds, below which it contradicts them: slip everywhere."""
BEYOND_TURNING, FAR_BEYOND_TURNING = 1.15, 1.25
"""Yaw rate over that of belts without slip, likewise."""
HARDLY_TURNS = 0.2
"""The same, below which belts hardly turn the vehicle."""
BEYOND_DRIVES, FAR_BEYOND_DRIVES = 1.2, 2.0
"""Belt speed over the top speed of the vehicle file, likewise."""
_SLOWEST = 2e-3
"""Belts that are slower stand [m/s]."""
_SLOWEST_TURN = 0.03
"""Yaw rates of belts without slip that say something of turning [rad/s]."""
_BIAS = 0.2
"""Rate beyond what a gyroscope says at rest [rad/s]."""
_STRAIGHT = 0.1
"""Difference of belt speeds over their sum up to which they may be meant to drive straight on [-]."""


def check_path(evidence: LogEvidence) -> Iterator[Observation]:
    """Compare the length of the path with the travel of the belts, while they drive straight.

    Windows that are long beside the noise of positions are not so beside drifts of satellites: a path that is
    too long must be so over a sixth of the log, too.
    """
    driving, belts = evidence.driving, evidence.belts
    if driving is None or belts is None or driving.way is None:
        return
    place = "position" if "position" in evidence.motion.signals else "velocity"
    subjects, name = (belts[0], place), "belts against path"
    signal, windows = evidence.motion.signals[place], driving.windows
    slowest = max(_SLOWEST, 2.5 * driving.noise)
    # Noise adds to each way, by twice its variance along each axis.
    of_noise = 2 * sum(noise_of(axis) ** 2 for axis in signal.values.T) if place == "position" else 0.0
    way = np.sqrt(np.maximum(np.sum(driving.way**2, axis=1) - of_noise, 0.0))
    either = np.maximum(abs(driving.left), abs(driving.right))
    if float(np.quantile(either, 0.99)) < slowest:
        apart = float(np.linalg.norm(np.ptp(signal.values, axis=0))) if place == "position" else 0.0
        if apart > 1.0 + 20 * noise_of(signal.values):
            seen = f"a path of places up to {apart:.3g} m apart"
            yield Observation(name, subjects[::-1], seen, "while the belts stand", False, 10.0)
        return
    chosen = driving.straight & (abs(driving.forward) > slowest)
    if chosen.sum() < FEWEST:
        return
    ratios = way[chosen] / (windows.length * abs(driving.forward[chosen]))
    middle, high = float(np.median(ratios)), float(np.quantile(ratios, 0.9))
    level = _is_level(evidence, driving)[chosen]
    fitted = float(np.median(ratios[level])) if level.sum() >= FEWEST else 0.0
    is_no_slip = fitted > 0 and not 1 / _MANY_TIMES < fitted < _MANY_TIMES
    fits = (Correction("scale", belts[0], (fitted,)),) if is_no_slip else ()
    blurs = math.sqrt(of_noise) / (windows.length * abs(driving.forward[chosen]))
    scale = _constant_ratio(ratios[level], blurs[level])
    if (ratio := evidence.long_ratio) is not None:
        middle, high = min(middle, ratio), max(high, ratio)
    speeds = float(np.median(abs(driving.forward[chosen]))), float(np.median(way[chosen])) / windows.length
    state = f"belts at {speeds[0]:.3g} m/s and a path at {speeds[1]:.3g} m/s"
    if middle > BEYOND_BELTS:
        told = f"which is {middle:.3g} times as fast: nothing pushes a vehicle ahead of its belts"
        yield Observation(name, subjects, state, told, middle > FAR_BEYOND_BELTS, middle, fits=fits)
    elif high < BEHIND_BELTS:
        told = f"of whose travel it makes {high:.2g} at its best: they would slip everywhere"
        size = 1 / max(high, 1e-9)
        yield Observation(name, subjects, state, told, high < FAR_BEHIND_BELTS, size, fits=fits)
    elif scale is not None:
        yield _scaled(evidence, Observation(name, subjects, state), scale)
    else:
        yield Observation(name, subjects, state, misfit=_path_misfit(high))


_MANY_TIMES = 2.0
"""Ratio of path and belts from which no slip explains it, so that a scale is fitted to it."""
_EASY_SLIP = 0.1
"""Slip of level stretches that needs no reason [-]."""


def _path_misfit(ratio: float) -> float:
    """How far path over belt travel is from what slip explains [-]: it is that of the best windows."""
    ratio = max(ratio, 1e-9)
    return max(math.log(ratio), 0.0) + max(math.log((1 - _EASY_SLIP) / ratio), 0.0)


_STEADY = 0.15
"""Part of a slip by which it varies at least from place to place [-]."""
_LEVEL = math.radians(3.0)
"""Slope of a level stretch [rad]."""
_OFF = 0.07
"""Difference of path and belts that is told where it is the same everywhere [-]."""


_MOST, _MOST_NORMAL = 0.8, 1.2816
"""Part of the windows that counts, and how far that part of what is normally distributed is from 0 [std]."""


def _is_level(evidence: LogEvidence, driving: Driving) -> NDArray[np.bool_]:
    """Return the windows in which the path neither rises nor falls, nor the vehicle leans (n,)."""
    assert driving.way is not None
    level = abs(driving.way[:, 2]) < np.sin(_LEVEL) * np.linalg.norm(driving.way, axis=1) + 0.01
    if (pitch := evidence.motion.angle("pitch")) is not None:
        level &= abs(driving.windows.mean(pitch)) < _LEVEL
    return np.asarray(level)


def _constant_ratio(ratios: Array, blurs: Array) -> float | None:
    """Ratio of path to belts (n,) that is off by the same everywhere, as no slip is; None if it varies.

    More than by its noise, of so many standard deviations (n,).
    """
    if len(ratios) < FEWEST:
        return None
    middle = float(np.median(ratios))
    varies = float(np.quantile(abs(ratios - middle), _MOST))
    varies = math.sqrt(max(varies**2 - (_MOST_NORMAL * float(np.median(blurs))) ** 2, 0.0))
    return middle if middle > 0 and abs(middle - 1) > _OFF and varies < _STEADY * abs(middle - 1) else None


def _scaled(evidence: LogEvidence, seen: Observation, ratio: float) -> Observation:
    """Result for a path that is off by one ratio to belts everywhere, with a scale by which it would not be.

    Commands tell belts that are measured wrong from those that slip: where the path goes as they say, the
    belts do so as well.
    """
    told = f"which is {ratio:.3g} times as far in each level window"
    by_commands = evidence.command_ratio
    if evidence.belts is not None and evidence.belts[0] == "belt_speed" and by_commands is not None:
        if abs(by_commands * ratio - 1) < _OFF:
            told += f", and the belts are told {1 / by_commands:.3g} of it: their scale is wrong"
            fits = (Correction("scale", "belt_speed", (1 / by_commands,)),)
            return replace(seen, contradiction=told, size=max(ratio, 1 / ratio), fits=fits)
    if ratio > 1:
        told += ": nothing pushes a vehicle ahead of its belts, so that their radius or ratio is wrong"
    else:
        told += f": a slip of {1 - ratio:.2g} that never varies, or belts whose radius or ratio is wrong"
    return replace(seen, contradiction=told, size=max(ratio, 1 / ratio))


_EQUAL = 0.003
"""Difference of path and belts within which each window is computed, not measured [-]."""


def check_odometry(evidence: LogEvidence) -> Iterator[Observation]:
    """Look for a path that equals the belts' travel in each window: one that was computed from them."""
    driving, belts, position = evidence.driving, evidence.belts, evidence.motion.signals.get("position")
    if driving is None or belts is None or position is None or driving.way is None:
        return
    drives = moving(driving.forward) & (abs(driving.forward) > _SLOWEST)
    # Turns shorten the straight line from begin to end of a window.
    drives &= abs(driving.right - driving.left) < _STRAIGHT * abs(driving.right + driving.left)
    if drives.sum() < FEWEST:
        return
    way = np.linalg.norm(driving.way[drives], axis=1)
    off = float(np.quantile(abs(way / driving.windows.length / abs(driving.forward[drives]) - 1), 0.9))
    state = f"path and belts differ by {100 * off:.2g} % of the way"
    told = "as wheel odometry, which is computed from the belts and shows no slip" if off < _EQUAL else ""
    if told and not np.ptp(position.values[:, 2]):
        told += "; its heights are all the same"
    yield Observation("wheel odometry", ("position", belts[0]), state, told, False, 2.0)


def check_turning(evidence: LogEvidence) -> Iterator[Observation]:
    """Compare yaw rates with those of belts without slip."""
    driving, belts, rates = evidence.driving, evidence.belts, evidence.yaw_rates
    gauge = evidence.background.gauge
    if driving is None or belts is None or rates is None or gauge is None:
        return
    quantity, measured = rates
    without = (driving.right - driving.left) / gauge
    largest = (abs(driving.right) + abs(driving.left)) / gauge
    moves = False
    if driving.way is not None:
        path, fastest = np.linalg.norm(driving.way, axis=1), np.maximum(abs(driving.left), abs(driving.right))
        goes_on = path > 0.5 * driving.windows.length * fastest
        on_the_spot = goes_on[moving(without) & (driving.left * driving.right < 0)]
        moves = bool(len(on_the_spot) >= FEWEST and on_the_spot.mean() > 0.5)
    subjects = belts[0], quantity
    found = tuple(_judge_turning(subjects, without, measured, largest, driving.noise / gauge, moves))
    yield from found
    if not found and driving.straight.sum() >= FEWEST:
        rate = float(np.median(abs(measured[driving.straight])))
        state = f"belts that drive it straight on, and a yaw rate of {rate:.3g} rad/s"
        yield Observation("belts against yaw rate", subjects, state)


def check_steady_turning(evidence: LogEvidence) -> Iterator[Observation]:
    """Compare the yaw rates of a table of steady turns with those of belts without slip."""
    gauge = evidence.background.gauge
    if evidence.belts is None or gauge is None or not evidence.mapped.is_steady:
        return
    try:
        table = SteadyTable.of(evidence.motion)
        measured = table.yaw_rate(gauge)
    except SegtrackError:
        return  # It has nothing that a turn is told by.
    quantity = "yaw_rate" if "yaw_rate" in table.responses else "slip_velocity"
    largest = abs(table.belts).sum(axis=1) / gauge
    subjects = (evidence.belts[0], quantity)
    yield from _judge_turning(subjects, table.no_slip_rate(gauge), measured, largest)


def _judge_turning(
    subjects: tuple[str, str],
    without: Array,
    measured: Array,
    largest: Array,
    noise: float = 0.0,
    moves: bool = False,
) -> Iterator[Observation]:
    """Compare yaw rates (n,) [rad/s].

    Args:
        subjects: Quantities of the belts and of the yaw rates.
        without: Yaw rates of belts without slip.
        measured: Yaw rates as measured.
        largest: Yaw rates that the belts' speeds allow if they turned on the spot.
        noise: Standard deviation of the first.
        moves: True where the vehicle goes on as fast as its belts while they are said to turn it on the spot.
    """
    name = "belts against yaw rate"
    least = max(0.3 * float(np.quantile(abs(without), 0.9)), _SLOWEST_TURN, 5 * noise)
    turns = (abs(without) > least) & (abs(without) > _STRAIGHT * largest)
    if turns.sum() >= FEWEST:
        ratios = measured[turns] / without[turns]
        middle, high = float(np.median(ratios)), float(np.quantile(ratios, 0.9))
        rates = [float(np.median(abs(values[turns]))) for values in (without, measured)]
        state = f"belts that would turn it at {rates[0]:.3g} rad/s, and a yaw rate of {rates[1]:.3g} rad/s"
        if middle < 0 and float(np.mean(ratios < 0)) > 0.75 and abs(middle) > 0.1:
            yield Observation(name, subjects, state, "the other way", True, 10.0)
        elif moves:
            told = "while the path goes on as straight and fast as the belts run"
            yield Observation(name, subjects, state, told, True, 10.0)
        elif middle > BEYOND_TURNING:
            told = f"which is {middle:.3g} times as fast as belts without slip would turn it"
            yield Observation(name, subjects, state, told, middle > FAR_BEYOND_TURNING, middle)
        elif high < HARDLY_TURNS:
            yield Observation(name, subjects, state, "which hardly turns at all", False, 2.0)
        else:
            yield Observation(name, subjects, state, misfit=max(math.log(max(middle, 1e-9)), 0.0))
        return
    beyond = abs(measured) > BEYOND_DRIVES * largest + _SLOWEST_TURN
    if beyond.mean() > 0.25:
        rates = [float(np.median(values[beyond])) for values in (abs(measured), largest)]
        seen = f"a yaw rate of {rates[0]:.3g} rad/s"
        told = f"where the belts turn the vehicle at {rates[1]:.3g} rad/s at most"
        # A gyroscope's bias is a rate of its own.
        is_certain = subjects[1] in ("yaw", "orientation") or rates[0] > _BIAS
        yield Observation(name, subjects[::-1], seen, told, is_certain, rates[0] / max(rates[1], 1e-6))


def check_drives(evidence: LogEvidence) -> Iterator[Observation]:
    """Compare belt speeds with the top speed of the vehicle's drives."""
    drives = [drive for own in evidence.background.drives.values() for drive in own]
    if not drives:
        return
    top = max(drive.top_speed for drive in drives)
    for quantity in ("belt_speed", "belt_speed_command"):
        sides = [s for key, s in evidence.motion.signals.items() if key.startswith(f"{quantity}.")]
        if not sides:
            continue
        fastest = max(float(np.quantile(abs(signal.values), 0.95)) for signal in sides)
        state = f"belts at {fastest:.3g} m/s"
        told = f"of a vehicle whose drives reach {top:.3g} m/s"
        is_beyond = fastest > BEYOND_DRIVES * top
        yield Observation(
            "belts against drives",
            (quantity,),
            state,
            told if is_beyond else "",
            fastest > FAR_BEYOND_DRIVES * top,
            max(fastest / top, 1.0),
        )
        yield from _moments(quantity, sides, top)


_FAR = 3.0
"""Belt speed of a moment over the top speed, from which it is told."""
_OVER_NOISE = 12.0


def _moments(quantity: str, sides: Sequence[Signal], top: float) -> Iterator[Observation]:
    """Look for speeds of a few samples that no drive reaches, beyond the noise."""
    far = [abs(s.values) > _FAR * top + _OVER_NOISE * noise_of(s.values) for s in sides]
    if any(rows.any() for rows in far) and max(float(rows.mean()) for rows in far) < 0.05:
        worst = max(sides, key=lambda signal: float(np.max(abs(signal.values))))
        row = int(np.argmax(abs(worst.values)))
        state = f"belts at {worst.values[row]:.3g} m/s for a moment at {worst.times[row]:.4g} s"
        told = f"of a vehicle whose drives reach {top:.3g} m/s"
        size = abs(float(worst.values[row])) / top
        yield Observation("belts against drives", (quantity,), state, told, False, size)


_SAME = 0.9
"""Correlation of commands and belts of the two sides from which they are those of each other."""


def check_commands(evidence: LogEvidence) -> Iterator[Observation]:
    """Compare belt speeds with their commands, those of each side, and the difference of both."""
    driving, pairs = evidence.driving, evidence.commanded
    subjects, name = ("belt_speed", "belt_speed_command"), "belts against commands"
    for side, (told, made) in pairs.items() if driving is not None else ():
        drives = moving(told) | moving(made)
        if drives.sum() < FEWEST or max(abs(told).max(), abs(made).max()) < _SLOWEST:
            continue
        speeds = [float(np.median(abs(values[drives]))) for values in (told, made)]
        state = f"{side} belts told {speeds[0]:.3g} m/s that run at {speeds[1]:.3g} m/s"
        if not abs(told[drives]).any():
            yield Observation(name, subjects, state, "though nothing commands them", False, 2.0)
            continue
        share = float(told[drives] @ made[drives]) / float(told[drives] @ told[drives])
        if share < -0.1:
            yield Observation(name, subjects, state, "the other way", True, 10.0)
        elif not 0.5 <= share <= 1.5:
            # Belts that stall, or stop by a switch, run slower without a mistake.
            size = max(abs(share), 1 / max(abs(share), 1e-3))
            yield Observation(name, subjects, state, f"which is {share:.3g} times as fast", share > 3.0, size)
        else:
            yield Observation(name, subjects, state, misfit=abs(math.log(share)))
    if len(pairs) == len(SIDES):
        told, made = (pairs["right"][i] - pairs["left"][i] for i in range(2))
        turns = abs(told) > max(0.3 * float(abs(told).max()), _SLOWEST)
        alike = float(told[turns] @ made[turns])
        alike /= max(float(np.linalg.norm(told[turns]) * np.linalg.norm(made[turns])), 1e-12)
        if turns.sum() >= FEWEST and alike < -_SAME:
            rates = [float(np.median(abs(values[turns]))) for values in (told, made)]
            state = (
                f"sides told to differ by {rates[0]:.3g} m/s in turns, and that differ by {rates[1]:.3g} m/s"
            )
            yield Observation(name, subjects, state, "the other way, as those of each other", True, 10.0)
