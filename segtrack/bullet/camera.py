"""Pictures of a running simulation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pybullet
from numpy.typing import NDArray

_DISTANCE = 1.7
_YAW, _PITCH = 30.0, -18.0
_FIELD_OF_VIEW = 45.0


def take_picture(client: int, target: Sequence[float], width: int, height: int) -> NDArray[np.uint8]:
    """Look at a point from the right and a little above, with PyBullet's software renderer.

    Args:
        client: PyBullet's id of the client.
        target: World position (3,) [m].
        width: Of the picture [pixels].
        height: Of the picture [pixels].

    Returns:
        Red, green and blue (height, width, 3).
    """
    view = pybullet.computeViewMatrixFromYawPitchRoll(target, _DISTANCE, _YAW, _PITCH, 0.0, 2)
    projection = pybullet.computeProjectionMatrixFOV(_FIELD_OF_VIEW, width / height, 0.05, 20.0)
    _, _, pixels, _, _ = pybullet.getCameraImage(
        width,
        height,
        view,
        projection,
        shadow=1,
        renderer=pybullet.ER_TINY_RENDERER,
        physicsClientId=client,
    )
    return np.asarray(pixels, dtype=np.uint8).reshape(height, width, 4)[:, :, :3]
