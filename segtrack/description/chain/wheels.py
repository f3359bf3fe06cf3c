"""Wheels of a link chain: driven wheel and teeth, idler on its tensioner, road wheels, support rollers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from segtrack.chain import Sprocket, Tensioner, Wheel, WheelContactParameters, wheel_contact_parameters
from segtrack.description.chain.loop import (
    LATERAL_CLEARANCE,
    RAIL_POSITION,
    ChainLayout,
    balancing_force,
    damping_of,
)
from segtrack.description.chain.spec import EvenRollersSpec, RoadWheelSpec, SprocketSpec, WheelSpec
from segtrack.errors import InvalidValueError, Phrase
from segtrack.geometry import Arc, BeltPath, Line, PlateLoop, Segment, arcs_of, is_around, normal_of

_WHEEL_FRICTION = 0.3
"""Coulomb coefficient between rails and wheels without a drum."""
_STIFFNESS_RATIO = 0.2
"""Stiffness of a shoe's contacts with wheels, per stiffness of a bushing."""
_DAMPING_RATIO = 0.15
"""Damping of a shoe on one contact, over critical [-]. Tuned: from 0.1 on PackBot pulls friction times weight
within 5 % at 0.1 to 0.3 m/s; with 0.05 it rocks from side to side at 51 Hz and pulls 7 % less."""
_TOOTH_FRICTION = 0.05
"""Coulomb coefficient between teeth and bushings."""
_TOOTH_SLIP_SPEED = 1.0
"""Slip velocity at which friction on teeth is fully developed [m/s]."""


def design_wheel_contact(layout: ChainLayout, given: WheelSpec) -> WheelContactParameters:
    """Contact law of a shoe's rail on a wheel; its stiffness holds at the drive's stall force."""
    drum, stall = layout.chain.drum, layout.spec.drive.stall_force
    stiffness = _contact_stiffness(layout, given)
    friction = _WHEEL_FRICTION if drum is None else drum.friction
    return wheel_contact_parameters(
        stiffness=(stiffness / (1.5 * stall ** (1 / 3))) ** 1.5,
        damping=damping_of(_DAMPING_RATIO, stiffness, layout.shoe_mass),
        friction=friction if given.friction is None else given.friction,
        tangential_stiffness=stiffness,
    )


def _contact_stiffness(layout: ChainLayout, given: WheelSpec) -> float:
    """Stiffness of contacts between a shoe and a wheel [N/m]."""
    return given.contact_stiffness or _STIFFNESS_RATIO * layout.bushing_stiffness


def design_sprocket(layout: ChainLayout, loop: PlateLoop) -> Sprocket | None:
    """Teeth of the driven wheel; None on a drum."""
    if layout.chain.drum is not None:
        return None
    given = layout.chain.sprocket or SprocketSpec()
    stiffness = _contact_stiffness(layout, given)
    return Sprocket.for_pitch(
        loop.pitch,
        loop.teeth,
        layout.bushing_radius(loop.pitch),
        stiffness,
        given.pressure_angle,
        damping=damping_of(_DAMPING_RATIO, stiffness, layout.shoe_mass),
        friction=_TOOTH_FRICTION if given.friction is None else given.friction,
        slip_speed=_TOOTH_SLIP_SPEED,
        side_clearance=LATERAL_CLEARANCE * layout.spec.width,
        side_stiffness=stiffness,
    )


_PULLEY_MASS = 0.05
"""Mass of a wheel that bends the chain, per mass of the belt."""
_ROLLER_MASS = 0.02
"""Mass of a road wheel or support roller, per mass of the belt."""
_SPACING = 1.05
"""Spacing of even rollers, per pitch: no shoe rests on three of them."""
_FLANGE = 0.08
"""Height of a wheel's flanges, per pitch."""


