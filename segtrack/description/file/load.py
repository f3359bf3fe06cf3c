"""Reading a vehicle file, with every mistake of it reported at once."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from segtrack.description.base import MistakesError
from segtrack.description.file.catalogue import find_vehicle
from segtrack.description.file.yaml_file import read_yaml
from segtrack.description.urdf.mounting import Mounting, link_problems
from segtrack.description.vehicle import VehicleDescription
from segtrack.errors import Problem, VehicleFileError

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
    "less_than": "less than {lt:g}",
    "less_than_equal": "at most {le:g}",
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
    return parse_vehicle(read_yaml(path), path.name, path.parent)


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
        return VehicleDescription.model_validate(data, context={"folder": folder})
    except ValidationError as error:
        problems = [problem for detail in error.errors() for problem in _problems(detail)]
    # Pydantic checks the whole against the URDF's links only once every part of it is right.
    problems += _link_problems(data, folder)
    raise VehicleFileError(file, dict.fromkeys(problems))


def _problems(detail: ErrorDetails) -> Iterator[Problem]:
    """What pydantic found, in this project's words."""
    where = _path(detail["loc"])
    context = detail.get("ctx", {})
    error = context.get("error")
    if isinstance(error, MistakesError):
        for problem in error.problems:
            yield Problem(".".join(filter(None, [where, problem.where])), problem.message)
        return
    if detail["type"] == "too_short" and len(detail["input"]) >= context["min_length"]:
        return  # Pydantic does not count entries that it has found a mistake in.
    match detail["type"]:
        case "missing":
            message = "is missing"
        case "extra_forbidden":
            message = "is not a key that segtrack knows"
        case "value_error":
            message = str(error)
        case kind if kind in _EXPECTED:
            message = f"must be {_EXPECTED[kind].format(**context)}, got {reprlib.repr(detail['input'])}"
        case _:
            message = f"{detail['msg']}, got {reprlib.repr(detail['input'])}"
    yield Problem(where, message)


def _path(location: tuple[int | str, ...]) -> str:
    """The keys to a place in a file; pydantic marks a mistake in a key itself by a last `[key]`."""
    keys = location[:-1] if location[-1:] == ("[key]",) else location
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys).lstrip(".")


def _link_problems(data: Any, folder: Path) -> list[Problem]:
    """What a file with other mistakes gets wrong about its body's links."""
    body = _mapping(_mapping(data).get("body"))
    urdf = Path(folder, str(body.get("urdf"))).resolve() if "urdf" in body else None
    if urdf is not None and not urdf.is_file():
        return []
    mountings = {}
    for name, part in _mapping(_mapping(data).get("tracks")).items():
        mass = _mapping(_mapping(part).get("drive")).get("reflected_mass")
        mountings[f"tracks.{name}"] = Mounting(_parent(part), _number(mass) or 0.0)
    for name, part in _mapping(_mapping(data).get("flippers")).items():
        tracks = tuple(map(str, _mapping(_mapping(part).get("tracks"))))
        mountings[f"flippers.{name}"] = Mounting(_parent(part), tracks=tracks)
    # A mass that is no mass has been reported, and so has a body that is neither fixed nor free.
    mass = _number(body.get("mass"))
    fixed = body.get("fixed", False) is not False
    return link_problems(str(urdf) if urdf is not None else None, mass, fixed, mountings)


def _parent(part: Any) -> str:
    parent = _mapping(_mapping(part).get("mount")).get("parent")
    return parent if isinstance(parent, str) else "body"


def _number(data: Any) -> float | None:
    """A positive finite number, or none."""
    is_number = isinstance(data, int | float) and not isinstance(data, bool)
    return data if is_number and 0 < data < math.inf else None


def _mapping(data: Any) -> dict[str, Any]:
    return data if isinstance(data, dict) else {}
