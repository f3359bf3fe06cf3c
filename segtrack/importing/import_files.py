"""Files that an import writes: none of somebody else's, and none of an import that fails."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element

from segtrack.errors import InvalidValueError
from segtrack.files import check_file, restored_on_error
from segtrack.importing.vehicle_text import FIRST_LINE

_EXPECTED = "of a file that is not there yet, or that `segtrack import` wrote"


class ImportFiles(NamedTuple):
    """Files of an import.

    Attributes:
        vehicle: Path of the vehicle file.
        urdf: Path of the URDF of its body.
        picture: Path of its picture.
    """

    vehicle: Path
    urdf: Path
    picture: Path

    @classmethod
    def of(cls, vehicle: Path) -> ImportFiles:
        """Files beside a vehicle file, called after it."""
        return cls(vehicle, vehicle.with_name(f"{vehicle.stem}_body.urdf"), vehicle.with_suffix(".png"))

    def check(self, source: Path) -> None:
        """Check that all can be written, and that none is somebody's: an import overwrites an import alone.

        Args:
            source: File that is imported.

        Raises:
            FileAccessError: One is a folder, or its folder cannot be written to.
            InvalidValueError: The vehicle file has another suffix, or one of them is not of an import.
        """
        for file, suffixes in zip(self, ((".yaml", ".yml"), (".urdf",), (".png",)), strict=True):
            check_file("--out", file, suffixes)
        if self.vehicle.exists():
            is_own = self.vehicle.read_bytes().startswith(FIRST_LINE.encode())
            others = [] if is_own else [self.vehicle]
        else:
            others = [file for file in (self.urdf, self.picture) if file.exists()]
        others += [file for file in self if file.exists() and source.exists() and file.samefile(source)]
        if others:
            raise InvalidValueError("--out", _EXPECTED, str(others[0]))

    @contextmanager
    def with_meshes(self, tree: Element, scratch: Path) -> Iterator[None]:
        """Put meshes of a tree that are in a folder beside the URDF, if the block does not fail.

        Args:
            tree: Tree of the robot, whose meshes are named anew.
            scratch: Folder of the meshes.

        Raises:
            InvalidValueError: A file of that name is not of an import.
        """
        meshes = [mesh for mesh in tree.iter("mesh") if Path(mesh.get("filename", "")).parent == scratch]
        beside = {
            mesh.get("filename", ""): self.urdf.with_name(
                f"{self.urdf.stem}_{Path(mesh.get('filename', '')).name}"
            )
            for mesh in meshes
        }
        if not self.vehicle.exists() and (others := [file for file in beside.values() if file.exists()]):
            raise InvalidValueError("--out", _EXPECTED, str(others[0]))
        with restored_on_error(beside.values()):
            for source, file in beside.items():
                shutil.copyfile(source, file)
            for mesh in meshes:
                mesh.set("filename", str(beside[mesh.get("filename", "")].absolute()))
            yield
