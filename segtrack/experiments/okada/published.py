"""What Okada et al. 2020 published, to stand beside our own numbers.

Table II: flat ground, 0.3 m/s, 1 ms steps, averaged over 10 s; Gazebo 7.16 with ODE on an
i7-6500U. Table IV: 0.1 m/s, friction coefficient 0.6 on ground and step.
"""

from __future__ import annotations

from dataclasses import dataclass

TABLE_2_REAL_TIME_FACTOR = {
    "segments": 2.79,
    "smooth": 3.96,
    "wheels_4": 4.86,
    "wheels_13": 1.79,
    "surface": 5.93,
}
"""Real-time factor by track model; `surface` is the constraint to the ground, which the authors estimated.
The multiple-plate method was not measured."""

TABLE_2_RATIOS = {
    "segments_over_wheels_13": 1.56,
    "segments_over_wheels_4": 0.57,
    "smooth_over_wheels_4": 0.81,
}
"""The same table as ratios, which travel between machines."""

TABLE_2_SPEED = 0.3
"""[m/s]"""
TABLE_4_SPEED = 0.1
"""[m/s]"""
TABLE_4_FRICTION = 0.6


@dataclass(frozen=True)
class PublishedClimb:
    """A line of Table IV.

    Attributes:
        front_sub_track_deg: Angle of the front sub-tracks [deg].
        step: Height of the step [m].
        real: Whether the physical robot climbed it.
        simulation: Whether the authors' simulation did.
    """

    front_sub_track_deg: float
    step: float
    real: bool
    simulation: bool


TABLE_4 = (
    PublishedClimb(0.0, 0.040, real=True, simulation=True),
    PublishedClimb(0.0, 0.120, real=True, simulation=True),
    PublishedClimb(0.0, 0.190, real=False, simulation=False),
    PublishedClimb(45.0, 0.120, real=True, simulation=True),
    PublishedClimb(45.0, 0.240, real=True, simulation=True),
    PublishedClimb(45.0, 0.380, real=False, simulation=False),
)
