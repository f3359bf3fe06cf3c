"""How a climb went."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from segtrack.description import VehicleDescription
from segtrack.engine import EngineName
from segtrack.errors import DivergedError
from segtrack.experiments.chain_history import ChainHistory
from segtrack.experiments.climb.setup import ClimbSetup
from segtrack.experiments.trajectory import Trajectory
from segtrack.terrain import Step

Outcome = Literal["climbed", "tipped over", "stuck", "interrupted", "diverged"]


@dataclass(frozen=True)
class ClimbResult:
    """How a climb went.

    Attributes:
        setup: What was asked for.
        engine: What simulated it.
        track_model: How tracks were built.
        preset: The engine's solver settings.
        vehicle: What drove, with the setup's changes.
        terrain: The step.
        speed: Commanded belt speed, clipped to the drives' [m/s].
        outcome: How it ended.
        duration: Simulated time, settling included [s].
        real_time_factor: Simulated over elapsed time while driving: median over windows of 0.5 s.
        real_time_factor_min: The same, of the slowest window.
        max_pitch: Largest pitch, nose up [rad].
        final_position: Of the body frame (3,) [m]; the step's face is at x = 0.
        slip: 1 - way / belt travel while driving [-]. The way is what the body frame moves along
            its own forward axis, the belt travel is the mean over the tracks. Of a whole drive, so it
            keeps the one ratio of publications, and has none of `Track.slip`'s bounds.
        energy: Work of all belt drives [J].
        trajectory: Sampled at 50 Hz.
        chains: The same of link chains, seldom enough for `chain_history.ROWS`; None for other tracks.
    """

    setup: ClimbSetup
    engine: EngineName
    track_model: str
    preset: str
    vehicle: VehicleDescription
    terrain: Step
    speed: float
    outcome: Outcome
    duration: float
    real_time_factor: float
    real_time_factor_min: float
    max_pitch: float
    final_position: tuple[float, float, float]
    slip: float
    energy: float
    trajectory: Trajectory
    chains: ChainHistory | None = None

    @property
    def success(self) -> bool:
        """Whether the step was climbed."""
        return self.outcome == "climbed"

    def summary(self) -> dict[str, object]:
        """Everything but what is sampled, as plain values with the names that JSON has."""
        flippers = {
            name: math.degrees(angle[0]) for name, angle in self.trajectory.flippers.items() if len(angle)
        }
        return {
            "vehicle": self.vehicle.name,
            "step": self.setup.step,
            "speed": self.speed,
            "flippers_deg": {name: round(angle, 3) for name, angle in flippers.items()},
            "friction": self.setup.friction,
            "engine": self.engine,
            "track_model": self.track_model,
            "preset": self.preset,
            "success": self.success,
            "outcome": self.outcome,
            "duration": round(self.duration, 6),
            "real_time_factor": self.real_time_factor,
            "real_time_factor_min": self.real_time_factor_min,
            "max_pitch_deg": math.degrees(self.max_pitch),
            "final_position": list(self.final_position),
            "slip": self.slip,
            "energy": self.energy,
        }


class ClimbInterrupted(KeyboardInterrupt):
    """Ctrl-C during a climb; carries what there is so far."""

    def __init__(self, result: ClimbResult) -> None:
        """Keep the result up to now, whose outcome is `interrupted`."""
        super().__init__()
        self.result = result


class ClimbDivergedError(DivergedError):
    """A climb that left what is physically possible; carries what there is so far."""

    def __init__(self, error: DivergedError, result: ClimbResult) -> None:
        """Say the same, and keep the result up to the last sample, whose outcome is `diverged`."""
        super().__init__(error.body, error.time, error.reason)
        self.result = result
