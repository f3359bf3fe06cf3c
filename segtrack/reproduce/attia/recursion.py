"""Rigid-body trees by recursive momenta of particles, with cut joints for loops (Attia 2005, section 2.4).

A revolute joint has the particles 1 and 2 of its body on its axis, where they belong to the parent; a
spherical joint has particle 1 there. Each particle that is left has three unknown accelerations, for which
there are these equations:

- fixed distances within a triad (2.20);
- balance of angular momentum about a joint of all that it carries, gathered from the tips to the root (2.21),
  along the axis of a revolute joint (step 3); of momentum along the axis of a prismatic one (step 4); of both
  in all directions for a free root (2.27);
- equal accelerations of the two particles of a cut joint, whose force is unknown, too (section 2.4.2).

The body on a prismatic joint takes the vectors of its triad from the parent, instead of four particles on the
axis, which leaves two of the conditions (2.29).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp

from segtrack.geometry import GRAVITY
from segtrack.reproduce.attia.particles import (
    Array,
    BodyPoint,
    ParticleJoint,
    ParticleMotion,
    RigidBody,
    cross,
    skew,
)

_OWN: Mapping[ParticleJoint, tuple[int, ...]] = {
    "free": (0, 1, 2),
    "held": (),
    "revolute": (2,),
    "spherical": (1, 2),
    "prismatic": (0,),
    "fixed": (),
}
"""Particles of the triad that do not belong to the parent."""


@dataclass(frozen=True, eq=False)
class ParticleLoads:
    """Loads on a system of B bodies, besides gravity.

    Attributes:
        joints: Torque [N m] or force [N] of each joint on its body, from the parent (B,).
        forces: Forces in the world (3,) [N], each with its point of action.
    """

    joints: Array
    forces: Sequence[tuple[BodyPoint, Array]] = ()


class ParticleSystem:
    """System of bodies on joints, with cut joints that close loops.

    Attributes:
        bodies: Bodies, parents first.
        start: Free particles' positions where the system was assembled (P, 3) [m].
        carriers: Index of each free particle's body (P,).
    """

    def __init__(
        self,
        bodies: Sequence[RigidBody],
        cuts: Sequence[tuple[int, int, ArrayLike]] = (),
        gravity: float = GRAVITY,
    ) -> None:
        """Replace bodies by particles.

        Args:
            bodies: Bodies, parents first.
            cuts: Spherical joints that close loops: indices of two bodies, and the joint's point (3,) [m].
            gravity: Downward acceleration [m/s^2].
        """
        self.bodies, self._gravity = tuple(bodies), np.array([0.0, 0.0, -gravity])
        primary = [body.primary_particles() for body in bodies]
        self._masses = [body.mass_matrix() for body in bodies]
        self._triads = np.array([places[:3] for places in primary])
        free = [(b, k) for b, body in enumerate(bodies) for k in _OWN[body.joint]]
        self.carriers = tuple(b for b, _ in free)
        self.start = np.array([self._triads[row] for row in free]).reshape(-1, 3)
        self._third = [self.point(b, places[3]) for b, places in enumerate(primary)]
        # Where the primary particles of a body were assembled, on its parent.
        self._seats = [
            [self.point(body.parent, place) for place in places] if body.parent >= 0 else []
            for body, places in zip(bodies, primary, strict=True)
        ]
        self._cuts = [(self.point(a, place), self.point(b, place)) for a, b, place in cuts]
        self._unknowns = 3 * (len(free) + len(cuts))

    def point(self, body: int, place: ArrayLike) -> BodyPoint:
        """Point of a body, given by its world position where the system was assembled (3,) [m]."""
        return BodyPoint.at(body, self._triads[body], place)

    def look(self, places: Array, velocities: Array) -> ParticleMotion:
        """Motion of all bodies from positions and velocities of the free particles (P, 3)."""
        count, row = len(self.bodies), 0
        now = ParticleMotion(
            self._triads.copy(), np.zeros((count, 3, 3)), np.zeros((count, 3, 3, self._unknowns + 1))
        )
        for b, body in enumerate(self.bodies):
            own, seat = _OWN[body.joint], self._seats[b]
            for k in own:
                now.places[b, k], now.velocities[b, k] = places[row], velocities[row]
                now.accelerations[b, k, :, 3 * row : 3 * row + 3] = np.eye(3)
                row += 1
            for k in (k for k in range(3) if k not in own and body.parent >= 0):
                now.places[b, k], now.velocities[b, k] = now.place(seat[k]), now.velocity(seat[k])
                now.accelerations[b, k] = now.acceleration(seat[k])
                if body.joint == "prismatic":
                    now.places[b, k] += now.places[b, 0] - now.place(seat[0])
                    now.velocities[b, k] += now.velocities[b, 0] - now.velocity(seat[0])
                    now.accelerations[b, k] += now.accelerations[b, 0] - now.acceleration(seat[0])
        return now

    def accelerations(self, now: ParticleMotion, loads: ParticleLoads) -> Array:
        """Solve for the unknowns (n,): accelerations of free particles [m/s^2], forces in cut joints [N]."""
        # Rates of momentum and of angular momentum about the world's origin per unknown, less what acts.
        momenta, turns = np.zeros((2, len(self.bodies), 3, self._unknowns + 1))
        for b, body in enumerate(self.bodies):
            a = np.concatenate([now.accelerations[b], now.acceleration(self._third[b])[None]])
            moments = self._masses[b] @ self._primary(now, b)[0]
            momenta[b] = np.tensordot(self._masses[b].sum(axis=0), a, 1)
            turns[b] = sum(skew(moment) @ own for moment, own in zip(moments, a, strict=True))
            momenta[b, :, -1] -= body.mass * self._gravity
            turns[b, :, -1] -= cross(moments.sum(axis=0), self._gravity)
        for point, force in loads.forces:
            momenta[point.body, :, -1] -= force
            turns[point.body, :, -1] -= cross(now.place(point), force)
        rows: list[Array] = []
        for i, (first, second) in enumerate(self._cuts):
            begin = 3 * (len(self.carriers) + i)
            for point, sign in ((first, 1.0), (second, -1.0)):
                momenta[point.body, :, begin : begin + 3] -= sign * np.eye(3)
                turns[point.body, :, begin : begin + 3] -= sign * skew(now.place(point))
            rows.extend(now.acceleration(first) - now.acceleration(second))
        for b in reversed(range(len(self.bodies))):
            rows += self._distances(now, b)
            rows += self._balances(now, b, momenta[b], turns[b], loads.joints[b])
            if (parent := self.bodies[b].parent) >= 0:
                momenta[parent] += momenta[b]
                turns[parent] += turns[b]
        equations = np.array(rows)
        return np.asarray(np.linalg.solve(equations[:, :-1], -equations[:, -1]), dtype=float)

    def _balances(
        self, now: ParticleMotion, b: int, momentum: Array, turn: Array, load: float
    ) -> list[Array]:
        """Rows of the momentum balance about a joint, for all bodies that it carries."""
        joint, (r1, r2, _) = self.bodies[b].joint, now.places[b]
        about, axis = turn - skew(r1) @ momentum, (r2 - r1) / np.linalg.norm(r2 - r1)
        if joint == "free":
            return [*about, *momentum]
        if joint == "spherical":
            return [*about]
        if joint in ("revolute", "prismatic"):
            row = axis @ (about if joint == "revolute" else momentum)
            row[-1] -= load
            return [row]
        return []

    def _distances(self, now: ParticleMotion, b: int) -> list[Array]:
        """Rows of the constant distances within a body (equations 2.20 and 2.29b)."""
        joint, rows = self.bodies[b].joint, []
        if joint == "prismatic":  # No distance from the axis, along two of the parent's directions.
            seat = self._seats[b]
            out = now.places[b, 0] - now.place(seat[0])
            out_rate = now.velocities[b, 0] - now.velocity(seat[0])
            for end in seat[2:]:
                across = now.place(end) - now.place(seat[0])
                across_rate = now.velocity(end) - now.velocity(seat[0])
                row = across @ (now.accelerations[b, 0] - now.acceleration(seat[0]))
                row += out @ (now.acceleration(end) - now.acceleration(seat[0]))
                row[-1] += 2 * across_rate @ out_rate
                rows.append(row)
            return rows
        for i, k in ((0, 1), (0, 2), (1, 2)):
            if {i, k} & {*_OWN[joint]}:
                row = (now.places[b, i] - now.places[b, k]) @ (
                    now.accelerations[b, i] - now.accelerations[b, k]
                )
                row[-1] += np.sum((now.velocities[b, i] - now.velocities[b, k]) ** 2)
                rows.append(row)
        return rows

    def angle(self, now: ParticleMotion, b: int) -> tuple[float, float]:
        """Angle [rad] of a revolute joint from its assembled position, and its rate [rad/s]."""
        _, _, home, side = self._seats[b]
        out, rate = now.places[b, 2] - now.places[b, 0], now.velocities[b, 2] - now.velocities[b, 0]
        parts, rates = [], []
        for end in (home, side):
            along, along_rate = now.place(end) - now.places[b, 0], now.velocity(end) - now.velocities[b, 0]
            parts.append(float(out @ along))
            rates.append(float(rate @ along + out @ along_rate))
        turning = (parts[0] * rates[1] - parts[1] * rates[0]) / (parts[0] ** 2 + parts[1] ** 2)
        return float(np.arctan2(parts[1], parts[0])), turning

    def gaps(self, now: ParticleMotion) -> Array:
        """Separation of the two particles of each cut joint, ideally 0 (c, 3) [m]."""
        return np.array([now.place(a) - now.place(b) for a, b in self._cuts]).reshape(-1, 3)

    def integrate(
        self, places: Array, velocities: Array, times: Array, loads: Callable[[ParticleMotion], ParticleLoads]
    ) -> list[ParticleMotion]:
        """Integrate the motion to times (n,) [s] from the free particles' positions and velocities (P, 3).

        Distances, which the equations keep only as accelerations, drift by the integrator's tolerance.
        """
        size = places.size

        def rates(_: float, y: Array) -> Array:
            now = self.look(y[:size].reshape(-1, 3), y[size:].reshape(-1, 3))
            return np.concatenate([y[size:], self.accelerations(now, loads(now))[:size]])

        first = np.concatenate([places.ravel(), velocities.ravel()])
        tight = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-12}
        solved = solve_ivp(rates, (times[0], times[-1]), first, t_eval=times, **tight)
        assert solved.success
        return [self.look(y[:size].reshape(-1, 3), y[size:].reshape(-1, 3)) for y in solved.y.T]

    def energy(self, now: ParticleMotion) -> float:
        """Kinetic and potential energy [J]."""
        total = 0.0
        for b, masses in enumerate(self._masses):
            r, v = self._primary(now, b)
            total += np.sum(v * (masses @ v)) / 2 - masses.sum(axis=0) @ r @ self._gravity
        return float(total)

    def momentum(self, now: ParticleMotion) -> tuple[Array, Array]:
        """Linear momentum (3,) [kg m/s], and angular momentum about the world's origin (3,) [kg m^2/s]."""
        linear, angular = np.zeros(3), np.zeros(3)
        for b, masses in enumerate(self._masses):
            r, v = self._primary(now, b)
            linear += masses.sum(axis=0) @ v
            angular += np.cross(masses @ r, v).sum(axis=0)
        return linear, angular

    def _primary(self, now: ParticleMotion, b: int) -> tuple[Array, Array]:
        """Positions and velocities of a body's primary particles (4, 3)."""
        third = self._third[b]
        return (
            np.vstack([now.places[b], now.place(third)]),
            np.vstack([now.velocities[b], now.velocity(third)]),
        )
