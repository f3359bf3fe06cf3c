"""Equations of a vehicle as one rigid body, and of the joints and belts on it, beside its engine."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.compliant.belt import BeltArrays, BeltMotion
from segtrack.compliant.carrying_joints import (
    CarryingJoints,
    add_belt_to_joints,
    add_joints,
    change_joint_modes,
    frame_change,
    move_joints,
)
from segtrack.ground import (
    FREE,
    HELD,
    PASSES,
    ROOT,
    TOLERANCE,
    BeltDrives,
    CompositeBody,
    Contacts,
    CouplingImpulses,
    Equations,
    ParentFrames,
    Reaction,
    VehicleLoads,
    add_belt_to_root,
    add_contact_loads,
    add_to_root,
    belt_momentum,
    change_at_limit,
    change_drive_modes,
    clear_equations,
    clear_loads,
    excess_of,
    expect_belt_changes,
    hold_drives,
    solve_free,
    times_link,
    write_link_contacts,
)
from segtrack.kernels import Vector, axis, compiled, cross, dot, inlined, offset, row, scaled


class Beside(NamedTuple):
    """Work arrays of a vehicle's belts.

    Attributes:
        parents: Track frames, which go on within the engine's step.
        reaction: Load of the belts on them.
        coupling: Impulses of the belts on the track frames in the engine's step.
        axes: Axes of a section (3, 3).
        loads: Loads of the ground on track frames and belts.
        equations: Equations of the vehicle, of its belts, and of joints that carry belts.
        joints: These joints.
        center: Centre of mass of the vehicle, in the world (3,) [m].
        drive_forces: Forces of the drives in the sub-step (T,) [N].
        outcome: Sub-steps taken, how the call ended, most solids and edges near one section, contacts (5,).
        changes: Changes of the velocities of the track frames' origins in the sub-step (T, 3) [m/s].
        turns: Changes of their angular velocities in the sub-step, in the world (T, 3) [rad/s].
        belt_changes: Changes of the belts' speeds in the sub-step; after it infinity where drives were not at
            their limits (T,) [m/s].
        contacts: Contacts of the sub-step.
    """

    parents: ParentFrames
    reaction: Reaction
    coupling: CouplingImpulses
    axes: NDArray[np.float64]
    loads: VehicleLoads
    equations: Equations
    joints: CarryingJoints
    center: NDArray[np.float64]
    drive_forces: NDArray[np.float64]
    outcome: NDArray[np.intp]
    changes: NDArray[np.float64]
    turns: NDArray[np.float64]
    belt_changes: NDArray[np.float64]
    contacts: Contacts


@compiled
def gather_equations(
    belts: BeltArrays, motion: BeltMotion, work: Beside, vehicle: CompositeBody, sub_step: float
) -> None:
    """Set up the equations of the vehicle, its belts and joints; see `ground.equations`."""
    equations, loads, parents, joints = work.equations, work.loads, work.parents, work.joints
    first = ROOT + len(belts.perimeters)
    own = equations.link_matrix
    clear_equations(equations)
    for i in range(ROOT):
        equations.modes[i], equations.change[i] = HELD if vehicle.inverse_mass == 0.0 else FREE, 0.0
    # One rigid body about its centre: m dv = h (m g + f), I dw = h t, with f and t of what acts from outside.
    if vehicle.inverse_mass != 0.0:
        mass, gravity = 1.0 / vehicle.inverse_mass, vehicle.gravity
        write_inverse(vehicle.inverse_inertia, own)
        for i in range(3):
            equations.matrix[i, i] = mass
            equations.right[i] = sub_step * (mass * gravity[i] + vehicle.outside[i])
            equations.right[3 + i] = sub_step * vehicle.outside[3 + i]
            for k in range(3):
                equations.matrix[3 + i, 3 + k] = own[3 + i, 3 + k]
    add_joints(equations, joints, first, vehicle, sub_step)
    for t in range(len(belts.perimeters)):
        # Track frame and belt, `ground.belt_equations` with M = 0; the frame sweeps S s e around, w x S s e.
        write_link_contacts(loads, t, own)
        lever = offset(parents.positions, t, vehicle.center)
        swept = swept_momentum(belts, motion, parents, t)
        force, torque = row(loads.forces, t), row(loads.torques, t)
        torque = (torque[0] - swept[0], torque[1] - swept[1], torque[2] - swept[2])
        force, torque = scaled(force, sub_step), scaled(torque, sub_step)
        add_to_root(equations, lever, force, torque)
        axle, turning = axis(parents.rotations, t, 1), row(parents.angular_velocities_world, t)
        rate, stored = dot(axle, turning), belts.spin_momenta[t]
        # What the engine has changed of the link's turning since the last sub-step.
        added = stored * (rate - motion.axle_rates[t])
        unknown = ROOT + t
        change, turn = belt_momentum(loads, t, axle, stored)
        add_belt_to_root(equations, unknown, lever, (change, turn), belts.masses[t], loads, t)
        place = row(parents.positions, t)
        add_belt_to_joints(equations, joints, first, t, unknown, place, lever, force, torque, change, turn)
        equations.right[unknown] = sub_step * loads.pulls[t] - added
    hold_drives(equations, _drives_of(motion, work), len(belts.perimeters))


@compiled
def _drives_of(motion: BeltMotion, work: Beside) -> BeltDrives:
    """Drives of the belts, whose unknowns follow those of the root."""
    return BeltDrives(ROOT, motion.speeds, motion.targets, motion.limits, work.drive_forces)


@compiled
def write_inverse(inverse: NDArray[np.float64], matrix: NDArray[np.float64]) -> None:
    """Write the inverse of a symmetric matrix (3, 3) into the turning block of a link's matrix (6, 6)."""
    xx, yy, zz = inverse[0, 0], inverse[1, 1], inverse[2, 2]
    xy, yz, zx = inverse[0, 1], inverse[1, 2], inverse[0, 2]
    first, second, third = yy * zz - yz * yz, yz * zx - xy * zz, xy * yz - yy * zx
    scale = 1 / (xx * first + xy * second + zx * third)
    matrix[3, 3], matrix[4, 4], matrix[5, 5] = (
        scale * first,
        scale * (xx * zz - zx * zx),
        scale * (xx * yy - xy * xy),
    )
    matrix[3, 4] = matrix[4, 3] = scale * second
    matrix[3, 5] = matrix[5, 3] = scale * third
    matrix[4, 5] = matrix[5, 4] = scale * (xy * zx - xx * yz)


