"""Reading a vehicle file, with every mistake of it reported at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from segtrack.description.file.catalogue import find_vehicle
from segtrack.description.file.known_parts import consistency_problems, known_parts
from segtrack.description.file.wording import field_details, field_problems, misspelt_keys
from segtrack.description.file.yaml_file import YamlFile, read_yaml
from segtrack.description.vehicle import VehicleDescription
from segtrack.errors import Problem, VehicleFileError


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
    return _check(read_yaml(path), path.name, path.parent)


def parse_vehicle(data: Any, file: str = "vehicle", folder: Path = Path(".")) -> VehicleDescription:
    """Check the content of a vehicle file.

    Args:
        data: What the YAML holds.
        file: Name of the file, for messages.
        folder: What the paths in it are relative to.

    Raises:
        VehicleFileError: The content has mistakes; all of them are listed.
    """
    return _check(YamlFile(data), file, folder)


def _check(content: YamlFile, file: str, folder: Path) -> VehicleDescription:
    problems = list(content.problems)
    try:
        vehicle = VehicleDescription.model_validate(content.data, context={"folder": folder})
    except ValidationError as error:
        problems += _problems(error, content, folder)
    if problems:
        raise VehicleFileError(file, content.locate(problems))
    return vehicle


def _problems(error: ValidationError, content: YamlFile, folder: Path) -> Iterator[Problem]:
    """The mistakes of each value by itself, and those of values against each other."""
    details = field_details(error)
    misspelt = misspelt_keys(details)
    yield from field_problems(details, misspelt, content.tight_lists)
    wrong = {detail["loc"] for detail in details} | {
        (*place[:-1], key) for place, key in misspelt.meant.items()
    }
    yield from consistency_problems(known_parts(VehicleDescription, content.data, wrong, folder))
