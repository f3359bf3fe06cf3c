"""What is written down of a robot while it drives."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.robot import Robot, RobotState


@dataclass(frozen=True)
class BeltHistory:
    """One belt over time.

    Attributes:
        travel: Belt travel since the start (n,) [m].
        speed: (n,) [m/s]
        force: What the drive exerts along the travel (n,) [N].
    """

    travel: NDArray[np.float64]
    speed: NDArray[np.float64]
    force: NDArray[np.float64]


@dataclass(frozen=True)
class Trajectory:
    """A robot over time, sampled evenly.

    Attributes:
        time: Since the world began (n,) [s].
        position: Of the body frame in the world (n, 3) [m].
        orientation: Of the body frame in the world, quaternions (x, y, z, w), (n, 4).
        pitch: Nose up positive, counted on past a right angle when the robot falls over
            backwards (n,) [rad].
        flippers: Angle by flipper (n,) [rad].
        belts: By the track's full name.
    """

    time: NDArray[np.float64]
    position: NDArray[np.float64]
    orientation: NDArray[np.float64]
    pitch: NDArray[np.float64]
    flippers: dict[str, NDArray[np.float64]]
    belts: dict[str, BeltHistory]

    @property
    def forward_axis(self) -> NDArray[np.float64]:
        """The body's x axis in the world (n, 3)."""
        x, y, z, w = self.orientation.T
        return np.stack([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)], axis=1)

    def columns(self) -> dict[str, NDArray[np.float64]]:
        """Everything as columns of one table, the unit in each name."""
        table = {"time_s": self.time}
        table |= {f"{axis}_m": self.position[:, i] for i, axis in enumerate("xyz")}
        table |= {f"q{axis}": self.orientation[:, i] for i, axis in enumerate("xyzw")}
        table["pitch_rad"] = self.pitch
        table |= {f"{name}_angle_rad": angle for name, angle in self.flippers.items()}
        for name, belt in self.belts.items():
            table[f"{name}_travel_m"] = belt.travel
            table[f"{name}_speed_m_s"] = belt.speed
            table[f"{name}_force_N"] = belt.force
        return table


class TrajectoryRecorder:
    """Collects a trajectory, a sample at a time."""

    def __init__(self, robot: Robot) -> None:
        """Begin with no samples."""
        self._robot = robot
        self._rows: list[list[float]] = []

    def sample(self, time: float) -> RobotState:
        """Write down the robot at a time [s]; returns its state."""
        state = self._robot.state
        row = [time, *state.position, *state.orientation, unfolded_pitch(state)]
        row += [flipper.angle for flipper in self._robot.flippers.values()]
        for track in self._robot.tracks.values():
            row += [track.travel, track.speed, track.force]
        self._rows.append(row)
        return state

    def trajectory(self) -> Trajectory:
        """What has been collected."""
        flippers, belts = list(self._robot.flippers), list(self._robot.tracks)
        width = 9 + len(flippers) + 3 * len(belts)
        table = np.array(self._rows).reshape(-1, width)
        table.setflags(write=False)
        first_belt = 9 + len(flippers)
        return Trajectory(
            time=table[:, 0],
            position=table[:, 1:4],
            orientation=table[:, 4:8],
            pitch=table[:, 8],
            flippers={name: table[:, 9 + i] for i, name in enumerate(flippers)},
            belts={
                name: BeltHistory(*(table[:, first_belt + 3 * i + k] for k in range(3)))
                for i, name in enumerate(belts)
            },
        )


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