@compiled
def swept_momentum(belts: BeltArrays, motion: BeltMotion, parents: ParentFrames, t: int) -> Vector:
    """Moment by which its link sweeps the angular momentum of belt t around, in the world [N m]."""
    stored = scaled(axis(parents.rotations, t, 1), belts.spin_momenta[t] * motion.speeds[t])
    return cross(row(parents.angular_velocities_world, t), stored)


@inlined
def solve_with_contacts(
    belts: BeltArrays,
    motion: BeltMotion,
    work: Beside,
    vehicle: CompositeBody,
    sub_step: float,
) -> None:
    """Find the changes of the vehicle's and the belts' velocities, contacts cut to their limits.

    It is expected at first that track frames, and belts whose drives were at their limits, change as in the
    last sub-step, and that other belts come as near to what their drives aim at as these can take them alone.

    Args:
        belts: Belts of the vehicle.
        motion: Their motion.
        work: Work arrays with the contacts; loads, equations and changes are written.
        vehicle: All links as one rigid body.
        sub_step: [s]
    """
    last = work.belt_changes
    expect_belt_changes(_drives_of(motion, work), belts.masses, last, work.belt_changes, sub_step)
    for n in range(PASSES):
        clear_loads(work.loads)
        add_contact_loads(work.contacts, work.changes, work.turns, work.belt_changes, n, work.loads, sub_step)
        gather_equations(belts, motion, work, vehicle, sub_step)
        _solve(belts, motion, work, sub_step)
        _spread_changes(belts, work)
        if excess_of(work.contacts, work.changes, work.turns, work.belt_changes) <= TOLERANCE:
            break


