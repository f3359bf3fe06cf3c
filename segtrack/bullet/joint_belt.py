"""A belt whose joints PyBullet moves: PyBullet's tuples become names here, once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pybullet

from segtrack.bullet.engine import needing
from segtrack.bullet.frames import link_motion, place_base
from segtrack.bullet.joints import set_friction
from segtrack.bullet.model import Belt, BeltReading, Belts, JointedTrack, Shoes
from segtrack.geometry.phase import wrap_travel
from segtrack.terrain import Terrain


class JointBelt(Belt):
    """A belt of a vehicle's own links.

    Attributes:
        motors: Places in `jointed.joints` of the joints that the drive acts on, which share its force.
    """

    shoes = Shoes(np.zeros(0), np.zeros((0, 3)), np.zeros((0, 3)), 0.0)
    points = np.zeros((0, 3))

    def __init__(
        self,
        client: int,
        jointed: JointedTrack,
        motors: tuple[int, ...],
        period: float | None,
        bodies: tuple[int, ...] = (),
    ) -> None:
        """Take loaded joints; see `Belt` for what they are."""
        self._client = client
        self.jointed, self.motors, self.period, self.bodies = jointed, motors, period, bodies

    @property
    def segment_phases(self) -> list[float]:
        """Phase of each segment since home [m]; equal but for what the gears let slip."""
        jointed = self.jointed
        states = pybullet.getJointStates(jointed.body, jointed.joints, physicsClientId=self._client)
        return [state[0] / k for state, k in zip(states, jointed.ratios, strict=True)]

    def tell(self, speed: float, limit: float) -> None:
        """Give the motors a target speed of the belt [m/s] and a force limit [N], which they share."""
        jointed = self.jointed
        ratios = [jointed.ratios[m] for m in self.motors]
        pybullet.setJointMotorControlArray(
            jointed.body,
            [jointed.joints[m] for m in self.motors],
            pybullet.VELOCITY_CONTROL,
            targetVelocities=[speed * k for k in ratios],
            forces=[limit / len(ratios) / abs(k) for k in ratios],
            physicsClientId=self._client,
        )

    def roll_back(self, phase: float) -> float:
        """Set the belt back into its period (Okada et al. 2020, section III-C).

        All segments are seated on exactly one phase, in one call, with their velocities
        kept; what contact solving let slip between them is gone.

        Args:
            phase: Its phase now [m].

        Returns:
            Its phase after [m].
        """
        jointed = self.jointed
        assert self.period is not None
        folded = wrap_travel(phase, self.period)
        states = pybullet.getJointStates(jointed.body, jointed.joints, physicsClientId=self._client)
        pybullet.resetJointStatesMultiDof(
            jointed.body,
            jointed.joints,
            [[folded * k] for k in jointed.ratios],
            [[state[1]] for state in states],
            physicsClientId=self._client,
        )
        return folded

    def seat(self) -> None:
        """Put the belt's own bodies, if it has any, where its mount is, at rest; their joints stay."""
        if not self.bodies:
            return
        carrier = link_motion(self._client, self.jointed.body, self.jointed.carrier)
        mount = self.spec.mount
        pose = pybullet.multiplyTransforms(
            carrier.position, carrier.orientation, mount.xyz, pybullet.getQuaternionFromEuler(mount.rpy)
        )
        for body in self.bodies:
            place_base(self._client, body, *pose)

    def set_friction(self, friction: float) -> None:
        """Let the track have another friction against terrain of friction 1."""
        with needing(self._client, f"set the friction of {self.name}"):
            set_friction(self._client, self.jointed.body, self.jointed.joints, friction)

    def snapshot(self) -> None:
        """Nothing: PyBullet saves joints."""

    def restore(self, snapshot: None) -> None:
        """Nothing: PyBullet restores joints."""


class JointBelts(Belts):
    """All the driven joints of a vehicle, read in one call."""

    def __init__(self, client: int, body: int, belts: tuple[JointBelt, ...]) -> None:
        """Note which joints to read."""
        self._client, self._body = client, body
        self._ratios = [[belt.jointed.ratios[m] for m in belt.motors] for belt in belts]
        self._joints = [belt.jointed.joints[m] for belt in belts for m in belt.motors]

    def read(self) -> list[BeltReading]:
        """The belts, in the order of the tracks."""
        states = iter(pybullet.getJointStates(self._body, self._joints, physicsClientId=self._client))
        readings = []
        for ratios in self._ratios:
            position, speed, _, torque = next(states)
            k = ratios[0]
            phase, rate, force = position / k, speed / k, torque * k
            for k in ratios[1:]:
                position, speed, _, torque = next(states)
                phase, rate, force = phase + position / k, rate + speed / k, force + torque * k
            readings.append(BeltReading(phase / len(ratios), rate / len(ratios), force))
        return readings

    def advance(self, drainage: float) -> None:
        """Nothing: PyBullet moves joints."""

    def set_ground(self, terrains: Sequence[Terrain]) -> None:
        """Nothing: PyBullet knows the ground that joints' links touch."""
