"""Masses of a track's segment links, such that contacts, drive and body each find those that they should.

A belt of links is one degree of freedom of mass M, the belt's and what its drive reflects. How M is shared
out is free, as long as four things hold. All follow from one number, the mass x of the link on the ground:

1. *A contact finds one mass along the track and across it.* Bullet solves a multibody's friction in two rows,
   scales each by the mass that it finds along it, and so pulls a sliding contact along D v and not against
   its velocity v, D being these masses. A line is found along the track alone, as x; across it with its
   slider and what else that carries (`slider_groups`). Arcs ride on the slider of the link on the ground:
   they have the spin inertia x (r + h)^2, found as x at the tips of their grousers (r their radius, h the
   grousers' height), and next to no mass, `_ARC_SHARE` x, since that adds to what is found across.
2. *Weight and acceleration of the vehicle drive no belt*: the sum of mass times direction over the lines is
   zero. Lines as heavy as they are long close as the path does, but for pulleys of different radii; a
   counterweight without shape takes up the rest.
3. *The drive moves M*: sum of the lines' masses + sum of spin inertia / r^2 + counterweight = M.
4. *The belt's angular momentum is that of a uniform belt and of the drive's rotor.* Links alone have less
   than a belt has, and more than a drive whose mass is mostly reflected. A flywheel has the difference, a
   link without shape that turns with the belt, slowly, or against it.

What the links have too much or too little of a uniform belt's mass and inertia at rest, the link that carries
the track has instead. An omitted segment is a link without shape: nothing touches it, and its mass moves with
the belt all the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from segtrack.description import TrackSpec
from segtrack.geometry import SegmentLink, tangent_of

_ARC_SHARE = 0.003
"""Mass of an arc over that of the link on the ground [-]."""
_UPRIGHT, _SLACK = 0.95, 2e-4
"""Moment of inertia of an arc about the track's vertical axis over its spin inertia, and what it and that
about the long axis have together above it: little, since a narrow belt has no spread across to give [-]."""
_COUNTER_SPEED = 0.2
"""Speed of the counterweight over the belt's: it is heavy in place of fast, and adds little to M [-]."""
_FLYWHEEL_REACH, _COUNTER_REACH = 3.0, -0.3
"""Angular momentum over mass of a flywheel that turns with the belt, and against it, over that of the other
links [-]: farther from 1 it adds less to M, and has more inertia; the least with 2, and towards 0."""
_FLYWHEEL_MASS = 0.003
"""Mass of the flywheel over that of the link on the ground [-]."""
_COMPACT = 0.01
"""Radius of gyration of a line and of the counterweight [m]: they turn with what carries the track, which has
the rest of their inertia."""
_FLAT = 0.05
"""Moment of inertia of the flywheel about the track's long axis over its spin inertia [-]: a belt is longer
than high."""
_BALANCED = 1e-6
"""What lines may leave over of the sum of their masses [-]."""


def lay_out_masses(spec: TrackSpec) -> tuple[SegmentLink, ...]:
    """Return the links of a track, the one on the ground first, with the masses that make them one belt."""
    height = spec.grousers.height if spec.grousers is not None else 0.0
    whole = spec.model_copy(update={"omit_segments": ()})
    found = [
        replace(link, shapes=()) if link.name in spec.omit_segments else link
        for link in _of_unit_mass(whole.segment_links(), height)
    ]
    rest = sum(
        (link.mass * tangent_of(link.heading) for link in found if link.joint == "slider"), np.zeros(2)
    )
    if math.hypot(*rest) > _BALANCED:
        found.append(_counterweight(found, rest))
    moving, spinning = sum(map(moving_mass, found)), sum(map(spin_momentum, found))
    mass, reach = spec.moving_mass, spinning / moving
    missing = spec.spin_momentum - mass * reach
    if abs(missing) < _BALANCED * mass * abs(reach):
        return tuple(_scaled(link, mass / moving) for link in found)
    needed = 2 * spec.spin_momentum / mass  # With less a rotor geared low would be heavier than all of M.
    radius = max(_FLYWHEEL_REACH * reach, needed) if missing > 0 else min(_COUNTER_REACH * reach, needed)
    wheel = missing / (radius - reach)
    x = (mass - wheel) / moving
    return (*(_scaled(link, x) for link in found), _flywheel(found, _FLYWHEEL_MASS * x, radius, wheel))


