"""Track model `plates`: a closed loop of hinged plates around pulleys (Okada et al. 2020, section II-B)."""

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

from segtrack.bullet.belts.joint_belt import (
    MAX_JOINTS,
    JointBelt,
    JointBeltGroup,
    free_joints,
    free_link,
    set_contact,
)
from segtrack.bullet.model import TrackBuilder, TrackJoints
from segtrack.bullet.urdf import UrdfModel, add_segment
from segtrack.description import ContactSpec, Mount, TrackSpec, set_inertial
from segtrack.errors import InvalidValueError
from segtrack.geometry import (
    Box,
    Cylinder,
    Line,
    MassProperties,
    Placed,
    PlateLoop,
    SegmentLink,
    Solid,
    normal_of,
    plate_loop,
    tangent_of,
)

_PITCH = 0.04
"""Approximate pitch of the plates of a belt without grousers [m]."""
_GUIDE = 0.01
"""Mass of the guide and of the links that free the first plate, per mass of the belt."""
FREEDOMS = 2
"""Links between the guide and the first plate."""


def loop_of(spec: TrackSpec) -> PlateLoop:
    """The plates of a track: one a grouser.

    Raises:
        InvalidValueError: They are too many, or the path is not one that plates can run around.
    """
    if spec.grousers is not None:
        count = spec.grousers.count
    else:
        count = round(spec.belt_path.perimeter / _PITCH)
    if count > MAX_JOINTS - FREEDOMS:
        raise InvalidValueError("plates of a track", f"at most {MAX_JOINTS - FREEDOMS} for PyBullet", count)
    return plate_loop(spec.belt_path, count)


def chain_urdf(track: str, spec: TrackSpec) -> UrdfModel:
    """The chain of a track: its guide, two light sliders that free the first plate, and the plates."""
    loop = loop_of(spec)
    meshes: dict[str, str] = {}
    robot = Element("robot", name=f"{track}_plates")
    parent = f"{track}_guide"
    light = _GUIDE * spec.belt.mass / (1 + FREEDOMS)
    guide = MassProperties.of_box(light, (0, 0, 0), 3 * (spec.width,))
    set_inertial(SubElement(robot, "link", name=parent), guide)
    middle = (loop.pitch / 2, 0, loop.depth - spec.belt.thickness / 2)
    for link in _chain_links(spec, loop):
        add_segment(robot, track, Mount(), parent, link, meshes)
        parent = f"{track}_{link.name}"
        if link.shapes:
            set_inertial(
                robot.findall("link")[-1], MassProperties.of(link.mass, middle, np.diag(link.inertia))
            )
    ElementTree.indent(robot)
    return UrdfModel(ElementTree.tostring(robot, encoding="unicode") + "\n", meshes)


def box_inertia(mass: float, size: tuple[float, float, float]) -> tuple[float, float, float]:
    """Principal moments (3,) [kg m^2] of a box of sides `size` (3,) [m]."""
    x, y, z = (mass / 12 * side**2 for side in size)
    return y + z, x + z, x + y


def _chain_links(spec: TrackSpec, loop: PlateLoop) -> Iterator[SegmentLink]:
    """The chain's links, each in the frame of the one before; a plate's is at its first hinge, z outwards."""
    mass = _GUIDE * spec.belt.mass / (1 + FREEDOMS)
    small = box_inertia(mass, 3 * (spec.width,))
    x, z = loop.hinges[0].tolist()
    yield SegmentLink("along", "slider", x, z, 0.0, 1.0, mass, small, ())
    yield SegmentLink("up", "slider", 0.0, 0.0, -math.pi / 2, 1.0, mass, small, ())
    mass = (1 - _GUIDE) * spec.belt.mass / len(loop.headings)
    inertia = box_inertia(mass, (loop.pitch, spec.width, spec.belt.thickness))
    kinds = spec.grousers.shapes if spec.grousers is not None else ()
    solids = [kind.kind.solid(kind.width or spec.width, kind.crown) for kind in kinds]
    middle, thickness = loop.pitch / 2, spec.belt.thickness
    body = Placed(Box((loop.pitch, spec.width, thickness)), middle, loop.depth - thickness / 2)
    before = -math.pi / 2
    for n, heading in enumerate(loop.headings.tolist()):
        shapes = [body]
        if solids:
            solid, lift = solids[n % len(solids)]
            shapes.append(Placed(solid, middle, loop.depth + lift))
        start, turn = loop.pitch if n > 0 else 0.0, heading - before
        yield SegmentLink(f"plate_{n}", "hinge", start, 0.0, turn, 0.0, mass, inertia, tuple(shapes))
        before = heading


