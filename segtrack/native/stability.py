"""The longest step at which a native vehicle's contacts are integrated stably.

It is looked at for the vehicle as one rigid body on its belts, for each flipper that its servo no longer
holds (`description.belt_stability`), and for the body that lies on its belly.
"""

from __future__ import annotations

from segtrack.compliant.belt import BeltDesign
from segtrack.description.belt_stability import longest_step_on, longest_steps
from segtrack.description.links import Links
from segtrack.native.step import VehicleArrays


def longest_step(vehicle: VehicleArrays, links: Links, belts: tuple[BeltDesign, ...]) -> float:
    """Return the longest step that is allowed for a vehicle [s].

    Args:
        vehicle: The vehicle as kernels read it.
        links: Its links.
        belts: Its belts.
    """
    longest = min(longest_steps(links, belts, vehicle.tree.fixed))
    hull = vehicle.hull.points
    if vehicle.tree.fixed or not len(hull):
        return longest
    belly = hull[hull[:, 2] <= hull[:, 2].min() + 1e-9]
    return min(longest, longest_step_on(links, belly, vehicle.hull.law))
