"""Named tuples of many arrays, packed for kernels.

Numba takes a tuple apart array by array at each call from Python, which for a hundred arrays takes 25 us, and
compiles code for that: 10 ms an array. Of a tuple of such tuples it branches to the right array wherever one
is read. Packed, they are rows of numbers in memory, from which each place reads what it needs.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, typeof, types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.extending import NativeValue, intrinsic, register_model, unbox
from numba.np.arrayobj import populate_array
from numpy.typing import NDArray


class _PackedType(types.Type):
    """Type of packed named tuples of a kind, as kernels see it."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        super().__init__(f"Packed({kind})")


class Packed:
    """Named tuples of one kind, which kernels read by `item`.

    Attributes:
        items: The tuples, whose arrays are kept.
    """

    def __init__(self, items: list[tuple[Any, ...]], rows: NDArray[np.uint64], kind: Any) -> None:
        """Take tuples, the numbers that stand for each (n, width), and the numba type of them all."""
        self.items, self._rows, self._numba_type_ = items, rows, kind
        self._width, self._address = rows.shape[1], rows.ctypes.data

    @classmethod
    def of(cls, value: tuple[Any, ...]) -> Packed:
        """Pack one named tuple: its numbers are copied, its arrays are not."""
        layout = _layout(value)
        kind = _KINDS.get(layout)
        if kind is None:
            kind = _KINDS[layout] = _PackedType(typeof(value))
        return cls([value], np.array([list(_numbers(value))], dtype=np.uint64), kind)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pack copies anew: their arrays are elsewhere."""
        return _pack_all, (self.items,)

    @classmethod
    def joined(cls, parts: Sequence[Packed]) -> Packed:
        """Join what was packed of tuples of one kind.

        Raises:
            TypeError: They are of several kinds, of which kernels would read one as the other.
        """
        kinds = {part._numba_type_ for part in parts}
        if len(kinds) > 1:
            raise TypeError(f"tuples of {len(kinds)} kinds cannot be packed together")
        items = [item for part in parts for item in part.items]
        return cls(items, np.concatenate([part._rows for part in parts]), parts[0]._numba_type_)

    def replace(self, index: int, part: Packed) -> None:
        """Put one packed tuple in the place of an item.

        Raises:
            TypeError: It is of another kind.
        """
        if part._numba_type_ != self._numba_type_:
            raise TypeError("a tuple of another kind cannot be put among those that are packed")
        (self.items[index],), self._rows[index] = part.items, part._rows[0]


def _pack_all(items: list[tuple[Any, ...]]) -> Packed:
    return Packed.joined(list(map(Packed.of, items)))


def overwrite(arrays: Iterable[NDArray[Any]], contents: Iterable[NDArray[Any]]) -> None:
    """Write the contents of arrays into others of the same shapes, in place."""
    for array, values in zip(arrays, contents, strict=True):
        array[...] = values


def slice_of(chosen: NDArray[np.intp]) -> Any:
    """Indices of rows to write to (n,); a single one as a slice, to which NumPy writes four times as fast."""
    return slice(chosen[0], chosen[0] + 1) if len(chosen) == 1 else chosen


_KINDS: dict[Any, _PackedType] = {}
"""Types that kernels see, by layout: numba finds that of a tuple of twenty arrays in 50 us."""


def _layout(value: Any) -> Any:
    """What the type that kernels see of a value follows from."""
    if isinstance(value, tuple):
        return (type(value), *map(_layout, value))
    return (value.dtype, value.ndim, value.flags.num) if isinstance(value, np.ndarray) else type(value)


def _numbers(value: Any) -> Iterator[int]:
    """Numbers of 64 bits that stand for a value."""
    match value:
        case tuple():
            for each in value:
                yield from _numbers(each)
        case np.ndarray():
            yield from (value.ctypes.data, *value.shape, *value.strides)
        case float() | np.floating():
            yield int.from_bytes(struct.pack("=d", value), "little")
        case _:
            yield int(value) % 2**64


@register_model(_PackedType)
class _PackedModel(models.StructModel):
    """Address of the rows, and numbers in each."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, [("address", types.uintp), ("width", types.intp)])


@unbox(_PackedType)
def _unbox(kind: Any, thing: Any, c: Any) -> Any:
    inside = cgutils.create_struct_proxy(kind)(c.context, c.builder)
    for name in ("address", "width"):
        number = c.pyapi.object_getattr_string(thing, f"_{name}")
        setattr(inside, name, c.pyapi.long_as_longlong(number))
        c.pyapi.decref(number)
    return NativeValue(inside._getvalue(), is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred()))


class _Reader:
    """Code that reads a value from numbers in memory, one after the other."""

    def __init__(self, context: Any, builder: Any, memory: Any) -> None:
        self._context, self._builder, self._memory, self._next = context, builder, memory, 0

    def read(self, kind: Any) -> Any:
        """Return the next value, of a type."""
        match kind:
            case types.BaseTuple():
                inside: Any = kind
                return self._context.make_tuple(self._builder, kind, [self.read(each) for each in inside])
            case types.Array():
                return self._read_array(kind)
            case types.Float(bitwidth=64):
                return self._builder.bitcast(self._number(), self._context.get_value_type(kind))
            case _:
                return self._builder.trunc(self._number(), self._context.get_value_type(kind))

    def _read_array(self, kind: Any) -> Any:
        data = self._context.get_data_type(kind.dtype)
        array = self._context.make_array(kind)(self._context, self._builder)
        populate_array(
            array,
            data=self._builder.inttoptr(self._number(), data.as_pointer()),
            shape=[self._number() for _ in range(kind.ndim)],
            strides=[self._number() for _ in range(kind.ndim)],
            itemsize=ir.Constant(ir.IntType(64), self._context.get_abi_sizeof(data)),
            meminfo=None,
        )
        return array._getvalue()

    def _number(self) -> Any:
        place = self._builder.gep(self._memory, [ir.Constant(ir.IntType(64), self._next)])
        self._next += 1
        return self._builder.load(place)


def _read_item(typing: Any, tuples: Any, index: Any) -> Any:
    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        inside = cgutils.create_struct_proxy(tuples)(context, builder, value=arguments[0])
        rows = builder.inttoptr(inside.address, ir.IntType(64).as_pointer())
        memory = builder.gep(rows, [builder.mul(arguments[1], inside.width)])
        return _Reader(context, builder, memory).read(tuples.kind)

    return tuples.kind(tuples, types.intp), lower


def _item(tuples: Packed, index: int) -> Any:
    return tuples.items[index]


item: Any = _item if config.DISABLE_JIT else intrinsic(_read_item)  # type: ignore[attr-defined]
"""Item of packed tuples, by its index."""
