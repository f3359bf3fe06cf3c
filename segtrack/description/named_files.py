"""Files that a vehicle file names, and a hash of a description by their content."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from segtrack.description.mesh_files import mesh_file
from segtrack.description.vehicle import VehicleDescription
from segtrack.errors import FileAccessError
from segtrack.files import content_hash


def map_files(part: Any, change: Callable[[str, str], Any]) -> Any:
    """A part of a description with each path of a file in it changed; the key says of which kind."""
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
    """Files that a description names, with the meshes of its URDF, each once."""
    found: list[Path] = []
    map_files(_own(vehicle), lambda key, path: found.extend(_with_meshes(key, path)))
    return tuple(dict.fromkeys(found))


def urdf_for_copy(urdf: Path) -> bytes:
    """A URDF's text with each mesh named by the path that leads to its file, whatever its name was.

    Where files lie to each other as they do here, that path finds the mesh on any machine; names as `package://`,
    `file://`, absolute paths and links to files need not.
    """
    robot = ElementTree.parse(urdf)
    changed = False
    for mesh in robot.iterfind(".//mesh"):
        name, folder = str(mesh.get("filename")), urdf.resolve().parent
        path = Path(os.path.relpath(mesh_file(name, urdf.parent).resolve(), folder)).as_posix()
        changed |= path != name
        mesh.set("filename", path)
    return ElementTree.tostring(robot.getroot(), encoding="utf-8") if changed else urdf.read_bytes()


def vehicle_hash(vehicle: VehicleDescription) -> str:
    """SHA-256 of a description and of the content of its files, wherever they are; without calibration.

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
    """Description without the calibration, whose logs are named, not referred to."""
    return vehicle.model_dump(mode="json", exclude={"calibration"})


def _with_meshes(key: str, path: str) -> list[Path]:
    """A file, and the meshes in it if it is a URDF."""
    file = Path(path)
    if key != "urdf":
        return [file]
    return [file, *dict.fromkeys(mesh_file(name, file.parent) for name in _mesh_names(file))]


def _mesh_names(urdf: Path) -> list[str]:
    return [str(mesh.get("filename")) for mesh in ElementTree.parse(urdf).iterfind(".//mesh")]
