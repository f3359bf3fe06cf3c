"""Window for driving: views and instruments, paced to the clock."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping
from typing import Protocol

import pygame
from pygame._sdl2 import controller

from segtrack.courses import Pace, ScoringSettings
from segtrack.errors import SegtrackError
from segtrack.recording import TICK, DriveSession
from segtrack.rendering import Camera, View
from segtrack.station.bindings import help_text
from segtrack.station.inputs import InputMapper
from segtrack.station.simulation import DeadlineClock
from segtrack.station.window.controls import PygameControls


def hud_lines(session: DriveSession, mapper: InputMapper, pace: Pace, focused: bool) -> list[str]:
    """Return the lines to display: the state, then the reason why the vehicle is held, if any."""
    robot = session.robot
    state = robot.state
    lines = [
        f"{session.time:6.1f} s   left {_belt(session, 'left')}   right {_belt(session, 'right')}   "
        f"roll {_degrees(state.roll)}   pitch {_degrees(state.pitch)}   {robot.energy:.0f} J   {mapper.mode}"
    ]
    if robot.flippers:
        angles = (f"{name} {_degrees(flipper.angle)}" for name, flipper in robot.flippers.items())
        lines.append("   ".join(angles))
    if mapper.stopped:
        lines.append("EMERGENCY STOP (Enter or Start releases it)")
    elif mapper.waits:
        lines.append("let go of everything before driving on")
    if not focused:
        lines.append("another window has the keys")
    if pace.is_below(ScoringSettings().real_time_factor):
        lines.append(f"slow: real-time factor {pace.real_time_factor:.2f}")
    return lines


def _belt(session: DriveSession, side: str) -> str:
    """Format speed and slip of a side's first belt, on the body if possible."""
    tracks = [track for track in session.robot.tracks.values() if track.side == side]
    tracks = [track for track in tracks if track.flipper is None] or tracks
    if not tracks:
        return "-"
    return f"{_unsigned_zero(tracks[0].speed, 2):+.2f} m/s, slip {_unsigned_zero(tracks[0].slip, 2):+.2f}"


def _degrees(angle: float) -> str:
    return f"{_unsigned_zero(math.degrees(angle), 0):+.0f} deg"


def _unsigned_zero(value: float, digits: int) -> float:
    """Round a value for display, without a minus sign before zero."""
    return round(value, digits) + 0.0


_VIEWS: tuple[View, ...] = ("chase", "side", "top", "oblique")
_BACKGROUND = (24, 28, 32)


class DriveView(Protocol):
    """Interface of a view of a drive.

    Attributes:
        size: Width and height of the window for it [pixels].
    """

    size: tuple[int, int]

    def draw(self, screen: pygame.Surface) -> None:
        """Draw the vehicle at its present pose."""

    def turn(self) -> None:
        """Change the viewpoint."""


class CameraView:
    """View by segtrack's camera, which follows the vehicle: no GPU, any engine."""

    size = (960, 540)

    def __init__(self, session: DriveSession) -> None:
        """Follow a session's vehicle."""
        self._session, self._index = session, 0
        self._look()

    def draw(self, screen: pygame.Surface) -> None:
        """Take a picture and show it."""
        pygame.surfarray.blit_array(screen, self._camera.take().swapaxes(0, 1))

    def turn(self) -> None:
        """Change to the camera's next view."""
        self._index = (self._index + 1) % len(_VIEWS)
        self._look()

    def _look(self) -> None:
        world, view = self._session.world, _VIEWS[self._index]
        self._camera = Camera(self._session.robot, world.terrains, view=view, size=self.size)


class BulletView:
    """View in PyBullet's window, with the camera behind the vehicle; a small window receives the keys."""

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
        """Move PyBullet's camera behind the vehicle."""
        state = self._session.robot.state
        heading = math.degrees(state.yaw) - 90 + self._from
        self._client.resetDebugVisualizerCamera(self._distance, heading, -25, state.position)
        screen.fill(_BACKGROUND)

    def turn(self) -> None:
        """Change the side from which PyBullet's camera looks."""
        self._from = (self._from + 90) % 360


WINDOW_KEYS: Mapping[str, str] = {
    "Tab": "look from elsewhere",
    "Backspace": "back to the start",
    "Escape": "close the window",
}
_PICTURES = 0.04
"""Time between pictures [s]."""
_LONGEST_BLIND = 0.25
"""Pictures are left out while the simulation is behind, but for no longer than this [s]."""
_WINDOWLESS = "offscreen", "dummy"
"""SDL's drivers that it takes where there is no display."""
_TEXT, _SHADOW, _MARGIN = (255, 255, 255), (0, 0, 0), 8


