"""A bag as a log."""

from __future__ import annotations

import hashlib
import mmap
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from segtrack.errors import LogFileError
from segtrack.logs.log import Log
from segtrack.logs.reading.bags.content import BagContent, FileContent
from segtrack.logs.reading.bags.files import mcap, ros1, sqlite
from segtrack.logs.reading.bags.files.unpacking import unpack
from segtrack.logs.reading.bags.folder import BagFolder, open_folder
from segtrack.logs.reading.damage import summed

_ZSTD = ".zstd"
_BY_SUFFIX = {".mcap": "mcap", ".bag": "ros1 bag", ".db3": "ros2 bag"}
_BY_MAGIC = {mcap.MAGIC: "mcap", ros1.MAGIC: "ros1 bag", sqlite.MAGIC: "ros2 bag"}


def read_bag(path: Path) -> Log:
    """Read a bag: a file of ROS 1, of SQLite or MCAP, or the folder of a ROS 2 bag.

    Messages are in the order of the file; so are times, which are those of reception. Stamps are those of
    the messages' headers.

    Raises:
        LogFileError: It has no messages that can be read.
        OSError: It cannot be read.
    """
    is_folder = path.is_dir()
    folder = open_folder(path) if is_folder else BagFolder((path,), "", {}, ())
    bag = BagContent()
    bag.damage += folder.damage
    digest = hashlib.sha256()
    kind = ""
    for file in folder.files:
        before = len(bag.damage)
        with _mapped(file) as (data, real):
            digest.update(data)
            kind = _read_file(real, data, FileContent(bag, folder.packing))
        if is_folder and len(folder.files) > 1:
            bag.damage[before:] = [f"{file.name}: {sentence}" for sentence in bag.damage[before:]]
    damage = [*bag.damage, *(problem for topic in bag.topics.values() for problem in topic.problems)]
    for name, count in folder.counts.items():
        read = bag.topics[name].count if name in bag.topics else 0
        if read < count:
            damage.append(f"{name}: {read} messages could be read of {count} in metadata.yaml")
    if not any(topic.count for topic in bag.topics.values()):
        raise LogFileError(path.name, f"has no messages{': ' if damage else ''}{'; '.join(summed(damage))}")
    return Log(
        path,
        "ros2 bag" if is_folder else kind,
        bag.channels(),
        summed(damage),
        digest.hexdigest(),
        {name: topic.type for name, topic in bag.topics.items()},
        skipped={name: what for topic in bag.topics.values() for name, what in topic.skipped.items()},
    )


@contextmanager
def _mapped(file: Path) -> Iterator[tuple[memoryview, Path]]:
    """The bytes of a file, and where they lie; those of a compressed one unpacked."""
    if file.suffix == _ZSTD:
        with tempfile.TemporaryDirectory(prefix="segtrack-") as folder:
            unpacked = Path(folder, file.stem)
            unpacked.write_bytes(unpack(file.read_bytes(), "zstd")[0])
            with _mapped(unpacked) as found:
                yield found
    elif not file.stat().st_size:
        yield memoryview(b""), file
    else:
        with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
            with memoryview(content) as data:
                yield data, file


def _read_file(path: Path, data: memoryview, content: FileContent) -> str:
    """Read a file, of a kind that its first bytes say, or its name if these are damaged; returns the kind."""
    head = bytes(data[:16])
    kind = next((kind for magic, kind in _BY_MAGIC.items() if head.startswith(magic)), None)
    kind = kind or _BY_SUFFIX.get(path.suffix.lower(), "mcap")
    if kind == "mcap":
        mcap.read_mcap(data, content)
    elif kind == "ros1 bag":
        ros1.read_ros1(data, content)
    else:
        sqlite.read_sqlite(path, data, content)
    return kind
