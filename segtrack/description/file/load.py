"""Reading a vehicle file, with every mistake of it reported at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from segtrack.description.file.catalogue import find_vehicle
from segtrack.description.file.check import check_content
from segtrack.description.file.yaml_file import YamlFile, parse_yaml, read_text
from segtrack.description.vehicle import VehicleDescription
from segtrack.errors import VehicleFileError


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
    """Check the content of a vehicle file.

    Args:
        data: What the YAML holds.
        file: Name of the file, for messages.
        folder: What the paths in it are relative to.

    Raises:
        VehicleFileError: The content has mistakes; all of them are listed.
    """
    return check_content(VehicleDescription, YamlFile(data), file, folder, VehicleFileError)
