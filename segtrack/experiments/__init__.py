"""Experiments, for commands and for Python: climb a step, reproduce Okada et al. 2020."""

from segtrack.experiments.chain_history import ChainHistory
from segtrack.experiments.climb import (
    ClimbDivergedError,
    ClimbInterrupted,
    ClimbProgress,
    ClimbResult,
    ClimbSetup,
    run_climb,
)
from segtrack.experiments.okada.step_map import run_map
from segtrack.experiments.okada.table_2 import run_table_2
from segtrack.experiments.okada.table_4 import run_table_4
from segtrack.experiments.trajectory import Trajectory

__all__ = [
    "ChainHistory",
    "ClimbDivergedError",
    "ClimbInterrupted",
    "ClimbProgress",
    "ClimbResult",
    "ClimbSetup",
    "Trajectory",
    "run_climb",
    "run_map",
    "run_table_2",
    "run_table_4",
]
