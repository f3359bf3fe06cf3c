"""Springs, dampers, buffers and servos with gains at the joints, and joints that follow others.

A force F(q, u) over position and speed, with slopes k and c, is taken linearly implicit, the damping at the
step's end and the position a share theta of the step ahead:

    F = F(q + theta h u, u) - (c + theta h k) (u' - u)

Its joint's row of the equations gets h F on the right and h (c + theta h k) on the diagonal. Of a spring on a
mass m, theta takes theta h omega / 2 of critical damping, and every step is stable from theta = 1/2 on. So

    theta = a / (a + STIFF), a = h^2 k / m:

soft springs swing undamped, and stiff ones do not shorten the step. A buffer acts where its joint would end
the step in it (`solve`).
"""

from __future__ import annotations

from segtrack.ground import ROOT, Equations, entry_of
from segtrack.kernels import compiled, inlined
from segtrack.native.joint_arrays import (
    DAMPER,
    DAMPING,
    GIVING_SERVO,
    INERTIA,
    KIND,
    LOWER,
    OFFSET,
    RATIO,
    SPRING,
    STIFFNESS,
    UPPER,
    JointArrays,
)
from segtrack.native.tree import TreeArrays, TreeWork, VehicleState

STIFF = 0.1
"""Stiffness over inertia and square of the step at which half a step is looked ahead [-]."""


@inlined
def aim_servos(tree: TreeArrays, state: VehicleState, work: TreeWork, step: float) -> None:
    """Let the positions at which servos with gains aim go on for a step [s]; their paces are written."""
    for j in range(len(tree.joint_parents)):
        settings = tree.joints.settings
        if settings[j, KIND] != GIVING_SERVO:
            continue
        position, before = state.joint_angles[j], state.joint_references[j]
        most, value = step * tree.max_speeds[j], state.joint_commands[j, 1]
        gained = step * value if state.joint_commands[j, 0] == 1.0 else value - before
        after = before + min(max(gained, -most), most)
        # No farther ahead than its largest force reaches.
        lead = tree.max_torques[j] / settings[j, STIFFNESS]
        after = min(max(after, position - lead), position + lead)
        after = min(max(after, tree.joint_limits[j, 0]), tree.joint_limits[j, 1])
        state.joint_references[j] = after
        work.paces[j] = min(max((after - before) / step, -tree.max_speeds[j]), tree.max_speeds[j])


@inlined
def add_joint_loads(tree: TreeArrays, state: VehicleState, work: TreeWork, step: float) -> None:
    """Add what springs, dampers and servos with gains do in a step to the equations.

    Args:
        tree: The vehicle's.
        state: Its state.
        work: Work arrays with the equations of `dynamics.gather_equations`.
        step: Duration [s].
    """
    joints = tree.joints
    for j in range(len(tree.joint_parents)):
        work.giving[j] = work.touching[j, 0] = work.touching[j, 1] = 0.0
        settings, position, speed = joints.settings, state.joint_angles[j], state.joint_speeds[j]
        gives = settings[j, KIND] == GIVING_SERVO
        _, stiffness, _ = spring_load(joints, j, position + step * speed, speed)
        if gives:
            stiffness += settings[j, STIFFNESS]
        share = 0.0
        if stiffness > 0.0:
            share = stiffness / (stiffness + STIFF * settings[j, INERTIA] / (step * step))
        ahead = position + share * step * speed
        force, stiffness, damping = spring_load(joints, j, ahead, speed)
        work.equations.right[ROOT + j] += step * force
        work.equations.matrix[ROOT + j, ROOT + j] += step * (damping + share * step * stiffness)
        if gives:
            _add_giving_servo(tree, state, work, j, share, step)
    for j in range(len(tree.joint_parents)):
        if joints.leaders[j] >= 0:
            _fold(work.equations, ROOT + j, ROOT + joints.leaders[j], joints.settings[j, RATIO])


