"""Collision shapes of a URDF, and the mesh files of those that are hulls."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

import numpy as np
from scipy.optimize import linprog
from scipy.spatial import ConvexHull, HalfspaceIntersection

from segtrack.description import mesh_triangles
from segtrack.errors import InvalidValueError
from segtrack.geometry import Box, Cylinder, Hull, Placed, rotation_of, rpy_of

_HULL_MARGIN = 1e-3
"""PyBullet inflates a URDF's convex hulls by this [m], and offers no way to say otherwise."""


_STL_HEADER = 80
"""Bytes of a binary STL before the number of its triangles."""


def number_text(values: Iterable[float]) -> str:
    """Numbers of a URDF's attribute."""
    return " ".join(f"{value:.12g}" for value in values)


def add_shape(link: Element, placed: Placed, colour: str, name: str, meshes: dict[str, str]) -> None:
    """Add a solid to a link, to be seen and to collide; a hull's mesh file goes into `meshes`."""
    for kind in ("visual", "collision"):
        element = SubElement(link, kind)
        geometry = Element("geometry")
        angles = (0.0, placed.heading, 0.0)
        match placed.solid:
            case Box(size):
                SubElement(geometry, "box", size=number_text(size))
            case Cylinder(radius, length):
                # A URDF cylinder lies along z; ours lies along y.
                SubElement(geometry, "cylinder", radius=number_text([radius]), length=number_text([length]))
                lying = rotation_of((math.pi / 2, 0.0, 0.0))
                angles = rpy_of(rotation_of((0.0, placed.heading, 0.0)) @ lying)
            case Hull() as hull:
                SubElement(geometry, "mesh", filename=_mesh_file(hull, meshes))
        SubElement(element, "origin", xyz=number_text((placed.x, 0.0, placed.z)), rpy=number_text(angles))
        element.append(geometry)
        if kind == "visual":
            material = SubElement(element, "material", name=f"colour_{name}")
            SubElement(material, "color", rgba=colour)


def readable_mesh(file: Path, meshes: dict[str, str]) -> str:
    """A mesh file that PyBullet can read: the user's own, or the name of an OBJ of it in `meshes`.

    PyBullet's own readers leave a link whose STL is text without a shape, and apply a COLLADA file's
    rotations, scales and nested nodes in part. What cannot be read stays: it is seen only, and left out.
    """
    suffix = file.suffix.lower()
    if suffix == ".obj" or (suffix == ".stl" and _is_binary_stl(file)):
        return str(file)
    try:
        vertices, triangles = mesh_triangles(str(file))
    except InvalidValueError:
        return str(file)
    lines = [f"v {number_text(vertex)}" for vertex in vertices.tolist()]
    lines += ["f " + " ".join(str(i + 1) for i in triangle) for triangle in triangles.tolist()]
    text = "\n".join(lines) + "\n"
    name = next((name for name, known in meshes.items() if known == text), f"mesh_{len(meshes)}.obj")
    meshes[name] = text
    return name


def _is_binary_stl(file: Path) -> bool:
    """True for a header of 80 bytes, a count, and that many triangles of 50 bytes each."""
    size = file.stat().st_size
    if size < _STL_HEADER + 4:
        return False
    with file.open("rb") as stl:
        (count,) = struct.unpack("<I", stl.read(_STL_HEADER + 4)[_STL_HEADER:])
    return size == _STL_HEADER + 4 + 50 * count


def _mesh_file(hull: Hull, meshes: dict[str, str]) -> str:
    """The OBJ file of a hull, written once however many grousers share it."""
    text = _obj(hull)
    file = next((file for file, known in meshes.items() if known == text), f"grouser_{len(meshes)}.obj")
    meshes[file] = text
    return file


@cache
def _obj(hull: Hull) -> str:
    """The hull as OBJ, with its faces moved in by the margin that Bullet adds to them again."""
    faces = ConvexHull(np.asarray(hull.vertices)).equations
    normals, offsets = faces[:, :3], faces[:, 3]
    # Chebyshev centre: maximise r with n.x + d + r <= 0.
    rows = np.hstack([normals, np.ones((len(faces), 1))])
    *center, inradius = linprog([0, 0, 0, -1], rows, -offsets, bounds=[(None, None)] * 3 + [(0, None)]).x
    inset = min(_HULL_MARGIN, inradius / 2)
    inner = HalfspaceIntersection(np.hstack([normals, offsets[:, None] + inset]), np.asarray(center))
    points = np.unique(np.round(inner.intersections, 9), axis=0)
    convex = ConvexHull(points)
    lines = [f"v {number_text(point)}" for point in points]
    for triangle, plane in zip(convex.simplices, convex.equations, strict=True):
        a, b, c = points[triangle]
        order = triangle if np.dot(np.cross(b - a, c - a), plane[:3]) > 0 else triangle[::-1]
        lines.append("f " + " ".join(str(i + 1) for i in order))
    return "\n".join(lines) + "\n"
