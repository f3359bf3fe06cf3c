"""Reading a vehicle file, with every mistake of it reported at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from segtrack.description.catalogue import find_vehicle
from segtrack.description.urdf_links import check_urdf
from segtrack.description.vehicle import VehicleDescription
from segtrack.errors import FileAccessError, Problem, VehicleFileError

_EXPECTED = {
    "float_type": "a number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "string_type": "text",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "model_type": "a mapping of keys",
    "dict_type": "a mapping of names",
    "tuple_type": "a list",
    "finite_number": "a finite number",
    "greater_than": "greater than {gt:g}",
    "greater_than_equal": "at least {ge:g}",
    "literal_error": "{expected}",
    "string_pattern_mismatch": "a name of letters, digits and underscores that starts with a letter",
    "too_short": "at least {min_length} long",
    "too_long": "at most {max_length} long",
}


def load_vehicle(vehicle: str | Path) -> VehicleDescription:
    """Read and check a vehicle file.

    Args:
        vehicle: Name of a bundled vehicle, or path of a YAML file.

    Returns:
        The description; files that it names are absolute paths.

    Raises:
        UnknownNameError: No such vehicle.
        FileAccessError: The file cannot be read.
        VehicleFileError: The file has mistakes; all of them are listed.
    """
    path = find_vehicle(vehicle)
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileAccessError("read", path, error.strerror or str(error)) from None
    except UnicodeDecodeError:
        raise FileAccessError("read", path, "not UTF-8 text") from None
    except yaml.YAMLError as error:
        raise VehicleFileError(path.name, [Problem("", f"is not YAML: {' '.join(str(error).split())}")]) from None
    return parse_vehicle(data, path.name, path.parent)


def parse_vehicle(data: Any, file: str = "vehicle", folder: Path = Path(".")) -> VehicleDescription:
    """Check the content of a vehicle file.

    Args:
        data: What the YAML holds.
        file: Name of the file, for messages.
        folder: What the paths in it are relative to.

    Raises:
        VehicleFileError: The content has mistakes; all of them are listed.
    """
    try:
        vehicle = VehicleDescription.model_validate(data, context={"folder": folder})
    except ValidationError as error:
        raise VehicleFileError(file, [_problem(detail) for detail in error.errors()]) from None
    problems = check_urdf(vehicle)
    if problems:
        raise VehicleFileError(file, problems)
    return vehicle


def _problem(detail: ErrorDetails) -> Problem:
    where = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in detail["loc"]).lstrip(".")
    context = detail.get("ctx", {})
    match detail["type"]:
        case "missing":
            return Problem(where, "is missing")
        case "extra_forbidden":
            return Problem(where, "is not a key that segtrack knows")
        case "value_error":
            return Problem(where, str(context["error"]))
    expected = _EXPECTED.get(detail["type"])
    if expected is None:
        return Problem(where, f"{detail['msg']}, got {detail['input']!r}")
    return Problem(where, f"must be {expected.format(**context)}, got {detail['input']!r}")