@compiled
def spring_load(joints: JointArrays, j: int, position: float, speed: float) -> tuple[float, float, float]:
    """Force of spring and damper of a joint.

    Args:
        joints: The vehicle's.
        j: Index of the joint.
        position: Its position [rad or m].
        speed: Its speed [rad/s or m/s].

    Returns:
        The force [N m or N], stiffness [N m/rad or N/m] and damping [N m s/rad or N s/m] there.
    """
    force, slope = _curve_at(joints, j, SPRING, position)
    resisting, damping = _curve_at(joints, j, DAMPER, speed)
    return force - resisting, -slope, damping


@compiled
def touch_buffer(
    tree: TreeArrays, state: VehicleState, work: TreeWork, j: int, upper: int, step: float
) -> bool:
    """Add a buffer to the equations if its joint ends the step in it; true if it was added.

    Args:
        tree: The vehicle's.
        state: Its state.
        work: Work arrays with the changes of velocities without it.
        j: Index of the joint.
        upper: 1 for the upper buffer, 0 for the lower.
        step: Duration [s].
    """
    settings, first = tree.joints.settings, UPPER if upper == 1 else LOWER
    stiffness, damping = settings[j, first + 1], settings[j, first + 2]
    if stiffness == 0.0 or work.touching[j, upper] == 1.0:
        return False
    i, side, speed = ROOT + j, 2.0 * upper - 1.0, state.joint_speeds[j]
    share = stiffness / (stiffness + STIFF * settings[j, INERTIA] / (step * step))
    depth = side * (state.joint_angles[j] + share * step * speed - settings[j, first])
    push, resistance = stiffness * depth + side * damping * speed, damping + share * step * stiffness
    inside = depth + side * share * step * work.equations.change[i]
    if not (inside > 0.0 and push + side * resistance * work.equations.change[i] > 0.0):
        return False
    work.touching[j, upper] = 1.0
    work.equations.right[i] -= step * side * push
    work.equations.matrix[i, i] += step * resistance
    return True


@compiled
def _curve_at(joints: JointArrays, j: int, kind: int, x: float) -> tuple[float, float]:
    """Force of a curve at a position or speed, and its slope there."""
    count, points = joints.counts[j, kind], joints.curves[j, kind]
    if count == 0:
        return 0.0, 0.0
    i = 0
    while i < count - 2 and x >= points[i + 1, 0]:
        i += 1
    slope = (points[i + 1, 1] - points[i, 1]) / (points[i + 1, 0] - points[i, 0])
    return points[i, 1] + slope * (x - points[i, 0]), slope


@compiled
def _add_giving_servo(
    tree: TreeArrays, state: VehicleState, work: TreeWork, j: int, share: float, step: float
) -> None:
    """Add a servo with gains; see the module for the share."""
    i, settings = ROOT + j, tree.joints.settings
    speed, stiffness, damping = state.joint_speeds[j], settings[j, STIFFNESS], settings[j, DAMPING]
    ahead = state.joint_references[j] - state.joint_angles[j] - share * step * speed
    work.pushes[j] = stiffness * ahead + damping * (work.paces[j] - speed)
    work.giving[j] = damping + share * step * stiffness
    work.equations.right[i] += step * work.pushes[j]
    work.equations.matrix[i, i] += step * work.giving[j]


@compiled
def _fold(equations: Equations, follower: int, leader: int, ratio: float) -> None:
    """Let unknown `follower` change by `ratio` times what unknown `leader` changes by."""
    matrix, right = equations.matrix, equations.right
    for k in range(len(right)):
        if k != leader and k != follower:
            added = ratio * entry_of(matrix, follower, k)
            if k <= leader:
                matrix[leader, k] += added
            else:
                matrix[k, leader] += added
    both, own = entry_of(matrix, leader, follower), matrix[follower, follower]
    matrix[leader, leader] += ratio * (2.0 * both + ratio * own)
    right[leader] += ratio * right[follower]


@inlined
def move_followers(tree: TreeArrays, state: VehicleState) -> None:
    """Put joints that follow others where their rule says."""
    joints = tree.joints
    for j in range(len(tree.joint_parents)):
        leader = joints.leaders[j]
        if leader >= 0:
            state.joint_angles[j] = (
                joints.settings[j, OFFSET] + joints.settings[j, RATIO] * state.joint_angles[leader]
            )
            state.joint_speeds[j] = joints.settings[j, RATIO] * state.joint_speeds[leader]
