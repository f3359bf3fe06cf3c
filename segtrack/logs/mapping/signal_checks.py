"""Single signals of a mapped log: numbers that mean none, counters, spikes, jumps, and values that stand."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import trapezoid
from scipy.ndimage import median_filter

from segtrack.logs.mapping.channels import find_column
from segtrack.logs.mapping.evidence import Array, LogEvidence, Observation, moving
from segtrack.logs.mapping.quantities import BELT_TRAVEL, BeltSpeed, Despike
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
            continue
        yield from _restarts(evidence, quantity, name, times[there], values[there], np.flatnonzero(is_large))


_MOST_RESTARTS = 3
_FAR = 20.0
"""Step of a counter that starts again, over those that it goes on by."""


def _restarts(
    evidence: LogEvidence, quantity: str, name: str, times: Array, values: Array, rows: NDArray[np.intp]
) -> Iterator[Observation]:
    """Look for a counter that is where it began from one row to the next, as after a reset of its board."""
    usual = float(np.quantile(abs(np.diff(values)), 0.9))
    begin, end = evidence.motion.span
    used = [row for row in rows if begin <= times[row] and times[row + 1] <= end]
    away = [row for row in used if abs(values[row + 1] - values[0]) <= 4 * usual]
    far = [row for row in away if abs(values[row] - values[row + 1]) > _FAR * usual]
    if not 0 < len(far) == len(used) <= _MOST_RESTARTS:
        return
    first, last = float(times[far[0]]), float(times[far[-1] + 1])
    state = f"{name} goes from {values[far[0]]:.6g} to {values[far[0] + 1]:.6g} at {last:.4g} s"
    told = "a counter that starts again there: split the log, or use one piece"
    care = _longer_piece(evidence, first, last)
    yield Observation("counter starts again", (quantity,), state, told, True, 100.0, care=care)


_ALTERNATES = 6.0
"""Change to the next row over that to the next but one, from which rows are of two sources by turns."""

_APART = {"position": 0.02, "orientation": 0.02, "velocity": 0.03, "belt_speed": 0.03}
"""Change from one row to the next that is looked at, in the quantity's unit."""


def check_sources(evidence: LogEvidence) -> Iterator[Observation]:
    """Look for signals that go to and fro from row to row between two that are smooth each."""
    for key, signal in evidence.motion.signals.items():
        quantity = key.partition(".")[0]
        if quantity not in _APART or len(signal.times) < 50:
            continue
        values = _columns(signal)
        once, twice = (np.linalg.norm(values[k:] - values[:-k], axis=1) for k in (1, 2))
        near, far = float(np.quantile(twice, 0.75)), float(np.quantile(once, 0.5))
        if far > _ALTERNATES * near + _APART[quantity]:
            state = (
                f"{key} changes by {far:.3g} from row to row, and by {near:.3g} from each to the next but one"
            )
            told = "as of two sources by turns, such as two robots on one topic"
            yield Observation("two sources", (_path(key),), state, told, True, 50.0)


_HELD = 0.3
"""Time for which a value may stand while the vehicle moves [s]."""


def check_held(evidence: LogEvidence) -> Iterator[Observation]:
    """Look for poses that stand for several rows and go on by a step, again and again, while they change."""
    driving = evidence.driving
    if driving is None or evidence.belts is None:
        return
    left, right = evidence.belts[1:]
    for key in ("position", "orientation"):
        if (signal := evidence.motion.signals.get(key)) is None or len(signal.times) < 50:
            continue
        rates = right.at(signal.times) - left.at(signal.times)
        if key == "position":
            rates = right.at(signal.times) + left.at(signal.times)
        moves = moving(rates) & (abs(rates) > 1e-2)
        values = _columns(signal)
        changes = np.flatnonzero(np.diff(values, axis=0).any(axis=1) & moves[1:])
        if len(changes) < 2 * _FEWEST_STANDING:
            continue
        intervals = np.diff(signal.times[changes])
        lasts = float(np.median(intervals))
        steps = np.linalg.norm(np.diff(values, axis=0)[changes], axis=1)
        # What is rounded goes on by equal steps, what is held by equal times.
        is_rounded = _spread(steps) < _spread(intervals)
        state = f"{key} changes every {lasts:.2g} s"
        if lasts > _HELD and lasts > 3 * float(np.median(np.diff(signal.times))) and not is_rounded:
            told = "and is held in between: it is late by half of that on average"
            yield Observation("held", (key,), state, told, False, 1 + lasts)


def _spread(values: Array) -> float:
    """Relative spread of the middle half of some numbers [-]."""
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    return float((high - low) / middle)


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
