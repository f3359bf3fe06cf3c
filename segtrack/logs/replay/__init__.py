"""Logs put on described ground and driven again, by what was commanded and by what the belts did.

| module | what |
|---|---|
| `settings` | vehicle, ground, engine, event |
| `terrain`, `obstacle` | ground from a file, and where it begins to rise |
| `alignment` | the log in the terrain's frame |
| `commands` | what belts and flippers are told from step to step |
| `simulate`, `record` | the run, and its quantities as those of a log |
| `replay` | both runs beside the log |
"""

from segtrack.logs.replay.alignment.align import AlignedLog, align
from segtrack.logs.replay.alignment.path import Place
from segtrack.logs.replay.alignment.se3 import SE3Alignment, align_se3
from segtrack.logs.replay.commands import BeltSource
from segtrack.logs.replay.obstacle import Obstacle
from segtrack.logs.replay.replay import Replay, replay, replay_log
from segtrack.logs.replay.settings import ReplaySettings, Scene
from segtrack.logs.replay.simulate import ReplayDivergedError
from segtrack.logs.replay.terrain import LoadedTerrain, load_terrain, parse_terrain

__all__ = [
    "AlignedLog",
    "BeltSource",
    "LoadedTerrain",
    "Obstacle",
    "Place",
    "Replay",
    "ReplayDivergedError",
    "ReplaySettings",
    "SE3Alignment",
    "Scene",
    "align",
    "align_se3",
    "load_terrain",
    "parse_terrain",
    "replay",
    "replay_log",
]
