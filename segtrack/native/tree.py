"""A vehicle as a tree: a body, and links that turn about axes of it (flippers, arms).

Frames. The root's frame is the body frame. A joint's frame is fixed in the root; its link's frame is
that, turned about the joint's axis by the joint's angle.

Velocities are those of the root's centre of mass and of the joints. A joint is a servo: implicit, with
a limited torque, held at the speed that it aims at as long as that torque does.

Each belt adds one velocity, that of its travel, with the mass that moves with it. Its angular
momentum about the axle couples it to the link that carries it. Its drive is a servo too.

`kinematics` places the links and moves them, `dynamics` finds how their velocities change.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class TreeArrays(NamedTuple):
    """L links, of which the first is the root, J = L - 1 joints of the root, and T belts.

    Attributes:
        fixed: Whether the root is bolted to the world.
        masses: Of the links, belts at rest included (L,) [kg].
        centers: Centres of mass in the link frames (L, 3) [m].
        inertias: About the centres of mass, in the link frames (L, 3, 3) [kg m^2].
        joint_origins: In the root's frame (J, 3) [m].
        joint_rotations: From the joints' frames to the root's (J, 3, 3).
        joint_axes: In the joints' frames (J, 3).
        joint_limits: Least and largest angle (J, 2) [rad].
        max_torques: Of the servos (J,) [N m].
        max_speeds: Of the servos (J,) [rad/s].
        belt_links: Link that carries each belt (T,).
        belt_origins: Of the track frames in their links' frames (T, 3) [m].
        belt_rotations: From the track frames to their links' (T, 3, 3).
        belt_masses: That move with each belt (T,) [kg].
        spin_momenta: Angular momentum about the axle per belt speed (T,) [kg m].
    """

    fixed: bool
    masses: NDArray[np.float64]
    centers: NDArray[np.float64]
    inertias: NDArray[np.float64]
    joint_origins: NDArray[np.float64]
    joint_rotations: NDArray[np.float64]
    joint_axes: NDArray[np.float64]
    joint_limits: NDArray[np.float64]
    max_torques: NDArray[np.float64]
    max_speeds: NDArray[np.float64]
    belt_links: NDArray[np.intp]
    belt_origins: NDArray[np.float64]
    belt_rotations: NDArray[np.float64]
    belt_masses: NDArray[np.float64]
    spin_momenta: NDArray[np.float64]


class TreeWork(NamedTuple):
    """Room for the stages of a step of one vehicle.

    Attributes:
        rotations: From the links' frames to the world (L, 3, 3).
        centers: Centres of mass in the world (L, 3) [m].
        velocities: Of the centres of mass (L, 3) [m/s].
        angular_velocities: Of the links in the world (L, 3) [rad/s].
        axes: Of the joints in the world (J, 3).
        levers: From each joint to its link's centre of mass, in the world (J, 3) [m].
        forces: On the links in the world (L, 3) [N].
        torques: On the links about their centres of mass, in the world (L, 3) [N m].
        inertias: As the links' turning feels them, in the world (L, 3, 3) [kg m^2].
        spin_accelerations: Of the links, where no velocity changes, in the world (L, 3) [rad/s^2].
        belt_origins: Of the track frames in the world (T, 3) [m].
        belt_rotations: From the track frames to the world (T, 3, 3).
        pulls: Of the ground on the belts along their travel (T,) [N].
        grips: Mass that contacts of belts add for being taken implicitly (T,) [kg].
        drive_forces: Of drives at their limit (T,) [N].
        following: 1 for belts whose speed follows the target (T,).
        modes: Of the joints, `FREE`, `HELD` or `STOPPED` (J,).
        speed_changes: Of the joints in the step (J,) [rad/s].
        columns: Of the mass matrix, root by joint (J, 6).
        pivots: Of the mass matrix, joint by joint (J,).
        impulses: On the joints without their servos (J,) [N m s].
        matrix: Of the root (6, 6), and a copy that is factorised (2, 6, 6).
        rates: Right side, and the root's velocity changes (2, 6).
    """

    rotations: NDArray[np.float64]
    centers: NDArray[np.float64]
    velocities: NDArray[np.float64]
    angular_velocities: NDArray[np.float64]
    axes: NDArray[np.float64]
    levers: NDArray[np.float64]
    forces: NDArray[np.float64]
    torques: NDArray[np.float64]
    inertias: NDArray[np.float64]
    spin_accelerations: NDArray[np.float64]
    belt_origins: NDArray[np.float64]
    belt_rotations: NDArray[np.float64]
    pulls: NDArray[np.float64]
    grips: NDArray[np.float64]
    drive_forces: NDArray[np.float64]
    following: NDArray[np.float64]
    modes: NDArray[np.float64]
    speed_changes: NDArray[np.float64]
    columns: NDArray[np.float64]
    pivots: NDArray[np.float64]
    impulses: NDArray[np.float64]
    matrix: NDArray[np.float64]
    rates: NDArray[np.float64]


def allocate_tree_work(links: int, belts: int) -> TreeWork:
    """Return room for a vehicle of so many links and belts."""
    joints = links - 1
    return TreeWork(
        rotations=np.zeros((links, 3, 3)),
        centers=np.zeros((links, 3)),
        velocities=np.zeros((links, 3)),
        angular_velocities=np.zeros((links, 3)),
        axes=np.zeros((joints, 3)),
        levers=np.zeros((joints, 3)),
        forces=np.zeros((links, 3)),
        torques=np.zeros((links, 3)),
        inertias=np.zeros((links, 3, 3)),
        spin_accelerations=np.zeros((links, 3)),
        belt_origins=np.zeros((belts, 3)),
        belt_rotations=np.zeros((belts, 3, 3)),
        pulls=np.zeros(belts),
        grips=np.zeros(belts),
        drive_forces=np.zeros(belts),
        following=np.zeros(belts),
        modes=np.zeros(joints),
        speed_changes=np.zeros(joints),
        columns=np.zeros((joints, 6)),
        pivots=np.zeros(joints),
        impulses=np.zeros(joints),
        matrix=np.zeros((2, 6, 6)),
        rates=np.zeros((2, 6)),
    )
