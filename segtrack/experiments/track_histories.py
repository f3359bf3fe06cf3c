"""Histories of link chains and of grouser contacts while a robot drives."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from segtrack.chain import ChainReading, TrackDesign
from segtrack.compliant import GrouserReading
from segtrack.robot import Robot

Reading = TypeVar("Reading", bound=ChainReading | GrouserReading)

CHAIN_ROWS = 50_000
"""Approximate number of rows, of all shoes at all times: some 7 MB of CSV."""

CHAIN_COLUMNS = (
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
"""Columns of the table of a `ChainHistory`; the last three are the track's and equal for all its shoes."""


@dataclass(frozen=True)
class ChainHistory:
    """Readings of a robot's link chains over time, sampled evenly.

    Attributes:
        time: Time since the world began (t,) [s].
        designs: Designs of the chains, by the track's full name.
        readings: The t readings of each chain, by the track's full name.
    """

    time: NDArray[np.float64]
    designs: dict[str, TrackDesign]
    readings: dict[str, tuple[ChainReading, ...]]

    def over_time(self, track: str, name: str) -> NDArray[np.float64]:
        """Values of one attribute of a track's readings over time (t, ...), in its unit."""
        return np.array([getattr(reading, name) for reading in self.readings[track]])

    def rows(self) -> Iterator[tuple[object, ...]]:
        """Yield the rows of a table with `CHAIN_COLUMNS`: one per time, track and shoe."""

        def shoes(reading: ChainReading) -> Iterator[tuple[int, list[float]]]:
            r = reading
            loads = [r.tension, r.pin_force, r.ground_force, r.pressure, r.sinkage, r.slip_velocity]
            own: list[list[float]] = np.column_stack([r.positions, *loads]).tolist()
            track = [r.drive_torque, r.drive_speed, r.idler_slide]
            return ((shoe, [*values, *track]) for shoe, values in enumerate(own))

        return _long_table(self.time, self.readings, shoes)


def _long_table(
    time: NDArray[np.float64],
    readings: Mapping[str, tuple[Reading, ...]],
    numbers_of: Callable[[Reading], Iterable[tuple[int, list[float]]]],
) -> Iterator[tuple[object, ...]]:
    """Yield rows of time, track, part number, and values, from all readings of all tracks."""
    for i, now in enumerate(time.tolist()):
        for track, own in readings.items():
            for number, numbers in numbers_of(own[i]):
                yield (f"{now:.6g}", track, number, *(f"{value:.6g}" for value in numbers))


class ChainRecorder:
    """Recorder of a robot's link chains, at intervals that give about `CHAIN_ROWS` rows."""

    def __init__(self, robot: Robot, interval: float, duration: float) -> None:
        """Begin with no samples.

        Args:
            robot: Robot on link chains.
            interval: Time between two calls of `sample` [s].
            duration: Longest time that will be sampled [s].
        """
        self._tracks = robot.tracks
        shoes = sum(track.chain_design.chain.count for track in robot.tracks.values())
        self._every = max(1, math.ceil(duration / interval * shoes / CHAIN_ROWS))
        self._calls = 0
        self._samples: list[tuple[float, dict[str, ChainReading]]] = []

    def sample(self, time: float) -> None:
        """Sample all chains at a time [s] if the sampling period has elapsed."""
        if self._calls % self._every == 0:
            self._samples.append((time, {name: track.read_chain() for name, track in self._tracks.items()}))
        self._calls += 1

    def history(self) -> ChainHistory:
        """Return the history up to the last sample."""
        return ChainHistory(
            np.array([time for time, _ in self._samples]),
            {name: track.chain_design for name, track in self._tracks.items()},
            {name: tuple(readings[name] for _, readings in self._samples) for name in self._tracks},
        )


def has_chains(robot: Robot) -> bool:
    """Return whether a robot's tracks are link chains."""
    return any(track.has_chain for track in robot.tracks.values())


GROUSER_ROWS = 50_000
"""Largest number of rows, of all contacts at all times: some 8 MB of CSV."""

GROUSER_COLUMNS = (
    "time_s",
    "track",
    "grouser",
    "x_m",
    "y_m",
    "z_m",
    "normal_force_N",
    "friction_x_N",
    "friction_y_N",
    "friction_z_N",
    "slip_x_m_s",
    "slip_y_m_s",
    "slip_z_m_s",
    "sinkage_m",
    "pressure_Pa",
)
"""Columns of the table of a `GrouserHistory`; vectors are in the world, grouser -1 is the belt's face."""


@dataclass(frozen=True)
class GrouserHistory:
    """Readings of the contacts of a robot's tracks over time, sampled evenly.

    Attributes:
        time: Time since the world began (t,) [s].
        readings: The t readings of each track, by the track's full name.
    """

    time: NDArray[np.float64]
    readings: dict[str, tuple[GrouserReading, ...]]

    def track_loads(self, track: str) -> NDArray[np.float64]:
        """Total normal force on a track over time (t,) [N]."""
        return np.array([reading.normal_force.sum() for reading in self.readings[track]])

    @property
    def has_grousers(self) -> bool:
        """True if any belt has grousers."""
        return any(reading.grouser_count for readings in self.readings.values() for reading in readings)

    def greatest_loads(self, track: str) -> NDArray[np.float64]:
        """Normal force on the most loaded grouser, or contact of a smooth belt, over time (t,) [N]."""
        readings = self.readings[track]
        return np.array([(r.load if r.grouser_count else r.normal_force).max(initial=0.0) for r in readings])

    def rows(self) -> Iterator[tuple[object, ...]]:
        """Yield the rows of a table with `GROUSER_COLUMNS`: one per time, track and contact."""

        def contacts(reading: GrouserReading) -> Iterator[tuple[int, list[float]]]:
            r = reading
            vectors = [r.points, r.normal_force, r.tangential_force, r.slip_velocity, r.sinkage, r.pressure]
            return zip(r.grousers.tolist(), np.column_stack(vectors).tolist(), strict=True)

        return _long_table(self.time, self.readings, contacts)


class GrouserRecorder:
    """Recorder of contacts of a robot's tracks, at intervals that give about `GROUSER_ROWS` rows.

    How many contacts there will be is not known before: when there are too many, every second sample
    is dropped, and from then on taken half as often.
    """

    def __init__(self, max_rows: int = GROUSER_ROWS) -> None:
        """Start without samples, with room for some contacts."""
        self._max_rows, self._rows = max_rows, 0
        self._every, self._calls = 1, 0
        self._samples: list[tuple[float, dict[str, GrouserReading]]] = []

    def sample(self, time: float, robot: Robot) -> None:
        """Sample the contacts of a robot at a time [s] if the sampling period has elapsed."""
        if self._calls % self._every == 0:
            readings = {name: track.read_grousers() for name, track in robot.tracks.items()}
            self._samples.append((time, readings))
            self._rows += _count(readings)
            while self._rows > self._max_rows and len(self._samples) > 1:
                del self._samples[1::2]
                self._every *= 2
                self._rows = sum(_count(readings) for _, readings in self._samples)
        self._calls += 1

    def history(self) -> GrouserHistory | None:
        """Return the history up to the last sample; None without any sample."""
        if not self._samples:
            return None
        names = self._samples[0][1]
        return GrouserHistory(
            np.array([time for time, _ in self._samples]),
            {name: tuple(readings[name] for _, readings in self._samples) for name in names},
        )


def _count(readings: dict[str, GrouserReading]) -> int:
    return sum(len(reading.normal_force) for reading in readings.values())
