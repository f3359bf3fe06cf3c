"""Clocks of a log's sources against each other, and how a sensor sits on its vehicle.

| module | what |
|---|---|
| `clock_fit` | the one clock on the other, by receive times or by what both see |
| `receive_times` | stamps against receive times |
| `views` | what a source sees: turning in space, pitch, yaw, forward speed |
| `increments` | by how much that changes between any two times |
| `start` | the best correlation; refuses where there is no single peak |
| `joint_fit` | offset, skew, scale, bias and mounting, all at once |
| `noise` | how much of the rest is whose noise |
| `mounting` | three angles of a sensor on its vehicle |
| `uncertainty` | intervals, and variances of what hangs together |
| `round_trip` | the proof: a simulated climb spoilt and recovered |
"""

from segtrack.logs.clocks.clock_fit import ClockFit, fit_clock, fit_to_receive_times
from segtrack.logs.clocks.mounting import Mounting
from segtrack.logs.clocks.uncertainty import Estimate
from segtrack.logs.clocks.views import SEEN, Seen

__all__ = [
    "SEEN",
    "ClockFit",
    "Estimate",
    "Mounting",
    "Seen",
    "fit_clock",
    "fit_to_receive_times",
]
