"""A sub-step of a chain: loads on shoes, their bushings, and the change of velocities and places."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.shoe_state import ChainArrays
from segtrack.chain.shoes import Anchor, Chain, Constants, Joints, Vector
from segtrack.kernels import (
    add,
    arctangent,
    arm,
    axis,
    compiled,
    cosine_sine,
    cross,
    dot,
    entry,
    row,
    write_rotation,
)


class Frames(NamedTuple):
    """Kinematics of n shoes, and behind them the two anchors, at the instant of the loads.

    Attributes:
        positions: Centres of mass in the world (n + 2, 3) [m].
        rotations: From the shoe frames to the world (n + 2, 3, 3).
        velocities: Velocities of the centres of mass in the world (n + 2, 3) [m/s].
        angular_velocities_world: Angular velocities in the world (n + 2, 3) [rad/s].
    """

    positions: NDArray[np.float64]
    rotations: NDArray[np.float64]
    velocities: NDArray[np.float64]
    angular_velocities_world: NDArray[np.float64]


class Loads(NamedTuple):
    """Loads on n shoes, and behind them on the two anchors, in the world frame.

    Attributes:
        forces: Forces at the centres of mass (n + 2, 3) [N].
        torques: Torques about the centres of mass (n + 2, 3) [N m].
        pin_forces: Force of each joint's pin on its bushing (m, 3) [N].
    """

    forces: NDArray[np.float64]
    torques: NDArray[np.float64]
    pin_forces: NDArray[np.float64]


def allocate_work_arrays(chain: Chain) -> tuple[Frames, Loads]:
    """Kinematics and loads for the stages of a chain's sub-steps, with its anchors in place."""
    slots = chain.count + 2
    frames = Frames(*(np.zeros((slots, *shape)) for shape in ((3,), (3, 3), (3,), (3,))))
    ends = ((chain.start, chain.shoe.pin_position), (chain.end, chain.shoe.bushing_position))
    for slot, (anchor, end) in enumerate(ends, start=chain.count):
        if anchor is not None:
            _place(frames, slot, anchor, end)
    joints = len(chain.joints.pins)
    return frames, Loads(np.zeros((slots, 3)), np.zeros((slots, 3)), np.zeros((joints, 3)))


def joint_tension(chain: Chain, frames: Frames, pin_forces: NDArray[np.float64]) -> NDArray[np.float64]:
    """Tension (m,) in each joint [N]: the pin force (m, 3) along the mean direction of its two shoes.

    An anchored joint takes the direction of its one shoe.
    """
    shoe, joints = chain.shoe, chain.joints
    along = frames.rotations @ ((np.array(shoe.pin_position) - shoe.bushing_position) / shoe.pitch)
    along[chain.count :] = 0.0
    mean = along[joints.pins] + along[joints.bushings]
    return np.einsum("mi,mi->m", -pin_forces, mean) / np.linalg.norm(mean, axis=1)


def _place(frames: Frames, slot: int, anchor: Anchor, end: Vector) -> None:
    """Set the pose of a shoe that never moves, one end of which is the anchor's."""
    write_rotation(frames.rotations[slot], np.array(anchor.orientation))
    frames.positions[slot] = np.array(anchor.position) - frames.rotations[slot] @ end


@entry
def add_bushings(joints: Joints, frames: Frames, loads: Loads, constants: Constants) -> None:
    """Add the forces and torques of all joints (Omar 2014, equations 21-25, and the back-bending stop).

    With d from pin to bushing, and v the velocity of the bushing's shoe relative to the pin's shoe
    at the pin, the force on the bushing is -K d - C v. It acts on both shoes at the pin (equation
    24), so that the two torques balance and a chain that turns as a whole feels no damping.

    With the pin axes a and b of the two shoes, the torque on the bushing is K_t b x a, where
    equation 25 takes components of the rotation vector. For a small angle between the axes
    they agree; but this one derives from the potential K_t (1 - a . b) and leaves the rotation about
    the pin free however far the joint is turned, which equations 22-25 do for small angles only.

    A bending stiffness and the stop act along the gradient of the joint's angle; the stop pushes, and never
    pulls. A bending stiffness of zero costs nothing.
    """
    cosine, sine = cosine_sine(constants.back_bend)
    for joint in range(len(joints.pins)):
        i, j = joints.pins[joint], joints.bushings[joint]
        arm_i = arm(frames.rotations, i, constants.pin_position)
        arm_j = arm(frames.rotations, j, constants.bushing_position)
        dx = frames.positions[j, 0] - frames.positions[i, 0] + arm_j[0] - arm_i[0]
        dy = frames.positions[j, 1] - frames.positions[i, 1] + arm_j[1] - arm_i[1]
        dz = frames.positions[j, 2] - frames.positions[i, 2] + arm_j[2] - arm_i[2]
        arm_j = arm_j[0] - dx, arm_j[1] - dy, arm_j[2] - dz
        angular_i, angular_j = (
            row(frames.angular_velocities_world, i),
            row(frames.angular_velocities_world, j),
        )
        at_i, at_j = cross(angular_i, arm_i), cross(angular_j, arm_j)
        k, c = constants.stiffness, constants.damping
        force = (
            -k * dx - c * (frames.velocities[j, 0] + at_j[0] - frames.velocities[i, 0] - at_i[0]),
            -k * dy - c * (frames.velocities[j, 1] + at_j[1] - frames.velocities[i, 1] - at_i[1]),
            -k * dz - c * (frames.velocities[j, 2] + at_j[2] - frames.velocities[i, 2] - at_i[2]),
        )

        pin = axis(frames.rotations, i, 1)
        relative = angular_j[0] - angular_i[0], angular_j[1] - angular_i[1], angular_j[2] - angular_i[2]
        bent = cross(axis(frames.rotations, j, 1), pin)
        about = (constants.conical_damping - constants.pin_damping) * dot(relative, pin)
        kt, ct = constants.conical_stiffness, constants.conical_damping
        torque = (
            kt * bent[0] - ct * relative[0] + about * pin[0],
            kt * bent[1] - ct * relative[1] + about * pin[1],
            kt * bent[2] - ct * relative[2] + about * pin[2],
        )

        along_i, along_j = axis(frames.rotations, i, 0), axis(frames.rotations, j, 0)
        out_i = axis(frames.rotations, i, 2)
        ahead, down = dot(along_i, along_j), -dot(out_i, along_j)
        beyond_stop = down < 0 and down * cosine + ahead * sine < 0
        if beyond_stop or constants.pin_stiffness > 0:
            size = ahead * ahead + down * down
            gradient = cross(
                along_j,
                (
                    -(ahead * out_i[0] + down * along_i[0]) / size,
                    -(ahead * out_i[1] + down * along_i[1]) / size,
                    -(ahead * out_i[2] + down * along_i[2]) / size,
                ),
            )
            angle = arctangent(down, ahead)
            moment = -constants.pin_stiffness * angle
            if beyond_stop:
                beyond, rate = -angle - constants.back_bend, dot(relative, gradient)
                moment += max(0.0, constants.stop_stiffness * beyond - constants.stop_damping * rate)
            add(loads.torques, i, gradient, -moment)
            add(loads.torques, j, gradient, moment)

        loads.pin_forces[joint, 0], loads.pin_forces[joint, 1], loads.pin_forces[joint, 2] = force
        add(loads.forces, i, force, -1.0)
        add(loads.forces, j, force, 1.0)
        add(loads.torques, i, cross(arm_i, force), -1.0)
        add(loads.torques, j, cross(arm_j, force), 1.0)
        add(loads.torques, i, torque, -1.0)
        add(loads.torques, j, torque, 1.0)


