"""Experiments for commands and for Python: climbs, turns, traction, contact loads, variants of vehicles."""

from segtrack.experiments.climb import ClimbProgress, run_climb
from segtrack.experiments.climb_result import ClimbDivergedError, ClimbInterrupted, ClimbResult, ClimbSetup
from segtrack.experiments.histories import ChainHistory

__all__ = [
    "ChainHistory",
    "ClimbDivergedError",
    "ClimbInterrupted",
    "ClimbProgress",
    "ClimbResult",
    "ClimbSetup",
    "run_climb",
]
