"""Where vehicle files are: bundled ones by name, the user's own by path."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path

from segtrack.errors import FileAccessError, InvalidValueError, UnknownNameError


def bundled_vehicles() -> dict[str, Path]:
    """The vehicles that come with segtrack: name -> file, in alphabetical order."""
    root = Path(str(resources.files("segtrack.urdf")))
    return {path.parent.name: path for path in sorted(root.glob("*/*.yaml")) if path.stem == path.parent.name}


def find_vehicle(vehicle: str | Path) -> Path:
    """The file of a vehicle.

    Args:
        vehicle: Name of a bundled vehicle, or path of a YAML file.

    Raises:
        UnknownNameError: Neither a bundled name nor something that looks like a path.
        FileAccessError: A path with no file.
        InvalidValueError: Neither text nor a path.
    """
    if not isinstance(vehicle, str | Path):
        raise InvalidValueError("vehicle", "a bundled name or the path of a vehicle file", vehicle)
    bundled = bundled_vehicles()
    if str(vehicle) in bundled:
        return bundled[str(vehicle)]
    path = Path(vehicle).expanduser()
    if os.path.isfile(path):  # Path.is_file raises for a name that is too long for a file's.
        return path.resolve()
    if str(vehicle) and os.path.isdir(path):
        raise FileAccessError("read", path, "is a folder, not a vehicle file")
    if path.suffix in {".yaml", ".yml"} or len(path.parts) > 1:
        raise FileAccessError("read", path, "no such file")
    raise UnknownNameError("vehicle", str(vehicle), bundled)
