"""`info` of a vector environment, in gymnasium's format: arrays of all robots, and which of them count."""

from __future__ import annotations

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
