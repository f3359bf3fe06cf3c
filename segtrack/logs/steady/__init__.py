"""Tables of steady turns, a row each and no time: simulated, compared with what was measured, and fitted."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
