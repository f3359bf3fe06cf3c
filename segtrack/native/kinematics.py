"""Places of a vehicle's links, and their motion."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from segtrack.ground.functions import cosine_sine
from segtrack.ground.kernels import compiled, entry, inlined
from segtrack.ground.vectors import Vector, arm, axis, cross, dot, row, scaled, sum_of, write_rotation
from segtrack.native.tree import TreeArrays, TreeWork, VehicleState


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


@entry
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
        cosine, sine = cosine_sine(angle)
        versine = 1 - cosine
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
        own_spin = (spin[0] + rate * turning[0], spin[1] + rate * turning[1], spin[2] + rate * turning[2])
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
def move(tree: TreeArrays, state: VehicleState, work: TreeWork, step: float, decay: float) -> None:
    """Change velocities, then places, of root, joints and belts."""
    _move_belts(tree, state, work, step)
    move_tree(tree, state, work, step, decay)


@inlined
def _move_belts(tree: TreeArrays, state: VehicleState, work: TreeWork, step: float) -> None:
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
        # A constant force does work on the mean of the speeds before and after.
        state.energies[t] += state.forces[t] * step * (state.speeds[t] + gained / 2)
        state.speeds[t] += gained
        state.travels[t] += step * state.speeds[t]


@inlined
def move_tree(tree: TreeArrays, state: VehicleState, work: TreeWork, step: float, decay: float) -> None:
    """Change velocities, then places, of root and joints."""
    change = work.rates[1]
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
