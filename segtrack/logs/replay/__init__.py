"""Logs put on described ground and driven again, by what was commanded and by what the belts did.

| module | what |
|---|---|
| `settings` | vehicle, ground, engine |
| `terrain`, `obstacle` | ground from a file, and where it begins to rise |
"""

from segtrack.logs.replay.obstacle import Obstacle
from segtrack.logs.replay.settings import ReplaySettings, Scene
from segtrack.logs.replay.terrain import LoadedTerrain, load_terrain, parse_terrain

__all__ = [
    "LoadedTerrain",
    "Obstacle",
    "ReplaySettings",
    "Scene",
    "load_terrain",
    "parse_terrain",
]
