"""The simulation in a process of its own, paced to the clock.

`exchange` is what the two processes share and say to each other, `drive` what a tick does, `judge` its
trial, `loads` what is read in spare time, `loop` when ticks
are, and `process` the web process's hold on all of it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
