"""A vehicle drives at a step: does it climb?

The robot starts on flat ground, its flippers at their angles, `attempt.GAP` before the step,
whose face is at x = 0. It settles, then drives straight at constant belt speed until
it stands on the step, has turned over, or runs out of time.
"""

from segtrack.experiments.climb.attempt import ClimbProgress, run_climb
from segtrack.experiments.climb.result import ClimbDivergedError, ClimbInterrupted, ClimbResult
from segtrack.experiments.climb.setup import FRONT_FLIPPERS_DEG, REAR_FLIPPERS_DEG, ClimbSetup

__all__ = [
    "FRONT_FLIPPERS_DEG",
    "REAR_FLIPPERS_DEG",
    "ClimbDivergedError",
    "ClimbInterrupted",
    "ClimbProgress",
    "ClimbResult",
    "ClimbSetup",
    "run_climb",
]
