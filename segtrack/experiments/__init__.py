"""Experiments for commands and Python: climbs, turns, traction, contact loads, vehicle variants."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
