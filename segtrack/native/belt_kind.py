"""A vehicle with belts that are one travel each, laid out for kernels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from segtrack.compliant.belt import BeltDesign
from segtrack.description import VehicleDescription
from segtrack.description.compliant_layout import belt_designs
from segtrack.description.placement import Links, vehicle_links
from segtrack.native.joint_arrays import OFFSET, RATIO
from segtrack.native.layout import vehicle_arrays
from segtrack.native.vehicles import VehicleArrays


@dataclass(frozen=True, eq=False)
class BeltKind:
    """A kind of vehicle whose belts are one travel each.

    Attributes:
        description: Its description.
        links: Its links at rest.
        belts: Its belts, in the order of its tracks.
        arrays: Arrays that kernels read.
    """

    description: VehicleDescription
    links: Links
    belts: tuple[BeltDesign, ...]
    arrays: VehicleArrays

    @cached_property
    def initial_positions(self) -> NDArray[np.float64]:
        """Positions of the joints at the start, flippers at 0 (J,) [rad or m]."""
        vehicle, joints = self.description, self.arrays.tree.joints
        own = [joint.initial_position for joint in vehicle.joint_tree.joints]
        start = np.array([0.0] * len(vehicle.flippers) + own)
        following = np.flatnonzero(joints.leaders >= 0)
        ratio, offset = joints.settings[following][:, [RATIO, OFFSET]].T
        start[following] = offset + ratio * start[joints.leaders[following]]
        return start

    @cached_property
    def reflected_mass(self) -> float:
        """Mass that the drives of the body's own tracks reflect [kg]."""
        tracks = zip(self.description.mounted_tracks(), self.links.track_links, strict=True)
        return sum(track.spec.drive.reflected_mass for track, link in tracks if link == 0)

    @classmethod
    def of(cls, description: VehicleDescription, track_model: str) -> BeltKind:
        """Lay a vehicle out.

        Args:
            description: Vehicle to build.
            track_model: `compliant` or `surface`.
        """
        links = vehicle_links(description)
        belts = belt_designs(description, links.mass, track_model == "surface")
        return cls(description, links, belts, vehicle_arrays(description, links, belts))
