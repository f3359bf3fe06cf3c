"""Longitudinal slip of a belt over the ground, bounded, and smooth where everything comes to rest."""

from __future__ import annotations

REST_SPEED = 0.01
"""Slip fades to 0 as belt and ground become slower than this [m/s]: of two small numbers no ratio is left."""


def longitudinal_slip(belt_speed: float, ground_speed: float) -> float:
    """Slip of a driving belt, positive, or skid of a braking one, negative.

    Wong (Theory of Ground Vehicles, section 1.3) has two ratios, each bounded where it applies: slip
    1 - v_ground / v_belt while the belt is the faster, skid 1 - v_belt / v_ground while the vehicle is.
    Here the skid is given a minus sign, so that one number says which:

        slip = (v_belt - v_ground) / max(|v_belt|, |v_ground|, REST_SPEED), in the direction of the faster,

    cut at -1 and 1. Above `REST_SPEED` it is exactly Wong's. A reversing belt has the slip of its mirror
    image; a belt at rest under a vehicle that slides is -1, a locked belt; a belt that turns against the
    motion of its vehicle is 1 or -1, whichever of the two is faster.

    Args:
        belt_speed: Of the belt relative to its vehicle, forward positive [m/s].
        ground_speed: Of the vehicle over the ground, along the track [m/s].

    Returns:
        Slip in [-1, 1] [-].
    """
    belt, ground = abs(belt_speed), abs(ground_speed)
    faster = belt_speed if belt >= ground else ground_speed
    apart = belt_speed - ground_speed if faster >= 0 else ground_speed - belt_speed
    return min(max(apart / max(belt, ground, REST_SPEED), -1.0), 1.0)
