"""Ground of triangles in PyBullet: heightfields and concave meshes, which a fast vehicle may pass.

A triangle has no inside. Bullet pushes a part out on the side to which it is nearer, so that a part which has
come in by more than half of its thickness within one step is drawn through: a grouser of 8 mm that falls at
2.4 m/s moves by 12 mm in 5 ms, and its vehicle hangs in the ground, held from both sides. Boxes, hulls and
planes push out of themselves at any depth.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pybullet

from segtrack.geometry.links import SegmentLink
from segtrack.geometry.solids import Placed
from segtrack.ground.vectors import cross, dot, sum_of
from segtrack.quiet import without_greetings

_DEEPEST = 0.5
"""Part of the thickness of the thinnest part by which it may move in a step [-]."""


def thinnest_part(links: Iterable[SegmentLink]) -> float:
    """Height above the belt, or below its outer face, of the thinnest shape of links [m].

    It is infinite without shapes.
    """
    outlines = (Placed(shape.solid).outline for link in links for shape in link.shapes)
    return min((float(np.ptp(outline[:, 1])) for outline in outlines), default=math.inf)


class SurfaceWatch:
    """A watch for steps in which a vehicle would pass ground of triangles."""

    def __init__(
        self, client: int, own: Sequence[int], flippers: Sequence[int], name: str, thinnest: float
    ) -> None:
        """Watch a vehicle that has just been loaded.

        Args:
            client: PyBullet's id of the client.
            own: PyBullet's ids of the vehicle's bodies, its own multibody first.
            flippers: PyBullet's indices of its flippers' joints.
            name: The vehicle's, for messages.
            thinnest: Thickness of the thinnest part that touches the ground [m].
        """
        self._client, self._body, self._own, self._name = client, own[0], frozenset(own), name
        self._flippers, self._most = list(flippers), _DEEPEST * thinnest
        self._is_warned = False
        low, high = self._bounds()
        center, _ = pybullet.getBasePositionAndOrientation(self._body, physicsClientId=client)
        self._radius = float(np.linalg.norm(np.maximum(high - center, center - low)))

    def longest_step(self, step: float, known: Mapping[int, bool]) -> float:
        """Longest duration of the next step in which no part passes a surface [s].

        It is infinite where nothing gets to one in the next step.

        Args:
            step: Duration that the step is meant to have [s].
            known: True for bodies that are surfaces, by PyBullet's id; others are looked at.
        """
        way = self._top_speed() * step
        if not self._most < way < math.inf:
            return math.inf
        low, high = self._bounds()
        near = pybullet.getOverlappingObjects(
            (low - way).tolist(), (high + way).tolist(), physicsClientId=self._client
        )
        others = {body for body, _ in near or ()} - self._own
        surfaces = [body for body in others if (known[body] if body in known else self._is_surface(body))]
        closing = max((self._closing_speed(body, way, step) for body in surfaces), default=0.0)
        return self._most / closing if closing > 0.0 else math.inf

    def _top_speed(self) -> float:
        """Bound on the speed of any part, but for what belts move on their links [m/s]."""
        velocity, spin = pybullet.getBaseVelocity(self._body, physicsClientId=self._client)
        # Without any PyBullet gives None.
        states = pybullet.getJointStates(self._body, self._flippers, physicsClientId=self._client) or ()
        # Nothing on a flipper is farther from its joint than across the vehicle.
        turning = math.hypot(*spin) + 2 * max((abs(rate) for _, rate, *_ in states), default=0.0)
        return math.hypot(*velocity) + turning * self._radius

    def _closing_speed(self, surface: int, way: float, step: float) -> float:
        """Largest speed along a surface's normals of what gets to it in the step, 0 without any [m/s].

        Args:
            surface: PyBullet's id of its body.
            way: Distance that no part moves farther than in the step [m].
            step: Its duration [s].
        """
        client = self._client
        points = pybullet.getClosestPoints(self._body, surface, way, physicsClientId=client)
        links = sorted({point[3] for point in points} - {-1})
        states = pybullet.getLinkStates(
            self._body, links, computeLinkVelocity=1, computeForwardKinematics=1, physicsClientId=client
        )
        closing = 0.0
        motions = {link: (state[0], *state[6:8]) for link, state in zip(links, states or (), strict=True)}
        center, _ = pybullet.getBasePositionAndOrientation(self._body, physicsClientId=client)
        motions[-1] = (center, *pybullet.getBaseVelocity(self._body, physicsClientId=client))
        for _, _, _, link, _, place, _, normal, gap, *_ in points:
            center, velocity, spin = motions[link]
            arm = place[0] - center[0], place[1] - center[1], place[2] - center[2]
            speed = -dot(sum_of(velocity, cross(spin, arm)), normal)
            if gap < speed * step:
                closing = max(closing, speed)
        return closing

    def warn(self, step: float) -> None:
        """Warn, once an approach, of a step [s] that is too long."""
        longest = self.longest_step(step, {})
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
