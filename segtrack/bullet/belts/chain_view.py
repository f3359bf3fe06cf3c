"""Shoes to look at: bodies without mass or collision, for PyBullet's window alone.

A link chain is no part of PyBullet's world. Where there is a window, each shoe gets a body that has
nothing but a shape to see, and is put where the shoe is.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pybullet

from segtrack.bullet.model import Belt

if TYPE_CHECKING:  # Numba takes half a second to import.
    from segtrack.ground.tread import Tread

_INTERVAL = 1 / 30
"""Between two pictures of a window, by the wall clock [s]."""
_PLATE, _GROUSER = [0.18, 0.21, 0.23, 1.0], [0.08, 0.09, 0.1, 1.0]


class ChainView:
    """The shoes of a vehicle's link chains, as they are seen."""

    def __init__(self, client: int, belts: Sequence[Belt]) -> None:
        """Begin with nothing to see; a window gets its bodies at once."""
        self._client = client
        self._chains = [belt.chain for belt in belts if belt.chain is not None]
        self._bodies: list[int] = []
        self._next = 0.0
        self._windowed = pybullet.getConnectionInfo(client)["connectionMethod"] == pybullet.GUI
        if self._windowed and self._chains:
            with self._undrawn():
                self._show()

    def refresh(self) -> None:
        """Let a window follow, if it is time."""
        if self._windowed and self._chains and time.monotonic() >= self._next:
            with self._undrawn():
                self._move()
            self._next = time.monotonic() + _INTERVAL

    @contextmanager
    def _undrawn(self) -> Iterator[None]:
        """Keep a window from drawing between each body and the next, which takes it seconds."""
        visualizer, drawing = pybullet.configureDebugVisualizer, pybullet.COV_ENABLE_RENDERING
        visualizer(drawing, 0, physicsClientId=self._client)
        yield
        visualizer(drawing, 1, physicsClientId=self._client)

    def _show(self) -> None:
        for chain in self._chains:
            shapes = [self._shape(tread) for tread in chain.design.treads]
            poses = zip(chain.state.positions.tolist(), chain.state.orientations.tolist(), strict=True)
            for kind, (position, orientation) in zip(chain.design.kinds, poses, strict=True):
                self._bodies.append(
                    pybullet.createMultiBody(
                        baseMass=0.0,
                        baseCollisionShapeIndex=-1,
                        baseVisualShapeIndex=shapes[kind],
                        basePosition=position,
                        baseOrientation=orientation,
                        physicsClientId=self._client,
                    )
                )

    def _move(self) -> None:
        states = [chain.state for chain in self._chains]
        poses = (
            pose
            for state in states
            for pose in zip(state.positions.tolist(), state.orientations.tolist(), strict=True)
        )
        for body, pose in zip(self._bodies, poses, strict=True):
            pybullet.resetBasePositionAndOrientation(body, *pose, physicsClientId=self._client)

    def _shape(self, tread: Tread) -> int:
        """A plate, and a bar for its grouser; returns PyBullet's id."""
        plate = [tread.length / 2, tread.width / 2, tread.thickness / 2]
        boxes = [(plate, [tread.x, 0.0, tread.outer - tread.thickness / 2], _PLATE)]
        bar = tread.grouser
        if bar is not None:
            half = [(bar.base + bar.top) / 4, tread.width / 2, bar.height / 2]
            boxes.append((half, [tread.x + bar.x, 0.0, tread.outer + bar.height / 2], _GROUSER))
        sizes, places, colours = map(list, zip(*boxes, strict=True))  # PyBullet crashes over tuples.
        return int(
            pybullet.createVisualShapeArray(
                shapeTypes=[pybullet.GEOM_BOX] * len(boxes),
                halfExtents=sizes,
                visualFramePositions=places,
                rgbaColors=colours,
                physicsClientId=self._client,
            )
        )
