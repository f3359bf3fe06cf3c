"""Experiments for commands and Python: climbs, turns, traction, contact loads, events, studies.

Events are those of NG-NRMM after Koerner 2024, "Influence of Track-Assembly Geometry on Mobility Over Rigid
Terrain", a master's thesis at Chalmers University of Technology; numbers of sections and tables are its. A
vehicle drives at an obstacle that begins at x = 0, passes it or is stuck, and the vertical acceleration at
its driver's place is taken every step. A study is one event for many vehicles with different numbers in
their file, from one YAML file.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
