"""Courses for trials: terrain, start, gates, walls and settings, described in YAML.

| module | content |
|---|---|
| `course` | a course at one setting |
| `load` | finding and reading a course file, with all its mistakes |
| `pieces` | keys of each apparatus: one row an obstacle of `segtrack.terrain` |
| `file` | keys of the ground and of the rules |
| `ground` | from the keys to terrain and to a course |

`Layout` and `build_ground` are for whatever else describes its ground in YAML.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
