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
    """

    time: float
    position: tuple[float, float, float]
    roll: float = 0.0
    pitch: float = 0.0
    touching_wall: bool = False
    wall_clock: float | None = None
    late: bool = False


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
"""Delay of a repetition that does not count: a short one is made up for by the ticks after it [s]."""


class Pace:
    """Pace of a repetition.

    Attributes:
        simulated: Simulated time [s].
        elapsed: Time on the wall [s].
        measured: True once a time was added.
    """

    def __init__(self) -> None:
        """Begin at the repetition's begin."""
        self.simulated = self.elapsed = 0.0
        self.measured = False

    def add(self, simulated: float, elapsed: float) -> None:
        """Add a time [s], simulated and on the wall."""
        self.simulated, self.elapsed = self.simulated + simulated, self.elapsed + elapsed
        self.measured = True

    def is_below(self, factor: float) -> bool:
        """Return True if simulated over elapsed time is, for long enough to tell."""
        behind = self.elapsed - self.simulated
        return behind > _MADE_UP_FOR and self.simulated < factor * self.elapsed
