"""Poses in tables that are known by all of their columns: rotation matrices, and the tables of EuRoC."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from segtrack.logs.log import Channel, Log

Array = NDArray[np.float64]
_ENTRY = re.compile(r"(?P<stem>.*?)[_ ]?(?P<row>[0-3])[_,]?(?P<column>[0-4])")
_UNNAMED = tuple(f"column {i}" for i in range(1, 13))
ORTHOGONAL = 0.02
"""Largest deviation of R R^T from 1 for a rotation matrix, as of numbers with two decimals."""
_EUROC = {
    "position": ("p_RS_R_{}", "xyz"),
    "velocity": ("v_RS_R_{}", "xyz"),
    "orientation": ("q_RS_{}", "xyzw"),
    "angular_velocity": ("w_RS_S_{}", "xyz"),
    "specific_force": ("a_RS_S_{}", "xyz"),
}
"""Names of columns in the data set of Burri et al. 2016, without units: R is the world, S the sensor."""


def off_rotation(matrices: Array) -> Array:
    """Deviation of matrices (n, 3, 3) from rotations (n,): the largest of R R^T - 1; infinite if mirrored.

    Entries that are missing give NaN.
    """
    products = np.einsum("nij,nkj->nik", matrices, matrices)
    off: Array = abs(products - np.eye(3)).max(axis=(1, 2))
    return np.where(np.linalg.det(matrices) < 0, np.inf, off)


def find_pose_columns(log: Log) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield quantities, position before its orientation, with the columns that they are known to have.

    Args:
        log: Log, whose columns without units are asked for theirs by the caller.
    """
    yield from _euroc(log)
    yield from _matrices(log)


def _euroc(log: Log) -> Iterator[tuple[str, Sequence[str]]]:
    bare = {re.sub(r"\s*\[.*\]$", "", name): name for name in log.channels}
    for quantity, (pattern, axes) in _EUROC.items():
        names = [bare.get(pattern.format(axis)) for axis in axes]
        if None not in names:
            yield quantity, [name for name in names if name is not None]


def _matrices(log: Log) -> Iterator[tuple[str, Sequence[str]]]:
    groups: dict[str, dict[tuple[int, int], str]] = {}
    for name in log.channels:
        if found := _ENTRY.fullmatch(name):
            place = int(found["row"]), int(found["column"])
            groups.setdefault(found["stem"], {})[place] = name
    if tuple(log.channels) == _UNNAMED:
        groups = {"": {divmod(i, 4): name for i, name in enumerate(_UNNAMED)}}
    for entries in groups.values():
        first = min(row for row, _ in entries)
        rows, last = range(first, first + 3), first + 3
        names = [entries.get((row, column), "") for row in rows for column in rows]
        if all(names) and _are_rotations([log.channels[name] for name in names]):
            behind = [entries.get((row, last), "") for row in rows]
            if all(behind):
                yield "position", behind
            yield "orientation", names


def _are_rotations(columns: Sequence[Channel]) -> bool:
    """Return whether nine columns are rotation matrices by rows in most of the log."""
    if len({column.values.shape for column in columns}) > 1 or columns[0].values.ndim > 1:
        return False
    matrices = np.stack([column.values for column in columns], axis=1).reshape(-1, 3, 3)
    known = matrices[np.isfinite(matrices).all(axis=(1, 2))]
    return len(known) > 0 and float(np.median(off_rotation(known))) <= ORTHOGONAL
