"""Poses, masses and contacts of links, and the guard of loops that forget `before_step`."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
import pybullet
from numpy.typing import NDArray

from segtrack.bullet.client import connection_required
from segtrack.engine import BeltContacts, FrameMotion, Lifetime
from segtrack.errors import DisconnectedError, InvalidValueError, NotReadyError, Phrase, RemovedError


def link_motion(client: int, body: int, link: int) -> FrameMotion:
    """Read pose and velocity of a link's frame in the world.

    Args:
        client: PyBullet's id of the client.
        body: PyBullet's unique id of the body.
        link: Index of the link; -1 is the root.

    Raises:
        DisconnectedError: The client is gone.
        RemovedError: The body is gone.
    """
    with connection_required(client, "read a link", body):
        if link == -1:
            center, inertial = pybullet.getBasePositionAndOrientation(body, physicsClientId=client)
            velocity, angular = pybullet.getBaseVelocity(body, physicsClientId=client)
            info = pybullet.getDynamicsInfo(body, -1, physicsClientId=client)
            frame = pybullet.invertTransform(info[3], info[4])
            position, orientation = pybullet.multiplyTransforms(center, inertial, *frame)
        else:
            # Without forward kinematics the pose is that before the last step.
            state = pybullet.getLinkState(
                body, link, computeLinkVelocity=1, computeForwardKinematics=1, physicsClientId=client
            )
            center, (position, orientation), (velocity, angular) = state[0], state[4:6], state[6:8]
    rotation = np.array(pybullet.getMatrixFromQuaternion(orientation)).reshape(3, 3)
    return FrameMotion(
        np.array(position), orientation, rotation, np.array(center), np.array(velocity), np.array(angular)
    )


@dataclass(frozen=True)
class LinkMass:
    """A link as a rigid body.

    Attributes:
        mass: [kg]
        inertia: About the centre of mass, in the link's axes (3, 3) [kg m^2].
    """

    mass: float
    inertia: NDArray[np.float64]


def link_mass(client: int, body: int, link: int) -> LinkMass:
    """Read mass and inertia of a link; -1 is the root."""
    info = pybullet.getDynamicsInfo(body, link, physicsClientId=client)
    turn = np.array(pybullet.getMatrixFromQuaternion(info[4])).reshape(3, 3)
    return LinkMass(float(info[0]), turn @ np.diag(info[2]) @ turn.T)


def place_base(client: int, body: int, position: Sequence[float], orientation: Sequence[float]) -> None:
    """Put the root link's frame at a pose in the world, at rest; joints stay as they are.

    Args:
        client: PyBullet's id of the client.
        body: PyBullet's unique id of the body.
        position: Origin in the world (3,) [m].
        orientation: Quaternion (x, y, z, w).
    """
    info = pybullet.getDynamicsInfo(body, -1, physicsClientId=client)
    center, inertial = pybullet.multiplyTransforms(position, orientation, info[3], info[4])
    pybullet.resetBasePositionAndOrientation(body, center, inertial, physicsClientId=client)
    pybullet.resetBaseVelocity(body, [0, 0, 0], [0, 0, 0], physicsClientId=client)


def scale_velocities(client: int, moving_joints: Mapping[int, Sequence[int]], factor: float) -> None:
    """Scale the velocities of bodies and of their moving joints (indices by body id) by a factor [-]."""
    for body, joints in moving_joints.items():
        linear, angular = pybullet.getBaseVelocity(body, physicsClientId=client)
        pybullet.resetBaseVelocity(
            body, [factor * v for v in linear], [factor * v for v in angular], physicsClientId=client
        )
        if joints:
            states = pybullet.getJointStates(body, joints, physicsClientId=client)
            pybullet.resetJointStatesMultiDof(
                body,
                joints,
                [[state[0]] for state in states],
                [[factor * state[1]] for state in states],
                physicsClientId=client,
            )


def moving_joints(client: int, body: int) -> list[int]:
    """PyBullet's indices of the joints of a body that are revolute or prismatic."""
    count = pybullet.getNumJoints(body, physicsClientId=client)
    kinds = [pybullet.getJointInfo(body, j, physicsClientId=client)[2] for j in range(count)]
    return [j for j, kind in enumerate(kinds) if kind in (pybullet.JOINT_REVOLUTE, pybullet.JOINT_PRISMATIC)]


