"""A vehicle with belts that are one travel each, laid out for kernels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from segtrack.compliant import BeltDesign
from segtrack.description import Links, VehicleDescription, belt_designs, vehicle_links
from segtrack.geometry import MassProperties, rotated, rotations_of
from segtrack.kernels import cross, rounded
from segtrack.native.joint_arrays import OFFSET, RATIO
from segtrack.native.layout import vehicle_arrays
from segtrack.native.tree import VehicleState
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

    @cached_property
    def _masses(self) -> NDArray[np.float64]:
        """Mass, centre and inertia of each link, and room for one number (L, 14), not rounded for kernels."""
        return np.array([[*_row(link), 0.0] for link in self.links.masses])

    def weigh_body(
        self,
        own: tuple[NDArray[np.float64], ...],
        state: VehicleState,
        i: int,
        mass: float | None,
        center: NDArray[np.float64] | None,
        inertia: NDArray[np.float64] | None,
    ) -> None:
        """Give the body of one of N vehicles other mass properties; what is not given is its file's.

        Its frame stays where it is and moves as before; contacts keep the stiffness of the file.

        Args:
            own: Masses, centres and inertias of N vehicles of this kind, see `TreeArrays`, and their reaches,
                see `VehicleArrays`, which are changed.
            state: States of them.
            i: Index of the vehicle.
            mass: Mass without belts [kg].
            center: Centre of mass without belts, in the body frame (3,) [m].
            inertia: About this centre, without belts (3, 3) [kg m^2]; if not given, as the mass.
        """
        body, table = self.links.body, self._masses.copy()
        weight, middle = body.mass if mass is None else mass, body.center if center is None else center
        tensor = body.inertia * (weight / body.mass) if inertia is None else inertia
        with_belts = MassProperties.of(weight, middle, tensor) + (self.links.masses[0] - body)
        moved = float(np.linalg.norm(with_belts.center - self.links.masses[0].center))
        table[0] = *_row(with_belts), self.arrays.reaches[0] + moved
        row, (masses, centers, inertias, reaches) = rounded(table)[0], own
        shift = rotated(rotations_of(state.orientation[i : i + 1]), row[None, 1:4] - centers[i, :1])[0]
        state.position[i] += shift
        state.velocity[i] += cross(tuple(state.angular_velocity[i].tolist()), tuple(shift.tolist()))
        masses[i, 0], centers[i, 0], inertias[i, 0] = row[0], row[1:4], row[4:13].reshape(3, 3)
        reaches[i] = row[13]

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


def _row(mass: MassProperties) -> list[float]:
    """Mass [kg], centre [m] and inertia about it [kg m^2], thirteen numbers."""
    return [mass.mass, *mass.center.tolist(), *mass.inertia.ravel().tolist()]
