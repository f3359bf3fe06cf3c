"""Attia's vehicle as particles; cut joints close the loops of its double A-arms, see `recursion`."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from segtrack.geometry import GRAVITY
from segtrack.reproduce.attia import vehicle
from segtrack.reproduce.attia.particles import Array, BodyPoint, ParticleMotion, RigidBody
from segtrack.reproduce.attia.recursion import ParticleLoads, ParticleSystem
from segtrack.reproduce.attia.vehicle import FRONT, REAR, Axle, HeaveReading, WheelRest


@dataclass(frozen=True, eq=False)
class Corner:
    """Suspension and wheel of one corner, by the indices of its bodies.

    Attributes:
        axle: Front or rear axle.
        rest: State at rest.
        arm: Index of the arm that the strut acts on.
        hub: Centre of the wheel, as a point of its body.
    """

    axle: Axle
    rest: WheelRest
    arm: int
    hub: BodyPoint


class ParticleVehicle:
    """Vehicle at its release, with the paper's sixteen degrees of freedom.

    Attributes:
        system: Particle system of the vehicle.
        corners: Corners: front left, front right, rear left, rear right.
    """

    def __init__(self) -> None:
        """Assemble the vehicle."""
        front, rear = vehicle.rest()
        self._bodies = [
            RigidBody(*_inertial(vehicle.CHASSIS, (0.0, 0.0, vehicle.REST_HEIGHT + vehicle.RELEASE)))
        ]
        self._cuts: list[tuple[int, int, Array]] = []
        places = [self._add_front(side, front) for side in (1, -1)]
        places += [self._add_rear(side, rear) for side in (1, -1)]
        self.system = ParticleSystem(self._bodies, self._cuts, gravity=GRAVITY)
        self.corners = [
            Corner(axle, state, arm, self.system.point(wheel, self._bodies[wheel].center))
            for axle, state, (arm, wheel) in zip(
                (FRONT, FRONT, REAR, REAR), (front, front, rear, rear), places, strict=True
            )
        ]

    def _add(self, body: RigidBody) -> int:
        self._bodies.append(body)
        return len(self._bodies) - 1

    def _add_front(self, side: int, state: WheelRest) -> tuple[int, int]:
        """Add lower arm, knuckle, wheel and upper arm of a side; return indices of lower arm and wheel."""
        length, up = FRONT.arm, np.array([0.0, 0.0, vehicle.BALL_HEIGHT])
        hinge = np.array([FRONT.x, side * (vehicle.HALF_TRACK - length), state.hub_height + vehicle.RELEASE])
        tip = np.array([0.0, side * math.cos(state.start_angle), math.sin(state.start_angle)]) * length
        axis, hub = (float(side), 0.0, 0.0), hinge + tip
        lower = self._add(
            RigidBody(*_inertial(vehicle.ARM, hinge - up + tip / 2), "revolute", 0, hinge - up, axis)
        )
        knuckle = self._add(RigidBody(*_inertial(vehicle.KNUCKLE, hub), "spherical", lower, hub - up))
        wheel = self._add(RigidBody(*_inertial(FRONT.wheel, hub), "revolute", knuckle, hub, (0.0, 1.0, 0.0)))
        upper = self._add(
            RigidBody(*_inertial(vehicle.ARM, hinge + up + tip / 2), "revolute", 0, hinge + up, axis)
        )
        self._cuts.append((upper, knuckle, hub + up))
        return lower, wheel

    def _add_rear(self, side: int, state: WheelRest) -> tuple[int, int]:
        """Add arm and wheel of a side; return their indices."""
        hinge = np.array([REAR.x + REAR.arm, side * vehicle.HALF_TRACK, state.hub_height + vehicle.RELEASE])
        tip = np.array([-math.cos(state.start_angle), 0.0, math.sin(state.start_angle)]) * REAR.arm
        arm = self._add(
            RigidBody(*_inertial(vehicle.ARM, hinge + tip / 2), "revolute", 0, hinge, (0.0, 1.0, 0.0))
        )
        hub = hinge + tip
        return arm, self._add(RigidBody(*_inertial(REAR.wheel, hub), "revolute", arm, hub, (0.0, 1.0, 0.0)))

    def strut(self, now: ParticleMotion, corner: Corner) -> float:
        """Force of a corner's strut with its damper [N]."""
        turned, rate = self.system.angle(now, corner.arm)
        angle, lever = corner.rest.start_angle + turned, corner.axle.lever
        return corner.rest.strut + lever * (vehicle.STRUT_STIFFNESS * angle + vehicle.STRUT_DAMPING * rate)

    def loads(self, now: ParticleMotion) -> ParticleLoads:
        """Loads of struts and tyres on the bodies."""
        joints = np.zeros(len(self.system.bodies))
        for corner in self.corners:
            joints[corner.arm] = -corner.axle.lever * self.strut(now, corner)
        up = np.array([0.0, 0.0, 1.0])
        return ParticleLoads(joints, [(corner.hub, tyre_load(now, corner) * up) for corner in self.corners])

    def release(self, times: Array) -> tuple[HeaveReading, ...]:
        """Release the vehicle, and return its states at times (n,) [s] after."""
        start = self.system.start
        return tuple(
            self.read(now) for now in self.system.integrate(start, np.zeros_like(start), times, self.loads)
        )

    def read(self, now: ParticleMotion) -> HeaveReading:
        """State of the vehicle."""
        front, rear = self.corners[0], self.corners[2]
        center, ahead, _ = now.places[0]  # The chassis' axis is that of its x.
        x, _, z = ahead - center
        return HeaveReading(
            height=float(center[2]),
            pitch=math.atan2(z, x),
            front_load=tyre_load(now, front),
            rear_load=tyre_load(now, rear),
            front_strut=self.strut(now, front),
            rear_strut=self.strut(now, rear),
        )


def tyre_load(now: ParticleMotion, corner: Corner) -> float:
    """Upward force of the ground on a tyre [N]."""
    depth, rising = vehicle.TYRE_RADIUS - now.place(corner.hub)[2], now.velocity(corner.hub)[2]
    push = vehicle.TYRE_STIFFNESS * depth - vehicle.TYRE_DAMPING * rising
    return float(max(push, 0.0)) if depth > 0 else 0.0


def _inertial(
    properties: tuple[float, tuple[float, float, float]], center: ArrayLike
) -> tuple[float, ArrayLike, Array]:
    """Mass [kg], centre and inertia (3, 3) [kg m^2] of a body whose principal axes are the world's."""
    mass, moments = properties
    return mass, center, np.diag(moments)
