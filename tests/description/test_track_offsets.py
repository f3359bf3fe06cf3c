"""Belt speeds and twists of a vehicle whose tracks are not in the body frame's middle."""

import pytest

from segtrack.description import TrackOffsets


@pytest.mark.parametrize("offsets", [(0.2, -0.2), (0.3, -0.1), (-0.1, -0.4)])
@pytest.mark.parametrize("linear, angular", [(0.5, 0.0), (0.0, 1.0), (-0.3, 0.7)])
def test_a_twist_of_belt_speeds_is_the_twist_that_they_were_made_of(offsets, linear, angular):
    places = TrackOffsets(*offsets)
    left, right = places.belt_speeds(linear, angular)
    # A point to the left goes back as the body turns to the left.
    assert (left, right) == pytest.approx((linear - angular * offsets[0], linear - angular * offsets[1]))
    assert places.twist(left, right) == pytest.approx((linear, angular))
