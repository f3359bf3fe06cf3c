"""Proposals for tables of steady turns, which have a row for each turn and no time."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

import numpy as np

from segtrack.logs.log import Log
from segtrack.logs.mapping.belt_speed import BELT_SPEED
from segtrack.logs.mapping.mapping_file import STEADY
from segtrack.logs.mapping.propose_by_header import RADIUS, ProposedQuantity, find_words, unit_keys
from segtrack.logs.reading import is_time

_MOST = 5000
"""Largest number of turns in a table."""
_FEWEST = 4
"""Rows for each number of a column that somebody set, on average."""
_UNNAMED = re.compile(r"column \d+")


def is_steady(log: Log, paths: Collection[str]) -> bool:
    """Return whether the rows of a log are taken for steady turns: belts, no time, nothing else that moves.

    Args:
        log: Log.
        paths: Paths of the quantities that are proposed for it.
    """
    if not {"belt_speed", "belt_speed_command"} & set(paths) or not set(paths) <= set(STEADY):
        return False
    return not log.types and 1 < _count(log) <= _MOST and not any(map(is_time, log.channels))


def propose_set_columns(log: Log) -> Iterator[ProposedQuantity]:
    """Yield belt speeds for the two columns without names that hold few numbers, each in many rows."""
    if log.types or not all(map(_UNNAMED.fullmatch, log.channels)):
        return
    words = [word for word in find_words(log) if _is_set(log.channels[word.name].values)]
    if len(words) == 2:
        said, todo = unit_keys(words, BELT_SPEED)
        names = words[0].name, words[1].name
        todo |= {"radius": f"{RADIUS}, unless the unit is of a speed or a length"}
        yield ProposedQuantity("belt_speed", {"left": names[0], "right": names[1], **said}, todo, names)


def _is_set(values: np.ndarray) -> bool:
    """Return whether the numbers of a column (n,) are those that somebody set: few, each in many rows."""
    return 1 < len(np.unique(values)) <= len(values) / _FEWEST


def _count(log: Log) -> int:
    return max(map(len, log.channels.values()), default=0)
