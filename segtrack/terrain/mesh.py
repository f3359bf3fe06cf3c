"""A user's own mesh as terrain."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import FileAccessError, InvalidValueError
from segtrack.terrain.base import Terrain
from segtrack.terrain.checks import check_positive, settle_vector
from segtrack.terrain.solids import UPRIGHT, Quaternion, Solid, TriangleMesh, Vector


@dataclass(frozen=True, kw_only=True)
class Mesh(Terrain):
    """A concave triangle mesh from a file; no floor around it, and no height sampler.

    Attributes:
        file: OBJ or STL file; kept as an absolute path.
        scale: Factor from the file's unit to metres.
        position: World position of the file's origin [m].
        orientation: Rotation from the file's axes to the world's, quaternion (x, y, z, w).
    """

    file: str | Path
    scale: float = 1.0
    position: Vector = (0.0, 0.0, 0.0)
    orientation: Quaternion = UPRIGHT

    def __post_init__(self) -> None:
        """Refuse a file that is missing or of another kind."""
        super().__post_init__()
        file = Path(self.file)
        if file.suffix.lower() not in {".obj", ".stl"}:
            raise InvalidValueError("Mesh.file", "an .obj or .stl file", str(file))
        if not file.is_file():
            raise FileAccessError("read mesh", file, "no such file")
        object.__setattr__(self, "file", file.resolve())
        check_positive(self, "scale")
        settle_vector(self, "position", 3, "m")
        settle_vector(self, "orientation", 4)
        if abs(np.linalg.norm(self.orientation) - 1) > 1e-6:
            raise InvalidValueError("Mesh.orientation", "a unit quaternion (x, y, z, w)", self.orientation)

    def solids(self) -> tuple[Solid, ...]:
        """Return the mesh."""
        return (TriangleMesh(Path(self.file), self.scale, self.position, self.orientation),)

    def x_breaks(self) -> NoReturn:
        """Refuse: there is no outline to sample.

        Raises:
            InvalidValueError: Always.
        """
        self._refuse()

    def _sample(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NoReturn:
        self._refuse()

    def _refuse(self) -> NoReturn:
        expected = "analytic or a heightfield (a mesh has no height sampler)"
        raise InvalidValueError("sampled terrain", expected, str(self.file))
