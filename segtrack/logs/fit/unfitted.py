"""What of a vehicle's description a fit leaves alone, as a hash by which a later change is told."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from segtrack.content_hash import content_hash
from segtrack.description import VehicleDescription
from segtrack.errors import FileAccessError
from segtrack.logs.fit.parameters import Values, values_of, with_parameters


def unfitted_hash(vehicle: VehicleDescription, fitted: Values) -> str:
    """SHA-256 of a description without name, source and calibration, defaults left out.

    Args:
        vehicle: The vehicle.
        fitted: Values of what was fitted, by name; they take the place of the vehicle's own.

    Raises:
        FileAccessError: A file that it names cannot be read.
    """
    own = values_of(vehicle)
    same = with_parameters(vehicle, {name: value for name, value in fitted.items() if name in own})
    data = same.model_dump(mode="json", exclude_defaults=True, exclude={"name", "source", "calibration"})
    return content_hash(_with_files(data))


def _with_files(part: Any) -> Any:
    """A part of a description with what files say in place of their paths."""
    match part:
        case dict():
            return {key: _said(key, value) for key, value in part.items()}
        case list():
            return [_with_files(inner) for inner in part]
        case _:
            return part


def _said(key: str, value: Any) -> Any:
    if key not in ("urdf", "file") or not isinstance(value, str):
        return _with_files(value)
    try:
        if key == "urdf":
            return ElementTree.canonicalize(from_file=value, strip_text=True)
        return hashlib.sha256(Path(value).read_bytes()).hexdigest()
    except OSError as error:
        raise FileAccessError("read", Path(value), error.strerror or str(error)) from None
