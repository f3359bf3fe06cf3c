"""Track frames of a vehicle at given flipper angles, its outline, and its links' mass properties."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.description.frames import Frame, LinkShape, read_inertial
from segtrack.description.track import TrackSpec
from segtrack.description.vehicle import MountedTrack, VehicleDescription
from segtrack.errors import InvalidValueError
from segtrack.geometry import MassProperties, inner_outline, rotation_about_y, uniform_belt


@dataclass(frozen=True)
class PlacedTrack:
    """Track of a vehicle, with its track frame in the body frame."""

    mounted: MountedTrack
    frame: Frame


def place_tracks(vehicle: VehicleDescription, flipper_angles: Mapping[str, float]) -> tuple[PlacedTrack, ...]:
    """Place all tracks, in the order of the description.

    Args:
        vehicle: Description of the vehicle; other joints of its URDF are at 0.
        flipper_angles: Angles by flipper [rad]; 0 if not given.
    """
    turns = {}
    for name, flipper in vehicle.flippers.items():
        turn = rotation_about_y(flipper.raise_axis * flipper_angles.get(name, 0.0))
        turns[name] = Frame(turn, np.zeros(3))
    placed = []
    for track in vehicle.mounted_tracks():
        frame = track.spec.mount.frame
        if track.flipper is not None:
            pivot = vehicle.body.mounted(vehicle.flippers[track.flipper].mount)
            frame = pivot @ turns[track.flipper] @ frame
        else:
            frame = vehicle.body.mounted(track.spec.mount)
        placed.append(PlacedTrack(track, frame))
    return tuple(placed)


def body_points(vehicle: VehicleDescription) -> NDArray[np.float64]:
    """Corners of the body's collision shapes in the body frame (n, 3) [m], with all joints at 0."""
    shapes = [shape for _, shape in vehicle.body.contact_shapes()]
    return np.concatenate([np.zeros((0, 3)), *(shape.frame.points(shape.corners()) for shape in shapes)])


def shapes_on_links(vehicle: VehicleDescription) -> Iterator[tuple[str, Frame, NDArray[np.float64] | None]]:
    """Yield each collision shape of the body: name of its link, frame on it, corners in it (n, 3) [m].

    Corners are None for a mesh that only PyBullet can use: a flat one, or a file of another format.
    """
    homes = vehicle.joint_tree.frames({})
    for link, shape in vehicle.body.contact_shapes():
        yield link, shape.frame.seen_from(homes[link]), _known_corners(shape)


def _known_corners(shape: LinkShape) -> NDArray[np.float64] | None:
    try:
        return shape.corners()
    except InvalidValueError:  # An engine that needs the mesh says so.
        return None


