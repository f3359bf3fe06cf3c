"""Log files of any format, recognised by their content and only then by their name."""

from __future__ import annotations

import hashlib
import mmap
from dataclasses import replace
from pathlib import Path

from segtrack.errors import FileAccessError, LogFileError, MissingPackageError
from segtrack.logs.log import BAG_MAGIC, Log
from segtrack.logs.reading.matlab import read_mat
from segtrack.logs.reading.table import is_text, read_table

_HDF5 = b"\x89HDF\r\n\x1a\n"
_MAT, _MAT_73 = b"MATLAB 5.0 MAT-file", b"MATLAB 7.3 MAT-file"
_BAGS = (".mcap", ".bag", ".db3")
_EXPECTED = "CSV, TSV, TUM, .mat, .bag, .db3, .mcap or the folder of a ROS 2 bag"


def read_log(path: str | Path) -> Log:
    """Read a log: CSV, TSV, TUM, MATLAB, a ROS 1 or ROS 2 bag, MCAP.

    What is readable of a damaged file is kept; `Log.damage` says what is not.

    Args:
        path: Path of a file, or of the folder of a ROS 2 bag.

    Raises:
        FileAccessError: The file is missing, or cannot be read.
        LogFileError: The file has another format, or nothing in it can be read.
        MissingPackageError: The file is a bag, and the extra `logs` is not installed.
    """
    path = Path(path)
    try:
        if path.is_dir():
            return _read_bag(path)
        with path.open("rb") as file:
            if not path.stat().st_size:
                raise LogFileError(path.name, "is empty")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                log = _read_file(path, content)
                return log if log.sha256 else replace(log, sha256=hashlib.sha256(content).hexdigest())
    except OSError as error:
        raise FileAccessError("read", path, error.strerror or str(error)) from None


def _read_file(path: Path, content: mmap.mmap) -> Log:
    head = content[:512]
    kind = path.suffix.lower() if b"\0" in content[: 2**16] else ""
    if head.startswith(tuple(BAG_MAGIC.values())):
        return _read_bag(path)
    if head.startswith((_MAT_73, _HDF5)):
        problem = "is of MATLAB's version 7.3, which is not read: save it as save('log.mat', '-v7')"
        raise LogFileError(path.name, problem)
    if head.startswith(_MAT) or kind == ".mat":
        return read_mat(path, content[:])
    if kind in _BAGS:  # Its first bytes are damaged.
        return _read_bag(path)
    if head.startswith(b"\x80") and head[1] in range(2, 6):
        problem = "is a pickle, which is never read, since it can run any program: save it as CSV"
        raise LogFileError(path.name, problem)
    if not is_text(content[: 2**20]):
        raise LogFileError(path.name, f"must be {_EXPECTED}, got a file that begins with {head[:8]!r}")
    return read_table(path, content[:])


def _read_bag(path: Path) -> Log:
    try:
        from segtrack.logs.reading.bag import read_bag
    except ModuleNotFoundError as error:
        raise MissingPackageError("reading a bag", str(error.name), "logs") from None
    return read_bag(path)
