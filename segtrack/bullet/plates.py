"""A closed loop of hinged plates around pulleys: the multiple-plate method (Okada et al. 2020, section II-B).

Each track is a multibody of its own: a chain of plates, closed by a ball joint. It hangs on a
guide, fixed to the vehicle, in which its first plate is free in the track's plane, as guide
horns leave it. The vehicle carries the sprocket and what the plates slide over without
friction: the other pulleys and a bed along each straight piece.

The sprocket is a cage of rods that lie in the corners between plates, so that it drives
them without slip or friction. Rods and pulleys touch the plates in the track's middle only.
Bullet keeps up to four points of a contact and renews their positions, but not their
normals, and on plates that turn together with a sprocket the old normals stay (its drag
was a tenth of the belt's speed); thin discs have one point, which is replaced at each step.
"""

from __future__ import annotations

import math
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement

import numpy as np
import pybullet

from segtrack.bullet.frames import link_motion
from segtrack.bullet.joints import FREE, MOST_JOINTS, free_joints, mount_link, seat_bodies, set_contact
from segtrack.bullet.model import BuiltTrack, JointedTrack
from segtrack.bullet.urdf import UrdfModel, _add_segment, _inertial
from segtrack.description.track import Mount, TrackPart
from segtrack.errors import InvalidValueError
from segtrack.geometry.links import Box, Cylinder, MassProperties, Placed, SegmentLink
from segtrack.geometry.path import Line, normal_of, tangent_of
from segtrack.geometry.plate_loop import PlateLoop, plate_loop

_PITCH = 0.04
"""Of the plates of a belt without grousers, about [m]."""
_DISC = 5e-4
"""Thickness of the discs that stand for rods and pulleys [m]."""
_ROD = 0.1
"""Radius of a rod, per pitch."""
_UPWARD = 0.5
"""A straight piece whose outward normal has a z of more than this is held by its tension, without a bed."""
_BED = 0.02
"""Height of a bed [m]."""
_SHARE = 0.05
"""Mass of the sprocket, and of pulleys and beds, per mass of the belt."""
_TENSION = 20.0
"""Force that pushes the pulleys away from the sprocket [N]."""
_GUIDE = 0.01
"""Mass of the guide and of the links that free the first plate, per mass of the belt."""
_STRONG = 1e6
"""Force that constraints may exert [N]."""
_FREEDOMS = 2
"""Links between the guide and the first plate."""
_FLAGS = pybullet.URDF_USE_INERTIA_FROM_FILE | pybullet.URDF_USE_IMPLICIT_CYLINDER


def track_links(part: TrackPart) -> tuple[SegmentLink, ...]:
    """The links of a track on the vehicle: the sprocket, and the supports, which slide to tighten the belt.

    Raises:
        InvalidValueError: The path is not one that plates can run around.
    """
    loop = _loop(part)
    return _sprocket(part, loop), _supports(part, loop)


def assemble(client: int, track: JointedTrack) -> BuiltTrack:
    """Build the chain of plates, close it, and lay it around a loaded track's sprocket and supports."""
    part, loop = track.part, _loop(track.part)
    with tempfile.TemporaryDirectory(prefix="segtrack_") as folder:
        path = chain_urdf(track.mounted.name, part).write(Path(folder), "plates")
        chain = pybullet.loadURDF(str(path), flags=_FLAGS, physicsClientId=client)
    joints = range(_FREEDOMS + len(loop.headings))
    free_joints(client, chain, joints)
    pybullet.changeDynamics(chain, -1, physicsClientId=client, **FREE)
    set_contact(client, chain, joints, part)
    _make_slippery(client, track)
    _ignore_vehicle(client, track, chain, joints)
    built = BuiltTrack(
        replace(track, joints=track.joints[:1], ratios=track.ratios[:1]), motors=(0,), period=None, bodies=(chain,)
    )
    seat_bodies(client, built)
    _hang(client, track, chain)
    _close(client, chain, joints, part, loop)
    _tighten(client, track)
    return built


