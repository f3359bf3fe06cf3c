"""Settings of events that Koerner 2024 leaves open, with defaults, in one place."""

from __future__ import annotations

from dataclasses import dataclass

from segtrack.errors import InvalidValueError, finite

_MAY_BE_0 = ("run_up", "rest", "step_rest", "step_clearance", "past", "heading_gain", "offset_gain")


@dataclass(frozen=True)
class Assumptions:
    """Settings of events, with the paper's values where it gives them.

    Attributes:
        peak_limit: Largest vertical acceleration at the driver's place over gravity (4.2.1) [-].
        power_limit: Largest absorbed power [W], from NG-NRMM (not in the paper).
        low_pass: Cut-off frequency of filtered peaks [Hz]; the paper takes unfiltered ones.
        run_up: Time before the obstacle at the event's speed (4.2.1) [s].
        rest: Time at rest before driving [s].
        step_rest: Time at rest before a step (4.2.2) [s].
        step_clearance: Distance from the step at the start; "as close as possible" in the paper [m].
        time_limit: Time from the start to pass an obstacle (4.2.2, for steps) [s]; longer if the path takes
            longer at the event's speed.
        patience: Multiple of the path's duration at the event's speed, after which the event is given up [-].
        stall_time: Time without progress after which a vehicle is stuck [s].
        past: Time driven on behind the obstacle, in which the vehicle lands [s].
        gap_speed: Speed at a gap (4.2.3) [m/s].
        trapezoid_speed: Speed at trapezoids; not in the paper [m/s].
        contact_distance: Clearance below which a hull counts as touching the ground [m].
        heading_gain: Difference of belt speeds over their mean, per heading off the line [1/rad]; the
            paper does not give its driver's gains.
        offset_gain: Difference of belt speeds over their mean, per distance from the line [1/m].
    """

    peak_limit: float = 2.5
    power_limit: float = 6.0
    low_pass: float = 30.0
    run_up: float = 3.0
    rest: float = 0.5
    step_rest: float = 2.0
    step_clearance: float = 0.05
    time_limit: float = 20.0
    patience: float = 3.0
    stall_time: float = 5.0
    past: float = 1.0
    gap_speed: float = 0.36
    trapezoid_speed: float = 1.0
    contact_distance: float = 0.001
    heading_gain: float = 1.0
    offset_gain: float = 0.5

    def __post_init__(self) -> None:
        """Refuse numbers outside of their physical range.

        Raises:
            InvalidValueError: One is not finite, or below its least.
        """
        for name, value in vars(self).items():
            if finite(name, value) < 0:
                raise InvalidValueError(name, "at least 0", value)
            if value == 0 and name not in _MAY_BE_0:
                raise InvalidValueError(name, "above 0", value)
