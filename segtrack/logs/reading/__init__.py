"""Log files of all supported formats: read into a `Log`, inspected, and written from a `Motion`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
