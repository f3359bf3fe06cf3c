"""Under what varied conditions policies are trained and compared."""

from __future__ import annotations

from typing import Any

from segtrack.description import VehicleDescription


def spread(vehicle: VehicleDescription) -> dict[str, Any]:
    """Ranges of parameters that make one episode differ from another.

    The start 0.1 m and 0.15 rad off, and the friction of the vehicle's tracks 0.1 higher or lower.
    """
    friction = next(iter(vehicle.mounted_tracks())).spec.contact.friction
    return {
        "initial_x": (-0.1, 0.1),
        "initial_y": (-0.1, 0.1),
        "initial_yaw": (-0.15, 0.15),
        "friction": (max(friction - 0.1, 0.0), friction + 0.1),
    }
