"""Grousers of a vehicle file, and convex meshes for their shapes."""

from __future__ import annotations

import os
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from segtrack.description.base import (
    Checks,
    Copies,
    ExistingFile,
    NonNegative,
    Positive,
    Spec,
    UnknownPartError,
    check,
    exactly_one,
    given_one,
)
from segtrack.errors import InvalidValueError, Problem
from segtrack.geometry import Box, Cylinder, Hull, Solid, prism


def _read_mesh(file: str) -> Any:
    """Mesh read by trimesh, in metres; a COLLADA file's unit is applied, its up axis is not, as in ROS."""
    import trimesh

    mesh = trimesh.load_mesh(file)
    return mesh if mesh.units is None else mesh.convert_units("meters")


def convex_corners(file: str) -> NDArray[np.float64]:
    """Corners (n, 3) of the convex hull of a mesh file, in the file's axes [m].

    Args:
        file: OBJ, STL or COLLADA file.

    Raises:
        InvalidValueError: The file holds no solid.
    """
    try:
        changed = os.stat(file).st_mtime_ns
    except OSError:
        raise InvalidValueError("mesh", "an OBJ, STL or COLLADA file of a solid", file) from None
    return _hull_corners(file, changed).copy()


@lru_cache(maxsize=256)
def _hull_corners(file: str, changed: int) -> NDArray[np.float64]:
    """Corners of a file's convex hull; a file that has changed is read anew."""
    try:
        hull = _read_mesh(file).convex_hull
    except Exception:  # The readers of trimesh and the hull of qhull fail in ways of their own.
        raise InvalidValueError("mesh", "an OBJ, STL or COLLADA file of a solid", file) from None
    return np.array(hull.vertices, dtype=float)


def mesh_triangles(file: str) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Vertices (n, 3) [m] of a mesh file in its own axes, and their indices per triangle (m, 3).

    Raises:
        InvalidValueError: The file holds no triangles.
    """
    try:
        mesh = _read_mesh(file)
        vertices, triangles = np.array(mesh.vertices, dtype=float), np.array(mesh.faces, dtype=np.intp)
    except Exception:  # The readers of trimesh fail in ways of their own.
        vertices, triangles = np.zeros((0, 3)), np.zeros((0, 3), dtype=np.intp)
    if not len(triangles):
        raise InvalidValueError("mesh", "an OBJ, STL or COLLADA file of triangles", file)
    return vertices, triangles


class BoxShape(Spec):
    """Box-shaped grouser that stands on the belt."""

    length: Positive
    """Along the belt [m]."""
    height: Positive
    """Above the belt [m]."""

    @property
    def extent(self) -> tuple[float, float]:
        """Smallest and largest coordinate along the belt, from the footprint's middle [m]."""
        return -self.length / 2, self.length / 2

    def solid(self, width: float, crown: float) -> tuple[Solid, float]:
        """Solid of the grouser, and the height of the solid's origin above the belt [m]."""
        if crown == 0:
            return Box((self.length, width, self.height)), self.height / 2
        return prism(self.length, self.length, self.height, width, crown), 0.0


class TrapezoidShape(Spec):
    """Grouser of trapezoidal profile that stands on the belt."""

    base: Positive
    """Length along the belt at the belt [m]."""
    top: Positive
    """Length along the belt at the tip [m], no more than at the base; an undercut grouser is a mesh."""
    height: Positive
    """Above the belt [m]."""

    @check
    def _tapers(self) -> Checks:
        if self.top > self.base:
            yield Problem("top", f"must be no longer than the base of {self.base:g} m, got {self.top:g} m")

    @property
    def extent(self) -> tuple[float, float]:
        """Smallest and largest coordinate along the belt, from the footprint's middle [m]."""
        return -self.base / 2, self.base / 2

    def solid(self, width: float, crown: float) -> tuple[Solid, float]:
        """Solid of the grouser, and the height of the solid's origin above the belt [m]."""
        return prism(self.base, self.top, self.height, width, crown), 0.0


class CylinderShape(Spec):
    """Rod along the axle direction, half sunk into the belt."""

    radius: Positive
    """Radius of the rod, which is also its height above the belt [m]."""

    @property
    def extent(self) -> tuple[float, float]:
        """Smallest and largest coordinate along the belt, from the footprint's middle [m]."""
        return -self.radius, self.radius

    @property
    def height(self) -> float:
        """Height above the belt [m]."""
        return self.radius

    def solid(self, width: float, crown: float) -> tuple[Solid, float]:
        """Solid of the grouser, and the height of the solid's origin above the belt [m]."""
        return Cylinder(self.radius, width), 0.0