def chain_urdf(track: str, part: TrackPart) -> UrdfModel:
    """The chain of a track: its guide, two light sliders that free the first plate, and the plates."""
    part = part.model_copy(update={"mount": Mount()})
    loop = _loop(part)
    meshes: dict[str, str] = {}
    robot = Element("robot", name=f"{track}_plates")
    parent = f"{track}_guide"
    mass = _GUIDE * part.belt.mass / (1 + _FREEDOMS)
    _inertial(SubElement(robot, "link", name=parent), MassProperties.of_box(mass, (0, 0, 0), 3 * (part.width,)))
    middle = (loop.pitch / 2, 0, loop.depth - part.belt.thickness / 2)
    for link in _chain_links(part, loop):
        _add_segment(robot, track, part, parent, link, meshes)
        parent = f"{track}_{link.name}"
        if link.shapes:
            _inertial(robot.findall("link")[-1], MassProperties.of(link.mass, middle, np.diag(link.inertia)))
    ElementTree.indent(robot)
    return UrdfModel(ElementTree.tostring(robot, encoding="unicode") + "\n", meshes)


def closing_gap(client: int, track: BuiltTrack) -> float:
    """Distance between the ends of a track's chain, which its ball joint holds together [m]."""
    chain, loop = track.bodies[0], _loop(track.part)
    first, last = (link_motion(client, chain, _FREEDOMS + n) for n in (0, len(loop.headings) - 1))
    return math.dist(first.position, last.position + loop.pitch * last.rotation[:, 0])


def _loop(part: TrackPart) -> PlateLoop:
    count = part.grousers.count if part.grousers is not None else max(round(part.belt_path.perimeter / _PITCH), 1)
    if count > MOST_JOINTS - _FREEDOMS:
        raise InvalidValueError("plates of a track", f"at most {MOST_JOINTS - _FREEDOMS} for PyBullet", count)
    return plate_loop(part.belt_path, count)


def _sprocket(part: TrackPart, loop: PlateLoop) -> SegmentLink:
    turn = 2 * math.pi / loop.teeth
    inner, rod = loop.apothem(loop.sprocket, part.belt.thickness), _ROD * loop.pitch
    reach = (inner - rod) / math.cos(turn / 2)
    angles = turn * np.arange(loop.teeth)
    rods = tuple(
        Placed(Cylinder(rod, _DISC), float(x), float(z)) for x, z in reach * np.stack([np.sin(angles), np.cos(angles)], axis=1)
    )
    ratio = turn / loop.pitch
    mass = _SHARE * part.belt.mass
    spin = mass * inner**2 / 2 + part.drive.reflected_mass / ratio**2
    across = spin / 2 + mass * part.width**2 / 12
    x, z = loop.sprocket.center
    return SegmentLink(
        "sprocket", "hinge", float(x), float(z), loop.sprocket_phase, ratio, mass, (across, spin, across), rods
    )


def _supports(part: TrackPart, loop: PlateLoop) -> SegmentLink:
    """Pulleys, and beds under each straight piece that is not omitted; x points away from the sprocket."""
    way = loop.idler.center - loop.sprocket.center
    heading = math.atan2(-way[1], way[0])
    to_link = np.array([tangent_of(heading), normal_of(heading)])
    shapes = []
    for name, segment in zip(part.belt_path.names, part.belt_path.segments, strict=True):
        if isinstance(segment, Line):
            if name in part.omit or normal_of(segment.heading)[1] > _UPWARD:
                continue
            inwards = (part.belt.thickness + _BED / 2) * normal_of(segment.heading)
            center = segment.point_at(np.array([segment.length / 2]))[0] - inwards
            solid, turn = Box((segment.length, part.width, _BED)), segment.heading - heading
        elif segment == loop.sprocket:
            continue
        else:
            center, solid, turn = segment.center, Cylinder(loop.apothem(segment, part.belt.thickness), _DISC), 0.0
        x, z = to_link @ (center - loop.idler.center)
        shapes.append(Placed(solid, float(x), float(z), turn))
    mass = _SHARE * part.belt.mass
    inertia = _box_inertia(mass, (math.hypot(*way), part.width, loop.idler.radius))
    x, z = loop.idler.center
    return SegmentLink("supports", "slider", float(x), float(z), heading, 1.0, mass, inertia, tuple(shapes))


