"""A vehicle as a tree: a body, and links that turn about axes of it (flippers, arms).

Frames. The root's frame is the body frame. A joint's frame is fixed in the root; its link's frame is
that, turned about the joint's axis by the joint's angle.

Velocities are those of the root's centre of mass and of the joints. A joint is a servo: implicit, with
a limited torque, held at the speed that it aims at as long as that torque does.

Each belt adds one velocity, that of its travel, with the mass that moves with it. Its angular
momentum about the axle couples it to the link that carries it. Its drive is a servo too.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.ground.vectors import (
    Vector,
    add,
    arm,
    axis,
    compiled,
    cross,
    dot,
    inlined,
    row,
    scaled,
    sum_of,
    write_rotation,
)
from segtrack.native.state import VehicleState

FREE, HELD, STOPPED = 0.0, 1.0, 2.0
"""What a joint does in a step: turns under its servo's largest torque, follows it, or stands at a limit."""

SERVO_RATE = 100.0
"""Fraction of its angle error that a flipper's servo aims to close in a second [1/s]; PyBullet's, at 1 ms."""


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


@compiled
def multiply(product: NDArray[np.float64], a: NDArray[np.float64], b: NDArray[np.float64]) -> None:
    """Write the product of two matrices (3, 3)."""
    for i in range(3):
        for j in range(3):
            product[i, j] = a[i, 0] * b[0, j] + a[i, 1] * b[1, j] + a[i, 2] * b[2, j]


@compiled
def write(rows: NDArray[np.float64], i: int, a: Vector) -> None:
    """Write a vector into row i of an array (n, 3)."""
    rows[i, 0], rows[i, 1], rows[i, 2] = a


@inlined
def move_links(tree: TreeArrays, state: VehicleState, work: TreeWork) -> None:
    """Find where the links and track frames of a vehicle are, and how the links move."""
    root = work.rotations[0]
    write_rotation(root, state.orientation)
    center = (state.position[0], state.position[1], state.position[2])
    velocity = (state.velocity[0], state.velocity[1], state.velocity[2])
    spin = (state.angular_velocity[0], state.angular_velocity[1], state.angular_velocity[2])
    write(work.centers, 0, center)
    write(work.velocities, 0, velocity)
    write(work.angular_velocities, 0, spin)
    for j in range(len(tree.max_torques)):
        link, angle = j + 1, state.joint_angles[j]
        axis_in_joint = row(tree.joint_axes, j)
        rotation = work.rotations[link]
        # The mount's rotation, and about the axis by the angle (Rodrigues).
        sine, versine = math.sin(angle), 1 - math.cos(angle)
        x, y, z = axis_in_joint
        mount = tree.joint_rotations[j]
        for i in range(3):
            a, b, c = mount[i, 0], mount[i, 1], mount[i, 2]
            # Row (a, b, c) times I + sine [axis] + versine [axis]^2.
            u, v, w = b * z - c * y, c * x - a * z, a * y - b * x
            rotation[i, 0] = a + sine * u + versine * (v * z - w * y)
            rotation[i, 1] = b + sine * v + versine * (w * x - u * z)
            rotation[i, 2] = c + sine * w + versine * (u * y - v * x)
        own = work.inertias[link]  # As room: it is overwritten before it is read.
        multiply(own, root, rotation)
        for i in range(3):
            for k in range(3):
                rotation[i, k] = own[i, k]
        offset = (
            tree.joint_origins[j, 0] - tree.centers[0, 0],
            tree.joint_origins[j, 1] - tree.centers[0, 1],
            tree.joint_origins[j, 2] - tree.centers[0, 2],
        )
        out = arm(work.rotations, 0, offset)
        lever = arm(work.rotations, link, row(tree.centers, link))
        turning = arm(work.rotations, link, axis_in_joint)
        write(work.axes, j, turning)
        write(work.levers, j, lever)
        write(work.centers, link, sum_of(sum_of(center, out), lever))
        rate = state.joint_speeds[j]
        own_spin = (
            spin[0] + rate * turning[0],
            spin[1] + rate * turning[1],
            spin[2] + rate * turning[2],
        )
        write(work.angular_velocities, link, own_spin)
        pivot_velocity = sum_of(velocity, cross(spin, out))
        write(work.velocities, link, sum_of(pivot_velocity, cross(own_spin, lever)))
    for t in range(len(tree.belt_links)):
        link = tree.belt_links[t]
        multiply(work.belt_rotations[t], work.rotations[link], tree.belt_rotations[t])
        offset = (
            tree.belt_origins[t, 0] - tree.centers[link, 0],
            tree.belt_origins[t, 1] - tree.centers[link, 1],
            tree.belt_origins[t, 2] - tree.centers[link, 2],
        )
        write(work.belt_origins, t, sum_of(row(work.centers, link), arm(work.rotations, link, offset)))


