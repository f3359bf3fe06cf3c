"""Track models `segments` (Okada et al. 2020) and `smooth`: links on joints that move as one belt.

A belt is one degree of freedom: its first link (the one on the ground) is driven, the others are geared to
it.

A belt without grousers looks the same at any travel, so it may be set back at any time (Okada et al. 2020,
end of section III-C). It is set back once it has moved by half of `SMOOTH_PERIOD`, which its straight links
overhang by then: to do it at each step, as the paper does, looks the same and takes a quarter of the
step's time.
"""

from __future__ import annotations

from functools import partial

import pybullet

from segtrack.bullet.belts.joint_belt import JointBelt, JointBeltGroup
from segtrack.bullet.model import TrackBuilder, TrackJoints
from segtrack.description.track import TrackSpec

SMOOTH_PERIOD = 0.005
"""Travel by which a belt without grousers is set back [m]."""
_UNLIMITED_FORCE = 1e6


def segments_builder(name: str) -> TrackBuilder:
    """Return the builder of the track model `segments`."""
    return TrackBuilder(TrackSpec.segment_links, _create_belt, JointBeltGroup)


def smooth_builder(name: str) -> TrackBuilder:
    """Return the builder of the track model `smooth`."""
    return TrackBuilder(
        lambda spec: spec.model_copy(update={"grousers": None}).segment_links(),
        partial(_create_belt, smooth=True),
        JointBeltGroup,
    )


def _create_belt(client: int, track: TrackJoints, smooth: bool = False) -> JointBelt:
    """Gear a loaded track's joints into one belt that repeats after one pitch, or `SMOOTH_PERIOD`."""
    _gear_to_first(client, track)
    period = 0.0 if smooth else track.spec.period
    return JointBelt(client, track, motors=(0,), period=period or SMOOTH_PERIOD)


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
            gear, gearRatio=-k_first / k, maxForce=_UNLIMITED_FORCE, erp=0, physicsClientId=client
        )
