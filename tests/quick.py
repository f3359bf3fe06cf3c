"""Parameters of which the quick tests run a few and the slow ones all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def some_of(values: Iterable[Any], *quick: Any) -> list[Any]:
    """Values of a parameter; those that are not named are slow."""
    values = list(values)
    assert all(value in values for value in quick), quick
    return [pytest.param(value, marks=[pytest.mark.slow] * (value not in quick)) for value in values]
