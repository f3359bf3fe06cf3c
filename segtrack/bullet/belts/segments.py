"""Segment links with grousers: the method of Okada et al. 2020.

A belt is one degree of freedom: its first link (the one on the ground) is driven,
the others are geared to it.
"""

from __future__ import annotations

from segtrack.bullet.belts.gears import gear_to_first
from segtrack.bullet.belts.joint_belt import JointBelt
from segtrack.bullet.belts.smooth import PERIOD
from segtrack.bullet.model import TrackJoints
from segtrack.description.track import TrackSpec
from segtrack.geometry.links import SegmentLink


def track_links(spec: TrackSpec) -> tuple[SegmentLink, ...]:
    """The links of a track: belt and grousers of each segment."""
    return spec.segment_links()


def create_belt(client: int, track: TrackJoints) -> JointBelt:
    """Gear a loaded track's joints into one belt that repeats after one pitch."""
    gear_to_first(client, track)
    return JointBelt(client, track, motors=(0,), period=track.spec.period or PERIOD)
