"""Tables whose rows are steady turns, each by itself: numbers of rows take the place of times."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from segtrack.errors import Problem
from segtrack.logs.mapping.channels import Found
from segtrack.logs.mapping.convert import signals_of
from segtrack.logs.motion import Signal


def steady_rows(
    found: Sequence[Found], gauge: float | None, notes: list[str]
) -> tuple[dict[str, Signal], list[Problem]]:
    """Signals over numbers of rows; rows that lack a number of any are left out of all.

    Args:
        found: What the mapping names, all of one table.
        gauge: Distance of the vehicle's tracks [m]; None if it is not known.
        notes: Where it is noted what was left out.
    """
    signals: dict[str, Signal] = {}
    problems: list[Problem] = []
    lengths = {len(column.values) for part in found for column in part.columns.values()}
    if len(lengths) > 1:
        return {}, [Problem("quantities", f"must be of one table, got columns of {sorted(lengths)} rows")]
    numbers = np.arange(float(lengths.pop()))
    for part in found:
        # Rows that lack a number are noted below, of all together.
        own, complaints = signals_of(part, numbers, np.ones(len(numbers), dtype=bool), gauge, np.inf, [])
        signals |= own
        problems += complaints
    if problems:
        return {}, problems
    whole = numbers[np.all([np.isin(numbers, signal.times) for signal in signals.values()], axis=0)]
    if not len(whole):
        return {}, [Problem("quantities", "must have a row in which all of them have a number")]
    if len(whole) < len(numbers):
        notes.append(f"{len(numbers) - len(whole)} of {len(numbers)} rows lack a number: left out")
    return {
        key: Signal(whole, signal.at(whole), signal.std, signal.source) for key, signal in signals.items()
    }, []
