"""Kinematics of wheels on their parent links, and the change of their speeds and places."""

from __future__ import annotations

from typing import NamedTuple

from segtrack.chain.running_gear_arrays import RunningGearArrays, RunningGearState, WheelLoads, Wheels
from segtrack.chain.shoe_dynamics import Frames, Loads
from segtrack.chain.shoes import Vector
from segtrack.ground import ParentFrames, Reaction
from segtrack.kernels import add, arm, axis, compiled, cosine_sine, cross, dot, inlined, row, scaled, sum_of


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
    ahead, up, chord = directions[w, 0], directions[w, 1], state.slide_positions[w]
    x, z, half = wheels.positions[w, 0], wheels.positions[w, 1], wheels.slide_curvatures[w] / 2
    if half == 0.0:
        x, z = x + chord * ahead, z + chord * up
    else:  # On a circle: the chord has turned by half as much as the direction.
        cosine, sine = cosine_sine(half * chord)
        chord, ahead, up = sine / half, cosine * ahead - sine * up, cosine * up + sine * ahead
        x, z = x + chord * ahead, z + chord * up
        ahead, up = cosine * ahead - sine * up, cosine * up + sine * ahead
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
    moment, axle = wrench.moment, wheel.axle
    about_axle = dot(moment, axle)
    wheel_loads.torques[w] -= about_axle
    if wheels.slide_masses[w] > 0:
        wheel_loads.slide_forces[w] -= dot(wrench.force, wheel.slide_direction)
    p = wheels.parents[w]
    of_force = cross(_lever(parents, p, wheel), wrench.force)
    for k in range(3):
        reaction.forces[p, k] -= wrench.force[k]
        reaction.torques[p, k] -= of_force[k] + moment[k] - about_axle * axle[k]


@inlined
def _lever(parents: ParentFrames, p: int, wheel: WheelKinematics) -> Vector:
    """From the origin of parent frame p to a wheel's centre [m]."""
    return sum_of(wheel.position, scaled(row(parents.positions, p), -1.0))


@compiled
def start_wheel_loads(running_gear: RunningGearArrays, reaction: Reaction) -> None:
    """Set the loads on wheels to those of the tensioners, and those on parent links to none."""
    wheels, state, loads = running_gear.wheels, running_gear.state, running_gear.loads
    for p in range(len(reaction.forces)):
        for k in range(3):
            reaction.forces[p, k] = reaction.torques[p, k] = 0.0
    for w in range(len(wheels.inertias)):
        loads.torques[w] = loads.slide_forces[w] = 0.0
        if wheels.slide_masses[w] > 0:
            beyond = state.slide_positions[w] - state.slide_origins[w]
            force = wheels.preloads[w] - wheels.slide_stiffness[w] * beyond
            loads.slide_forces[w] = force - wheels.slide_damping[w] * state.slide_speeds[w]


@compiled
def kick_wheels(
    running_gear: RunningGearArrays,
    parents: ParentFrames,
    reaction: Reaction,
    target: float,
    limit: float,
    gravity: Vector,
    sub_step: float,
    velocity_decay: float,
) -> float:
    """Change the wheels' speeds by the loads on them for `sub_step` [s], and drive one of them.

    The driven wheel has the speed w, its link turns about the axle with W, and the drive's rotor, n turns a
    turn of the wheel, with W + n (w - W). With I of the wheel, J of the rotor as the wheel feels it, and the
    momentum about the axle L = I w + J / n (w - W), the rotor's at rest on the link being the link's own,

        (I + J) w' = M + T + (J - J / n) W',    M: contacts, T: drive; the link gets M - L'.

    For W' it takes that of the last sub-step.

    Args:
        running_gear: Wheels, whose speeds are changed.
        parents: Parent links of the wheels.
        reaction: Added to: what drives the wheels, gyroscopic moments, and what slides by its inertia.
        target: Speed of the driven wheel relative to its parent link, which the drive reaches at
            once if it can [rad/s].
        limit: Largest torque of the drive, at least 0 [N m].
        gravity: Gravity in the world [m/s^2].
        sub_step: [s]
        velocity_decay: Fraction of speed that is left by damping towards rest, 1 without.

    Returns:
        The drive's torque on the driven wheel [N m].
    """
    wheels, state, loads = running_gear.wheels, running_gear.state, running_gear.loads
    driven = running_gear.teeth.wheel
    p, inertia = wheels.parents[driven], wheels.inertias[driven]
    axle = axis(parents.rotations, p, 1)
    turning, speed = dot(row(parents.angular_velocities_world, p), axle), state.speeds[driven]
    gained, stored = turning - state.axle_rates[0], wheels.rotor_inertia
    state.axle_rates[0] = turning
    carried = (wheels.reflected_inertia - stored) * gained / sub_step
    wanted = inertia * (target + turning - velocity_decay * speed) / sub_step
    torque = min(max(wanted - loads.torques[driven] - carried, -limit), limit)
    driving = torque + carried
    kicked = sub_step / inertia * (loads.torques[driven] + driving)
    back = (inertia - wheels.reflected_inertia) * kicked + stored * (kicked - gained)
    for k in range(3):
        reaction.torques[p, k] -= (back / sub_step - loads.torques[driven]) * axle[k]
    for w in range(len(wheels.inertias)):
        p, momentum = wheels.parents[w], wheels.inertias[w] * state.speeds[w]
        if w == driven:
            momentum += stored * (speed - turning) - wheels.reflected_inertia * speed
        around = cross(row(parents.angular_velocities_world, p), axis(parents.rotations, p, 1))
        for k in range(3):
            reaction.torques[p, k] -= momentum * around[k]
        load = loads.torques[w] + (driving if w == driven else 0.0)
        state.speeds[w] = velocity_decay * state.speeds[w] + sub_step / wheels.inertias[w] * load
        if wheels.slide_masses[w] > 0:
            _kick_slide(running_gear, parents, reaction, w, gravity, sub_step, velocity_decay)
    return torque


