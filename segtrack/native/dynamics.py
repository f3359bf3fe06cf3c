"""Equations of root and joints for a vehicle's velocities, servos and stops included."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from segtrack.ground.kernels import compiled, inlined
from segtrack.ground.vectors import Vector, add, axis, cross, dot, row, scaled, sum_of
from segtrack.native.kinematics import write
from segtrack.native.tree import TreeArrays, TreeWork, VehicleState

FREE, HELD, STOPPED = 0.0, 1.0, 2.0
"""Modes of a joint in a step: turns under its servo's largest torque, follows it, or stands at a limit."""

SERVO_RATE = 100.0
"""Fraction of its angle error that a flipper's servo aims to close in a second [1/s]; PyBullet's, at 1 ms."""


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
        work: Work arrays with the equations of `gather_inertia`; the changes are written.
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
