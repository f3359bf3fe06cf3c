"""Vehicle files: bundled ones by name, the user's own by path."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from segtrack.description.base import expanded
from segtrack.description.checking import check_content
from segtrack.description.vehicle import VehicleDescription
from segtrack.description.yaml_file import YamlFile, parse_yaml, read_text
from segtrack.errors import FileAccessError, InvalidValueError, UnknownNameError, VehicleFileError
from segtrack.files import check_regular


def bundled_vehicles() -> dict[str, Path]:
    """Bundled vehicles: name to file, in alphabetical order."""
    root = Path(str(resources.files("segtrack.urdf")))
    return {path.parent.name: path for path in sorted(root.glob("*/*.yaml")) if path.stem == path.parent.name}


def find_vehicle(vehicle: str | Path) -> Path:
    """Path of a vehicle's file; see `find_description`."""
    return find_description("vehicle", vehicle, bundled_vehicles())


def find_description(kind: str, given: str | Path, bundled: Mapping[str, Path]) -> Path:
    """Path of a description's file, from a bundled name or a path.

    Args:
        kind: Kind of thing, for messages.
        given: Bundled name, or path of a YAML file.
        bundled: Bundled files by name.

    Raises:
        UnknownNameError: Neither a bundled name nor something that looks like a path.
        FileAccessError: A path with no file.
        InvalidValueError: Neither text nor a path.
    """
    if not isinstance(given, str | Path):
        raise InvalidValueError(kind, f"a bundled name or the path of a {kind} file", given)
    if str(given) in bundled:
        return bundled[str(given)]
    path = expanded(given)
    if os.path.isfile(path):  # Path.is_file raises for a name that is too long for a file's.
        return path.resolve()
    if str(given) and os.path.isdir(path):
        raise FileAccessError("read", path, f"is a folder, not a {kind} file")
    check_regular(path)
    if path.suffix in {".yaml", ".yml"} or len(path.parts) > 1:
        raise FileAccessError("read", path, "no such file")
    raise UnknownNameError(kind, str(given), bundled)


def load_vehicle(vehicle: str | Path) -> VehicleDescription:
    """Read and check a vehicle file.

    Args:
        vehicle: Name of a bundled vehicle, or path of a YAML file.

    Returns:
        The description; files that it names are absolute paths.

    Raises:
        UnknownNameError: No such vehicle.
        FileAccessError: The file cannot be read.
        VehicleFileError: The file has mistakes; all of them are listed, with their lines.
    """
    path = find_vehicle(vehicle)
    content = parse_yaml(read_text(path), path.name, VehicleFileError)
    return check_content(VehicleDescription, content, path.name, path.parent, VehicleFileError)


def parse_vehicle(data: Any, file: str = "vehicle", folder: Path = Path(".")) -> VehicleDescription:
    """Make a vehicle description from the content of a vehicle file.

    Args:
        data: Content of the YAML.
        file: Name of the file, for messages.
        folder: Folder that relative paths in it start from.

    Raises:
        VehicleFileError: The content has mistakes; all of them are listed.
    """
    return check_content(VehicleDescription, YamlFile(data), file, folder, VehicleFileError)
