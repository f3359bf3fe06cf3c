"""`info` of a vector environment in gymnasium's format: arrays over all robots, with masks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


class ParameterColumns:
    """Parameter values of N robots' episodes, in one array per parameter.

    Attributes:
        arrays: Values by parameter name (N,).
    """

    def __init__(self, names: Iterable[str], count: int) -> None:
        """Allocate arrays for the values of a number of robots."""
        self.arrays: dict[str, NDArray[Any]] = {}
        self._names, self._count = tuple(names), count
        self._shared: dict[str, Any] = {}

    def write(self, chosen: NDArray[np.intp], values: Sequence[Mapping[str, Any]]) -> None:
        """Store the values of some robots; the first call must be for all.

        Args:
            chosen: Indices of the robots (n,).
            values: Parameter values by name, of each robot (n,).
        """
        for name in self._names:
            own = [each[name] for each in values]
            if name in self._shared and own.count(self._shared[name]) == len(own):
                continue  # Which all robots have already.
            self._shared.pop(name, None)
            # Of the type that gymnasium gives them.
            kinds = set(map(type, own))
            numbers = float if float in kinds else int
            column = np.array(own, dtype=numbers if kinds <= {int, float} else object)
            if len(own) == self._count:
                self.arrays[name] = column
                if own.count(own[0]) == len(own):
                    self._shared[name] = own[0]
                continue
            before = self.arrays[name]
            self.arrays[name] = before.astype(np.promote_types(before.dtype, column.dtype), copy=False)
            self.arrays[name][chosen] = column


def with_masks(named: dict[str, Any], mask: NDArray[np.bool_]) -> dict[str, Any]:
    """Return arrays with a mask of the robots that they hold for, by gymnasium's names."""
    info, chosen = dict[str, Any](), np.flatnonzero(mask)
    for name, values in named.items():
        if isinstance(values, dict):
            info[name] = values if name == "final_info" else with_masks(values, mask)
        else:
            # Where few count, faster than `np.where`.
            info[name] = (np.empty if values.dtype == object else np.zeros)(values.shape, values.dtype)
            info[name][chosen] = values[chosen]
        info[f"_{name}"] = mask.copy()
    return info
