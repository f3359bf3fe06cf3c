"""A vehicle with belts that are one travel each, laid out for kernels."""

from __future__ import annotations

from dataclasses import dataclass

from segtrack.compliant.belt import BeltDesign
from segtrack.description import VehicleDescription
from segtrack.description.compliant_layout import belt_designs
from segtrack.description.placement import Links, vehicle_links
from segtrack.errors import InvalidValueError
from segtrack.native.layout import vehicle_arrays
from segtrack.native.vehicles import VehicleArrays

MAX_TIME_STEP = 0.01
"""Longest step, for what moves within one: contacts are found once a step [s]."""


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

    @classmethod
    def of(cls, description: VehicleDescription, track_model: str, time_step: float) -> BeltKind:
        """Lay a vehicle out.

        Args:
            description: Vehicle to build.
            track_model: `compliant` or `surface`.
            time_step: Step of the simulation [s].

        Raises:
            InvalidValueError: The time step is longer than `MAX_TIME_STEP`.
        """
        if time_step > MAX_TIME_STEP:
            raise InvalidValueError("time_step [s]", f"at most {MAX_TIME_STEP:g}", time_step)
        links = vehicle_links(description)
        belts = belt_designs(description, links.mass, track_model == "surface")
        return cls(description, links, belts, vehicle_arrays(description, links, belts))
