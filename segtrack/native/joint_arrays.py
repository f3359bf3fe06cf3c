"""Servos, springs, dampers, friction and buffers of a vehicle's joints, laid out for kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.description import Links, VehicleDescription
from segtrack.description.joints import SERVO_RATE, JointDesign, joint_inertias

NO_SERVO, STIFF_SERVO, GIVING_SERVO = 0.0, 1.0, 2.0
"""Kinds of servos: none, one as stiff as its force allows, one with gains like a spring and a damper."""
KIND, RATE, STIFFNESS, DAMPING, FRICTION, RATIO, OFFSET, INERTIA, CARRIES, LOWER, UPPER = (*range(10), 12)
"""Columns of `JointArrays.settings`; position, stiffness and damping of a buffer are three."""
SPRING, DAMPER = 0, 1
"""Curves of a joint."""
_COLUMNS = 15


class JointArrays(NamedTuple):
    """Properties of J joints besides their geometry.

    Attributes:
        settings: Kind of servo, its rate [1/s], its gains, dry friction, ratio and offset to the joint that
            is followed, inertia that a force at it feels, 1 where its link carries what touches the ground,
            lower and upper buffer (J, 15).
        leaders: Joint that each one follows; -1 for one of its own (J,).
        curves: Force of the spring over position, and resisting force of the damper over speed (J, 2, n, 2).
        counts: Numbers of points of these curves; 0 where there is none (J, 2).
    """

    settings: NDArray[np.float64]
    leaders: NDArray[np.intp]
    curves: NDArray[np.float64]
    counts: NDArray[np.intp]


def joint_arrays(vehicle: VehicleDescription, links: Links) -> JointArrays:
    """Lay out flippers, then the joints of the body's URDF that move.

    Args:
        vehicle: The vehicle.
        links: Links of it.
    """
    flippers, joints = len(vehicle.flippers), vehicle.joint_tree.joints
    count = flippers + len(joints)
    settings, leaders = np.zeros((count, _COLUMNS)), np.full(count, -1, dtype=np.intp)
    settings[:flippers, KIND], settings[:flippers, RATE] = STIFF_SERVO, SERVO_RATE
    if joints:
        settings[:, INERTIA] = joint_inertias(links, vehicle.body.fixed)
    for link in links.track_links:
        if link > 0:
            settings[link - 1, CARRIES] = 1.0
    curves = [(joint.spring, joint.damper) for joint in joints]
    rows = max((len(curve.points) for pair in curves for curve in pair if curve is not None), default=1)
    points, counts = np.zeros((count, 2, rows, 2)), np.zeros((count, 2), dtype=np.intp)
    names = [joint.name for joint in joints]
    for j, joint in enumerate(joints, start=flippers):
        _fill(settings[j], joint)
        for k, curve in enumerate((joint.spring, joint.damper)):
            if curve is not None:
                counts[j, k] = len(curve.points)
                points[j, k, : len(curve.points)] = curve.points
        if joint.mimicry is not None:
            leaders[j] = flippers + names.index(joint.mimicry.leader)
            # Dry friction acts on the joint that is followed.
            settings[leaders[j], FRICTION] += abs(joint.mimicry.multiplier) * joint.friction
    return JointArrays(settings, leaders, points, counts)


def _fill(row: NDArray[np.float64], joint: JointDesign) -> None:
    servo = joint.servo
    if servo is not None:
        row[KIND] = GIVING_SERVO if servo.stiffness > 0 else STIFF_SERVO
        row[RATE], row[STIFFNESS], row[DAMPING] = servo.rate, servo.stiffness, servo.damping
    if joint.mimicry is not None:
        row[RATIO], row[OFFSET] = joint.mimicry.multiplier, joint.mimicry.offset
    else:
        row[FRICTION] += joint.friction
    for first, stop in zip((LOWER, UPPER), joint.stops, strict=True):
        if stop is not None:
            row[first : first + 3] = stop.position, stop.stiffness, stop.damping
