"""Mapping files: what can be in one, and how it is read.

| module | what |
|---|---|
| `units` | units that logs come in |
| `reference` | what is said of any quantity: channels, unit, noise |
| `belts`, `body` | what is said of each, with unit and sign |
| `quantities` | which there are |
| `mapping_file` | the whole file: quantities, sensors, clocks of sources |
| `mapping` | a file, read and checked, all its mistakes at once |
"""

from segtrack.logs.mapping.file.mapping import Mapping, load_mapping, parse_mapping
from segtrack.logs.mapping.file.mapping_file import FIRST_TOUCH, MappingFile

__all__ = ["FIRST_TOUCH", "Mapping", "MappingFile", "load_mapping", "parse_mapping"]
