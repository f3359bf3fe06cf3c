"""A whole track as a link chain: constants derived from its description."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.running_gear import RunningGear
from segtrack.chain.shoes import Chain
from segtrack.chain.stability import (
    MARGIN,
    contact_splits,
    is_stable,
    joint_bounds,
    max_stable_sub_step,
    rolling_bounds,
)
from segtrack.ground import ContactParameters, Tread, ground_bounds

_TOUCHING = 0.1
"""Distance from a wheel's cylinder within which a shoe lies on it, per pitch."""
_BISECTIONS = 30
"""Halvings in the search for the largest sub-step."""


@dataclass(frozen=True, eq=False)
class TrackDesign:
    """Constants of a track, in its track frame.

    Attributes:
        name: Name of the track, for messages.
        chain: Shoes and bushings.
        running_gear: Wheels.
        treads: Kinds of outer sides of shoes, in turn along the chain.
        shoe_contact: Law of every contact point of the treads.
        hinges: Bushing of each shoe, and the last one's pin, in (x, z) (n + 1, 2) [m].
        initial_sprocket_angle: Angle of the driven wheel at which the joints around it are seated [rad].
        max_contact_force: Largest force expected at any contact of a wheel, for the bound on sub-steps [N].
        pretension: Tension of the runs at rest that the tensioner is laid out for [N].
        remarks: Shortcomings of the chain that its user should know, as sentences.
        parent_link_names: Names of the wheels' parent links besides the first, which is the track's.
    """

    name: str
    chain: Chain
    running_gear: RunningGear
    treads: tuple[Tread, ...]
    shoe_contact: ContactParameters
    hinges: NDArray[np.float64]
    initial_sprocket_angle: float
    max_contact_force: float
    pretension: float
    remarks: tuple[str, ...] = ()
    parent_link_names: tuple[str, ...] = ()

    @property
    def kinds(self) -> NDArray[np.intp]:
        """Index of each shoe's tread (n,)."""
        return np.arange(self.chain.count) % len(self.treads)

    @cached_property
    def pitch_radius(self) -> float:
        """Belt travel per angle of the driven wheel [m/rad]."""
        wheels, sprocket = self.running_gear, self.running_gear.sprocket
        if sprocket is not None:
            return sprocket.count * self.chain.shoe.pitch / (2 * math.pi)
        # The pins of shoes that lie flat on a drum; what a pin moves by is a chord.
        drum = wheels.wheels[wheels.driven]
        inner = min(radius for _, radius in drum.profile) + wheels.rail.inset
        half = self.chain.shoe.pitch / 2
        return half / math.atan(half / inner)

    @cached_property
    def longest_upper_span(self) -> float:
        """Longest run of the chain's upper side that hangs from one wheel to the next [m]."""
        ends = np.stack([self.hinges[:-1], self.hinges[1:]])
        along = ends[1] - ends[0]
        near = np.empty((len(self.running_gear.wheels), len(along)))
        for w, wheel in enumerate(self.running_gear.wheels):
            center = np.array([wheel.x, wheel.z])
            share = np.sum((center - ends[0]) * along, axis=1) / np.sum(along**2, axis=1)
            nearest = ends[0] + share.clip(0, 1)[:, None] * along
            gap = np.linalg.norm(center - nearest, axis=1) - min(radius for _, radius in wheel.profile)
            near[w] = gap - self.running_gear.rail.inset
        touched = near.min(axis=0) < _TOUCHING * self.chain.shoe.pitch
        upper = along[:, 0] > np.abs(along[:, 1])  # Shoes run forward there.
        wheels, spans = near.argmin(axis=0), [0.0]
        on = np.flatnonzero(touched & upper)
        for i, j in pairwise(on.tolist()):
            one, other = (self.running_gear.wheels[wheels[k]] for k in (i, j))
            if upper[i : j + 1].all():
                spans.append(math.dist((one.x, one.z), (other.x, other.z)))
        return max(spans)

    @cached_property
    def max_sub_step(self) -> float:
        """The largest sub-step at which shoes, wheels and tensioners are stable [s]; see `stability`."""
        joints = joint_bounds(self.chain)
        low, high = 0.0, max_stable_sub_step(self._masses, *joints)
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if self._bears(middle, joints) else (low, middle)
        return MARGIN * low

    @property
    def _masses(self) -> NDArray[np.float64]:
        """Mass and moments of inertia of a shoe (6,)."""
        shoe = self.chain.shoe
        return np.array([shoe.mass] * 3 + list(shoe.inertia))

    def _bears(self, sub_step: float, joints: tuple[NDArray[np.float64], NDArray[np.float64]]) -> bool:
        """Return whether a sub-step [s] is stable, given the bounds of the joints."""
        gear, shoe, force = self.running_gear, self.chain.shoe, self.max_contact_force
        splits = contact_splits(gear, shoe, force, sub_step)
        if math.isinf(splits.around):
            return False
        rolling = zip(*rolling_bounds(gear, shoe, force, splits), strict=True)
        grounds = [ground_bounds(tread, self.shoe_contact) for tread in self.treads]
        return all(
            is_stable(sub_step, self._masses, joints[0] + k + ground[0], joints[1] + c + ground[1])
            for k, c in rolling
            for ground in grounds
        )
