"""A robot that is watched while it moves: its pose, and how it stands on the ground."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from segtrack.experiments.steady_turns.contact_loads import ContactLoads, contact_loads
from segtrack.robot import Robot
from segtrack.world import World

SAMPLE = 0.02
"""Time between two readings, about [s]."""


@dataclass(frozen=True, eq=False)
class Ride:
    """A robot over n intervals of time.

    Attributes:
        time: When intervals begin and the last one ends (n + 1,) [s].
        positions: Of the body frame in the world, then (n + 1, 3) [m].
        rotations: The body frame's axes in the world, as columns, then (n + 1, 3, 3).
        loads: How it stood at the end of each interval (n,).
        real_time_factor: Simulated over elapsed time, without what reading took.
    """

    time: NDArray[np.float64]
    positions: NDArray[np.float64]
    rotations: NDArray[np.float64]
    loads: tuple[ContactLoads, ...]
    real_time_factor: float

    def twists(self, point: ArrayLike) -> NDArray[np.float64]:
        """Velocity of a point of the body along the body's x and y, and yaw rate about its z.

        Args:
            point: In the body frame (3,) [m].

        Returns:
            For each interval (n, 3) [m/s, m/s, rad/s].
        """
        times = np.diff(self.time)
        paths = np.diff(self.positions + self.rotations @ np.asarray(point), axis=0)
        axes = (self.rotations[1:] + self.rotations[:-1]) / 2
        velocities = np.einsum("nij,ni->nj", axes, paths) / times[:, None]
        turned = np.swapaxes(self.rotations[:-1], 1, 2) @ self.rotations[1:]
        rates = Rotation.from_matrix(turned).as_rotvec()[:, 2] / times
        return np.column_stack([velocities[:, :2], rates])

    def windows(self, size: int) -> list[tuple[NDArray[np.float64], ContactLoads]]:
        """Mean loads of so many intervals at a time, and the body's axes (3, 3) in their middle."""
        found = []
        for begin in range(0, len(self.loads), size):
            loads = self.loads[begin : begin + size]
            middle = self.rotations[begin + 1 + len(loads) // 2 - (len(loads) > 1)]
            found.append((middle, ContactLoads.joined(loads, 1 / len(loads))))
        return found


def watch(world: World, robot: Robot, seconds: float) -> Ride:
    """Let a world run on, and read a robot on flat ground at its end and every `SAMPLE` before.

    Args:
        world: Whose clock goes on.
        robot: One of its robots.
        seconds: How long [s].

    Raises:
        InvalidValueError: Nothing touches the ground at a reading, or something else than tracks does.
    """
    count = max(1, round(seconds / SAMPLE))
    steps = np.round(np.linspace(0, seconds, count + 1) / world.time_step)
    times, states, loads, elapsed = [world.time], [robot.state], list[ContactLoads](), 0.0
    for interval in np.diff(steps) * world.time_step:
        world.run(interval)
        elapsed += interval / world.real_time_factor
        times.append(world.time)
        states.append(robot.state)
        loads.append(contact_loads(robot))
    return Ride(
        time=np.array(times),
        positions=np.array([state.position for state in states]),
        rotations=Rotation.from_quat([state.orientation for state in states]).as_matrix(),
        loads=tuple(loads),
        real_time_factor=float((times[-1] - times[0]) / elapsed),
    )
