"""Boxes that lie about on flat ground."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import InvalidValueError
from segtrack.terrain.base import Terrain
from segtrack.terrain.checks import check_finite, check_positive
from segtrack.terrain.floor import FLOOR_DEPTH, floor
from segtrack.terrain.solids import Box, Solid


@dataclass(frozen=True, kw_only=True)
class GroundBox:
    """One upright box on the ground.

    Attributes:
        x: World x of its middle [m].
        y: World y of its middle [m].
        length: Along its own x axis [m].
        width: Along its own y axis [m].
        height: Above the ground [m].
        yaw: Of its x axis about the world's z axis [rad].
    """

    x: float
    y: float
    length: float
    width: float
    height: float
    yaw: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what is no place and no length."""
        for field in ("x", "y"):
            check_finite(self, field, "m")
        for field in ("length", "width", "height"):
            check_positive(self, field, "m")
        check_finite(self, "yaw", "rad")


@dataclass(frozen=True, kw_only=True)
class Boxes(Terrain):
    """Upright boxes on flat ground; where they overlap, the higher one counts.

    Attributes:
        boxes: The boxes.
    """

    boxes: tuple[GroundBox, ...]

    def __post_init__(self) -> None:
        """Refuse what are no boxes."""
        super().__post_init__()
        boxes = tuple(self.boxes) if isinstance(self.boxes, Iterable) else ()
        if not boxes or not all(isinstance(box, GroundBox) for box in boxes):
            raise InvalidValueError("Boxes.boxes", "at least one GroundBox", self.boxes)
        object.__setattr__(self, "boxes", boxes)

    def solids(self) -> tuple[Solid, ...]:
        """Return the floor and the boxes, sunk into it."""
        return (*floor(), *map(_solid, self.boxes))

    def x_breaks(self) -> tuple[float, ...]:
        """Return where the line y = 0 enters and leaves a box [m]."""
        return tuple(sorted({x for box in self.boxes for x in _crossings(box)}))

    def _sample(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        height = np.zeros(x.shape)
        for box in self.boxes:
            cosine, sine = math.cos(box.yaw), math.sin(box.yaw)
            along = cosine * (x - box.x) + sine * (y - box.y)
            across = cosine * (y - box.y) - sine * (x - box.x)
            within = (np.abs(along) <= box.length / 2) & (np.abs(across) <= box.width / 2)
            height = np.maximum(height, np.where(within, box.height, 0.0))
        return height


def _solid(box: GroundBox) -> Box:
    depth = box.height + FLOOR_DEPTH / 2
    return Box(
        center_in_world=(box.x, box.y, box.height - depth / 2),
        half_extents=(box.length / 2, box.width / 2, depth / 2),
        quaternion_box_to_world=(0.0, 0.0, math.sin(box.yaw / 2), math.cos(box.yaw / 2)),
    )


def _crossings(box: GroundBox) -> tuple[float, ...]:
    """World x of the points of y = 0 where a box begins and ends; none if it lies aside."""
    cosine, sine = math.cos(box.yaw), math.sin(box.yaw)
    low, high = -math.inf, math.inf
    # Along and across the box, y = 0 is the line a (x - box.x) + b with |.| <= half.
    for a, b, half in ((cosine, -sine * box.y, box.length / 2), (-sine, -cosine * box.y, box.width / 2)):
        if abs(a) < 1e-12:
            if abs(b) > half:
                return ()
            continue
        ends = sorted(((-half - b) / a, (half - b) / a))
        low, high = max(low, ends[0]), min(high, ends[1])
    return (box.x + low, box.x + high) if low < high else ()
