"""Look of a vehicle and its poses as data: meshes in their own frames, and poses of links.

Frames. Links have their frames in the world. A track frame is mounted on its link; x forward, z up, y along
the axles. A belt coordinate runs along the belt's path, and grows with the travel.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from segtrack.description import Frame
from segtrack.geometry import Arc, BeltPath, Line, rotation_about_y
from segtrack.rendering.mesh import ColouredMesh, join, repeat_points

_POSE = 7
"""Numbers of a pose: position (3,) [m] and quaternion (x, y, z, w)."""


@dataclass(frozen=True)
class OnLink:
    """Fixed to the link of an index."""

    link: int


@dataclass(frozen=True, eq=False)
class OnBelt:
    """Riding on a belt: once at each of n places, its x axis along the belt, its z axis outwards.

    Attributes:
        track: Its index.
        coordinates: Belt coordinates of the places at travel 0 (n,) [m].
    """

    track: int
    coordinates: NDArray[np.float64]


@dataclass(frozen=True)
class OnWheel:
    """Turning about the y axis of a track, by its travel over a radius.

    Attributes:
        track: Its index.
        center: Centre in the track frame (3,) [m].
        radius: Belt travel per angle [m/rad].
    """

    track: int
    center: tuple[float, float, float]
    radius: float


@dataclass(frozen=True, eq=False)
class OnBodies:
    """Once on each of n bodies.

    Attributes:
        indices: Indices of the bodies (n,).
    """

    indices: NDArray[np.intp]


Place: TypeAlias = OnLink | OnBelt | OnWheel | OnBodies


@dataclass(frozen=True, eq=False)
class VisiblePart:
    """Something to see.

    Attributes:
        mesh: One copy of it, in its own frame.
        place: Link or belt that it is on, and its places there.
    """

    mesh: ColouredMesh
    place: Place

    @property
    def count(self) -> int:
        """Number of copies."""
        match self.place:
            case OnBelt(_, coordinates):
                return len(coordinates)
            case OnBodies(indices):
                return len(indices)
        return 1


@dataclass(frozen=True)
class TrackLook:
    """A track that parts ride on.

    Attributes:
        name: Full name in the vehicle.
        link: Index of the link that it is mounted on.
        mount: Track frame in the link's.
        path: Path of its belt, in the track frame.
    """

    name: str
    link: int
    mount: Frame
    path: BeltPath


@dataclass(frozen=True, eq=False)
class VehiclePose:
    """Poses of all parts of a vehicle at an instant.

    Attributes:
        links: Frames of its links in the world: origin [m], quaternion (x, y, z, w), (n, 7). The first is
            the body frame.
        travels: Travels of its belts (t,) [m].
        bodies: Bodies that are no links, shoes and wheels of link chains, likewise (b, 7).
    """

    links: NDArray[np.float64]
    travels: NDArray[np.float64]
    bodies: NDArray[np.float64]

    @property
    def body(self) -> Frame:
        """The body frame in the world."""
        return Frame(Rotation.from_quat(self.links[0, 3:]).as_matrix(), self.links[0, :3])

    @property
    def frames(self) -> list[Frame]:
        """The frames of its links in the world."""
        rotations = Rotation.from_quat(self.links[:, 3:]).as_matrix()
        return [Frame(*frame) for frame in zip(rotations, self.links[:, :3], strict=True)]

    def flat(self) -> NDArray[np.float64]:
        """All its numbers in a row (7 n + t + 7 b,), which `VehicleLook.pose` turns back."""
        return np.concatenate([self.links.ravel(), self.travels, self.bodies.ravel()])


@dataclass(frozen=True, eq=False)
class VehicleLook:
    """Meshes of a vehicle, each in the frame of its part.

    Attributes:
        name: Name of the vehicle.
        links: Names of its links; the first is the body frame.
        tracks: Its tracks.
        bodies: Number of bodies that are no links: shoes and wheels of link chains.
        parts: Visible parts.
    """

    name: str
    links: tuple[str, ...]
    tracks: tuple[TrackLook, ...]
    bodies: int
    parts: tuple[VisiblePart, ...]

    @property
    def size(self) -> int:
        """Return the length of a flat pose."""
        return _POSE * (len(self.links) + self.bodies) + len(self.tracks)

    @property
    def pose_names(self) -> tuple[str, ...]:
        """Return the name and unit of each number of a flat pose."""
        parts = ("x [m]", "y [m]", "z [m]", "qx", "qy", "qz", "qw")
        links = [f"{link} {part}" for link in self.links for part in parts]
        travels = [f"{track.name} travel [m]" for track in self.tracks]
        bodies = [f"shoe or wheel {i} {part}" for i in range(self.bodies) for part in parts]
        return (*links, *travels, *bodies)

    @property
    def mesh(self) -> ColouredMesh:
        """All parts as one mesh, each as often as it is there; `points` says where its corners are."""
        return join(part.mesh.times(part.count) for part in self.parts)

    def pose(self, flat: NDArray[np.float64]) -> VehiclePose:
        """The pose of which `VehiclePose.flat` gave the numbers (`size`,)."""
        links, travels = _POSE * len(self.links), len(self.tracks)
        return VehiclePose(
            flat[:links].reshape(-1, _POSE),
            flat[links : links + travels],
            flat[links + travels :].reshape(-1, _POSE),
        )

    def as_json(self) -> dict[str, Any]:
        """The look as JSON can hold it; see docs/topics/rendering.md."""
        return {
            "name": self.name,
            "links": list(self.links),
            "bodies": self.bodies,
            "tracks": [_track_as_json(track) for track in self.tracks],
            "parts": [
                {"mesh": _mesh_as_json(part.mesh), "place": _place_as_json(part.place)} for part in self.parts
            ],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> VehicleLook:
        """The look that `as_json` wrote."""
        parts = [(_mesh_from_json(part["mesh"]), _place_from_json(part["place"])) for part in data["parts"]]
        return cls(
            data["name"],
            tuple(data["links"]),
            tuple(_track_from_json(track) for track in data["tracks"]),
            data["bodies"],
            tuple(VisiblePart(*part) for part in parts),
        )

    def points(self, pose: VehiclePose) -> NDArray[np.float64]:
        """Corners of `mesh` in the world (n, 3) [m]."""
        frames = pose.frames
        return np.concatenate([part_points(self, part, pose, frames) for part in self.parts])


def part_points(
    look: VehicleLook, part: VisiblePart, pose: VehiclePose, frames: list[Frame] | None = None
) -> NDArray[np.float64]:
    """Corners of a part in the world, of each of its copies in turn (k, 3) [m]; `frames` are the pose's."""
    points, frames = part.mesh.points, pose.frames if frames is None else frames
    match part.place:
        case OnLink(link):
            return frames[link].points(points)
        case OnBodies(indices):
            poses = pose.bodies[indices]
            return repeat_points(points, Rotation.from_quat(poses[:, 3:]).as_matrix(), poses[:, :3])
        case OnBelt(number, coordinates):
            track, travel = look.tracks[number], pose.travels[number]
            on_track = repeat_points(points, *_places(track.path, coordinates + travel))
        case OnWheel(number, center, radius):
            track, travel = look.tracks[number], pose.travels[number]
            on_track = points @ rotation_about_y(travel / radius).T + center
    return (frames[track.link] @ track.mount).points(on_track)


