"""Logs put on described ground and driven again, by what was commanded and by what the belts did.

| module | what |
|---|---|
| `settings` | vehicle, ground, engine, event; what belts and flippers are told from step to step |
| `terrain` | ground from a file, and where it begins to rise |
| `align`, `onset`, `touch`, `path` | the log in the terrain's frame |
| `start`, `start_check`, `standing_place` | the vehicle at rest where the log begins, as the log says |
| `replay` | both runs beside the log, and their quantities as those of a log |
"""

from segtrack.logs.replay.align import AlignedLog, align
from segtrack.logs.replay.path import Place
from segtrack.logs.replay.replay import Replay, ReplayDivergedError, replay, replay_log
from segtrack.logs.replay.settings import BeltSource, ReplayScene, ReplaySettings
from segtrack.logs.replay.start_check import StartPoseError, check_start
from segtrack.logs.replay.terrain import LoadedTerrain, Rise, load_terrain, parse_terrain

__all__ = [
    "AlignedLog",
    "BeltSource",
    "LoadedTerrain",
    "Rise",
    "Place",
    "Replay",
    "ReplayDivergedError",
    "ReplaySettings",
    "ReplayScene",
    "StartPoseError",
    "align",
    "check_start",
    "load_terrain",
    "parse_terrain",
    "replay",
    "replay_log",
]
