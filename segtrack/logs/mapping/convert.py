"""Channels as signals in segtrack's units and signs, each in its sensor's frame and by its source's clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import Problem
from segtrack.logs.mapping.channels import Found
from segtrack.logs.mapping.file.belts import BELT_TRAVEL, BeltSpeed
from segtrack.logs.mapping.file.body import (
    AngularVelocity,
    FlipperAngle,
    Orientation,
    Pitch,
    Position,
    Roll,
    Velocity,
    Yaw,
)
from segtrack.logs.mapping.file.reference import Sides
from segtrack.logs.mapping.file.units import ANGLE, COUNTING, COUNTS, SPEED, TURNING, plain
from segtrack.logs.mapping.gnss import local_place
from segtrack.logs.motion import Signal

UNIT_LENGTH = 5e-3
"""By which quaternions may differ from length 1, as rounded ones do."""
_NEGATIVE = ("tip down", "nose down", "left side down", "right", "ground faster")


def signals_of(
    found: Found,
    times: NDArray[np.float64],
    kept: NDArray[np.bool_],
    gauge: float | None,
    max_gap: float,
    notes: list[str],
) -> tuple[dict[str, Signal], list[Problem]]:
    """Signals by their keys, without rows that lack a number; and what is wrong with the numbers.

    What is differentiated has no value between rows that are more than `max_gap` apart.

    Args:
        found: What a mapping says of a quantity.
        times: Of the source's rows (n,) [s].
        kept: Which rows have a time of their own (n,).
        gauge: Distance of the vehicle's tracks [m]; None if it is not known.
        max_gap: Time without a value that may be bridged [s].
        notes: Where it is noted how many rows were left out.
    """
    reference = found.reference
    if isinstance(reference, BeltSpeed) and reference.is_twist and (reference.gauge or gauge) is None:
        message = (
            "is missing: a twist becomes belt speeds with the distance of the tracks [m], or with a vehicle"
        )
        return {}, [Problem(f"{found.path}.gauge", message)]
    signals: dict[str, Signal] = {}
    problems: list[Problem] = []
    rows = fewest = int(kept.sum())
    for key, values in _values(found, gauge):
        there = kept & np.isfinite(values.reshape(len(values), -1)).all(axis=1)
        if not there.any():
            names = " and ".join(found.names)
            problems.append(
                Problem(found.path, f"has no numbers: {names} has none in any of {len(values)} rows")
            )
            continue
        when, numbers = times[there], values[there]
        if isinstance(reference, Orientation):
            numbers, problem = _unit_quaternions(numbers, np.flatnonzero(there), found.path)
            problems += [] if problem is None else [problem]
        elif isinstance(reference, Position) and reference.channels is None:
            numbers = local_place(*numbers.T)
        elif isinstance(reference, Roll | Pitch | Yaw):
            numbers = np.unwrap(numbers)
        elif isinstance(reference, BeltSpeed) and found.unit in BELT_TRAVEL:
            if len(when) < 2 or np.diff(when).min() > max_gap:
                message = f"must have two rows at most {max_gap:g} s apart to be differentiated"
                problems.append(Problem(found.path, message))
                continue
            near = np.diff(when) <= max_gap
            when, numbers = ((when[1:] + when[:-1]) / 2)[near], (np.diff(numbers) / np.diff(when))[near]
        fewest = min(fewest, int(there.sum()))
        signals[key] = Signal(when, numbers, reference.std, found.source)
    if fewest < rows:
        notes.append(f"{found.key}: {rows - fewest} of {rows} rows lack a number: left out")
    return signals, problems


def _values(found: Found, gauge: float | None) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Numbers by the keys of signals, in segtrack's units and signs."""
    reference, unit = found.reference, found.unit
    factor = 1.0 if unit == "" else reference.units[unit]
    sign = -1.0 if getattr(reference, "positive", None) in _NEGATIVE else 1.0
    match reference:
        case BeltSpeed() if reference.is_twist:
            linear, angular = (
                column.values * units.get(plain(column.channel.unit), 1.0)
                for column, units in zip(found.columns.values(), (SPEED, TURNING), strict=True)
            )
            half = (reference.gauge or gauge or 0.0) / 2
            yield f"{found.key}.left", linear - half * angular
            yield f"{found.key}.right", linear + half * angular
        case Sides():
            of_side = belt_speed(reference, unit) if isinstance(reference, BeltSpeed) else None
            for side, column in found.columns.items():
                values = factor * column.values if of_side is None else of_side(column.values)
                yield f"{found.key}.{side}", (-sign if side in reference.reversed else sign) * values
        case FlipperAngle():
            yield found.key, sign * factor * (next(iter(found.columns.values())).values - reference.zero)
        case Orientation():
            values = found.stacked()
            yield found.key, values[:, [1, 2, 3, 0]] if reference.order == "wxyz" else values
        case Position() if reference.channels is None:
            columns = [column.values for column in found.columns.values()]
            height = columns[2] if len(columns) > 2 else np.where(np.isfinite(columns[0]), 0.0, np.nan)
            yield found.key, np.column_stack([columns[0], columns[1], height])
        case Position() | Velocity() | AngularVelocity():
            values = factor * found.stacked()
            if values.shape[1] == 2:
                values = np.column_stack([values, np.where(np.isfinite(values[:, 0]), 0.0, np.nan)])
            yield found.key, values - reference.bias if isinstance(reference, AngularVelocity) else values
        case _:
            yield found.key, sign * factor * next(iter(found.columns.values())).values


def belt_speed(reference: BeltSpeed, unit: str) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """What makes belt speeds [m/s], or travels [m], of a channel's numbers."""
    if reference.table is not None:
        numbers, speeds = np.array(reference.table).T
        return lambda values: np.where(np.isfinite(values), np.interp(values, numbers, speeds), np.nan)
    factor = reference.units[unit]
    if unit in (*COUNTS, *COUNTING):
        factor = 2 * np.pi / (reference.counts_per_turn or 1.0)
    if unit in (*COUNTS, *COUNTING, *TURNING, *ANGLE):
        factor *= (reference.radius or 1.0) / reference.gear_ratio
    return lambda values: factor * values


def _unit_quaternions(
    values: NDArray[np.float64], rows: NDArray[np.intp], path: str
) -> tuple[NDArray[np.float64], Problem | None]:
    lengths = np.linalg.norm(values, axis=1)
    wrong = abs(lengths - 1) > UNIT_LENGTH
    if not wrong.any():
        return values / lengths[:, None], None
    first = int(np.argmax(wrong))
    message = f"must be quaternions of length one, got {lengths[first]:.4g} at row {rows[first]}"
    more = int(wrong.sum()) - 1
    return values, Problem(path, message + (f" and others in {more} more" if more else ""))
