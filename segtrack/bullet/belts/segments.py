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
(`segment_masses`), a row finds one mass in any direction. Contacts that give way by `REST_DEPTH` share the
load among grousers, as friction that turns a vehicle needs it; from a tenth of the default stiffness to five
times of it vehicles turn alike.
"""

from __future__ import annotations

import math
from functools import partial

import pybullet

from segtrack.bullet.belts.joint_belt import (
    UNLIMITED_FORCE,
    JointBelt,
    JointBeltGroup,
    set_stiffness,
)
from segtrack.bullet.belts.segment_masses import lay_out_masses
from segtrack.bullet.model import TrackBuilder, TrackJoints
from segtrack.description.track import TrackSpec
from segtrack.description.vehicle import VehicleDescription
from segtrack.geometry.links import SegmentLink
from segtrack.geometry.mass import GRAVITY

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
