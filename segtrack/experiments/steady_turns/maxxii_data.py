"""Recorded steady turns of MAXXII, a tracked vehicle of 61 kg (Focchi et al. 2024, arXiv:2409.18641).

`data/README.md` says where the file is from, and what of its reading is assumed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

GEAR_RATIO = 34.45
"""Turns of a motor for one of its sprocket."""
SPROCKET_RADIUS = 0.0856
"""[m]"""
GAUGE = 0.606
"""Distance between the tracks' middles [m]."""
FILE = "maxxii_indoor.csv"


@dataclass(frozen=True, eq=False)
class SteadyTurns:
    """n turns at constant belt speeds; arrays are read-only.

    Attributes:
        belts: Speeds of the left and the right belt (n, 2) [m/s].
        tracks: Speeds of the left and the right track over the ground (n, 2) [m/s].
    """

    belts: NDArray[np.float64]
    tracks: NDArray[np.float64]

    def __post_init__(self) -> None:
        """Keep the arrays as they are."""
        self.belts.setflags(write=False)
        self.tracks.setflags(write=False)

    @property
    def no_slip_rate(self) -> NDArray[np.float64]:
        """Yaw rate of belts that do not slip (n,) [rad/s]."""
        return (self.belts[:, 1] - self.belts[:, 0]) / GAUGE

    @property
    def yaw_rate(self) -> NDArray[np.float64]:
        """Measured (n,) [rad/s]."""
        return (self.tracks[:, 1] - self.tracks[:, 0]) / GAUGE

    @property
    def turns(self) -> NDArray[np.bool_]:
        """Whether its belts differ (n,)."""
        return self.belts[:, 0] != self.belts[:, 1]


@cache
def recorded_turns() -> SteadyTurns:
    """All recorded turns."""
    text = resources.files("segtrack.experiments").joinpath("data", FILE).read_text(encoding="utf-8")
    table = np.array([[float(cell) for cell in line.split(",")] for line in text.splitlines()])
    belts = table[:, :2] / GEAR_RATIO * SPROCKET_RADIUS
    return SteadyTurns(belts, belts - table[:, 2:4])
