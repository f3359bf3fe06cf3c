"""Places of a vehicle's links, and their motion."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from segtrack.ground import ROOT, change_at_limit
from segtrack.kernels import (
    Vector,
    arm,
    compiled,
    cosine_sine,
    cross,
    entry,
    inlined,
    offset,
    row,
    scaled,
    sum_of,
    write_rotation,
)
from segtrack.native.joint_arrays import CARRIES
from segtrack.native.tree import (
    PRISMATIC,
    REVOLUTE,
    TreeArrays,
    TreeWork,
    VehicleState,
    changes_at_rest,
)


@compiled
def multiply(product: NDArray[np.float64], a: NDArray[np.float64], b: NDArray[np.float64]) -> None:
    """Write the product of two matrices (3, 3)."""
    for i in range(3):
        x, y, z = a[i, 0], a[i, 1], a[i, 2]
        product[i, 0] = x * b[0, 0] + y * b[1, 0] + z * b[2, 0]
        product[i, 1] = x * b[0, 1] + y * b[1, 1] + z * b[2, 1]
        product[i, 2] = x * b[0, 2] + y * b[1, 2] + z * b[2, 2]


@compiled
def write(rows: NDArray[np.float64], i: int, a: Vector) -> None:
    """Write a vector into row i of an array (n, 3)."""
    rows[i, 0], rows[i, 1], rows[i, 2] = a


@entry
def move_links(tree: TreeArrays, state: VehicleState, work: TreeWork) -> None:
    """Find where the links and track frames of a vehicle are, and how the links move."""
    write_rotation(work.rotations[0], state.orientation)
    write(work.centers, 0, (state.position[0], state.position[1], state.position[2]))
    write(work.velocities, 0, (state.velocity[0], state.velocity[1], state.velocity[2]))
    spin = (state.angular_velocity[0], state.angular_velocity[1], state.angular_velocity[2])
    write(work.angular_velocities, 0, spin)
    # Velocities stand for the middle of the step that they came from: half a step on they are those of now.
    gained = (state.last_changes[3], state.last_changes[4], state.last_changes[5])
    write(work.present_spins, 0, sum_of(spin, scaled(gained, 0.5)))
    for j in range(len(tree.joint_parents)):
        _move_link(tree, state, work, j)
    for t in range(len(tree.belt_links)):
        link = tree.belt_links[t]
        multiply(work.belt_rotations[t], work.rotations[link], tree.belt_rotations[t])
        out = arm(work.rotations, link, offset(tree.belt_origins, t, tree.centers[link]))
        write(work.belt_origins, t, sum_of(row(work.centers, link), out))


@compiled
def _move_link(tree: TreeArrays, state: VehicleState, work: TreeWork, j: int) -> None:
    """Find where the link on joint j is, and how it moves."""
    link, parent, along = j + 1, tree.joint_parents[j], row(tree.joint_axes, j)
    position, rate = state.joint_angles[j], state.joint_speeds[j]
    rotation, mount, own = work.rotations[link], tree.joint_rotations[j], work.section_axes
    prismatic = tree.joint_kinds[j] == PRISMATIC
    # The mount's rotation, and about the axis by the angle (Rodrigues).
    cosine, sine = cosine_sine(0.0 if prismatic else position)
    versine = 1 - cosine
    x, y, z = along
    for i in range(3):
        a, b, c = mount[i, 0], mount[i, 1], mount[i, 2]
        # Row (a, b, c) times I + sine [axis] + versine [axis]^2.
        u, v, w = b * z - c * y, c * x - a * z, a * y - b * x
        own[i, 0] = a + sine * u + versine * (v * z - w * y)
        own[i, 1] = b + sine * v + versine * (w * x - u * z)
        own[i, 2] = c + sine * w + versine * (u * y - v * x)
    multiply(rotation, work.rotations[parent], own)
    turning = arm(work.rotations, link, along)
    out = arm(work.rotations, parent, offset(tree.joint_origins, j, tree.centers[parent]))
    if prismatic:
        out = sum_of(out, scaled(turning, position))
    lever = arm(work.rotations, link, row(tree.centers, link))
    point = sum_of(row(work.centers, parent), out)
    write(work.axes, j, turning)
    write(work.joint_points, j, point)
    write(work.centers, link, sum_of(point, lever))
    spin, moving = row(work.angular_velocities, parent), scaled(turning, rate)
    present = row(work.present_spins, parent)
    present_moving = scaled(turning, rate + 0.5 * state.last_changes[ROOT + j])
    swept = cross(present, present_moving)
    velocity = sum_of(row(work.velocities, parent), cross(spin, out))
    acceleration = sum_of(
        row(work.accelerations, parent),
        sum_of(cross(row(work.spin_accelerations, parent), out), cross(present, cross(present, out))),
    )
    own_spin, own_acceleration = spin, row(work.spin_accelerations, parent)
    if prismatic:
        velocity = sum_of(velocity, moving)
        acceleration = sum_of(acceleration, scaled(swept, 2.0))
    else:
        own_spin, own_acceleration = sum_of(spin, moving), sum_of(own_acceleration, swept)
        present = sum_of(present, present_moving)
    write(work.present_spins, link, present)
    write(work.angular_velocities, link, own_spin)
    write(work.spin_accelerations, link, own_acceleration)
    write(work.velocities, link, sum_of(velocity, cross(own_spin, lever)))
    bent = sum_of(cross(own_acceleration, lever), cross(present, cross(present, lever)))
    write(work.accelerations, link, sum_of(acceleration, bent))


@inlined
def slow_down(state: VehicleState, decay: float) -> None:
    """Leave only a fraction of the velocities of root and joints."""
    if decay == 1.0:
        return
    for k in range(3):
        state.velocity[k] *= decay
        state.angular_velocity[k] *= decay
    for j in range(len(state.joint_speeds)):
        state.joint_speeds[j] *= decay


@inlined
def move(tree: TreeArrays, state: VehicleState, work: TreeWork, step: float) -> None:
    """Change velocities, then places, of root, joints and belts."""
    change, joints = work.equations.change, len(tree.joint_parents)
    for t in range(len(tree.belt_masses)):
        gained = change[ROOT + joints + t]
        # A constant force does work on the mean of the speeds before and after.
        state.energies[t] += state.forces[t] * step * (state.speeds[t] + gained / 2)
        state.speeds[t] += gained
        state.travels[t] += step * state.speeds[t]
    for k in range(ROOT + joints):
        state.last_changes[k] = change[k]
    for k in range(ROOT + joints, len(change)):
        state.last_changes[k] = change_at_limit(work.equations, k)
    for j in range(joints):
        state.joint_speeds[j] += change[ROOT + j]
        state.joint_angles[j] += step * state.joint_speeds[j]
    if tree.fixed:
        return
    for k in range(3):
        state.velocity[k] += change[k]
        state.angular_velocity[k] += change[3 + k]
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
def largest_speed(
    tree: TreeArrays, work: TreeWork, reach: float, tip_speed: float, state: VehicleState
) -> float:
    """Bound on the speed of what touches the ground [m/s]; not a number where the state is not finite."""
    linear = turning = rate = slide = belt = lost = 0.0
    for k in range(3):
        linear += state.velocity[k] * state.velocity[k]
        turning += state.angular_velocity[k] * state.angular_velocity[k]
        lost += 0.0 * (state.position[k] + state.orientation[k])
    rates = work.path_rates
    for j in range(len(state.joint_speeds)):
        parent = tree.joint_parents[j]
        for k in range(2):
            rates[j + 1, k] = rates[parent, k]
        rates[j + 1, tree.joint_kinds[j]] += abs(state.joint_speeds[j])
        if tree.joints.settings[j, CARRIES] == 1.0:
            rate, slide = max(rate, rates[j + 1, REVOLUTE]), max(slide, rates[j + 1, PRISMATIC])
        lost += 0.0 * (state.joint_speeds[j] + state.joint_angles[j])
    for t in range(len(state.speeds)):
        belt = max(belt, abs(state.speeds[t]))
        lost += 0.0 * (state.speeds[t] + state.travels[t])
    # Zero times what is not finite is not a number.
    fastest = math.sqrt(linear) + reach * (math.sqrt(turning) + rate) + slide + tip_speed * belt
    return fastest + lost


def set_velocity(state: VehicleState, work: TreeWork, forward: float) -> None:
    """Let all links move along the root's x axis, and belts run so that they do not slip.

    Args:
        state: The vehicle's state, with a first axis of length 1; changed in place.
        work: Its work arrays, the links in place.
        forward: [m/s]
    """
    state.velocity[0] = forward * work.rotations[0, :, 0]
    state.angular_velocity[:] = state.joint_speeds[:] = 0.0
    state.last_changes[:] = changes_at_rest(state.joint_speeds.shape[1], state.speeds.shape[1])
    state.speeds[:] = state.references[:] = forward
