"""Rounding of what Python lays out for kernels.

Matrix products, eigenvalues and trigonometric functions of NumPy and Python differ in the last digits from
one processor to the next. Kernels do not (`kernels.functions`), so that results are equal on all of them if
what kernels are given is.
"""

from __future__ import annotations

from typing import Any, TypeVar, cast

import numpy as np

BITS = 42
"""Bits that are kept of a number, of 53, and of the largest number of an array: a small one may be what the
difference of large ones left. The largest is that over the first axis: behind it stands one quantity each."""
NOTHING = 1e-14
"""Numbers of arrays below this become 0, whatever their unit."""
Value = TypeVar("Value")


def rounded(value: Value) -> Value:
    """A number, an array or a tuple of them, its numbers that are no integers rounded to `BITS`."""
    given: Any = value
    found: Any = value
    if isinstance(given, tuple):
        parts = map(rounded, given)
        found = type(given)(*parts) if hasattr(given, "_fields") else type(given)(parts)
    elif isinstance(given, float):
        found = _round(given, np.frexp(given)[1] - BITS).item()
    elif isinstance(given, np.ndarray) and given.dtype == np.float64 and given.size > 0:
        sizes = np.where(np.isfinite(given), np.abs(given), 0.0)
        last = np.frexp(np.max(sizes, axis=0))[1] - BITS
        found = np.where(np.abs(given) < NOTHING, 0.0, _round(given, last))
    return cast(Value, found)


def _round(values: Any, exponents: Any) -> Any:
    """Round to multiples of powers of 2; what is not finite stays."""
    return np.where(np.isfinite(values), np.ldexp(np.rint(np.ldexp(values, -exponents)), exponents), values)