@inlined
def gather_inertia(
    tree: TreeArrays, state: VehicleState, work: TreeWork, gravity: Vector, step: float
) -> None:
    """Set up the equations of the root and the joints, from what acts on the links and belts."""
    matrix, right = work.matrix[0], work.rates[0]
    for i in range(6):
        right[i] = 0.0
        for k in range(6):
            matrix[i, k] = 0.0
    root_center, spin = row(work.centers, 0), row(work.angular_velocities, 0)
    for link in range(len(tree.masses)):
        mass, own_spin = tree.masses[link], row(work.angular_velocities, link)
        r, inertia, local = work.rotations[link], work.inertias[link], tree.inertias[link]
        for i in range(3):
            a = r[i, 0] * local[0, 0] + r[i, 1] * local[1, 0] + r[i, 2] * local[2, 0]
            b = r[i, 0] * local[0, 1] + r[i, 1] * local[1, 1] + r[i, 2] * local[2, 1]
            c = r[i, 0] * local[0, 2] + r[i, 1] * local[1, 2] + r[i, 2] * local[2, 2]
            for k in range(3):
                inertia[i, k] = a * r[k, 0] + b * r[k, 1] + c * r[k, 2]
        momentum = times(inertia, own_spin)
        drift, turning_drift = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        if link > 0:
            j = link - 1
            turning, lever, rate = row(work.axes, j), row(work.levers, j), state.joint_speeds[j]
            out = (
                work.centers[link, 0] - lever[0] - root_center[0],
                work.centers[link, 1] - lever[1] - root_center[1],
                work.centers[link, 2] - lever[2] - root_center[2],
            )
            turning_drift = cross(spin, (rate * turning[0], rate * turning[1], rate * turning[2]))
            drift = sum_of(
                cross(spin, cross(spin, out)),
                sum_of(cross(turning_drift, lever), cross(own_spin, cross(own_spin, lever))),
            )
        write(work.spin_accelerations, link, turning_drift)
        force, torque = row(work.forces, link), row(work.torques, link)
        for t in range(len(tree.belt_links)):
            if tree.belt_links[t] != link:
                continue
            axle, stored = axis(work.belt_rotations, t, 1), tree.spin_momenta[t]
            momentum = sum_of(momentum, scaled(axle, stored * state.speeds[t]))
            if work.following[t] == 1.0:
                change = (state.targets[t] - state.speeds[t]) / step
                torque = sum_of(torque, scaled(axle, -stored * change))
                continue
            per_mass = stored / (tree.belt_masses[t] + work.grips[t])
            torque = sum_of(torque, scaled(axle, -per_mass * (work.drive_forces[t] + work.pulls[t])))
            for i in range(3):
                for k in range(3):
                    inertia[i, k] -= per_mass * stored * axle[i] * axle[k]
        gyration = cross(own_spin, momentum)
        inert = times(inertia, turning_drift)
        force = (
            force[0] + mass * (gravity[0] - drift[0]),
            force[1] + mass * (gravity[1] - drift[1]),
            force[2] + mass * (gravity[2] - drift[2]),
        )
        torque = (
            torque[0] - gyration[0] - inert[0],
            torque[1] - gyration[1] - inert[1],
            torque[2] - gyration[2] - inert[2],
        )
        offset = (
            work.centers[link, 0] - root_center[0],
            work.centers[link, 1] - root_center[1],
            work.centers[link, 2] - root_center[2],
        )
        moment = sum_of(torque, cross(offset, force))
        square = dot(offset, offset)
        for i in range(3):
            right[i] += step * force[i]
            right[3 + i] += step * moment[i]
            matrix[i, i] += mass
            matrix[3 + i, 3 + i] += mass * square
            for k in range(3):
                matrix[3 + i, 3 + k] += inertia[i, k] - mass * offset[i] * offset[k]
        add_cross_matrix(matrix, offset, mass)
        if link > 0:
            j = link - 1
            turning, swing = row(work.axes, j), cross(row(work.axes, j), row(work.levers, j))
            bend = times(inertia, turning)
            moment = sum_of(bend, scaled(cross(offset, swing), mass))
            for k in range(3):
                work.columns[j, k], work.columns[j, 3 + k] = mass * swing[k], moment[k]
            work.pivots[j] = dot(turning, bend) + mass * dot(swing, swing)
            work.impulses[j] = step * (dot(turning, torque) + dot(swing, force))


