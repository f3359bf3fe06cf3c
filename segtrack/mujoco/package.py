"""MuJoCo itself, where it is installed and new enough."""

from __future__ import annotations

from segtrack.errors import MissingPackageError

_OLDEST = 3, 12
"""Before it MuJoCo copies its mass matrix before callbacks can change it."""

try:
    import mujoco
except ImportError:
    raise MissingPackageError("engine mujoco", "MuJoCo", "mujoco") from None

if tuple(int(number) for number in mujoco.__version__.split(".")[:2]) < _OLDEST:
    needed = f"MuJoCo {'.'.join(map(str, _OLDEST))} or newer in place of {mujoco.__version__}"
    raise MissingPackageError("engine mujoco", needed, "mujoco")

__all__ = ["mujoco"]
