"""Attia 2005: the paper's particle recursion and its vehicle, compared with the native engine.

| module | contents |
|---|---|
| `particles.py` | a rigid body as ten particles, and the motion of its points |
| `recursion.py` | trees of such bodies, and loops by cut joints: a second implementation of dynamics |
| `vehicle.py` | the paper's tables, assumed dimensions, and rest by statics |
| `particle_model.py` | the vehicle as particles, its loops cut |
| `native_model.py` | the vehicle in the native engine, as a tree |
| `command.py` | `segtrack reproduce attia` |
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
