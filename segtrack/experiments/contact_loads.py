"""How a vehicle stands on flat ground: where, how heavily, and how its belts run there.

It is read from each track model in its own way, and comes out as the planar problem of
`planar_friction`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from segtrack.bullet.contacts import read_contacts
from segtrack.bullet.frames import LinkMotion, link_motion
from segtrack.errors import InvalidValueError, Phrase
from segtrack.experiments.planar_friction import PlanarContacts
from segtrack.geometry.rotation import rotation_of
from segtrack.robot import Robot
from segtrack.robot.track import Track


@dataclass(frozen=True, eq=False)
class ContactLoads:
    """Contact points of a vehicle's tracks, in its body frame.

    Attributes:
        points: (n, 3) [m].
        normal_forces: (n,) [N].
        directions: Forward direction of each point's track, in the plane of the ground (n, 3).
        belt_speeds: Of each point's face backwards along that direction, relative to the vehicle
            (n,) [m/s]. The tip of a grouser on an arc is faster than the belt.
        friction: Coefficients along and across the track (n, 2) [-].
    """

    points: NDArray[np.float64]
    normal_forces: NDArray[np.float64]
    directions: NDArray[np.float64]
    belt_speeds: NDArray[np.float64]
    friction: NDArray[np.float64]

    @classmethod
    def joined(cls, parts: Sequence[ContactLoads], share: float = 1.0) -> ContactLoads:
        """Several together, each with a share of its load: the mean of m instants for a share of 1 / m."""
        return cls(
            np.concatenate([part.points for part in parts]),
            np.concatenate([part.normal_forces for part in parts]) * share,
            np.concatenate([part.directions for part in parts]),
            np.concatenate([part.belt_speeds for part in parts]),
            np.concatenate([part.friction for part in parts]),
        )

    def planar(self, reference: ArrayLike) -> PlanarContacts:
        """The same in the plane of the body's x and y axes, about a reference point (2,) [m]."""
        directions = self.directions[:, :2]
        return PlanarContacts(
            points=self.points[:, :2] - np.asarray(reference),
            loads=self.normal_forces,
            friction=self.friction,
            directions=directions / np.linalg.norm(directions, axis=1, keepdims=True),
            belt_speeds=self.belt_speeds,
        )


def contact_loads(robot: Robot) -> ContactLoads:
    """Read how a robot stands on flat ground, after the latest step.

    Raises:
        InvalidValueError: Nothing touches the ground, or something else than a track does.
        DisconnectedError: The client is gone.
    """
    chains = any(track.belt.chain is not None for track in robot.tracks.values())
    touches = _of_shoes(robot) if chains else _of_links(robot)
    if not touches:
        raise InvalidValueError(f"contacts of {robot.name}", "at least one", Phrase("none"))
    body = link_motion(robot.client_number, robot.body, -1)
    return ContactLoads.joined([_in_body(body, robot.client_number, touch) for touch in touches])


@dataclass(frozen=True, eq=False)
class _Touch:
    """Where a track touches the ground, in the world.

    Attributes:
        track: Which.
        points: (n, 3) [m].
        normal_forces: (n,) [N].
        velocities: Of the track's faces there (n, 3) [m/s].
    """

    track: Track
    points: NDArray[np.float64]
    normal_forces: NDArray[np.float64]
    velocities: NDArray[np.float64]


def _of_links(robot: Robot) -> list[_Touch]:
    """Where belts touch that are links of the vehicle's body."""
    contacts = read_contacts(robot.client_number, robot.body)
    owners = {joint: track for track in robot.tracks.values() for joint in track.belt.jointed.joints}
    touches = []
    for link in np.unique(contacts.links).tolist():
        if link not in owners:
            name = next(name for name, number in robot.links.items() if number == link)
            raise InvalidValueError(f"contacts of {robot.name}", "of tracks alone", Phrase(f"one of {name}"))
        there = contacts.links == link
        points = contacts.points[there]
        velocities = _velocities_at(link_motion(robot.client_number, robot.body, link), points)
        touches.append(_Touch(owners[link], points, contacts.normal_forces[there], velocities))
    return touches


def _of_shoes(robot: Robot) -> list[_Touch]:
    """Where link chains touch: a shoe's load is that of its face's left and right edge, half each."""
    touches = []
    for track in robot.tracks.values():
        design, reading = track.chain_design, track.read_chain()
        down = reading.ground_force > 0
        if not down.any():
            continue
        axes = Rotation.from_quat(reading.orientations[down]).as_matrix()
        half = np.array([tread.width / 2 for tread in design.treads])[design.kinds][down]
        aside = half[:, None] * axes[:, :, 1]
        velocities = np.einsum("nij,nj->ni", axes[:, :, :2], reading.slip[down])
        middles = reading.positions[down]
        points = np.concatenate([middles + aside, middles - aside])
        forces = np.tile(reading.ground_force[down] / 2, 2)
        touches.append(_Touch(track, points, forces, np.tile(velocities, (2, 1))))
    return touches


def _in_body(body: LinkMotion, client: int, touch: _Touch) -> ContactLoads:
    """The same in the body frame, and the belt's own motion, which is relative to what carries it."""
    jointed, part = touch.track.belt.jointed, touch.track.part
    carrier = link_motion(client, jointed.body, jointed.carrier)
    axle = carrier.rotation @ rotation_of(part.mount.rpy)[:, 1]
    forward = np.cross(axle, body.rotation[:, 2])
    forward /= np.linalg.norm(forward)
    n = len(touch.points)
    return ContactLoads(
        points=(touch.points - body.position) @ body.rotation,
        normal_forces=touch.normal_forces,
        directions=np.tile(forward @ body.rotation, (n, 1)),
        belt_speeds=(_velocities_at(carrier, touch.points) - touch.velocities) @ forward,
        friction=np.full((n, 2), part.contact.friction),
    )


def _velocities_at(link: LinkMotion, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Velocities (n, 3) [m/s] of a link at points in the world (n, 3) [m]."""
    return link.velocity + np.cross(link.angular_velocity, points - link.center)
