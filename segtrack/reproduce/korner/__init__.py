"""Koerner 2024: an M113 at steps, gaps, trapezoids and half-rounds, and the best place of its sprocket.

| module | contents |
|---|---|
| `paper.py` | the paper's numbers |
| `vehicle.py` | the evaluation model: both sides alike, the sprocket anywhere |
| `series.py` | an event run again and again, its size or speed raised |
| `plan.py` | which of them make up the study, reduced or full |
| `free_body.py` | forces that hold a vehicle that is stuck, and their picture |
| `command.py` | `segtrack reproduce korner`: results beside the paper's |
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
