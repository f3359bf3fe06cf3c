"""Ground of triangles in PyBullet: heightfields and concave meshes, which a fast vehicle may pass.

A triangle has no inside. Bullet pushes a part out on the side to which it is nearer, so that a part which has
come in by more than half of its thickness is drawn through: a grouser of 8 mm that falls at 2.4 m/s moves by
12 mm in 5 ms, and its vehicle hangs in the ground, held from both sides. Boxes, hulls and planes push out of
themselves at any depth.

Shorter steps alone do not mend it. A vehicle of mass m on contacts of stiffness k, critically damped, that
lands at v goes in by v sqrt(m / k) / e in steps of any duration: MAXXII after a fall of 1 m by 3.7 mm, and
its grousers have 5. Where a vehicle falls on such ground its contacts are therefore rigid.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pybullet

from segtrack.geometry import Placed, SegmentLink
from segtrack.quiet import without_greetings

_DEEPEST = 0.5
"""Part of the thickness of the thinnest part by which it may move in a step [-]."""
_FALL = 0.2
"""Speed of a fall from which contacts are rigid [m/s].

A grouser that lands alone stops a quarter of the vehicle with a thirtieth of its stiffness: it goes in 2.7
times as deep as all of them, by 0.45 mm at this speed with what `segments.REST_DEPTH` gives.
"""


_UP = np.array([0.0, 0.0, 1.0])


class Approach(NamedTuple):
    """Demands of ground of triangles within reach on a step.

    Attributes:
        longest_step: Longest duration in which no part passes a surface [s]; infinite where none is near.
        falls: True where the vehicle falls on it so fast that contacts which give way let parts in too deep.
    """

    longest_step: float
    falls: bool


_FAR = Approach(math.inf, False)


def thinnest_part(links: Iterable[SegmentLink]) -> float:
    """Height above the belt, or below its outer face, of the thinnest shape of links [m].

    It is infinite without shapes.
    """
    outlines = (Placed(shape.solid).outline for link in links for shape in link.shapes)
    return min((float(np.ptp(outline[:, 1])) for outline in outlines), default=math.inf)


class SurfaceWatch:
    """A watch for steps in which a vehicle would pass ground of triangles."""

    def __init__(self, client: int, own: Sequence[int], name: str, thinnest: float) -> None:
        """Watch a vehicle that has just been loaded.

        Args:
            client: PyBullet's id of the client.
            own: PyBullet's ids of the vehicle's bodies, its own multibody first.
            name: The vehicle's, for messages.
            thinnest: Thickness of the thinnest part that touches the ground [m].
        """
        self._client, self._body, self._own, self._name = client, own[0], frozenset(own), name
        self._most = _DEEPEST * thinnest
        self._is_warned = False
        low, high = self._bounds()
        center, _ = pybullet.getBasePositionAndOrientation(self._body, physicsClientId=client)
        self._radius = float(np.linalg.norm(np.maximum(high - center, center - low)))

    def look(self, step: float, known: Mapping[int, bool]) -> Approach:
        """Find out what surfaces within reach ask of the next step.

        Args:
            step: Duration that the step is meant to have [s].
            known: True for bodies that are surfaces, by PyBullet's id; others are looked at.
        """
        velocity, spin = pybullet.getBaseVelocity(self._body, physicsClientId=self._client)
        speed = math.hypot(*velocity) + math.hypot(*spin) * self._radius
        falls = math.hypot(*spin[:2]) * self._radius - velocity[2] > _FALL
        way = speed * step
        if not (self._most < way or falls) or not way < math.inf:
            return _FAR
        low, high = self._bounds()
        near = pybullet.getOverlappingObjects(
            (low - way).tolist(), (high + way).tolist(), physicsClientId=self._client
        )
        others = {body for body, _ in near or ()} - self._own
        found = any(known[body] if body in known else self._is_surface(body) for body in others)
        if not found:
            return _FAR
        if falls:  # Downwards; one that drives downhill does not come to the ground that bears it.
            normal = self._normal()
            tilting = np.linalg.norm(np.cross(spin, normal)) * self._radius
            falls = bool(tilting - np.dot(velocity, normal) > _FALL)
        return Approach(self._most / speed, falls)

    def _normal(self) -> np.ndarray:
        """Normal of the ground that bears the vehicle (3,), in the world; upwards where none does."""
        contacts = pybullet.getContactPoints(bodyA=self._body, physicsClientId=self._client)
        pushes = [(force, normal) for _, _, _, _, _, _, _, normal, _, force, *_ in contacts]
        borne = sum((force * np.array(normal) for force, normal in pushes), np.zeros(3))
        size = float(np.linalg.norm(borne))
        return borne / size if size > 0 else _UP

    def warn(self, longest: float, step: float) -> None:
        """Warn, once an approach, of a step [s] that is longer than the longest that does [s]."""
        if longest < step and not self._is_warned:
            logging.getLogger("segtrack").warning(
                "segtrack: %s comes upon a heightfield or concave mesh so fast that its tracks may pass "
                "through: the longest step that they do not is %.2g s, this one is %.2g s",
                self._name,
                longest,
                step,
            )
        self._is_warned = longest < step

    def _bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Smallest and largest corner of the box around all links of its own multibody, in the world [m]."""
        count = pybullet.getNumJoints(self._body, physicsClientId=self._client)
        boxes = np.array(
            [pybullet.getAABB(self._body, k, physicsClientId=self._client) for k in range(-1, count)]
        )
        return boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)

    def _is_surface(self, body: int) -> bool:
        """True for a body that has a heightfield or a concave mesh.

        It is looked at each time: PyBullet gives the ids of removed bodies to new ones.
        """
        links = range(-1, pybullet.getNumJoints(body, physicsClientId=self._client))
        with without_greetings():  # PyBullet's remarks that it lists no heightfield, and no corners.
            return any(self._has_surface(body, link) for link in links)

    def _has_surface(self, body: int, link: int) -> bool:
        """True for a link of which PyBullet lists no shape, or a mesh of which it lists no corners.

        A link without shape has no extent.
        """
        client = self._client
        low, high = pybullet.getAABB(body, link, physicsClientId=client)
        if low == high:
            return False
        try:
            shapes = pybullet.getCollisionShapeData(body, link, physicsClientId=client)
        except pybullet.error:  # A body made with useMaximalCoordinates, such as our solids.
            return False
        meshes = [index for index, shape in enumerate(shapes) if shape[2] == pybullet.GEOM_MESH]
        return not shapes or any(
            not pybullet.getMeshData(body, link, collisionShapeIndex=index, physicsClientId=client)[0]
            for index in meshes
        )
