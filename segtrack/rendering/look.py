"""Look of a vehicle as data: meshes in the frames of its parts, and the poses of these parts.

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
    """Placement of a mesh: fixed to one link, given by its index."""

    link: int


@dataclass(frozen=True, eq=False)
class OnBelt:
    """Placement of a mesh: copies at n places on a moving belt, x along the belt, z outwards.

    Attributes:
        track: Index of the track.
        coordinates: Belt coordinates of the places at travel 0 (n,) [m].
    """

    track: int
    coordinates: NDArray[np.float64]


@dataclass(frozen=True)
class OnWheel:
    """Placement of a mesh: turning about the y axis of a track, by belt travel over a radius.

    Attributes:
        track: Index of the track.
        center: Centre in the track frame (3,) [m].
        radius: Belt travel per angle of rotation [m/rad].
    """

    track: int
    center: tuple[float, float, float]
    radius: float


@dataclass(frozen=True, eq=False)
class OnBodies:
    """Placement of a mesh: one copy on each of n bodies that are no links, such as chain shoes.

    Attributes:
        indices: Indices of the bodies (n,).
    """

    indices: NDArray[np.intp]


Place: TypeAlias = OnLink | OnBelt | OnWheel | OnBodies


@dataclass(frozen=True, eq=False)
class VisiblePart:
    """Mesh of a vehicle, and its placement on a link, belt, wheel or bodies.

    Attributes:
        mesh: Mesh of one copy, in its own frame.
        place: Placement of the copies.
    """

    mesh: ColouredMesh
    place: Place

    @property
    def count(self) -> int:
        """Number of copies of the mesh."""
        match self.place:
            case OnBelt(_, coordinates):
                return len(coordinates)
            case OnBodies(indices):
                return len(indices)
        return 1


@dataclass(frozen=True)
class TrackLook:
    """Track that meshes are placed on.

    Attributes:
        name: Full name of the track in the vehicle.
        link: Index of the link that carries the track.
        mount: Track frame in that link's frame.
        path: Belt path, in the track frame.
    """

    name: str
    link: int
    mount: Frame
    path: BeltPath


@dataclass(frozen=True, eq=False)
class VehiclePose:
    """Poses of all parts of a vehicle at one instant.

    Attributes:
        links: Frames of its links in the world: origin [m], quaternion (x, y, z, w), (n, 7). The first is
            the body frame.
        travels: Belt travels (t,) [m].
        bodies: Frames of the bodies that are no links (shoes and wheels of link chains), as for links (b, 7).
    """

    links: NDArray[np.float64]
    travels: NDArray[np.float64]
    bodies: NDArray[np.float64]

    @property
    def body(self) -> Frame:
        """Body frame in the world."""
        return Frame(Rotation.from_quat(self.links[0, 3:]).as_matrix(), self.links[0, :3])

    @property
    def frames(self) -> list[Frame]:
        """Frames of the links in the world."""
        rotations = Rotation.from_quat(self.links[:, 3:]).as_matrix()
        return [Frame(*frame) for frame in zip(rotations, self.links[:, :3], strict=True)]

    def flat(self) -> NDArray[np.float64]:
        """All numbers in one row (7 n + t + 7 b,); `VehicleLook.pose` is the inverse."""
        return np.concatenate([self.links.ravel(), self.travels, self.bodies.ravel()])


@dataclass(frozen=True, eq=False)
class VehicleLook:
    """Meshes of a vehicle, each in the frame of its part.

    Attributes:
        name: Name of the vehicle.
        links: Names of its links; the first is the body frame.
        tracks: Tracks that meshes are placed on.
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
        """Length of a flat pose, see `VehiclePose.flat`."""
        return _POSE * (len(self.links) + self.bodies) + len(self.tracks)

    @property
    def pose_names(self) -> tuple[str, ...]:
        """Names and units of the numbers in a flat pose."""
        parts = ("x [m]", "y [m]", "z [m]", "qx", "qy", "qz", "qw")
        links = [f"{link} {part}" for link in self.links for part in parts]
        travels = [f"{track.name} travel [m]" for track in self.tracks]
        bodies = [f"shoe or wheel {i} {part}" for i in range(self.bodies) for part in parts]
        return (*links, *travels, *bodies)

    @property
    def mesh(self) -> ColouredMesh:
        """All parts as one mesh, with each copy; `points` returns its corners for a pose."""
        return join(part.mesh.times(part.count) for part in self.parts)

    def pose(self, flat: NDArray[np.float64]) -> VehiclePose:
        """Pose from a flat row of numbers (`size`,), the inverse of `VehiclePose.flat`."""
        links, travels = _POSE * len(self.links), len(self.tracks)
        return VehiclePose(
            flat[:links].reshape(-1, _POSE),
            flat[links : links + travels],
            flat[links + travels :].reshape(-1, _POSE),
        )

    def as_json(self) -> dict[str, Any]:
        """JSON-compatible form of the look; see docs/topics/rendering.md."""
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
        """Look from the data that `as_json` returned."""
        parts = [(_mesh_from_json(part["mesh"]), _place_from_json(part["place"])) for part in data["parts"]]
        return cls(
            data["name"],
            tuple(data["links"]),
            tuple(_track_from_json(track) for track in data["tracks"]),
            data["bodies"],
            tuple(VisiblePart(*part) for part in parts),
        )

    def points(self, pose: VehiclePose) -> NDArray[np.float64]:
        """Corners of `mesh` in the world at a pose (n, 3) [m]."""
        frames = pose.frames
        return np.concatenate([part_points(self, part, pose, frames) for part in self.parts])


def part_points(
    look: VehicleLook, part: VisiblePart, pose: VehiclePose, frames: list[Frame] | None = None
) -> NDArray[np.float64]:
    """Corners of all copies of one part in the world (k, 3) [m]; `frames` are the pose's, if at hand."""
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
    """Rotations (n, 3, 3) and origins (n, 3) [m] of frames on a belt, at coordinates (n,) [m]."""
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
    """Placement from its JSON form."""
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
