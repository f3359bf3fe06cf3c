"""Checks of arguments to a batch: one value for all vehicles, or one for each."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segtrack.errors import InvalidValueError, Phrase, whole
from segtrack.terrain import array_of_numbers

POSITIVE = float(np.nextafter(0.0, 1.0))
"""Smallest positive number."""


def broadcast_numbers(
    what: str,
    given: ArrayLike,
    vehicles: NDArray[np.intp],
    shape: tuple[int, ...] = (),
    *,
    least: float = -np.inf,
) -> NDArray[np.float64]:
    """Broadcast finite numbers, given once for all vehicles or for each, to all of them (n, *shape).

    Args:
        what: Quantity, with its unit, for the message.
        given: Numbers (*shape) or (n, *shape).
        vehicles: Indices of the vehicles in the batch (n,), by which messages name them.
        shape: Shape for one vehicle.
        least: Smallest number that is taken: 0, or `POSITIVE`, if any.

    Raises:
        InvalidValueError: Another shape, or a number that is not finite or too small.
    """
    array, count = array_of_numbers(given), len(vehicles)
    if array is None or array.shape not in (shape, (count, *shape)):
        expected = f"numbers of shape {shape or '()'}, or {(count, *shape)} for each vehicle"
        got = getattr(given, "shape", None)
        raise InvalidValueError(what, expected, given if got is None else Phrase(f"shape {got}"))
    values = array if array.shape == (count, *shape) else np.broadcast_to(array, (count, *shape))
    for wrong, expected in (
        (~np.isfinite(values), "finite"),
        (values < least, "at least 0" if least == 0.0 else "greater than 0"),
    ):
        if wrong.any():
            first, *place = (int(each[0]) for each in np.nonzero(wrong))
            whose = f"{what} of vehicle {vehicles[first]}"
            raise InvalidValueError(whose, expected, float(values[(first, *place)]))
    return values


def broadcast_indices(
    what: str, given: ArrayLike, vehicles: NDArray[np.intp], below: int
) -> NDArray[np.intp]:
    """Broadcast whole numbers in [0, below) to vehicles (n,), which messages name by their indices (n,).

    Raises:
        InvalidValueError: Another shape, not whole numbers, or out of range.
    """
    values = broadcast_numbers(what, given, vehicles)
    wrong = np.flatnonzero((values != np.floor(values)) | (values < 0) | (values >= below))
    if len(wrong):
        i = int(wrong[0])
        raise InvalidValueError(
            f"{what} of vehicle {vehicles[i]}", f"a whole number from 0 to {below - 1}", float(values[i])
        )
    return values.astype(np.intp)


def array_of(what: str, given: ArrayLike, shape: tuple[int | None, ...]) -> NDArray[np.float64]:
    """Convert to an array of a given shape, in which None stands for any length.

    Raises:
        InvalidValueError: Another shape, or not numbers.
    """
    array = array_of_numbers(given)
    fits = array is not None and array.ndim == len(shape)
    if array is None or not (fits and all(n in (None, m) for n, m in zip(shape, array.shape, strict=True))):
        expected = f"numbers of shape ({', '.join('any' if n is None else str(n) for n in shape)})"
        got = getattr(given, "shape", None)
        raise InvalidValueError(what, expected, given if got is None else Phrase(f"shape {got}"))
    return array


def points_of_each(x: ArrayLike, y: ArrayLike, count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Convert x and y of points to arrays (count, ...) of equal shape, one row for each vehicle [m].

    Raises:
        InvalidValueError: Other shapes, or not numbers.
    """
    along, across = array_of_numbers(x), array_of_numbers(y)
    if along is None or across is None:
        raise InvalidValueError("points [m]", f"numbers of shape ({count}, ...)", (x, y))
    if along.shape != across.shape or along.shape[:1] != (count,):
        expected = f"x and y of one shape ({count}, ...)"
        raise InvalidValueError("points [m]", expected, Phrase(f"{along.shape} and {across.shape}"))
    return along, across


def chosen_vehicles(given: Any, count: int) -> NDArray[np.intp]:
    """Indices of the vehicles selected by a mask (N,) or indices (n,); all for None.

    Raises:
        InvalidValueError: A mask of another length, or an index out of range or given twice.
    """
    if given is None:
        return np.arange(count)
    try:
        array = np.atleast_1d(np.asarray(given))
    except ValueError:  # Ragged.
        array = np.zeros((0, 0))
    if array.dtype == bool and array.shape == (count,):
        return np.flatnonzero(array)
    fine = array.ndim == 1 and (array.dtype.kind in "iu" or array.size == 0)
    if fine and array.size:
        listed = array.tolist()
        fine = 0 <= min(listed) and max(listed) < count and len(set(listed)) == len(listed)
    if not fine:
        raise InvalidValueError("vehicles", f"a mask ({count},), or indices from 0 to {count - 1}", given)
    return array.astype(np.intp)


def number_of_vehicles(
    count: int | None, terrains: int | None, terrain_index: ArrayLike | None, variant: ArrayLike | None
) -> int:
    """Number of vehicles that all arguments agree on; `terrains` counts those given per vehicle.

    Raises:
        InvalidValueError: They do not agree, or there is none.
    """
    given = {"count": None if count is None else whole("count", count), "terrain": terrains}
    for name, each in (("terrain_index", terrain_index), ("variant", variant)):
        given[name] = len(each) if dimensions(each) else None  # type: ignore[arg-type]
    known = {name: number for name, number in given.items() if number is not None}
    if len(set(known.values())) != 1:
        got = ", ".join(f"{number} of {name}" for name, number in known.items()) or "none"
        expected = "given by count, one terrain each, terrain_index or variant, all alike"
        raise InvalidValueError("number of vehicles", expected, Phrase(got))
    return whole("count", next(iter(known.values())))


def dimensions(given: Any) -> int:
    """Number of array dimensions; 2 for ragged input, which `broadcast_numbers` refuses later."""
    try:
        return np.ndim(given)
    except ValueError:
        return 2


def number_of_threads(threads: int | None) -> int:
    """Number of threads: the given one, or that of the cores available to the process.

    Raises:
        InvalidValueError: Not a whole number from 1.
    """
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return whole("threads", threads)
