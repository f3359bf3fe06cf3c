"""Drivers of events, which command a robot before each control period."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from segtrack.events.assumptions import Assumptions
from segtrack.robot import Robot

Driver: TypeAlias = Callable[[Robot, float], object]
"""Function that commands a robot at a time since it began to drive [s]; called before each control period.

The first call is at 0, before the first step, with the vehicle at rest, or at the event's speed if it begins
with that."""

_LARGEST_STEER = 0.5
"""Largest difference of a side's belt speed from their mean, over the mean [-]."""


class BeltSpeedDriver:
    """Driver at a constant mean belt speed that steers along the line y = 0, heading along x."""

    def __init__(self, speed: float, assumptions: Assumptions) -> None:
        """Drive at a belt speed [m/s]."""
        self._speed, self._gains = speed, (assumptions.heading_gain, assumptions.offset_gain)

    def __call__(self, robot: Robot, time: float) -> None:
        """Command belt speeds that steer to the line."""
        state = robot.state
        steer = self._gains[0] * state.yaw + self._gains[1] * state.position[1]
        steer = min(max(steer, -_LARGEST_STEER), _LARGEST_STEER)
        robot.set_belt_speed(left=self._speed * (1.0 + steer), right=self._speed * (1.0 - steer))
