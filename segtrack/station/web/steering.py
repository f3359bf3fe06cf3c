"""From the driver's controls to the simulation's latest command."""

from __future__ import annotations

import math
from typing import Protocol

from segtrack.description import VehicleDescription
from segtrack.station.inputs import Controls, InputMapper
from segtrack.station.protocol import ControlsMessage
from segtrack.station.simulation.exchange import CommandSample

_LONGEST_STEP = 0.1
"""Longest time between controls that a key's ramp goes on through [s]."""


class TakesCommands(Protocol):
    """What a command is written to."""

    def command(self, sample: CommandSample) -> None:
        """Replace the latest command."""


class Steering:
    """Maps the controls of whoever drives; the emergency stop latches here.

    Attributes:
        e_stop: Whether the emergency stop is latched.
    """

    def __init__(self, simulation: TakesCommands, vehicle: VehicleDescription, scene: int) -> None:
        """Steer a vehicle in a scene."""
        self._simulation = simulation
        self.e_stop = False
        self.change_vehicle(vehicle, scene)

    def change_vehicle(self, vehicle: VehicleDescription, scene: int) -> None:
        """Steer another vehicle from now on, which begins at rest."""
        self._vehicle, self._scene = vehicle, scene
        self.rest()

    def rest(self) -> None:
        """Stop the belts, until controls come: the driver is gone, or another one is there."""
        self._mapper = InputMapper(self._vehicle)
        if self.e_stop:
            self._mapper.stop()
        self._at: float | None = None
        self._latest = CommandSample(self._scene, -math.inf, 0.0, self.e_stop)
        self._simulation.command(self._latest)

    def stop(self, on: bool) -> None:
        """Latch the emergency stop, or release it; nothing moves before everything was let go."""
        if on:
            self._mapper.stop()
        else:
            self._mapper.release()
        self.e_stop = on
        latest = self._latest
        self._latest = CommandSample(self._scene, latest.came, latest.client_time, on)
        self._simulation.command(self._latest)

    def drive(self, message: ControlsMessage, now: float) -> None:
        """Take controls that came at `now` [s]; those of a page that is not seen are all let go."""
        step = 0.0 if self._at is None else min(now - self._at, _LONGEST_STEP)
        self._at = now
        command = self._mapper.update(held(message), step)
        if not message.visible:
            self._mapper.wait()
        self.e_stop = self._mapper.stopped
        self._latest = CommandSample(
            self._scene,
            now,
            message.time,
            self.e_stop,
            command.left,
            command.right,
            command.flatten,
            tuple(command.flipper_speeds.values()),
        )
        self._simulation.command(self._latest)


def held(message: ControlsMessage) -> Controls:
    """What is held on a page: nothing on one that is not seen."""
    if not message.visible:
        return Controls()
    return Controls(message.axes, message.buttons, frozenset(message.keys), message.touch, message.dead_man)
