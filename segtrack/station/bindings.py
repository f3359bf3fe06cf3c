"""Bindings of keys, buttons and sticks to actions, in one table for the mapper and its help text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Literal, NamedTuple

Mode = Literal["twist", "belts"]
"""Mode of the sticks: forward speed and turn by one of them, or the belt of each side by one each."""


class Action(Enum):
    """Action of an operator; its value is the wording in the help text."""

    FORWARD = "drive forward"
    BACKWARD = "drive backward"
    TURN_LEFT = "turn left"
    TURN_RIGHT = "turn right"
    RAISE_FRONT = "raise the front flippers"
    LOWER_FRONT = "lower the front flippers"
    RAISE_REAR = "raise the rear flippers"
    LOWER_REAR = "lower the rear flippers"
    CHOOSE_FRONT = "while held, choose the front flippers (neither or both: all)"
    CHOOSE_REAR = "while held, choose the rear flippers (neither or both: all)"
    RAISE = "raise the chosen flippers"
    LOWER = "lower the chosen flippers"
    FLATTEN = "while held, bring all flippers to angle 0"
    DEAD_MAN = "dead-man: sticks and buttons move nothing unless one is held"
    MODE = "change the sticks' mode, twist or belts"
    E_STOP = "emergency stop; it stays on until it is released"
    RELEASE = "release the emergency stop; let go of everything before driving on"


class StickAxis(Enum):
    """Quantity commanded by a stick along one axis; its value is the wording in the help text."""

    TURN = "turn left and right"
    DRIVE = "drive forward and backward"
    LEFT = "belts of the left side"
    RIGHT = "belts of the right side"
    FLIPPERS = "raise and lower the chosen flippers"


KEYS: Mapping[str, Action] = {
    "KeyW": Action.FORWARD,
    "ArrowUp": Action.FORWARD,
    "KeyS": Action.BACKWARD,
    "ArrowDown": Action.BACKWARD,
    "KeyA": Action.TURN_LEFT,
    "ArrowLeft": Action.TURN_LEFT,
    "KeyD": Action.TURN_RIGHT,
    "ArrowRight": Action.TURN_RIGHT,
    "KeyQ": Action.RAISE_FRONT,
    "KeyE": Action.LOWER_FRONT,
    "KeyZ": Action.RAISE_REAR,
    "KeyC": Action.LOWER_REAR,
    "KeyF": Action.FLATTEN,
    "Space": Action.E_STOP,
    "Enter": Action.RELEASE,
}
"""Action of each `KeyboardEvent.code`, which is a place on the keyboard, whatever letter is printed there."""

BUTTONS: Mapping[int, Action] = {
    0: Action.FLATTEN,
    1: Action.E_STOP,
    4: Action.CHOOSE_REAR,
    5: Action.CHOOSE_FRONT,
    6: Action.DEAD_MAN,
    7: Action.DEAD_MAN,
    8: Action.MODE,
    9: Action.RELEASE,
    12: Action.RAISE,
    13: Action.LOWER,
}
"""Action of each button, by its number in the W3C standard gamepad."""

STICKS: Mapping[Mode, tuple[StickAxis | None, ...]] = {
    "twist": (StickAxis.TURN, StickAxis.DRIVE, None, StickAxis.FLIPPERS),
    "belts": (None, StickAxis.LEFT, None, StickAxis.RIGHT),
}
"""Quantities of each mode: left stick x, y, right stick x, y, of a pad or on a touch screen."""

BUTTON_NAMES: Mapping[int, str] = {
    0: "A",
    1: "B",
    4: "LB",
    5: "RB",
    6: "LT",
    7: "RT",
    8: "Back",
    9: "Start",
    12: "D-pad up",
    13: "D-pad down",
}
_STICK_NAMES = "left stick x", "left stick y", "right stick x", "right stick y"
_OF_FLIPPERS = "flippers"


class Binding(NamedTuple):
    """Binding of inputs to an action: a row of the help text.

    Attributes:
        device: Input device.
        inputs: Keys (`KeyboardEvent.code`), buttons or a stick's axis, any of which triggers the action.
        action: Action, in the wording of the help text.
    """

    device: Literal["keyboard", "gamepad", "sticks"]
    inputs: tuple[str, ...]
    action: str

    @property
    def label(self) -> str:
        """Inputs as text, separated by commas."""
        return ", ".join(name.removeprefix("Key") for name in self.inputs)


def bindings(flippers: bool = True) -> list[Binding]:
    """Return all bindings, with or without those of flippers."""
    return [row for row in _rows() if flippers or _OF_FLIPPERS not in row.action]


def help_text(flippers: bool = True) -> str:
    """Return all bindings as text, one line each, in columns."""
    rows = bindings(flippers)
    device, label = (
        max(map(len, column)) for column in zip(*((r.device, r.label) for r in rows), strict=True)
    )
    return "\n".join(f"{row.device:{device}}  {row.label:{label}}  {row.action}" for row in rows)


def _rows() -> Iterator[Binding]:
    """Yield the bindings of all actions, then of the sticks."""
    for action in Action:
        if keys := [code for code, does in KEYS.items() if does is action]:
            yield Binding("keyboard", tuple(keys), action.value)
    for action in Action:
        if numbers := [number for number, does in BUTTONS.items() if does is action]:
            yield Binding("gamepad", tuple(BUTTON_NAMES[n] for n in numbers), action.value)
    for mode, axes in STICKS.items():
        for name, axis in zip(_STICK_NAMES, axes, strict=True):
            if axis is not None:
                yield Binding("sticks", (f"{name} ({mode})",), axis.value)