@compiled
def _kick_slide(
    running_gear: RunningGearArrays,
    parents: ParentFrames,
    reaction: Reaction,
    w: int,
    gravity: Vector,
    sub_step: float,
    velocity_decay: float,
) -> None:
    """Change the speed of what slides on wheel w's tensioner by its loads for `sub_step` [s].

    A mass m at x + d(s), x being its place on the parent link at s = 0, and a = d'(s) its direction:

        m s'' = F + m (g - x'') . a - m (w x (w x d)) . a,    w: angular velocity of the link.

    Left out is w' . (d x a), which a straight slide has not. The link's mass contains m at x, and contacts
    act on the link in full (`apply_reaction_to_wheel`). What is left for the link is the change of the
    momentum m dd/dt that m has besides, which acts at x + d, and the couple m d x (g - x''). That momentum is
    kept from one sub-step to the next, so that what the link gets adds up to what the mass has, however the
    link turns in between. For x'' it takes that of the last sub-step; `carry_slides` adds its change.
    """
    wheels, state, loads = running_gear.wheels, running_gear.state, running_gear.loads
    p, mass, decay = wheels.parents[w], wheels.slide_masses[w], velocity_decay
    wheel = wheel_kinematics(parents, wheels, state, w)
    a, spin, lever = (
        wheel.slide_direction,
        row(parents.angular_velocities_world, p),
        _lever(parents, p, wheel),
    )
    slid = sum_of(lever, scaled(_place(parents, wheels, w), -1.0))
    fallen = sum_of(scaled(gravity, sub_step), scaled(row(state.place_changes, w), -1.0))
    around = cross(spin, slid)
    force = loads.slide_forces[w] - mass * dot(cross(spin, around), a)
    speed = decay * state.slide_speeds[w] + dot(fallen, a) + sub_step / mass * force
    state.slide_speeds[w] = speed
    momentum, before = scaled(sum_of(scaled(a, speed), around), mass), state.slide_momenta[w]
    lost = decay * before[0] - momentum[0], decay * before[1] - momentum[1], decay * before[2] - momentum[2]
    moment, couple, place = cross(lever, lost), cross(slid, fallen), _place_velocity(parents, wheels, w)
    for k in range(3):
        reaction.forces[p, k] += lost[k] / sub_step
        reaction.torques[p, k] += (moment[k] + mass * couple[k]) / sub_step
        before[k], loads.place_velocities[w, k] = momentum[k], decay * place[k]


@inlined
def _place(parents: ParentFrames, wheels: Wheels, w: int) -> Vector:
    """From the origin of its parent frame to wheel w's place, its tensioner not moved [m]."""
    return arm(parents.rotations, wheels.parents[w], (wheels.positions[w, 0], 0.0, wheels.positions[w, 1]))


@inlined
def _place_velocity(parents: ParentFrames, wheels: Wheels, w: int) -> Vector:
    """Velocity of that place on its parent link [m/s]."""
    p = wheels.parents[w]
    around = cross(row(parents.angular_velocities_world, p), _place(parents, wheels, w))
    return sum_of(row(parents.velocities, p), around)


@compiled
def carry_slides(running_gear: RunningGearArrays, parents: ParentFrames) -> None:
    """Correct idlers' slide speeds for the change in their parent link's acceleration since the last step."""
    wheels, state, loads = running_gear.wheels, running_gear.state, running_gear.loads
    for w in range(len(wheels.inertias)):
        if wheels.slide_masses[w] > 0:
            now, wheel = _place_velocity(parents, wheels, w), wheel_kinematics(parents, wheels, state, w)
            for k in range(3):
                change = now[k] - loads.place_velocities[w, k]
                state.slide_speeds[w] -= wheel.slide_direction[k] * (change - state.place_changes[w, k])
                state.place_changes[w, k] = change


@compiled
def drift_wheels(running_gear: RunningGearArrays, parents: ParentFrames, duration: float) -> None:
    """Turn and slide wheels for `duration` [s] at the speeds that they have."""
    wheels, state = running_gear.wheels, running_gear.state
    for w in range(len(wheels.inertias)):
        p = wheels.parents[w]
        turning = dot(row(parents.angular_velocities_world, p), axis(parents.rotations, p, 1))
        state.angles[w] += duration * (state.speeds[w] - turning)
        state.slide_positions[w] += duration * state.slide_speeds[w]
