"""Track models `segments` (Okada et al. 2020) and `smooth`: links on joints that move as one belt.

A belt is one degree of freedom: its first link (the one on the ground) is driven, the others are geared to
it.

A belt without grousers looks the same at any travel, so it may be set back at any time (Okada et al. 2020,
end of section III-C). It is set back once it has moved by half of `SMOOTH_PERIOD`, which its straight links
overhang by then: to do it at each step, as the paper does, looks the same and takes a quarter of the
step's time.

The joints are carried by sliders across the track, which motors lock. Bullet solves the friction of a
multibody's contact in two rows along the world's axes and scales each by the mass that it finds along it.
Along the track a row finds the link alone, across it without a slider the whole vehicle: a PackBot turned by
40 to 60 deg, depending on where it headed, in place of 58. With the sliders, and masses laid out for them
(`lay_out_masses`), a row finds one mass in any direction. Contacts that give way by `REST_DEPTH` share the
load among grousers, as friction that turns a vehicle needs it; from a tenth of the default stiffness to five
times of it vehicles turn alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pybullet

from segtrack.bullet.belts.joint_belt import (
    UNLIMITED_FORCE,
    JointBelt,
    JointBeltGroup,
    set_stiffness,
)
from segtrack.bullet.model import TrackBuilder, TrackJoints
from segtrack.description import TrackSpec, VehicleDescription
from segtrack.geometry import GRAVITY, SegmentLink, tangent_of

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


SMOOTH_PERIOD = 0.005
"""Travel by which a belt without grousers is set back [m]."""
REST_DEPTH = 5e-5
"""Depth by which a vehicle sinks in on its ground lines at rest, in files without a stiffness [m]."""
DAMPING_RATIO = 1.0
"""Damping ratio of its bouncing on them, in files without a damping [-]."""
_CORNERS = 4
"""Contact points on which a straight link without grousers stands."""


def segments_builder(name: str) -> TrackBuilder:
    """Return the builder of the track model `segments`."""
    return TrackBuilder(_track_links, _create_belt, JointBeltGroup, lateral=True, preset="fast")


def smooth_builder(name: str) -> TrackBuilder:
    """Return the builder of the track model `smooth`."""
    return TrackBuilder(
        lambda spec: _track_links(spec.model_copy(update={"grousers": None})),
        partial(_create_belt, smooth=True),
        JointBeltGroup,
        lateral=True,
        preset="fast",
    )


def published_builder(name: str) -> TrackBuilder:
    """Return the builder of segments as published, without sliders across the track, on rigid contacts.

    They turn wrongly, and are here to compare speeds with.
    """
    return TrackBuilder(TrackSpec.segment_links, _gear, JointBeltGroup)


def _track_links(spec: TrackSpec) -> tuple[SegmentLink, ...]:
    return lay_out_masses(spec)


def _create_belt(client: int, track: TrackJoints, smooth: bool = False) -> JointBelt:
    """Make a belt of a loaded track: let its contacts give way, and gear its joints."""
    contact = track.spec.contact
    if contact.stiffness is not None and contact.damping is not None:
        give = contact.stiffness, contact.damping
    else:
        give = resting_contact(track.vehicle, smooth)
        set_stiffness(client, track.body, track.joints, *give)
    return _gear(client, track, smooth, give)


def _gear(
    client: int, track: TrackJoints, smooth: bool = False, give: tuple[float, float] | None = None
) -> JointBelt:
    """Gear a loaded track's joints into one belt that repeats after one pitch, or `SMOOTH_PERIOD`."""
    _gear_to_first(client, track)
    period = 0.0 if smooth else track.spec.period
    return JointBelt(client, track, motors=(0,), period=period or SMOOTH_PERIOD, give=give)


def resting_contact(vehicle: VehicleDescription, smooth: bool = False) -> tuple[float, float]:
    """Stiffness [N/m] and damping [N s/m] of contact points on which a vehicle sinks in by `REST_DEPTH`.

    Args:
        vehicle: Vehicle on its ground lines.
        smooth: Leave its grousers out.
    """
    tracks = tuple(vehicle.mounted_tracks())
    carrying = [track for track in tracks if track.flipper is None] or tracks
    points = sum(
        _CORNERS if smooth or spec.grousers is None else max(spec.ground_length / spec.pitch, 1.0)
        for spec in (track.spec for track in carrying)
    )
    stiffness = vehicle.mass * GRAVITY / REST_DEPTH
    damping = 2 * DAMPING_RATIO * math.sqrt(stiffness * vehicle.mass)
    return stiffness / points, damping / points


def _gear_to_first(client: int, track: TrackJoints) -> None:
    """Make a track's joints move as one belt, by gears from the first to each other.

    Bullet's gear keeps q'_first + ratio q'_other = 0, so ratio = -k_first / k_other with
    k the joint coordinate per belt travel. It holds velocities only (erp 0); positions are
    seated at each roll-back.
    """
    first, k_first = track.joints[0], track.ratios[0]
    for joint, k in zip(track.joints[1:], track.ratios[1:], strict=True):
        gear = pybullet.createConstraint(
            track.body,
            first,
            track.body,
            joint,
            pybullet.JOINT_GEAR,
            [0, 1, 0],
            [0, 0, 0],
            [0, 0, 0],
            physicsClientId=client,
        )
        pybullet.changeConstraint(
            gear, gearRatio=-k_first / k, maxForce=UNLIMITED_FORCE, erp=0, physicsClientId=client
        )
