"""A vehicle description, laid out for the native engine's kernels, with its outline and longest step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from segtrack.chain import TrackDesign
from segtrack.compliant import BeltDesign, pack_belts
from segtrack.description import DAMPING_RATIO, REST_DEPTH, Frame, Links, VehicleDescription
from segtrack.description.chain import check_links, check_sides
from segtrack.errors import InvalidValueError, Phrase
from segtrack.geometry import GRAVITY
from segtrack.ground import contact_parameters
from segtrack.kernels import rounded
from segtrack.native.chain_step import ParentMounts
from segtrack.native.hull import HullArrays
from segtrack.native.joint_arrays import joint_arrays
from segtrack.native.tree import PRISMATIC, REVOLUTE, TreeArrays, TreeWork, VehicleState
from segtrack.native.vehicles import VehicleArrays

HULL_FRICTION = 0.5
"""Friction of the body against ground of friction 1 [-]; PyBullet's default."""
_HULL_SPACING, _HULL_INTERVALS = 0.15, 4
"""Spacing of contact points along a side of a box: at most so far apart [m], and no more than so many."""


def vehicle_arrays(vehicle: VehicleDescription, links: Links, belts: tuple[BeltDesign, ...]) -> VehicleArrays:
    """Pack a vehicle's links, belts, hull and drives into arrays for kernels.

    Args:
        vehicle: Description of the vehicle.
        links: Links and joints of the vehicle.
        belts: Belts of the vehicle, in the order of its tracks.
    """
    arrays = pack_belts(belts)
    tree = tree_arrays(vehicle, links, arrays.masses, arrays.spin_momenta)
    hull = hull_arrays(vehicle, float(tree.masses.sum()))
    reaches = np.array([_reach(vehicle, links, belts, hull)])
    tip_speed = max((belt.tip_speed for belt in belts), default=1.0)
    return rounded(VehicleArrays(tree, arrays, hull, drive_table(vehicle), reaches, tip_speed))


def tree_arrays(
    vehicle: VehicleDescription,
    links: Links,
    belt_masses: NDArray[np.float64],
    spin_momenta: NDArray[np.float64],
) -> TreeArrays:
    """Lay the links and joints of a vehicle out.

    Args:
        vehicle: The vehicle.
        links: Links of it.
        belt_masses: Belt masses that move with each belt (T,) [kg]; none of chains.
        spin_momenta: Angular momentum about the axle per belt speed (T,) [kg m]; likewise.
    """
    count, flippers, joints = len(links.pivots), vehicle.flippers.values(), vehicle.joint_tree.joints
    servos = [joint.servo for joint in joints]
    limits = [flipper.limits for flipper in flippers] + [joint.limits for joint in joints]
    torques = [flipper.max_torque for flipper in flippers] + [s.max_force if s else 0.0 for s in servos]
    speeds = [flipper.max_speed for flipper in flippers] + [s.max_speed if s else 0.0 for s in servos]
    kinds = [REVOLUTE if kind == "revolute" else PRISMATIC for kind in links.kinds]
    return TreeArrays(
        fixed=vehicle.body.fixed,
        masses=np.array([mass.mass for mass in links.masses]),
        centers=np.array([mass.center for mass in links.masses]),
        inertias=np.array([mass.inertia for mass in links.masses]),
        joint_parents=np.array(links.parents, dtype=np.intp),
        joint_kinds=np.array(kinds, dtype=np.intp),
        joint_origins=np.array([pivot.origin for pivot in links.pivots]).reshape(count, 3),
        joint_rotations=np.array([pivot.rotation for pivot in links.pivots]).reshape(count, 3, 3),
        joint_axes=np.array(links.axes).reshape(count, 3),
        joint_limits=np.array(limits, dtype=float).reshape(count, 2),
        max_torques=np.array(torques, dtype=float),
        max_speeds=np.array(speeds, dtype=float),
        joints=joint_arrays(vehicle, links),
        belt_links=np.array(links.track_links, dtype=np.intp),
        belt_origins=np.array([frame.origin for frame in links.track_frames]),
        belt_rotations=np.array([frame.rotation for frame in links.track_frames]),
        belt_masses=belt_masses,
        spin_momenta=spin_momenta,
    )


