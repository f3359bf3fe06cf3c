"""Synchronisation of a log's sources: offset and skew of clocks, and mountings of sensors, with intervals."""

from segtrack.logs.clocks.clock_fit import ClockFit, SensorMounting, fit_to_receive_times
from segtrack.logs.clocks.estimates import Estimate
from segtrack.logs.clocks.motion_fit import fit_clock
from segtrack.logs.clocks.views import SEEN, Seen

__all__ = ["SEEN", "ClockFit", "Estimate", "SensorMounting", "Seen", "fit_clock", "fit_to_receive_times"]
