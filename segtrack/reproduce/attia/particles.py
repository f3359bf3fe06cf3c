"""Rigid bodies as particles, and the motion of their points (Attia 2005, sections 2.1 to 2.3).

Four primary particles and six secondary ones, halfway between two of these (2.4g to l), have the body's mass,
centre and inertia. Any point of the body follows from the particles 1, 2 and 4 by (2.10), and so does the
primary particle 3, so that a body's motion is that of this triad: no rotations, no angular velocities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
ParticleJoint = Literal["free", "held", "revolute", "spherical", "prismatic", "fixed"]
_HALVES = np.vstack([np.eye(4), [(np.eye(4)[i] + np.eye(4)[k]) / 2 for i in range(4) for k in range(i)]])
"""Places of the ten particles from those of the primary ones (10, 4)."""


@dataclass(frozen=True, eq=False)
class RigidBody:
    """Body in the pose in which its system is assembled; vectors are in the world.

    Attributes:
        mass: Mass [kg].
        center: Centre of mass (3,) [m].
        inertia: Inertia about the centre of mass (3, 3) [kg m^2].
        joint: Joint to the parent; for a root, free or held.
        parent: Index of the parent body, which comes earlier; -1 for a root.
        point: Point on the joint (3,) [m].
        axis: Unit vector along the joint's axis (3,).
    """

    mass: float
    center: ArrayLike
    inertia: ArrayLike
    joint: ParticleJoint = "free"
    parent: int = -1
    point: ArrayLike = (0.0, 0.0, 0.0)
    axis: ArrayLike = (1.0, 0.0, 0.0)

    def primary_particles(self) -> Array:
        """Positions of the primary particles 1, 2, 4 and 3 (4, 3) [m].

        The first one lies in the joint, or for a root in the centre of mass, the others from there a radius
        of gyration along the axis and along two directions across.
        """
        axis = np.asarray(self.axis, dtype=float)
        across = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
        across /= np.linalg.norm(across)
        away = np.sqrt(np.trace(np.asarray(self.inertia)) / self.mass)
        first = np.asarray(self.point if self.parent >= 0 else self.center, dtype=float)
        return first + away * np.array([np.zeros(3), axis, across, np.cross(axis, across)])

    def mass_matrix(self) -> Array:
        """Matrix that maps the primary particles' velocities (4, 3) to momenta: masses (4, 4) [kg].

        The ten masses are those of (2.1); the matrix gathers them as (2.5) and (2.6) do.
        """
        primary = self.primary_particles()
        scale = np.linalg.norm(primary[1] - primary[0])
        x, y, z = (_HALVES @ (primary - np.asarray(self.center)) / scale).T
        inertia = np.asarray(self.inertia, dtype=float)
        # Second moments, sums of m x y, instead of moments of inertia.
        second = (np.trace(inertia) / 2 * np.eye(3) - inertia) / scale**2
        rows = np.array([np.ones(10), x, y, z, x * x, y * y, z * z, x * y, y * z, z * x])
        moments = [*np.diag(second), second[0, 1], second[1, 2], second[2, 0]]
        masses = np.linalg.solve(rows, [self.mass, 0.0, 0.0, 0.0, *moments])
        return _HALVES.T @ np.diag(masses) @ _HALVES


@dataclass(frozen=True, eq=False)
class BodyPoint:
    """Point fixed to a body.

    Attributes:
        body: Index of the body.
        invariants: tau, mu and lambda of (2.10) (3,) [-, -, 1/m].
    """

    body: int
    invariants: Array

    @classmethod
    def at(cls, body: int, triad: Array, place: ArrayLike) -> BodyPoint:
        """Make a point from a place (3,) [m] relative to a body's triad of particles (3, 3) [m].

        (2.10) is solved for the invariants: (2.7) to (2.11) lose the sign of lambda.
        """
        r1, r2, r4 = triad
        basis = np.column_stack([r2 - r1, r4 - r1, cross(r2 - r1, r4 - r1)])
        return cls(body, np.linalg.solve(basis, np.asarray(place, dtype=float) - r1))


@dataclass(frozen=True, eq=False)
class ParticleMotion:
    """Motion of a system of B bodies at one time.

    Attributes:
        places: Positions of particles 1, 2 and 4 of each body (B, 3, 3) [m].
        velocities: Velocities of these particles (B, 3, 3) [m/s].
        accelerations: Accelerations per unknown of the system; the last column is independent of the
            unknowns (B, 3, 3, n + 1).
    """

    places: Array
    velocities: Array
    accelerations: Array

    def place(self, point: BodyPoint) -> Array:
        """Position of a point (3,) [m] (equation 2.10)."""
        (r1, r2, r4), (tau, mu, lam) = self.places[point.body], point.invariants
        return r1 + tau * (r2 - r1) + mu * (r4 - r1) + lam * cross(r2 - r1, r4 - r1)

    def velocity(self, point: BodyPoint) -> Array:
        """Velocity of a point (3,) [m/s] (equation 2.12)."""
        (r1, r2, r4), (v1, v2, v4) = self.places[point.body], self.velocities[point.body]
        tau, mu, lam = point.invariants
        bent = cross(v2 - v1, r4 - r1) + cross(r2 - r1, v4 - v1)
        return v1 + tau * (v2 - v1) + mu * (v4 - v1) + lam * bent

    def acceleration(self, point: BodyPoint) -> Array:
        """Acceleration of a point per unknown of the system (3, n + 1).

        This is (2.14) with the term 2 lambda v21 x v41, which (2.13) and (2.15) have and (2.14) lacks.
        """
        (r1, r2, r4), (v1, v2, v4) = self.places[point.body], self.velocities[point.body]
        a1, a2, a4 = self.accelerations[point.body]
        tau, mu, lam = point.invariants
        found = a1 + tau * (a2 - a1) + mu * (a4 - a1)
        found += lam * (skew(r2 - r1) @ (a4 - a1) - skew(r4 - r1) @ (a2 - a1))
        found[:, -1] += 2 * lam * cross(v2 - v1, v4 - v1)
        return found


def cross(a: Array, b: Array) -> Array:
    """Cross product (3,); numpy's takes ten times as long."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return np.array([y * w - z * v, z * u - x * w, x * v - y * u])


def skew(a: Array) -> Array:
    """Matrix (3, 3) of the cross product with a vector (tilde in the paper)."""
    x, y, z = a.tolist()
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
