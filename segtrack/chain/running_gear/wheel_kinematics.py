"""A wheel's place and velocity at an instant, and what a contact does to a link, the wheel and its carrier.

What a link does to a wheel is shared out so that linear and angular momentum of links, wheels and
carrier together do not change: its moment about the axle turns the wheel, its component along a
tensioner's direction moves the wheel, and the carrier takes the rest.
"""

from __future__ import annotations

from typing import NamedTuple

from segtrack.chain.parent_frames import Carriers, Reaction
from segtrack.chain.running_gear.arrays import WheelLoads, WheelMotion, Wheels
from segtrack.chain.shoes.loads import Frames, Loads
from segtrack.chain.shoes.model import Vector
from segtrack.ground.vectors import add, cross, dot, inlined, row


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
