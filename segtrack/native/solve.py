"""Velocity changes of a step: servos, drives, joints that stick or stop, and contacts cut to their limits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.ground import (
    FREE,
    HELD,
    PASSES,
    ROOT,
    STOPPED,
    TOLERANCE,
    BeltDrives,
    Equations,
    add_contact_loads,
    any_contacts,
    begin_loads,
    change_drive_modes,
    excess_of,
    expect_belt_changes,
    held_again,
    hold_drives,
    needed_force,
    solve_free,
)
from segtrack.kernels import Vector, compiled, cross, inlined, offset, row, scaled, sum_of
from segtrack.native.dynamics import gather_equations
from segtrack.native.joint_arrays import FRICTION, KIND, RATE, RATIO, STIFF_SERVO
from segtrack.native.joint_loads import add_joint_loads, aim_servos, touch_buffer
from segtrack.native.kinematics import write
from segtrack.native.tree import PRISMATIC, TreeArrays, TreeWork, VehicleState

STUCK, FOLLOWING = 3.0, 4.0
"""Further modes of a joint's unknown: held at rest by dry friction; following another joint."""


class HostEquations(NamedTuple):
    """Equations of another engine that moves the links, which then have no masses in their tree.

    Attributes:
        masses: Mass matrix of root, joints and belts, and of further joints behind them, its lower triangle
            (U, U) [kg, kg m, kg m^2]; may have no rows.
        impulses: Impulses in the step (U,) [N s, N m s].
    """

    masses: NDArray[np.float64]
    impulses: NDArray[np.float64]


@compiled
def no_host(equations: Equations) -> HostEquations:
    """Equations without rows, of a tree that no other engine moves."""
    return HostEquations(equations.matrix[:0], equations.right[:0])


@compiled
def _add_host(equations: Equations, host: HostEquations) -> None:
    """Add what another engine has to the equations."""
    for i in range(len(host.impulses)):
        equations.right[i] += host.impulses[i]
        for k in range(i + 1):
            equations.matrix[i, k] += host.masses[i, k]


@inlined
def solve_velocities(tree: TreeArrays, state: VehicleState, work: TreeWork, step: float) -> None:
    """Find the changes of all velocities in a step, servos and drives included.

    Motors that would need more than their force exert that, unless they would come beyond what they aim at,
    joints that need more than their dry friction slip, and joints that would move beyond a limit stop there.
    Each pass changes one mode at least; motors are held again in the first ones only, so that it ends.

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
        _begin_joint(tree, state, work, j, step)
    drives = drives_of(tree, state)
    hold_drives(equations, drives, belts)
    first = joints + belts + 1
    for n in range(first + 6 * joints + belts + 1):
        solve_free(equations)
        changed = False
        for j in range(joints):
            if _change_mode(tree, state, work, j, n < first, step):
                changed = True
        if change_drive_modes(equations, drives, belts, n < first, step):
            changed = True
        if not changed:
            break
    for j in range(joints):
        if modes[ROOT + j] == FOLLOWING:
            change[ROOT + j] = tree.joints.settings[j, RATIO] * change[ROOT + tree.joints.leaders[j]]


@compiled
def drives_of(tree: TreeArrays, state: VehicleState) -> BeltDrives:
    """Drives of a vehicle's belts, whose unknowns follow those of its joints."""
    first = ROOT + len(tree.joint_parents)
    return BeltDrives(first, state.speeds, state.targets, state.limits, state.forces)


@compiled
def _begin_joint(tree: TreeArrays, state: VehicleState, work: TreeWork, j: int, step: float) -> None:
    """Let a joint do what its servo aims at, or stand by its friction, or move freely, at first."""
    i, settings, equations = ROOT + j, tree.joints.settings, work.equations
    speed = state.joint_speeds[j]
    state.joint_torques[j] = work.slipping[j] = 0.0
    if tree.joints.leaders[j] >= 0:
        equations.modes[i], equations.change[i] = FOLLOWING, 0.0
    elif settings[j, KIND] == STIFF_SERVO:
        equations.modes[i], equations.change[i] = HELD, wanted_speed(tree, state, j, step) - speed
    elif settings[j, FRICTION] > 0.0:
        equations.modes[i], equations.change[i] = STUCK, -speed
    else:
        equations.modes[i], equations.change[i] = FREE, 0.0


