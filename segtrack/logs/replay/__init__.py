"""Logs put on described ground and driven again, by what was commanded and by what the belts did.

| module | what |
|---|---|
| `settings` | vehicle, ground, engine, event; what belts and flippers are told from step to step |
| `alignment`, `path` | the log in the terrain's frame |
| `start` | the vehicle at rest where the log begins, as the log says |
| `replaying` | both runs beside the log, and their quantities as those of a log |
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
