"""Synchronisation of a log's sources: offset and skew of clocks, and mountings of sensors, with intervals."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
