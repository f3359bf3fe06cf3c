"""Courses and trials on them: terrain, start, gates and walls from YAML, and what operators achieve there.

`Layout` and `build_ground` are for whatever else describes its ground in YAML.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
