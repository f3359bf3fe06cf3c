"""Mass properties, poses and outlines of exported files, read without the code that wrote them."""

from __future__ import annotations

from typing import NamedTuple
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from segtrack.geometry import rotation_of

Array = NDArray[np.float64]


class Whole(NamedTuple):
    """Mass [kg], centre of mass (3,) [m] and inertia about it (3, 3) [kg m^2] of several bodies."""

    mass: float
    center: Array
    inertia: Array


def together(bodies: list[tuple[float, Array, Array]]) -> Whole:
    """Whole of bodies, each with its mass, centre and inertia about that, all in one frame."""
    mass = sum(body[0] for body in bodies)
    center = sum((body[0] * body[1] for body in bodies), start=np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for own, middle, tensor in bodies:
        arm = middle - center
        inertia += tensor + own * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return Whole(mass, center, inertia)


def pose_of(element: Element) -> tuple[Array, Array]:
    """Origin (3,) and rotation (3, 3) of an SDF element's pose; zeros without one."""
    numbers = [float(word) for word in (element.findtext("pose") or "0 0 0 0 0 0").split()]
    return np.array(numbers[:3]), rotation_of(numbers[3:])


def whole_of_sdf(model: Element) -> Whole:
    """Whole of an SDF model's links, in the model's frame."""
    bodies = []
    for link in model.iterfind("link"):
        origin, rotation = pose_of(link)
        inertial = link.find("inertial")
        assert inertial is not None
        center, turn = pose_of(inertial)
        xx, xy, xz, yy, yz, zz = (
            float(inertial.findtext(f"inertia/{key}") or "nan")
            for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        )
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        to_model = rotation @ turn
        mass = float(inertial.findtext("mass") or "nan")
        bodies.append((mass, origin + rotation @ center, to_model @ tensor @ to_model.T))
    return together(bodies)