def design_wheels(layout: ChainLayout, loop: PlateLoop) -> tuple[Wheel, ...]:
    """Driven wheel, idler, other wheels that bend the chain, then road wheels or evenly spaced rollers.

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
    """Wheels that bend the chain: driven wheel, idler, and others."""
    sprocket, idler = loop.sprocket, loop.idler
    places = [np.array([wheel.x, wheel.z]) for wheel in layout.chain.road_wheels or ()]
    places += [sprocket.center, idler.center]
    others = list[Arc]()
    for arc in arcs_of(loop.path):
        if not any(is_around(arc, place) for place in places):
            others.append(arc)
            places.append(arc.center)
    driver = layout.chain.drum or layout.chain.sprocket or SprocketSpec()
    arcs = [(sprocket, driver), (idler, layout.chain.idler), *((arc, WheelSpec()) for arc in others)]
    wheels = [
        _wheel(layout, loop, arc.center, loop.apothem(arc, layout.thickness), given, _PULLEY_MASS)
        for arc, given in arcs
    ]
    inertia = wheels[0].inertia + reflected_inertia(layout, loop)
    wheels[0] = replace(wheels[0], inertia=inertia, contact=wheels[0].contact if layout.chain.drum else None)
    wheels[1] = replace(wheels[1], tensioner=_tensioner(layout, loop))
    return wheels


def reflected_inertia(layout: ChainLayout, loop: PlateLoop) -> float:
    """Inertia of the drive's rotor reflected to the driven wheel [kg m^2]."""
    return layout.spec.drive.reflected_mass * (loop.sprocket.radius - loop.depth) ** 2


def _wheel(
    layout: ChainLayout,
    loop: PlateLoop,
    center: NDArray[np.float64],
    radius: float,
    given: WheelSpec,
    mass_ratio: float,
) -> Wheel:
    """Flanged wheel of a cylinder that spans the shoes' rails, with some play."""
    half_width = (RAIL_POSITION + LATERAL_CLEARANCE) * layout.spec.width
    inertia = given.inertia or mass_ratio * layout.spec.belt.mass * radius**2 / 2
    x, z = center.tolist()
    wheel = Wheel.flanged(x, z, radius, inertia, half_width, _FLANGE * loop.pitch)
    return replace(wheel, contact=design_wheel_contact(layout, given))


def _tensioner(layout: ChainLayout, loop: PlateLoop) -> Tensioner:
    """Spring that pushes the idler against two runs of the chain."""
    mass = layout.chain.idler.mass or _PULLEY_MASS * layout.spec.belt.mass
    given, stall = layout.chain.tensioner, layout.spec.drive.stall_force
    direction = layout.slide_direction(loop)
    x, z = direction.tolist()
    around = [arc for arc in arcs_of(loop.path) if is_around(arc, loop.idler.center)]
    push = sum(float(balancing_force(arc) @ direction) for arc in around)
    if push <= 0:
        what, got = f"chain.tensioner.direction of {layout.name}", Phrase("one that slackens it")
        raise InvalidValueError(what, "one that tightens the chain", got)
    stiffness = given.stiffness or 4 * stall / (loop.pitch / 2)
    return Tensioner(
        direction=(x, z),
        mass=mass,
        preload=push * layout.pretension,
        stiffness=stiffness,
        damping=damping_of(given.damping_ratio, stiffness, mass),
        curvature=layout.slide_curvature(loop),
    )


def _road_wheel(layout: ChainLayout, loop: PlateLoop, spec: RoadWheelSpec, what: str) -> Wheel:
    center = np.array([spec.x, spec.z])
    _check_inside(loop.path, what, center, spec.radius)
    wheel = _wheel(layout, loop, center, spec.radius, spec, _ROLLER_MASS)
    return replace(wheel, parent=0 if spec.link is None else 1 + layout.parent_link_names.index(spec.link))


def _even_rollers(layout: ChainLayout, loop: PlateLoop) -> Iterator[Wheel]:
    """Evenly spaced rollers along the straight segments that are not omitted."""
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
            yield _wheel(layout, loop, center, radius, given, _ROLLER_MASS)


def _check_inside(path: BeltPath, what: str, center: NDArray[np.float64], radius: float) -> None:
    """Refuse a wheel that sticks out of the belt (which bends outwards everywhere)."""
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


def _overlap(one: Wheel, other: Wheel) -> float:
    """Overlap of two wheels, negative for the gap between them [m]."""
    return one.max_radius + other.max_radius - math.dist((one.x, one.z), (other.x, other.z))
