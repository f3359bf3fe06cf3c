"""The stages of one sub-step, compiled: drift, loads, kick (Omar 2014, sections 3 and 4.1).

A sub-step splits equation 16, the motion of a link in its own frame, in two. The drift moves
links without any load: centres of mass on straight lines, each shoe as a free top. The kick
changes velocities by loads at one instant. Half a drift, a kick and half a drift are second
order and time-symmetric (and symplectic without damping), and cost one evaluation of loads.

Both parts keep a link's momentum and angular momentum in the world to rounding, the drift
because it turns a shoe by a product of rotations about its own three axes, each a motion of
its own that leaves the angular momentum where it is. A rotation by `angle` has
tan(angle / 2) = spin * time / 2, Cayley's form, which needs no trigonometry.

Loads are gathered in the world frame and turned into the link frames once, by the kick.
Whatever else acts on the links adds its forces and torques in `gather_loads`.

Damping acts on the velocity before the kick. That keeps a sub-step explicit and costs
accuracy of first order in sub-step * damping / mass, and none where no joint is damped.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.shoes.bushings import add_bushings
from segtrack.chain.shoes.loads import Frames, Loads
from segtrack.chain.shoes.model import Constants, Joints, Vector
from segtrack.ground.vectors import compiled, write_rotation


class Motion(NamedTuple):
    """The arrays of a `ChainState`."""

    positions: NDArray[np.float64]
    orientations: NDArray[np.float64]
    velocities: NDArray[np.float64]
    spins: NDArray[np.float64]


@compiled
def _turn(a: float, b: float, tangent: float) -> tuple[float, float]:
    """Two components seen from axes turned in their plane by an angle, given the tangent of its half."""
    share = 1 / (1 + tangent * tangent)
    cosine, sine = (1 - tangent * tangent) * share, 2 * tangent * share
    return cosine * a + sine * b, cosine * b - sine * a


@compiled
def drift(motion: Motion, frames: Frames, constants: Constants, duration: float) -> None:
    """Move every link for `duration` [s] without loads, and write its frame.

    A shoe turns about its axes in the order x, y, z, y, x, by half its spin about x and y each
    time. The drift of the Euler parameters' norm is fed back as in equations 18-20 of Omar
    2014, read with the norm of all four parameters, the sign that shrinks a long one, and the
    whole error in each step: E <- E + (1 - |E|) E, with 1 - |E| = (1 - |E|^2) / 2 near 1.
    """
    ix, iy, iz = constants.inertia
    for i in range(len(motion.positions)):
        px, py, pz = ix * motion.spins[i, 0], iy * motion.spins[i, 1], iz * motion.spins[i, 2]
        x, y, z, w = motion.orientations[i]
        quarter = duration / 4

        a = quarter / ix * px
        py, pz = _turn(py, pz, a)
        x, y, z, w = x + a * w, y + a * z, z - a * y, w - a * x
        b = quarter / iy * py
        pz, px = _turn(pz, px, b)
        x, y, z, w = x - b * z, y + b * w, z + b * x, w - b * y
        c = 2 * quarter / iz * pz
        px, py = _turn(px, py, c)
        x, y, z, w = x + c * y, y - c * x, z + c * w, w - c * z
        d = quarter / iy * py
        pz, px = _turn(pz, px, d)
        x, y, z, w = x - d * z, y + d * w, z + d * x, w - d * y
        e = quarter / ix * px
        py, pz = _turn(py, pz, e)
        x, y, z, w = x + e * w, y + e * z, z - e * y, w - e * x

        share = 1 / math.sqrt((1 + a * a) * (1 + b * b) * (1 + c * c) * (1 + d * d) * (1 + e * e))
        share *= 1 + (1 - share * share * (x * x + y * y + z * z + w * w)) / 2
        motion.orientations[i, 0] = x * share
        motion.orientations[i, 1] = y * share
        motion.orientations[i, 2] = z * share
        motion.orientations[i, 3] = w * share
        sx, sy, sz = px / ix, py / iy, pz / iz
        motion.spins[i, 0], motion.spins[i, 1], motion.spins[i, 2] = sx, sy, sz
        r = frames.rotations[i]
        write_rotation(r, motion.orientations[i])
        for k in range(3):
            motion.positions[i, k] += duration * motion.velocities[i, k]
            frames.positions[i, k] = motion.positions[i, k]
            frames.velocities[i, k] = motion.velocities[i, k]
            frames.spins[i, k] = r[k, 0] * sx + r[k, 1] * sy + r[k, 2] * sz


@compiled
def start_loads(loads: Loads, weight: Vector) -> None:
    """Begin with the links' weight (3,) in the world [N] and nothing else."""
    anchors = len(loads.forces) - 2
    for i in range(len(loads.forces)):
        for k in range(3):
            loads.forces[i, k] = weight[k] if i < anchors else 0.0
            loads.torques[i, k] = 0.0


@compiled
def gather_loads(joints: Joints, frames: Frames, loads: Loads, constants: Constants, weight: Vector) -> None:
    """Find everything that acts on the links where their frames are."""
    start_loads(loads, weight)
    add_bushings(joints, frames, loads, constants)


@compiled
def kick(
    motion: Motion, frames: Frames, loads: Loads, constants: Constants, duration: float, kept: float
) -> None:
    """Change every link's velocities by the loads acting for `duration` [s].

    `kept` is the share of velocity that energy drainage leaves, 1 without.
    """
    ix, iy, iz = constants.inertia
    for i in range(len(motion.positions)):
        r = frames.rotations[i]
        tx, ty, tz = loads.torques[i, 0], loads.torques[i, 1], loads.torques[i, 2]
        for k in range(3):
            motion.velocities[i, k] = (
                kept * motion.velocities[i, k] + duration / constants.mass * loads.forces[i, k]
            )
        motion.spins[i, 0] = kept * motion.spins[i, 0] + duration / ix * (
            r[0, 0] * tx + r[1, 0] * ty + r[2, 0] * tz
        )
        motion.spins[i, 1] = kept * motion.spins[i, 1] + duration / iy * (
            r[0, 1] * tx + r[1, 1] * ty + r[2, 1] * tz
        )
        motion.spins[i, 2] = kept * motion.spins[i, 2] + duration / iz * (
            r[0, 2] * tx + r[1, 2] * ty + r[2, 2] * tz
        )


@compiled
def run_sub_steps(
    motion: Motion,
    joints: Joints,
    frames: Frames,
    loads: Loads,
    constants: Constants,
    weight: Vector,
    sub_step: float,
    count: int,
    kept: float,
) -> None:
    """Take `count` sub-steps of `sub_step` [s]; between two of them the half drifts are one."""
    drift(motion, frames, constants, sub_step / 2)
    for step in range(count):
        gather_loads(joints, frames, loads, constants, weight)
        kick(motion, frames, loads, constants, sub_step, kept)
        drift(motion, frames, constants, sub_step if step + 1 < count else sub_step / 2)
