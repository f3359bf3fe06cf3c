"""Bags of ROS 1 and ROS 2, and MCAP files, as logs: the files of a bag, and its metadata."""

from __future__ import annotations

import hashlib
import mmap
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import yaml

from segtrack.errors import LogFileError
from segtrack.logs.log import BAG_MAGIC, Log, abbreviate
from segtrack.logs.reading.bag_content import BagContent, BagFileContent, unpack
from segtrack.logs.reading.bag_files import read_mcap, read_ros1, read_sqlite

_METADATA = "metadata.yaml"
_SUFFIXES = (".db3", ".mcap", ".db3.zstd", ".mcap.zstd")


@dataclass(frozen=True)
class BagFolder:
    """Folder of a ROS 2 bag.

    Attributes:
        files: Files in their order.
        packing: Compression of each message; empty for none.
        counts: Number of messages by topic, from the metadata; empty without them.
        damage: Sentences on missing or damaged metadata and files.
    """

    files: tuple[Path, ...]
    packing: str
    counts: dict[str, int]
    damage: tuple[str, ...]


def open_folder(path: Path) -> BagFolder:
    """Find the files of a bag, by its metadata, or by their names if these are missing or damaged.

    Raises:
        LogFileError: There are none.
        OSError: The folder cannot be read.
    """
    there = sorted((file for file in path.iterdir() if file.name.endswith(_SUFFIXES)), key=_in_order)
    if not there:
        raise LogFileError(
            path.resolve().name, f"is a folder without {' or '.join(_SUFFIXES[:2])}: no ROS 2 bag"
        )
    try:
        said = yaml.safe_load((path / _METADATA).read_text(encoding="utf-8"))
        bag = said["rosbag2_bagfile_information"]
        names = [PurePath(name).name for name in bag["relative_file_paths"]]
        packing = str(bag.get("compression_format") or "")
        by_message = str(bag.get("compression_mode") or "").lower() == "message"
        counts = _counts(bag)
    except FileNotFoundError:
        return BagFolder(tuple(there), "", {}, (f"{_METADATA} is missing: files are read by their names",))
    except (yaml.YAMLError, KeyError, TypeError, AttributeError, ValueError):
        return BagFolder(tuple(there), "", {}, (f"{_METADATA} is damaged: files are read by their names",))
    missing = [name for name in names if not (path / name).exists()]
    damage = [f"{name} is missing" for name in missing]
    files = tuple(path / name for name in names if name not in missing) or tuple(there)
    return BagFolder(files, packing if by_message else "", counts, tuple(damage))


def _counts(bag: dict[str, Any]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for topic in bag["topics_with_message_count"]:
        name = topic["topic_metadata"]["name"]
        counts[name] = counts.get(name, 0) + int(topic["message_count"])
    return counts


def _in_order(file: Path) -> list[tuple[int, str]]:
    """The parts of a name, those that are numbers by their size."""
    return [(int(part) if part.isdigit() else -1, part) for part in re.split(r"(\d+)", file.name)]


_ZSTD = ".zstd"
_BY_SUFFIX = {".mcap": "mcap", ".bag": "ros1 bag", ".db3": "ros2 bag"}


def read_bag(path: Path) -> Log:
    """Read a bag: a file of ROS 1, of SQLite or MCAP, or the folder of a ROS 2 bag.

    Messages are in the order of the file; so are times, which are those of reception. Stamps are those of
    the messages' headers.

    Raises:
        LogFileError: No message of the bag can be read, or a database is damaged.
        OSError: A file cannot be read.
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
            kind = _read_bag_file(real, data, BagFileContent(bag, folder.packing))
        if is_folder and len(folder.files) > 1:
            bag.damage[before:] = [f"{file.name}: {sentence}" for sentence in bag.damage[before:]]
    damage = [*bag.damage, *(problem for topic in bag.topics.values() for problem in topic.problems)]
    for name, count in folder.counts.items():
        read = bag.topics[name].count if name in bag.topics else 0
        if read < count:
            damage.append(f"{name}: {read} messages could be read of {count} in metadata.yaml")
    if not any(topic.count for topic in bag.topics.values()):
        raise LogFileError(
            path.name, f"has no messages{': ' if damage else ''}{'; '.join(abbreviate(damage))}"
        )
    return Log(
        path,
        "ros2 bag" if is_folder else kind,
        bag.channels(),
        abbreviate(damage),
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


def _read_bag_file(path: Path, data: memoryview, content: BagFileContent) -> str:
    """Read a file, of a kind that its first bytes say, or its name if these are damaged; returns the kind."""
    head = bytes(data[:16])
    kind = next((kind for kind, magic in BAG_MAGIC.items() if head.startswith(magic)), None)
    kind = kind or _BY_SUFFIX.get(path.suffix.lower(), "mcap")
    if kind == "mcap":
        read_mcap(data, content)
    elif kind == "ros1 bag":
        read_ros1(data, content)
    else:
        read_sqlite(path, content)
    return kind
