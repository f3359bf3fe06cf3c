"""Velocity changes of a step with its contacts, cut to their limits at its end (`active_contacts`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from segtrack.ground import (
    PASSES,
    ROOT,
    TOLERANCE,
    add_contact_loads,
    begin_loads,
    excess_of,
    expected_change,
)
from segtrack.kernels import Vector, compiled, cross, inlined, offset, row, scaled, sum_of
from segtrack.native.dynamics import gather_equations
from segtrack.native.joint_loads import add_joint_loads, aim_servos
from segtrack.native.kinematics import write
from segtrack.native.solve import solve_velocities
from segtrack.native.tree import PRISMATIC, TreeArrays, TreeWork, VehicleState


@inlined
def solve_step(
    tree: TreeArrays,
    state: VehicleState,
    work: TreeWork,
    gravity: Vector,
    step: float,
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
    """
    first = ROOT + len(tree.joint_parents)
    aim_servos(tree, state, work, step)
    _spread_changes(tree, work, state.last_changes)
    for t in range(len(tree.belt_masses)):
        most, aim = step * state.limits[t] / tree.belt_masses[t], state.targets[t] - state.speeds[t]
        work.belt_changes[t] = expected_change(state.last_changes[first + t], aim, most)
    for n in range(PASSES):
        begin_loads(work.loads, work.given)
        add_contact_loads(work.contacts, work.changes, work.turns, work.belt_changes, n, work.loads, step)
        gather_equations(tree, state, work, gravity, step)
        add_joint_loads(tree, state, work, step)
        solve_velocities(tree, state, work, step)
        work.solutions[0] += 1
        if work.contacts.used[0] == 0:
            break
        _spread_changes(tree, work, work.equations.change)
        for t in range(len(tree.belt_masses)):
            work.belt_changes[t] = work.equations.change[first + t]
        if excess_of(work.contacts, work.changes, work.turns, work.belt_changes) <= TOLERANCE:
            break


@compiled
def _spread_changes(tree: TreeArrays, work: TreeWork, change: NDArray[np.float64]) -> None:
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
