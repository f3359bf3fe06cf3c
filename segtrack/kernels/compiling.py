"""Kernels: functions that numba compiles at their first call and keeps on disk for the next process."""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from numba import config
from numba.core.caching import IndexDataCacheFile, _Cache
from numba.core.compiler import CompileResult
from numba.core.registry import CPUDispatcher
from numba.misc.appdirs import AppDirs

from segtrack.kernels.codegen import ENTRY, INNER
from segtrack.kernels.progress import watch

_PACKAGE = Path(__file__).parent.parent
_UNREADABLE = EOFError, pickle.UnpicklingError, ValueError, ImportError, AttributeError
"""Errors of files that are damaged, or of earlier versions whose types have another place."""


class KernelCache(_Cache):
    """Compiled code of one kernel on disk, for each signature and kind of processor.

    It is read from any of the folders, so that a read-only installation can bring it along, and
    written to the first that can be written.
    """

    def __init__(self, name: str, content: str) -> None:
        """Name the kernel, and the hash of what its code is made from."""
        self._name, self._content = name, content

    @property
    def cache_path(self) -> str | None:
        """The folder to which compiled code is written."""
        folder = writable_folder()
        return None if folder is None else str(folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled code for a signature, or None."""
        target_context.refresh()
        key = sig, target_context.codegen().magic_tuple()
        *lasting, temporary = cache_folders()
        for folder in [*lasting, *([temporary] if is_private(temporary) else [])]:
            try:
                data = self._file(folder).load(key)
            except (OSError, *_UNREADABLE):  # Compiled anew.
                continue
            if data is not None:
                return CompileResult._rebuild(target_context, *data)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write the compiled code for a signature, where that can be."""
        folder = writable_folder()
        if folder is None or data.library.has_dynamic_globals:
            return
        file, key, contents = self._file(folder), (sig, data.codegen.magic_tuple()), data._reduce()
        try:
            try:
                file.save(key, contents)
            except _UNREADABLE:
                file.flush()
                file.save(key, contents)
        except OSError as error:
            logging.getLogger("segtrack").warning("segtrack: compiled kernels are not kept: %s", error)

    def _file(self, folder: Path) -> Any:
        return IndexDataCacheFile(str(folder), self._name, self._content)

    def enable(self) -> None:
        """Do nothing: caches are always on."""

    def disable(self) -> None:
        """Do nothing: caches are always on."""

    def flush(self) -> None:
        """Forget the compiled code in the folder to which it is written."""
        folder = writable_folder()
        if folder is not None:
            self._file(folder).flush()


def cache_folders() -> list[Path]:
    """Return the folders for compiled kernels, the preferred one first, a temporary one last."""
    install = "segtrack-" + hashlib.sha256(str(_PACKAGE).encode()).hexdigest()[:12]
    named = os.environ.get("NUMBA_CACHE_DIR")
    user = Path(AppDirs("numba", appauthor=False).user_cache_dir) / install
    lasting = [Path(named) / install] if named else [_PACKAGE / "__pycache__", user]
    owner = f"-{os.getuid()}" if hasattr(os, "getuid") else ""
    return [*lasting, Path(tempfile.gettempdir()) / (install + owner)]


@cache
def writable_folder() -> Path | None:
    """Return the first folder that can be written, or None; warn unless it is one that lasts."""
    *lasting, temporary = cache_folders()
    for folder in lasting:
        if is_writable(folder):
            return folder
    found = temporary if is_writable(temporary) and is_private(temporary) else None
    where = "are not kept" if found is None else f"are kept in {found}"
    logging.getLogger("segtrack").warning(
        "segtrack: no lasting folder can be written, compiled kernels %s; NUMBA_CACHE_DIR may name one", where
    )
    return found


def is_writable(folder: Path) -> bool:
    """Return whether files can be written to a folder, which is made if it is not there."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def is_private(folder: Path) -> bool:
    """Return whether nobody but the user can write to a folder, from which code will be run."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and not (
        hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022)
    )


_OPTIONS: dict[str, Any] = {
    "nopython": True,
    "error_model": "numpy",
    "_nrt": False,
    "no_cfunc_wrapper": True,
    "nogil": True,
}
# Threads run kernels side by side: none touches an object of Python. Kernels allocate nothing, and do not
# count references to arrays: handing a tuple of many of them to another kernel costs more than a contact
# otherwise. None is called from C, for which code would be compiled, too.


