"""Single signals of a mapped log, and belts against path, turning, drives and commands.

Of a single signal: numbers that mean none, counters that start again, spikes, jumps, and values that stand.

On ground that does not move a vehicle's belts slip backwards when they drive it: its path is at most as long
as their travel, and it turns at most as fast as belts without slip would turn it. Downhill and in free motion
both may be exceeded for a while, so medians count.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import trapezoid
from scipy.ndimage import median_filter

from segtrack.errors import SegtrackError
from segtrack.logs.mapping.channels import find_column
from segtrack.logs.mapping.evidence import FEWEST, Array, LogEvidence, Observation, moving
from segtrack.logs.mapping.mapped_log import SteadyTable
from segtrack.logs.mapping.quantities import BELT_TRAVEL, SIDES, BeltSpeed, Despike
from segtrack.logs.statistics import noise_of
from segtrack.robot import Signal, same_signs

_SPIKES = {
    "position": 0.1, "orientation": 0.15, "roll": 0.2, "pitch": 0.2, "yaw": 0.2, "velocity": 1.0,
    "angular_velocity": 5.0, "yaw_rate": 3.0, "belt_speed": 0.3, "flipper_angle": 0.2,
}  # fmt: skip
"""Smallest excursion of a few samples that is none of a vehicle, by quantity, in its unit."""
_SHORT = 3
"""Samples of the longest excursion that is a spike."""
_SPEED, _TURN = 4.0, 8.0
"""Fastest motion [m/s] and turning [rad/s] of a vehicle that falls or tips over."""
_FASTEST = {"position": _SPEED, "orientation": _TURN / 2} | dict.fromkeys(
    ("roll", "pitch", "yaw", "flipper_angle"), _TURN
)
"""Fastest change of a quantity, in its unit a second."""
_SLOW = 0.15
"""Time between samples from which a short motion is as long as a spike [s]."""
_SHORTEST_SPACING = 2e-4
"""Time between samples that is shorter than that of any sensor on a vehicle [s]."""
_STANDS = 0.4
"""Shortest time for which a value that stands is looked at [s]."""
_FEWEST_STANDING = 6
_COUNTERS = (2.0**8, 2.0**10, 2.0**12, 2.0**14, 2.0**15, 2.0**16, 2.0**24, 2.0**31, 2.0**32, 360.0, 2 * np.pi)
"""Numbers after which counters, and angles, start again."""
_NONE = (
    999.0,
    9999.0,
    99999.0,
    999999.0,
    32767.0,
    32768.0,
    65535.0,
    2147483647.0,
    2147483648.0,
    4294967295.0,
)
"""Sizes of numbers that loggers write for none."""


def check_spacing(evidence: LogEvidence) -> Iterator[Observation]:
    """Look for clocks that run so fast that nothing could be measured so often."""
    for key, signal in evidence.motion.signals.items():
        count, lasts = len(signal.times), float(signal.times[-1] - signal.times[0])
        if evidence.mapped.is_steady or count < 50 or lasts / (count - 1) > _SHORTEST_SPACING:
            continue
        state = f"{count} samples of {key} within {lasts:.3g} s"
        told = f"{count / lasts:.3g} in a second: its times may be in another unit than s" + _as_days(signal)
        yield Observation("sample times", (_path(key),), state, told, lasts < 0.5, 10.0)
        return


def _as_days(signal: Signal) -> str:
    """Say how far apart samples would be if their times were days, with the line for it."""
    step = 86400 * float(np.median(np.diff(signal.times)))
    line = f"sources: {{{signal.source}: {{time: ..., unit: d}}}}"
    return f"; {step:.3g} s apart if they are days: {line}" if step > _SHORTEST_SPACING else ""


def check_missing(evidence: LogEvidence) -> Iterator[Observation]:
    """Look for a number that stands for none, far from all others of its channel."""
    for quantity, name, _, values, known in _channels(evidence):
        numbers = values[np.isfinite(values) & ~np.isin(values, known)]
        low, high = np.quantile(numbers, [0.05, 0.95]) if len(numbers) else (0.0, 0.0)
        marks = numbers[np.isin(abs(numbers), _NONE) & (abs(numbers) > 20 * max(abs(low), abs(high)))]
        if not len(marks) or len(marks) > 0.3 * len(numbers):
            continue
        found, counts = np.unique(marks, return_counts=True)
        best = float(found[np.argmax(counts)])
        rows = f"{counts.max()} of {len(values)} rows"
        state = f"{name} is {best:g} in {rows} and else from {low:.3g} to {high:.3g}"
        told, care = "as loggers write for a number that is missing", (quantity, "missing", (best,))
        yield Observation("missing value", (quantity,), state, told, True, 100.0, care=care)


def check_counters(evidence: LogEvidence) -> Iterator[Observation]:
    """Look for counters of travel that start again: by more than it goes on, in the time that has passed."""
    for quantity, name, times, values, _ in _channels(evidence):
        reference = getattr(evidence.mapped.mapping.file.quantities, quantity, None)
        if isinstance(reference, BeltSpeed) and reference.wrap is not None:
            continue
        if quantity not in ("belt_speed", "belt_speed_command"):
            continue
        unit = next(o.unit for k, o in evidence.mapped.origins.items() if k.startswith(f"{quantity}."))
        if unit not in BELT_TRAVEL:
            continue
        there = np.isfinite(values) & np.isfinite(times)
        steps, rows = np.diff(values[there]), np.diff(times[there])
        rows = np.maximum(rows / max(float(np.median(rows)), 1e-9), 1.0) if len(rows) else rows
        common = float(np.quantile(abs(steps) / rows, 0.9)) if len(steps) else 0.0
        is_large = abs(steps) > np.maximum(4 * common * rows, 1e-9)
        large, passed = abs(steps[is_large]), rows[is_large]
        if not len(large) or len(large) > 0.1 * len(steps):
            continue
        near = [
            p
            for p in _COUNTERS
            if (abs(large - p) < np.maximum(2 * common * passed, 1e-6 * p)).all()
            and (6 * common * passed < p).all()
        ]
        if near:
            size = float(np.median(large))
            state = f"{name} changes by {size:.6g} within a row {len(large)} times, else by {common:.3g}"
            told = f"as a counter that starts again after {near[0]:.10g}"
            care = (quantity, "wrap", near[0])
            yield Observation("wrapped counter", (quantity,), state, told, True, 100.0, care=care)


def check_spikes(evidence: LogEvidence) -> Iterator[Observation]:
    """Look for excursions of a few samples beyond all else that a signal does."""
    for key, signal in evidence.motion.signals.items():
        quantity = key.partition(".")[0]
        if quantity not in _SPIKES or len(signal.times) < 12 or evidence.mapped.is_steady:
            continue
        spacing = float(np.median(np.diff(signal.times)))
        if spacing > _SLOW and quantity not in _FASTEST:
            continue  # A drive of a moment is as short.
        values = _columns(signal)
        # Of one column at a time: scipy has a fast way for those.
        rest = np.stack([median_filter(c, 2 * _SHORT + 1, mode="nearest") for c in values.T], axis=1)
        away = np.abs(values - rest)
        noise = noise_of(values)
        spans = np.quantile(rest, 0.99, axis=0) - np.quantile(rest, 0.01, axis=0)
        limit = np.maximum(
            np.maximum(_SPIKES[quantity], 12 * noise), (2.0 if quantity.startswith("belt") else 0.0) * spans
        )
        is_fast = away > limit
        # What a vehicle can do in the time of a spike is none.
        reach = _FASTEST.get(quantity, 0.0)
        is_fast &= away > reach * _SHORT * spacing
        other = evidence.motion.signals.get(_other_side(key))
        if other is not None and len(other.values) == len(values):
            # What both sides do at once is a motion.
            both = np.abs(other.values - median_filter(other.values, 2 * _SHORT + 1, mode="nearest"))
            is_fast &= (both < 0.3 * away[:, 0])[:, None]
        rows = np.flatnonzero(is_fast.any(axis=1))
        if not len(rows) or len(rows) > 0.1 * len(values):
            continue
        first, worst = rows[0], float(np.max((away / limit)[rows]))
        most = values[rows[np.argmax(away[rows].max(axis=1))]]
        shown = ", ".join(f"{value:.4g}" for value in most)
        when = f"{_runs(rows)} times, first at {signal.times[first]:.4g} s"
        state = f"{key} is away for a moment {when}, as far as {shown}"
        told = f"and back within {_SHORT} samples"
        care = (
            None
            if signal.is_orientation
            else (_path(key), "despike", Despike(window=2 * _SHORT + 1, limit=12))
        )
        yield Observation("spikes", (_path(key),), state, told, worst > 3, worst, care=care)


def check_jumps(evidence: LogEvidence) -> Iterator[Observation]:
    """Look for poses that are elsewhere from one sample to the next, and stay there."""
    for key in ("position", "orientation", "roll", "pitch", "yaw"):
        signal = evidence.motion.signals.get(key)
        if signal is None or len(signal.times) < 12:
            continue
        values = _columns(signal)
        # Medians of four samples before and behind each step: spikes and noise are in none.
        before = _median_of_four(values[:-3], values[1:-2], values[2:-1], values[3:])
        steps = np.linalg.norm(before[4:] - before[:-4], axis=1) * (2.0 if key == "orientation" else 1.0)
        at_once = np.linalg.norm(np.diff(values, axis=0), axis=1)[3:-3][: len(steps)] * (
            2.0 if key == "orientation" else 1.0
        )
        spacing = np.diff(signal.times)[3:-3][: len(steps)]
        fastest, least = (_SPEED, 0.15) if key == "position" else (_TURN, 0.3)
        noise = noise_of(values)
        limit = least + fastest * spacing + 12 * noise
        jumps = np.flatnonzero((at_once > limit) & (steps > limit))
        if not len(jumps):
            continue
        worst = int(jumps[np.argmax(at_once[jumps])])
        when, unit = signal.times[worst + 4], "m" if key == "position" else "rad"
        state = f"{key} changes by {at_once[worst]:.3g} {unit} within {spacing[worst]:.2g} s at {when:.4g} s"
        told = "and stays there, which no vehicle does"
        size = float(at_once[worst] / limit[worst])
        care = _longer_piece(evidence, float(when), float(when))
        yield Observation("jump", (key,), state, told, size > 2, size, care=care)


def _median_of_four(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Medians of four numbers each, of any shape."""
    upper, lower = (
        np.minimum(np.maximum(a, b), np.maximum(c, d)),
        np.maximum(np.minimum(a, b), np.minimum(c, d)),
    )
    return (upper + lower) / 2


