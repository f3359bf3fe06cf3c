"""What a command becomes before it reaches the belts."""

from __future__ import annotations

from typing import NamedTuple

from segtrack.recording.setup import Command
from segtrack.station.protocol import Flag
from segtrack.station.simulation.exchange import CommandSample

WATCHDOG = 0.3
"""Age at which a command no longer counts [s]."""


class SafeCommand(NamedTuple):
    """A command that may be applied.

    Attributes:
        command: At rest where something holds the vehicle: belts stop, flippers hold.
        flags: What holds it.
    """

    command: Command
    flags: Flag


def safe_command(
    sample: CommandSample | None, scene: int, flippers: tuple[str, ...], now: float
) -> SafeCommand:
    """The command to apply at `now` [s], given the latest that came; another scene's counts as none."""
    flags = Flag(0)
    if sample is not None and sample.e_stop:
        flags |= Flag.E_STOP
    if sample is None or sample.scene != scene or not now - sample.came <= WATCHDOG:
        flags |= Flag.WATCHDOG
    if flags or sample is None:
        return SafeCommand(Command(), flags)
    return SafeCommand(sample.command(flippers), flags)
