"""The motion of a robot in an experiment, and its table."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from segtrack.robot import Robot, RobotState
from segtrack.robot.motion import Motion, SignalRecorder


class TrajectoryRecorder:
    """Samples the body's pose, the flippers' angles, and travel, speed and force of each track.

    Attributes:
        energy: Work of all belt drives up to the latest sample [J].
    """

    def __init__(self, robot: Robot) -> None:
        """Begin with no samples."""
        self._robot, self._recorder = robot, SignalRecorder(robot.name)
        self.energy = 0.0

    def sample(self, time: float) -> RobotState:
        """Sample the robot at a time [s]; returns its state."""
        state = self._robot.state
        values: dict[str, float | Sequence[float]] = {
            "position": state.position,
            "orientation": state.orientation,
            "pitch": unfolded_pitch(state),
        }
        values |= {f"flipper_angle.{name}": flipper.angle for name, flipper in self._robot.flippers.items()}
        belts = self._robot.read_tracks()
        for name, belt in belts.items():
            values[f"track_travel.{name}"] = belt.travel
            values[f"track_speed.{name}"] = belt.speed
            values[f"track_force.{name}"] = belt.force
        self.energy = sum(belt.energy for belt in belts.values())
        self._recorder.add(time, values)
        return state

    def motion(self) -> Motion:
        """Return the motion up to the last sample."""
        return self._recorder.motion()


def trajectory_columns(motion: Motion) -> dict[str, NDArray[np.float64]]:
    """Return a sampled motion as columns of one table, the unit in each name."""
    table = {"time_s": motion.times}
    table |= {f"{axis}_m": motion["position"][:, i] for i, axis in enumerate("xyz")}
    table |= {f"q{axis}": motion["orientation"][:, i] for i, axis in enumerate("xyzw")}
    table["pitch_rad"] = motion["pitch"]
    table |= {f"{name}_angle_rad": angle for name, angle in motion.by_name("flipper_angle").items()}
    for name, travel in motion.by_name("track_travel").items():
        table[f"{name}_travel_m"] = travel
        table[f"{name}_speed_m_s"] = motion[f"track_speed.{name}"]
        table[f"{name}_force_N"] = motion[f"track_force.{name}"]
    return table


def up_of(state: RobotState) -> float:
    """Vertical component of the body's z axis; negative once the robot has turned over."""
    x, y, _, _ = state.orientation
    return 1.0 - 2.0 * (x * x + y * y)


def unfolded_pitch(state: RobotState) -> float:
    """Pitch [rad] of a robot that set out along +x, counted on past a right angle when it falls over."""
    _, y, z, _ = state.orientation
    backwards = 1.0 - 2.0 * (y * y + z * z) < 0.0
    if backwards and up_of(state) < 0.0:
        return math.copysign(math.pi, state.pitch) - state.pitch
    return state.pitch
