"""A vehicle in a user's MjSpec: links, joints and hull; its belts are no geoms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from segtrack.description import (
    Frame,
    Links,
    VehicleDescription,
    load_vehicle,
    vehicle_links,
    warn_of_low_shapes,
)
from segtrack.errors import InvalidValueError
from segtrack.geometry import MassProperties, quaternion_of
from segtrack.mujoco.binding import body_names, joint_names
from segtrack.mujoco.moving_bodies import add_touches
from segtrack.native import HULL_FRICTION
from segtrack.robot import check_pose

_TORSION = 0.005, 0.0001
"""Torsional and rolling friction of hulls: MuJoCo's defaults."""


def add(
    spec: Any,
    vehicle: str | Path | VehicleDescription,
    *,
    prefix: str = "",
    position: Sequence[float] = (0.0, 0.0, 0.0),
    orientation: Sequence[float] = (0.0, 0.0, 0.0, 1.0),
    touches: Sequence[str] = (),
) -> Any:
    """Add a vehicle to an MjSpec that is not compiled yet; `attach` gives it its belts once it is.

    It gets a body for each of its links, by the names of the vehicle file: `body` (or the root link of its
    URDF) with a free joint `NAME_free`, its flippers and the moving links of its URDF, on joints of these
    names. Their collision shapes collide with whatever the model has, with friction 0.5 of their own
    (`priority` 1), and not with each other. Servos are the vehicle file's, and belts are no geoms.

    The logger `segtrack` warns of shapes of the vehicle's body that would carry it beside its belts.

    Args:
        spec: The user's `mujoco.MjSpec`.
        vehicle: Bundled name, path of a vehicle file, or a description.
        prefix: Text before all names, for several vehicles of a kind.
        position: Body frame in the world (3,) [m].
        orientation: Body frame in the world, quaternion (x, y, z, w).
        touches: Names of bodies that move, of the spec as it will be compiled, which its belts touch; for
            these it gets inactive equalities, and MuJoCo's islands are disabled. Through other bodies that
            move belts pass. Belts push such bodies and drive over them where something else bears these:
            none are for vehicles that are bolted down.

    Returns:
        The `MjsBody` of the vehicle's body, for sensors, cameras and arms.

    Raises:
        UnknownNameError: No such vehicle.
        VehicleFileError: The vehicle file has mistakes.
        InvalidValueError: Not an MjSpec, a number that is not finite, or bodies that its belts cannot touch.
    """
    if not isinstance(spec, mujoco.MjSpec):
        raise InvalidValueError("spec", "a mujoco.MjSpec", spec)
    description = vehicle if isinstance(vehicle, VehicleDescription) else load_vehicle(vehicle)
    warn_of_low_shapes(description)
    if isinstance(touches, str) or not all(isinstance(name, str) for name in touches):
        raise InvalidValueError("touches", "a list of names of bodies", touches)
    if touches and description.body.fixed:
        reason = "empty: a body that belts alone bear would chatter on those of a vehicle that is bolted down"
        raise InvalidValueError(f"touches of {description.name!r}", reason, list(touches))
    return add_bodies(spec, description, prefix, *check_pose(position, orientation), touches)


def add_bodies(
    spec: Any,
    description: VehicleDescription,
    prefix: str,
    position: Sequence[float],
    orientation: Sequence[float],
    touches: Sequence[str] = (),
) -> Any:
    """Add the bodies of a vehicle to an MjSpec; see `add`."""
    x, y, z, w = orientation
    links, names = vehicle_links(description), [prefix + name for name in body_names(description)]
    root = spec.worldbody.add_body(name=names[0], pos=position, quat=(w, x, y, z))
    if not description.body.fixed:
        root.add_freejoint(name=f"{names[0]}_free")
        # MuJoCo stores the diagonal alone of the mass matrix of a body that it takes for simple.
        root.simple = False
    bodies = _add_links(spec, description, links, root, names, prefix)
    _add_shapes(spec, description, bodies, prefix)
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            spec.add_exclude(name=f"{one}-{other}", bodyname1=one, bodyname2=other)
    add_touches(spec, [names[link] for link in sorted(set(links.track_links))], touches)
    return root


def _add_links(
    spec: Any, vehicle: VehicleDescription, links: Links, root: Any, names: Sequence[str], prefix: str
) -> list[Any]:
    """Add the links that hang on the root, and the mass properties of all."""
    unit = math.degrees(1.0) if spec.compiler.degree else 1.0  # The spec's, in which it takes ranges.
    limits = [flipper.limits for flipper in vehicle.flippers.values()]
    limits += [joint.limits for joint in vehicle.joint_tree.joints]
    bodies, joints = [root], joint_names(vehicle)
    for j, (pivot, parent) in enumerate(zip(links.pivots, links.parents, strict=True)):
        body = bodies[parent].add_body(name=names[j + 1], pos=pivot.origin, quat=_real_first(pivot))
        turns = links.kinds[j] == "revolute"
        kind = mujoco.mjtJoint.mjJNT_HINGE if turns else mujoco.mjtJoint.mjJNT_SLIDE
        joint = body.add_joint(name=prefix + joints[j], type=kind, axis=links.axes[j])
        if all(map(math.isfinite, limits[j])):
            joint.range = [limit * (unit if turns else 1.0) for limit in limits[j]]
        bodies.append(body)
    for body, mass in zip(bodies, links.masses, strict=True):
        _set_mass(body, mass)
    return bodies


def _set_mass(body: Any, mass: MassProperties) -> None:
    """Give a body its mass properties, whatever its geoms are."""
    tensor = mass.inertia
    body.explicitinertial = True
    body.mass, body.ipos = mass.mass, mass.center
    body.fullinertia = [tensor[i, k] for i, k in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]


def _add_shapes(spec: Any, vehicle: VehicleDescription, bodies: Sequence[Any], prefix: str) -> None:
    """Add the collision shapes of the body's links: boxes, and the convex hulls of others."""
    tree, homes = vehicle.joint_tree, vehicle.joint_tree.frames({})
    for i, (name, shape) in enumerate(vehicle.body.contact_shapes()):
        place, frame, link = tree.links[name], shape.frame, 0
        if place.joint >= 0:
            link = 1 + len(vehicle.flippers) + place.joint
            frame = frame.seen_from(homes[tree.joints[place.joint].child])
        label = f"{prefix}{name}_hull_{i}"
        geom = bodies[link].add_geom(name=label, pos=frame.origin, quat=_real_first(frame))
        if shape.box_size is not None:
            geom.type, geom.size = mujoco.mjtGeom.mjGEOM_BOX, shape.box_size / 2
        else:
            add_hull(spec, geom, label, shape.corners())
        geom.friction, geom.priority, geom.mass = (HULL_FRICTION, *_TORSION), 1, 0.0


def add_hull(spec: Any, geom: Any, name: str, points: NDArray[np.float64]) -> None:
    """Make a geom the convex hull of points (n, 3) in its frame [m]."""
    mesh = spec.add_mesh(name=name, uservert=np.asarray(points, dtype=float).ravel())
    mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
    geom.type, geom.meshname = mujoco.mjtGeom.mjGEOM_MESH, name


def _real_first(frame: Frame) -> tuple[float, float, float, float]:
    """Quaternion of a frame as MuJoCo writes it, (w, x, y, z)."""
    x, y, z, w = quaternion_of(frame.rotation)
    return w, x, y, z
