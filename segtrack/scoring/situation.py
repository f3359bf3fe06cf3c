"""Situation of a vehicle for a trial, trial events, and pace of a simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Situation:
    """State of a vehicle and its simulation, as input to a trial.

    Attributes:
        time: Simulated time, never decreasing [s].
        position: Origin of the body frame in the world (3,) [m].
        roll: Roll about the body's x axis [rad].
        pitch: Elevation of the body's x axis [rad].
        touching_wall: True while a wall is touched.
        wall_clock: Wall clock [s]; None if not run in real time.
        late: True if the simulation is more than a tick late.
        commanded: False while no commands arrive from the driver.
    """

    time: float
    position: tuple[float, float, float]
    roll: float = 0.0
    pitch: float = 0.0
    touching_wall: bool = False
    wall_clock: float | None = None
    late: bool = False
    commanded: bool = True


@dataclass(frozen=True)
class TrialEvent:
    """Event of a trial.

    Attributes:
        clock: Elapsed time of the trial [s].
        kind: Kind of the event.
        text: Description for people.
    """

    clock: float
    kind: Literal["gate", "repetition", "fault", "void", "restart", "pause", "level", "end"]
    text: str


_MADE_UP_FOR = 0.1
"""Delay that does not count: a short one is made up for by the ticks after it [s]."""


@dataclass
class Pace:
    """Pace of a simulation: simulated and elapsed time.

    Attributes:
        simulated: Simulated time [s].
        wall_time: Elapsed wall time [s].
    """

    simulated: float = 0.0
    wall_time: float = 0.0

    def add(self, simulated: float, wall_time: float) -> None:
        """Add simulated and elapsed time [s]."""
        self.simulated, self.wall_time = self.simulated + simulated, self.wall_time + wall_time

    @property
    def real_time_factor(self) -> float:
        """Simulated over elapsed time [-]; 1 before any time has elapsed."""
        return self.simulated / self.wall_time if self.wall_time > 0 else 1.0

    def is_below(self, factor: float) -> bool:
        """Return whether the real-time factor is below a value, over a time long enough to tell."""
        return self.real_time_factor < factor and self.wall_time - self.simulated > _MADE_UP_FOR
