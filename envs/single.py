"""One robot of a vector environment, seen as a single environment."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from segtrack.envs.episode import TaskState
from segtrack.envs.view import UnknownAttributeError

if TYPE_CHECKING:
    from segtrack.envs.vector import VectorEnvironment


class RobotEnvironment:
    """One robot of a vector environment, with what libraries ask each of several environments for.

    Other attributes are the vector environment's, but for its methods, which are about all robots.
    """

    def __init__(self, env: VectorEnvironment, robot: int) -> None:
        """Look at a robot, by its index."""
        self._env, self._robot = env, robot

    @property
    def action_space(self) -> spaces.Space[Any]:
        """Space of the robot's actions."""
        return self._env.single_action_space

    @property
    def observation_space(self) -> spaces.Space[Any]:
        """Space of the robot's observations."""
        return self._env.single_observation_space

    @property
    def task_state(self) -> TaskState:
        """Noise-free state of the robot's episode, without limits.

        Raises:
            NotReadyError: There is no episode.
        """
        return TaskState.of(self._env.view, self._env.courses[self._robot], self._robot)

    def set_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Change the values or ranges that the robot's later episodes sample from.

        Raises:
            UnknownNameError: No such parameter.
            InvalidValueError: A value that cannot be.
        """
        self._env.set_parameters(parameters, [self._robot])

    def render(self) -> NDArray[np.uint8] | None:
        """Return a picture of the robot (height, width, 3) in mode `rgb_array`."""
        return self._env.picture(self._robot)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the vector environment.

        Raises:
            UnknownAttributeError: There is none, or it is a method for all robots.
        """
        if name.startswith("_"):  # Of a copy, too, which has nothing yet.
            own = [each for each in vars(type(self)) if not each.startswith("_")]
            raise UnknownAttributeError("attribute of a robot", name, own)
        value = getattr(self._env, name, None)
        if inspect.ismethod(value) or (value is None and not hasattr(type(self._env), name)):
            own = [each for each in (*vars(type(self)), *vars(self._env)) if not each.startswith("_")]
            raise UnknownAttributeError("attribute of a robot", name, own)
        return value
