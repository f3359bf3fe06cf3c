"""Segment links without grousers (Okada et al. 2020, end of section III-C).

A smooth belt looks the same at any travel, so it may be set back at any time. It is set back
once it has moved by half of `PERIOD`, which its straight links overhang by then: to do it at
each step, as the paper does, looks the same and takes a quarter of the step's time.
"""

from __future__ import annotations

from segtrack.bullet.belts.gears import gear_to_first
from segtrack.bullet.belts.joint_belt import JointBelt
from segtrack.bullet.model import TrackJoints
from segtrack.description.track import TrackSpec
from segtrack.geometry.links import SegmentLink

PERIOD = 0.005
"""Travel by which a smooth belt is set back [m]."""


def track_links(spec: TrackSpec) -> tuple[SegmentLink, ...]:
    """The links of a track: the belt alone."""
    return spec.model_copy(update={"grousers": None}).segment_links()


def create_belt(client: int, track: TrackJoints) -> JointBelt:
    """Gear a loaded track's joints into one belt that is set back by `PERIOD`."""
    gear_to_first(client, track)
    return JointBelt(client, track, motors=(0,), period=PERIOD)