_DISC = 5e-4
"""Thickness of the discs that stand for rods and pulleys [m]."""
_ROD = 0.1
"""Radius of a rod, per pitch."""
_UPWARD = 0.5
"""A straight piece has no bed if its outward normal has more z than this; its tension holds it."""
_BED = 0.02
"""Height of a bed [m]."""
_MASS_FRACTION = 0.05
"""Mass of the sprocket, and of pulleys and beds, per mass of the belt."""
_TENSION = 20.0
"""Force that pushes the pulleys away from the sprocket [N]."""
_STRONG = 1e6
"""Force that constraints may exert [N]."""
_FLAGS = pybullet.URDF_USE_INERTIA_FROM_FILE | pybullet.URDF_USE_IMPLICIT_CYLINDER


def plates_builder(name: str) -> TrackBuilder:
    """Return the builder of the track model `plates`."""
    return TrackBuilder(_track_links, _create_belt, JointBeltGroup, has_own_bodies=True)


def _track_links(spec: TrackSpec) -> tuple[SegmentLink, ...]:
    """Return the links on the vehicle: the sprocket, and the supports, which slide to tighten the belt."""
    loop = loop_of(spec)
    return _sprocket(spec, loop), _supports(spec, loop)


def _create_belt(client: int, track: TrackJoints) -> JointBelt:
    """Build the chain of plates, close it, and lay it around a loaded track's sprocket and supports."""
    spec, loop = track.spec, loop_of(track.spec)
    with tempfile.TemporaryDirectory(prefix="segtrack_") as folder:
        path = chain_urdf(track.mounted.name, spec).write(Path(folder), "plates")
        chain = pybullet.loadURDF(str(path), flags=_FLAGS, physicsClientId=client)
    joints = range(FREEDOMS + len(loop.headings))
    free_joints(client, chain, joints)
    free_link(client, chain, -1)
    # Without its stiffness, which would act between plates and sprocket as well.
    rigid = ContactSpec(friction=spec.contact.friction)
    set_contact(client, chain, joints, spec.model_copy(update={"contact": rigid}))
    for joint in track.joints:  # Nothing but their shape holds the plates on sprocket and supports.
        pybullet.changeDynamics(track.body, joint, lateralFriction=0.0, physicsClientId=client)
    _ignore_vehicle(client, track, chain, joints)
    sprocket = replace(track, joints=track.joints[:1], ratios=track.ratios[:1])
    built = JointBelt(client, sprocket, motors=(0,), period=None, bodies=(chain,))
    built.reset_to_mount()
    _hang(client, track, chain)
    _close(client, chain, joints, spec, loop)
    _tighten(client, track)
    return built


def _sprocket(spec: TrackSpec, loop: PlateLoop) -> SegmentLink:
    turn = 2 * math.pi / loop.teeth
    inner, rod = loop.apothem(loop.sprocket, spec.belt.thickness), _ROD * loop.pitch
    reach = (inner - rod) / math.cos(turn / 2)
    angles = turn * np.arange(loop.teeth)
    places = (reach * np.stack([np.sin(angles), np.cos(angles)], axis=1)).tolist()
    rods = tuple(Placed(Cylinder(rod, _DISC), x, z) for x, z in places)
    ratio = turn / loop.pitch
    mass = _MASS_FRACTION * spec.belt.mass
    spin = mass * inner**2 / 2 + spec.drive.reflected_mass / ratio**2
    across = spin / 2 + mass * spec.width**2 / 12
    inertia = (across, spin, across)
    x, z = loop.sprocket.center.tolist()
    return SegmentLink("sprocket", "hinge", x, z, loop.sprocket_phase, ratio, mass, inertia, rods)


