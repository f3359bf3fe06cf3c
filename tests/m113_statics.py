"""Statics of an M113 on flat ground: body, ten sprung arms, and pull of its tracks, after Koerner 2024."""

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import root

GRAVITY = 9.81
ARM, STIFFNESS, FREE = 0.3175, 9557.0, math.radians(43.0)  # Table 3.8
PIVOTS, PIVOT_HEIGHT = np.array([-0.3969, -1.0636, -1.7304, -2.3971, -3.0639]), -0.0873  # Table 3.7
SHIFTS, SIDE = (0.0, -0.1016), (1.0795, -1.0795)
HULL, CENTER = 7804.0, (-1.98, 0.48)  # Table 3.1
SPROCKET, IDLER = 66.21, 38.2 + 10.0  # Tables 3.2, 3.3, 3.11
ARM_MASS, WHEEL_MASS, WHEEL = 29.32, 74.10, 0.305  # Tables 3.4, 3.5
SHOE, PITCH, HALF = 8.55, 0.154, 0.03  # Table 3.6; pins in the middle of a shoe
PITCH_RADIUS, IDLER_RADIUS, IDLER_HEIGHT = PITCH / 2 / math.sin(math.pi / 10), 0.219 + HALF, -0.12
WEIGHT = SHOE * GRAVITY / PITCH


class Rest(NamedTuple):
    """Where it stands, and what its wheels bear.

    Attributes:
        height: Of the sprockets' axle midway between them [m].
        pitch: Nose down [rad].
        arms: Angles below the body's horizontal, left and right (2, 5) [rad].
        loads: Loads of the ground by each wheel, without the weight of shoes that lie there (2, 5) [N].
    """

    height: float
    pitch: float
    arms: np.ndarray
    loads: np.ndarray


def span(first, first_radius, second, second_radius):
    """Rise of the line under two circles from the first to the second [rad], and its length [m]."""
    (x, z), distance = np.subtract(second, first), math.dist(first, second)
    return math.atan2(z, x) - math.asin((second_radius - first_radius) / distance), math.sqrt(
        distance**2 - (second_radius - first_radius) ** 2
    )


def at_rest(tensions, idlers, hubs):
    """Rest, given heights of hubs (2, 5) [m] and tensions of front, upper and rear runs (2, 3) [N].

    A run hangs with half of its weight on either end; wheels turn freely, so that its tension goes on under
    the wheel where it ends; beyond that it has no vertical part.
    """

    def unbalanced(unknown):
        height, pitch, roll = unknown[:3]
        force, moment, tilt = -HULL * GRAVITY, HULL * GRAVITY * (CENTER[0] + CENTER[1] * pitch), 0.0
        errors = []
        for arms, load, hub, shift, side, idler, (front, upper, rear) in zip(
            unknown[3:13].reshape(2, 5),
            1e4 * unknown[13:].reshape(2, 5),
            hubs,
            SHIFTS,
            SIDE,
            idlers,
            tensions,
            strict=True,
        ):
            x, z = PIVOTS + shift - ARM * np.cos(arms), PIVOT_HEIGHT - ARM * np.sin(arms)
            errors.append(1e3 * (hub - (height - pitch * x + z + side * roll)))
            rise, length = span((x[0], z[0]), WHEEL + HALF, (0.0, 0.0), PITCH_RADIUS)
            rise_behind, length_behind = span(
                (-x[4], z[4]), WHEEL + HALF, (-idler, IDLER_HEIGHT), IDLER_RADIUS
            )
            up, back = load.copy(), np.zeros(5)
            for i, tension, turn, own in (
                (0, front, rise - pitch, length),
                (4, rear, rise_behind + pitch, length_behind),
            ):
                up[i] += tension * math.sin(turn) - WEIGHT * (own / 2 + (WHEEL + HALF) * turn)
                back[i] = (1 if i == 0 else -1) * tension * (1 - math.cos(turn))
            lever, below = ARM * np.cos(arms - pitch), ARM * np.sin(arms - pitch)
            carried = lever * (up - (WHEEL_MASS + ARM_MASS / 2) * GRAVITY) + below * back
            errors.append((STIFFNESS * (FREE - arms) - carried) / 1e3)
            borne = up - (WHEEL_MASS + ARM_MASS) * GRAVITY
            arm_middle = PIVOTS + shift - ARM / 2 * np.cos(arms)
            moment += np.sum(-x * up - z * back + (x * WHEEL_MASS + arm_middle * ARM_MASS) * GRAVITY)
            top, end = np.array([0.0, PITCH_RADIUS]), np.array([idler, IDLER_HEIGHT + IDLER_RADIUS])
            over = math.dist(top, end)
            ahead = np.array([math.cos(rise), math.sin(rise)])
            back_up = np.array([math.cos(rise_behind), -math.sin(rise_behind)])
            idler_low = (idler, IDLER_HEIGHT) - IDLER_RADIUS * np.array([-back_up[1], back_up[0]])
            ends = (
                (PITCH_RADIUS * np.array([ahead[1], -ahead[0]]), -front * ahead, length),
                (idler_low, rear * back_up, length_behind),
                (top, upper * (end - top) / over, over + math.pi * PITCH_RADIUS),
                (end, upper * (top - end) / over, over + math.pi * IDLER_RADIUS),
            )
            pulls = sum(borne)
            for place, pull, hanging in ends:
                down = pull[1] - WEIGHT * hanging / 2
                pulls += down
                moment += place[1] * pull[0] - place[0] * down
            pulls -= (SPROCKET + IDLER) * GRAVITY
            moment += idler * IDLER * GRAVITY
            force, tilt = force + pulls, tilt + side * pulls
        return np.concatenate([*errors, [force / 1e4, moment / 1e4, tilt / 1e4]])

    start = np.r_[0.565, 0.0, 0.0, np.full(10, math.radians(27.0)), np.full(10, 1.0)]
    unknown = root(unbalanced, start, method="lm").x
    assert np.abs(unbalanced(unknown)).max() < 1e-9
    return Rest(unknown[0], unknown[1], unknown[3:13].reshape(2, 5), 1e4 * unknown[13:].reshape(2, 5))
