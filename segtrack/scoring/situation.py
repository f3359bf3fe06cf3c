"""Situation of a vehicle, events of a trial, and the pace of a repetition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Situation:
    """Situation of a vehicle, as a trial needs it.

    Attributes:
        time: Simulated time, never going back [s].
        position: Origin of the body frame in the world (3,) [m].
        roll: Roll about the body's x axis [rad].
        pitch: Body's x axis above the horizontal [rad].
        touching_wall: True while a wall is touched.
        wall_clock: Wall clock [s]; None where nobody watches in real time.
        late: True if the simulation is late by more than a tick.
        commanded: False while no commands come: who drives is not heard.
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
        clock: Time on the trial's clock [s].
        kind: Kind of event.
        text: Description.
    """

    clock: float
    kind: Literal["gate", "repetition", "fault", "void", "restart", "pause", "level", "end"]
    text: str


_MADE_UP_FOR = 0.1
"""Delay that does not count: a short one is made up for by the ticks after it [s]."""


@dataclass
class Pace:
    """Pace of a simulation over some time.

    Attributes:
        simulated: Simulated time [s].
        wall_time: Time by the wall clock [s].
    """

    simulated: float = 0.0
    wall_time: float = 0.0

    def add(self, simulated: float, wall_time: float) -> None:
        """Add a time [s], simulated and by the wall clock."""
        self.simulated, self.wall_time = self.simulated + simulated, self.wall_time + wall_time

    @property
    def real_time_factor(self) -> float:
        """Simulated time over that of the wall clock; 1 before there is any."""
        return self.simulated / self.wall_time if self.wall_time > 0 else 1.0

    def is_below(self, factor: float) -> bool:
        """Return True if the real-time factor is, for long enough to tell."""
        return self.real_time_factor < factor and self.wall_time - self.simulated > _MADE_UP_FOR
