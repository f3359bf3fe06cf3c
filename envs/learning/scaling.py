"""Scaling of observations and rewards for learners."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from segtrack.envs.sensors import Sensors
from segtrack.envs.vector import VectorEnvironment
from segtrack.errors import InvalidValueError

REWARD_SCALE = 0.1
"""Factor on rewards: returns of about 1, so that the critic's gradient does not drown the policy's."""


def scaled(sensors: Sensors, observations: Any) -> NDArray[np.float32]:
    """Return the observations that sensors see, of a group or of all, as rows (N, n) in [-1, 1]."""
    low, high = sensors.limits
    return np.asarray(2 * (sensors.flat(observations) - low) / (high - low) - 1, dtype=np.float32)


def check_same_step(env: VectorEnvironment) -> None:
    """Refuse an environment that does not begin episodes in the step that ends them.

    Raises:
        InvalidValueError: Another autoreset mode.
    """
    if env.autoreset_mode is not AutoresetMode.SAME_STEP:
        raise InvalidValueError("autoreset_mode", AutoresetMode.SAME_STEP.value, env.autoreset_mode.value)
