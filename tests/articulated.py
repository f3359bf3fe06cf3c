"""Articulated bodies by Featherstone's articulated-body algorithm, for tests: no formula of the engine's.

Spatial vectors have the angular part first, in the frame of their body (R. Featherstone, Rigid Body Dynamics
Algorithms, Springer 2008, table 7.1 and section 9.4).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jointed_vehicles import Limb
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]


def skew(a: Array) -> Array:
    """Matrix (3, 3) of the cross product with a vector."""
    x, y, z = a
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def transform(rotation: Array, origin: Array) -> Array:
    """Motion transform (6, 6) into a frame of some rotation (columns) and origin in the frame before."""
    turn, zero = rotation.T, np.zeros((3, 3))
    return np.block([[turn, zero], [-turn @ skew(origin), turn]])


def motion_cross(v: Array) -> Array:
    """Matrix (6, 6) of a motion vector's cross product with motion vectors."""
    return np.block([[skew(v[:3]), np.zeros((3, 3))], [skew(v[3:]), skew(v[:3])]])


def spatial_inertia(mass: float, center: Array, inertia: Array) -> Array:
    """Inertia (6, 6) about a frame's origin, of one about the centre of mass (3, 3)."""
    c = skew(center)
    return np.block([[inertia + mass * c @ c.T, mass * c], [mass * c.T, mass * np.eye(3)]])


@dataclass
class Motion:
    """State of an articulated body.

    Attributes:
        rotation: Base frame in the world.
        origin: Its origin in the world (3,) [m].
        velocity: Spatial velocity of the base, in its own frame (6,).
        positions: Positions of the moving joints (J,).
        speeds: Their speeds (J,).
    """

    rotation: Rotation
    origin: Array
    velocity: Array
    positions: Array
    speeds: Array


