"""Codes in place of words in `info`: numbers alone travel to PyTorch, JAX and the like."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from segtrack.envs.parameters import Parameter, WordChoice
from segtrack.envs.task import Outcome

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
"""Outcomes of episodes; `info["outcome"]` is an index in it, 0 while the episode is running."""


def outcome_codes(outcomes: NDArray[np.str_]) -> NDArray[np.int64]:
    """Return the indices (n,) in `OUTCOMES` of outcomes (n,)."""
    return np.argmax(outcomes[:, None] == np.array(OUTCOMES), axis=1)


def coded(parameters: Mapping[str, Parameter], values: Mapping[str, Any]) -> dict[str, float | int]:
    """Return parameter values as numbers.

    Args:
        parameters: Parameters, by name.
        values: Values of an episode, by name.

    Returns:
        Numbers as they are, a word's index in the parameter's `options`, NaN for what is the vehicle's own.
    """
    numbers = {}
    for name, value in values.items():
        parameter = parameters[name]
        if isinstance(parameter, WordChoice):
            value = parameter.options.index(value)
        numbers[name] = math.nan if value is None else value
    return numbers
