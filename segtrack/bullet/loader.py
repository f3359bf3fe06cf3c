"""Loading a vehicle into PyBullet."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pybullet

from segtrack.bullet import segments, smooth
from segtrack.bullet.frames import place_base
from segtrack.bullet.model import BuiltFlipper, BuiltTrack, BuiltVehicle, JointedTrack
from segtrack.bullet.urdf import UrdfModel, build_urdf, flipper_joint_name, joint_name
from segtrack.description.vehicle import VehicleDescription
from segtrack.errors import UnknownNameError

_MODELS: dict[str, ModuleType] = {"segments": segments, "smooth": smooth}
_FLAGS = pybullet.URDF_USE_INERTIA_FROM_FILE | pybullet.URDF_USE_IMPLICIT_CYLINDER
_FREE = {"linearDamping": 0.0, "angularDamping": 0.0, "jointDamping": 0.0, "maxJointVelocity": 1e6}


def track_model(name: str) -> ModuleType:
    """The module of a track model.

    Raises:
        UnknownNameError: There is none of that name.
    """
    if name not in _MODELS:
        raise UnknownNameError("track model", name, _MODELS)
    return _MODELS[name]


def vehicle_urdf(vehicle: VehicleDescription, model: str) -> UrdfModel:
    """The URDF of a vehicle with tracks of one model."""
    module = track_model(model)
    return build_urdf(vehicle, {track.name: module.track_links(track.part) for track in vehicle.mounted_tracks()})


def load(
    client: int,
    vehicle: VehicleDescription,
    model: str,
    position: Sequence[float],
    orientation: Sequence[float],
) -> BuiltVehicle:
    """Load a vehicle as one multibody, its joints free of motors and damping.

    Args:
        client: PyBullet's client number.
        vehicle: What to build.
        model: Track model.
        position: Of the body frame in the world (3,) [m].
        orientation: Of the body frame in the world, quaternion (x, y, z, w).

    Returns:
        The loaded vehicle. Links of one vehicle do not collide with each other.
    """
    module = track_model(model)
    urdf = vehicle_urdf(vehicle, model)
    with tempfile.TemporaryDirectory(prefix="segtrack_") as folder:
        path = urdf.write(Path(folder), vehicle.name)
        body = pybullet.loadURDF(
            str(path), position, orientation, useFixedBase=vehicle.body.fixed, flags=_FLAGS, physicsClientId=client
        )
    info = [pybullet.getJointInfo(body, j, physicsClientId=client) for j in range(pybullet.getNumJoints(body, physicsClientId=client))]
    joints = {entry[1].decode(): j for j, entry in enumerate(info)}
    links = {pybullet.getBodyInfo(body, physicsClientId=client)[0].decode(): -1}
    links |= {entry[12].decode(): j for j, entry in enumerate(info)}
    tracks = []
    for mounted in vehicle.mounted_tracks():
        segment_links = module.track_links(mounted.part)
        numbers = tuple(joints[joint_name(mounted.name, link.name)] for link in segment_links)
        jointed = JointedTrack(mounted, body, numbers, tuple(link.ratio for link in segment_links))
        _free_joints(client, body, numbers)
        _set_contact(client, jointed)
        tracks.append(module.assemble(client, jointed))
    flippers = tuple(
        BuiltFlipper(name, part, joints[flipper_joint_name(name)]) for name, part in vehicle.flippers.items()
    )
    for link in (-1, *(flipper.joint for flipper in flippers)):
        pybullet.changeDynamics(body, link, physicsClientId=client, **_FREE)
    place_base(client, body, position, orientation)
    return BuiltVehicle(vehicle, body, tuple(tracks), flippers, links)


def _free_joints(client: int, body: int, joints: Sequence[int]) -> None:
    """Take away Bullet's default motors and damping."""
    for joint in joints:
        pybullet.setJointMotorControl2(body, joint, pybullet.VELOCITY_CONTROL, targetVelocity=0, force=0, physicsClientId=client)
        pybullet.changeDynamics(body, joint, physicsClientId=client, **_FREE)


def _set_contact(client: int, track: JointedTrack) -> None:
    contact = track.part.contact
    for joint in track.joints:
        pybullet.changeDynamics(
            track.body, joint, lateralFriction=contact.friction, rollingFriction=0, spinningFriction=0, physicsClientId=client
        )
        if contact.stiffness is not None:
            pybullet.changeDynamics(
                track.body, joint, contactStiffness=contact.stiffness, contactDamping=contact.damping, physicsClientId=client
            )
