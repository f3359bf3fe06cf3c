"""Trees of limbs as particles (Attia 2005), given in the motion of an articulated body."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from articulated import ArticulatedBody, Motion
from jointed_vehicles import Limb
from scipy.spatial.transform import Rotation

from segtrack.reproduce.attia.particles import Array, ParticleJoint, ParticleMotion, RigidBody
from segtrack.reproduce.attia.recursion import ParticleLoads, ParticleSystem


class ParticleTree:
    """A base with limbs, assembled as it moves; only kinematics is taken from the articulated body.

    Attributes:
        system: Its particles.
        now: Its motion.
    """

    def __init__(
        self,
        body: ArticulatedBody,
        base: tuple[float, Array, Array],
        limbs: Sequence[Limb],
        motion: Motion,
        fixed: bool,
        gravity: float = 9.81,
    ) -> None:
        """Take base and limbs in a motion."""
        self._frames, self._motion, self._limbs = body.frames(motion), motion, limbs
        self._moving = [limb.name for limb in limbs if limb.kind != "fixed"]
        names = ["base", *(limb.link for limb in limbs)]
        turn, origin = self._frames[0]
        mass, center, inertia = base
        joint: ParticleJoint = "held" if fixed else "free"
        bodies = [RigidBody(mass, turn @ center + origin, turn @ inertia @ turn.T, joint)]
        for limb, frame in zip(limbs, self._frames[1:], strict=True):
            joint = "revolute" if limb.kind == "continuous" else limb.kind  # type: ignore[assignment]
            bodies.append(limb_body(limb, frame, joint, names.index(limb.parent)))
        self.system = ParticleSystem(bodies, gravity=gravity)
        self.velocities = free_velocities(self.system, self._frames, body._velocities(motion)[2])
        self.now = self.system.look(self.system.start, self.velocities)

    def loads(self, forces: Array) -> ParticleLoads:
        """Loads of torques and forces at the moving joints (J,)."""
        joints = np.zeros(len(self.system.bodies))
        for b, limb in enumerate(self._limbs, start=1):
            if limb.name in self._moving:
                joints[b] = forces[self._moving.index(limb.name)]
        return ParticleLoads(joints)

    def accelerations(self, forces: Array, center: Array) -> tuple[Array, Array, Array]:
        """Acceleration of a point of the base's frame, the base's angular one (3,), and the joints' (J,)."""
        unknowns = np.append(self.system.accelerations(self.now, self.loads(forces)), 1.0)
        spins = [turning(self.now, b, unknowns) for b in range(len(self.system.bodies))]
        joints = []
        for b, limb in enumerate(self._limbs, start=1):
            if limb.kind == "fixed":
                continue
            body = self.system.bodies[b]
            axis, (spin, change) = np.asarray(body.axis), spins[body.parent]
            if limb.kind != "prismatic":
                joints.append(axis @ (spins[b][1] - change))
                continue
            position = self._motion.positions[self._moving.index(limb.name)]
            seat = self.system.point(body.parent, np.asarray(body.point) - position * axis)
            apart = (self.now.accelerations[b, 0] - self.now.acceleration(seat)) @ unknowns
            joints.append(axis @ apart + position * np.sum(np.cross(spin, axis) ** 2))
        turn, origin = self._frames[0]
        return (
            self.now.acceleration(self.system.point(0, turn @ center + origin)) @ unknowns,
            spins[0][1],
            np.array(joints),
        )


def limb_body(limb: Limb, frame: tuple[Array, Array], joint: ParticleJoint, parent: int) -> RigidBody:
    """A limb in its frame in the world, on a joint there."""
    turn, origin = frame
    own = turn @ Rotation.from_euler("xyz", limb.turn).as_matrix()
    return RigidBody(
        limb.mass,
        turn @ np.array(limb.center) + origin,
        own @ np.diag(limb.inertia) @ own.T,
        joint,
        parent,
        origin,
        turn @ np.array(limb.axis) / np.linalg.norm(limb.axis),
    )


def free_velocities(
    system: ParticleSystem, frames: Sequence[tuple[Array, Array]], spatial: Sequence[Array]
) -> Array:
    """Velocities of the free particles (P, 3), from frames and spatial velocities of the bodies."""
    velocities = []
    for b, place in zip(system.carriers, system.start, strict=True):
        turn, origin = frames[b]
        out = turn.T @ (place - origin)
        velocities.append(turn @ (spatial[b][3:] + np.cross(spatial[b][:3], out)))
    return np.array(velocities).reshape(-1, 3)


def turning(now: ParticleMotion, b: int, unknowns: Array) -> tuple[Array, Array]:
    """Angular velocity and angular acceleration of a body (3,), from its triad's motion.

    For E = (r21, r41, r21 x r41): E' = [w] E and E'' = ([w'] + [w]^2) E.
    """
    r, v, a = now.places[b], now.velocities[b], now.accelerations[b] @ unknowns
    (r2, r4), (v2, v4), (a2, a4) = r[1:] - r[0], v[1:] - v[0], a[1:] - a[0]
    edges = np.column_stack([r2, r4, np.cross(r2, r4)])
    rates = np.column_stack([v2, v4, np.cross(v2, r4) + np.cross(r2, v4)])
    bends = np.column_stack([a2, a4, np.cross(a2, r4) + 2 * np.cross(v2, v4) + np.cross(r2, a4)])
    return vector(rates @ np.linalg.inv(edges)), vector(bends @ np.linalg.inv(edges))


def vector(matrix: Array) -> Array:
    """Vector (3,) whose cross product is the skew part of a matrix."""
    skewed = matrix - matrix.T
    return np.array([skewed[2, 1], skewed[0, 2], skewed[1, 0]]) / 2
