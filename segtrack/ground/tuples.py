"""Named tuples of many arrays, several of one kind, packed for a kernel that reads them by an index.

Numba takes a tuple of such tuples apart array by array, and branches to the right one wherever one is read.
For six link chains of 135 arrays each that takes half a minute to compile. Packed, they are one array, from
which each place reads what it needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numba import config, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from segtrack.ground.kernels import entry

Item = TypeVar("Item", bound=tuple[Any, ...])


def packed(items: Sequence[Item]) -> Any:
    """Named tuples of one kind for kernels, which read them by `item`.

    Numbers are copied. Arrays are not: they are to be kept for as long as the result is used.
    """
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return items
    rows = np.zeros((len(items), max(map(_room, items))), dtype=np.uint64)
    for i, one in enumerate(items):
        _write(rows, i, one)
    return rows


def overwrite(arrays: Iterable[NDArray[Any]], contents: Iterable[NDArray[Any]]) -> None:
    """Write the contents of arrays into others of the same shapes, in place."""
    for array, values in zip(arrays, contents, strict=True):
        array[...] = values


def _room(value: Any) -> int:
    """Numbers of 64 bits that numba needs for a named tuple, at most."""
    if isinstance(value, tuple):
        return sum(map(_room, value))
    return 5 + 2 * value.ndim if isinstance(value, np.ndarray) else 1


def _memory(context: Any, builder: Any, rows: Any, row: Any, kind: Any) -> Any:
    """Pointer to what is packed in a row."""
    array = context.make_array(rows[0])(context, builder, rows[1])
    width = builder.extract_value(array.shape, 1)
    memory = builder.gep(array.data, [builder.mul(row, width)])
    return builder.bitcast(memory, context.get_data_type(kind).as_pointer())


def _write_item(typing: Any, rows: Any, row: Any, value: Any) -> Any:
    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        memory = _memory(context, builder, (rows, arguments[0]), arguments[1], value)
        context.pack_value(builder, value, arguments[2], memory)
        return context.get_dummy_value()

    return types.void(rows, row, value), lower


def _read_item(typing: Any, rows: Any, row: Any, like: Any) -> Any:
    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        memory = _memory(context, builder, (rows, arguments[0]), arguments[1], like)
        return context.unpack_value(builder, like, memory)

    return like(rows, row, like), lower


def _item(items: Any, index: int, like: Any) -> Any:
    return items[index]


write_item: Any = intrinsic(_write_item)
item: Any = _item if config.DISABLE_JIT else intrinsic(_read_item)  # type: ignore[attr-defined]
"""Item of what `packed` returns, by its index, of the kind of a third argument."""


@entry
def _write(rows: NDArray[np.uint64], row: int, value: Any) -> None:
    write_item(rows, row, value)
