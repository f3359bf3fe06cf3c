"""Logs and mapping files read and put together, whole or trial by trial."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from segtrack.description import UnknownPartError, known, load_vehicle
from segtrack.errors import Problem, SegtrackError
from segtrack.logs.log import Log
from segtrack.logs.mapping.channels import add_files, find_all
from segtrack.logs.mapping.constants import with_constants
from segtrack.logs.mapping.log_mapping import complete_log, map_log
from segtrack.logs.mapping.mapped_log import MappedLog
from segtrack.logs.mapping.mapping_file import LogMapping, MappingFile, load_mapping
from segtrack.logs.mapping.source_clocks import unknown_source_problems
from segtrack.logs.mapping.trials import find_trials
from segtrack.logs.reading import read_log


def map_file(
    log: str | Path,
    mapping: str | Path,
    vehicle: str | None = None,
    constants: Sequence[str] = (),
    trial: int | None = None,
) -> MappedLog:
    """Read a log and a mapping file, and turn the log into a motion.

    Args:
        log: Path of the log.
        mapping: Path of the mapping file.
        vehicle: Bundled vehicle, or path of a vehicle file, instead of the mapping's.
        constants: Quantities that were the same all the time, over what the mapping says of them:
            `flipper_angle.front_left=45deg`, in segtrack's signs.
        trial: Number of the trial, from 1, where the mapping splits the log into some.

    Raises:
        InvalidValueError: A constant is not `NAME=VALUE` with a unit, or there is no such trial.
        MappingFileError: The mapping file has mistakes, or does not fit the log; all that is found is listed.
        SegtrackError: A file cannot be read, or the vehicle file has mistakes.
    """
    content, checked = _read(log, mapping, vehicle, constants)
    return map_log(content, checked, trial)


def map_trials(
    log: str | Path,
    mapping: str | Path,
    vehicle: str | None = None,
    constants: Sequence[str] = (),
    trial: int | None = None,
) -> tuple[MappedLog, ...]:
    """Read a log and a mapping file, and turn each trial of the log into a motion.

    Args:
        log: See `map_file`, as for the others.
        mapping: Path of the mapping file.
        vehicle: Vehicle instead of the mapping's.
        constants: Quantities that were the same all the time.
        trial: Number of the only trial that is asked for.

    Returns:
        The trials in their order; the whole log where the mapping does not split it.

    Raises:
        SegtrackError: See `map_file`.
    """
    content, checked = _read(log, mapping, vehicle, constants)
    trials = find_trials(complete_log(content, checked.file, []), checked) if trial is None else ()
    if not trials:
        return (map_log(content, checked, trial),)
    return tuple(map_log(content, checked, each.number) for each in trials)


def _read(
    log: str | Path, mapping: str | Path, vehicle: str | None, constants: Sequence[str]
) -> tuple[Log, LogMapping]:
    """A log and its mapping, with what is given beside its file."""
    content = read_log(log)
    checked = load_mapping(mapping, partial(_mapping_problems, content, vehicle))
    return content, with_constants(checked.with_vehicle(vehicle), constants)


def _mapping_problems(log: Log, vehicle: str | None, file: MappingFile) -> Iterator[Problem]:
    """Yield the names in a mapping file with mistakes that the log, or the vehicle, does not have."""
    try:
        log = add_files(log, file.files)
    except (UnknownPartError, SegtrackError):
        return  # What is missing may be in them.
    for name, clock in known(file, "sources", {}).items():
        yield from unknown_source_problems(log, name, clock)
    description, named = None, vehicle if vehicle is not None else known(file, "vehicle", None)
    with suppress(SegtrackError):  # What is wrong in its file is said when this one is right.
        description = None if named is None else load_vehicle(named)
    for at, quantities in file.all_quantities():
        parts = find_all(log, description, quantities, at, [])
        yield from (part for part in parts if isinstance(part, Problem))
