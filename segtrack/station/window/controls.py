"""Pygame's events as held inputs: keys by position, the gamepad in W3C standard order."""

from __future__ import annotations

from collections.abc import Mapping

import pygame
from pygame.event import Event

from segtrack.station.bindings import KEYS
from segtrack.station.inputs import NOTHING_HELD, Controls

_SCANCODES = {
    "Space": pygame.KSCAN_SPACE,
    "Enter": pygame.KSCAN_RETURN,
    "ArrowUp": pygame.KSCAN_UP,
    "ArrowDown": pygame.KSCAN_DOWN,
    "ArrowLeft": pygame.KSCAN_LEFT,
    "ArrowRight": pygame.KSCAN_RIGHT,
}
_CODES: Mapping[int, str] = {
    _SCANCODES[code] if code in _SCANCODES else getattr(pygame, f"KSCAN_{code.removeprefix('Key')}"): code
    for code in KEYS
}
"""`KeyboardEvent.code` by SDL's scancode."""

_BUTTONS: Mapping[int, int] = {
    pygame.CONTROLLER_BUTTON_A: 0,
    pygame.CONTROLLER_BUTTON_B: 1,
    pygame.CONTROLLER_BUTTON_X: 2,
    pygame.CONTROLLER_BUTTON_Y: 3,
    pygame.CONTROLLER_BUTTON_LEFTSHOULDER: 4,
    pygame.CONTROLLER_BUTTON_RIGHTSHOULDER: 5,
    pygame.CONTROLLER_BUTTON_BACK: 8,
    pygame.CONTROLLER_BUTTON_START: 9,
    pygame.CONTROLLER_BUTTON_LEFTSTICK: 10,
    pygame.CONTROLLER_BUTTON_RIGHTSTICK: 11,
    pygame.CONTROLLER_BUTTON_DPAD_UP: 12,
    pygame.CONTROLLER_BUTTON_DPAD_DOWN: 13,
    pygame.CONTROLLER_BUTTON_DPAD_LEFT: 14,
    pygame.CONTROLLER_BUTTON_DPAD_RIGHT: 15,
    pygame.CONTROLLER_BUTTON_GUIDE: 16,
}
"""Number in the W3C standard gamepad by SDL's."""
_STICKS = (
    pygame.CONTROLLER_AXIS_LEFTX,
    pygame.CONTROLLER_AXIS_LEFTY,
    pygame.CONTROLLER_AXIS_RIGHTX,
    pygame.CONTROLLER_AXIS_RIGHTY,
)
_TRIGGERS = {pygame.CONTROLLER_AXIS_TRIGGERLEFT: 6, pygame.CONTROLLER_AXIS_TRIGGERRIGHT: 7}
_FULL = 32767
_BUTTON_COUNT = 17


class PygameControls:
    """Inputs held in a window, from pygame's events; losing the focus or the gamepad lets all go.

    Attributes:
        focused: True while the window has the keyboard focus.
    """

    def __init__(self) -> None:
        """Start with nothing held."""
        self.focused = True
        self._let_go()

    def take(self, event: Event) -> None:
        """Apply an event; irrelevant ones are ignored."""
        if event.type == pygame.KEYDOWN and event.scancode in _CODES:
            self._keys.add(_CODES[event.scancode])
        elif event.type == pygame.KEYUP and event.scancode in _CODES:
            self._keys.discard(_CODES[event.scancode])
        elif event.type == pygame.CONTROLLERAXISMOTION and event.axis in _STICKS:
            self._axes[_STICKS.index(event.axis)] = event.value / _FULL
        elif event.type == pygame.CONTROLLERAXISMOTION and event.axis in _TRIGGERS:
            self._buttons[_TRIGGERS[event.axis]] = event.value > _FULL / 2
        elif event.type in (pygame.CONTROLLERBUTTONDOWN, pygame.CONTROLLERBUTTONUP):
            if event.button in _BUTTONS:
                self._buttons[_BUTTONS[event.button]] = event.type == pygame.CONTROLLERBUTTONDOWN
        elif event.type == pygame.CONTROLLERDEVICEREMOVED:
            self._let_go()
        elif event.type in (pygame.WINDOWFOCUSLOST, pygame.WINDOWFOCUSGAINED):
            self.focused = event.type == pygame.WINDOWFOCUSGAINED
            self._let_go()

    @property
    def held(self) -> Controls:
        """Inputs held now; none without the focus."""
        if not self.focused:
            return NOTHING_HELD
        return Controls(tuple(self._axes), tuple(self._buttons), frozenset(self._keys))

    def _let_go(self) -> None:
        self._keys: set[str] = set()
        self._axes = [0.0] * len(_STICKS)
        self._buttons = [False] * _BUTTON_COUNT
