"""Files named in a vehicle file, and a hash of the vehicle and their content."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree import ElementTree

from segtrack.description.base import expanded
from segtrack.description.mesh_files import mesh_file
from segtrack.description.vehicle import VehicleDescription
from segtrack.description.yaml_file import parse_yaml, read_text
from segtrack.errors import FileAccessError, VehicleFileError
from segtrack.files import content_hash


def map_files(part: Any, change: Callable[[str, str], Any]) -> Any:
    """Copy of a description's data with `change(key, path)` in place of each file's path."""
    match part:
        case dict():
            return {
                key: change(key, value)
                if key in ("urdf", "file") and isinstance(value, str)
                else map_files(value, change)
                for key, value in part.items()
            }
        case list():
            return [map_files(inner, change) for inner in part]
        case _:
            return part


def named_files(vehicle: VehicleDescription) -> tuple[Path, ...]:
    """Files named in a description, with the meshes of its URDF, each once."""
    found: list[Path] = []
    map_files(_own(vehicle), lambda key, path: found.extend(_with_meshes(key, path)))
    return tuple(dict.fromkeys(found))


def files_for_copy(file: Path, vehicle: VehicleDescription) -> dict[Path, bytes]:
    """Contents of a vehicle file and of all files named in it, by path, for a copy on another machine.

    They name each other by relative paths, so that copies which lie to each other as they do here find each
    other on any machine; names as `package://`, `file://`, absolute paths and links to files need not.

    Args:
        file: Vehicle file, without links in its path.
        vehicle: Description read from it.

    Raises:
        OSError: A file cannot be read.
    """
    contents = {
        path: path.read_bytes() for path in (file, *(named.resolve() for named in named_files(vehicle)))
    }
    data = parse_yaml(read_text(file), file.name, VehicleFileError).data
    parts = {key: part for key, part in data.items() if key != "calibration"}
    named = map_files(
        parts, lambda _, name: _name_in_copy(name, Path(file.parent, expanded(name)), file.parent)
    )
    if named != parts:
        contents[file] = json.dumps(data | named, indent=2).encode()
    if vehicle.body.urdf is not None:
        urdf = Path(vehicle.body.urdf)
        tree, folder = ElementTree.parse(urdf), urdf.parent
        names = _mesh_names(urdf)
        copied = [_name_in_copy(name, mesh_file(name, folder), folder) for name in names]
        if copied != names:
            for mesh, name in zip(tree.iterfind(".//mesh"), copied, strict=True):
                mesh.set("filename", name)
            contents[urdf] = ElementTree.tostring(tree.getroot(), encoding="utf-8")
    return contents


def _name_in_copy(name: str, file: Path, folder: Path) -> str:
    """Relative path from a folder to a file; the given name if it is that path already."""
    path = Path(os.path.relpath(file.resolve(), folder)).as_posix()
    return name if PurePosixPath(name).as_posix() == path else path


def vehicle_hash(vehicle: VehicleDescription) -> str:
    """SHA-256 of a description without its calibration, and of the content of its files.

    Raises:
        FileAccessError: A file that it names cannot be read.
    """
    return content_hash(
        map_files(_own(vehicle), lambda key, path: [file_hash(file) for file in _with_meshes(key, path)])
    )


def file_hash(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal digits.

    Raises:
        FileAccessError: The file cannot be read.
    """
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise FileAccessError("read", path, error.strerror or str(error)) from None


def _own(vehicle: VehicleDescription) -> dict[str, Any]:
    """Data of the description without the calibration, whose logs are no files of the vehicle."""
    return vehicle.model_dump(mode="json", exclude={"calibration"})


def _with_meshes(key: str, path: str) -> list[Path]:
    """Path of a file, and of its meshes if it is a URDF."""
    file = Path(path)
    if key != "urdf":
        return [file]
    return [file, *dict.fromkeys(mesh_file(name, file.parent) for name in _mesh_names(file))]


def _mesh_names(urdf: Path) -> list[str]:
    return [str(mesh.get("filename")) for mesh in ElementTree.parse(urdf).iterfind(".//mesh")]
