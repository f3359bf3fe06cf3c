"""Variants of a trial's simulation: nothing off, a finer time step, and each uncertain input off."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from segtrack.logs.compare import COVERAGE

TIME_STEP = 0.001
"""Time step of the simulations, but for those with half of it [s]."""
_SIDES = ("lower", -COVERAGE), ("higher", COVERAGE)


class Variant(NamedTuple):
    """Deviation of a simulation from the table.

    Attributes:
        name: Description; empty for the nominal simulation.
        input: Name of the input that deviates; empty for none.
        by: Deviation in its unit.
        time_step: [s]
    """

    name: str = ""
    input: str = ""
    by: float = 0.0
    time_step: float = TIME_STEP


NOMINAL = Variant()


def variants_of(stds: Mapping[str, float]) -> tuple[Variant, ...]:
    """Nothing off; half of the time step; and each input `COVERAGE` standard deviations lower and higher."""
    off = [Variant(f"{name} {w}", name, by * std) for name, std in stds.items() for w, by in _SIDES]
    return (NOMINAL, Variant("half the time step", time_step=TIME_STEP / 2), *off)
