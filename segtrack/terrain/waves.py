"""Ground in waves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import InvalidValueError, finite
from segtrack.terrain.base import Terrain
from segtrack.terrain.checks import check_finite, check_positive
from segtrack.terrain.floor import floor, mound
from segtrack.terrain.solids import Solid

_FACETS = 10
"""Flat pieces of which a crest consists."""


@dataclass(frozen=True, kw_only=True)
class Waves(Terrain):
    """Crests across flat ground, one behind the other, each half a wave of a sine.

    Attributes:
        heights: Of the crests, from front to back [m].
        lengths: Of the crests along x [m].
        distance: World x where the first begins [m].
        width: Extent along y, centred on y = 0 [m].
    """

    heights: tuple[float, ...]
    lengths: tuple[float, ...]
    distance: float
    width: float = 10.0

    def __post_init__(self) -> None:
        """Refuse what is no length, and as many heights as there are not lengths."""
        super().__post_init__()
        for field in ("heights", "lengths"):
            object.__setattr__(self, field, _positive_all(f"Waves.{field}", getattr(self, field)))
        if len(self.heights) != len(self.lengths):
            expected = f"as many as the {len(self.heights)} heights"
            raise InvalidValueError("Waves.lengths", expected, len(self.lengths))
        check_finite(self, "distance", "m")
        check_positive(self, "width", "m")

    @cached_property
    def _crests(self) -> tuple[NDArray[np.float64], ...]:
        """Corners x and z of each crest from front to back (facets + 1, 2) [m]."""
        phase = np.linspace(0.0, 1.0, _FACETS + 1)
        crests, begin = [], self.distance
        for height, length in zip(self.heights, self.lengths, strict=True):
            z = height * np.sin(np.pi * phase)
            z[-1] = 0.0  # The sine of pi is not quite nothing.
            crests.append(np.stack((begin + length * phase, z), axis=1))
            begin += length
        return tuple(crests)

    def solids(self) -> tuple[Solid, ...]:
        """Return the floor and one prism a crest."""
        outlines = ([(float(x), float(z)) for x, z in crest] for crest in self._crests)
        return (*floor(), *(mound(outline, self.width) for outline in outlines))

    def x_breaks(self) -> tuple[float, ...]:
        """Return the corners of the crests [m]."""
        return tuple(np.unique(np.concatenate(self._crests)[:, 0]).tolist())

    def _sample(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        corners = np.concatenate(self._crests)
        height = np.interp(x, corners[:, 0], corners[:, 1], left=0.0, right=0.0)
        return np.where(np.abs(y) <= self.width / 2, height, 0.0)


def _positive_all(what: str, values: Sequence[float]) -> tuple[float, ...]:
    """Some numbers above zero.

    Raises:
        InvalidValueError: None, or others.
    """
    given = tuple(values) if isinstance(values, Iterable) else ()
    numbers = tuple(finite(f"{what} [m]", value) for value in given)
    if not numbers or min(numbers) <= 0:
        raise InvalidValueError(f"{what} [m]", "some numbers above 0", values)
    return numbers