def links_beyond(client: int, body: int, joint: int) -> set[int]:
    """PyBullet's indices of the links of a body that a joint moves."""
    links = {joint}
    for link in range(joint + 1, pybullet.getNumJoints(body, physicsClientId=client)):  # Parents come first.
        if pybullet.getJointInfo(body, link, physicsClientId=client)[16] in links:
            links.add(link)
    return links


def move_bodies(client: int, moving_joints: Mapping[int, Sequence[int]], velocity: Sequence[float]) -> None:
    """Set the velocities of bodies to a translation, with their joints at rest; poses stay.

    Args:
        client: PyBullet's id of the client.
        moving_joints: Indices of the joints that can move, by PyBullet's id of each body to set.
        velocity: Velocity in the world (3,) [m/s]; the angular velocity becomes 0.

    Raises:
        DisconnectedError: The client is gone.
        RemovedError: A body is gone.
    """
    for body, joints in moving_joints.items():
        with connection_required(client, "set a velocity", body):
            scale_velocities(client, {body: joints}, 0.0)
            pybullet.resetBaseVelocity(body, velocity, (0.0, 0.0, 0.0), physicsClientId=client)


def step_duration(client: int) -> float:
    """Duration of PyBullet's next step [s]."""
    return float(pybullet.getPhysicsEngineParameters(physicsClientId=client)["fixedTimeStep"])


def step_parts(client: int) -> int:
    """Number of sub-steps in which PyBullet takes each step, at least 1.

    It divides the impulses of the last part by the duration of all of them: forces that it reports are
    to be multiplied by their number.
    """
    return max(1, int(pybullet.getPhysicsEngineParameters(physicsClientId=client)["numSubSteps"]))


def vector(array: NDArray[np.float64]) -> tuple[float, float, float]:
    """Three numbers as a tuple of plain floats."""
    x, y, z = array.tolist()
    return x, y, z


def read_belt_contacts(
    client: int, body: int, name: str, links: Mapping[str, int], tracks: Mapping[int, str]
) -> list[BeltContacts]:
    """Read contacts of a vehicle's tracks whose belts are links of its own body.

    Args:
        client: PyBullet's id of the client.
        body: PyBullet's unique id of the body.
        name: Name of the vehicle.
        links: Link index by link name.
        tracks: Track name by index of its link.

    Returns:
        Contacts of each link that touches something.

    Raises:
        InvalidValueError: Something else than a track touches.
        DisconnectedError: The client is gone.
    """
    with connection_required(client, "read contacts", body):
        found = pybullet.getContactPoints(bodyA=body, physicsClientId=client)
    by_link: dict[int, list[tuple[tuple[float, ...], float]]] = {}
    for contact in found:
        link, point, normal_force = contact[3], contact[5], contact[9]
        if normal_force > 0:
            by_link.setdefault(link, []).append((point, normal_force))
    contacts, parts = [], step_parts(client)
    for link, touched in sorted(by_link.items()):
        if link not in tracks:
            part = next(part for part, number in links.items() if number == link)
            raise InvalidValueError(f"contacts of {name}", "of tracks alone", Phrase(f"one of {part}"))
        points = np.array([point for point, _ in touched])
        velocities = link_motion(client, body, link).velocities_at(points)
        forces = parts * np.array([force for _, force in touched])
        contacts.append(BeltContacts(tracks[link], points, forces, velocities))
    return contacts


_marks = count()
"""Numbers of marks of this process."""


class BodyMarks:
    """Marks on bodies, by which they are known from others that have their ids after `resetSimulation`."""

    def __init__(self, client: int, bodies: Sequence[int]) -> None:
        """Mark bodies of a client, by PyBullet's ids."""
        self._client, self._mark = client, f"{next(_marks)}"
        self._notes = {
            body: pybullet.addUserData(body, "segtrack", self._mark, physicsClientId=client)
            for body in bodies
        }

    def present(self) -> list[int]:
        """Return the ids of those that are there.

        Raises:
            pybullet.error: The client is gone.
        """
        notes = self._notes.items()
        marks = [(body, pybullet.getUserData(note, physicsClientId=self._client)) for body, note in notes]
        return [body for body, mark in marks if mark is not None and mark.decode() == self._mark]


_SLOW = 1e-3
"""A body that is slower than this [m/s] does not tell how many steps it has taken."""
_FORGOTTEN = 10
"""Times that a step without `before_step` is seen before it is told: a user may set a velocity, too."""
_FORGIVEN = 0.1
"""Part of such a time that is taken back by each step that was prepared."""


