"""The drive of one belt: its law, its command and its state. No simulator."""

from __future__ import annotations

import math
from typing import Any

from segtrack.description import DriveSpec, VehicleDescription
from segtrack.engine.state import Pedals
from segtrack.errors import InvalidValueError

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


def force_at(table: Any, speed: float) -> float:
    """Largest force with which a motor drives its belt at a speed in its own direction [N].

    Args:
        table: Belt speeds that rise, and a force behind each, linear between and constant beyond (2 K,).
        speed: Belt speed in the direction in which it drives [m/s].
    """
    after, size = 0, len(table)
    while after < size and table[after] < speed:
        after += 2
    if after == 0 or after == size:
        return table[min(after + 1, size - 1)]
    slow, fast = table[after - 2], table[after]
    w = (speed - slow) / (fast - slow)
    return table[after + 1] * w + table[after - 1] * (1.0 - w)


def next_target(
    command: float,
    speed: float,
    force: float,
    limit: float,
    holding: bool,
    driving_force: float,
    stall_force: float,
    brake_force: float,
    self_locking: bool,
) -> tuple[float, float, bool]:
    """Target speed and force limit of a belt's motor in the next step, as it is commanded a speed.

    A drive that moves its belt is limited by its law (`force_at`). One that brakes its belt, or is told
    to stand, is limited by its brake. A self-locking drive holds against any load: one that pushes it
    against its command or while it is told to stand, until that is one that it can move, and one that
    pulls it ahead.

    Args:
        command: Commanded belt speed, behind the drive's lag [m/s].
        speed: Belt speed after the last step [m/s].
        force: Force of the drive on the belt along its travel in the last step [N].
        limit: Force limit in the last step [N].
        holding: True if a self-locking drive held its belt in the last step.
        driving_force: Largest force with which it drives its belt at that speed [N].
        stall_force: Largest force with which it drives at any [N].
        brake_force: Largest force with which it brakes its belt [N].
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
    driving = command != 0.0 and (speed - command) * speed <= _OVERRUN * abs(speed)
    if not driving:
        wanted = UNLIMITED_FORCE if self_locking else brake_force
    elif self_locking and force * direction <= -stall_force:
        wanted = UNLIMITED_FORCE
    else:
        wanted = driving_force
    return command, wanted if abs(wanted - limit) > _LIMIT_STEP * stall_force else limit, False


def next_pedal_target(
    command: float, speed: float, driving_force: float, brake_force: float
) -> tuple[float, float]:
    """Target speed [m/s] and force limit [N] of a belt's motor in the next step, by throttle and brake.

    A motor whose target is far ahead exerts its limit. A brake that outweighs the throttle lets the belt
    come to rest, and holds it there, with what the throttle leaves of it. With neither the belt runs free.

    Args:
        command: Top speed in the direction in which the throttle drives [m/s]; 0 without.
        speed: Belt speed after the last step [m/s].
        driving_force: Force with which the throttle drives the belt at that speed [N].
        brake_force: Force with which the brake resists its motion [N].
    """
    along = speed if command >= 0.0 else -speed
    push = driving_force if along <= abs(command) + _OVERRUN else 0.0
    limit = push + brake_force if along < 0.0 else abs(push - brake_force)
    return (0.0 if brake_force >= push else command), limit


def check_drives(vehicle: VehicleDescription, time_step: float) -> None:
    """Refuse steps in which a belt that spins freely would pass what its table of torques settles at.

    A table is read at the speed after the last step. With the belt's own mass m, a fall k of its force over
    the speed is stable without oscillation up to k * time_step = m.

    Raises:
        InvalidValueError: The time step is too long.
    """
    for track in vehicle.mounted_tracks():
        fall, mass = track.spec.drive.steepest_fall, track.spec.moving_mass
        if fall * time_step > mass:
            expected = f"at most {mass / fall:.3g} for drive.torque_table of {track.name}"
            raise InvalidValueError("time_step [s]", expected, time_step)


_CHANGING = (
    "command",
    "pedals",
    "factor",
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
        spec: The drive's limits.
        command: Commanded belt speed, within the drive's top speed [m/s].
        pedals: Throttle and brake, which rule instead of it; None where it rules.
        factor: On what motor and brake can exert [-].
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
        self.spec, self.command, self.factor = spec, command, 1.0
        self.pedals: Pedals | None = None
        self._table = spec.force_table
        self._stall_force, self._brake_force = spec.stall_force, spec.brake_force
        self.reference = self.travel = self.speed = self.force = self.energy = self.target = self.limit = 0.0
        self.holding = False
        self.update_command()

    def record_step(self, travel: float, speed: float, force: float, step: float) -> None:
        """Record what a step did.

        A mean force changes m v^2 / 2 by its impulse times the mean of the speeds before and after. Travel,
        which engines gain at the speed after each step, times force would give up to twice that.

        Args:
            travel: Belt travel since the start [m].
            speed: Belt speed [m/s].
            force: Mean force of the drive on the belt during the step [N].
            step: Duration of the step [s].
        """
        self.energy += force * (self.speed + speed) / 2 * step
        self.travel, self.speed, self.force = travel, speed, force

    def update_command(self, step: float = 0.0) -> bool:
        """Set target and limit for the next step, as `native.aim` does.

        Args:
            step: Its duration, which counts where the drive has a lag [s].

        Returns:
            True if either changed, so that the joint motor must be told.
        """
        before, spec = (self.target, self.limit), self.spec
        strength, brake = self.factor, self.factor * self._brake_force
        if self.pedals is None:
            kept = math.exp(-step / spec.lag) if spec.lag > 0 else 0.0
            self.reference = command = follow_command(self.reference, self.command, kept)
        else:
            throttle = self.pedals.throttle
            command = math.copysign(spec.top_speed, throttle) if throttle != 0.0 else 0.0
            self.reference, strength = self.speed, strength * abs(throttle)
        along = self.speed if command >= 0.0 else -self.speed
        driving = strength * force_at(self._table, along)
        if self.pedals is None or spec.self_locking:
            self.target, self.limit, self.holding = next_target(
                command,
                self.speed,
                self.force,
                self.limit,
                self.holding,
                driving,
                strength * self._stall_force,
                brake,
                spec.self_locking,
            )
        else:
            brake *= self.pedals.brake
            self.target, self.limit = next_pedal_target(command, self.speed, driving, brake)
        return before != (self.target, self.limit)

    @property
    def power(self) -> float:
        """Power that the drive puts into the belt [W]; negative when it brakes."""
        return self.force * self.speed

    def snapshot(self) -> dict[str, Any]:
        """Everything that changes, its strength included."""
        return {name: getattr(self, name) for name in _CHANGING}

    def restore(self, values: dict[str, Any]) -> None:
        """Go back to a snapshot."""
        for name, value in values.items():
            setattr(self, name, value)
