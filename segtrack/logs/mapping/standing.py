"""Pitch at which a vehicle stands on level ground, by its side view."""

from __future__ import annotations

import math

import numpy as np
from scipy.spatial import ConvexHull

from segtrack.description import VehicleDescription, belt_corners, body_points, place_tracks, vehicle_links


def standing_pitch(vehicle: VehicleDescription, flippers: tuple[tuple[str, float], ...]) -> float:
    """Pitch at which a vehicle stands on level ground by its belts and body, nose up [rad].

    It stands on the lowest edge of its side view below its centre of mass.

    Args:
        vehicle: Vehicle.
        flippers: Flippers with their angles [rad]; the others are at 0.
    """
    angles = dict(flippers)
    placed = place_tracks(vehicle, angles)
    points = np.concatenate([body_points(vehicle), *map(belt_corners, placed)])[:, [0, 2]]
    points = points[ConvexHull(points).vertices]
    center = vehicle_links(vehicle).center_of_mass([angles.get(name, 0.0) for name in vehicle.flippers])
    behind, ahead = points[points[:, 0] < center[0]], points[points[:, 0] >= center[0]]
    # The edge: the line below all points, through one on either side of the centre of mass.
    rises = np.subtract.outer(ahead[:, 1], behind[:, 1])
    slopes = rises / np.subtract.outer(ahead[:, 0], behind[:, 0])
    at_center = behind[:, 1] + slopes * (center[0] - behind[:, 0])
    return -math.atan(float(slopes.ravel()[int(np.argmin(at_center))]))
