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

from segtrack.engine import FrameMotion
from segtrack.errors import InvalidValueError, Phrase
from segtrack.experiments.steady_turns.planar_friction import PlanarContacts
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
        DisconnectedError: The PyBullet client is gone.
    """
    if robot.track_model == "chain":
        touches = [_of_shoes(track) for track in robot.tracks.values()]
    elif robot.track_model in ("compliant", "surface"):
        touches = [_of_grousers(track) for track in robot.tracks.values()]
    else:
        touches = _of_links(robot)
    if not any(len(touch.points) for touch in touches):
        raise InvalidValueError(f"contacts of {robot.name}", "at least one", Phrase("none"))
    body = robot.model.body_motion()
    return ContactLoads.joined([_in_body(body, touch) for touch in touches])


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
    """Where belts touch that are links of the vehicle's PyBullet body."""
    from segtrack.bullet.contacts import read_contacts
    from segtrack.bullet.frames import link_motion
    from segtrack.bullet.vehicle import BulletVehicle

    model = robot.model
    assert isinstance(model, BulletVehicle)
    contacts = read_contacts(model.physics_client_id, model.body_id)
    owners = {joint: track.mounted.name for track in model.tracks for joint in track.belt.track_joints.joints}
    touches = []
    for link in np.unique(contacts.links).tolist():
        if link not in owners:
            name = next(name for name, number in model.links.items() if number == link)
            raise InvalidValueError(f"contacts of {robot.name}", "of tracks alone", Phrase(f"one of {name}"))
        there = contacts.links == link
        points = contacts.points[there]
        velocities = _velocities_at(link_motion(model.physics_client_id, model.body_id, link), points)
        touches.append(_Touch(robot.tracks[owners[link]], points, contacts.normal_forces[there], velocities))
    return touches


def _of_shoes(track: Track) -> _Touch:
    """Where a link chain touches: a shoe's load is that of its face's left and right edge, half each."""
    design, reading = track.chain_design, track.read_chain()
    down = reading.ground_force > 0
    axes = Rotation.from_quat(reading.orientations).as_matrix()[down]
    half = np.array([tread.width / 2 for tread in design.treads])[design.kinds][down]
    aside, middles = half[:, None] * axes[:, :, 1], reading.positions[down]
    velocities = np.einsum("nij,nj->ni", axes[:, :, :2], reading.slip_velocity[down])
    return _Touch(
        track,
        np.concatenate([middles + aside, middles - aside]),
        np.tile(reading.ground_force[down] / 2, 2),
        np.tile(velocities, (2, 1)),
    )


def _of_grousers(track: Track) -> _Touch:
    """Where grousers, or the belt between them, touch."""
    reading = track.read_grousers()
    return _Touch(track, reading.points, reading.normal_force, reading.slip_velocity)


def _in_body(body: FrameMotion, touch: _Touch) -> ContactLoads:
    """Contacts in the body frame, and the belt's own motion, which is relative to what carries it."""
    spec, parent, n = touch.track.spec, touch.track.model.parent_motion(), len(touch.points)
    axle = parent.rotation @ rotation_of(spec.mount.rpy)[:, 1]
    forward = np.cross(axle, body.rotation[:, 2])
    forward /= np.linalg.norm(forward)
    along = spec.contact.friction
    return ContactLoads(
        points=(touch.points - body.position) @ body.rotation,
        normal_forces=touch.normal_forces,
        directions=np.tile(forward @ body.rotation, (n, 1)),
        belt_speeds=(_velocities_at(parent, touch.points) - touch.velocities) @ forward,
        friction=np.tile([along, along * spec.contact.lateral_ratio], (n, 1)),
    )


def _velocities_at(link: FrameMotion, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Velocities (n, 3) [m/s] of a link at points in the world (n, 3) [m]."""
    return link.velocity + np.cross(link.angular_velocity, points - link.center)
