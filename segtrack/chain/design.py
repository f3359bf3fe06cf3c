"""A whole track as a link chain: what it is made of, before it moves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.running_gear.undercarriage import Undercarriage
from segtrack.chain.running_gear.wheel_bounds import rolling_bounds, wheel_bounds
from segtrack.chain.shoes.model import Chain
from segtrack.chain.stability import MARGIN, largest_stable, link_bounds
from segtrack.ground.parameters import ContactParameters
from segtrack.ground.tread import Tread, ground_bounds


@dataclass(frozen=True, eq=False)
class TrackDesign:
    """What a track consists of, in its track frame.

    Attributes:
        name: Of the track, for messages.
        chain: Shoes and bushings.
        undercarriage: Wheels.
        treads: Kinds of outer sides of shoes, in turn along the chain.
        grip: Of every marker of the treads.
        hinges: First joint of each shoe, and the last one's end, in (x, z) (n + 1, 2) [m].
        seat: Angle of the driven wheel at which the joints around it are seated [rad].
        largest_force: Expected at any contact of a wheel, for the bound on sub-steps [N].
        links: Names of the carriers besides the first, which carries the track.
    """

    name: str
    chain: Chain
    undercarriage: Undercarriage
    treads: tuple[Tread, ...]
    grip: ContactParameters
    hinges: NDArray[np.float64]
    seat: float
    largest_force: float
    links: tuple[str, ...] = ()

    @property
    def kinds(self) -> NDArray[np.intp]:
        """Which of the treads each shoe has (n,)."""
        return np.arange(self.chain.count) % len(self.treads)

    @cached_property
    def pitch_radius(self) -> float:
        """Belt travel per turn of the driven wheel [m/rad]."""
        wheels, sprocket = self.undercarriage, self.undercarriage.sprocket
        if sprocket is not None:
            return sprocket.count * self.chain.shoe.pitch / (2 * math.pi)
        # The pins of shoes that lie flat on a drum; what a pin moves by is a chord.
        drum = wheels.wheels[wheels.driven]
        inner = min(radius for _, radius in drum.profile) + wheels.rail.inset
        half = self.chain.shoe.pitch / 2
        return half / math.atan(half / inner)

    @cached_property
    def largest_sub_step(self) -> float:
        """The largest sub-step at which links, wheels and tensioners are stable [s]; see `stability`."""
        shoe = self.chain.shoe
        joints = link_bounds(self.chain)
        grounds = [ground_bounds(tread, self.grip) for tread in self.treads]
        rolling = rolling_bounds(self.undercarriage, shoe, self.largest_force)
        mass = np.array([shoe.mass] * 3 + list(shoe.inertia))
        steps = [
            largest_stable(mass, joints[0] + ground[0] + stiffness, joints[1] + ground[1] + damping)
            for ground in grounds
            for stiffness, damping in zip(*rolling, strict=True)
        ]
        for inertia, damping, stiffness in wheel_bounds(self.undercarriage, shoe, self.largest_force):
            # 4 m - 2 h c - h^2 k > 0
            steps.append(4 * inertia / (damping + math.sqrt(damping**2 + 4 * inertia * stiffness)))
        return MARGIN * min(steps)
