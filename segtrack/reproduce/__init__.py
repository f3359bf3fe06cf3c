"""Commands of `segtrack reproduce`: published results and proofs, one module each, listed in `registry`.

A module has the command's `run`, whose parameters are its options, its table and its figure.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
