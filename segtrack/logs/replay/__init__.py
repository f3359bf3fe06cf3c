"""Logs put on described ground and driven again, by what was commanded and by what the belts did.

| module | what |
|---|---|
| `settings` | vehicle, ground, engine, event |
| `terrain` | ground from a file, and where it begins to rise |
| `align`, `onset`, `touch`, `path` | the log in the terrain's frame |
| `commands` | what belts and flippers are told from step to step |
| `simulate` | the run, and its quantities as those of a log |
| `replay` | both runs beside the log |
"""

from segtrack.logs.replay.align import AlignedLog, align
from segtrack.logs.replay.commands import BeltSource
from segtrack.logs.replay.path import Place
from segtrack.logs.replay.replay import Replay, replay, replay_log
from segtrack.logs.replay.settings import ReplayScene, ReplaySettings
from segtrack.logs.replay.simulate import ReplayDivergedError
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
    "align",
    "load_terrain",
    "parse_terrain",
    "replay",
    "replay_log",
]
