"""From files to a motion: a log and its mapping file, with the mistakes of both together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from segtrack.description import load_vehicle
from segtrack.description.base import UnknownPartError, known
from segtrack.errors import Problem, SegtrackError
from segtrack.logs.log import Log
from segtrack.logs.mapping.channels import find_all, with_files
from segtrack.logs.mapping.file import MappingFile, load_mapping
from segtrack.logs.mapping.map_log import map_log
from segtrack.logs.mapping.mapped_log import MappedLog
from segtrack.logs.mapping.sources import unknown_sources
from segtrack.logs.reading import read_log


def map_file(log: str | Path, mapping: str | Path, vehicle: str | None = None) -> MappedLog:
    """Read a log and a mapping file, and turn the log into a motion.

    Args:
        log: Path of the log.
        mapping: Path of the mapping file.
        vehicle: Bundled vehicle, or path of a vehicle file, instead of the mapping's.

    Raises:
        MappingFileError: The mapping file has mistakes, or does not fit the log; all that is found is listed.
        SegtrackError: A file cannot be read, or the vehicle file has mistakes.
    """
    content = read_log(log)
    return map_log(content, load_mapping(mapping, partial(_misfits, content, vehicle)).with_vehicle(vehicle))


def _misfits(log: Log, vehicle: str | None, file: MappingFile) -> Iterator[Problem]:
    """What a mapping names that the log, or the vehicle, does not have; of a file that has mistakes."""
    try:
        log = with_files(log, file.files)
    except (UnknownPartError, SegtrackError):
        return  # What is missing may be in them.
    for name, clock in known(file, "sources", {}).items():
        yield from unknown_sources(log, name, clock)
    description, named = None, vehicle if vehicle is not None else known(file, "vehicle", None)
    with suppress(SegtrackError):  # What is wrong in its file is said when this one is right.
        description = None if named is None else load_vehicle(named)
    for at, quantities in file.all_quantities():
        parts = find_all(log, description, quantities, at, [])
        yield from (part for part in parts if isinstance(part, Problem))
