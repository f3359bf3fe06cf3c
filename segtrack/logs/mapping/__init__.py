"""Mapping files, which assign channels to quantities, and the way from a `Log` to a `Motion`.

`map_log` runs the stages in order: take a trial's rows, sort them, look up channels, convert units and
signs, turn to the body frame, put all sources on one clock, move to the body's origin, cut the used piece.
"""

from segtrack.logs.mapping.map_file import map_file, map_trials
from segtrack.logs.mapping.map_log import map_log
from segtrack.logs.mapping.mapped_log import MappedLog, Origin
from segtrack.logs.mapping.mapping_file import LogMapping, MappingFile, load_mapping, parse_mapping
from segtrack.logs.mapping.propose import propose

__all__ = [
    "MappedLog",
    "LogMapping",
    "MappingFile",
    "Origin",
    "load_mapping",
    "map_file",
    "map_log",
    "map_trials",
    "parse_mapping",
    "propose",
]
