"""A vehicle's links in PyBullet, for belts that are integrated beside it.

Before each of PyBullet's steps such belts take the motion of the links that carry them, and go through
sub-steps of their own, in which these move as parts of one rigid vehicle, from half of the last step before
to half of the next one after. The mean of what the belts did to them is applied as a force for that step, so
that momentum is kept to rounding as long as steps are equal (`segtrack.ground.parent_frames`). What else acts
on the vehicle follows from its momentum (`segtrack.ground.outside`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pybullet
from numpy.typing import NDArray

from segtrack.bullet.frames import step_duration
from segtrack.bullet.model import Push
from segtrack.chain import rounded_down
from segtrack.description import Mount
from segtrack.errors import InvalidValueError
from segtrack.geometry import rotation_of
from segtrack.ground import (
    KINEMATIC,
    LINK_STATE,
    CompositeBody,
    FrameMounts,
    LinkMasses,
    ParentFrames,
    allocate_outside,
    compose_links,
    estimate_outside,
    forget_outside,
    place_frames,
    record_wrenches,
)

_NOTHING = Push((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


class EngineStep(NamedTuple):
    """Settings of PyBullet's next step.

    Attributes:
        duration: [s]
        gravity: Gravity in the world [m/s^2].
    """

    duration: float
    gravity: tuple[float, float, float]


def next_step(client: int, longest: float, belts: str) -> EngineStep:
    """Read PyBullet's time step and gravity.

    Args:
        client: PyBullet's id of the client.
        longest: Step that is allowed [s].
        belts: Kind of belts, for the message.

    Raises:
        InvalidValueError: The time step is too long.
    """
    engine = pybullet.getPhysicsEngineParameters(physicsClientId=client)
    if engine["fixedTimeStep"] > longest:
        expected = f"at most {rounded_down(longest):.3g} with {belts}"
        raise InvalidValueError("time_step [s]", expected, engine["fixedTimeStep"])
    x, y, z = (engine[f"gravityAcceleration{axis}"] for axis in "XYZ")
    return EngineStep(engine["fixedTimeStep"], (x, y, z))


class ParentLinks:
    """All links of a loaded vehicle; arrays about them have a row for each, the root's first.

    Attributes:
        masses: Masses and inertias of the links.
    """

    def __init__(self, client: int, body: int) -> None:
        """Weigh the links."""
        self._client, self._body = client, body
        self._joints = list(range(pybullet.getNumJoints(body, physicsClientId=client)))
        self._rotation, self._center, self._inverse = np.zeros((3, 3)), np.zeros(3), np.zeros((3, 3))
        self._outside = allocate_outside()
        self.weigh()

    @property
    def behind(self) -> float:
        """Time by which belts are behind the links: half of the last step, or of the next before any [s]."""
        return (float(self._outside.duration[0]) or step_duration(self._client)) / 2

    def weigh(self) -> None:
        """Read the links' masses; what is changed of them later counts when they are read again."""
        info = [
            pybullet.getDynamicsInfo(self._body, link, physicsClientId=self._client)
            for link in (-1, *self._joints)
        ]
        self.masses = LinkMasses(np.array([i[0] for i in info]), np.array([i[2] for i in info], dtype=float))

    def read(self) -> NDArray[np.float64]:
        """Motion of all links now (L, `LINK_STATE`)."""
        client, body = self._client, self._body
        center, inertial = pybullet.getBasePositionAndOrientation(body, physicsClientId=client)
        velocity, angular = pybullet.getBaseVelocity(body, physicsClientId=client)
        numbers = [*center, *inertial, *velocity, *angular]
        if self._joints:
            # Without forward kinematics the poses are those before the last step.
            states = pybullet.getLinkStates(
                body, self._joints, computeLinkVelocity=1, computeForwardKinematics=1, physicsClientId=client
            )
            for state in states:
                numbers += (*state[0], *state[1], *state[6], *state[7])
        return np.array(numbers).reshape(-1, LINK_STATE)

    def compose(self, motions: NDArray[np.float64], gravity: tuple[float, float, float]) -> CompositeBody:
        """All links together, as if no joint moved; one whose root has no mass is fixed to the world."""
        if self.masses.masses[0] == 0:
            return KINEMATIC._replace(gravity=gravity)
        inverse = compose_links(motions, self.masses, self._rotation, self._center, self._inverse)
        return CompositeBody(self._center, inverse, self._inverse, gravity, np.zeros(6))

    def feel(
        self,
        motions: NDArray[np.float64],
        vehicle: CompositeBody,
        duration: float,
        damping_rate: float,
        push: Push | None,
    ) -> None:
        """Fill in what acts on the vehicle from outside; `apply` is to follow.

        Args:
            motions: Motions of the links now (L, `LINK_STATE`).
            vehicle: All links together; one that is fixed to the world feels nothing.
            duration: Duration of the next step [s].
            damping_rate: Rate at which velocities decay besides [1/s].
            push: A user's force in that step.
        """
        if vehicle.inverse_mass != 0.0:
            force, point = _NOTHING if push is None else push
            left = math.exp(-damping_rate * duration)
            estimate_outside(
                self._outside, motions, self.masses, self._rotation, vehicle, force, point, duration, left
            )

    def forget(self) -> None:
        """Forget what acted on the vehicle, which was put elsewhere."""
        forget_outside(self._outside)

    def snapshot(self) -> list[NDArray[np.float64]]:
        """Return what is remembered of the last steps."""
        return [array.copy() for array in self._outside]

    def restore(self, snapshot: list[NDArray[np.float64]]) -> None:
        """Go back to a snapshot."""
        for array, values in zip(self._outside, snapshot, strict=True):
            array[:] = values

    def mount(self, links: Sequence[int], mount: Mount) -> FrameMounts:
        """The track frame on each of some links, which coincide where the vehicle is loaded: joints at 0.

        Args:
            links: PyBullet's link indices; the track is mounted on the first.
            mount: Mount of the track on it.
        """
        motions = self.read()
        rows = np.array(links, dtype=np.intp) + 1
        turns = [
            np.array(pybullet.getMatrixFromQuaternion(m[3:7].tolist())).reshape(3, 3) for m in motions[rows]
        ]
        info = pybullet.getDynamicsInfo(self._body, links[0], physicsClientId=self._client)
        position, orientation = pybullet.invertTransform(info[3], info[4])
        first = np.array(pybullet.getMatrixFromQuaternion(orientation)).reshape(3, 3)
        own = first @ rotation_of(mount.rpy), first @ np.array(mount.xyz) + position
        rotation, origin = turns[0] @ own[0], turns[0] @ own[1] + motions[rows[0], :3]
        return FrameMounts(
            rows,
            np.array([turn.T @ (origin - m[:3]) for turn, m in zip(turns, motions[rows], strict=True)]),
            np.array([turn.T @ rotation for turn in turns]),
        )

    def apply(
        self,
        motions: NDArray[np.float64],
        vehicle: CompositeBody,
        wrenches: NDArray[np.float64],
        span: float,
        duration: float,
    ) -> None:
        """Apply what belts exert on links in a step.

        PyBullet's velocities belong to times half a step before its places: those after a step belong to a
        time later by half of the last and half of this one. Belts act, and weight is to act, for that long,
        and PyBullet lets both act for the step alone.

        Args:
            motions: Motions of the links now (L, `LINK_STATE`).
            vehicle: All links together.
            wrenches: Mean force [N], and torque about its centre of mass [N m], on each link (L, 6).
            span: Time over which they are means [s].
            duration: Duration of the step [s].
        """
        if span != duration:
            wrenches = wrenches * (span / duration)
            weights = self.masses.masses[:, None] * np.array(vehicle.gravity)
            wrenches[:, :3] += weights * ((span - duration) / duration)
        if vehicle.inverse_mass != 0.0:
            record_wrenches(self._outside, motions, vehicle, wrenches)
        client, body, frame = self._client, self._body, pybullet.WORLD_FRAME
        apply_force, apply_torque = pybullet.applyExternalForce, pybullet.applyExternalTorque
        # PyBullet takes one load a call; plain lists halve the time of this loop.
        for link, (wrench, motion) in enumerate(zip(wrenches.tolist(), motions.tolist(), strict=True), -1):
            if any(wrench):
                apply_force(body, link, wrench[:3], motion[:3], frame, physicsClientId=client)
                apply_torque(body, link, wrench[3:], frame, physicsClientId=client)


def allocate_frames(count: int) -> ParentFrames:
    """Room for P frames."""
    return ParentFrames(np.zeros((count, 3)), np.zeros((count, 3, 3)), *np.zeros((2, count, 3)))


def frames_on(motions: NDArray[np.float64], mounts: FrameMounts) -> ParentFrames:
    """Return poses and velocities of frames on moving links."""
    frames = allocate_frames(len(mounts.links))
    place_frames(motions, mounts, frames)
    return frames
