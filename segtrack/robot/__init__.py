"""Vehicles in a running simulation."""

from segtrack.robot.robot import Robot, RobotState, attach
from segtrack.robot.settling import Rest, settle

__all__ = ["Rest", "Robot", "RobotState", "attach", "settle"]
