"""A vehicle in a simulation as a trial sees it."""

from __future__ import annotations

from segtrack.courses import Course
from segtrack.robot import Robot
from segtrack.scoring.outline import VehicleOutline
from segtrack.scoring.settings import ScoringSettings
from segtrack.scoring.trial import Situation
from segtrack.scoring.walls import WallSensor


class Observer:
    """Looks at a robot on a course, for a trial."""

    def __init__(self, robot: Robot, course: Course, settings: ScoringSettings) -> None:
        """Take a robot, and a course's walls."""
        self._robot = robot
        self._outline = VehicleOutline(robot)
        self._sensor = WallSensor(course.walls, settings.touch_distance) if course.walls else None

    def look(self, time: float) -> Situation:
        """Return where the robot is now, at a simulated time [s]."""
        state = self._robot.state
        touching = self._sensor is not None and self._sensor.touches(self._outline.look())
        return Situation(time, state.position, state.roll, state.pitch, touching)