@compiled
def _change_mode(
    tree: TreeArrays, state: VehicleState, work: TreeWork, j: int, early: bool, step: float
) -> bool:
    """Change the mode of a joint that cannot be as it is; true if it was changed.

    Servos are held again, where they have come beyond their aim, in `early` passes alone.

    Dry friction of f acts against the motion: at rest up to f, and f beyond.
    """
    i, settings, equations = ROOT + j, tree.joints.settings, work.equations
    most, friction = tree.max_torques[j], settings[j, FRICTION]
    if touch_buffer(tree, state, work, j, 0, step) or touch_buffer(tree, state, work, j, 1, step):
        return True
    if work.giving[j] > 0.0:
        exerted = work.pushes[j] - work.giving[j] * equations.change[i]
        state.joint_torques[j] = min(max(exerted, -most), most)
        if abs(exerted) > most:
            # Its largest force instead of its gains.
            equations.matrix[i, i] -= step * work.giving[j]
            equations.right[i] += step * (state.joint_torques[j] - work.pushes[j])
            work.giving[j] = 0.0
            return True
    if equations.modes[i] == FREE:
        if early and settings[j, KIND] == STIFF_SERVO:
            aim = wanted_speed(tree, state, j, step) - state.joint_speeds[j]
            if held_again(equations, i, state.joint_torques[j], aim, step):
                # Held, it has the friction of its own motion.
                equations.right[i] -= step * work.slipping[j]
                work.slipping[j] = 0.0
                return True
        after = state.joint_angles[j] + step * (state.joint_speeds[j] + equations.change[i])
        low, high = tree.joint_limits[j, 0], tree.joint_limits[j, 1]
        if not low - 1e-12 <= after <= high + 1e-12:
            bound = low if after < low else high
            equations.modes[i] = STOPPED
            equations.change[i] = (bound - state.joint_angles[j]) / step - state.joint_speeds[j]
            return True
    elif equations.modes[i] == HELD:
        needed, speed = needed_force(equations, i, step), state.joint_speeds[j] + equations.change[i]
        if speed > 0.0:
            needed += friction
        elif speed < 0.0:
            needed -= friction
        else:
            needed -= min(max(needed, -friction), friction)
        state.joint_torques[j] = min(max(needed, -most), most)
        if abs(needed) > most:
            equations.right[i] += step * state.joint_torques[j]
            equations.modes[i] = FREE
            if friction > 0.0:
                equations.modes[i], equations.change[i] = STUCK, -state.joint_speeds[j]
            return True
    elif equations.modes[i] == STUCK:
        needed = needed_force(equations, i, step)
        if abs(needed) > friction:
            work.slipping[j] = min(max(needed, -friction), friction)
            equations.right[i] += step * work.slipping[j]
            equations.modes[i] = FREE
            return True
    return False


@compiled
def wanted_speed(tree: TreeArrays, state: VehicleState, j: int, step: float) -> float:
    """Speed that a stiff servo aims at, such that its joint stays within its limits [rad/s or m/s]."""
    angle, most = state.joint_angles[j], tree.max_speeds[j]
    wanted = state.joint_commands[j, 1]
    if state.joint_commands[j, 0] == 0.0:
        wanted = (wanted - angle) * min(tree.joints.settings[j, RATE], 0.5 / step)
    wanted = min(max(wanted, -most), most)
    low, high = (tree.joint_limits[j, 0] - angle) / step, (tree.joint_limits[j, 1] - angle) / step
    return min(max(wanted, low), high)


@inlined
def solve_step(
    tree: TreeArrays,
    state: VehicleState,
    work: TreeWork,
    gravity: Vector,
    step: float,
    host: HostEquations,
) -> None:
    """Find the changes of all velocities in a step.

    What is expected at first: root, joints, and belts whose drives were at their limits change as in the last
    step, other belts come as near to what their drives aim at as these can take them alone.

    Args:
        tree: The vehicle's.
        state: Its state; forces of servos and drives are written.
        work: Work arrays with the links in place, `given` loads and contacts; the changes are written.
        gravity: Gravity in the world [m/s^2].
        step: Duration [s].
        host: Equations of another engine that moves the links; without rows where there is none.
    """
    first = ROOT + len(tree.joint_parents)
    aim_servos(tree, state, work, step)
    spread_changes(tree, work, state.last_changes)
    last = state.last_changes[first:]
    expect_belt_changes(drives_of(tree, state), tree.belt_masses, last, work.belt_changes, step)
    for n in range(PASSES):
        begin_loads(work.loads, work.given)
        add_contact_loads(work.contacts, work.changes, work.turns, work.belt_changes, n, work.loads, step)
        gather_equations(tree, state, work, gravity, step)
        _add_host(work.equations, host)
        add_joint_loads(tree, state, work, step)
        solve_velocities(tree, state, work, step)
        work.solutions[0] += 1
        if not any_contacts(work.contacts):
            break
        spread_changes(tree, work, work.equations.change)
        for t in range(len(tree.belt_masses)):
            work.belt_changes[t] = work.equations.change[first + t]
        if excess_of(work.contacts, work.changes, work.turns, work.belt_changes) <= TOLERANCE:
            break


@compiled
def spread_changes(tree: TreeArrays, work: TreeWork, change: NDArray[np.float64]) -> None:
    """Write the changes of the links' velocities that go with those of root and joints (6 + J and more,)."""
    write(work.changes, 0, (change[0], change[1], change[2]))
    write(work.turns, 0, (change[3], change[4], change[5]))
    for j in range(len(tree.joint_parents)):
        link, parent, along = j + 1, tree.joint_parents[j], row(work.axes, j)
        gained, turn = scaled(along, change[ROOT + j]), row(work.turns, parent)
        lever = offset(work.centers, link, work.centers[parent])
        moved = sum_of(row(work.changes, parent), cross(turn, lever))
        if tree.joint_kinds[j] == PRISMATIC:
            moved = sum_of(moved, gained)
        else:
            turn = sum_of(turn, gained)
            moved = sum_of(moved, cross(gained, offset(work.centers, link, work.joint_points[j])))
        write(work.changes, link, moved)
        write(work.turns, link, turn)
