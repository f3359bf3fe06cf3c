"""Equations of root, joints and belts for a vehicle's velocities, with contacts taken implicitly.

The unknowns are the changes, in a step, of the root's velocity and angular velocity, of the joints' speeds
and of the belts' speeds. The matrix is the vehicle's mass matrix and what contacts add to it; the right side
is what forces, and velocities of the step's beginning, do in the step. See docs/topics/native-engine.md.
"""

from __future__ import annotations

from segtrack.ground.contact_loads import add_contact
from segtrack.ground.equations import (
    FREE,
    HELD,
    ROOT,
    STOPPED,
    add_column,
    add_to_root,
    clear_equations,
    held_again,
    hold,
    limited_force,
    solve_free,
    times_link,
    write_contact_masses,
)
from segtrack.ground.kernels import compiled, inlined
from segtrack.ground.vectors import Vector, axis, cross, dot, offset, row, scaled, sum_of
from segtrack.native.tree import PRISMATIC, TreeArrays, TreeWork, VehicleState

SERVO_RATE = 100.0
"""Fraction of its angle error that a flipper's servo aims to close in a second [1/s]; PyBullet's, at 1 ms."""


@inlined
def gather_equations(
    tree: TreeArrays, state: VehicleState, work: TreeWork, gravity: Vector, step: float
) -> None:
    """Set up the equations of a step from what acts on links and belts, and what contacts add.

    Args:
        tree: The vehicle's.
        state: Its state.
        work: Work arrays with the links in place and the loads on them; the equations are written.
        gravity: Gravity in the world [m/s^2].
        step: Duration [s].
    """
    clear_equations(work.equations)
    for link in range(len(tree.masses)):
        _add_link(tree, state, work, link, gravity, step)
    first = ROOT + len(tree.joint_parents)
    for t in range(len(tree.belt_masses)):
        _add_belt(tree, state, work, t, first + t, step)


@compiled
def _add_link(
    tree: TreeArrays, state: VehicleState, work: TreeWork, link: int, gravity: Vector, step: float
) -> None:
    """Add a link's mass, its contacts and the loads on it to the equations."""
    mass, spin, loads = tree.masses[link], row(work.angular_velocities, link), work.loads
    r, local, own = work.rotations[link], tree.inertias[link], work.equations.link_matrix
    for i in range(3):
        a = r[i, 0] * local[0, 0] + r[i, 1] * local[1, 0] + r[i, 2] * local[2, 0]
        b = r[i, 0] * local[0, 1] + r[i, 1] * local[1, 1] + r[i, 2] * local[2, 1]
        c = r[i, 0] * local[0, 2] + r[i, 1] * local[1, 2] + r[i, 2] * local[2, 2]
        for k in range(3):
            own[i, k] = own[i, 3 + k] = own[3 + i, k] = 0.0
            own[3 + i, 3 + k] = a * r[k, 0] + b * r[k, 1] + c * r[k, 2]
    # Where no unknown changes, the link accelerates all the same.
    bend = row(work.accelerations, link)
    _, momentum = times_link(own, (0.0, 0.0, 0.0), spin)
    _, inert = times_link(own, (0.0, 0.0, 0.0), row(work.spin_accelerations, link))
    for t in range(len(tree.belt_masses)):
        if tree.belt_links[t] == link:
            stored = tree.spin_momenta[t] * state.speeds[t]
            momentum = sum_of(momentum, scaled(axis(work.belt_rotations, t, 1), stored))
    gyration = cross(spin, momentum)
    force = (
        step * (loads.forces[link, 0] + mass * (gravity[0] - bend[0])),
        step * (loads.forces[link, 1] + mass * (gravity[1] - bend[1])),
        step * (loads.forces[link, 2] + mass * (gravity[2] - bend[2])),
    )
    torque = (
        step * (loads.torques[link, 0] - gyration[0] - inert[0]),
        step * (loads.torques[link, 1] - gyration[1] - inert[1]),
        step * (loads.torques[link, 2] - gyration[2] - inert[2]),
    )
    write_contact_masses(loads, link, mass, own)
    lever = offset(work.centers, link, work.centers[0])
    add_to_root(work.equations, lever, force, torque)
    j = link - 1
    while j >= 0:
        velocity, turning = joint_motion(tree, work, j, link)
        change, turn = times_link(own, velocity, turning)
        work.equations.right[ROOT + j] += dot(velocity, force) + dot(turning, torque)
        add_column(work.equations, ROOT + j, lever, change, turn)
        i = j
        while i >= 0:
            other, other_turning = joint_motion(tree, work, i, link)
            work.equations.matrix[ROOT + j, ROOT + i] += dot(other, change) + dot(other_turning, turn)
            i = tree.joint_parents[i] - 1
        j = tree.joint_parents[j] - 1


