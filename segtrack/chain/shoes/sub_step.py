"""The stages of one sub-step, compiled: drift, loads, kick (Omar 2014, sections 3 and 4.1).

A sub-step splits equation 16, the motion of a shoe in its own frame, in two. The drift moves
shoes without any load: centres of mass on straight lines, each shoe as a free top. The kick
changes velocities by loads at one instant. Half a drift, a kick and half a drift are second
order and time-symmetric (and symplectic without damping), and cost one evaluation of loads.

Both parts keep a shoe's momentum and angular momentum in the world to rounding, the drift
because it turns a shoe by a product of rotations about its own three axes, each a motion of
its own that leaves the angular momentum where it is. A rotation by `angle` has
tan(angle / 2) = angular velocity * time / 2, Cayley's form, which needs no trigonometry.

Loads are gathered in the world frame and turned into the shoe frames once, by the kick.

Damping acts on the velocity before the kick. That keeps a sub-step explicit and costs
accuracy of first order in sub-step * damping / mass, and none where no joint is damped.
"""

from __future__ import annotations

import math

from segtrack.chain.shoes.bushings import add_bushings
from segtrack.chain.shoes.loads import Frames, Loads
from segtrack.chain.shoes.model import Constants, Joints, Vector
from segtrack.chain.shoes.state import ChainArrays
from segtrack.ground.vectors import compiled, write_rotation


@compiled
def _turn(a: float, b: float, tangent: float) -> tuple[float, float]:
    """Two components seen from axes turned in their plane by an angle, given the tangent of its half."""
    scale = 1 / (1 + tangent * tangent)
    cosine, sine = (1 - tangent * tangent) * scale, 2 * tangent * scale
    return cosine * a + sine * b, cosine * b - sine * a


@compiled
def drift(shoes: ChainArrays, frames: Frames, constants: Constants, duration: float) -> None:
    """Move every shoe for `duration` [s] without loads, and write its kinematics.

    A shoe turns about its axes in the order x, y, z, y, x, by half its angular velocity about x and
    y each time. The drift of the Euler parameters' norm is fed back as in equations 18-20 of Omar
    2014, read with the norm of all four parameters, the sign that shrinks a long one, and the
    whole error in each step: E <- E + (1 - |E|) E, with 1 - |E| = (1 - |E|^2) / 2 near 1.
    """
    ix, iy, iz = constants.inertia
    per_x, per_y, per_z = 1 / ix, 1 / iy, 1 / iz
    for i in range(len(shoes.positions)):
        px, py, pz = (
            ix * shoes.angular_velocities_body[i, 0],
            iy * shoes.angular_velocities_body[i, 1],
            iz * shoes.angular_velocities_body[i, 2],
        )
        x, y, z, w = shoes.orientations[i]
        quarter = duration / 4

        a = quarter * per_x * px
        py, pz = _turn(py, pz, a)
        x, y, z, w = x + a * w, y + a * z, z - a * y, w - a * x
        b = quarter * per_y * py
        pz, px = _turn(pz, px, b)
        x, y, z, w = x - b * z, y + b * w, z + b * x, w - b * y
        c = 2 * quarter * per_z * pz
        px, py = _turn(px, py, c)
        x, y, z, w = x + c * y, y - c * x, z + c * w, w - c * z
        d = quarter * per_y * py
        pz, px = _turn(pz, px, d)
        x, y, z, w = x - d * z, y + d * w, z + d * x, w - d * y
        e = quarter * per_x * px
        py, pz = _turn(py, pz, e)
        x, y, z, w = x + e * w, y + e * z, z - e * y, w - e * x

        scale = 1 / math.sqrt((1 + a * a) * (1 + b * b) * (1 + c * c) * (1 + d * d) * (1 + e * e))
        scale *= 1 + (1 - scale * scale * (x * x + y * y + z * z + w * w)) / 2
        shoes.orientations[i, 0] = x * scale
        shoes.orientations[i, 1] = y * scale
        shoes.orientations[i, 2] = z * scale
        shoes.orientations[i, 3] = w * scale
        sx, sy, sz = px * per_x, py * per_y, pz * per_z
        (
            shoes.angular_velocities_body[i, 0],
            shoes.angular_velocities_body[i, 1],
            shoes.angular_velocities_body[i, 2],
        ) = sx, sy, sz
        for k in range(3):
            shoes.positions[i, k] += duration * shoes.velocities[i, k]
        write_frame(shoes, frames, i)