def _supports(spec: TrackSpec, loop: PlateLoop) -> SegmentLink:
    """Pulleys, and beds under each straight piece that is not omitted; x points away from the sprocket."""
    way = loop.idler.center - loop.sprocket.center
    heading = math.atan2(-way[1], way[0])
    to_link = np.array([tangent_of(heading), normal_of(heading)])
    shapes: list[Placed] = []
    solid: Solid
    for name, segment in zip(spec.belt_path.names, spec.belt_path.segments, strict=True):
        if isinstance(segment, Line):
            if name in spec.omit_segments or normal_of(segment.heading)[1] > _UPWARD:
                continue
            inwards = (spec.belt.thickness + _BED / 2) * normal_of(segment.heading)
            center = segment.point_at(np.array([segment.length / 2]))[0] - inwards
            solid, turn = Box((segment.length, spec.width, _BED)), segment.heading - heading
        elif segment == loop.sprocket:
            continue
        else:
            radius = loop.apothem(segment, spec.belt.thickness)
            center, solid, turn = segment.center, Cylinder(radius, _DISC), 0.0
        x, z = (to_link @ (center - loop.idler.center)).tolist()
        shapes.append(Placed(solid, x, z, turn))
    mass = _MASS_FRACTION * spec.belt.mass
    inertia = box_inertia(mass, (math.hypot(*way), spec.width, loop.idler.radius))
    x, z = loop.idler.center.tolist()
    return SegmentLink("supports", "slider", x, z, heading, 1.0, mass, inertia, tuple(shapes))


def _ignore_vehicle(client: int, track: TrackJoints, chain: int, plates: Iterable[int]) -> None:
    """Switch off collisions of the chain with its vehicle, but for its own sprocket and supports."""
    others = set(range(-1, pybullet.getNumJoints(track.body, physicsClientId=client))) - set(track.joints)
    for link in sorted(others):
        for plate in plates:
            pybullet.setCollisionFilterPair(track.body, chain, link, plate, 0, physicsClientId=client)


def _hang(client: int, track: TrackJoints, chain: int) -> None:
    """Fix the chain's guide to the link that carries the track."""
    mount, link = track.spec.mount, track.parent_link
    info = pybullet.getDynamicsInfo(track.body, link, physicsClientId=client)
    inertial_to_link = pybullet.invertTransform(info[3], info[4])
    turn = pybullet.getQuaternionFromEuler(mount.rpy)
    place, turn = pybullet.multiplyTransforms(*inertial_to_link, mount.xyz, turn)
    frames = place, (0, 0, 0), turn, (0, 0, 0, 1)
    _constrain(client, (track.body, link), (chain, -1), pybullet.JOINT_FIXED, *frames)


def _close(client: int, chain: int, joints: range, spec: TrackSpec, loop: PlateLoop) -> None:
    """Hinge the last plate to the first."""
    up = spec.belt.thickness / 2 - loop.depth
    ends = (loop.pitch / 2, 0, up), (-loop.pitch / 2, 0, up)
    last, first = (chain, joints[-1]), (chain, joints[FREEDOMS])
    _constrain(client, last, first, pybullet.JOINT_POINT2POINT, *ends)


def _constrain(client: int, one: tuple[int, int], other: tuple[int, int], kind: int, *frames: Any) -> None:
    """Constrain two links, each a body's and a link's number, at frames about their centres of mass."""
    constraint = pybullet.createConstraint(*one, *other, kind, (0, 0, 0), *frames, physicsClientId=client)
    pybullet.changeConstraint(constraint, maxForce=_STRONG, physicsClientId=client)


def _tighten(client: int, track: TrackJoints) -> None:
    """Push the supports away from the sprocket with a constant force; they come no nearer than at home."""
    body, supports = track.body, track.joints[1]
    away = {"targetVelocity": 1.0, "force": _TENSION, "physicsClientId": client}
    pybullet.setJointMotorControl2(body, supports, pybullet.VELOCITY_CONTROL, **away)
    limits = {"jointLowerLimit": 0.0, "jointUpperLimit": loop_of(track.spec).pitch}
    pybullet.changeDynamics(body, supports, **limits, physicsClientId=client)
