"""The chain of plates of one track, as URDF: a multibody that hangs in the track's plane."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from segtrack.bullet.belts.joints import MAX_JOINTS
from segtrack.bullet.urdf import UrdfModel, add_segment, set_inertial
from segtrack.description.track import Mount, TrackSpec
from segtrack.errors import InvalidValueError
from segtrack.geometry.links import SegmentLink
from segtrack.geometry.mass import MassProperties
from segtrack.geometry.plate_loop import PlateLoop, plate_loop
from segtrack.geometry.solids import Box, Placed

_PITCH = 0.04
"""Of the plates of a belt without grousers, about [m]."""
_GUIDE = 0.01
"""Mass of the guide and of the links that free the first plate, per mass of the belt."""
FREEDOMS = 2
"""Links between the guide and the first plate."""


def loop_of(spec: TrackSpec) -> PlateLoop:
    """The plates of a track: one a grouser.

    Raises:
        InvalidValueError: They are too many, or the path is not one that plates can run around.
    """
    if spec.grousers is not None:
        count = spec.grousers.count
    else:
        count = round(spec.belt_path.perimeter / _PITCH)
    if count > MAX_JOINTS - FREEDOMS:
        raise InvalidValueError("plates of a track", f"at most {MAX_JOINTS - FREEDOMS} for PyBullet", count)
    return plate_loop(spec.belt_path, count)


def chain_urdf(track: str, spec: TrackSpec) -> UrdfModel:
    """The chain of a track: its guide, two light sliders that free the first plate, and the plates."""
    spec = spec.model_copy(update={"mount": Mount()})
    loop = loop_of(spec)
    meshes: dict[str, str] = {}
    robot = Element("robot", name=f"{track}_plates")
    parent = f"{track}_guide"
    light = _GUIDE * spec.belt.mass / (1 + FREEDOMS)
    guide = MassProperties.of_box(light, (0, 0, 0), 3 * (spec.width,))
    set_inertial(SubElement(robot, "link", name=parent), guide)
    middle = (loop.pitch / 2, 0, loop.depth - spec.belt.thickness / 2)
    for link in _chain_links(spec, loop):
        add_segment(robot, track, spec, parent, link, meshes)
        parent = f"{track}_{link.name}"
        if link.shapes:
            set_inertial(
                robot.findall("link")[-1], MassProperties.of(link.mass, middle, np.diag(link.inertia))
            )
    ElementTree.indent(robot)
    return UrdfModel(ElementTree.tostring(robot, encoding="unicode") + "\n", meshes)


def box_inertia(mass: float, size: tuple[float, float, float]) -> tuple[float, float, float]:
    """Principal moments (3,) [kg m^2] of a box of sides `size` (3,) [m]."""
    x, y, z = (mass / 12 * side**2 for side in size)
    return y + z, x + z, x + y


def _chain_links(spec: TrackSpec, loop: PlateLoop) -> Iterator[SegmentLink]:
    """The chain's links, each in the frame of the one before; a plate's is at its first hinge, z outwards."""
    mass = _GUIDE * spec.belt.mass / (1 + FREEDOMS)
    small = box_inertia(mass, 3 * (spec.width,))
    x, z = loop.hinges[0].tolist()
    yield SegmentLink("along", "slider", x, z, 0.0, 1.0, mass, small, ())
    yield SegmentLink("up", "slider", 0.0, 0.0, -math.pi / 2, 1.0, mass, small, ())
    mass = (1 - _GUIDE) * spec.belt.mass / len(loop.headings)
    inertia = box_inertia(mass, (loop.pitch, spec.width, spec.belt.thickness))
    kinds = spec.grousers.shapes if spec.grousers is not None else ()
    solids = [kind.kind.solid(kind.width or spec.width, kind.crown) for kind in kinds]
    middle, thickness = loop.pitch / 2, spec.belt.thickness
    body = Placed(Box((loop.pitch, spec.width, thickness)), middle, loop.depth - thickness / 2)
    before = -math.pi / 2
    for n, heading in enumerate(loop.headings.tolist()):
        shapes = [body]
        if solids:
            solid, lift = solids[n % len(solids)]
            shapes.append(Placed(solid, middle, loop.depth + lift))
        start, turn = loop.pitch if n > 0 else 0.0, heading - before
        yield SegmentLink(f"plate_{n}", "hinge", start, 0.0, turn, 0.0, mass, inertia, tuple(shapes))
        before = heading
