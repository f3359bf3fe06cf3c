"""What is shown while driving."""

from __future__ import annotations

import math
from typing import Protocol

import pygame

from segtrack.recording.session import DriveSession
from segtrack.rendering import Camera
from segtrack.rendering.camera import View

_VIEWS: tuple[View, ...] = ("chase", "side", "top", "oblique")
_BACKGROUND = (24, 28, 32)


class DriveView(Protocol):
    """Something to look at.

    Attributes:
        size: Width and height of the window that it needs [pixels].
    """

    size: tuple[int, int]

    def draw(self, screen: pygame.Surface) -> None:
        """Show the vehicle where it is now."""

    def turn(self) -> None:
        """Look from elsewhere."""


class CameraView:
    """Pictures of a camera that follows the vehicle, drawn by segtrack: no GPU, any engine."""

    size = (960, 540)

    def __init__(self, session: DriveSession) -> None:
        """Follow a session's vehicle."""
        self._session, self._index = session, 0
        self._look()

    def draw(self, screen: pygame.Surface) -> None:
        """Take a picture."""
        pygame.surfarray.blit_array(screen, self._camera.take().swapaxes(0, 1))

    def turn(self) -> None:
        """Take the next of the camera's views."""
        self._index = (self._index + 1) % len(_VIEWS)
        self._look()

    def _look(self) -> None:
        world, view = self._session.world, _VIEWS[self._index]
        self._camera = Camera(self._session.robot, world.terrains, view=view, size=self.size)


class BulletView:
    """PyBullet's window, its camera behind the vehicle; the small window beside it takes the keys."""

    size = (960, 120)

    def __init__(self, session: DriveSession) -> None:
        """Follow a session's vehicle in PyBullet's window."""
        self._session, self._client = session, session.world.client
        self._from = 0.0
        low, high = session.robot.bounds()
        self._distance = 2.5 * math.dist(low, high)
        self._client.configureDebugVisualizer(self._client.COV_ENABLE_KEYBOARD_SHORTCUTS, 0)
        self._client.configureDebugVisualizer(self._client.COV_ENABLE_GUI, 0)

    def draw(self, screen: pygame.Surface) -> None:
        """Move PyBullet's camera."""
        state = self._session.robot.state
        heading = math.degrees(state.yaw) - 90 + self._from
        self._client.resetDebugVisualizerCamera(self._distance, heading, -25, state.position)
        screen.fill(_BACKGROUND)

    def turn(self) -> None:
        """Look from another side."""
        self._from = (self._from + 90) % 360
