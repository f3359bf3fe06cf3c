"""A track's wheels, compiled: where they are, how they move, and who bears what links do to them.

Wheels lie in the x-z plane of their carrier's track frame, their axles along its y. What a link
does to a wheel is shared out so that linear and angular momentum of links, wheels and carrier
together do not change: its moment about the axle turns the wheel, its component along a
tensioner's direction moves the wheel, and the carrier takes the rest. A wheel's speed is the
component of its angular velocity along the axle, seen from the world; turning its axle takes
gyroscopic moments. What the carrier's acceleration does to a wheel on its tensioner is left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.carrier import Carriers, Reaction
from segtrack.chain.loads import Frames, Loads
from segtrack.chain.model import Vector
from segtrack.ground.vectors import add, axis, compiled, cross, dot, inlined, row


class Wheels(NamedTuple):
    """The numbers of a track's W wheels, and of the rails that roll on them, as kernels read them.

    Attributes:
        carriers: Of each wheel (W,).
        positions: Of the middles in (x, z) of the track frame, without slide (W, 2) [m].
        directions: Along which tensioners slide, in (x, z) of the track frame (W, 2).
        slide_masses: Of wheels on tensioners; 0 for others (W,) [kg].
        preloads: Of the tensioners (W,) [N].
        slide_stiffness: The same (W,) [N/m].
        slide_damping: The same (W,) [N s/m].
        inertias: About the axles (W,) [kg m^2].
        rolls: Whether rails roll on the wheel (W,).
        radii: The largest of each wheel (W,) [m].
        reaches: Distance from an axle beyond which no parallel link's centre of mass is in contact (W,) [m].
        aside: Greatest lateral offset of what touches wheels, in the link frame [m]; links that are
            tilted against an axle reach farther by its share across the axle.
        margin: By which proximity lists reach farther [m].
        pieces: Of the profiles (W, P, 5): axial offsets of begin and end [m], radius [m] and slope at
            the begin, and the radius's second derivative [1/m]; behind a profile's last they are empty.
        rail: Where a shoe's rail begins, in the middle between the stations, in the link frame (3,) [m].
        span: From there to its end (3,) [m].
        stations: Lateral positions of the rails in the link frame (S,) [m].
        stiffness: Of a contact [N/m^1.5].
        damping: The same [N s/m].
        friction: Its coefficient.
        shear_stiffness: Of a contact that sticks [N/m].
    """

    carriers: NDArray[np.intp]
    positions: NDArray[np.float64]
    directions: NDArray[np.float64]
    slide_masses: NDArray[np.float64]
    preloads: NDArray[np.float64]
    slide_stiffness: NDArray[np.float64]
    slide_damping: NDArray[np.float64]
    inertias: NDArray[np.float64]
    rolls: NDArray[np.bool_]
    radii: NDArray[np.float64]
    reaches: NDArray[np.float64]
    aside: float
    margin: float
    pieces: NDArray[np.float64]
    rail: Vector
    span: Vector
    stations: NDArray[np.float64]
    stiffness: float
    damping: float
    friction: float
    shear_stiffness: float


class WheelMotion(NamedTuple):
    """The state of W wheels on a chain of n links; kernels move it in place.

    Attributes:
        angles: About the axles, relative to the carrier (W,) [rad].
        speeds: Angular velocities about the axles, relative to the world (W,) [rad/s].
        slides: Of the wheels along their tensioners' directions (W,) [m].
        slide_speeds: The same, relative to the carrier (W,) [m/s].
        shear: Elastic displacement of a rail on a wheel, around the axle and across (W, n, S, 2) [m].
    """

    angles: NDArray[np.float64]
    speeds: NDArray[np.float64]
    slides: NDArray[np.float64]
    slide_speeds: NDArray[np.float64]
    shear: NDArray[np.float64]


class WheelLoads(NamedTuple):
    """What acts on W wheels at an instant, apart from the drive.

    Attributes:
        torques: About the axles (W,) [N m].
        slides: Along the tensioners' directions (W,) [N].
    """

    torques: NDArray[np.float64]
    slides: NDArray[np.float64]


class Hub(NamedTuple):
    """A wheel at an instant, in the world.

    Attributes:
        position: Of its middle [m].
        velocity: The same [m/s].
        spin: Angular velocity [rad/s].
        axle: The direction of its axle.
        along: The direction in which its tensioner slides.
    """

    position: Vector
    velocity: Vector
    spin: Vector
    axle: Vector
    along: Vector


@inlined
def hub_of(carriers: Carriers, wheels: Wheels, motion: WheelMotion, w: int) -> Hub:
    """The middle of wheel w, its axle, and the direction along which it slides."""
    c, u = wheels.carriers[w], wheels.directions
    r, spin = carriers.rotation[c], carriers.spin[c]
    ahead, up = u[w, 0], u[w, 1]
    x = wheels.positions[w, 0] + ahead * motion.slides[w]
    z = wheels.positions[w, 1] + up * motion.slides[w]
    out = r[0, 0] * x + r[0, 2] * z, r[1, 0] * x + r[1, 2] * z, r[2, 0] * x + r[2, 2] * z
    along = (
        r[0, 0] * ahead + r[0, 2] * up,
        r[1, 0] * ahead + r[1, 2] * up,
        r[2, 0] * ahead + r[2, 2] * up,
    )
    axle = r[0, 1], r[1, 1], r[2, 1]
    turning = spin[0], spin[1], spin[2]
    at, own, fast = cross(turning, out), motion.speeds[w] - dot(turning, axle), motion.slide_speeds[w]
    p, v = carriers.position[c], carriers.velocity[c]
    return Hub(
        (p[0] + out[0], p[1] + out[1], p[2] + out[2]),
        (
            v[0] + at[0] + fast * along[0],
            v[1] + at[1] + fast * along[1],
            v[2] + at[2] + fast * along[2],
        ),
        (turning[0] + own * axle[0], turning[1] + own * axle[1], turning[2] + own * axle[2]),
        axle,
        along,
    )


@inlined
def slip_at(frames: Frames, i: int, lever: Vector, hub: Hub, out: Vector) -> Vector:
    """Velocity of link i over that of a wheel at a point [m/s].

    Args:
        frames: Of the links.
        i: The link.
        lever: From the link's centre of mass to the point [m].
        hub: Of the wheel.
        out: From the wheel's middle to the point [m].
    """
    link, wheel = cross(row(frames.spins, i), lever), cross(hub.spin, out)
    return (
        frames.velocities[i, 0] + link[0] - hub.velocity[0] - wheel[0],
        frames.velocities[i, 1] + link[1] - hub.velocity[1] - wheel[1],
        frames.velocities[i, 2] + link[2] - hub.velocity[2] - wheel[2],
    )


@inlined
def push(
    loads: Loads, i: int, lever: Vector, out: Vector, force: Vector, total: Vector, moment: Vector
) -> tuple[Vector, Vector]:
    """Apply a force [N] to link i at a point, see `slip_at`.

    Returns:
        The sums of the forces [N] and of their moments about the wheel's middle [N m], this one added.
    """
    add(loads.forces, i, force, 1.0)
    add(loads.torques, i, cross(lever, force), 1.0)
    turn = cross(out, force)
    return (
        (total[0] + force[0], total[1] + force[1], total[2] + force[2]),
        (moment[0] + turn[0], moment[1] + turn[1], moment[2] + turn[2]),
    )


@inlined
def bear(
    carriers: Carriers,
    wheels: Wheels,
    w: int,
    hub: Hub,
    total: Vector,
    moment: Vector,
    reaction: Reaction,
    wheel_loads: WheelLoads,
) -> None:
    """Give wheel w and the carrier the opposite of what the wheel does to links.

    That is in total a force [N], with a moment about the wheel's middle [N m].
    """
    about = dot(moment, hub.axle)
    wheel_loads.torques[w] -= about
    rest = total
    if wheels.slide_masses[w] > 0:
        share, a = dot(total, hub.along), hub.along
        wheel_loads.slides[w] -= share
        rest = total[0] - share * a[0], total[1] - share * a[1], total[2] - share * a[2]
    c = wheels.carriers[w]
    p = carriers.position[c]
    turn = cross((hub.position[0] - p[0], hub.position[1] - p[1], hub.position[2] - p[2]), rest)
    for k in range(3):
        reaction.force[c, k] -= rest[k]
        reaction.torque[c, k] -= turn[k] + moment[k] - about * hub.axle[k]


@compiled
def start_wheels(
    carriers: Carriers, wheels: Wheels, motion: WheelMotion, reaction: Reaction, wheel_loads: WheelLoads
) -> None:
    """Begin with what tensioners do to wheels and carrier, and nothing else."""
    for c in range(len(reaction.force)):
        for k in range(3):
            reaction.force[c, k] = reaction.torque[c, k] = 0.0
    for w in range(len(wheels.inertias)):
        wheel_loads.torques[w] = wheel_loads.slides[w] = 0.0
        if wheels.slide_masses[w] > 0:
            size = wheels.preloads[w] - wheels.slide_stiffness[w] * motion.slides[w]
            size -= wheels.slide_damping[w] * motion.slide_speeds[w]
            hub = hub_of(carriers, wheels, motion, w)
            c, a = wheels.carriers[w], hub.along
            p = carriers.position[c]
            turn = cross((hub.position[0] - p[0], hub.position[1] - p[1], hub.position[2] - p[2]), a)
            wheel_loads.slides[w] = size
            for k in range(3):
                reaction.force[c, k] -= size * a[k]
                reaction.torque[c, k] -= size * turn[k]


@compiled
def kick_wheels(
    carriers: Carriers,
    wheels: Wheels,
    motion: WheelMotion,
    wheel_loads: WheelLoads,
    reaction: Reaction,
    driven: int,
    target: float,
    limit: float,
    sub_step: float,
    kept: float,
) -> float:
    """Change the wheels' speeds by what acts on them for `sub_step` [s], and drive one of them.

    Args:
        carriers: Of the wheels.
        wheels: W of them.
        motion: The wheels'.
        wheel_loads: On the wheels.
        reaction: To which the drive's torque on the carrier is added.
        driven: The wheel on the drive.
        target: Its speed relative to the carrier, which the drive reaches at once if it can [rad/s].
        limit: Of the drive's torque, at least 0 [N m].
        sub_step: [s]
        kept: Share of speed that energy drainage leaves, 1 without.

    Returns:
        The drive's torque on the driven wheel [N m].
    """
    c = wheels.carriers[driven]
    axle = axis(carriers.rotation, c, 1)
    turning = dot(row(carriers.spin, c), axle)
    wanted = wheels.inertias[driven] * (target + turning - kept * motion.speeds[driven]) / sub_step
    torque = min(max(wanted - wheel_loads.torques[driven], -limit), limit)
    for k in range(3):
        reaction.torque[c, k] -= torque * axle[k]
    for w in range(len(wheels.inertias)):
        c, size = wheels.carriers[w], wheels.inertias[w] * motion.speeds[w]
        around = cross(row(carriers.spin, c), axis(carriers.rotation, c, 1))
        for k in range(3):
            reaction.torque[c, k] -= size * around[k]
        gained = wheel_loads.torques[w] + (torque if w == driven else 0.0)
        motion.speeds[w] = kept * motion.speeds[w] + sub_step / wheels.inertias[w] * gained
        if wheels.slide_masses[w] > 0:
            gained = sub_step / wheels.slide_masses[w] * wheel_loads.slides[w]
            motion.slide_speeds[w] = kept * motion.slide_speeds[w] + gained
    return torque


@compiled
def drift_wheels(carriers: Carriers, wheels: Wheels, motion: WheelMotion, duration: float) -> None:
    """Let wheels go on for `duration` [s] at the speeds that they have."""
    for w in range(len(wheels.inertias)):
        c = wheels.carriers[w]
        turning = dot(row(carriers.spin, c), axis(carriers.rotation, c, 1))
        motion.angles[w] += duration * (motion.speeds[w] - turning)
        motion.slides[w] += duration * motion.slide_speeds[w]
