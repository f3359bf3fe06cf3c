"""Joints of a vehicle in another engine that carry belts: one unknown each in the equations of a sub-step.

The vehicle is one rigid body with its joints locked, and each joint adds to that motion those of the links
that it carries, as one rigid body likewise (`native.dynamics` has the same equations link by link). A joint
has one motor, held at the speed that it aims at as long as that takes no more than its largest force, and
stops at its limits. Joints stay where the engine has them within its step, and their speeds go on.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.ground import (
    FREE,
    HELD,
    STOPPED,
    CompositeBody,
    Equations,
    LinkMasses,
    add_column,
    held_again,
    hold,
    limited_force,
    times_link,
)
from segtrack.kernels import (
    Vector,
    arm,
    compiled,
    cross,
    dot,
    entry,
    offset,
    row,
    scaled,
    sum_of,
    write_rotation,
)

NONE = -1
"""In place of a joint: the root."""


class CarryingJoints(NamedTuple):
    """J joints, each behind those that carry it, and T belts on a vehicle of L links.

    Attributes:
        links: Row of the link that each joint moves (J,).
        slides: True where it slides along its axis, and does not turn (J,).
        own_origins: Points on the axes, from that link's centre of mass, in its principal axes (J, 3) [m].
        own_axes: Axes in that link's principal axes (J, 3).
        parents: Joint before each one, or `NONE` (J,).
        belt_joints: Last joint before each belt, or `NONE` (T,).
        carried: True for the links that each joint carries (J, L).
        limits: Least and largest position (J, 2) [rad or m].
        points: Points on the axes, in the world (J, 3) [m].
        axes: Axes in the world (J, 3).
        masses: Masses of what they carry (J,) [kg].
        centers: Centres of mass of it, in the world (J, 3) [m].
        inertias: Inertia of it about that centre, in the world (J, 3, 3) [kg m^2].
        rotations: Work array for rotations of links (1, 3, 3).
        positions: (J,) [rad or m]
        speeds: (J,) [rad/s or m/s]
        aims: Speeds that the motors aim at (J,) [rad/s or m/s].
        largest_forces: Largest torques or forces of the motors (J,) [N m or N].
        loads: Torques or forces of springs and dampers along the joints (J,) [N m or N].
        forces: Torques or forces of the motors in the sub-step (J,) [N m or N].
    """

    links: NDArray[np.intp]
    slides: NDArray[np.bool_]
    own_origins: NDArray[np.float64]
    own_axes: NDArray[np.float64]
    parents: NDArray[np.intp]
    belt_joints: NDArray[np.intp]
    carried: NDArray[np.bool_]
    limits: NDArray[np.float64]
    points: NDArray[np.float64]
    axes: NDArray[np.float64]
    masses: NDArray[np.float64]
    centers: NDArray[np.float64]
    inertias: NDArray[np.float64]
    rotations: NDArray[np.float64]
    positions: NDArray[np.float64]
    speeds: NDArray[np.float64]
    aims: NDArray[np.float64]
    largest_forces: NDArray[np.float64]
    loads: NDArray[np.float64]
    forces: NDArray[np.float64]


def allocate_joints(joints: int, belts: int, links: int) -> CarryingJoints:
    """Room for J joints of a vehicle."""
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(CarryingJoints._fields, (joints,))
    shapes |= dict.fromkeys(("own_origins", "own_axes", "points", "axes", "centers"), (joints, 3))
    shapes |= {"inertias": (joints, 3, 3), "rotations": (1, 3, 3), "limits": (joints, 2)}
    shapes |= {"belt_joints": (belts,), "carried": (joints, links)}
    kinds: dict[str, Any] = dict.fromkeys(("links", "parents", "belt_joints"), np.intp)
    kinds |= {"slides": np.bool_, "carried": np.bool_}
    room: dict[str, Any] = {
        name: np.zeros(shape, dtype=kinds.get(name, np.float64)) for name, shape in shapes.items()
    }
    return CarryingJoints(**room)


@entry
def place_joints(motions: NDArray[np.float64], masses: LinkMasses, joints: CarryingJoints) -> None:
    """Fill in where joints are and what they carry, with the motions of the links (L, `LINK_STATE`)."""
    turn = joints.rotations
    for j in range(len(joints.links)):
        link, mass, center, inertia = joints.links[j], 0.0, joints.centers[j], joints.inertias[j]
        write_rotation(turn[0], motions[link, 3:7])
        out, along = arm(turn, 0, row(joints.own_origins, j)), arm(turn, 0, row(joints.own_axes, j))
        for k in range(3):
            joints.points[j, k], joints.axes[j, k] = motions[link, k] + out[k], along[k]
            center[k] = 0.0
            for i in range(3):
                inertia[i, k] = 0.0
        for i in range(len(motions)):
            if joints.carried[j, i]:
                mass += masses.masses[i]
                for k in range(3):
                    center[k] += masses.masses[i] * motions[i, k]
        for k in range(3):
            center[k] /= mass
        joints.masses[j] = mass
        for i in range(len(motions)):
            if joints.carried[j, i]:
                write_rotation(turn[0], motions[i, 3:7])
                x, y, z = offset(motions, i, center)
                square, own = x * x + y * y + z * z, masses.masses[i]
                for a in range(3):
                    lever = motions[i, a] - center[a]
                    inertia[a, a] += own * square
                    for b in range(3):
                        inertia[a, b] -= own * lever * (motions[i, b] - center[b])
                        for k in range(3):
                            inertia[a, b] += masses.moments[i, k] * turn[0, a, k] * turn[0, b, k]


@compiled
def joint_motion(joints: CarryingJoints, j: int, place: Vector) -> tuple[Vector, Vector]:
    """Velocity of what a joint carries at a place in the world, and angular velocity, per its speed."""
    along, point = row(joints.axes, j), row(joints.points, j)
    if joints.slides[j]:
        return along, (0.0, 0.0, 0.0)
    return cross(along, (place[0] - point[0], place[1] - point[1], place[2] - point[2])), along


@compiled
def add_joints(
    equations: Equations, joints: CarryingJoints, first: int, vehicle: CompositeBody, sub_step: float
) -> None:
    """Add the masses that joints carry and what acts along joints; belts on them are added apart.

    Args:
        equations: Changed in place.
        joints: The vehicle's.
        first: Unknown of the first joint.
        vehicle: All links as one rigid body.
        sub_step: [s]
    """
    gravity = vehicle.gravity
    for j in range(len(joints.links)):
        center, mass, i = row(joints.centers, j), joints.masses[j], first + j
        velocity, turning = joint_motion(joints, j, center)
        change = scaled(velocity, mass)
        turn = arm(joints.inertias, j, turning)
        add_column(equations, i, offset(joints.centers, j, vehicle.center), change, turn)
        equations.right[i] += sub_step * (joints.loads[j] + dot(change, gravity))
        before = j
        while before != NONE:
            other, other_turning = joint_motion(joints, before, center)
            equations.matrix[i, first + before] += dot(other, change) + dot(other_turning, turn)
            before = joints.parents[before]
        # Where it has come to a limit it aims no farther.
        speed, (low, high) = joints.speeds[j], _room(joints, j, sub_step)
        equations.modes[i], equations.change[i] = FREE, 0.0
        if joints.largest_forces[j] > 0.0:
            hold(equations, i, min(max(joints.aims[j], low), high) - speed)
        joints.forces[j] = 0.0


@compiled
def _room(joints: CarryingJoints, j: int, sub_step: float) -> tuple[float, float]:
    """Least and largest speed at which a joint stays within its limits; it may stand beyond them."""
    low, high = joints.limits[j, 0] - joints.positions[j], joints.limits[j, 1] - joints.positions[j]
    return min(low, 0.0) / sub_step, max(high, 0.0) / sub_step


@compiled
def add_belt_to_joints(
    equations: Equations,
    joints: CarryingJoints,
    first: int,
    belt: int,
    unknown: int,
    place: Vector,
    lever: Vector,
    force: Vector,
    torque: Vector,
    pull: Vector,
    turn: Vector,
) -> None:
    """Add what a belt does to the joints that carry it.

    Args:
        equations: Changed in place; `link_matrix` has what contacts add to the track frame's.
        joints: The vehicle's.
        first: Unknown of the first joint.
        belt: Index of the belt.
        unknown: Unknown of the belt.
        place: Origin of its track frame, in the world [m].
        lever: From the vehicle's centre to it [m].
        force: Impulse on the frame [N s].
        torque: Impulse about its origin [N m s].
        pull: Momentum of the frame per belt speed [kg].
        turn: Angular momentum about the origin per belt speed [kg m].
    """
    j = joints.belt_joints[belt]
    while j != NONE:
        velocity, turning = joint_motion(joints, j, place)
        change, spin = times_link(equations.link_matrix, velocity, turning)
        add_column(equations, first + j, lever, change, spin)
        equations.right[first + j] += dot(velocity, force) + dot(turning, torque)
        equations.matrix[first + j, unknown] += dot(velocity, pull) + dot(turning, turn)
        before = j
        while before != NONE:
            other, other_turning = joint_motion(joints, before, place)
            equations.matrix[first + j, first + before] += dot(other, change) + dot(other_turning, spin)
            before = joints.parents[before]
        j = joints.parents[j]


@compiled
def change_joint_modes(
    equations: Equations, joints: CarryingJoints, first: int, early: bool, sub_step: float
) -> bool:
    """Let motors at their largest force go, and joints that would pass a limit stop; true if any changed.

    Motors hold again, where they have come beyond their aim, in `early` passes alone.
    """
    changed = False
    for j in range(len(joints.links)):
        i, speed, (low, high) = first + j, joints.speeds[j], _room(joints, j, sub_step)
        if equations.modes[i] == HELD:
            joints.forces[j], freed = limited_force(equations, i, joints.largest_forces[j], sub_step)
            changed |= freed
        elif equations.modes[i] == FREE:
            aim = min(max(joints.aims[j], low), high) - speed
            if early and held_again(equations, i, joints.forces[j], aim, sub_step):
                changed = True
            elif not low - 1e-9 <= speed + equations.change[i] <= high + 1e-9:
                equations.modes[i] = STOPPED
                equations.change[i] = (low if speed + equations.change[i] < low else high) - speed
                changed = True
    return changed


@compiled
def frame_change(
    equations: Equations, joints: CarryingJoints, first: int, belt: int, place: Vector
) -> tuple[Vector, Vector]:
    """Changes that joints make of a track frame's velocity at its place, and of its angular velocity."""
    moved, turned, j = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), joints.belt_joints[belt]
    while j != NONE:
        velocity, turning = joint_motion(joints, j, place)
        moved = sum_of(moved, scaled(velocity, equations.change[first + j]))
        turned = sum_of(turned, scaled(turning, equations.change[first + j]))
        j = joints.parents[j]
    return moved, turned


@compiled
def move_joints(equations: Equations, joints: CarryingJoints, first: int, decay: float, step: float) -> None:
    """Let joints move on for a sub-step [s]; `decay` of their speeds was left by damping."""
    for j in range(len(joints.links)):
        joints.speeds[j] = decay * joints.speeds[j] + equations.change[first + j]
        joints.positions[j] += step * joints.speeds[j]
