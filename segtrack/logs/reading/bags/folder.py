"""The files of a ROS 2 bag, and what its metadata say of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import yaml

from segtrack.errors import LogFileError

_METADATA = "metadata.yaml"
_SUFFIXES = (".db3", ".mcap", ".db3.zstd", ".mcap.zstd")


@dataclass(frozen=True)
class BagFolder:
    """What a bag consists of.

    Attributes:
        files: In their order.
        packing: By which each message is compressed; empty for none.
        counts: Of messages, by topic, as the metadata say; empty if they are missing.
        damage: What is wrong with the metadata.
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
        raise LogFileError(path.name, f"is a folder without {' or '.join(_SUFFIXES[:2])}: no ROS 2 bag")
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
