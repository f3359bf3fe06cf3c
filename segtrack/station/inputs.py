"""Mapping of an operator's gamepad, keys and touch screen to commands, for the page and for windows.

The bindings are in `bindings`. Four rules keep a vehicle from running away:

- A pad moves nothing unless its dead-man (either trigger) is held, a touch screen nothing unless a finger is
  on it, and a key acts while it is down: letting go stops at once, and only the way up is a ramp.
- The emergency stop latches. It is released explicitly, by a key or button that is pressed anew.
- Nothing moves before everything was let go: at the beginning, after a release, and after a `wait`.
- A value that is no finite number is refused before anything is mapped.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from segtrack.description import VehicleDescription
from segtrack.errors import InvalidValueError, UnknownNameError, finite, finite_vector
from segtrack.recording import Command
from segtrack.station.bindings import BUTTONS, KEYS, STICKS, Action, Mode, StickAxis

_MAX_BUTTONS = 64


class HeldInputs(Protocol):
    """Inputs held at one moment: a page's `ControlsMessage`, or a window's `Controls`.

    Attributes:
        axes: Gamepad sticks, in [-1, 1]: left x, y, right x, y; right and down positive (4,).
        buttons: Gamepad buttons, True if pressed, in the order of the W3C standard gamepad.
        keys: Pressed keys, by `KeyboardEvent.code`.
        touch: Sticks on a touch screen, in the order and range of `axes` (4,).
        dead_man: True while a finger is on the touch screen's sticks.
        touch_flippers: Names of the flippers that the touch screen's stick moves; empty for all.
    """

    @property
    def axes(self) -> tuple[float, ...]: ...  # noqa: D102
    @property
    def buttons(self) -> Sequence[bool]: ...  # noqa: D102
    @property
    def keys(self) -> Collection[str]: ...  # noqa: D102
    @property
    def touch(self) -> tuple[float, ...]: ...  # noqa: D102
    @property
    def dead_man(self) -> bool: ...  # noqa: D102
    @property
    def touch_flippers(self) -> Collection[str]: ...  # noqa: D102


def _clip(value: float) -> float:
    return max(-1.0, min(1.0, value))


@dataclass(frozen=True)
class Controls:
    """Inputs held in a program's own window; see `HeldInputs`. Axes are clipped to [-1, 1]."""

    axes: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)
    buttons: tuple[bool, ...] = ()
    keys: frozenset[str] = frozenset()
    touch: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)
    dead_man: bool = False
    touch_flippers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the inputs and clip the axes.

        Raises:
            InvalidValueError: Not four finite numbers, or more than 64 buttons.
        """
        if len(self.buttons) > _MAX_BUTTONS:
            raise InvalidValueError("buttons", f"at most {_MAX_BUTTONS}", len(self.buttons))
        for name in ("axes", "touch"):
            values = finite_vector(f"{name} of the controls", getattr(self, name), 4)
            object.__setattr__(self, name, tuple(_clip(value) for value in values))
        object.__setattr__(self, "buttons", tuple(map(bool, self.buttons)))
        object.__setattr__(self, "keys", frozenset(self.keys))


NOTHING_HELD = Controls()


def held_actions(held: HeldInputs) -> frozenset[Action]:
    """Return the actions bound to all pressed keys and buttons, before any interlock."""
    return _key_actions(held.keys) | _button_actions(held.buttons)


def _key_actions(keys: Collection[str]) -> frozenset[Action]:
    return frozenset(KEYS[code] for code in keys if code in KEYS)


def _button_actions(buttons: Sequence[bool]) -> frozenset[Action]:
    return frozenset(does for number, does in BUTTONS.items() if any(buttons[number : number + 1]))


@dataclass(frozen=True)
class InputSettings:
    """Settings of an input mapper: stick mode, dead zone, key ramp, turn speed.

    Attributes:
        mode: Initial stick mode.
        dead_zone: Deflection up to which a stick is at rest, range [0, 1); beyond it effects start at 0.
        ramp: Rate at which a held key's effect grows to 1 [1/s], > 0.
        turn: Ratio of the belt speed in a full turn to the top speed, range (0, 1].
    """

    mode: Mode = "twist"
    dead_zone: float = 0.15
    ramp: float = 2.0
    turn: float = 0.5

    def __post_init__(self) -> None:
        """Check the settings' ranges.

        Raises:
            InvalidValueError: A number outside its range.
            UnknownNameError: No such mode.
        """
        if self.mode not in STICKS:
            raise UnknownNameError("mode", self.mode, STICKS)
        if not 0 <= finite("dead zone", self.dead_zone) < 1:
            raise InvalidValueError("dead zone", "in [0, 1)", self.dead_zone)
        if finite("ramp [1/s]", self.ramp) <= 0:
            raise InvalidValueError("ramp [1/s]", "above 0", self.ramp)
        if not 0 < finite("turn", self.turn) <= 1:
            raise InvalidValueError("turn", "in (0, 1]", self.turn)


class InputMapper:
    """Map held inputs to commands for one vehicle.

    Attributes:
        settings: Stick mode, dead zone and ramp.
        mode: Present stick mode.
        top_speed: Belt speed at full effect, the largest that every belt of the vehicle reaches [m/s].
    """

    def __init__(self, vehicle: VehicleDescription, settings: InputSettings | None = None) -> None:
        """Create a mapper for a vehicle's top speeds and flippers."""
        self.settings = settings if settings is not None else InputSettings()
        self.mode: Mode = self.settings.mode
        self.top_speed = min(track.spec.drive.top_speed for track in vehicle.mounted_tracks())
        self._flippers = {
            name: (flipper.tip_direction, flipper.max_speed) for name, flipper in vehicle.flippers.items()
        }
        self._forward = self._turn = 0.0
        self._stopped = False
        self.wait()

    @property
    def stopped(self) -> bool:
        """True while the emergency stop is on."""
        return self._stopped

    @property
    def waits(self) -> bool:
        """True while a held input must be let go before anything moves."""
        return self._waits

    def stop(self) -> None:
        """Turn the emergency stop on."""
        self._stopped = True
        self.wait()

    def wait(self) -> None:
        """Ignore all inputs until all are let go: they may be held from before, or by somebody else."""
        self._waits = True
        self._held = frozenset(Action)

    def release(self) -> None:
        """Turn the emergency stop off; nothing moves before all inputs are let go."""
        self._stopped = False

    def update(self, controls: HeldInputs, dt: float) -> Command:
        """Map the inputs held now to a command.

        Args:
            controls: Held inputs.
            dt: Time since the last call [s], >= 0.

        Returns:
            The command; all flippers are named in it.

        Raises:
            InvalidValueError: `dt` is negative, or not a finite number.
        """
        if finite("dt [s]", dt) < 0:
            raise InvalidValueError("dt [s]", "at least 0", dt)
        pad, keys = _button_actions(controls.buttons), _key_actions(controls.keys)
        actions = pad | keys
        pressed, self._held = actions - self._held, actions
        if Action.E_STOP in actions:
            self.stop()
        elif Action.RELEASE in pressed:
            self.release()
        if Action.MODE in pressed:
            self.mode = "belts" if self.mode == "twist" else "twist"

        held = pad if Action.DEAD_MAN in pad else frozenset()
        pad_stick = self._sticks(controls.axes) if held else {}
        touch_stick = self._sticks(controls.touch) if controls.dead_man else {}
        if self._waits and not (self._stopped or held or keys - {Action.RELEASE} or controls.dead_man):
            self._waits = False
        if self._waits:
            held = keys = frozenset()
            pad_stick = touch_stick = {}
        sticks = (pad_stick, touch_stick)
        self._forward = self._ramp(self._forward, _sign(keys, Action.FORWARD, Action.BACKWARD), dt)
        self._turn = self._ramp(self._turn, _sign(keys, Action.TURN_RIGHT, Action.TURN_LEFT), dt)
        sides = [
            self._belts(self._forward, self._turn),
            *(
                self._belts(-stick.get(StickAxis.DRIVE, 0.0), stick.get(StickAxis.TURN, 0.0))
                for stick in sticks
            ),
            *((-stick.get(StickAxis.LEFT, 0.0), -stick.get(StickAxis.RIGHT, 0.0)) for stick in sticks),
        ]
        flatten = Action.FLATTEN in held | keys and bool(self._flippers)
        speeds = dict.fromkeys(self._flippers, 0.0)
        if not flatten:
            by_touch = -touch_stick.get(StickAxis.FLIPPERS, 0.0)
            speeds = self._flipper_speeds(held, keys, pad_stick, by_touch, controls.touch_flippers)
        left, right = (self.top_speed * _clip(sum(side)) for side in zip(*sides, strict=True))
        return Command(left, right, speeds, flatten)

    def _sticks(self, axes: Iterable[float]) -> dict[StickAxis, float]:
        """Return stick deflections in [-1, 1] by the quantity that each commands in the present mode."""
        pairs = zip(STICKS[self.mode], axes, strict=True)
        return {axis: self._outside_dead_zone(value) for axis, value in pairs if axis is not None}

    def _outside_dead_zone(self, value: float) -> float:
        zone = self.settings.dead_zone
        return math.copysign(max(0.0, abs(value) - zone) / (1 - zone), value)

    def _ramp(self, value: float, target: int, dt: float) -> float:
        """Return a key's next effect: it rises at the ramp's rate, and falls at once."""
        reached = max(0.0, value * target) + self.settings.ramp * dt
        return target * min(1.0, reached)

    def _belts(self, forward: float, turn: float) -> tuple[float, float]:
        """Return left and right belt speed over the top speed; both are scaled down if one exceeds 1."""
        left, right = forward + self.settings.turn * turn, forward - self.settings.turn * turn
        excess = max(1.0, abs(left), abs(right))
        return left / excess, right / excess

    def _flipper_speeds(
        self,
        held: frozenset[Action],
        keys: frozenset[Action],
        pad_stick: Mapping[StickAxis, float],
        by_touch: float,
        touched: Collection[str],
    ) -> dict[str, float]:
        """Return flipper speeds by name [rad/s]; the touch stick moves the touched flippers, or all."""
        front, rear = Action.CHOOSE_FRONT in held, Action.CHOOSE_REAR in held
        chosen = {"front": front or not rear, "rear": rear or not front}
        by_pad = _sign(held, Action.RAISE, Action.LOWER) - pad_stick.get(StickAxis.FLIPPERS, 0.0)
        effect = {
            "front": _sign(keys, Action.RAISE_FRONT, Action.LOWER_FRONT) + by_pad * chosen["front"],
            "rear": _sign(keys, Action.RAISE_REAR, Action.LOWER_REAR) + by_pad * chosen["rear"],
        }
        wanted = [name for name in self._flippers if name in touched] or self._flippers
        return {
            name: fastest * _clip(effect[tip] + by_touch * (name in wanted))
            for name, (tip, fastest) in self._flippers.items()
        }


def _sign(actions: frozenset[Action], up: Action, down: Action) -> int:
    return (up in actions) - (down in actions)
