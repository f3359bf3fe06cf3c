"""Equations of root, joints and belts for a vehicle's velocities, with contacts taken implicitly.

The unknowns are the changes, in a step, of the root's velocity and angular velocity, of the joints' speeds
and of the belts' speeds. The matrix is the vehicle's mass matrix and what contacts add to it; the right side
is what forces, and velocities of the step's beginning, do in the step. See docs/topics/native-engine.md.
"""

from __future__ import annotations

from segtrack.ground import (
    ROOT,
    add_belt_to_root,
    add_column,
    add_to_root,
    belt_momentum,
    clear_equations,
    times_link,
    write_contact_masses,
)
from segtrack.kernels import Vector, add, axis, compiled, cross, dot, inlined, offset, row, scaled, sum_of
from segtrack.native.tree import PRISMATIC, TreeArrays, TreeWork, VehicleState


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
    mass, spin, loads = tree.masses[link], row(work.present_spins, link), work.loads
    r, local, own = work.rotations[link], tree.inertias[link], work.equations.link_matrix
    # Inertia in the world, R I R^T.
    for i in range(3):
        a = r[i, 0] * local[0, 0] + r[i, 1] * local[1, 0] + r[i, 2] * local[2, 0]
        b = r[i, 0] * local[0, 1] + r[i, 1] * local[1, 1] + r[i, 2] * local[2, 1]
        c = r[i, 0] * local[0, 2] + r[i, 1] * local[1, 2] + r[i, 2] * local[2, 2]
        for k in range(3):
            own[i, k] = own[i, 3 + k] = own[3 + i, k] = 0.0
            own[3 + i, 3 + k] = a * r[k, 0] + b * r[k, 1] + c * r[k, 2]
    # Newton and Euler: f = F + m (g - a), t = T - w x (I w + sum S s e) - I al, with the link's accelerations
    # a and al where no unknown changes, and the momenta S s e of its belts.
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
    # J^T (M + A) J and h J^T (f, t), J the motion of the link per unknown: root, then the joints before it.
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
    axle, stored, lever = (
        axis(work.belt_rotations, t, 1),
        tree.spin_momenta[t],
        offset(work.centers, link, work.centers[0]),
    )
    change, turn = belt_momentum(loads, t, axle, stored)
    add_belt_to_root(equations, unknown, lever, (change, turn), tree.belt_masses[t], loads, t)
    j = link - 1
    while j >= 0:
        velocity, turning = joint_motion(tree, work, j, link)
        equations.matrix[unknown, ROOT + j] += dot(velocity, change) + dot(turning, turn)
        j = tree.joint_parents[j] - 1
    carried = stored * dot(axle, row(work.spin_accelerations, link))
    equations.right[unknown] += step * (loads.pulls[t] - carried)


@compiled
def add_force_at(work: TreeWork, link: int, force: Vector, point: Vector) -> None:
    """Let a force [N] act on a link at a point of the world [m]."""
    lever = (
        point[0] - work.centers[link, 0],
        point[1] - work.centers[link, 1],
        point[2] - work.centers[link, 2],
    )
    add(work.given.forces, link, force, 1.0)
    add(work.given.torques, link, cross(lever, force), 1.0)


@compiled
def add_push(state: VehicleState, work: TreeWork) -> None:
    """Let the user push the root."""
    push = row(state.push, 0)
    if push[0] != 0.0 or push[1] != 0.0 or push[2] != 0.0:
        add_force_at(work, 0, push, row(state.push, 1))
