"""Where files of descriptions are: bundled ones by name, the user's own by path."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from segtrack.errors import FileAccessError, InvalidValueError, UnknownNameError


def bundled_vehicles() -> dict[str, Path]:
    """The vehicles that come with segtrack: name -> file, in alphabetical order."""
    root = Path(str(resources.files("segtrack.urdf")))
    return {path.parent.name: path for path in sorted(root.glob("*/*.yaml")) if path.stem == path.parent.name}


def find_vehicle(vehicle: str | Path) -> Path:
    """The file of a vehicle; see `find_description`."""
    return find_description("vehicle", vehicle, bundled_vehicles())


def find_description(kind: str, given: str | Path, bundled: Mapping[str, Path]) -> Path:
    """The file of a description.

    Args:
        kind: What it describes, as messages call it.
        given: Name of a bundled one, or path of a YAML file.
        bundled: Files by name.

    Raises:
        UnknownNameError: Neither a bundled name nor something that looks like a path.
        FileAccessError: A path with no file.
        InvalidValueError: Neither text nor a path.
    """
    if not isinstance(given, str | Path):
        raise InvalidValueError(kind, f"a bundled name or the path of a {kind} file", given)
    if str(given) in bundled:
        return bundled[str(given)]
    path = Path(given).expanduser()
    if os.path.isfile(path):  # Path.is_file raises for a name that is too long for a file's.
        return path.resolve()
    if str(given) and os.path.isdir(path):
        raise FileAccessError("read", path, f"is a folder, not a {kind} file")
    if path.suffix in {".yaml", ".yml"} or len(path.parts) > 1:
        raise FileAccessError("read", path, "no such file")
    raise UnknownNameError(kind, str(given), bundled)