def _places(path: BeltPath, at: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rotations (n, 3, 3) and origins (n, 3) [m] of footprints at belt coordinates (n,) [m]."""
    headings = path.heading(at)
    cos, sin, zero, one = np.cos(headings), np.sin(headings), np.zeros(len(at)), np.ones(len(at))
    rows = [[cos, zero, sin], [zero, one, zero], [-sin, zero, cos]]
    rotations = np.moveaxis(np.array(rows), -1, 0)
    return rotations, np.insert(path.point(at), 1, 0.0, axis=1)


_ARRAYS = {"points": "<f8", "triangles": "<i4", "colours": "<f4"}
"""Number formats of a mesh's arrays, written row by row in base64."""
_PLACES = {"link": OnLink, "belt": OnBelt, "wheel": OnWheel, "bodies": OnBodies}
_SEGMENTS = {"line": Line, "arc": Arc}


def _mesh_as_json(mesh: ColouredMesh) -> dict[str, str]:
    return {
        name: b64encode(getattr(mesh, name).astype(kind).tobytes()).decode() for name, kind in _ARRAYS.items()
    }


def _mesh_from_json(data: Mapping[str, str]) -> ColouredMesh:
    arrays = {name: np.frombuffer(b64decode(data[name]), kind) for name, kind in _ARRAYS.items()}
    return ColouredMesh(**{name: array.reshape(-1, 3) for name, array in arrays.items()})


def _place_as_json(place: Place) -> dict[str, Any]:
    kind = next(name for name, of_kind in _PLACES.items() if isinstance(place, of_kind))
    values = {name: np.asarray(value).tolist() for name, value in vars(place).items()}
    return {"on": kind} | values


def _place_from_json(data: Mapping[str, Any]) -> Place:
    values = {name: value for name, value in data.items() if name != "on"}
    match data["on"]:
        case "belt":
            return OnBelt(values["track"], np.array(values["coordinates"], dtype=np.float64))
        case "bodies":
            return OnBodies(np.array(values["indices"], dtype=np.intp))
        case "wheel":
            return OnWheel(values["track"], tuple(values["center"]), values["radius"])
    return OnLink(**values)


def _track_as_json(track: TrackLook) -> dict[str, Any]:
    path = [{"kind": segment.kind} | asdict(segment) for segment in track.path.segments]
    mount = {"rotation": track.mount.rotation.ravel().tolist(), "origin": track.mount.origin.tolist()}
    return {"name": track.name, "link": track.link, "mount": mount, "path": path}


def _track_from_json(data: Mapping[str, Any]) -> TrackLook:
    mount = Frame(np.array(data["mount"]["rotation"]).reshape(3, 3), np.array(data["mount"]["origin"]))
    segments = []
    for segment in data["path"]:
        values = {name: value for name, value in segment.items() if name != "kind"}
        kind = _SEGMENTS[segment["kind"]]
        segments.append(kind(**values | {"start": tuple(segment["start"])}))
    return TrackLook(data["name"], data["link"], mount, BeltPath(tuple(segments)))
