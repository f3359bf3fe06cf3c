"""Kernels compiled for a GPU by numba-cuda, from the Python functions of the CPU's."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

from numba import cuda

from segtrack.kernels import Kernel


def gpu_function(kernel: Kernel) -> Any:
    """Return a kernel, with all kernels that it calls, as a device function for GPU kernels."""
    return _for_gpu(kernel.py_func)


@cache
def _for_gpu(function: Callable[..., Any]) -> Any:
    """Compile a function for the GPU, with compiled functions in place of the kernels that it calls."""
    known: dict[str, Any] = dict(function.__globals__)
    for name in function.__code__.co_names:
        if isinstance(known.get(name), Kernel):
            known[name] = _for_gpu(known[name].py_func)
    copy = FunctionType(function.__code__, known, function.__name__, function.__defaults__)
    return cuda.jit(copy, device=True)
