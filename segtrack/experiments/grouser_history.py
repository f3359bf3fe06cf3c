"""What is written down of how grousers touch the ground while a robot drives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.compliant.reading import GrouserReading
from segtrack.robot import Robot

ROWS = 50_000
"""Of all contacts at all times, at most: some 8 MB of CSV."""
TRACK_MODELS = ("compliant", "surface")
"""Those whose contacts can be read."""

COLUMNS = (
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
"""Of the table of a `GrouserHistory`; vectors are in the world, grouser -1 is the belt's face."""


@dataclass(frozen=True)
class GrouserHistory:
    """Contacts of a robot's tracks over time, sampled evenly.

    Attributes:
        time: Since the world began (t,) [s].
        readings: t of them by the track's full name.
    """

    time: NDArray[np.float64]
    readings: dict[str, tuple[GrouserReading, ...]]

    def track_loads(self, track: str) -> NDArray[np.float64]:
        """Sum of the normal forces on a track at all times (t,) [N]."""
        return np.array([reading.normal_force.sum() for reading in self.readings[track]])

    @property
    def has_grousers(self) -> bool:
        """Whether any belt has grousers."""
        return any(reading.grouser_count for readings in self.readings.values() for reading in readings)

    def greatest_loads(self, track: str) -> NDArray[np.float64]:
        """Normal force on the grouser, or at the contact of a smooth belt, that carries most (t,) [N]."""
        readings = self.readings[track]
        return np.array([(r.load if r.grouser_count else r.normal_force).max(initial=0.0) for r in readings])

    def rows(self) -> Iterator[tuple[object, ...]]:
        """One long table with `COLUMNS`: a row for each contact of each track at each time."""
        for i, time in enumerate(self.time.tolist()):
            for track, readings in self.readings.items():
                reading = readings[i]
                contacts = np.column_stack(
                    [
                        reading.points,
                        reading.normal_force,
                        reading.tangential_force,
                        reading.slip_velocity,
                        reading.sinkage,
                        reading.pressure,
                    ]
                )
                for grouser, values in zip(reading.grousers.tolist(), contacts.tolist(), strict=True):
                    yield (f"{time:.6g}", track, grouser, *(f"{value:.6g}" for value in values))


class GrouserRecorder:
    """Collects readings of all tracks of a robot, seldom enough for `ROWS`.

    How many contacts there will be is not known before: when there are too many, every second sample
    is dropped, and from then on taken half as often.
    """

    def __init__(self, max_rows: int = ROWS) -> None:
        """Begin with no samples, and room for some contacts."""
        self._max_rows, self._rows = max_rows, 0
        self._every, self._calls = 1, 0
        self._samples: list[tuple[float, dict[str, GrouserReading]]] = []

    def sample(self, time: float, robot: Robot) -> None:
        """Write down the contacts of a robot at a time [s], if it is their turn."""
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
        """What has been collected; None without any sample."""
        if not self._samples:
            return None
        names = self._samples[0][1]
        return GrouserHistory(
            np.array([time for time, _ in self._samples]),
            {name: tuple(readings[name] for _, readings in self._samples) for name in names},
        )


def _count(readings: dict[str, GrouserReading]) -> int:
    return sum(len(reading.normal_force) for reading in readings.values())
