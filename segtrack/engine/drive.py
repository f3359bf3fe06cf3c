"""The drive of one belt: its law, its command and its state. No simulator."""

from __future__ import annotations

import math
from typing import Any

from segtrack.description.track import DriveSpec

UNLIMITED_FORCE = 1e6
"""Force limit of a self-locking drive that holds its belt [N]."""
_OVERRUN = 1e-3
"""A belt this much faster than its command [m/s] is being pulled along, and is braked."""
_LIMIT_STEP = 0.002
"""A new force limit counts once it differs by this fraction of the stall force: a joint motor need
not be sent every change along a torque-speed line."""
_AT_LIMIT = 0.999
"""A motor that exerts this fraction of its force limit is overloaded."""
_ARRIVED = 1e-6
"""A lagging speed this near to its command [m/s] is there: an exponential never is, and a self-locking drive
holds its belt at no other command than 0."""


def follow_command(reference: float, command: float, kept: float) -> float:
    """The commanded belt speed behind a drive's lag, at the end of the next step.

    A lag of first order, lag * d(reference)/dt = command - reference, solved exactly for a command that is
    constant in the step.

    Args:
        reference: Reference at the end of the last step [m/s].
        command: Commanded belt speed [m/s].
        kept: Fraction exp(-step / lag) of what is missing that is left after the step [-]; 0 without a lag.
    """
    short = (reference - command) * kept
    return command + short if abs(short) > _ARRIVED else command


def next_target(
    command: float,
    speed: float,
    force: float,
    limit: float,
    holding: bool,
    stall_force: float,
    top_speed: float,
    has_line: bool,
    self_locking: bool,
) -> tuple[float, float, bool]:
    """Target speed and force limit of a belt's motor in the next step.

    A drive that moves its belt is limited by its law: a constant, or the line from `stall_force` at
    rest to nothing at `top_speed`. One that brakes its belt is limited by its stall force. A
    self-locking drive holds against any load: one that pushes it against its command or while
    it is told to stand, until that is one that it can move, and one that pulls it ahead.

    Args:
        command: Commanded belt speed, behind the drive's lag [m/s].
        speed: Belt speed after the last step [m/s].
        force: Force of the drive on the belt along its travel in the last step [N].
        limit: Force limit in the last step [N].
        holding: True if a self-locking drive held its belt in the last step.
        stall_force: Largest force on a belt at rest [N].
        top_speed: Belt speed at which a torque-speed line ends [m/s], > 0.
        has_line: True if the driving force falls along a torque-speed line.
        self_locking: True if an overload holds the belt instead of driving it back.

    Returns:
        Target speed [m/s], force limit [N], and whether a self-locking drive holds the belt.
    """
    direction = 1.0 if command >= 0.0 else -1.0
    if self_locking:
        if command == 0.0:
            hold = True
        elif holding:
            hold = force * direction >= stall_force
        else:
            hold = speed * direction < 0.0 and force * direction >= _AT_LIMIT * limit
        if hold:
            return 0.0, UNLIMITED_FORCE, True
    driving = (speed - command) * speed <= _OVERRUN * abs(speed)
    if not driving:
        wanted = UNLIMITED_FORCE if self_locking else stall_force
    elif self_locking and force * direction <= -stall_force:
        wanted = UNLIMITED_FORCE
    elif has_line:
        wanted = stall_force * max(1.0 - abs(speed) / top_speed, 0.0)
    else:
        wanted = stall_force
    return command, wanted if abs(wanted - limit) > _LIMIT_STEP * stall_force else limit, False


_CHANGING = (
    "spec",
    "command",
    "reference",
    "travel",
    "speed",
    "force",
    "energy",
    "target",
    "limit",
    "holding",
)


class DriveController:
    """A belt's drive, fed once a step.

    Attributes:
        command: Commanded belt speed, within the drive's top speed [m/s].
        reference: The command behind the drive's lag [m/s].
        travel: Belt travel since the start [m].
        speed: Belt speed [m/s].
        force: Force of the drive on the belt along its travel [N].
        energy: Work done on the belt since the start [J].
        target: Target speed of the joint motor [m/s].
        limit: Force limit of the joint motor [N].
        holding: True if a self-locking drive carries a load that would push it back.
    """

    def __init__(self, spec: DriveSpec, command: float = 0.0) -> None:
        """Start at rest with the brake on."""
        self.spec, self.command, self.reference = spec, command, 0.0
        self.travel = self.speed = self.force = self.energy = self.target = self.limit = 0.0
        self.holding = False
        self.update_command()

    @property
    def spec(self) -> DriveSpec:
        """The drive's limits."""
        return self._spec

    @spec.setter
    def spec(self, spec: DriveSpec) -> None:
        self._spec = spec
        self._law = spec.stall_force, spec.top_speed, spec.sprocket is not None, spec.self_locking

    def record_step(self, travel: float, speed: float, force: float) -> None:
        """Record what a step did.

        Args:
            travel: Belt travel since the start [m].
            speed: Belt speed [m/s].
            force: Force of the drive on the belt during the step [N].
        """
        self.energy += force * (travel - self.travel)
        self.travel, self.speed, self.force = travel, speed, force

    def update_command(self, step: float = 0.0) -> bool:
        """Set target and limit for the next step, see `follow_command` and `next_target`.

        Args:
            step: Its duration, which counts where the drive has a lag [s].

        Returns:
            True if either changed, so that the joint motor must be told.
        """
        before = (self.target, self.limit)
        kept = math.exp(-step / self.spec.lag) if self.spec.lag > 0 else 0.0
        self.reference = follow_command(self.reference, self.command, kept)
        self.target, self.limit, self.holding = next_target(
            self.reference, self.speed, self.force, self.limit, self.holding, *self._law
        )
        return before != (self.target, self.limit)

    @property
    def power(self) -> float:
        """Power that the drive puts into the belt [W]; negative when it brakes."""
        return self.force * self.speed

    def snapshot(self) -> dict[str, Any]:
        """Everything that changes, its limits included."""
        return {name: getattr(self, name) for name in _CHANGING}

    def restore(self, values: dict[str, Any]) -> None:
        """Go back to a snapshot."""
        for name, value in values.items():
            setattr(self, name, value)
