"""Files: writing so that nothing half-written is ever left, and hashes of what a file says."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, filterwarnings

from segtrack.errors import FileAccessError, InvalidValueError

try:
    import fcntl
except ModuleNotFoundError:  # On Windows.
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def content_hash(data: Any) -> str:
    """SHA-256 of parsed YAML or JSON, in hexadecimal digits; numbers count to nine digits."""
    text = json.dumps(_plain(data), sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(data: Any) -> Any:
    match data:
        case dict():
            return {str(key): _plain(value) for key, value in data.items()}
        case list() | tuple():
            return [_plain(value) for value in data]
        case int() | float() if not isinstance(data, bool):
            return float(f"{data:.9g}") + 0.0
        case _:
            return data


def check_regular(path: Path) -> None:
    """Check that a path, if there is anything, is no pipe, socket or device.

    Raises:
        FileAccessError: It is one: a pipe that nobody writes to would be waited for without end.
    """
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise FileAccessError("read", path, "is a pipe, socket or device, not a file")


def check_writable(folder: Path) -> None:
    """Check before the work begins that results can be written; nothing is left behind.

    Raises:
        FileAccessError: The folder cannot be made or written to.
    """
    made: list[Path] = []
    try:
        made = [path for path in (folder, *folder.parents) if not path.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise _cannot_write(folder, error) from None
    finally:
        for path in made:
            with suppress(OSError):
                path.rmdir()


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """A folder that no other process writes results to within the block; one that stays empty goes again.

    The system frees the folder of a process that dies. It is not kept on Windows and on file systems
    without locks. Blocks of one process may lie within each other.

    Raises:
        FileAccessError: It cannot be made or written to, or another process has claimed it.
    """
    check_writable(folder)
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    with ExitStack() as stack:
        for path in reversed(made):
            stack.callback(_remove_empty, path)
        place = folder.resolve()
        locks = fcntl is not None and place not in _CLAIMED
        try:
            folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(folder, os.O_RDONLY) if locks else -1
        except OSError as error:  # Another process that had claimed it removes it when it ends.
            raise _cannot_write(folder, error) from None
        if locks:
            stack.callback(os.close, descriptor)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise FileAccessError("write to", folder, "another process writes there") from None
            except OSError:  # No locks there.
                pass
            _CLAIMED.add(place)
            stack.callback(_CLAIMED.discard, place)
        yield


_CLAIMED: set[Path] = set()
"""Folders that this process has claimed."""


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def check_file(what: str, path: Path, suffixes: Iterable[str]) -> None:
    """Check before the work begins that a file can be written.

    Args:
        what: Name of the option or argument.
        path: Path of the file.
        suffixes: Suffixes of the kinds that can be written, with their dots.

    Raises:
        FileAccessError: It is a folder, or its folder cannot be made or written to.
        InvalidValueError: Its suffix is none of these.
    """
    if os.path.isdir(path):  # `Path.is_dir` raises where a name is too long.
        raise FileAccessError("write to", path, "is a folder, not a file")
    if path.suffix.lower() not in suffixes:
        raise InvalidValueError(what, f"a file of {', '.join(suffixes)}", str(path))
    try:
        path.exists()
    except OSError as error:  # Its name is too long.
        raise _cannot_write(path, error) from None
    check_writable(path.parent)


def picture_suffixes() -> tuple[str, ...]:
    """Suffixes of the kinds of picture that `write_figure` writes."""
    from matplotlib.backend_bases import FigureCanvasBase

    # PGF is written by a TeX program, which is not everywhere.
    return tuple(f".{kind}" for kind in FigureCanvasBase.filetypes if kind != "pgf")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file beside `path` to write to, which takes its place at the end, or goes if there is an error.

    Raises:
        FileAccessError: The file cannot be written.
    """
    temporary = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        temporary.replace(path)
    except OSError as error:
        raise _cannot_write(path, error) from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> Path:
    """Write a text file; returns its path."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path


def write_bytes(path: Path, content: bytes) -> Path:
    """Write a binary file; returns its path."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)
    return path


@contextmanager
def restored_on_error(files: Iterable[Path]) -> Iterator[None]:
    """Put files back as they were if the block fails."""
    before = {file: file.read_bytes() if file.exists() else None for file in files}
    try:
        yield
    except BaseException:
        for file, content in before.items():
            if content is None:
                file.unlink(missing_ok=True)
            else:
                file.write_bytes(content)
        raise


def write_json(path: Path, data: Mapping[str, Any]) -> Path:
    """Write one JSON object; returns its path."""
    return write_text(path, to_json(data) + "\n")


def to_json(data: Mapping[str, Any]) -> str:
    """One JSON object as text; numbers must be finite."""
    return json.dumps(data, indent=2, allow_nan=False)


def write_csv(path: Path, header: Sequence[str], rows: Iterator[Sequence[object]]) -> Path:
    """Write a table, a header line first; returns its path."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return write_text(path, buffer.getvalue())


def write_figure(path: Path, figure: Figure, dpi: int = 120) -> Path:
    """Write a picture, as the kind that the path's suffix says; returns its path."""
    with replacing(path) as temporary:
        save_figure(figure, temporary, dpi=dpi)
    return path


def save_figure(figure: Figure, target: Path | io.StringIO, **options: Any) -> None:
    """Save a figure with its texts as they are written: a `$` in somebody's name begins no formula.

    TeX sets none of them, whatever the user's `matplotlibrc` says. Characters that the fonts lack become
    boxes, without a word.

    Args:
        figure: The figure.
        target: File, or buffer.
        options: See matplotlib's `savefig`.
    """
    from matplotlib import rc_context
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        text.set_usetex(False)
        if text.get_text() and not text.get_text().startswith(_LOGARITHMIC):
            text.set_parse_math(False)
    with rc_context({"text.usetex": False}), catch_warnings():
        filterwarnings("ignore", "Glyph .* missing from")
        figure.savefig(target, **options)


_LOGARITHMIC = r"$\mathdefault{"
"""Beginning of the labels that matplotlib gives logarithmic axes, as a formula."""


def _cannot_write(path: Path, error: OSError) -> FileAccessError:
    in_the_way = next((part for part in (path, *path.parents) if os.path.isfile(part)), None)
    if isinstance(error, FileExistsError | NotADirectoryError) and in_the_way is not None:
        return FileAccessError("write to", path, f"{in_the_way} is a file, not a folder")
    return FileAccessError("write to", path, error.strerror or str(error))