class Kernel(CPUDispatcher):
    """A compiled function that Python calls, or other kernels do."""

    targetdescr = ENTRY

    def compile(self, sig: Any) -> Any:
        """Return compiled code for a signature: from memory, from disk, or compiled now."""
        if not isinstance(self._cache, KernelCache):  # type: ignore[has-type]
            base = f"{self.py_func.__module__}.{self.py_func.__qualname__}"
            kind = "inner" if isinstance(self, InnerKernel) else "entry"
            self._cache = KernelCache(f"{base}.{kind}", content_hash(self))
        watch()
        return super().compile(sig)

    def callees(self) -> list[Kernel]:
        """Return all kernels that the compiled code contains, callees first and this one last."""
        found: dict[Kernel, None] = {}
        for value in _globals(self.py_func).values():
            if isinstance(value, Kernel):
                found.update(dict.fromkeys(value.callees()))
        return [*found, self]


class InnerKernel(Kernel):
    """A compiled function that kernels call.

    It has no code of its own for the processor, nor such that takes Python's objects apart, which for
    tuples of many arrays takes longer to compile than the function. Called from Python, as in tests, it is
    compiled once more, with both.
    """

    targetdescr = INNER
    _from_python: Any = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function from Python."""
        if self._from_python is None:
            options = {**self.targetoptions, "no_cpython_wrapper": False}
            self._from_python = Kernel(self.py_func, {}, options)
        return self._from_python(*args, **kwargs)


def compiled(function: Callable[..., Any]) -> Any:
    """Make a function a kernel for other kernels to call."""
    return _make_kernel(InnerKernel, function, no_cpython_wrapper=True)


def inlined(function: Callable[..., Any]) -> Any:
    """Make a function a kernel whose code becomes part of the kernels that call it."""
    return _make_kernel(InnerKernel, function, no_cpython_wrapper=True, forceinline=True)


def entry(function: Callable[..., Any], **options: bool) -> Any:
    """Make a function a kernel for Python to call; kernels may, too."""
    return _make_kernel(Kernel, function, **options)


def _make_kernel(kind: type[Kernel], function: Callable[..., Any], **options: bool) -> Any:
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function
    return kind(function, {}, {**_OPTIONS, **options})


def content_hash(kernel: Kernel) -> str:
    """Return a hash of all that a kernel's code is made from: its bytecode, its constants, its callees.

    Numba compares the module in which a kernel stands, but a kernel contains those of other modules.
    """
    parts = [part for one in kernel.callees() for part in _contents(one)]
    return hashlib.sha256(repr([_compiler(), *parts]).encode()).hexdigest()


@cache
def _compiler() -> bytes:
    """Source of what compiles kernels: how code is made, and what is read without Python's code."""
    here = Path(__file__)
    return b"".join(here.with_name(name).read_bytes() for name in ("codegen.py", "tuples.py"))


def _contents(kernel: Kernel) -> Iterator[object]:
    function = kernel.py_func
    code = function.__code__
    yield function.__module__, function.__qualname__, sorted(map(repr, kernel.targetoptions.items()))
    yield code.co_code, code.co_names, code.co_varnames, function.__defaults__
    yield [constant for constant in code.co_consts if constant != function.__doc__]
    for name, kind in sorted(function.__annotations__.items()):
        yield name, str(kind), _fields(function.__globals__.get(kind))
    for name, value in sorted(_globals(function).items()):
        if isinstance(value, ModuleType):
            yield name, value.__name__
        elif isinstance(value, Kernel | FunctionType | type) or callable(value):
            yield name, getattr(value, "__module__", ""), getattr(value, "__qualname__", "")
            yield getattr(value, "_fields", ())
        else:
            yield name, repr(value)


@cache
def _fields(kind: Any) -> list[object]:
    """Return names and types of a named tuple's fields in order, and those of the tuples in it."""
    if not hasattr(kind, "_fields"):
        return []
    known = vars(sys.modules[kind.__module__])
    types = {name: getattr(each, "__forward_arg__", each) for name, each in kind.__annotations__.items()}
    return [(name, str(each), _fields(known.get(each))) for name, each in types.items()]


def _globals(function: Any) -> dict[str, Any]:
    """Return the names of its module, and their values, that a function uses."""
    known = function.__globals__
    return {name: known[name] for name in function.__code__.co_names if name in known}