def bounding_box(
    vehicle: VehicleDescription, flipper_angles: Mapping[str, float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bounding box of a vehicle's collision shapes and belts, in the body frame.

    Args:
        vehicle: Description of the vehicle; joints of its URDF are at 0.
        flipper_angles: Angles by flipper [rad]; 0 if not given.

    Returns:
        Smallest and largest corner (3,), tips of the grousers included [m].
    """
    corners = [body_points(vehicle)]
    corners += [belt_corners(track) for track in place_tracks(vehicle, flipper_angles)]
    points = np.concatenate(corners)
    return points.min(axis=0), points.max(axis=0)


def tip_outline(spec: TrackSpec) -> NDArray[np.float64]:
    """Closed line through the tips of a belt's grousers in (x, z) of the track frame (n, 2) [m]."""
    return inner_outline(spec.belt_path, -(spec.grousers.height if spec.grousers is not None else 0.0))


def belt_corners(track: PlacedTrack) -> NDArray[np.float64]:
    """Points along both edges of a belt, at its grousers' tips, in the body frame (n, 3) [m]."""
    spec = track.mounted.spec
    outline, edges = tip_outline(spec), (-spec.width / 2, spec.width / 2)
    return np.concatenate([track.frame.plane_points(outline, y) for y in edges])


def farthest_reach(vehicle: VehicleDescription) -> float:
    """Largest distance of any belt or shape from the root's centre of mass, over all joint positions [m].

    Shapes on links that joints of the body's URDF move are left out, and meshes without known corners.
    """
    links, tree = vehicle_links(vehicle), vehicle.joint_tree
    center, slides = links.masses[0].center, [0.0 for _ in vehicle.flippers]
    still = [s for link, s in vehicle.body.contact_shapes() if tree.carried(link).joint < 0]
    known = [(shape.frame, _known_corners(shape)) for shape in still]
    points = [frame.points(corners) - center for frame, corners in known if corners is not None]
    slides += [max(map(abs, j.limits)) if j.kind == "prismatic" else 0.0 for j in tree.joints]
    pivots = [0.0]
    for pivot, parent, slide in zip(links.pivots, links.parents, slides, strict=True):
        lever = pivot.origin - (center if parent == 0 else 0.0)
        pivots.append(pivots[parent] + float(np.linalg.norm(lever)) + slide)
    tracks = zip(vehicle.mounted_tracks(), links.track_links, links.track_frames, strict=True)
    farthest = max((float(np.linalg.norm(own, axis=1).max()) for own in points), default=0.0)
    for track, link, frame in tracks:
        own = belt_corners(PlacedTrack(track, frame)) - (center if link == 0 else 0.0)
        farthest = max(farthest, pivots[link] + float(np.linalg.norm(own, axis=1).max()))
    return farthest


@dataclass(frozen=True, eq=False)
class Links:
    """Links of a vehicle that move relative to each other, their joints, and the tracks on them.

    Link 0 is the body with all that stands still on it; link j + 1 hangs on joint j. Flippers come first, in
    the order of the file, then the joints of the body's URDF that move, each after those that carry it.

    Attributes:
        body: Mass properties of the body without its belts, in the body frame.
        masses: Mass properties of each link with its belts, in the link frame.
        pivots: Joint frames (and their links' at position 0), in the frames of the parent links.
        parents: Index of each joint's parent link.
        axes: Axis of each joint in its joint frame (3,).
        kinds: Motion of each joint, `revolute` or `prismatic`.
        track_links: Index of the link that carries each track.
        track_frames: Track frames in the frames of these links.
    """

    body: MassProperties
    masses: tuple[MassProperties, ...]
    pivots: tuple[Frame, ...]
    parents: tuple[int, ...]
    axes: tuple[NDArray[np.float64], ...]
    kinds: tuple[str, ...]
    track_links: tuple[int, ...]
    track_frames: tuple[Frame, ...]

    @property
    def mass(self) -> float:
        """Total mass [kg], to the bit that of `whole`: Python's `sum` rounds otherwise from 3.12 on."""
        return self.whole.mass

    @property
    def frames(self) -> tuple[Frame, ...]:
        """Frame of each link in the body frame, with all joints at 0."""
        frames = [Frame.at((0, 0, 0), (0, 0, 0))]
        for parent, pivot in zip(self.parents, self.pivots, strict=True):
            frames.append(frames[parent] @ pivot)
        return tuple(frames)

    def center_of_mass(self, flippers: Sequence[float]) -> NDArray[np.float64]:
        """Centre of mass of the vehicle in the body frame (3,) [m].

        Args:
            flippers: Flipper angles in the order of the file [rad]; all other joints are at 0.
        """
        angles = [*flippers, *[0.0] * (len(self.pivots) - len(flippers))]
        frames = [Frame.at((0, 0, 0), (0, 0, 0))]
        for parent, pivot, axis, angle in zip(self.parents, self.pivots, self.axes, angles, strict=True):
            turn = rotation_about_y(axis[1] * angle) if angle else np.eye(3)
            frames.append(frames[parent] @ pivot @ Frame(turn, np.zeros(3)))
        masses = np.array([link.mass for link in self.masses])
        centers = [frame.points(link.center) for frame, link in zip(frames, self.masses, strict=True)]
        return np.asarray(masses @ np.array(centers)) / masses.sum()

    @property
    def whole(self) -> MassProperties:
        """Mass properties of the vehicle with all joints at 0, in the body frame."""
        whole = self.masses[0]
        for mass, frame in zip(self.masses[1:], self.frames[1:], strict=True):
            whole = whole + mass.transformed(frame.rotation, frame.origin)
        return whole


def vehicle_links(vehicle: VehicleDescription) -> Links:
    """Links, joints and mass properties of a vehicle; URDF joints that the file does not name stay at 0."""
    flippers, tree = list(vehicle.flippers), vehicle.joint_tree
    first = 1 + len(flippers)
    own, *moved = _link_masses(vehicle)
    masses = [own]
    masses += [MassProperties.of_box(f.mass, f.center_of_mass, f.size) for f in vehicle.flippers.values()]
    masses += moved
    pivots = [vehicle.body.mounted(flipper.mount) for flipper in vehicle.flippers.values()]
    pivots += [joint.frame for joint in tree.joints]
    axes = [np.array([0.0, flipper.raise_axis, 0.0]) for flipper in vehicle.flippers.values()]
    axes += [joint.axis for joint in tree.joints]
    kinds = ["revolute" for _ in flippers] + [joint.kind for joint in tree.joints]
    parents = [0 for _ in flippers]
    parents += [first + joint.carrier if joint.carrier >= 0 else 0 for joint in tree.joints]
    links, frames = [], []
    for track in vehicle.mounted_tracks():
        mount = track.spec.mount
        place = tree.carried(mount.parent)
        if track.flipper is not None:
            links.append(1 + flippers.index(track.flipper))
            frames.append(mount.frame)
        else:
            links.append(first + place.joint if place.joint >= 0 else 0)
            frames.append(place.frame @ mount.frame)
        belt = uniform_belt(track.spec.belt_path, track.spec.width, track.spec.belt.mass)
        masses[links[-1]] = masses[links[-1]] + belt.transformed(frames[-1].rotation, frames[-1].origin)
    return Links(
        own,
        tuple(masses),
        tuple(pivots),
        tuple(parents),
        tuple(axes),
        tuple(kinds),
        tuple(links),
        tuple(frames),
    )


def _link_masses(vehicle: VehicleDescription) -> list[MassProperties]:
    """Mass properties of the body without its moving links, then of each moving link of the URDF."""
    body, tree = vehicle.body, vehicle.joint_tree
    if body.urdf is None:
        assert body.mass is not None and body.size is not None
        return [MassProperties.of_box(body.mass, body.center_of_mass, body.size)]
    masses = [MassProperties(0.0, np.zeros(3), np.zeros((3, 3))) for _ in range(1 + len(tree.joints))]
    for link in ElementTree.parse(body.urdf).getroot().iterfind("link"):
        place = tree.links[str(link.get("name"))]
        own = read_inertial(link).transformed(place.frame.rotation, place.frame.origin)
        masses[1 + place.joint] = masses[1 + place.joint] + own
    return masses


def vehicle_length(vehicle: VehicleDescription) -> float:
    """Length of a vehicle's bounding box with the flippers at angle 0 [m]."""
    low, high = bounding_box(vehicle, {})
    return float(high[0] - low[0])
