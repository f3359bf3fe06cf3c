"""A chain's wheels: the driven one, the idler, what else bends the chain, and what carries its runs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.running_gear.wheels import Tensioner, Wheel
from segtrack.description.chain import EvenRollersSpec, RoadWheelSpec
from segtrack.description.chain_layout.layout import (
    LATERAL_CLEARANCE,
    RAIL_POSITION,
    ChainLayout,
    damping_of,
)
from segtrack.errors import InvalidValueError, Phrase
from segtrack.geometry.path import Arc, Line, Segment, normal_of
from segtrack.geometry.plate_loop import PlateLoop

_PULLEY_MASS = 0.05
"""Mass of a wheel that bends the chain, per mass of the belt."""
_ROLLER_MASS = 0.02
"""Mass of a road wheel or support roller, per mass of the belt."""
_SPACING = 1.05
"""Spacing of even rollers, per pitch: no shoe rests on three of them."""
_FLANGE = 0.08
"""Height of a wheel's flanges, per pitch."""


def design_wheels(layout: ChainLayout, loop: PlateLoop) -> tuple[Wheel, ...]:
    """The driven wheel, the idler, what else bends the chain, and road wheels or even rollers.

    Even rollers that would touch a wheel are left out.

    Raises:
        InvalidValueError: A given road wheel touches another wheel, or reaches out of the belt.
    """
    wheels = _pulleys(layout, loop)
    names = ["the driven wheel", "the idler", *["a pulley"] * (len(wheels) - 2)]
    if layout.chain.road_wheels is None:
        for roller in _even_rollers(layout, loop):
            if max(_overlap(roller, wheel) for wheel in wheels) < 0:
                wheels.append(roller)
        return tuple(wheels)
    for i, spec in enumerate(layout.chain.road_wheels):
        key = f"chain.road_wheels[{i}]"
        wheel = _road_wheel(layout, loop, spec, f"{key} of {layout.name}")
        depths = [_overlap(wheel, other) for other in wheels]
        if max(depths) >= 0:
            other = int(np.argmax(depths))
            overlap = Phrase(f"an overlap of {depths[other]:.3g} m")
            raise InvalidValueError(f"{key} of {layout.name}", f"apart from {names[other]}", overlap)
        wheels.append(wheel)
        names.append(key)
    return tuple(wheels)


def _pulleys(layout: ChainLayout, loop: PlateLoop) -> list[Wheel]:
    """Wheels that bend the chain: the driven one, the idler, and others."""
    sprocket, idler = loop.sprocket, loop.idler
    others = [s for s in loop.path.segments if isinstance(s, Arc) and s is not sprocket and s is not idler]
    wheels = []
    mass = _PULLEY_MASS * layout.spec.belt.mass
    for arc in (sprocket, idler, *others):
        radius = loop.apothem(arc, layout.thickness)
        inertia = mass * radius**2 / 2
        if arc is sprocket:
            inertia += layout.spec.drive.reflected_mass * (arc.radius - loop.depth) ** 2
        tensioner = _tensioner(layout, loop, mass) if arc is idler else None
        wheels.append(_wheel(layout, loop, arc.center, radius, inertia, tensioner))
    return wheels


def _wheel(
    layout: ChainLayout,
    loop: PlateLoop,
    center: NDArray[np.float64],
    radius: float,
    inertia: float,
    tensioner: Tensioner | None = None,
) -> Wheel:
    """A flanged wheel whose cylinder is as wide as the shoes' rails are apart, and some play."""
    half_width = (RAIL_POSITION + LATERAL_CLEARANCE) * layout.spec.width
    x, z = center.tolist()
    return Wheel.flanged(x, z, radius, inertia, half_width, _FLANGE * loop.pitch, tensioner)


def _tensioner(layout: ChainLayout, loop: PlateLoop, mass: float) -> Tensioner:
    """Spring that pushes the idler away from the driven wheel: two runs of the chain pull it back."""
    given, stall = layout.chain.tensioner, layout.spec.drive.stall_force
    away = loop.idler.center - loop.sprocket.center
    x, z = (away / np.linalg.norm(away)).tolist()
    stiffness = given.stiffness or 4 * stall / (loop.pitch / 2)
    return Tensioner(
        direction=(x, z),
        mass=mass,
        preload=2 * layout.pretension,
        stiffness=stiffness,
        damping=damping_of(given.damping_ratio, stiffness, mass),
    )


def _road_wheel(layout: ChainLayout, loop: PlateLoop, spec: RoadWheelSpec, what: str) -> Wheel:
    center = np.array([spec.x, spec.z])
    _check_inside(layout, what, center, spec.radius)
    wheel = _wheel(layout, loop, center, spec.radius, _roller_inertia(layout, spec.radius))
    return replace(wheel, parent=0 if spec.link is None else 1 + layout.parent_link_names.index(spec.link))


def _even_rollers(layout: ChainLayout, loop: PlateLoop) -> Iterator[Wheel]:
    """Rollers along the straight pieces that are not omitted."""
    given = layout.chain.even_rollers or EvenRollersSpec()
    spacing = given.spacing or _SPACING * loop.pitch
    radius = given.radius or 0.4 * spacing
    if spacing < loop.pitch / 4:
        expected = f"at least {loop.pitch / 4:.3g} m, a quarter of the pitch"
        raise InvalidValueError(f"chain.even_rollers.spacing of {layout.name}", expected, spacing)
    segments, names = loop.path.segments, loop.path.names
    for i, line in enumerate(segments):
        if not isinstance(line, Line) or names[i] in layout.spec.omit_segments:
            continue
        neighbours = (segments[j % len(segments)] for j in (i - 1, i + 1))
        before, after = (_clearance(layout, loop, neighbour, radius) for neighbour in neighbours)
        length = line.length - before - after
        if length < 0:
            continue
        count = math.floor(length / spacing) + 1
        inwards = (layout.thickness + radius) * normal_of(line.heading)
        for along in before + np.linspace(0, length, count):
            center = line.point_at(np.array([along]))[0] - inwards
            yield _wheel(layout, loop, center, radius, _roller_inertia(layout, radius))


def _check_inside(layout: ChainLayout, what: str, center: NDArray[np.float64], radius: float) -> None:
    """Refuse a wheel that reaches out of the belt, which bends outwards everywhere."""
    path = layout.spec.belt_path
    along = np.arange(0.0, path.perimeter, 1e-3)
    heights = np.sum((center - path.point(along)) * normal_of(path.heading(along)), axis=1)
    beyond = heights.max() + radius
    if beyond > 0:
        raise InvalidValueError(what, "within the belt", Phrase(f"one that reaches {beyond:.3g} m out"))


def _clearance(layout: ChainLayout, loop: PlateLoop, segment: Segment, radius: float) -> float:
    """Distance from a line's end at which a roller clears the wheel there [m]."""
    if not isinstance(segment, Arc):
        return radius
    wheel = segment.radius - loop.depth + layout.bushing_radius(loop.pitch)
    roller = radius + _FLANGE * loop.pitch
    height = segment.radius - layout.thickness - radius
    return math.sqrt(max((wheel + roller) ** 2 - height**2, 0.0)) + 0.05 * loop.pitch


def _roller_inertia(layout: ChainLayout, radius: float) -> float:
    return _ROLLER_MASS * layout.spec.belt.mass * radius**2 / 2


def _overlap(one: Wheel, other: Wheel) -> float:
    """Depth by which two wheels reach into each other; negative for wheels that are apart [m]."""
    return one.max_radius + other.max_radius - math.dist((one.x, one.z), (other.x, other.z))
