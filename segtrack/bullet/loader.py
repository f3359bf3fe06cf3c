"""Loading a vehicle into PyBullet."""

from __future__ import annotations

import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from itertools import combinations, product
from pathlib import Path

import pybullet

from segtrack.bullet.belts import MAX_JOINTS, free_joints, free_link, set_contact, slider_groups
from segtrack.bullet.frames import place_base
from segtrack.bullet.model import LoadedFlipper, LoadedJoint, LoadedVehicle, TrackBuilder, TrackJoints
from segtrack.bullet.urdf import (
    UrdfModel,
    build_urdf,
    flipper_joint_name,
    joint_name,
    lateral_joint_name,
)
from segtrack.description import VehicleDescription, parent_link, segments_problems
from segtrack.engine import find_track_model
from segtrack.errors import FileAccessError, InvalidValueError, SegtrackError, VehicleFileError

_FLAGS = pybullet.URDF_USE_INERTIA_FROM_FILE | pybullet.URDF_USE_IMPLICIT_CYLINDER


def track_builder(track_model: str) -> TrackBuilder:
    """Return the builder of a track model that PyBullet runs.

    Raises:
        UnknownNameError: There is no such track model.
        InvalidValueError: Fewer than two wheels, more than PyBullet can have, or no number of them.
    """
    builder: TrackBuilder = find_track_model(track_model, "pybullet").builder("pybullet")(track_model)
    return builder


def vehicle_urdf(vehicle: VehicleDescription, model: str) -> UrdfModel:
    """The URDF of a vehicle with tracks of one model.

    Raises:
        VehicleFileError: Its belts cannot be built of segments.
    """
    chosen = track_builder(model)
    if model == "segments" and (problems := segments_problems(vehicle)):
        raise VehicleFileError(f"{vehicle.name} with tracks of segments", problems)
    links = {track.name: chosen.track_links(track.spec) for track in vehicle.mounted_tracks()}
    return build_urdf(vehicle.without_belts() if chosen.has_own_bodies else vehicle, links, chosen.lateral)


def load(
    client: int,
    vehicle: VehicleDescription,
    model: str,
    position: Sequence[float],
    orientation: Sequence[float],
) -> LoadedVehicle:
    """Load a vehicle as one multibody, its joints free of motors and damping.

    Args:
        client: PyBullet's id of the client.
        vehicle: Vehicle to build.
        model: Track model.
        position: Origin of the body frame in the world (3,) [m].
        orientation: Orientation of the body frame in the world, quaternion (x, y, z, w).

    Returns:
        The loaded vehicle. Links of one vehicle do not collide with each other.

    Raises:
        InvalidValueError: It has more joints than PyBullet can have, or a link's inertia is no body's.
        VehicleFileError: Its belts cannot be built of segments.
        UnknownNameError: A chain has a spring for a link that there is not.
        FileAccessError: PyBullet refuses the body's URDF.
    """
    chosen = track_builder(model)
    urdf = vehicle_urdf(vehicle, model)
    if model == "chain":
        vehicle = vehicle.with_suspension()
    # PyBullet itself crashes over thousands of joints.
    robot = ElementTree.fromstring(urdf.text)
    count = len(robot.findall("joint"))
    if count > MAX_JOINTS:
        expected = f"of at most {MAX_JOINTS} joints for PyBullet"
        raise InvalidValueError(f"{vehicle.name} with tracks of {model}", expected, count)
    with tempfile.TemporaryDirectory(prefix="segtrack_") as folder:
        path = urdf.write(Path(folder), vehicle.name)
        try:
            body = pybullet.loadURDF(
                str(path),
                position,
                orientation,
                useFixedBase=vehicle.body.fixed,
                flags=_FLAGS,
                physicsClientId=client,
            )
        except pybullet.error:
            if vehicle.body.urdf is None or not pybullet.isConnected(client):
                raise
            reason = "PyBullet refuses it, and says why on its own output"
            raise FileAccessError("load", vehicle.body.urdf, reason) from None
    try:
        built = _assemble(client, vehicle, chosen, robot, urdf.prefixes, body)
    except SegtrackError:
        pybullet.removeBody(body, physicsClientId=client)
        raise
    place_base(client, body, position, orientation)
    return built


def _assemble(
    client: int,
    vehicle: VehicleDescription,
    chosen: TrackBuilder,
    robot: ElementTree.Element,
    prefixes: Mapping[str, str],
    body: int,
) -> LoadedVehicle:
    """Make belts of a loaded vehicle's joints, whose names begin with `UrdfModel.prefixes`."""
    numbers = range(pybullet.getNumJoints(body, physicsClientId=client))
    info = [pybullet.getJointInfo(body, j, physicsClientId=client) for j in numbers]
    joints = {entry[1].decode(): j for j, entry in enumerate(info)}
    links = {pybullet.getBodyInfo(body, physicsClientId=client)[0].decode(): -1}
    links |= {entry[12].decode(): j for j, entry in enumerate(info)}
    tracks = []
    for mounted in vehicle.mounted_tracks():
        links_of_track = chosen.track_links(mounted.spec)
        prefix = prefixes[mounted.name]
        own = tuple(joints[joint_name(prefix, link.name)] for link in links_of_track)
        lateral = tuple(
            joints[lateral_joint_name(prefix, group[0].name)]
            for group in (slider_groups(links_of_track) if chosen.lateral else ())
        )
        parent = links[mounted.flipper or parent_link(robot, mounted.spec.mount.parent)]
        track_joints = TrackJoints(
            vehicle, mounted, body, parent, links, own, tuple(link.ratio for link in links_of_track), lateral
        )
        free_joints(client, body, own + lateral)
        if not chosen.has_own_bodies:
            set_contact(client, body, own, mounted.spec)
        tracks.append(chosen.create_belt(client, track_joints))
    _ignore_each_other(client, [number for track in tracks for number in track.bodies])
    flippers = tuple(
        LoadedFlipper(name, spec, joints[flipper_joint_name(prefixes[name])])
        for name, spec in vehicle.flippers.items()
    )
    for link in (-1, *(flipper.joint for flipper in flippers)):
        free_link(client, body, link)
    moving = tuple(LoadedJoint(joint, joints[joint.name]) for joint in vehicle.joint_tree.joints)
    free_joints(client, body, [joint.joint for joint in moving])
    belts = tuple(tracks)
    group = chosen.create_belt_group(client, body, belts)
    return LoadedVehicle(vehicle, body, belts, group, flippers, moving, links)


def _ignore_each_other(client: int, bodies: Sequence[int]) -> None:
    """Switch off collisions between the belts of one vehicle."""
    links = {body: range(pybullet.getNumJoints(body, physicsClientId=client)) for body in bodies}
    for one, other in combinations(bodies, 2):
        for link, other_link in product(links[one], links[other]):
            pybullet.setCollisionFilterPair(one, other, link, other_link, 0, physicsClientId=client)
