"""Simulation in a process of its own, paced to the clock.

`exchange` has the data and messages that the two processes share, `drive` a tick, `judge` its trial, `loads`
the contact loads that are read in spare time, `loop` the schedule of ticks, and `process` the web process's
handle of it all.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
