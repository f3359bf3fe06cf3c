"""Frames on a vehicle, lateral offsets of its tracks, and links of a URDF: frames, inertials, shapes."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segtrack.description.grousers import convex_corners
from segtrack.description.mesh_files import mesh_file
from segtrack.geometry import MassProperties, rotation_of

Values = TypeVar("Values", float, NDArray[np.float64])


@dataclass(frozen=True, eq=False)
class Frame:
    """Rotation and origin of a frame in another one. Frames are equal only if they are one object.

    Attributes:
        rotation: Axes of the frame as columns, in the other frame (3, 3).
        origin: Origin of the frame in the other frame (3,) [m].
    """

    rotation: NDArray[np.float64]
    origin: NDArray[np.float64]

    @classmethod
    def at(cls, xyz: ArrayLike, rpy: tuple[float, float, float]) -> Frame:
        """Make a frame from its origin (3,) [m] and roll, pitch, yaw [rad] in the other frame."""
        return cls(rotation_of(rpy), np.asarray(xyz, dtype=float))

    def __matmul__(self, inner: Frame) -> Frame:
        """Compose frames: `inner`, given in this frame, is returned in the other frame."""
        return Frame(self.rotation @ inner.rotation, self.points(inner.origin))

    @property
    def push(self) -> NDArray[np.float64]:
        """Unit direction (3,) in which a track with this frame drives on level ground, in the other frame.

        It is across the axle, y, and level: not x, which points backwards on a track turned about its axle.
        It is short where the axle is steep, and 0 where it is upright.
        """
        x, y, _ = self.rotation[:, 1]
        return np.array([y, -x, 0.0])

    def seen_from(self, other: Frame) -> Frame:
        """This frame in another one, when both are given in a common frame."""
        back = other.rotation.T
        return Frame(back @ self.rotation, back @ (self.origin - other.origin))

    def points(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Transform points (..., 3) [m] of this frame to the other frame."""
        return points @ self.rotation.T + self.origin

    def plane_points(self, points: NDArray[np.float64], y: float = 0.0) -> NDArray[np.float64]:
        """Transform (x, z) pairs (n, 2) at `y` in this frame to points (n, 3) of the other frame [m]."""
        return self.points(np.insert(points, 1, y, axis=1))


class TrackOffsets(NamedTuple):
    """Lateral offsets of a vehicle's left and right tracks in its body frame, y to the left.

    Attributes:
        left: Mean y of the left tracks [m].
        right: Mean y of the right tracks [m], less than that of the left ones.
    """

    left: float
    right: float

    @classmethod
    def centred(cls, gauge: float) -> TrackOffsets:
        """Offsets of tracks at a gauge [m], symmetric about the body frame."""
        return cls(gauge / 2, -gauge / 2)

    @property
    def gauge(self) -> float:
        """Distance between the planes of the left and right tracks [m]."""
        return self.left - self.right

    def belt_speeds(self, linear: Values, angular: Values) -> tuple[Values, Values]:
        """Belt speeds of both sides [m/s] for a twist without slip.

        Args:
            linear: Speed of the body frame's origin, forward [m/s].
            angular: Yaw rate, left positive [rad/s].
        """
        return linear - angular * self.left, linear - angular * self.right

    def twist(self, left: Values, right: Values) -> tuple[Values, Values]:
        """Twist that belt speeds make without slip, the inverse of `belt_speeds`.

        Args:
            left: Belt speed of the left side [m/s].
            right: Belt speed of the right side [m/s].

        Returns:
            Speed of the body frame's origin, forward [m/s], and yaw rate, left positive [rad/s].
        """
        angular = (right - left) / self.gauge
        return (left + right) / 2 + angular * ((self.left + self.right) / 2), angular


