"""Commands of belts and flippers in a replay.

Commands are held from sample to sample, as the controller of a drive holds the last one that it got; before
the first one belts stand. What was measured is a motion, which goes on between samples, so it is interpolated
linearly: belts get the mean over each control step, by which their travel is exact, and flippers the angle
at its end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.logs.replay.path import SIDES
from segtrack.robot.motion import Motion, Signal

BeltSource = Literal["commanded", "measured"]
CONTROL = 0.005
"""Largest time for which belts and flippers that follow measurements are told one thing [s]."""

Array = NDArray[np.float64]


class Schedule(NamedTuple):
    """Commands of belts and flippers, from control step to control step.

    Attributes:
        steps: Steps of the simulation at which control steps begin, from 0, and the end of the last (n + 1,).
        belts: Speeds of both sides (n, 2) [m/s].
        flippers: Angles of the flippers at the ends, by name (n,) [rad].
    """

    steps: NDArray[np.intp]
    belts: Array
    flippers: Mapping[str, Array]


class Clock(NamedTuple):
    """Steps of a replay on the clock of its log.

    Attributes:
        begin: Time at which the replay begins [s].
        step: Time step of the simulation [s].
        every: Steps after which a sample is taken.
        steps: Number of steps, a multiple of `every`.
    """

    begin: float
    step: float
    every: int
    steps: int


def has_belts(motion: Motion, source: BeltSource) -> bool:
    """Return whether a log has the commanded or the measured speeds of both sides' belts."""
    return all(key in motion.signals for key in belt_keys(source))


def schedule(motion: Motion, source: BeltSource, flippers: Mapping[str, float], clock: Clock) -> Schedule:
    """Return the commands of belts and flippers of a log.

    Args:
        motion: The log.
        source: Commands or measurements; flippers for which it has only the
            other follow that.
        flippers: Angle of each at the beginning, at which it stays unless the log has it [rad].
        clock: Clock of the replay.
    """
    belts = [motion.signals[key] for key in belt_keys(source)]
    angles = {name: _angle_of(motion, source, name) for name in flippers}
    steps = np.arange(0, clock.steps + 1, clock.every)
    if source == "measured":
        spacing = max(1, math.floor(CONTROL / clock.step + 1e-9))
        steps = np.unique(np.concatenate([steps, np.arange(0, clock.steps, spacing)]))
    else:
        held = [*belts, *(signal for signal, is_held in filter(None, angles.values()) if is_held)]
        changes = [np.rint((signal.times - clock.begin) / clock.step).astype(np.intp) for signal in held]
        steps = np.unique(np.concatenate([steps, *changes]))
        steps = steps[(steps >= 0) & (steps <= clock.steps)]
    first, last = clock.begin + steps[:-1] * clock.step, clock.begin + steps[1:] * clock.step
    if source == "measured":
        speeds = [signal.at((first + last) / 2) for signal in belts]
    else:
        began = [first > signal.times[0] - clock.step / 2 for signal in belts]
        speeds = [_held(signal, first, clock) * moves for signal, moves in zip(belts, began, strict=True)]
    told = {}
    for name, angle in angles.items():
        if angle is None:
            told[name] = np.full(len(first), flippers[name])
        else:
            told[name] = _held(angle[0], first, clock) if angle[1] else angle[0].at(last)
    return Schedule(steps, np.stack(speeds, axis=1), told)


def belt_keys(source: BeltSource) -> tuple[str, ...]:
    """Keys of the belts of both sides."""
    name = "belt_speed_command" if source == "commanded" else "belt_speed"
    return tuple(f"{name}.{side}" for side in SIDES)


def _angle_of(motion: Motion, source: BeltSource, flipper: str) -> tuple[Signal, bool] | None:
    """Signal that a flipper follows, and whether that is a command, which is held."""
    command = motion.signals.get(f"flipper_angle_command.{flipper}")
    measured = motion.signals.get(f"flipper_angle.{flipper}")
    if command is not None and (source == "commanded" or measured is None):
        return command, True
    return None if measured is None else (measured, False)


def _held(signal: Signal, times: NDArray[np.floating], clock: Clock) -> Array:
    """Latest values at times, to the nearest step; the first one before it."""
    latest = np.searchsorted(signal.times, times + clock.step / 2, side="right") - 1
    return signal.values[np.maximum(latest, 0)]
