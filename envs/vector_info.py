"""`info` of a vector environment, in gymnasium's format: arrays of all robots, and which of them count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def column(values: list[Any]) -> NDArray[Any]:
    """Return one value of each robot, of the type that gymnasium gives them."""
    return np.array(values, dtype=type(values[0]) if isinstance(values[0], int | float) else object)


def with_masks(named: dict[str, Any], mask: NDArray[np.bool_]) -> dict[str, Any]:
    """Return arrays where a mask says so, nothing elsewhere; each beside the mask."""
    info: dict[str, Any] = {}
    for name, values in named.items():
        if isinstance(values, dict):
            info[name] = values if name == "final_info" else with_masks(values, mask)
        else:
            info[name] = np.where(mask, values, None if values.dtype == object else values.dtype.type())
        info[f"_{name}"] = mask.copy()
    return info


def join_infos(infos: Sequence[dict[str, Any]], counts: Sequence[int]) -> dict[str, Any]:
    """Return the `info` of several vector environments as one; what some do not say is nothing there.

    Args:
        infos: `info` of each.
        counts: Number of robots of each.
    """
    joined: dict[str, Any] = {}
    for name in dict.fromkeys(name for info in infos for name in info):
        given = [info.get(name) for info in infos]
        first = next(values for values in given if values is not None)
        if isinstance(first, dict):
            joined[name] = join_infos([values or {} for values in given], counts)
        else:
            nothing = None if first.dtype == object else first.dtype.type()
            rows = [
                np.full((count, *first.shape[1:]), nothing, first.dtype) if values is None else values
                for values, count in zip(given, counts, strict=True)
            ]
            joined[name] = np.concatenate(rows)
    return joined
