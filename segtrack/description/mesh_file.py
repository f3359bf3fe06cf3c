"""The corners of a convex mesh that a vehicle file names."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import InvalidValueError


def convex_corners(file: str) -> NDArray[np.float64]:
    """Corners (n, 3) of the convex hull of a mesh, in the file's own unit and axes.

    Args:
        file: OBJ or STL file.

    Raises:
        InvalidValueError: The file holds no solid.
    """
    import trimesh  # Here, for it takes half a second and few vehicles have meshes.

    try:
        hull = trimesh.load_mesh(file).convex_hull
    except Exception:  # The readers of trimesh and the hull of qhull fail in ways of their own.
        raise InvalidValueError("mesh", "an OBJ or STL file of a solid", file) from None
    return np.array(hull.vertices, dtype=float)
