"""Mapping files, which assign channels to quantities, and the way from a `Log` to a `Motion`.

`map_log` runs the stages in order: take a trial's rows, sort them, look up channels, convert units and
signs, turn to the body frame, put all sources on one clock, move to the body's origin, cut the used piece.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
