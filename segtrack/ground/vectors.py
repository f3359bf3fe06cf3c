"""Vectors of three numbers, and rows of arrays, for compiled kernels; and how kernels are compiled."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from segtrack.ground.compile_notice import announce_compilation

Vector = tuple[float, float, float]

_options: dict[str, Any] = {
    "cache": True,
    "error_model": "numpy",
    "fastmath": {"contract"},
    "_nrt": False,
    "no_cfunc_wrapper": True,
}
# Products and sums may round once. Kernels allocate nothing, and do not count references to arrays:
# handing a tuple of many of them to another kernel costs more than a contact otherwise. None is called
# from C, for which code would be compiled, too.

compiled = numba.njit(**_options)
"""Compile a kernel at its first call, and keep it for the next process."""

inlined = numba.njit(**_options, forceinline=True)
"""The same, into those that call it."""


def remove_stale_kernels(sources: Iterable[Path]) -> None:
    """Remove the cached kernels of files and folders that are older than any module among these.

    A kernel contains the kernels that it calls, but its cache only looks at the module that it
    stands in.

    Args:
        sources: Modules, and folders of modules in any depth.
    """
    modules = [module for path in sources for module in (path.rglob("*.py") if path.is_dir() else (path,))]
    newest = max(module.stat().st_mtime for module in modules)
    for folder in {module.parent / "__pycache__" for module in modules}:
        for index in folder.glob("*.nbi"):
            with suppress(OSError):  # Another process was first, or the folder is not ours.
                if index.stat().st_mtime < newest:
                    index.unlink()


_PACKAGE = Path(__file__).parent.parent
_COMPILED = ("ground", "coupling", "chain", "compliant", "native", "drive.py")
remove_stale_kernels(_PACKAGE / name for name in _COMPILED)
announce_compilation()


@compiled
def cross(a: Vector, b: Vector) -> Vector:
    """The vector product a x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@compiled
def dot(a: Vector, b: Vector) -> float:
    """The scalar product a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled
def sum_of(a: Vector, b: Vector) -> Vector:
    """The vector a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@compiled
def scaled(a: Vector, factor: float) -> Vector:
    """The vector factor * a."""
    return factor * a[0], factor * a[1], factor * a[2]


@compiled
def without_share(a: Vector, share: float, direction: Vector) -> Vector:
    """The vector a - share * direction."""
    return a[0] - share * direction[0], a[1] - share * direction[1], a[2] - share * direction[2]


@compiled
def row(array: NDArray[np.float64], i: int) -> Vector:
    """Row i of an array (n, 3)."""
    return array[i, 0], array[i, 1], array[i, 2]


@compiled
def offset(array: NDArray[np.float64], i: int, point: NDArray[np.float64]) -> Vector:
    """From a point (3,) to row i of an array (n, 3)."""
    return array[i, 0] - point[0], array[i, 1] - point[1], array[i, 2] - point[2]


@compiled
def axis(rotations: NDArray[np.float64], i: int, k: int) -> Vector:
    """Axis k of link i, in the world."""
    return rotations[i, 0, k], rotations[i, 1, k], rotations[i, 2, k]


@compiled
def arm(rotations: NDArray[np.float64], i: int, marker: Vector) -> Vector:
    """From link i's centre of mass to a marker of its frame, in the world [m]."""
    x, y, z = marker
    return (
        rotations[i, 0, 0] * x + rotations[i, 0, 1] * y + rotations[i, 0, 2] * z,
        rotations[i, 1, 0] * x + rotations[i, 1, 1] * y + rotations[i, 1, 2] * z,
        rotations[i, 2, 0] * x + rotations[i, 2, 1] * y + rotations[i, 2, 2] * z,
    )


@compiled
def add(rows: NDArray[np.float64], i: int, a: Vector, sign: float) -> None:
    """Add `sign` times a vector to row i of an array (n, 3)."""
    rows[i, 0] += sign * a[0]
    rows[i, 1] += sign * a[1]
    rows[i, 2] += sign * a[2]


@compiled
def write_rotation(rotation: NDArray[np.float64], orientation: NDArray[np.float64]) -> None:
    """Write the rotation matrix (3, 3) of Euler parameters (4,) (x, y, z, w)."""
    x, y, z, w = orientation
    rotation[0, 0] = 1 - 2 * (y * y + z * z)
    rotation[0, 1] = 2 * (x * y - z * w)
    rotation[0, 2] = 2 * (x * z + y * w)
    rotation[1, 0] = 2 * (x * y + z * w)
    rotation[1, 1] = 1 - 2 * (x * x + z * z)
    rotation[1, 2] = 2 * (y * z - x * w)
    rotation[2, 0] = 2 * (x * z - y * w)
    rotation[2, 1] = 2 * (y * z + x * w)
    rotation[2, 2] = 1 - 2 * (x * x + y * y)
