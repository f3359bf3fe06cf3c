"""Mapping files: which channel of a log is which quantity; from a `Log` to a `Motion`.

| module | what |
|---|---|
| `file` | mapping files: quantities with unit and sign, sensors, clocks of sources |
| `propose` | a mapping file for a log of known message types or headers |
| `map_file` | both files read, with the mistakes of both together |
| `map_log` | the stages in their order |
| `channels` | what the mapping names, looked up in the log |
| `sources` | times of each source |
| `convert` | numbers in segtrack's units and signs |
| `gnss` | places by satellites as lengths |
| `frames` | from sensors to the body frame |
| `synchrony` | all on one clock |
| `gaps` | the piece that is used, and what is missing in it |
| `steady` | tables whose rows are steady turns |
| `mapped_log` | what comes out |
"""

from segtrack.logs.mapping.file import Mapping, MappingFile, load_mapping, parse_mapping
from segtrack.logs.mapping.map_file import map_file
from segtrack.logs.mapping.map_log import map_log
from segtrack.logs.mapping.mapped_log import MappedLog, Origin
from segtrack.logs.mapping.propose import propose

__all__ = [
    "MappedLog",
    "Mapping",
    "MappingFile",
    "Origin",
    "load_mapping",
    "map_file",
    "map_log",
    "parse_mapping",
    "propose",
]
