"""Tables of trials at steps, simulated: outcomes, what is undecided, and step limits."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
