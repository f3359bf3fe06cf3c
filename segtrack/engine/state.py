"""States of frames, bodies, belts, contacts, flippers and joints, as an engine reports them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class FrameMotion(NamedTuple):
    """Pose and velocity of a link frame in the world.

    Attributes:
        position: Origin of the frame (3,) [m].
        orientation: Quaternion (x, y, z, w).
        rotation: The orientation as a matrix (3, 3).
        center: Centre of mass of the link (3,) [m].
        velocity: Velocity of the centre of mass (3,) [m/s].
        angular_velocity: (3,) [rad/s].
    """

    position: NDArray[np.float64]
    orientation: tuple[float, float, float, float]
    rotation: NDArray[np.float64]
    center: NDArray[np.float64]
    velocity: NDArray[np.float64]
    angular_velocity: NDArray[np.float64]

    def velocity_at(self, point: Sequence[float]) -> NDArray[np.float64]:
        """Velocity in the world (3,) [m/s] of a point (3,) of the link's frame [m]."""
        arm = self.position + self.rotation @ np.asarray(point) - self.center
        (a, b, c), (x, y, z) = self.angular_velocity.tolist(), arm.tolist()
        # As np.cross, but faster for one point.
        return self.velocity + np.array([b * z - c * y, c * x - a * z, a * y - b * x])

    def velocities_at(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Velocities in the world (n, 3) [m/s] of points that are given in the world (n, 3) [m]."""
        return self.velocity + np.cross(self.angular_velocity, points - self.center)


class Bodies(NamedTuple):
    """Rigid bodies in motion.

    Attributes:
        masses: (n,) [kg].
        positions: Centres of mass in the world (n, 3) [m].
        velocities: Velocities of the centres of mass in the world (n, 3) [m/s].
        kinetic_energy: Translation and rotation, of all bodies [J].
    """

    masses: NDArray[np.float64]
    positions: NDArray[np.float64]
    velocities: NDArray[np.float64]
    kinetic_energy: float


class BeltState(NamedTuple):
    """A belt in motion.

    Attributes:
        travel: Since the start [m].
        speed: Positive when it drives the vehicle forward [m/s].
        force: Force of the drive on the belt along its travel [N].
        energy: Work of the drive on the belt since the start [J].
    """

    travel: float
    speed: float
    force: float
    energy: float


class Pedals(NamedTuple):
    """Pedals of a belt's drive.

    Attributes:
        throttle: Fraction of what the motor can exert at its speed, in [-1, 1]; negative drives backwards.
        brake: Fraction of what the brake can exert, in [0, 1].
    """

    throttle: float
    brake: float


@dataclass(frozen=True, eq=False)
class BeltContacts:
    """Contacts of one part of a belt that PyBullet collides.

    Attributes:
        track: Full name of the track.
        points: Points on the belt in the world (n, 3) [m].
        normal_forces: Forces that push the belt away (n,) [N].
        velocities: Velocities of the belt's face at the points in the world (n, 3) [m/s].
    """

    track: str
    points: NDArray[np.float64]
    normal_forces: NDArray[np.float64]
    velocities: NDArray[np.float64]


class FlipperState(NamedTuple):
    """A flipper in motion.

    Attributes:
        angle: Tip raised above its line at angle 0 [rad].
        speed: Raising positive [rad/s].
        torque: Torque of its motor in the raising direction [N m].
    """

    angle: float
    speed: float
    torque: float


class JointState(NamedTuple):
    """A joint of the body's URDF in motion.

    Attributes:
        position: [rad] or [m]
        speed: [rad/s] or [m/s]
        force: Torque [N m] or force [N] of its servo in the last step; 0 without one.
    """

    position: float
    speed: float
    force: float


class ActuatorState(NamedTuple):
    """All belts, flippers and joints of a vehicle in one reading, in the order of its description.

    Attributes:
        belt_travels: Belt travels since the start (T,) [m].
        belt_speeds: Belt speeds, forward positive (T,) [m/s].
        belt_forces: Drive forces along the belts' travel (T,) [N].
        belt_energies: Work of the drives since the start (T,) [J].
        flipper_angles: Flipper angles, tip up positive (F,) [rad].
        flipper_speeds: Flipper speeds, raising positive (F,) [rad/s].
        flipper_torques: Motor torques, raising positive (F,) [N m].
        joint_positions: Positions of the body's joints (J,) [rad or m].
        joint_speeds: Speeds of them (J,) [rad/s or m/s].
        joint_forces: Torques or forces of their servos in the last step (J,) [N m or N].
    """

    belt_travels: NDArray[np.float64]
    belt_speeds: NDArray[np.float64]
    belt_forces: NDArray[np.float64]
    belt_energies: NDArray[np.float64]
    flipper_angles: NDArray[np.float64]
    flipper_speeds: NDArray[np.float64]
    flipper_torques: NDArray[np.float64]
    joint_positions: NDArray[np.float64]
    joint_speeds: NDArray[np.float64]
    joint_forces: NDArray[np.float64]