def parent_mounts(vehicle: VehicleDescription, links: Links, designs: Sequence[TrackDesign]) -> ParentMounts:
    """Lay out the links that carry the wheels of link chains.

    Args:
        vehicle: The vehicle.
        links: Links of it.
        designs: Its chains, in the order of its tracks.

    Raises:
        UnknownNameError: Wheels are on a link that there is not.
        InvalidValueError: Wheels are on a link of another track.
    """
    tree, frames = vehicle.joint_tree, links.frames
    starts, indices, mounts = [0], list[int](), list[Frame]()
    for design, link, frame in zip(designs, links.track_links, links.track_frames, strict=True):
        at_home = frames[link] @ frame
        parents = [link]
        check_links(design, tree.links)
        check_sides(vehicle, [design])
        for name in design.parent_link_names:
            joint = tree.links[name].joint
            parents.append(1 + len(vehicle.flippers) + joint if joint >= 0 else 0)
        indices += parents
        mounts += [frame, *(at_home.seen_from(frames[parent]) for parent in parents[1:])]
        starts.append(len(indices))
    return ParentMounts(
        np.array(starts, dtype=np.intp),
        np.array(indices, dtype=np.intp),
        np.array([mount.origin for mount in mounts]),
        np.array([mount.rotation for mount in mounts]),
    )


def drive_table(vehicle: VehicleDescription) -> NDArray[np.float64]:
    """Return the drives as kernels read them, see `VehicleArrays.drives`."""
    drives = [track.spec.drive for track in vehicle.mounted_tracks()]
    longest = max(len(drive.forces) for drive in drives)
    table = []
    for d in drives:
        law = d.top_speed, d.stall_force, d.brake_force, float(d.self_locking), d.lag
        table.append([*law, *d.force_table, *d.forces[-1] * (longest - len(d.forces))])
    return np.array(table)


def _reach(
    vehicle: VehicleDescription, links: Links, belts: tuple[BeltDesign, ...], hull: HullArrays
) -> float:
    """Farthest of any part from the root's centre of mass, joints anywhere [m]."""
    center, farthest = links.masses[0].center, [0.0]
    farthest += np.linalg.norm(root_points(hull) - center, axis=1).tolist()
    slides = [0.0 for _ in vehicle.flippers]
    for joint in vehicle.joint_tree.joints:
        slides.append(max(map(abs, joint.limits)) if joint.kind == "prismatic" else 0.0)
    pivots = [0.0]
    for pivot, parent, slide in zip(links.pivots, links.parents, slides, strict=True):
        lever = pivot.origin - center if parent == 0 else pivot.origin
        pivots.append(pivots[parent] + float(np.linalg.norm(lever)) + slide)
    for belt, link, frame in zip(belts, links.track_links, links.track_frames, strict=True):
        outline = belt.path.outline()
        own = np.linalg.norm(frame.plane_points(outline) - (center if link == 0 else 0.0), axis=1).max()
        farthest.append(float(own + belt.overhang + pivots[link]))
    return max(farthest)


def hull_arrays(vehicle: VehicleDescription, mass: float) -> HullArrays:
    """Lay out where body and moving links of a vehicle of a mass [kg] touch the ground."""
    by_link = _contact_surfaces(vehicle)
    links = sorted(by_link)
    surfaces = [surface for link in links for surface in by_link[link]]
    solids = [surface.points for surface in surfaces]
    points = np.concatenate([np.zeros((0, 3)), *solids])
    # Lying on its belly, the vehicle sinks in by `REST_DEPTH`, too.
    on_root = np.concatenate([np.zeros((0, 3)), *(surface.points for surface in by_link.get(0, []))])
    belly = int(np.sum(on_root[:, 2] <= on_root[:, 2].min(initial=math.inf) + 1e-9))
    stiffness = mass * GRAVITY / REST_DEPTH / max(belly, 1)
    damping = 2 * DAMPING_RATIO * math.sqrt(stiffness * mass / max(belly, 1))
    law = contact_parameters(HULL_FRICTION, stiffness, damping, stiffness, damping)
    planes = [_planes(solid) for solid in solids]
    pieces = np.zeros((len(planes), max((len(p) for p in planes), default=1), 5))
    for piece, own in zip(pieces, planes, strict=True):
        piece[: len(own)] = own
    # The smaller side of the largest face.
    sides = np.concatenate(
        [np.zeros(0), *(np.full(len(solid), np.sort(np.ptp(solid, axis=0))[1]) for solid in solids)]
    )
    boxes = np.zeros((len(links), 6))
    for box, link in zip(boxes, links, strict=True):
        own = np.concatenate([surface.points for surface in by_link[link]])
        low, high = own.min(axis=0), own.max(axis=0)
        box[:] = *((low + high) / 2), *((high - low) / 2)
    return HullArrays(
        links=np.array(links, dtype=np.intp),
        point_starts=np.cumsum(
            [0, *(sum(len(surface.points) for surface in by_link[link]) for link in links)], dtype=np.intp
        ),
        piece_starts=np.cumsum([0, *(len(by_link[link]) for link in links)], dtype=np.intp),
        points=points,
        areas=np.concatenate([np.zeros((0, 3)), *(surface.areas for surface in surfaces)]),
        sides=sides,
        pieces=pieces,
        face_counts=np.array([len(own) for own in planes], dtype=np.intp),
        boxes=boxes,
        law=law,
    )


