"""Frames in one another, and where the links of a body's URDF are in its root link's."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segtrack.geometry.rotation import rotation_of


@dataclass(frozen=True, eq=False)
class Frame:
    """A frame in another one. Two are equal only if they are the same: arrays have no one answer.

    Attributes:
        rotation: Its axes as columns (3, 3).
        origin: Its origin (3,) [m].
    """

    rotation: NDArray[np.float64]
    origin: NDArray[np.float64]

    @classmethod
    def at(cls, xyz: ArrayLike, rpy: tuple[float, float, float]) -> Frame:
        """From its origin (3,) [m] and its roll, pitch, yaw [rad]."""
        return cls(rotation_of(rpy), np.asarray(xyz, dtype=float))

    def __matmul__(self, inner: Frame) -> Frame:
        """The frame `inner`, given in this frame, seen from outside of this one."""
        return Frame(self.rotation @ inner.rotation, self.points(inner.origin))

    def points(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Points (..., 3) [m] given in this frame, seen from outside."""
        return points @ self.rotation.T + self.origin

    def plane_points(self, points: NDArray[np.float64], y: float = 0.0) -> NDArray[np.float64]:
        """Points (n, 3) [m] seen from outside, of (x, z) pairs (n, 2) at `y` in this frame [m]."""
        return self.points(np.insert(points, 1, y, axis=1))


def link_frames(robot: ElementTree.Element) -> dict[str, Frame]:
    """Each link of a URDF in its root link's frame, by name; all joints stand at 0."""
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
    """Three numbers of a URDF's tag; zeros where it gives none."""
    text = element.get(key, "0 0 0") if element is not None else "0 0 0"
    x, y, z = (float(word) for word in text.split())
    return x, y, z
