"""Integration of a track's wheels and tensioners, compiled.

Wheels lie in the x-z plane of their parent link's track frame, their axles along its y. A wheel's
speed is the component of its angular velocity along the axle, in the world; turning its axle takes
gyroscopic moments. The parent link's acceleration does not act on a wheel's slide along its
tensioner.
"""

from __future__ import annotations

from segtrack.chain.running_gear.arrays import RunningGearArrays
from segtrack.chain.running_gear.wheel_kinematics import wheel_kinematics
from segtrack.coupling.parent_frames import ParentFrames, Reaction
from segtrack.ground.vectors import axis, compiled, cross, dot, row


@compiled
def start_wheel_loads(running_gear: RunningGearArrays, parents: ParentFrames, reaction: Reaction) -> None:
    """Set the loads on wheels and parent links to those of the tensioners."""
    wheels, state, loads = running_gear.wheels, running_gear.state, running_gear.loads
    for p in range(len(reaction.forces)):
        for k in range(3):
            reaction.forces[p, k] = reaction.torques[p, k] = 0.0
    for w in range(len(wheels.inertias)):
        loads.torques[w] = loads.slide_forces[w] = 0.0
        if wheels.slide_masses[w] > 0:
            force = wheels.preloads[w] - wheels.slide_stiffness[w] * state.slide_positions[w]
            force -= wheels.slide_damping[w] * state.slide_speeds[w]
            wheel = wheel_kinematics(parents, wheels, state, w)
            p, a, center = wheels.parents[w], wheel.slide_direction, wheel.position
            origin = parents.positions[p]
            lever = cross((center[0] - origin[0], center[1] - origin[1], center[2] - origin[2]), a)
            loads.slide_forces[w] = force
            for k in range(3):
                reaction.forces[p, k] -= force * a[k]
                reaction.torques[p, k] -= force * lever[k]


@compiled
def kick_wheels(
    running_gear: RunningGearArrays,
    parents: ParentFrames,
    reaction: Reaction,
    target: float,
    limit: float,
    sub_step: float,
    velocity_decay: float,
) -> float:
    """Change the wheels' speeds by the loads on them for `sub_step` [s], and drive one of them.

    Args:
        running_gear: Wheels, whose speeds are changed.
        parents: Parent links of the wheels.
        reaction: Added to: the drive's torque, and gyroscopic moments.
        target: Speed of the driven wheel relative to its parent link, which the drive reaches at
            once if it can [rad/s].
        limit: Largest torque of the drive, at least 0 [N m].
        sub_step: [s]
        velocity_decay: Fraction of speed that is left by damping towards rest, 1 without.

    Returns:
        The drive's torque on the driven wheel [N m].
    """
    wheels, state, loads = running_gear.wheels, running_gear.state, running_gear.loads
    driven = running_gear.teeth.wheel
    p = wheels.parents[driven]
    axle = axis(parents.rotations, p, 1)
    turning = dot(row(parents.angular_velocities_world, p), axle)
    wanted = wheels.inertias[driven] * (target + turning - velocity_decay * state.speeds[driven]) / sub_step
    torque = min(max(wanted - loads.torques[driven], -limit), limit)
    for k in range(3):
        reaction.torques[p, k] -= torque * axle[k]
    for w in range(len(wheels.inertias)):
        p, momentum = wheels.parents[w], wheels.inertias[w] * state.speeds[w]
        around = cross(row(parents.angular_velocities_world, p), axis(parents.rotations, p, 1))
        for k in range(3):
            reaction.torques[p, k] -= momentum * around[k]
        load = loads.torques[w] + (torque if w == driven else 0.0)
        state.speeds[w] = velocity_decay * state.speeds[w] + sub_step / wheels.inertias[w] * load
        if wheels.slide_masses[w] > 0:
            gained = sub_step / wheels.slide_masses[w] * loads.slide_forces[w]
            state.slide_speeds[w] = velocity_decay * state.slide_speeds[w] + gained
    return torque


@compiled
def drift_wheels(running_gear: RunningGearArrays, parents: ParentFrames, duration: float) -> None:
    """Turn and slide wheels for `duration` [s] at the speeds that they have."""
    wheels, state = running_gear.wheels, running_gear.state
    for w in range(len(wheels.inertias)):
        p = wheels.parents[w]
        turning = dot(row(parents.angular_velocities_world, p), axis(parents.rotations, p, 1))
        state.angles[w] += duration * (state.speeds[w] - turning)
        state.slide_positions[w] += duration * state.slide_speeds[w]
