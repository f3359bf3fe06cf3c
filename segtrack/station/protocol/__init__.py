"""Protocol of `/station/socket`: JSON messages, and binary ones for states.

The page and a scripted driver speak it alike.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
