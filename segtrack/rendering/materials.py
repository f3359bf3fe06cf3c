"""Colours of materials: the one table from which vehicles, terrain and sky are painted."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

Colour = tuple[float, float, float]
"""Red, green and blue, 0 to 255."""
Material = Literal[
    "body",
    "belt",
    "flipper belt",
    "grouser",
    "stripe",
    "plate",
    "flipper plate",
    "wheel",
    "spoke",
    "floor",
    "obstacle",
    "soil",
    "sky",
    "horizon",
]
COLOURS: Mapping[Material, Colour] = MappingProxyType(
    {
        "body": (240, 150, 46),
        "belt": (92, 97, 104),
        "flipper belt": (44, 102, 160),
        "grouser": (48, 51, 56),
        "stripe": (150, 158, 166),
        "plate": (184, 190, 196),
        "flipper plate": (112, 170, 214),
        "wheel": (206, 210, 214),
        "spoke": (134, 140, 148),
        "floor": (226, 225, 221),
        "obstacle": (186, 199, 188),
        "soil": (206, 174, 126),
        "sky": (196, 216, 236),
        "horizon": (244, 247, 250),
    }
)
"""Colour of each material in full light; a body's URDF may give others."""
