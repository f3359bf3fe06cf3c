"""The protocol between what users hold (world, robot, track, flipper, joint) and a physics engine.

`segtrack.bullet`, `segtrack.native` and `segtrack.mujoco` implement it; nothing above this layer knows which
one runs. What reaches an engine is checked: numbers are finite, names exist, angles and speeds are
within their limits. All vectors are in the world, z upwards, unless said otherwise.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
