"""A simulated world: terrain and robots, the clock, and the engine behind them.

| module | what |
|---|---|
| `world` | what users hold |
| `engines` | engines opened by name; the only module that imports them |
| `placement` | heights at which robots stand, and robots brought to rest there |
| `stepping` | simulated time against the wall clock; saved states that are still good |
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
