"""The place of compiled kernels on disk: beside the package, of the user, or a temporary folder."""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import stat
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.caching import IndexDataCacheFile, _Cache
from numba.core.compiler import CompileResult
from numba.misc.appdirs import AppDirs

_PACKAGE = Path(__file__).parent.parent
_DAMAGED = EOFError, pickle.UnpicklingError, ValueError


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
            except (OSError, *_DAMAGED):  # Compiled anew.
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
            except _DAMAGED:
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
