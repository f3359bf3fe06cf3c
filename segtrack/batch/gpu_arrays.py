"""Arrays on a GPU, with copies on the host."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numba import cuda
from numpy.typing import NDArray


def to_gpu(value: Any) -> Any:
    """Copy a (nested) named tuple of arrays to the GPU."""
    if isinstance(value, tuple):
        return type(value)(*map(to_gpu, value))
    return cuda.to_device(np.ascontiguousarray(value)) if isinstance(value, np.ndarray) else value


def zero_rows(value: Any, count: int) -> Any:
    """Return a (nested) named tuple of zero arrays with a new first axis of length `count`."""
    if isinstance(value, tuple):
        return type(value)(*(zero_rows(each, count) for each in value))
    return np.zeros((count, *value.shape), dtype=value.dtype)


class GpuRows:
    """Host proxy of a (nested) named tuple of arrays on a GPU.

    An array is copied to the host when it is asked for by its name, as the named tuple's would be. Copies are
    read-only, but while they are held: then each may be changed until `flush`, with which all go back.

    Attributes:
        device: Named tuple of the arrays on the GPU.
    """

    def __init__(self, arrays: Any) -> None:
        """Copy a (nested) named tuple of arrays to the GPU."""
        self._within = {
            name: GpuRows(value)
            for name, value in zip(arrays._fields, arrays, strict=True)
            if isinstance(value, tuple)
        }
        self._held, self._copies = False, dict[str, NDArray[Any]]()
        parts = (
            self._within[name].device if name in self._within else to_gpu(value)
            for name, value in zip(arrays._fields, arrays, strict=True)
        )
        self.device: Any = type(arrays)(*parts)

    def __getattr__(self, name: str) -> Any:
        """Return a field: an array on the host, or a proxy of a nested tuple."""
        if name.startswith("_") or name not in self.device._fields:
            raise AttributeError(name)
        if name in self._within:
            return self._within[name]
        if name in self._copies:
            return self._copies[name]
        copied = getattr(self.device, name).copy_to_host()
        if self._held:
            self._copies[name] = copied
        copied.flags.writeable = self._held
        return copied

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the fields as arrays on the host."""
        return (getattr(self, name) for name in self.device._fields)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle by the arrays on the host."""
        return GpuRows, (self.copy(),)

    def copy(self) -> Any:
        """Return a copy on the host."""
        return type(self.device)(*(array.copy() for array in self))

    def hold(self, held: bool) -> None:
        """Begin (True) or stop to keep host copies until `flush`."""
        self._held = held
        for rows in self._within.values():
            rows.hold(held)

    def flush(self) -> None:
        """Copy the kept host copies to the GPU, and drop them."""
        for name, array in self._copies.items():
            getattr(self.device, name).copy_to_device(array)
        self._copies.clear()
        for rows in self._within.values():
            rows.flush()
