"""What a chain's layout starts from: a track's description, and the numbers that it leaves open."""

from __future__ import annotations

import math
from dataclasses import dataclass

from segtrack.description.chain import ChainSpec
from segtrack.description.track import TrackSpec
from segtrack.geometry.path import Arc

LATERAL_CLEARANCE = 0.02
"""Lateral play between rails and flanges, and between shoes and teeth, per width."""
_PITCH = 0.04
"""Pitch of the shoes of a belt without grousers, about, and at most half its smallest radius [m]."""
_PRETENSION_RATIO = 0.2
"""Pretension per stall force of the drive."""
RAIL_POSITION = 0.4
"""Lateral position of a shoe's two rails, per width."""
_BUSHING_RADIUS = 0.15
"""Radius of a bushing, per pitch."""


@dataclass(frozen=True)
class ChainLayout:
    """A track on its way to a chain; lengths [m], in the track frame.

    Attributes:
        name: Name of the track, for messages.
        spec: The track.
        chain: Its chain as described.
    """

    name: str
    spec: TrackSpec
    chain: ChainSpec

    @property
    def count(self) -> int:
        """Number of shoes."""
        if self.chain.shoes.count is not None:
            return self.chain.shoes.count
        grousers = self.spec.grousers
        if grousers is not None:
            return grousers.count
        arcs = [s.radius for s in self.spec.belt_path.segments if isinstance(s, Arc)]
        return round(self.spec.belt_path.perimeter / min(_PITCH, min(arcs) / 2))

    @property
    def thickness(self) -> float:
        """Thickness of the shoes' plates [m]."""
        return self.chain.shoes.thickness or self.spec.belt.thickness

    @property
    def rail_stations(self) -> tuple[float, float]:
        """Lateral positions of the shoes' rails [m]."""
        return -RAIL_POSITION * self.spec.width, RAIL_POSITION * self.spec.width

    @property
    def pretension(self) -> float:
        """Tension that the tensioner would give the chain with the idler where it is drawn [N]."""
        return self.chain.tensioner.pretension or _PRETENSION_RATIO * self.spec.drive.stall_force

    @property
    def parent_link_names(self) -> tuple[str, ...]:
        """Names of the wheels' parent links besides the track's own."""
        links = (wheel.link for wheel in self.chain.road_wheels or ())
        return tuple(dict.fromkeys(link for link in links if link is not None))

    def bushing_radius(self, pitch: float) -> float:
        """Radius of the cylinder that teeth touch [m]."""
        return self.chain.bushing.radius or _BUSHING_RADIUS * pitch


def damping_of(ratio: float, stiffness: float, mass: float) -> float:
    """Damping of a mass on a spring, given its ratio to the critical one [N s/m]."""
    return 2 * ratio * math.sqrt(stiffness * mass)