@compiled
def joint_motion(tree: TreeArrays, work: TreeWork, j: int, link: int) -> tuple[Vector, Vector]:
    """Velocity of a link's centre and angular velocity, in the world, per speed of a joint before it."""
    along = row(work.axes, j)
    if tree.joint_kinds[j] == PRISMATIC:
        return along, (0.0, 0.0, 0.0)
    return cross(along, offset(work.centers, link, work.joint_points[j])), along


@compiled
def _add_belt(
    tree: TreeArrays, state: VehicleState, work: TreeWork, t: int, unknown: int, step: float
) -> None:
    """Add a belt's mass, its contacts and the pull on it to the equations."""
    link, loads, equations = tree.belt_links[t], work.loads, work.equations
    axle, own, stored = axis(work.belt_rotations, t, 1), loads.belt_masses[t], tree.spin_momenta[t]
    change = (own[0], own[1], own[2])
    turn = (own[3] + stored * axle[0], own[4] + stored * axle[1], own[5] + stored * axle[2])
    add_column(equations, unknown, offset(work.centers, link, work.centers[0]), change, turn)
    j = link - 1
    while j >= 0:
        velocity, turning = joint_motion(tree, work, j, link)
        equations.matrix[unknown, ROOT + j] += dot(velocity, change) + dot(turning, turn)
        j = tree.joint_parents[j] - 1
    equations.matrix[unknown, unknown] += tree.belt_masses[t] + own[6]
    carried = stored * dot(axle, row(work.spin_accelerations, link))
    equations.right[unknown] += step * (loads.pulls[t] - carried)


@inlined
def solve_velocities(tree: TreeArrays, state: VehicleState, work: TreeWork, step: float) -> None:
    """Find the changes of all velocities in a step, servos and drives included.

    Motors that would need more than their force exert that, unless they would come beyond what they aim at,
    and joints that they would let beyond a limit stop there. Each pass changes one mode at least; motors are
    held again in the first ones only, so that it ends.

    Args:
        tree: The vehicle's.
        state: Its state; torques of the servos and forces of the drives are written.
        work: Work arrays with the equations of `gather_equations`; the changes are written.
        step: Duration [s].
    """
    joints, belts, equations = len(tree.joint_parents), len(tree.belt_masses), work.equations
    modes, change = equations.modes, equations.change
    for i in range(ROOT):
        modes[i], change[i] = HELD if tree.fixed else FREE, 0.0
    for j in range(joints):
        hold(equations, ROOT + j, wanted_speed(tree, state, j, step) - state.joint_speeds[j])
    for t in range(belts):
        hold(equations, ROOT + joints + t, state.targets[t] - state.speeds[t])
    first = joints + belts + 1
    for n in range(first + 2 * joints + belts + 1):
        solve_free(equations)
        changed = False
        for j in range(joints):
            i = ROOT + j
            if modes[i] == FREE:
                aim = wanted_speed(tree, state, j, step) - state.joint_speeds[j]
                if n < first and held_again(equations, i, state.joint_torques[j], aim, step):
                    changed = True
                    continue
                after = state.joint_angles[j] + step * (state.joint_speeds[j] + change[i])
                low, high = tree.joint_limits[j, 0], tree.joint_limits[j, 1]
                if not low - 1e-12 <= after <= high + 1e-12:
                    bound = low if after < low else high
                    modes[i], changed = STOPPED, True
                    change[i] = (bound - state.joint_angles[j]) / step - state.joint_speeds[j]
            elif modes[i] == HELD:
                state.joint_torques[j], freed = limited_force(equations, i, tree.max_torques[j], step)
                changed |= freed
        for t in range(belts):
            i = ROOT + joints + t
            if modes[i] == HELD:
                state.forces[t], freed = limited_force(equations, i, state.limits[t], step)
                changed |= freed
            elif n < first:
                aim = state.targets[t] - state.speeds[t]
                changed |= held_again(equations, i, state.forces[t], aim, step)
        if not changed:
            break


@compiled
def wanted_speed(tree: TreeArrays, state: VehicleState, j: int, step: float) -> float:
    """Speed that a joint's servo aims at, such that it stays within its limits [rad/s]."""
    angle, most = state.joint_angles[j], tree.max_speeds[j]
    wanted = state.joint_commands[j, 1]
    if state.joint_commands[j, 0] == 0.0:
        wanted = (wanted - angle) * min(SERVO_RATE, 0.5 / step)
    wanted = min(max(wanted, -most), most)
    low, high = (tree.joint_limits[j, 0] - angle) / step, (tree.joint_limits[j, 1] - angle) / step
    return min(max(wanted, low), high)


@compiled
def add_force_at(work: TreeWork, link: int, force: Vector, point: Vector) -> None:
    """Let a force [N] act on a link at a point of the world [m]."""
    lever = (
        point[0] - work.centers[link, 0],
        point[1] - work.centers[link, 1],
        point[2] - work.centers[link, 2],
    )
    add_contact(work.loads, link, lever, force, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
