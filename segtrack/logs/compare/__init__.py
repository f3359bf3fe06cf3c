"""Simulated motions beside logged ones, with the uncertainty of errors; trials at steps beside simulated."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