class MeshShape(Spec):
    """Convex mesh as a grouser: x along the belt, y along the axle, z outwards, origin on the belt's face."""

    file: ExistingFile
    """OBJ, STL or COLLADA file, relative to the vehicle file."""
    scale: Positive = 1.0
    """Metres per unit of the file."""

    @check
    def _stands(self) -> Checks:
        try:
            convex_corners(self.file)
        except InvalidValueError as error:
            yield Problem("file", error.complaint)
        if self.height <= 0:
            message = f"must rise above the belt at z = 0, got a highest z of {self.height:g} m"
            yield Problem("file", message)

    @cached_property
    def hull(self) -> Hull:
        """Convex hull of the mesh, in the footprint frame [m]."""
        try:
            corners = convex_corners(self.file)
        except InvalidValueError:
            raise UnknownPartError("file") from None
        return Hull(tuple(map(tuple, (corners * self.scale).tolist())))

    @property
    def extent(self) -> tuple[float, float]:
        """Smallest and largest coordinate along the belt, from the footprint's middle [m]."""
        along = [x for x, _, _ in self.hull.vertices]
        return min(along), max(along)

    @property
    def height(self) -> float:
        """Height above the belt [m]."""
        return max(z for _, _, z in self.hull.vertices)

    def solid(self, width: float, crown: float) -> tuple[Solid, float]:
        """Solid of the grouser, and its origin's height above the belt [m]; a mesh keeps its own width."""
        return self.hull, 0.0


_SHAPES = ("box", "trapezoid", "cylinder", "mesh")


class GrouserShape(Spec):
    """Shape of one grouser."""

    box: BoxShape | None = None
    trapezoid: TrapezoidShape | None = None
    cylinder: CylinderShape | None = None
    mesh: MeshShape | None = None
    width: Positive | None = None
    """Along the axle [m]; the track's width if not given. A mesh has its own."""
    crown: NonNegative = 1e-4
    """Height of the middle of a box's or trapezoid's tip above its ends [m]. Makes its
    contact with a flat unique, in the middle; 0 for a flat tip. Others have none."""

    @check
    def _one_kind(self) -> Checks:
        yield from exactly_one(self, _SHAPES)

    @check
    def _mesh_has_its_width(self) -> Checks:
        if isinstance(self.kind, MeshShape) and self.width is not None:
            yield Problem("width", f"must be left out on a mesh, got {self.width!r}")

    @check
    def _crown_of_a_flat_tip(self) -> Checks:
        if isinstance(self.kind, MeshShape | CylinderShape):
            if "crown" in self.model_fields_set:
                name = "mesh" if isinstance(self.kind, MeshShape) else "cylinder"
                yield Problem("crown", f"must be left out on a {name}, got {self.crown!r}")
        elif self.crown >= self.kind.height:
            height = f"the grouser's height of {self.kind.height:g} m"
            yield Problem("crown", f"must be less than {height}, got {self.crown!r}")

    @property
    def kind(self) -> BoxShape | TrapezoidShape | CylinderShape | MeshShape:
        """The shape that the file gives: box, trapezoid, cylinder or mesh."""
        return given_one(self, _SHAPES)


class Grousers(Spec):
    """Grousers of a belt: number and shapes."""

    count: Copies
    """Number of grousers in one round of the belt."""
    shape: GrouserShape | None = None
    """All alike."""
    pattern: tuple[GrouserShape, ...] | None = Field(default=None, min_length=2)
    """Shapes that follow each other in turn."""

    @check
    def _shape_or_pattern(self) -> Checks:
        yield from exactly_one(self, ("shape", "pattern"))

    @check
    def _whole_patterns(self) -> Checks:
        if self.count % len(self.shapes):
            multiple = f"must be a multiple of the {len(self.shapes)} shapes in pattern, got {self.count}"
            yield Problem("count", multiple)

    @property
    def shapes(self) -> tuple[GrouserShape, ...]:
        """Shapes in turn, until they repeat; a single one if all grousers are alike."""
        given = given_one(self, ("shape", "pattern"))
        if not isinstance(given, tuple):
            return (given,)
        lengths = (n for n in range(1, len(given) + 1) if len(given) % n == 0)
        return given[: next(n for n in lengths if given == given[:n] * (len(given) // n))]

    @property
    def height(self) -> float:
        """Height of the highest grouser above the belt [m]."""
        return max(shape.kind.height for shape in self.shapes)
