"""Care for a channel's numbers that a mapping declares: marks of none, spikes, counters that start again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from segtrack.logs.mapping.belt_speed import BeltSpeed
from segtrack.logs.mapping.references import Reference

Array = NDArray[np.float64]
_SIGMA = 1.4826
"""Standard deviation of normal numbers over their median absolute deviation."""
_STILL, _LONG, _FEW = 0.01, 0.4, 0.01
"""Steps over a period: a counter stands up to the first, is too fast beyond the second; share that may be."""


def care_for(reference: Reference, path: str, values: Array, notes: list[str]) -> tuple[Array, str | None]:
    """Return a channel's numbers as the mapping's care for them leaves them, NaN where one is none.

    Beside them is what is wrong of the counter's period; None if nothing is.

    Marks of none go first, then spikes, then turns of counters are added up: neither of them makes a spike.

    Args:
        reference: Entry of the mapping file.
        path: Path of the quantity, with the key of the channel, for notes.
        values: Numbers (n,) or (n, k).
        notes: List to which it is added how many are left out, or how often a counter started again.
    """
    wrap = reference.wrap if isinstance(reference, BeltSpeed) else None
    if not reference.missing and reference.despike is None and wrap is None:
        return values, None
    found = np.array(values)
    if reference.missing:
        marks = np.isin(found, reference.missing)
        found[marks] = np.nan
        if marks.any():
            listed = ", ".join(f"{mark:g}" for mark in reference.missing)
            notes.append(f"{path}: {marks.sum()} of {found.size} numbers mean none ({listed})")
    if reference.despike is not None:
        window, limit = reference.despike.window, reference.despike.limit
        spikes = np.stack([find_spikes(c, window, limit) for c in np.atleast_2d(found.T)]).T.reshape(
            found.shape
        )
        found[spikes] = np.nan
        if spikes.any():
            rule = f"beyond {limit:g} deviations of {window} numbers"
            notes.append(f"{path}: {spikes.sum()} of {found.size} numbers are spikes, {rule}: left out")
    if wrap is None:
        return found, None
    problem = _period_problem(found, wrap)
    return (_unwrapped(found, wrap, path, notes) if problem is None else found), problem


def find_spikes(values: Array, window: int, limit: float) -> NDArray[np.bool_]:
    """Return which numbers are spikes (n,): Hampel's rule.

    A number is one if it is farther from the median of the window around it than `limit` times their
    deviation, 1.4826 times the median absolute one. Windows at the ends are what is there of them.

    Args:
        values: Numbers (n,); those that are NaN are none, and counted nowhere.
        window: Length of the window, odd, at most 1001.
        limit: Largest deviation over that of the window.
    """
    there = np.isfinite(values)
    numbers, half = values[there], window // 2
    padded = np.concatenate([np.full(half, np.nan), numbers, np.full(half, np.nan)])
    found = np.zeros(len(numbers), dtype=bool)
    block = _BLOCK // window
    for first in range(0, len(numbers), block):
        last = min(first + block, len(numbers))
        around = np.lib.stride_tricks.sliding_window_view(padded[first : last + 2 * half], window)
        is_whole = not np.isnan(around[[0, -1]]).any()
        median = np.median if is_whole else np.nanmedian
        middle = median(around, axis=1)
        spread = _SIGMA * median(abs(around - middle[:, None]), axis=1)
        found[first:last] = abs(numbers[first:last] - middle) > limit * spread
    spikes = np.zeros(len(values), dtype=bool)
    spikes[there] = found
    return spikes


_BLOCK = 2_000_000
"""Numbers of all windows at a time."""


def _period_problem(values: Array, period: float) -> str | None:
    """Describe steps from row to row that are near half of a period, of which nobody knows the way.

    Single ones are let pass: rows may be missing there.
    """
    steps = np.diff(values)
    part = np.abs(np.remainder(steps[np.isfinite(steps)] / period + 0.5, 1.0) - 0.5)
    moves, beyond = int(np.count_nonzero(part > _STILL)), int(np.count_nonzero(part > _LONG))
    if beyond <= _FEW * moves:
        return None
    rule = "must be more than twice what a counter moves from row to row, in its unit"
    return f"{rule}, got {period:g}: {100 * _LONG:g} % of it are exceeded by {beyond} of {moves} steps"


def _unwrapped(values: Array, period: float, path: str, notes: list[str]) -> Array:
    """Numbers of a counter that starts again after a period, added up; steps are shorter than half of it."""
    found, there = np.array(values), np.isfinite(values)
    found[there] = np.unwrap(values[there], period=period)
    rounds = np.rint((found[there] - values[there]) / period)
    if count := int(np.count_nonzero(np.diff(rounds))):
        share = 100 * np.abs(np.diff(found[there])).max() / period
        notes.append(
            f"{path}: starts again {count} times, at {period:g}; steps are at most {share:.2g} % of that"
        )
    return found
