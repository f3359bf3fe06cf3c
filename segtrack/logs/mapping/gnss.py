"""Places by satellites as lengths: east, north and up of a first one, on the ellipsoid of WGS 84."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_AXIS, _FLATTENING = 6378137.0, 1 / 298.257223563
"""Of WGS 84: half of the larger axis [m] (NIMA TR8350.2, table 3.1)."""


def local_place(
    latitude: NDArray[np.float64], longitude: NDArray[np.float64], height: NDArray[np.float64]
) -> NDArray[np.float64]:
    """East, north and up of the first place (n, 3) [m].

    Args:
        latitude: Geodetic (n,) [deg].
        longitude: (n,) [deg].
        height: Above the ellipsoid, or any level as far as it differs from it evenly (n,) [m].
    """
    phi, lam = np.radians(latitude), np.radians(longitude)
    eccentricity = _FLATTENING * (2 - _FLATTENING)
    across = _AXIS / np.sqrt(1 - eccentricity * np.sin(phi) ** 2)
    centred = np.stack(
        [
            (across + height) * np.cos(phi) * np.cos(lam),
            (across + height) * np.cos(phi) * np.sin(lam),
            (across * (1 - eccentricity) + height) * np.sin(phi),
        ],
        axis=1,
    )
    sin_phi, cos_phi, sin_lam, cos_lam = np.sin(phi[0]), np.cos(phi[0]), np.sin(lam[0]), np.cos(lam[0])
    axes = np.array(
        [
            [-sin_lam, cos_lam, 0.0],
            [-sin_phi * cos_lam, -sin_phi * sin_lam, cos_phi],
            [cos_phi * cos_lam, cos_phi * sin_lam, sin_phi],
        ]
    )
    local: NDArray[np.float64] = (centred - centred[0]) @ axes.T
    return local