class LoopGuard:
    """Finds a loop that has forgotten `before_step`, calls it twice, or has reset the simulation.

    PyBullet does not count its steps. A contact presses only once a step has been solved, whatever was
    placed, reset or restored before; a vehicle that has contacts which press has been stepped. One that moves
    is elsewhere after a step, by its duration times the velocity after it, x' = x + v' h to rounding, and
    about k times as far after k steps, or where its user has moved or slowed it: that is a warning, and no
    error. One that stands still does not tell how many it has taken.

    Attributes:
        is_prepared: True once `before_step` has been called; then no forgotten one is left to find.
        prepared: Pose and velocity with which a step was prepared last; None if they have been set since.
        lifetime: Lifetime of the world that takes the steps; None in somebody else's loop.
    """

    def __init__(self, client: int, bodies: Sequence[int], name: str) -> None:
        """Guard a vehicle that has just been loaded, by PyBullet's ids of its bodies."""
        self._client, self._bodies, self._name = client, bodies, name
        self.is_prepared = False
        self.prepared: tuple[Any, ...] | None = None
        self.lifetime: Lifetime | None = None
        self._forgotten, self._is_warned = 0.0, False
        self._marks = BodyMarks(client, bodies)

    def begin_step(self, taken: float) -> None:
        """Note a step that is prepared, and refuse one that has been prepared before.

        Args:
            taken: Duration of the step that was prepared last [s].

        Raises:
            RemovedError: The vehicle is gone.
            NotReadyError: The vehicle moves and is where it was when a step was prepared last, so that none
                has been taken.
            DisconnectedError: The client is gone.
        """
        self.require_present(f"step {self._name}")
        client, body = self._client, self._bodies[0]
        with connection_required(client, f"step {self._name}", body):
            velocity = pybullet.getBaseVelocity(body, physicsClientId=client)
            state = *pybullet.getBasePositionAndOrientation(body, physicsClientId=client), *velocity
        if state == self.prepared and any(map(any, velocity)):
            reason = (
                "before_step() has been called, and no step been taken since; a state that is set back is "
                "set by robot.restore() or robot.reset_base_pose()"
            )
            raise NotReadyError(f"step {self._name}", reason)
        before, self.prepared = self.prepared, state
        if before is not None:
            self._count_forgotten(before[0], state[0], velocity[0], taken)

    def _count_forgotten(
        self, before: Sequence[float], after: Sequence[float], velocity: Sequence[float], taken: float
    ) -> None:
        """Warn, once, where many a step was not prepared, from positions [m] and velocity after [m/s]."""
        square = sum(v * v for v in velocity)
        if self._is_warned or not square > _SLOW**2:
            return
        way = sum((b - a) * v for a, b, v in zip(before, after, velocity, strict=True))
        several = way > 1.5 * square * taken
        self._forgotten = self._forgotten + 1.0 if several else max(self._forgotten - _FORGIVEN, 0.0)
        if self._forgotten >= _FORGOTTEN:
            self._is_warned = True
            logging.getLogger("segtrack").warning(
                "segtrack: %s is again and again as far from its last robot.before_step() as several steps "
                "take it: it belongs before each one, unless your program itself moves or slows the robot",
                self._name,
            )

    def require_present(self, what: str) -> None:
        """Refuse an action, in words, on a vehicle that is gone from a client.

        Raises:
            RemovedError: The simulation has been reset, or one of its bodies removed.
            DisconnectedError: Its world is closed, or the client gone.
        """
        if self.lifetime is not None:
            self.lifetime.require_open(what)
        try:
            present = self._marks.present()
        except pybullet.error:
            raise DisconnectedError(what) from None
        if len(present) < len(self._bodies):
            raise RemovedError(what)

    def check(self) -> None:
        """Refuse to go on with a vehicle whose loop forgets it, or that is gone.

        Raises:
            RemovedError: The vehicle is gone.
            NotReadyError: The simulation has taken steps, none of them with `before_step`.
            DisconnectedError: The client is gone.
        """
        self.require_present(f"use {self._name}")
        if self.is_prepared:
            return
        with connection_required(self._client, f"read {self._name}", self._bodies[0]):
            contacts = [
                contact
                for body in self._bodies
                for contact in pybullet.getContactPoints(bodyA=body, physicsClientId=self._client)
            ]
        if any(contact[9] > 0 for contact in contacts):
            reason = (
                "the simulation has taken steps without robot.before_step(), which belongs before each one"
            )
            raise NotReadyError(f"use {self._name}", reason)
