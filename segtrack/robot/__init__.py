"""Vehicles in a running simulation."""

from segtrack.robot.robot import Robot, RobotState, attach

__all__ = ["Robot", "RobotState", "attach"]
