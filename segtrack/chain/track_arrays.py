"""Everything of one track that kernels read and write."""

from __future__ import annotations

from typing import NamedTuple

from segtrack.chain.parent_frames import Carriers, Exchange, Reaction
from segtrack.chain.running_gear.arrays import Undergear
from segtrack.chain.shoe_candidates import ContactCandidates, ShoeContactLoads
from segtrack.chain.shoes.loads import Frames, Loads
from segtrack.chain.shoes.model import Constants, Joints
from segtrack.chain.shoes.sub_step import Motion
from segtrack.ground.history import ContactHistory
from segtrack.ground.pack import Ground
from segtrack.ground.parameters import ContactParameters
from segtrack.ground.tread import Treads


class Underfoot(NamedTuple):
    """All that a chain stands on, as kernels read it, and how they touch.

    Attributes:
        ground: In the world.
        treads: Of the shoes.
        grip: Of all markers.
        motion: Memory of the contacts.
        loads: What the ground does to links.
        nearby: What is near them.
        margin: Within which something is near [m].
    """

    ground: Ground
    treads: Treads
    grip: ContactParameters
    motion: ContactHistory
    loads: ShoeContactLoads
    nearby: ContactCandidates
    margin: float


class Track(NamedTuple):
    """Everything of one track that kernels read and write.

    Attributes:
        motion: Of the links.
        joints: Between them.
        frames: Room for where they are.
        loads: Room for what acts on them.
        constants: The chain's.
        carriers: Of the wheels.
        reaction: Room for what acts on them.
        gear: The wheels.
        foot: The ground.
        exchange: What has been done to the carriers.
        apart: Distance between a joint's markers at which it has parted [m].
        aside: Distance of a link from the middle plane of its track at which it has come off [m].
    """

    motion: Motion
    joints: Joints
    frames: Frames
    loads: Loads
    constants: Constants
    carriers: Carriers
    reaction: Reaction
    gear: Undergear
    foot: Underfoot
    exchange: Exchange
    apart: float
    aside: float
