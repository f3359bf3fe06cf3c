"""Arrays in one block of memory, which is copied at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray


def in_one_block(arrays: Iterable[NDArray[Any]]) -> tuple[NDArray[np.uint8], list[NDArray[Any]]]:
    """Copy arrays into one block of memory; the block, and views of its parts."""
    given = list(arrays)
    ends = np.cumsum([-(-array.nbytes // 8) * 8 for array in given]).tolist()
    block, views = np.zeros(ends[-1], dtype=np.uint8), []
    for array, end in zip(given, ends, strict=True):
        start = end - -(-array.nbytes // 8) * 8
        views.append(block[start : start + array.nbytes].view(array.dtype).reshape(array.shape))
        views[-1][...] = array
    return block, views
