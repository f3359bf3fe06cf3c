"""Belt speeds and twist of a vehicle whose belts do not slip."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Values = TypeVar("Values", float, NDArray[np.float64])


class TrackOffsets(NamedTuple):
    """Lateral places of a vehicle's left and right tracks in its body frame, y to the left.

    Attributes:
        left: Mean y of the left tracks [m].
        right: Mean y of the right tracks [m], less than that of the left ones.
    """

    left: float
    right: float

    @classmethod
    def centred(cls, gauge: float) -> TrackOffsets:
        """Places of tracks at a gauge [m], the body frame in their middle."""
        return cls(gauge / 2, -gauge / 2)

    @property
    def gauge(self) -> float:
        """Distance between the planes of the left and right tracks [m]."""
        return self.left - self.right

    def belt_speeds(self, linear: Values, angular: Values) -> tuple[Values, Values]:
        """Speeds of the left and the right belts [m/s] that make a twist without slip.

        Args:
            linear: Speed of the body frame's origin, forward [m/s].
            angular: Yaw rate, left positive [rad/s].
        """
        return linear - angular * self.left, linear - angular * self.right

    def twist(self, left: Values, right: Values) -> tuple[Values, Values]:
        """Twist that belts make without slip, the inverse of `belt_speeds`.

        Args:
            left: Speed of the left belts [m/s].
            right: Speed of the right belts [m/s].

        Returns:
            Speed of the body frame's origin, forward [m/s], and yaw rate, left positive [rad/s].
        """
        angular = (right - left) / self.gauge
        return (left + right) / 2 + angular * ((self.left + self.right) / 2), angular
