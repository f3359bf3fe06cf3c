"""The shapes of a body that is a URDF."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from segtrack.description.frames import Frame, link_frames, read_vector
from segtrack.description.grousers import convex_corners

_ROUND = 16
"""Corners around a cylinder or a sphere."""


@dataclass(frozen=True, eq=False)
class LinkShape:
    """A shape of a link.

    Attributes:
        tag: Its element: a box, cylinder, sphere, capsule or mesh.
        frame: Frame of the shape in the body frame, all joints at 0.
        folder: Folder that the path of its mesh starts from.
    """

    tag: ElementTree.Element
    frame: Frame
    folder: Path

    @property
    def box_size(self) -> NDArray[np.float64] | None:
        """Sides (3,) if it is a box [m]."""
        return np.array(read_vector(self.tag, "size")) if self.tag.tag == "box" else None

    def corners(self) -> NDArray[np.float64]:
        """Points whose convex hull it is, or is within 2 % of, in its own frame (n, 3) [m].

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
                file = self.folder / str(self.tag.get("filename")).removeprefix("package://")
                return convex_corners(str(file)) * np.array([float(s) for s in scale])

    def _number(self, key: str) -> float:
        return float(self.tag.get(key, "0"))


def body_shapes(urdf: str, kind: Literal["collision", "visual"]) -> Iterator[tuple[str, LinkShape]]:
    """Shapes of a kind, each with the name of its link.

    Args:
        urdf: File of the body.
        kind: Collision or visual shapes.
    """
    file = Path(urdf)
    robot = ElementTree.parse(file).getroot()
    frames = link_frames(robot)
    for link in robot.iterfind("link"):
        name = str(link.get("name"))
        for element in link.iterfind(kind):
            origin = element.find("origin")
            frame = frames[name] @ Frame.at(read_vector(origin, "xyz"), read_vector(origin, "rpy"))
            for tag in element.iterfind("geometry/*"):
                yield name, LinkShape(tag, frame, file.parent)
