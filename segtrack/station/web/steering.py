"""Mapping of the driver's controls to commands for the simulation."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Protocol

from segtrack.description import VehicleDescription
from segtrack.recording import Command
from segtrack.station.inputs import NOTHING_HELD, InputMapper
from segtrack.station.protocol import ControlsMessage
from segtrack.station.simulation import StampedCommand

_LONGEST_STEP = 0.1
"""Longest time between controls that a key's ramp goes on through [s]."""


class TakesCommands(Protocol):
    """Interface of the simulation for commands."""

    def command(self, latest: StampedCommand) -> None:
        """Replace the latest command."""


class Steering:
    """Mapping of the driver's controls to commands, with the emergency stop's latch.

    Attributes:
        e_stop: True while the emergency stop is latched.
    """

    def __init__(self, simulation: TakesCommands, vehicle: VehicleDescription, scene: int) -> None:
        """Steer a vehicle in a scene."""
        self._simulation = simulation
        self.e_stop = False
        self.change_vehicle(vehicle, scene)

    def change_vehicle(self, vehicle: VehicleDescription, scene: int) -> None:
        """Steer another vehicle from now on, starting at rest."""
        self._vehicle, self._scene = vehicle, scene
        self.rest()

    def rest(self) -> None:
        """Stop the belts until new controls come, because the driver left or changed."""
        self._mapper = InputMapper(self._vehicle)
        if self.e_stop:
            self._mapper.stop()
        self._at: float | None = None
        self._latest = StampedCommand(self._scene, -math.inf, 0.0, self.e_stop)
        self._simulation.command(self._latest)

    def stop(self, on: bool) -> None:
        """Latch or release the emergency stop; after a release nothing moves before all inputs are let go."""
        if on:
            self._mapper.stop()
        else:
            self._mapper.release()
        self.e_stop = on
        self._latest = replace(self._latest, e_stop=on, command=Command())
        self._simulation.command(self._latest)

    def drive(self, message: ControlsMessage, now: float) -> None:
        """Apply controls received at `now` [s]; those of an invisible page count as let go."""
        step = 0.0 if self._at is None else min(now - self._at, _LONGEST_STEP)
        self._at = now
        command = self._mapper.update(message if message.visible else NOTHING_HELD, step)
        if not message.visible:
            self._mapper.wait()
        self.e_stop = self._mapper.stopped
        delay = math.nan if message.delay is None else message.delay / 1000
        self._latest = StampedCommand(self._scene, now, message.time, self.e_stop, command, delay)
        self._simulation.command(self._latest)
