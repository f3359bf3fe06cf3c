"""The latest command, as bytes for shared memory."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import ClassVar

from segtrack.recording.setup import Command

COMMAND_CAPACITY, STATE_CAPACITY = 1024, 1 << 20
"""Of the two blocks of shared memory [B]."""


@dataclass(frozen=True)
class CommandSample:
    """The latest command of whoever drives.

    Attributes:
        scene: Number of the scene that it is meant for.
        came: Monotonic clock when the controls came [s]; -inf where nobody drives.
        client_time: The client's clock when it sent them [ms].
        e_stop: Whether the emergency stop is latched.
        left: Speed of the belts on the left side [m/s].
        right: Speed of the belts on the right side [m/s].
        flatten: Whether all flippers move to 0 rad.
        flipper_speeds: In the vehicle's order [rad/s].
    """

    _HEAD: ClassVar[struct.Struct] = struct.Struct("<Qdd??ddI")

    scene: int
    came: float
    client_time: float
    e_stop: bool
    left: float = 0.0
    right: float = 0.0
    flatten: bool = False
    flipper_speeds: tuple[float, ...] = ()

    def pack(self) -> bytes:
        """The sample as bytes."""
        speeds = self.flipper_speeds
        head = self._HEAD.pack(
            self.scene,
            self.came,
            self.client_time,
            self.e_stop,
            self.flatten,
            self.left,
            self.right,
            len(speeds),
        )
        return head + struct.pack(f"<{len(speeds)}d", *speeds)

    @classmethod
    def unpack(cls, data: bytes) -> CommandSample:
        """The sample of these bytes."""
        scene, came, client_time, e_stop, flatten, left, right, count = cls._HEAD.unpack_from(data)
        speeds = struct.unpack_from(f"<{count}d", data, cls._HEAD.size)
        return cls(scene, came, client_time, e_stop, left, right, flatten, speeds)

    def command(self, flippers: tuple[str, ...]) -> Command:
        """The command, for a vehicle with these flippers."""
        speeds = dict(zip(flippers, self.flipper_speeds, strict=False))
        return Command(self.left, self.right, speeds, self.flatten)