@compiled
def times(matrix: NDArray[np.float64], a: Vector) -> Vector:
    """The product of a matrix (3, 3) and a vector."""
    return (
        matrix[0, 0] * a[0] + matrix[0, 1] * a[1] + matrix[0, 2] * a[2],
        matrix[1, 0] * a[0] + matrix[1, 1] * a[1] + matrix[1, 2] * a[2],
        matrix[2, 0] * a[0] + matrix[2, 1] * a[1] + matrix[2, 2] * a[2],
    )


@compiled
def add_cross_matrix(matrix: NDArray[np.float64], r: Vector, mass: float) -> None:
    """Add what couples velocity and turning of a point mass at `r` from the root's centre."""
    x, y, z = mass * r[0], mass * r[1], mass * r[2]
    # Momentum is mass * (v + w x r) = mass * v - mass * [r] w; about the root's centre mass * [r] v.
    matrix[0, 4] += z
    matrix[0, 5] -= y
    matrix[1, 3] -= z
    matrix[1, 5] += x
    matrix[2, 3] += y
    matrix[2, 4] -= x
    matrix[4, 0] += z
    matrix[5, 0] -= y
    matrix[3, 1] -= z
    matrix[5, 1] += x
    matrix[3, 2] += y
    matrix[4, 2] -= x


@inlined
def solve_velocities(
    tree: TreeArrays, state: VehicleState, work: TreeWork, step: float, decay: float
) -> None:
    """Find the changes of the root's and the joints' velocities in a step, servos included.

    Servos that would need more than their torque exert that, and joints that they would let
    beyond a limit stop there. Each pass changes one kind of joint at least, so that it ends.

    Args:
        tree: The vehicle's.
        state: Its state; the joints' torques are written.
        work: With the equations of `gather_inertia`; the changes are written.
        step: Duration [s].
        decay: Fraction of velocities that damping leaves.
    """
    joints = len(tree.max_torques)
    for j in range(joints):
        work.modes[j] = HELD
        work.speed_changes[j] = _wanted_speed(tree, state, j, step) - decay * state.joint_speeds[j]
    for _ in range(2 * joints + 1):
        _solve_root(tree, state, work, step)
        changed = False
        for j in range(joints):
            pull = 0.0
            for k in range(6):
                pull += work.columns[j, k] * work.rates[1, k]
            if work.modes[j] == FREE:
                change = (work.impulses[j] + step * state.joint_torques[j] - pull) / work.pivots[j]
                work.speed_changes[j] = change
                after = state.joint_angles[j] + step * (decay * state.joint_speeds[j] + change)
                low, high = tree.joint_limits[j, 0], tree.joint_limits[j, 1]
                if not low - 1e-12 <= after <= high + 1e-12:
                    bound = low if after < low else high
                    work.modes[j], changed = STOPPED, True
                    stopping = (bound - state.joint_angles[j]) / step
                    work.speed_changes[j] = stopping - decay * state.joint_speeds[j]
            elif work.modes[j] == HELD:
                needed = (work.pivots[j] * work.speed_changes[j] + pull - work.impulses[j]) / step
                most = tree.max_torques[j]
                state.joint_torques[j] = min(max(needed, -most), most)
                if abs(needed) > most:
                    work.modes[j], changed = FREE, True
        if not changed:
            break


@compiled
def _wanted_speed(tree: TreeArrays, state: VehicleState, j: int, step: float) -> float:
    """Speed that a joint's servo aims at, such that it stays within its limits [rad/s]."""
    angle, most = state.joint_angles[j], tree.max_speeds[j]
    wanted = state.joint_commands[j, 1]
    if state.joint_commands[j, 0] == 0.0:
        wanted = (wanted - angle) * min(SERVO_RATE, 0.5 / step)
    wanted = min(max(wanted, -most), most)
    low, high = (tree.joint_limits[j, 0] - angle) / step, (tree.joint_limits[j, 1] - angle) / step
    return min(max(wanted, low), high)