def _of_unit_mass(links: Sequence[SegmentLink], height: float) -> list[SegmentLink]:
    """Links of a belt whose link on the ground has a mass of 1 kg, without counterweight and flywheel."""
    lines = [length_of(link) for link in links if link.joint == "slider"]
    unit = length_of(links[0]) if links[0].joint == "slider" else max(lines, default=1.0)
    found = []
    for i, link in enumerate(links):
        if link.joint == "slider":
            mass = length_of(link) / unit
            found.append(replace(link, mass=mass, inertia=3 * (mass * _COMPACT**2,)))
        else:
            spin = (1 / abs(link.ratio) + height) ** 2
            found.append(_hoop(link, 1.0 if i == 0 else _ARC_SHARE, spin))
    return found


def slider_groups(links: Sequence[SegmentLink]) -> list[list[SegmentLink]]:
    """Links that one slider across the track carries each: a line, and with that on the ground all arcs.

    Args:
        links: Links of a track, the one on the ground first. Links without shape touch nothing and need no
            slider.
    """
    touching = [link for link in links if link.shapes]
    lines = [[link] for link in touching[1:] if link.joint == "slider"]
    return [[touching[0], *(link for link in touching[1:] if link.joint == "hinge")], *lines]


def spin_momentum(link: SegmentLink) -> float:
    """Angular momentum of a link about the track's axle, per belt speed [kg m]."""
    if link.joint == "hinge":
        return link.inertia[1] * link.ratio
    reach = link.x * math.sin(link.heading) + link.z * math.cos(link.heading)
    return link.mass * link.ratio * reach


def moving_mass(link: SegmentLink) -> float:
    """Mass of a link as its belt's drive feels it [kg]."""
    return (link.mass if link.joint == "slider" else link.inertia[1]) * link.ratio**2


def length_of(link: SegmentLink) -> float:
    """Length of a straight link's belt [m]."""
    return float(np.ptp(link.shapes[0].outline[:, 0]))


def _scaled(link: SegmentLink, share: float) -> SegmentLink:
    xx, yy, zz = (share * moment for moment in link.inertia)
    return replace(link, mass=share * link.mass, inertia=(xx, yy, zz))


def _hoop(link: SegmentLink, mass: float, spin: float) -> SegmentLink:
    """An arc with a spin inertia [kg m^2].

    Its mass spreads along that of its axes that is the track's nearest.
    """
    along, up = (1.0 + _SLACK - _UPRIGHT) * spin, _UPRIGHT * spin
    if abs(math.sin(link.heading)) > math.sqrt(0.5):
        along, up = up, along
    return replace(link, mass=mass, inertia=(along, spin, up))


def _counterweight(links: Sequence[SegmentLink], rest: np.ndarray) -> SegmentLink:
    """A link without shape whose motion cancels what the lines' leave over (x, z) [kg]."""
    mass = math.hypot(*rest) / _COUNTER_SPEED
    heading = math.atan2(float(rest[1]), -float(rest[0]))
    inertia = 3 * (mass * _COMPACT**2,)
    x, z = _middle(links)
    return SegmentLink("counterweight", "slider", x, z, heading, _COUNTER_SPEED, mass, inertia, ())


def _flywheel(links: Sequence[SegmentLink], mass: float, radius: float, moving: float) -> SegmentLink:
    """A link without shape that turns by belt travel / radius [1/m].

    It has a mass that the drive feels [kg].
    """
    spin = moving * radius**2
    inertia = (_FLAT * spin, spin, (1.0 + _SLACK - _FLAT) * spin)
    x, z = _middle(links)
    return SegmentLink("flywheel", "hinge", x, z, 0.0, 1 / radius, mass, inertia, ())


def _middle(links: Sequence[SegmentLink]) -> tuple[float, float]:
    """Centre of mass of links in the track frame (x, z) [m]."""
    total = sum(link.mass for link in links)
    x = sum(link.mass * link.x for link in links) / total
    return x, sum(link.mass * link.z for link in links) / total