@compiled
def write_frame(shoes: ChainArrays, frames: Frames, i: int) -> None:
    """Write the kinematics of shoe i from its state."""
    r, spin = frames.rotations[i], shoes.angular_velocities_body[i]
    write_rotation(r, shoes.orientations[i])
    x, y, z = spin[0], spin[1], spin[2]
    for k in range(3):
        frames.positions[i, k] = shoes.positions[i, k]
        frames.velocities[i, k] = shoes.velocities[i, k]
        frames.angular_velocities_world[i, k] = r[k, 0] * x + r[k, 1] * y + r[k, 2] * z


@compiled
def start_loads(loads: Loads, weight: Vector) -> None:
    """Set the loads to the shoes' weight (3,) in the world [N]."""
    anchors = len(loads.forces) - 2
    for i in range(len(loads.forces)):
        for k in range(3):
            loads.forces[i, k] = weight[k] if i < anchors else 0.0
            loads.torques[i, k] = 0.0


@compiled
def gather_loads(joints: Joints, frames: Frames, loads: Loads, constants: Constants, weight: Vector) -> None:
    """Find the loads on the shoes of a chain alone: weight and joints."""
    start_loads(loads, weight)
    add_bushings(joints, frames, loads, constants)


@compiled
def kick(
    shoes: ChainArrays,
    frames: Frames,
    loads: Loads,
    constants: Constants,
    duration: float,
    velocity_decay: float,
) -> None:
    """Change every shoe's velocities by the loads acting for `duration` [s].

    `velocity_decay` is the fraction of velocity that is left by damping towards rest, 1 without.
    """
    ix, iy, iz = constants.inertia
    for i in range(len(shoes.positions)):
        r = frames.rotations[i]
        tx, ty, tz = loads.torques[i, 0], loads.torques[i, 1], loads.torques[i, 2]
        for k in range(3):
            shoes.velocities[i, k] = (
                velocity_decay * shoes.velocities[i, k] + duration / constants.mass * loads.forces[i, k]
            )
        shoes.angular_velocities_body[i, 0] = velocity_decay * shoes.angular_velocities_body[
            i, 0
        ] + duration / ix * (r[0, 0] * tx + r[1, 0] * ty + r[2, 0] * tz)
        shoes.angular_velocities_body[i, 1] = velocity_decay * shoes.angular_velocities_body[
            i, 1
        ] + duration / iy * (r[0, 1] * tx + r[1, 1] * ty + r[2, 1] * tz)
        shoes.angular_velocities_body[i, 2] = velocity_decay * shoes.angular_velocities_body[
            i, 2
        ] + duration / iz * (r[0, 2] * tx + r[1, 2] * ty + r[2, 2] * tz)


@compiled
def run_sub_steps(
    shoes: ChainArrays,
    joints: Joints,
    frames: Frames,
    loads: Loads,
    constants: Constants,
    weight: Vector,
    sub_step: float,
    count: int,
    velocity_decay: float,
) -> None:
    """Take `count` sub-steps of `sub_step` [s]; between two of them the half drifts are one."""
    drift(shoes, frames, constants, sub_step / 2)
    for step in range(count):
        gather_loads(joints, frames, loads, constants, weight)
        kick(shoes, frames, loads, constants, sub_step, velocity_decay)
        drift(shoes, frames, constants, sub_step if step + 1 < count else sub_step / 2)