def _planes(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Faces of a convex solid given by its points (n, 3), all exposed (faces, 5)."""
    try:
        planes = np.unique(np.round(ConvexHull(points).equations, 9), axis=0)
    except QhullError:
        size = Phrase(" x ".join(f"{side:.3g}" for side in np.ptp(points, axis=0)))
        raise InvalidValueError("collision shape of a body [m]", "of some thickness", size) from None
    return np.column_stack([planes[:, :3], -planes[:, 3], np.ones(len(planes))])


class _Surface(NamedTuple):
    """Points on the surface of a convex solid, each with its share of the surface.

    Attributes:
        points: Points (n, 3) [m].
        areas: Sum of area times outward normal over the faces that a point has a share of (n, 3) [m^2]. All
            that look one way sum up to the solid's face there, or to its outline seen from there.
    """

    points: NDArray[np.float64]
    areas: NDArray[np.float64]

    def placed(self, frame: Frame) -> _Surface:
        """The surface in the frame that its own is given in."""
        return _Surface(frame.points(self.points), self.areas @ frame.rotation.T)


def _box_surface(size: NDArray[np.float64]) -> _Surface:
    """Grid on a box's surface, its corners among it; shares of each face by the trapezoidal rule."""
    counts = [min(math.ceil(side / _HULL_SPACING), _HULL_INTERVALS) for side in size.tolist()]
    lines = [np.linspace(-s / 2, s / 2, 1 + n) for s, n in zip(size.tolist(), counts, strict=True)]
    grid = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1).reshape(-1, 3)
    ends = np.where(np.abs(np.abs(grid) - size / 2) < 1e-12, np.sign(grid), 0.0)
    lengths = np.where(ends != 0.0, 0.5, 1.0) * size / counts
    areas = ends * np.prod(lengths, axis=1, keepdims=True) / lengths
    outside = ends.any(axis=1)
    return _Surface(grid[outside], areas[outside])


def _hull_surface(points: NDArray[np.float64]) -> _Surface:
    """Corners of a convex solid (n, 3) [m]; each triangle of its hull is shared by its three."""
    areas = np.zeros_like(points)
    try:
        hull = ConvexHull(points)
    except QhullError:  # Refused by `_planes`.
        return _Surface(points, areas)
    first, second, third = (points[hull.simplices[:, i]] for i in range(3))
    doubled = np.linalg.norm(np.cross(second - first, third - first), axis=1)
    shares = (doubled / 6.0)[:, None] * hull.equations[:, :3]
    for i in range(3):
        np.add.at(areas, hull.simplices[:, i], shares)
    return _Surface(points, areas)


def _contact_surfaces(vehicle: VehicleDescription) -> dict[int, list[_Surface]]:
    """Surface of each shape of a body that can touch, in the frame of what moves it, by link."""
    tree, found = vehicle.joint_tree, dict[int, list[_Surface]]()
    at_home = tree.frames({})
    for name, shape in vehicle.body.contact_shapes():
        own = _hull_surface(shape.corners()) if shape.box_size is None else _box_surface(shape.box_size)
        place, frame, link = tree.links[name], shape.frame, 0
        if place.joint >= 0:
            link = 1 + len(vehicle.flippers) + place.joint
            frame = frame.seen_from(at_home[tree.joints[place.joint].child])
        found.setdefault(link, []).append(own.placed(frame))
    return found


def root_points(hull: HullArrays) -> NDArray[np.float64]:
    """Points of the root's hull in its frame (n, 3) [m]."""
    return hull.points[: hull.point_starts[1]] if 0 in hull.links[:1] else hull.points[:0]


def hull_points(hull: HullArrays, tree: TreeArrays, work: TreeWork) -> NDArray[np.float64]:
    """Points of all hulls in the world (n, 3) [m], the links in place."""
    starts, parts = hull.point_starts, [np.zeros((0, 3))]
    for link, first, last in zip(hull.links, starts[:-1], starts[1:], strict=True):
        own = hull.points[first:last] - tree.centers[link]
        parts.append(own @ work.rotations[link].T + work.centers[link])
    return np.concatenate(parts)


def outer_points(
    arrays: VehicleArrays, belts: Sequence[BeltDesign], state: VehicleState, work: TreeWork
) -> NDArray[np.float64]:
    """Points of hull, belts and grousers in the world (n, 3) [m].

    Args:
        arrays: The vehicle as kernels read it.
        belts: Its belts.
        state: Its state.
        work: Work arrays with the links in place.
    """
    corners = [hull_points(arrays.hull, arrays.tree, work)]
    for t, belt in enumerate(belts):
        points = belt.points(float(state.travels[t]))
        corners.append(points @ work.belt_rotations[t].T + work.belt_origins[t])
    return np.concatenate(corners)
