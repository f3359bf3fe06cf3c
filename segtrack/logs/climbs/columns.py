"""Columns of a table of trials: their units, and what a column that cannot be right would fit as."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import combinations
from typing import Any

from segtrack.logs.mapping import LENGTH, SPEED

UNITS: Mapping[str, Mapping[str, float]] = {
    "height": {**{unit: LENGTH[unit] for unit in ("m", "cm", "mm")}, "in": 0.0254},
    "speed": SPEED,
    "friction": {"-": 1.0, "%": 0.01},
    "front_flippers": {"deg": 1.0, "rad": 180 / math.pi},
    "rear_flippers": {"deg": 1.0, "rad": 180 / math.pi},
}
"""Units by column; the first one is that of a header without a unit."""
HIGHEST, FASTEST, ROUGHEST, STEEPEST = 5.0, 20.0, 3.0, 180.0
"""Bounds of any vehicle's steps [m], belt speeds [m/s], frictions [-] and flippers' angles [deg]."""
_BOUNDS = {
    "height": (0.0, HIGHEST),
    "speed": (0.0, FASTEST),
    "friction": (0.0, ROUGHEST),
    "front_flippers_deg": (-STEEPEST, STEEPEST),
    "rear_flippers_deg": (-STEEPEST, STEEPEST),
}
_POSITIVE = ("height", "speed")
_OUTCOMES = ("climbed", "failed")
_WORDS = {
    "climbed": ("success", "succeeded", "successful", "passed", "pass", "yes", "y", "true", "ok", "1"),
    "failed": ("fail", "failure", "unsuccessful", "stuck", "no", "n", "false", "not climbed", "0"),
}
_TYPICAL_HEIGHT = 0.2
"""Height of a typical step of trials, where the vehicle is not known [m]."""
TYPICAL_SPEED = 0.2
"""Typical speed of belts over steps [m/s]."""


def column_of(head: str) -> tuple[str, float] | None:
    """Column of a header's cell, as `height [cm]`, and the factor to its own unit; None if unknown."""
    found = re.fullmatch(r"(\w+)\s*\[(.+)\]", head)
    if found is None:
        return head, 1.0
    name, unit = found[1].removesuffix("_deg"), found[2].strip()
    if unit not in UNITS.get(name, {}):
        return None
    return (f"{name}_deg" if name.endswith("flippers") else name), UNITS[name][unit]


def fitting_unit(column: str, values: Sequence[float], most: float, typical: float) -> str | None:
    """The unit that would fit values of a column, as the end of a message.

    Args:
        column: Name of the column.
        values: Values of the column, all greater than 0.
        most: Largest value that there may be, in the column's own unit.
        typical: Value in that unit; of units that fit, the one is meant that leads nearest to it.
    """
    own, *others = UNITS[column].items()
    middle = float(sorted(values)[len(values) // 2])
    fits = [(unit, factor) for unit, factor in others if max(values) * factor <= most]
    if not fits:
        return None
    unit, factor = min(fits, key=lambda pair: abs(math.log(middle * pair[1] / typical)))
    got = _span([float(f"{value * factor:.3g}") for value in values])
    own_unit = f" {own[0]}" if own[0] != "-" else ""
    return f"`{unit}` would fit, {got}{own_unit} (`{column} [{unit}]` in the header of a CSV file)"


def explain_columns(trials: Sequence[Mapping[str, Any]]) -> dict[str, str | None]:
    """Say what is wrong of whole columns that cannot be what their names say, whatever the vehicle.

    Args:
        trials: Values by column, as they were read.

    Returns:
        A message a column, None for one that is said with another; what rows have of these columns is then
        no other mistake.
    """
    columns: dict[str, list[Any]] = {}
    for trial in trials:
        for name, value in trial.items():
            columns.setdefault(name, []).append(value)
    found: dict[str, str | None] = dict(_swapped(columns))
    for name, values in columns.items():
        wrong = sum(not _fits(name, value) for value in values)
        if name not in found and wrong > 1 and 2 * wrong > len(values):
            message = _wrong_outcomes(values) if name == "outcome" else _wrong_unit(name, values)
            if message is not None:
                found[name] = message
    return found


def _swapped(columns: Mapping[str, list[Any]]) -> Iterator[tuple[str, str | None]]:
    for one, other in combinations(columns, 2):
        whole = (one, columns[one]), (other, columns[other])
        crossed = (one, columns[other]), (other, columns[one])
        if all(_all_fit(name, values) for name, values in whole):
            continue
        if all(_all_fit(name, values) and _varies_enough(name, values, columns) for name, values in crossed):
            got, others = _span(columns[one]), _span(columns[other])
            yield one, f"has {got} and {other} has {others}: are they swapped?"
            yield other, None


def _varies_enough(name: str, values: Sequence[Any], columns: Mapping[str, list[Any]]) -> bool:
    """Return False for a height that would be one and the same where it was not."""
    if name != "height" or any(value != values[0] for value in values):
        return True
    heights = columns["height"]
    return all(height == heights[0] for height in heights)


def _all_fit(name: str, values: Sequence[Any]) -> bool:
    return all(_fits(name, value) for value in values)


def _fits(name: str, value: Any) -> bool:
    if name in ("outcome", "simulation"):
        return value in _OUTCOMES
    if name not in _BOUNDS:
        return isinstance(value, str) and value not in _OUTCOMES
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    low, high = _BOUNDS[name]
    return low <= value <= high and not (name in _POSITIVE and value == 0)


def _wrong_unit(name: str, values: Sequence[Any]) -> str | None:
    most, typical = {
        "height": (HIGHEST, _TYPICAL_HEIGHT),
        "speed": (FASTEST, TYPICAL_SPEED),
        "friction": (ROUGHEST, 1.0),
    }.get(name, (0.0, 1.0))
    if not most or not all(isinstance(value, int | float) and value > 0 for value in values):
        return None
    unit = fitting_unit(name, values, most, typical)
    return f"must be at most {most:g}, got {_span(values)}" + ("" if unit is None else f": {unit}")


def _wrong_outcomes(values: Sequence[Any]) -> str | None:
    """Message on words for outcomes most of which are none; None if some say nothing."""
    words = [word for word in dict.fromkeys(map(_word, values)) if word not in _OUTCOMES]
    meant = {word: meant_outcome(word) for word in words}
    if None in meant.values():
        return None
    told = ", ".join(f"{meant[word]} for {word!r}" for word in words)
    return f"must be 'climbed' or 'failed': write {told}"


def _word(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def meant_outcome(word: str) -> str | None:
    """The outcome that a word means, by its sense or its letters; None if it may mean either."""
    low = word.strip().lower()
    for outcome, others in _WORDS.items():
        if low == outcome or low in others:
            return outcome
    close = get_close_matches(low, _OUTCOMES, n=1, cutoff=0.7)
    return close[0] if close else None


def _span(values: Sequence[Any]) -> str:
    if not all(isinstance(value, int | float) for value in values):
        return ", ".join(dict.fromkeys(repr(_word(value)) for value in values))
    low, high = min(values), max(values)
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"
