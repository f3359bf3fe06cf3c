"""Kernels: how functions of numbers and arrays are compiled by numba, kept on disk, and what they share.

The only folder that touches numba's inner classes, which change from one of its versions to the next.

| module | content |
|---|---|
| `compiling` | `compiled`, `inlined` and `entry` make a function a kernel; compiled code on disk |
| `codegen` | code generation: each function optimised once, for any processor of a family |
| `tuples` | named tuples of many arrays, packed for kernels |
| `progress` | display of compilation |
| `functions`, `vectors` | functions of a number, and vectors of three, equal to the bit on every processor |
| `rounding` | rounding of what Python lays out for kernels |
"""

import os
import warnings
from importlib.metadata import version

import lazy_loader

from segtrack.errors import InvalidValueError, Phrase, UntestedVersionError

_TESTED = ">=0.62,<0.69"
"""Versions of numba with which all tests were run: those of pyproject.toml."""

_installed = version("numba")
if not (0, 62) <= tuple(map(int, _installed.split(".")[:2])) < (0, 69) and not os.environ.get(
    "SEGTRACK_ANY_NUMBA"
):
    raise UntestedVersionError("numba", _installed, _TESTED, "SEGTRACK_ANY_NUMBA")

try:
    with warnings.catch_warnings():
        # It would print a traceback and leave the setting out.
        warnings.filterwarnings("error", "Environment variable", RuntimeWarning)
        import numba  # noqa: F401
except ImportError:
    raise
except Exception as error:  # Whatever it comes upon in its settings, of which it names few.
    _settings = [f"{name}={value}" for name, value in os.environ.items() if name.startswith("NUMBA_")]
    if os.path.exists(".numba_config.yaml"):
        _settings.append(".numba_config.yaml in this folder")
    if not _settings:
        raise
    _reason = str(error).partition("\n")[0].rstrip(".")
    raise InvalidValueError(
        "numba's settings", f"ones that it takes ({_reason})", Phrase(", ".join(_settings))
    ) from error

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
