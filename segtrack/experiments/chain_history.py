"""What is written down of link chains while a robot drives."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.design import TrackDesign
from segtrack.chain.readings import ChainReading
from segtrack.robot import Robot

ROWS = 50_000
"""Of all shoes at all times, about: some 7 MB of CSV."""

COLUMNS = (
    "time_s",
    "track",
    "shoe",
    "x_m",
    "y_m",
    "z_m",
    "tension_N",
    "pin_force_N",
    "ground_force_N",
    "pressure_Pa",
    "sinkage_m",
    "slip_m_s",
    "slip_across_m_s",
    "drive_torque_Nm",
    "drive_speed_rad_s",
    "idler_slide_m",
)
"""Of the table of a `ChainHistory`; the last three are the track's and equal for all its shoes."""


@dataclass(frozen=True)
class ChainHistory:
    """A robot's link chains over time, sampled evenly.

    Attributes:
        time: Since the world began (t,) [s].
        designs: What the chains are made of, by the track's full name.
        readings: t of them by the track's full name.
    """

    time: NDArray[np.float64]
    designs: dict[str, TrackDesign]
    readings: dict[str, tuple[ChainReading, ...]]

    def over_time(self, track: str, name: str) -> NDArray[np.float64]:
        """One attribute of a track's readings at all times (t, ...), in its unit."""
        return np.array([getattr(reading, name) for reading in self.readings[track]])

    def rows(self) -> Iterator[tuple[object, ...]]:
        """One long table with `COLUMNS`: a row for each shoe of each track at each time."""
        for i, time in enumerate(self.time.tolist()):
            for track, readings in self.readings.items():
                reading = readings[i]
                shoes = np.column_stack(
                    [
                        reading.positions,
                        reading.tension,
                        reading.pin_force,
                        reading.ground_force,
                        reading.pressure,
                        reading.sinkage,
                        reading.slip_velocity,
                    ]
                )
                drive = (reading.drive_torque, reading.drive_speed, reading.idler_slide)
                last = tuple(f"{value:.6g}" for value in drive)
                for shoe, values in enumerate(shoes.tolist()):
                    yield (f"{time:.6g}", track, shoe, *(f"{value:.6g}" for value in values), *last)


class ChainRecorder:
    """Collects readings of all link chains of a robot, seldom enough for `ROWS`."""

    def __init__(self, robot: Robot, interval: float, duration: float) -> None:
        """Begin with no samples.

        Args:
            robot: Whose tracks have link chains.
            interval: At which `sample` is called [s].
            duration: That it will go on, at most [s].
        """
        self._tracks = robot.tracks
        shoes = sum(track.chain_design.chain.count for track in robot.tracks.values())
        self._every = max(1, math.ceil(duration / interval * shoes / ROWS))
        self._calls = 0
        self._samples: list[tuple[float, dict[str, ChainReading]]] = []

    def sample(self, time: float) -> None:
        """Write down the chains at a time [s], if it is their turn."""
        if self._calls % self._every == 0:
            self._samples.append((time, {name: track.read_chain() for name, track in self._tracks.items()}))
        self._calls += 1

    def history(self) -> ChainHistory:
        """What has been collected."""
        return ChainHistory(
            np.array([time for time, _ in self._samples]),
            {name: track.chain_design for name, track in self._tracks.items()},
            {name: tuple(readings[name] for _, readings in self._samples) for name in self._tracks},
        )


def has_chains(robot: Robot) -> bool:
    """Whether a robot's tracks are link chains."""
    return any(track.has_chain for track in robot.tracks.values())
