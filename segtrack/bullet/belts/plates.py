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

Limits. A vehicle file's contact stiffness is not used: sprocket and ground would share it. A
time step of 4 ms is too long; plates much lighter than PackBot's slip on the ground, where the
solver does not get the vehicle's weight through them in its iterations.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pybullet

from segtrack.bullet.belts.joint_belt import JointBelt
from segtrack.bullet.belts.joints import FREE, free_joints, set_contact
from segtrack.bullet.belts.plate_chain import FREEDOMS, box_inertia, chain_urdf, loop_of
from segtrack.bullet.frames import link_motion
from segtrack.bullet.model import TrackJoints
from segtrack.description.track import ContactSpec, TrackSpec
from segtrack.geometry.links import SegmentLink
from segtrack.geometry.path import Line, normal_of, tangent_of
from segtrack.geometry.plate_loop import PlateLoop
from segtrack.geometry.solids import Box, Cylinder, Placed, Solid

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


def track_links(spec: TrackSpec) -> tuple[SegmentLink, ...]:
    """The links of a track on the vehicle: the sprocket, and the supports, which slide to tighten the belt.

    Raises:
        InvalidValueError: The path is not one that plates can run around.
    """
    loop = loop_of(spec)
    return _sprocket(spec, loop), _supports(spec, loop)


def create_belt(client: int, track: TrackJoints) -> JointBelt:
    """Build the chain of plates, close it, and lay it around a loaded track's sprocket and supports."""
    spec, loop = track.spec, loop_of(track.spec)
    with tempfile.TemporaryDirectory(prefix="segtrack_") as folder:
        path = chain_urdf(track.mounted.name, spec).write(Path(folder), "plates")
        chain = pybullet.loadURDF(str(path), flags=_FLAGS, physicsClientId=client)
    joints = range(FREEDOMS + len(loop.headings))
    free_joints(client, chain, joints)
    pybullet.changeDynamics(chain, -1, physicsClientId=client, **FREE)
    set_contact(client, chain, joints, spec.model_copy(update={"contact": _rigid(spec.contact)}))
    _make_slippery(client, track)
    _ignore_vehicle(client, track, chain, joints)
    sprocket = replace(track, joints=track.joints[:1], ratios=track.ratios[:1])
    built = JointBelt(client, sprocket, motors=(0,), period=None, bodies=(chain,))
    built.reset_to_mount()
    _hang(client, track, chain)
    _close(client, chain, joints, spec, loop)
    _tighten(client, track)
    return built


def closing_gap(client: int, track: JointBelt) -> float:
    """Distance between the ends of a track's chain, which its ball joint holds together [m]."""
    chain, loop = track.bodies[0], loop_of(track.spec)
    first, last = (link_motion(client, chain, FREEDOMS + n) for n in (0, len(loop.headings) - 1))
    return math.dist(first.position, last.position + loop.pitch * last.rotation[:, 0])


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


def _rigid(contact: ContactSpec) -> ContactSpec:
    """The contact without its stiffness, which would act between plates and sprocket as well."""
    return ContactSpec(friction=contact.friction)


def _make_slippery(client: int, track: TrackJoints) -> None:
    """Let nothing but their shape hold the plates on sprocket and supports."""
    for joint in track.joints:
        pybullet.changeDynamics(track.body, joint, lateralFriction=0.0, physicsClientId=client)


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
