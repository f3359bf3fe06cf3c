"""What the links of a body's URDF look like."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

from segtrack.description.frames import Frame
from segtrack.description.urdf.reading import read_vector
from segtrack.geometry import solids as geometry
from segtrack.rendering.mesh import BODY, Colour, Mesh, ball, box, from_file, join, of_solid


def urdf_meshes(file: Path) -> Iterator[tuple[str, Mesh]]:
    """What a URDF's links look like: name of the link, and a mesh in its frame."""
    robot = ElementTree.parse(file).getroot()
    colours = {name: tag for tag in robot.iterfind("material") if (name := tag.get("name")) is not None}
    for link in robot.iterfind("link"):
        meshes = []
        for visual in link.iterfind("visual"):
            colour, origin = _colour(visual.find("material"), colours), visual.find("origin")
            frame = Frame.at(read_vector(origin, "xyz"), read_vector(origin, "rpy"))
            for shape in visual.iterfind("geometry/*"):
                mesh = _urdf_shape(shape, file.parent, colour)
                meshes.append(mesh.moved(frame.rotation, frame.origin))
        if meshes:
            yield str(link.get("name")), join(meshes)


def _colour(material: ElementTree.Element | None, named: dict[str, ElementTree.Element]) -> Colour:
    if material is not None and material.find("color") is None:
        material = named.get(material.get("name", ""))
    tag = material.find("color") if material is not None else None
    if tag is None:
        return BODY
    red, green, blue = (255 * float(word) for word in tag.get("rgba", "").split()[:3])
    return red, green, blue


def _urdf_shape(shape: ElementTree.Element, folder: Path, colour: Colour) -> Mesh:
    upright = Rotation.from_euler("x", 90, degrees=True).as_matrix()
    match shape.tag:
        case "box":
            return box(np.array(read_vector(shape, "size")) / 2, colour)
        case "mesh":
            scale = read_vector(shape, "scale") if shape.get("scale") else (1.0, 1.0, 1.0)
            return from_file(str(folder / shape.get("filename", "")), scale, colour)
        case "sphere":
            radius = float(shape.get("radius", "0"))
            return ball(radius, colour)
    size = geometry.Cylinder(float(shape.get("radius", "0")), float(shape.get("length", "0")))
    return of_solid(size, colour).moved(upright, (0.0, 0.0, 0.0))