def check_standing(evidence: LogEvidence) -> Iterator[Observation]:
    """Look for poses and rates that stay equal to the last digit while the belts drive."""
    driving = evidence.driving
    if driving is None or evidence.belts is None:
        return
    left, right = evidence.belts[1:]
    for key in ("position", "velocity", "orientation", "angular_velocity"):
        signal = evidence.motion.signals.get(key)
        if signal is None or len(signal.times) < 20:
            continue
        same = np.asarray(~np.diff(_columns(signal), axis=0).any(axis=1))
        begin, end = _longest_run(same)
        first, last = float(signal.times[begin]), float(signal.times[end])
        if end - begin < _FEWEST_STANDING or last - first < _STANDS:
            continue
        travels = [_travel(side, first, last) for side in (left, right)]
        # Straight on, nothing turns.
        travel = (
            abs(travels[1] - travels[0]) if key in ("orientation", "angular_velocity") else sum(travels) / 2
        )
        others = np.delete(same, np.arange(begin, end))
        if abs(travel) < 0.1 or (len(others) and others.mean() > 0.3):
            continue
        state = f"{key} stays equal to the last digit from {first:.4g} to {last:.4g} s"
        told = f"while the belts run {max(map(abs, travels)):.2g} m"
        is_certain = len(others) > 20 and float(others.mean()) < 0.05
        care = _longer_piece(evidence, first, last)
        yield Observation("frozen", (key,), state, told, is_certain, 5.0, care=care)


