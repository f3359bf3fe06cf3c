"""Belts of each track model in PyBullet.

| module | content |
|---|---|
| `segments`, `plates`, `wheels` | belts of links that PyBullet moves, with their masses; `smooth`, too |
| `joint_belt` | what those have in common: joints, motors, contact properties, readings |
| `chains`, `compliant` | belts that are integrated beside PyBullet; `compliant` has `surface`, too |
| `parent_links` | links of the vehicle that carry those |
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
