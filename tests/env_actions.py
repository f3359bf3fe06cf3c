"""Actions that environments take in several tests, and the robot that takes them."""

import numpy as np

FORWARD = np.array([1.0, 1.0, 0.0, 0.0], np.float32)
STILL = np.zeros(4, np.float32)


def robot_of(env):
    return env._episode_world.robot