class ArticulatedBody:
    """A base with limbs on it, each a body of its own, those on fixed joints too.

    Attributes:
        moving: Names of the joints that move, in the order of their limbs.
    """

    def __init__(
        self,
        base: tuple[float, Array, Array],
        limbs: Sequence[Limb],
        moving: Sequence[str],
        fixed: bool,
        gravity: float = 9.81,
    ) -> None:
        """Take the base's mass, centre and central inertia, and limbs, each after its parent."""
        names = ["base", *(limb.link for limb in limbs)]
        self.moving, self._limbs, self._fixed = tuple(moving), tuple(limbs), fixed
        self._gravity = np.array([0, 0, -gravity])
        self._parents = [names.index(limb.parent) for limb in limbs]
        self._inertias = [spatial_inertia(*base)]
        for limb in limbs:
            turn = Rotation.from_euler("xyz", limb.turn).as_matrix()
            own = turn @ np.diag(limb.inertia) @ turn.T
            self._inertias.append(spatial_inertia(limb.mass, np.array(limb.center, dtype=float), own))

    def _steps(self, positions: Array) -> list[tuple[Array, Array, Array]]:
        """Rotation and origin of each limb in its parent, and its joint's motion subspace (6,)."""
        steps = []
        for limb in self._limbs:
            rotation = Rotation.from_euler("xyz", limb.rpy)
            origin, subspace = np.array(limb.xyz, dtype=float), np.zeros(6)
            if limb.name in self.moving:
                axis = np.array(limb.axis) / np.linalg.norm(limb.axis)
                position = positions[self.moving.index(limb.name)]
                if limb.kind == "prismatic":
                    origin = origin + rotation.apply(position * axis)
                    subspace[3:] = axis
                else:
                    rotation = rotation * Rotation.from_rotvec(position * axis)
                    subspace[:3] = axis
            steps.append((rotation.as_matrix(), origin, subspace))
        return steps

    def frames(self, motion: Motion) -> list[tuple[Array, Array]]:
        """Rotation and origin of base and limbs in the world."""
        frames = [(motion.rotation.as_matrix(), motion.origin)]
        for parent, (rotation, origin, _) in zip(self._parents, self._steps(motion.positions), strict=True):
            turn, place = frames[parent]
            frames.append((turn @ rotation, place + turn @ origin))
        return frames

    def _velocities(self, motion: Motion) -> tuple[list[Array], list[Array], list[Array]]:
        """Transform from each limb's parent, its motion subspace, and velocities of base and limbs."""
        velocities, transforms, subspaces = [motion.velocity], [], []
        for limb, parent, (rotation, origin, subspace) in zip(
            self._limbs, self._parents, self._steps(motion.positions), strict=True
        ):
            rate = motion.speeds[self.moving.index(limb.name)] if limb.name in self.moving else 0.0
            transforms.append(transform(rotation, origin))
            subspaces.append(subspace)
            velocities.append(transforms[-1] @ velocities[parent] + subspace * rate)
        return transforms, subspaces, velocities

    def accelerations(self, motion: Motion, forces: Array) -> tuple[Array, Array]:
        """Spatial acceleration of the base in its frame (6,), and accelerations of the joints (J,).

        Args:
            motion: State of the body.
            forces: Torques [N m] or forces [N] at the joints (J,).
        """
        transforms, subspaces, velocities = self._velocities(motion)
        inertias = [own.copy() for own in self._inertias]
        biases = [-motion_cross(v).T @ own @ v for v, own in zip(velocities, self._inertias, strict=True)]
        count = len(self._limbs)
        drifts, pushes, pivots, columns = (
            [np.zeros(6)] * count,
            [0.0] * count,
            [1.0] * count,
            [np.zeros(6)] * count,
        )
        for i in reversed(range(count)):
            subspace, body = subspaces[i], i + 1
            inertia, bias = inertias[body], biases[body]
            if subspace.any():
                j = self.moving.index(self._limbs[i].name)
                drifts[i] = motion_cross(velocities[body]) @ subspace * motion.speeds[j]
                columns[i] = inertia @ subspace
                pivots[i] = subspace @ columns[i]
                pushes[i] = forces[j] - subspace @ bias
                inertia = inertia - np.outer(columns[i], columns[i]) / pivots[i]
                bias = bias + inertia @ drifts[i] + columns[i] * pushes[i] / pivots[i]
            into = transforms[i]
            inertias[self._parents[i]] = inertias[self._parents[i]] + into.T @ inertia @ into
            biases[self._parents[i]] = biases[self._parents[i]] + into.T @ bias
        weight = np.concatenate([np.zeros(3), motion.rotation.inv().apply(self._gravity)])
        base = -weight if self._fixed else -np.linalg.solve(inertias[0], biases[0])
        accelerations, result = [base], np.zeros(len(self.moving))
        for i in range(count):
            moved = transforms[i] @ accelerations[self._parents[i]] + drifts[i]
            if subspaces[i].any():
                j = self.moving.index(self._limbs[i].name)
                result[j] = (pushes[i] - columns[i] @ moved) / pivots[i]
                moved = moved + subspaces[i] * result[j]
            accelerations.append(moved)
        return (np.zeros(6) if self._fixed else base + weight), result

    def energy(self, motion: Motion) -> float:
        """Kinetic and potential energy [J]."""
        _, _, velocities = self._velocities(motion)
        total = 0.0
        for inertia, velocity, (turn, origin) in zip(
            self._inertias, velocities, self.frames(motion), strict=True
        ):
            mass = inertia[5, 5]
            moment = np.array([inertia[2, 4], inertia[0, 5], inertia[1, 3]])
            total += velocity @ inertia @ velocity / 2 - self._gravity @ (mass * origin + turn @ moment)
        return float(total)

    def momentum(self, motion: Motion) -> tuple[Array, Array]:
        """Momentum (3,), and angular momentum about the world's origin (3,)."""
        _, _, velocities = self._velocities(motion)
        linear, angular = np.zeros(3), np.zeros(3)
        for inertia, velocity, (turn, origin) in zip(
            self._inertias, velocities, self.frames(motion), strict=True
        ):
            own = inertia @ velocity
            linear += turn @ own[3:]
            angular += turn @ own[:3] + np.cross(origin, turn @ own[3:])
        return linear, angular

    def integrate(
        self, start: Motion, times: Array, forces: Callable[[Array, Array], Array], **given: Any
    ) -> list[Motion]:
        """Motions at times from 0 on, by an integrator of high order.

        Args:
            start: Motion at time 0.
            times: Times (n,) [s].
            forces: Torques and forces at the joints by positions and speeds.
            given: Settings of `scipy.integrate.solve_ivp`.
        """
        count = len(self.moving)

        def motion_of(y: Array) -> Motion:
            return Motion(Rotation.from_quat(y[:4]), y[4:7], y[7:13], y[13 : 13 + count], y[13 + count :])

        def rates(_: float, y: Array) -> Array:
            motion = motion_of(y)
            base, joints = self.accelerations(motion, forces(motion.positions, motion.speeds))
            spin, imaginary, real = motion.velocity[:3], y[:3], y[3]
            # Half the product of the quaternion and the angular velocity in the body's frame.
            turned = np.append(real * spin + np.cross(imaginary, spin), -imaginary @ spin)
            along = motion.rotation.apply(motion.velocity[3:])
            return np.concatenate([turned / 2, along, base, motion.speeds, joints])

        first = np.concatenate(
            [start.rotation.as_quat(), start.origin, start.velocity, start.positions, start.speeds]
        )
        settings = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-12} | given
        solved = solve_ivp(rates, (0.0, float(times[-1])), first, t_eval=times, **settings)
        assert solved.success
        return [motion_of(y) for y in solved.y.T]