def link_frames(robot: ElementTree.Element) -> dict[str, Frame]:
    """Frames of all links in the URDF's root link's frame, by name; all joints at 0."""
    joints = {
        child.get("link"): joint for joint in robot.iterfind("joint") for child in joint.iterfind("child")
    }
    frames = {}
    for name in (str(link.get("name")) for link in robot.iterfind("link")):
        frame, link = Frame.at((0, 0, 0), (0, 0, 0)), name
        while (joint := joints.get(link)) is not None:
            xyz, rpy = (read_vector(joint.find("origin"), key) for key in ("xyz", "rpy"))
            frame = Frame.at(xyz, rpy) @ frame
            parent = joint.find("parent")
            link = str(parent.get("link")) if parent is not None else ""
        frames[name] = frame
    return frames


def read_vector(element: ElementTree.Element | None, key: str) -> tuple[float, float, float]:
    """Three numbers of a URDF attribute; zeros if it is missing."""
    text = element.get(key, "0 0 0") if element is not None else "0 0 0"
    x, y, z = (float(word) for word in text.split())
    return x, y, z


def link_masses(robot: ElementTree.Element) -> dict[str, float]:
    """Mass of each link by name [kg]; 0 if the file gives none."""
    masses = {}
    for link in robot.iterfind("link"):
        mass = link.find("inertial/mass")
        masses[str(link.get("name"))] = float(mass.get("value", "0")) if mass is not None else 0.0
    return masses


def weighing_links(robot: ElementTree.Element) -> dict[str, str | None]:
    """Link that bears each link's mass, by name: itself, or the nearest with a mass behind fixed joints.

    ROS puts a link without a mass at the root, `base_footprint`, and fixes the body to it.
    """
    masses = link_masses(robot)
    held: dict[str, list[str]] = {name: [] for name in masses}
    for joint in robot.iterfind("joint[@type='fixed']"):
        one, other = (str(joint.find(tag).get("link")) for tag in ("parent", "child"))  # type: ignore[union-attr]
        held[one].append(other)
        held[other].append(one)
    found: dict[str, str | None] = {}
    for name in masses:
        reached = [name]
        for link in reached:
            reached += [other for other in held[link] if other not in reached]
        found[name] = next((link for link in reached if masses[link] > 0), None)
    return found


def read_inertial(link: ElementTree.Element) -> MassProperties:
    """Mass properties of a URDF link in its frame; zero if the file gives none."""
    element = link.find("inertial")
    if element is None:
        return MassProperties(0.0, np.zeros(3), np.zeros((3, 3)))
    origin, mass = element.find("origin"), element.find("mass")
    rotation = rotation_of(read_vector(origin, "rpy"))
    value = float(mass.get("value", 0)) if mass is not None else 0.0
    return MassProperties.of(value, read_vector(origin, "xyz"), rotation @ read_tensor(element) @ rotation.T)


def read_tensor(inertial: ElementTree.Element | None) -> NDArray[np.float64]:
    """Inertia tensor (3, 3) about the centre of mass, in the inertial's axes [kg m^2]; 0 if missing."""
    tensor = inertial.find("inertia") if inertial is not None else None
    xx, xy, xz, yy, yz, zz = (
        float(tensor.get(key, 0)) if tensor is not None else 0.0
        for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    )
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def impossible_moments(inertial: ElementTree.Element | None) -> NDArray[np.float64] | None:
    """Principal moments of inertia of a URDF link that no body can have; None if a body can have them.

    Those of a body are positive, and none is above the sum of the other two.

    Args:
        inertial: Element `inertial` of the link; without it, or without its `inertia`, all moments are 0,
            which is impossible.

    Returns:
        The impossible moments (3,), ascending [kg m^2], or None.
    """
    # As the file has it: what rounding adds about another point could refuse a thin plate.
    moments = np.asarray(np.linalg.eigvalsh(read_tensor(inertial)), dtype=float)
    smallest, middle, largest = moments
    return moments if smallest <= 0 or largest > smallest + middle else None


_ROUND = 16
"""Corners around a cylinder or a sphere."""


