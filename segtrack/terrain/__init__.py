"""Terrain descriptions: built in Bullet, packed for the native engine, sampled by height scans.

Every kind is a small frozen description in the world frame (x forward, y to
the left, z up), whose flat ground is z = 0. `distance` is the x at which an
obstacle begins; lengths run along x, widths along y.

| module | content |
|---|---|
| `base` | `Terrain`, `FlatGround`, `Obstacle`: solids, and heights that follow from them |
| `blocks`, `fields`, `slopes`, `plane` | obstacles, a class each |
| `surfaces`, `pybullet_shapes` | ground of your own |
| `solids`, `columns`, `heights` | solids in the world, and their heights |
| `soil`, `checks` | soils; limits of fields |
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
