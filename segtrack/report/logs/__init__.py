"""Pictures, tables and pages of logs and of what came of them; the HTML report is in `output`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
