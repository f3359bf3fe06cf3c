"""What a vehicle's tracks do for it on flat ground, on a slope and at a hitch.

All of it on rigid ground of friction 1, so that a track's friction is what acts. A slope is flat
ground under gravity that leans backwards, the vehicle's x axis pointing up it.
"""

import math

from segtrack.experiments.traction.hitch import SLIPS, pull_hitch
from segtrack.experiments.traction.measure import TILT_RATE, drive_steadily, slide_down
from segtrack.experiments.traction.results import GRAVITY, SLIDING, Pull, ShoeSlip, Slide, SteadyDrive
from segtrack.experiments.traction.scene import SPEED

SLOPE = math.radians(20.0)
"""That is driven up [rad]."""

__all__ = [
    "GRAVITY",
    "SLIDING",
    "SLIPS",
    "SLOPE",
    "SPEED",
    "TILT_RATE",
    "Pull",
    "ShoeSlip",
    "Slide",
    "SteadyDrive",
    "drive_steadily",
    "pull_hitch",
    "slide_down",
]
