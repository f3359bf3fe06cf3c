"""What is written down of a replay: the quantities of a log."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from segtrack.logs.motion import Motion, Signal
from segtrack.logs.replay.alignment.odometry import SIDES
from segtrack.robot import Robot, Track
from segtrack.robot.state import attitude_of

SOURCE = "simulation"
"""Of the signals of a replay."""

Array = NDArray[np.float64]


class MotionRecorder:
    """Collects a motion, a sample at a time."""

    def __init__(self, robot: Robot, name: str) -> None:
        """Begin with no samples; drives have done no work yet."""
        self._robot, self._name = robot, name
        self._times: list[float] = []
        self._rows: list[list[float]] = []
        self._energy = robot.energy
        tracks = list(robot.tracks.values())
        self._sides = {side: _tracks_of(side, tracks) for side in SIDES}
        self._shares = {side: {track.name: _share(track, side) for track in tracks} for side in SIDES}

    def sample(self, time: float, flippers: Mapping[str, float]) -> None:
        """Write down the robot at a time of the log [s], with what its flippers are told [rad]."""
        body = self._robot.model.body_motion()
        velocity = body.rotation.T @ body.velocity_at((0.0, 0.0, 0.0))
        row = [*body.position.tolist(), *body.orientation, *attitude_of(body.rotation)]
        row += [*velocity.tolist(), *(body.rotation.T @ body.angular_velocity).tolist()]
        belts = {name: track.state for name, track in self._robot.tracks.items()}
        for side in SIDES:
            own = self._sides[side]
            speed = sum(belts[track.name].speed for track in own) / len(own)
            ground = sum(track.ground_speed for track in own) / len(own)
            row += [sum(track.command for track in own) / len(own), speed]
            row += [sum(share * belts[name].force for name, share in self._shares[side].items())]
            row += [speed - ground]
        for name, flipper in self._robot.flippers.items():
            row += [flippers[name], flipper.angle]
        row.append(sum(belt.energy for belt in belts.values()) - self._energy)
        self._times.append(time)
        self._rows.append(row)

    def motion(self) -> Motion:
        """What has been collected."""
        times, table = np.array(self._times), np.array(self._rows)
        columns = iter(table.T)

        def signal(width: int = 1) -> Signal:
            values = np.stack([next(columns) for _ in range(width)], axis=1)
            return Signal(times, values if width > 1 else values[:, 0], source=SOURCE)

        signals = {"position": signal(3), "orientation": signal(4), "roll": signal(), "pitch": signal()}
        yaw = signal()
        signals["yaw"] = Signal(times, np.unwrap(yaw.values), source=SOURCE)
        signals |= {"velocity": signal(3), "angular_velocity": signal(3)}
        for side in SIDES:
            names = ("belt_speed_command", "belt_speed", "belt_force", "slip_velocity")
            signals |= {f"{name}.{side}": signal() for name in names}
        for flipper in self._robot.flippers:
            signals |= {f"{name}.{flipper}": signal() for name in ("flipper_angle_command", "flipper_angle")}
        return Motion(self._name, signals | {"energy": signal()})


def _tracks_of(side: str, tracks: list[Track]) -> list[Track]:
    """Tracks that stand for a side: its own on the body, or on flippers, or those in the middle, or all."""
    for flippers in (False, True):
        own = [t for t in tracks if t.side == side and (t.model.mounted.flipper is not None) == flippers]
        if own:
            return own
    return [track for track in tracks if track.side == "center"] or tracks


def _share(track: Track, side: str) -> float:
    """Share of a track's force that is its side's; one in the middle is half of each."""
    return 0.5 if track.side == "center" else float(track.side == side)
