"""A vehicle file and all files that it names, to be held elsewhere and put back."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree

from segtrack.description import VehicleDescription, load_vehicle
from segtrack.description.file.catalogue import find_vehicle
from segtrack.errors import FileAccessError, InvalidValueError


@dataclass(frozen=True)
class VehicleFiles:
    """A vehicle file with the files that it names.

    Attributes:
        main: The vehicle file's name in `contents`.
        contents: Bytes of each file, by its path below a folder that all of them share.
    """

    main: str
    contents: Mapping[str, bytes]

    @classmethod
    def read(cls, vehicle: str | Path) -> VehicleFiles:
        """Read them.

        Args:
            vehicle: Name of a bundled vehicle, or path of a vehicle file.

        Raises:
            SegtrackError: No such vehicle, or its file has mistakes.
        """
        path = find_vehicle(vehicle)
        paths = {path, *map(Path, _named_files(load_vehicle(path)))}
        root = Path(os.path.commonpath([file.parent for file in paths]))
        try:
            contents = {file.relative_to(root).as_posix(): file.read_bytes() for file in sorted(paths)}
        except OSError as error:
            raise FileAccessError("read", error.filename, error.strerror or str(error)) from None
        return cls(path.relative_to(root).as_posix(), contents)

    def __post_init__(self) -> None:
        """Refuse names that lead out of the folder.

        Raises:
            InvalidValueError: One does, or the vehicle file is missing.
        """
        for name in self.contents:
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name:
                raise InvalidValueError("file of a vehicle", "below the vehicle's folder", name)
        if self.main not in self.contents:
            raise InvalidValueError("vehicle file", f"one of {', '.join(self.contents)}", self.main)

    def write(self, folder: Path) -> Path:
        """Write them below a folder; returns the vehicle file's path."""
        for name, content in self.contents.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        return folder / self.main


def _named_files(vehicle: VehicleDescription) -> Iterator[str]:
    """Paths of what a vehicle file names, and of the meshes that its URDF names."""
    if vehicle.body.urdf is not None:
        yield vehicle.body.urdf
        folder = Path(vehicle.body.urdf).parent
        for mesh in ElementTree.parse(vehicle.body.urdf).getroot().iterfind("link/*/geometry/mesh"):
            yield str((folder / mesh.get("filename", "")).resolve())
    for track in vehicle.mounted_tracks():
        for shape in track.spec.grousers.shapes if track.spec.grousers is not None else ():
            if shape.mesh is not None:
                yield shape.mesh.file