class DriveWindow:
    """Window that shows a drive, and maps its inputs to commands.

    Attributes:
        session: Drive to show.
        mapper: Mapper of inputs to commands.
        clock: Schedule of the ticks on the wall clock.
        closed: True after the operator closed the window.
    """

    def __init__(self, session: DriveSession, *, gui: bool = False) -> None:
        """Open the window.

        Args:
            session: Drive to show; its engine shows PyBullet's window for `gui`.
            gui: True for PyBullet's window, with a small one that receives the keys.

        Raises:
            NotReadyError: PyBullet's window is asked for, and another engine runs the session.
            SegtrackError: There is no display, or SDL has no such driver.
        """
        self.session = session
        self.mapper = InputMapper(session.robot.description)
        self.closed = False
        self._view: DriveView = BulletView(session) if gui else CameraView(session)
        _open_display()
        pygame.font.init()
        controller.init()
        self._pads: list[controller.Controller] = []
        self._screen = pygame.display.set_mode(self._view.size)
        pygame.display.set_caption(f"segtrack: {session.robot.name} on {session.course.title}")
        self._font = pygame.font.Font(None, 20)
        self._controls = PygameControls()
        self.clock = DeadlineClock(TICK, time.perf_counter())
        self._drawn = 0.0

    def __enter__(self) -> DriveWindow:
        """Use as a context manager."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the window; the session stays open."""
        self._pads.clear()
        pygame.quit()

    def run(self, seconds: float | None = None) -> None:
        """Drive until the window is closed, or for a simulated duration [s]."""
        self.draw()  # What compiles does so before the clock runs.
        self.clock.start(time.perf_counter())
        while not self.closed and (seconds is None or self.clock.ticks * TICK < seconds - TICK / 2):
            self.tick()
            wait = self.clock.end(time.perf_counter())
            blind = time.perf_counter() - self._drawn
            if blind > (_PICTURES if wait > 0 else _LONGEST_BLIND):
                self.draw()
            elif wait > 0:
                time.sleep(wait)

    def tick(self) -> None:
        """Handle events, command the vehicle and simulate one tick.

        Raises:
            DivergedError: The vehicle is no longer finite, or absurdly fast.
        """
        for event in pygame.event.get():
            self._take(event)
        self.session.apply(self.mapper.update(self._controls.held, TICK))
        self.session.advance()

    def draw(self) -> None:
        """Draw the vehicle and its instruments."""
        self._view.draw(self._screen)
        lines = hud_lines(self.session, self.mapper, self.clock.pace, self._controls.focused)
        for i, line in enumerate(lines):
            for colour, offset in ((_SHADOW, 1), (_TEXT, 0)):
                text = self._font.render(line, True, colour)
                self._screen.blit(text, (_MARGIN + offset, _MARGIN + i * self._font.get_linesize() + offset))
        pygame.display.flip()
        self._drawn = time.perf_counter()

    def _take(self, event: pygame.event.Event) -> None:
        """Handle one event: gamepads, closing, view and restart keys; then the held inputs."""
        if event.type == pygame.CONTROLLERDEVICEREMOVED:
            self._pads.clear()  # Whichever it was; the first that is left is taken anew.
        if event.type in (pygame.CONTROLLERDEVICEADDED, pygame.CONTROLLERDEVICEREMOVED):
            if not self._pads and controller.get_count():
                self._pads = [controller.Controller(0)]
        elif event.type == pygame.QUIT or _pressed(event, pygame.K_ESCAPE):
            self.closed = True
        elif _pressed(event, pygame.K_TAB):
            self._view.turn()
        elif _pressed(event, pygame.K_BACKSPACE):
            self.session.restart()
        self._controls.take(event)


def window_help(flippers: bool) -> str:
    """Return the window's bindings as text, one line each."""
    width = max(map(len, WINDOW_KEYS))
    return "\n".join(
        [help_text(flippers), *(f"window    {key:{width}}  {does}" for key, does in WINDOW_KEYS.items())]
    )


def _open_display() -> None:
    """Initialise pygame's display, and refuse a driver without a window unless the user chose it."""
    try:
        pygame.display.init()
    except pygame.error as error:
        raise SegtrackError(f"a window needs a display: {error}") from None
    if pygame.display.get_driver() in _WINDOWLESS and "SDL_VIDEODRIVER" not in os.environ:
        pygame.quit()
        raise SegtrackError("a window needs a display, and there is none")


def _pressed(event: pygame.event.Event, key: int) -> bool:
    return event.type == pygame.KEYDOWN and event.key == key