def _longer_piece(evidence: LogEvidence, first: float, last: float) -> tuple[str, str, float] | None:
    """Line of the mapping that leaves the longer piece before or behind a time [s]; None if there is none."""
    begin, end = evidence.motion.span
    if evidence.mapped.trial is not None or max(first - begin, end - last) < 0.5:
        return None
    # A sample's time and more aside, so that rounding keeps none of what is cut.
    before, behind = (first - begin) >= (end - last), last + 0.05
    return ("", "end", round(first - 0.05, 2)) if before else ("", "start", round(behind, 2))


def _travel(side: Signal, first: float, last: float) -> float:
    inside = (side.times >= first) & (side.times <= last)
    return float(trapezoid(side.values[inside], side.times[inside])) if inside.any() else 0.0


def _longest_run(same: NDArray[np.bool_]) -> tuple[int, int]:
    """First and last sample of the longest run of equal values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], same, [False]]).astype(int)))
    if not len(edges):
        return 0, 0
    lengths = edges[1::2] - edges[::2]
    longest = int(np.argmax(lengths))
    return int(edges[2 * longest]), int(edges[2 * longest + 1])


def _other_side(key: str) -> str:
    name, _, side = key.partition(".")
    return f"{name}.{'right' if side == 'left' else 'left'}" if side in ("left", "right") else ""


def _runs(rows: NDArray[np.intp]) -> int:
    return 1 + int(np.sum(np.diff(rows) > 1))


def _path(key: str) -> str:
    """Path in the mapping of a signal's quantity: sides have one for both."""
    name, _, which = key.partition(".")
    return name if which in ("left", "right", "") else key


def _columns(signal: Signal) -> Array:
    values = same_signs(signal.values) if signal.is_orientation else signal.values
    return values.reshape(len(values), -1)


def _channels(evidence: LogEvidence) -> Iterator[tuple[str, str, Array, Array, tuple[float, ...]]]:
    """Each channel in use: its quantity, name, times and numbers while the log is used, and marks of none."""
    mapped, quantities = evidence.mapped, evidence.mapped.mapping.file.quantities
    done = set()
    for path, reference in quantities.references():
        signal = next((s for key, s in mapped.motion.signals.items() if _path(key) == path), None)
        for _, name in reference.channel_names():
            column = find_column(mapped.log, name)
            if column is None or signal is None or name in done:
                continue
            done.add(name)
            numbers, times = (
                column.values.reshape(len(column.values), -1),
                column.channel.times - mapped.begin,
            )
            if not mapped.is_steady:
                used = (times >= signal.times[0] - 1) & (times <= signal.times[-1] + 1)
                numbers, times = numbers[used], times[used]
            for i, values in enumerate(numbers.T):
                shown = name if numbers.shape[1] == 1 else f"{name}[{i}]"
                yield path, shown, times, values, reference.missing


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
