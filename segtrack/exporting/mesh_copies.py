"""Copies of a body's meshes beside an exported file, in forms that every program reads."""

from __future__ import annotations

import hashlib
from pathlib import Path

from segtrack.description import mesh_as_obj
from segtrack.errors import InvalidValueError

_DIGITS = 8
"""Hexadecimal digits of a content's hash in a copy's name."""


class MeshCopies:
    """Copies of mesh files, named by their contents: a name is that of one mesh, whatever file is exported.

    Attributes:
        files: Content of each copy, by its name beside the exported file.
        unreadable: Names of meshes that cannot be read, and are left out.
        too_small: Names of meshes, each with its link, that the format's program refuses; left out too.
        coloured: Names of meshes that say materials of their own, which their copies do not have.
    """

    def __init__(self, stem: str) -> None:
        """Prepare for a file; its name without suffix begins the names of the copies."""
        self._stem = stem
        self._names: dict[Path, str] = {}
        self.files: dict[str, bytes] = {}
        self.unreadable: list[str] = []
        self.too_small: list[str] = []
        self.coloured: list[str] = []

    def name_of(self, file: Path) -> str:
        """Name of the copy of a mesh file; empty if it cannot be read."""
        if file not in self._names:
            self._names[file] = self._copied(file)
        return self._names[file]

    def _copied(self, file: Path) -> str:
        try:
            text = mesh_as_obj(file)
            content = file.read_bytes() if text is None else text.encode()
        except (InvalidValueError, OSError):
            self.unreadable.append(file.name)
            return ""
        if file.suffix.lower() == ".dae" or (file.suffix.lower() == ".obj" and b"mtllib" in content):
            self.coloured.append(file.name)
        suffix = file.suffix.lower() if text is None else ".obj"
        digits = hashlib.sha256(content).hexdigest()[:_DIGITS]
        name = f"{self._stem}_{file.stem}_{digits}{suffix}"
        self.files[name] = content
        return name
