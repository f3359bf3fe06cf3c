"""Belts against path, turning, drives and commands.

On ground that does not move a vehicle's belts slip backwards when they drive it: its path is at most as long
as their travel, and it turns at most as fast as belts without slip would turn it. Downhill and in free motion
both may be exceeded for a while, so medians count.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from segtrack.errors import SegtrackError
from segtrack.logs.plausibility.evidence import FEWEST, Array, LogEvidence, moving
from segtrack.logs.plausibility.finding import Observation
from segtrack.logs.replay import SIDES
from segtrack.logs.statistics import noise_of
from segtrack.logs.steady import SteadyTable

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
    if (ratio := evidence.long_ratio) is not None:
        middle, high = min(middle, ratio), max(high, ratio)
    speeds = float(np.median(abs(driving.forward[chosen]))), float(np.median(way[chosen])) / windows.length
    state = f"belts at {speeds[0]:.3g} m/s and a path at {speeds[1]:.3g} m/s"
    if middle > BEYOND_BELTS:
        told = f"which is {middle:.3g} times as fast: nothing pushes a vehicle ahead of its belts"
        yield Observation(name, subjects, state, told, middle > FAR_BEYOND_BELTS, middle)
    elif high < BEHIND_BELTS:
        told = f"of whose travel it makes {high:.2g} at its best: they would slip everywhere"
        yield Observation(name, subjects, state, told, high < FAR_BEHIND_BELTS, 1 / max(high, 1e-9))
    else:
        yield Observation(name, subjects, state, misfit=abs(math.log(max(high, 1e-9))))


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
            yield Observation(name, subjects, state)
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


def check_commands(evidence: LogEvidence) -> Iterator[Observation]:
    """Compare belt speeds with their commands."""
    signals = evidence.motion.signals
    for side in SIDES if not evidence.mapped.is_steady else ():
        command, measured = signals.get(f"belt_speed_command.{side}"), signals.get(f"belt_speed.{side}")
        driving = evidence.driving
        if command is None or measured is None or driving is None:
            continue
        windows = driving.windows
        told, made = windows.mean(command), windows.mean(measured)
        drives = moving(told) | moving(made)
        if drives.sum() < FEWEST or max(abs(told).max(), abs(made).max()) < _SLOWEST:
            continue
        speeds = [float(np.median(abs(values[drives]))) for values in (told, made)]
        state = f"{side} belts told {speeds[0]:.3g} m/s that run at {speeds[1]:.3g} m/s"
        subjects, name = ("belt_speed", "belt_speed_command"), "belts against commands"
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
