"""Belt paths, grouser placement and belt phase: pure numpy, no engine, no file format."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