def _chain_links(part: TrackPart, loop: PlateLoop) -> Iterator[SegmentLink]:
    """The chain's links, each in the frame of the one before; a plate's frame is at its first hinge, z outwards."""
    mass = _GUIDE * part.belt.mass / (1 + _FREEDOMS)
    small = _box_inertia(mass, 3 * (part.width,))
    x, z = loop.hinges[0].tolist()
    yield SegmentLink("along", "slider", x, z, 0.0, 1.0, mass, small, ())
    yield SegmentLink("up", "slider", 0.0, 0.0, -math.pi / 2, 1.0, mass, small, ())
    mass = (1 - _GUIDE) * part.belt.mass / len(loop.headings)
    inertia = _box_inertia(mass, (loop.pitch, part.width, part.belt.thickness))
    shapes = part.grousers.shapes if part.grousers is not None else ()
    solids = [shape.kind.solid(shape.width or part.width, shape.crown) for shape in shapes]
    middle, thickness = loop.pitch / 2, part.belt.thickness
    body = Placed(Box((loop.pitch, part.width, thickness)), middle, loop.depth - thickness / 2)
    before = -math.pi / 2
    for n, heading in enumerate(loop.headings.tolist()):
        teeth = [Placed(solid, middle, loop.depth + lift) for solid, lift in solids[n % len(solids) :][:1]] if solids else []
        start = loop.pitch if n > 0 else 0.0
        yield SegmentLink(f"plate_{n}", "hinge", start, 0.0, heading - before, 0.0, mass, inertia, (body, *teeth))
        before = heading


def _box_inertia(mass: float, size: tuple[float, float, float]) -> tuple[float, float, float]:
    """Principal moments (3,) [kg m^2] of a box of sides `size` (3,) [m]."""
    x, y, z = (mass / 12 * side**2 for side in size)
    return y + z, x + z, x + y


def _make_slippery(client: int, track: JointedTrack) -> None:
    """Let nothing but their shape hold the plates on sprocket and supports."""
    for joint in track.joints:
        pybullet.changeDynamics(track.body, joint, lateralFriction=0.0, physicsClientId=client)


def _ignore_vehicle(client: int, track: JointedTrack, chain: int, plates: Iterable[int]) -> None:
    """Switch off collisions of the chain with its vehicle, but for its own sprocket and supports."""
    others = set(range(-1, pybullet.getNumJoints(track.body, physicsClientId=client))) - set(track.joints)
    for link in sorted(others):
        for plate in plates:
            pybullet.setCollisionFilterPair(track.body, chain, link, plate, 0, physicsClientId=client)


def _hang(client: int, track: JointedTrack, chain: int) -> None:
    """Fix the chain's guide to the link that carries the track."""
    mount, link = track.part.mount, mount_link(client, track)
    info = pybullet.getDynamicsInfo(track.body, link, physicsClientId=client)
    inertial_to_link = pybullet.invertTransform(info[3], info[4])
    pose = pybullet.multiplyTransforms(*inertial_to_link, mount.xyz, pybullet.getQuaternionFromEuler(mount.rpy))
    _constrain(
        client, track.body, link, chain, -1, pybullet.JOINT_FIXED, pose[0], (0, 0, 0), pose[1], (0, 0, 0, 1)
    )


def _close(client: int, chain: int, joints: range, part: TrackPart, loop: PlateLoop) -> None:
    """Hinge the last plate to the first."""
    up = part.belt.thickness / 2 - loop.depth
    ends = (loop.pitch / 2, 0, up), (-loop.pitch / 2, 0, up)
    _constrain(client, chain, joints[-1], chain, joints[_FREEDOMS], pybullet.JOINT_POINT2POINT, *ends)


def _constrain(client: int, parent: int, link: int, child: int, child_link: int, kind: int, *frames: Any) -> None:
    constraint = pybullet.createConstraint(
        parent, link, child, child_link, kind, (0, 0, 0), *frames, physicsClientId=client
    )
    pybullet.changeConstraint(constraint, maxForce=_STRONG, physicsClientId=client)


def _tighten(client: int, track: JointedTrack) -> None:
    """Push the supports away from the sprocket with a constant force; they cannot come nearer than at home."""
    supports = track.joints[1]
    pybullet.setJointMotorControl2(
        track.body, supports, pybullet.VELOCITY_CONTROL, targetVelocity=1.0, force=_TENSION, physicsClientId=client
    )
    pybullet.changeDynamics(
        track.body, supports, jointLowerLimit=0.0, jointUpperLimit=_loop(track.part).pitch, physicsClientId=client
    )