@dataclass(frozen=True, eq=False)
class LinkShape:
    """Shape of a URDF link.

    Attributes:
        tag: XML element: a box, cylinder, sphere, capsule or mesh.
        frame: Frame of the shape in the body frame, all joints at 0.
        folder: Folder that the mesh's path starts from.
        colour: Red, green, blue and opacity, in [0, 1], as in a URDF; empty if its material has none.
    """

    tag: ElementTree.Element
    frame: Frame
    folder: Path
    colour: str = ""

    @property
    def box_size(self) -> NDArray[np.float64] | None:
        """Edge lengths (3,) of a box [m]; None for another shape."""
        return np.array(read_vector(self.tag, "size")) if self.tag.tag == "box" else None

    def corners(self) -> NDArray[np.float64]:
        """Points (n, 3) in the shape's own frame whose convex hull is the shape, within 2 % [m].

        Raises:
            InvalidValueError: A mesh that cannot be read, or is no solid.
        """
        turns = 2 * np.pi * np.arange(_ROUND) / _ROUND
        ring = np.stack([np.cos(turns), np.sin(turns), 0 * turns], axis=1)
        match self.tag.tag:
            case "box":
                signs = np.stack(np.meshgrid(*[[-0.5, 0.5]] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
                return signs * self.box_size
            case "cylinder":
                half = np.array([0, 0, self._number("length") / 2])
                radius = self._number("radius")
                return np.concatenate([radius * ring - half, radius * ring + half])
            case "sphere" | "capsule":
                tilts = np.linspace(-np.pi / 2, np.pi / 2, _ROUND // 2 + 1)
                ball = [ring * np.cos(tilt) + (0, 0, np.sin(tilt)) for tilt in tilts]
                half = np.array([0, 0, self._number("length") / 2])
                points = self._number("radius") * np.unique(np.round(np.concatenate(ball), 12), axis=0)
                return np.concatenate([points - half, points + half]) if half[2] > 0 else points
            case _:
                scale = self.tag.get("scale", "1").split()
                file = mesh_file(str(self.tag.get("filename")), self.folder)
                return convex_corners(str(file)) * np.array([float(s) for s in scale])

    @property
    def lowest(self) -> float:
        """Smallest z of the shape in the body frame [m].

        Raises:
            InvalidValueError: A mesh that cannot be read, or is no solid.
        """
        up = self.frame.rotation[2]
        half = abs(float(up[2])) * self._number("length") / 2
        match self.tag.tag:
            case "sphere" | "capsule":
                below = half + self._number("radius")
            case "cylinder":
                below = half + self._number("radius") * float(np.hypot(up[0], up[1]))
            case _:
                return float(self.frame.points(self.corners())[:, 2].min())
        return float(self.frame.origin[2]) - below

    def _number(self, key: str) -> float:
        return float(self.tag.get(key, "0"))


def body_shapes(urdf: str, kind: Literal["collision", "visual"]) -> Iterator[tuple[str, LinkShape]]:
    """Yield the shapes of a kind, each with the name of its link.

    Args:
        urdf: URDF file of the body.
        kind: Collision or visual shapes.
    """
    file = Path(urdf)
    robot = ElementTree.parse(file).getroot()
    frames, colours = link_frames(robot), _material_colours(robot)
    for link in robot.iterfind("link"):
        name = str(link.get("name"))
        for element in link.iterfind(kind):
            material = element.find("material")
            colour = "" if material is None else _colour_of(material) or colours.get(material.get("name"), "")
            origin = element.find("origin")
            frame = frames[name] @ Frame.at(read_vector(origin, "xyz"), read_vector(origin, "rpy"))
            for tag in element.iterfind("geometry/*"):
                yield name, LinkShape(tag, frame, file.parent, colour)


def _material_colours(robot: ElementTree.Element) -> dict[str | None, str]:
    """Colours of a URDF's materials by name."""
    return {
        material.get("name"): _colour_of(material)
        for material in robot.iter("material")
        if _colour_of(material)
    }


def _colour_of(material: ElementTree.Element) -> str:
    """Colour of a URDF's material as text; empty if it has none of four numbers."""
    color = material.find("color")
    words = [] if color is None else str(color.get("rgba")).split()
    try:
        is_colour = len(words) == 4 and all(0.0 <= float(word) <= 1.0 for word in words)
    except ValueError:
        is_colour = False
    return " ".join(words) if is_colour else ""
