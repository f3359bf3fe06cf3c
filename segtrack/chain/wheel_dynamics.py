"""Kinematics of wheels on their parent links, and the change of their speeds and places."""

from __future__ import annotations

from typing import NamedTuple

from segtrack.chain.running_gear_arrays import RunningGearArrays, RunningGearState, WheelLoads, Wheels
from segtrack.chain.shoe_dynamics import Frames, Loads
from segtrack.chain.shoes import Vector
from segtrack.ground.kernels import compiled, inlined
from segtrack.ground.parent_frames import ParentFrames, Reaction
from segtrack.ground.vectors import add, axis, cross, dot, row, sum_of


class WheelKinematics(NamedTuple):
    """A wheel at an instant, in the world.

    Attributes:
        position: Wheel centre [m].
        velocity: Velocity of the wheel centre [m/s].
        angular_velocity_world: [rad/s]
        axle: Direction of its axle.
        slide_direction: Direction in which its tensioner slides.
    """

    position: Vector
    velocity: Vector
    angular_velocity_world: Vector
    axle: Vector
    slide_direction: Vector


class ContactWrench(NamedTuple):
    """Sum of a wheel's contact forces on shoes.

    Attributes:
        force: Force in the world [N].
        moment: About the wheel centre, in the world [N m].
    """

    force: Vector
    moment: Vector


@inlined
def wheel_kinematics(
    parents: ParentFrames, wheels: Wheels, state: RunningGearState, w: int
) -> WheelKinematics:
    """Pose and velocity of wheel w, its axle, and the direction in which it slides."""
    p, directions = wheels.parents[w], wheels.slide_directions
    r, parent_velocity = parents.rotations[p], parents.angular_velocities_world[p]
    ahead, up = directions[w, 0], directions[w, 1]
    x = wheels.positions[w, 0] + ahead * state.slide_positions[w]
    z = wheels.positions[w, 1] + up * state.slide_positions[w]
    out = r[0, 0] * x + r[0, 2] * z, r[1, 0] * x + r[1, 2] * z, r[2, 0] * x + r[2, 2] * z
    along = (r[0, 0] * ahead + r[0, 2] * up, r[1, 0] * ahead + r[1, 2] * up, r[2, 0] * ahead + r[2, 2] * up)
    axle = r[0, 1], r[1, 1], r[2, 1]
    turning = parent_velocity[0], parent_velocity[1], parent_velocity[2]
    at, own, fast = cross(turning, out), state.speeds[w] - dot(turning, axle), state.slide_speeds[w]
    origin, velocity = parents.positions[p], parents.velocities[p]
    return WheelKinematics(
        (origin[0] + out[0], origin[1] + out[1], origin[2] + out[2]),
        (
            velocity[0] + at[0] + fast * along[0],
            velocity[1] + at[1] + fast * along[1],
            velocity[2] + at[2] + fast * along[2],
        ),
        (turning[0] + own * axle[0], turning[1] + own * axle[1], turning[2] + own * axle[2]),
        axle,
        along,
    )


@inlined
def relative_twist(frames: Frames, i: int, wheel: WheelKinematics) -> tuple[Vector, Vector, Vector]:
    """Motion of shoe i relative to a wheel.

    Returns:
        Way from the wheel centre to the shoe's centre of mass [m], the velocity of the shoe's point at the
        wheel centre over that [m/s], and the relative angular velocity [rad/s], in the world.
    """
    p, v, spin, o = (
        row(frames.positions, i),
        row(frames.velocities, i),
        row(frames.angular_velocities_world, i),
        wheel.position,
    )
    away = p[0] - o[0], p[1] - o[1], p[2] - o[2]
    at, turning, own = cross(spin, away), wheel.angular_velocity_world, wheel.velocity
    return (
        away,
        (v[0] - own[0] - at[0], v[1] - own[1] - at[1], v[2] - own[2] - at[2]),
        (spin[0] - turning[0], spin[1] - turning[1], spin[2] - turning[2]),
    )


@inlined
def apply_to_shoe(
    loads: Loads, i: int, away: Vector, force: Vector, moment: Vector, wrench: ContactWrench
) -> ContactWrench:
    """Apply to shoe i, its centre of mass `away` from a wheel's centre [m], what a wheel exerts on it.

    Args:
        loads: Added to: load on the shoe.
        i: Index of the shoe.
        away: From the wheel centre to its centre of mass [m].
        force: On the shoe [N].
        moment: About the wheel centre [N m].
        wrench: Contact wrench of the wheel so far.

    Returns:
        The wheel's contact wrench, this added.
    """
    own = cross(away, force)
    add(loads.forces, i, force, 1.0)
    add(loads.torques, i, (moment[0] - own[0], moment[1] - own[1], moment[2] - own[2]), 1.0)
    return ContactWrench(sum_of(wrench.force, force), sum_of(wrench.moment, moment))


@inlined
def apply_reaction_to_wheel(
    parents: ParentFrames,
    wheels: Wheels,
    w: int,
    wheel: WheelKinematics,
    wrench: ContactWrench,
    reaction: Reaction,
    wheel_loads: WheelLoads,
) -> None:
    """Apply to wheel w and its parent link the reaction to the wheel's contact wrench on shoes."""
    total, moment, axle = wrench.force, wrench.moment, wheel.axle
    about_axle = dot(moment, axle)
    wheel_loads.torques[w] -= about_axle
    rest = total
    if wheels.slide_masses[w] > 0:
        a = wheel.slide_direction
        sliding = dot(total, a)
        wheel_loads.slide_forces[w] -= sliding
        rest = total[0] - sliding * a[0], total[1] - sliding * a[1], total[2] - sliding * a[2]
    p = wheels.parents[w]
    origin, center = parents.positions[p], wheel.position
    of_rest = cross((center[0] - origin[0], center[1] - origin[1], center[2] - origin[2]), rest)
    for k in range(3):
        reaction.forces[p, k] -= rest[k]
        reaction.torques[p, k] -= of_rest[k] + moment[k] - about_axle * axle[k]


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
            beyond = state.slide_positions[w] - state.slide_origins[w]
            force = wheels.preloads[w] - wheels.slide_stiffness[w] * beyond
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
