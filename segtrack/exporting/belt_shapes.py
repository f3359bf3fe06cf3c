"""Shapes of a belt's outline: a cylinder around each pulley, and a strip along each line between them.

The outline is that of the grousers' tips, which is what touches the ground.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.description import TrackSpec
from segtrack.geometry import (
    Arc,
    BeltPath,
    Box,
    Cylinder,
    Line,
    Placed,
    Pulley,
    arcs_of,
    normal_of,
    tangent_of,
    wrap_hull,
)

_SAGITTA = 2e-4
"""Greatest distance of a strip from an arc that no cylinder stands for [m]."""
_STICKS_OUT = 1e-3
"""Share of its radius by which an arc's circle may reach beyond the belt [-]: samples are that fine."""
_SAMPLES = 256


class BeltShape(NamedTuple):
    """Convex shape of a belt.

    Attributes:
        placed: Box or cylinder in the track frame. A box's own x points along the belt's travel, and its own
            z outwards.
        surface: Angular for a cylinder and linear for a box: speed of its surface per belt speed, about its
            axis y [rad/m] or along its own x [-].
    """

    placed: Placed
    surface: float


def belt_height(spec: TrackSpec) -> float:
    """Height of a belt's grousers [m]; 0 for a smooth one."""
    return spec.grousers.height if spec.grousers is not None else 0.0


def convex_path(spec: TrackSpec) -> BeltPath:
    """Path of a belt, or its convex hull if it bends inwards."""
    path = spec.belt_path
    arcs = arcs_of(path)
    if all(arc.turn > 0 for arc in arcs):
        return path
    centers = [arc.center.tolist() for arc in arcs]
    return wrap_hull([Pulley(x, z, a.radius) for (x, z), a in zip(centers, arcs, strict=True) if a.turn > 0])


def belt_shapes(spec: TrackSpec) -> tuple[BeltShape, ...]:
    """Shapes whose outline is that of a belt's tips, in the track frame."""
    path, height = convex_path(spec), belt_height(spec)
    wheels = [isinstance(part, Arc) and _is_within(part, path) for part in path.segments]
    least = min(arc.radius for arc in arcs_of(path))
    shapes = []
    for i, part in enumerate(path.segments):
        if isinstance(part, Line):
            before, after = i - 1, (i + 1) % len(path.segments)
            beside = [path.segments[k] for k in (before, after) if wheels[k]]
            radii = [arc.radius for arc in beside if isinstance(arc, Arc)]
            depth = height + (min(radii) if len(radii) == 2 else least)
            shapes.append(_strip(np.array(part.start), part.heading, part.length, height, depth, spec.width))
        elif wheels[i]:
            x, z = part.center.tolist()
            radius = part.radius + height
            # Its surface is as fast as the strips', so that they do not work against each other.
            shapes.append(BeltShape(Placed(Cylinder(radius, spec.width), x, z), 1.0 / radius))
        else:
            shapes += _chords(part, height, height + least, spec.width)
    return tuple(shapes)


def _is_within(arc: Arc, path: BeltPath) -> bool:
    """Return whether an arc's whole circle lies within a convex path."""
    points = np.concatenate([s.point_at(np.linspace(0.0, s.length, _SAMPLES)) for s in path.segments])
    angles = np.linspace(0.0, 2 * np.pi, _SAMPLES)
    ways = np.stack([np.cos(angles), np.sin(angles)])
    beyond = arc.center @ ways + arc.radius - (points @ ways).max(axis=0)
    return bool(beyond.max() < _STICKS_OUT * arc.radius)


def _strip(
    start: NDArray[np.float64], heading: float, length: float, height: float, depth: float, width: float
) -> BeltShape:
    """Box along a line of a belt, `height` outside of it, that reaches `depth` inwards from there [m]."""
    middle = start + tangent_of(heading) * length / 2 + normal_of(heading) * (height - depth / 2)
    x, z = middle.tolist()
    return BeltShape(Placed(Box((length, width, depth)), x, z, heading), 1.0)


def _chords(arc: Arc, height: float, depth: float, width: float) -> Iterator[BeltShape]:
    """Strips along an arc."""
    radius = arc.radius + height
    count = max(2, int(np.ceil(arc.turn / np.sqrt(8 * _SAGITTA / radius))))
    along = np.linspace(0.0, arc.length, count + 1)
    points = arc.point_at(along) + height * normal_of(arc.heading_at(along))
    for one, other in zip(points[:-1], points[1:], strict=True):
        way = other - one
        yield _strip(one, float(np.arctan2(-way[1], way[0])), float(np.hypot(*way)), 0.0, depth, width)