_SMALL = 1e-4
"""Square of the tangent of half an angle whose fourth power is no more than rounding."""


@entry
def drift(shoes: ChainArrays, frames: Frames, constants: Constants, duration: float) -> None:
    """Move every shoe for `duration` [s] without loads, and write its kinematics.

    With p = I w, a shoe turns by Cayley's form of w + duration / 2 I^-1 (p x w), its angular velocity in
    the middle, and p turns back by as much: angular momentum in the world is kept to rounding, and energy in
    a drift up to the third power of the duration; over many it is not bounded. The drift of the Euler
    parameters' norm is fed back as in equations 18-20 of Omar 2014, read with the norm of all four
    parameters, the sign that shrinks a long one, and the whole error in each step: E <- E + (1 - |E|) E, with
    1 - |E| = (1 - |E|^2) / 2 near 1.
    """
    ix, iy, iz = constants.inertia
    per_x, per_y, per_z = 1 / ix, 1 / iy, 1 / iz
    half = duration / 2
    bend_x, bend_y, bend_z = half * per_x * (iy - iz), half * per_y * (iz - ix), half * per_z * (ix - iy)
    for i in range(len(shoes.positions)):
        sx, sy, sz = row(shoes.angular_velocities_body, i)
        x, y, z, w = (
            shoes.orientations[i, 0],
            shoes.orientations[i, 1],
            shoes.orientations[i, 2],
            shoes.orientations[i, 3],
        )
        a = half * (sx + bend_x * sy * sz)
        b = half * (sy + bend_y * sz * sx)
        c = half * (sz + bend_z * sx * sy)
        square = a * a + b * b + c * c
        if square < _SMALL:
            per_square = 1 - square * (1 - square * (1 - square))
            scale = 1 - square * (0.5 - square * (0.375 - square * 0.3125))
        else:
            per_square = 1 / (1 + square)
            scale = math.sqrt(per_square)
        scale *= 1 + (1 - (x * x + y * y + z * z + w * w)) / 2
        shoes.orientations[i, 0] = scale * (x + a * w + c * y - b * z)
        shoes.orientations[i, 1] = scale * (y + b * w + a * z - c * x)
        shoes.orientations[i, 2] = scale * (z + c * w + b * x - a * y)
        shoes.orientations[i, 3] = scale * (w - a * x - b * y - c * z)
        # p turned by -2 atan |(a, b, c)|: p - 2 / (1 + square) (1 - (a, b, c) x) (a, b, c) x p.
        px, py, pz = ix * sx, iy * sy, iz * sz
        u, v, t = b * pz - c * py, c * px - a * pz, a * py - b * px
        twice = 2 * per_square
        shoes.angular_velocities_body[i, 0] = sx - twice * per_x * (u - b * t + c * v)
        shoes.angular_velocities_body[i, 1] = sy - twice * per_y * (v - c * u + a * t)
        shoes.angular_velocities_body[i, 2] = sz - twice * per_z * (t - a * v + b * u)
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


@entry
def start_loads(loads: Loads, weight: Vector) -> None:
    """Set the loads to the shoes' weight (3,) in the world [N]."""
    anchors = len(loads.forces) - 2
    for i in range(len(loads.forces)):
        for k in range(3):
            loads.forces[i, k] = weight[k] if i < anchors else 0.0
            loads.torques[i, k] = 0.0


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