@inlined
def _solve_root(tree: TreeArrays, state: VehicleState, work: TreeWork, step: float) -> None:
    """Find the root's velocity changes with joints as their modes say (Cholesky)."""
    change, matrix = work.rates[1], work.matrix[1]
    if tree.fixed:
        for i in range(6):
            change[i] = 0.0
        return
    for i in range(6):
        change[i] = work.rates[0, i]
        for k in range(6):
            matrix[i, k] = work.matrix[0, i, k]
    for j in range(len(tree.max_torques)):
        column = work.columns[j]
        if work.modes[j] == FREE:
            per, gain = 1 / work.pivots[j], work.impulses[j] + step * state.joint_torques[j]
            for i in range(6):
                change[i] -= column[i] * per * gain
                for k in range(6):
                    matrix[i, k] -= per * column[i] * column[k]
        else:
            for i in range(6):
                change[i] -= column[i] * work.speed_changes[j]
    for i in range(6):
        for k in range(i + 1):
            total = matrix[i, k]
            for m in range(k):
                total -= matrix[i, m] * matrix[k, m]
            matrix[i, k] = math.sqrt(total) if i == k else total / matrix[k, k]
        for m in range(i):
            change[i] -= matrix[i, m] * change[m]
        change[i] /= matrix[i, i]
    for back in range(6):
        i = 5 - back
        for m in range(i + 1, 6):
            change[i] -= matrix[m, i] * change[m]
        change[i] /= matrix[i, i]


@inlined
def move(tree: TreeArrays, state: VehicleState, work: TreeWork, step: float, decay: float) -> None:
    """Change velocities, then places, of root, joints and belts."""
    change = work.rates[1]
    for t in range(len(tree.belt_links)):
        link, mass = tree.belt_links[t], tree.belt_masses[t]
        axle = axis(work.belt_rotations, t, 1)
        spin_change = (
            change[3] + step * work.spin_accelerations[link, 0],
            change[4] + step * work.spin_accelerations[link, 1],
            change[5] + step * work.spin_accelerations[link, 2],
        )
        if link > 0:
            spin_change = sum_of(spin_change, scaled(row(work.axes, link - 1), work.speed_changes[link - 1]))
        carried = tree.spin_momenta[t] * dot(axle, spin_change)
        if work.following[t] == 1.0:
            gained = state.targets[t] - state.speeds[t]
            state.forces[t] = (mass * gained + carried) / step - work.pulls[t]
        else:
            # Linearly implicit: contacts that stick are springs and dampers along the travel.
            gained = (step * (work.drive_forces[t] + work.pulls[t]) - carried) / (mass + work.grips[t])
            state.forces[t] = work.drive_forces[t]
        state.speeds[t] += gained
        state.travels[t] += step * state.speeds[t]
        state.energies[t] += state.forces[t] * step * state.speeds[t]
    for j in range(len(tree.max_torques)):
        state.joint_speeds[j] = decay * state.joint_speeds[j] + work.speed_changes[j]
        state.joint_angles[j] += step * state.joint_speeds[j]
    if tree.fixed:
        return
    for k in range(3):
        state.velocity[k] = decay * state.velocity[k] + change[k]
        state.angular_velocity[k] = decay * state.angular_velocity[k] + change[3 + k]
        state.position[k] += step * state.velocity[k]
    turn(state.orientation, state.angular_velocity, step)


@compiled
def turn(orientation: NDArray[np.float64], spin: NDArray[np.float64], step: float) -> None:
    """Turn a quaternion (4,) (x, y, z, w) by an angular velocity in the world (3,) [rad/s].

    The rotation has tan(angle / 2) = spin * step / 2: Cayley's form, which needs no trigonometry.
    """
    a, b, c = spin[0] * step / 2, spin[1] * step / 2, spin[2] * step / 2
    x, y, z, w = orientation
    u = x + a * w + b * z - c * y
    v = y + b * w + c * x - a * z
    s = z + c * w + a * y - b * x
    r = w - a * x - b * y - c * z
    size = 1 / math.sqrt(u * u + v * v + s * s + r * r)
    orientation[0], orientation[1], orientation[2], orientation[3] = u * size, v * size, s * size, r * size


@compiled
def add_force_at(work: TreeWork, link: int, force: Vector, point: Vector) -> None:
    """Let a force [N] act on a link at a point of the world [m]."""
    lever = (
        point[0] - work.centers[link, 0],
        point[1] - work.centers[link, 1],
        point[2] - work.centers[link, 2],
    )
    add(work.forces, link, force, 1.0)
    add(work.torques, link, cross(lever, force), 1.0)