@compiled
def _spread_changes(belts: BeltArrays, work: Beside) -> None:
    """Write the changes of the velocities of track frames and belts that were solved."""
    change, first = work.equations.change, ROOT + len(belts.perimeters)
    linear, angular = (change[0], change[1], change[2]), (change[3], change[4], change[5])
    for t in range(len(belts.perimeters)):
        around = cross(angular, offset(work.parents.positions, t, work.center))
        moved, turned = frame_change(work.equations, work.joints, first, t, row(work.parents.positions, t))
        for k in range(3):
            work.changes[t, k] = linear[k] + around[k] + moved[k]
            work.turns[t, k] = angular[k] + turned[k]
        work.belt_changes[t] = change[ROOT + t]


@inlined
def _solve(belts: BeltArrays, motion: BeltMotion, work: Beside, sub_step: float) -> None:
    """Solve the equations of a sub-step [s], with drives and motors of joints at their limits."""
    equations, joints = work.equations, ROOT + len(belts.perimeters)
    first, drives = len(equations.right) - ROOT + 1, _drives_of(motion, work)
    for n in range(2 * first):
        solve_free(equations)
        changed = change_drive_modes(equations, drives, len(belts.perimeters), n < first, sub_step)
        if change_joint_modes(equations, work.joints, joints, n < first, sub_step):
            changed = True
        if not changed:
            break


@inlined
def move_belts(
    belts: BeltArrays, motion: BeltMotion, work: Beside, decay: float, sub_step: float, count: int
) -> None:
    """Change velocities, and places of belts and joints, as solved, and find what belts do to their links.

    Args:
        belts: Belts of the vehicle.
        motion: Changed in place: speeds, travels and mean forces of the drives.
        work: Work arrays with the changes; reactions, and velocities of the track frames, are written.
        decay: Fraction of the vehicle's velocity that damping leaves in a sub-step; 1 without.
        sub_step: [s]
        count: Number of sub-steps in the engine's step.
    """
    loads, parents, own = work.loads, work.parents, work.equations.link_matrix
    for t in range(len(belts.perimeters)):
        gained, stored, axle = work.belt_changes[t], belts.spin_momenta[t], axis(parents.rotations, t, 1)
        moved, angular = row(work.changes, t), row(work.turns, t)
        write_link_contacts(loads, t, own)
        swept = swept_momentum(belts, motion, parents, t)
        # What they do to the link in the sub-step: F - (A V + (a + S e) b) / h.
        taken, turned = times_link(own, moved, angular)
        change, turn = belt_momentum(loads, t, axle, stored)
        for k in range(3):
            force = loads.forces[t, k] - (taken[k] + gained * change[k]) / sub_step
            held = turned[k] + gained * turn[k]
            work.reaction.forces[t, k] = force
            work.reaction.torques[t, k] = loads.torques[t, k] - swept[k] - held / sub_step
        motion.axle_rates[t] = dot(axle, row(parents.angular_velocities_world, t)) + dot(axle, angular)
        motion.forces[t] += work.drive_forces[t] / count
        motion.speeds[t] += gained
        motion.travels[t] += sub_step * motion.speeds[t]
        velocity, turning = parents.velocities[t], parents.angular_velocities_world[t]
        for k in range(3):
            velocity[k] = decay * velocity[k] + moved[k]
            turning[k] = decay * turning[k] + angular[k]
        work.belt_changes[t] = change_at_limit(work.equations, ROOT + t)
    move_joints(work.equations, work.joints, ROOT + len(belts.perimeters), decay, sub_step)
