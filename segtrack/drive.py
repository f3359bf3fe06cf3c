"""The drive of one belt: what it is told, what it may exert, what it has done. No simulator."""

from __future__ import annotations

from dataclasses import dataclass

from segtrack.description.track import Drive

_UNLIMITED = 1e6
_OVERRUN = 1e-3
"""A belt this much faster than its command [m/s] is being pulled along, and is braked."""
_LIMIT_STEP = 0.002
"""A torque-speed line's limit is sent again when it changed by this share of the stall force."""


@dataclass
class BeltDrive:
    """A belt's drive and its account, fed once a step.

    Attributes:
        part: Limits.
        command: Commanded belt speed, within the drive's top speed [m/s].
        travel: Belt travel since the start [m].
        speed: Belt speed [m/s].
        force: What the drive exerts on the belt along its travel [N].
        energy: Work done on the belt since the start [J].
        target: Speed that the joint motor is told [m/s].
        limit: Force that the joint motor is allowed [N].
        holding: A self-locking drive carries a load that would push it back.
    """

    part: Drive
    command: float = 0.0
    travel: float = 0.0
    speed: float = 0.0
    force: float = 0.0
    energy: float = 0.0
    target: float = 0.0
    limit: float = 0.0
    holding: bool = False

    def __post_init__(self) -> None:
        """Start at rest with the brake on."""
        self.decide()

    def account(self, travel: float, speed: float, force: float) -> None:
        """Take in what a step did.

        Args:
            travel: Belt travel since the start [m].
            speed: Belt speed [m/s].
            force: What the drive exerted on the belt during the step [N].
        """
        self.energy += force * (travel - self.travel)
        self.travel, self.speed, self.force = travel, speed, force

    def decide(self) -> bool:
        """Work out target and limit for the next step.

        A drive that moves its belt is limited by its law, one that brakes it by its stall force.
        A self-locking drive holds against any load: one that pushes it against its command or
        while it is told to stand, until that is one that it can move, and one that pulls it ahead.

        Returns:
            Whether either changed, so that the joint motor must be told.
        """
        before = (self.target, self.limit)
        if self.part.self_locking and self._must_hold():
            self.holding, self.target, self.limit = True, 0.0, _UNLIMITED
            return before != (self.target, self.limit)
        self.holding, self.target = False, self.command
        limit = self._limit()
        if abs(limit - self.limit) > _LIMIT_STEP * self.part.stall_force:
            self.limit = limit
        return before != (self.target, self.limit)

    def _limit(self) -> float:
        """Largest force in the next step [N]."""
        if (self.speed - self.command) * self.speed <= _OVERRUN * abs(self.speed):
            direction = 1.0 if self.command >= 0 else -1.0
            if self.part.self_locking and self.force * direction <= -self.part.stall_force:
                return _UNLIMITED
            return self.part.force_limit(abs(self.speed))
        return _UNLIMITED if self.part.self_locking else self.part.stall_force

    def _must_hold(self) -> bool:
        if self.command == 0.0:
            return True
        direction = 1.0 if self.command > 0 else -1.0
        if self.holding:
            return self.force * direction >= self.part.stall_force
        return self.speed * direction < 0.0 and self.force * direction >= 0.999 * self.limit

    @property
    def power(self) -> float:
        """What the drive puts into the belt [W]; negative when it brakes."""
        return self.force * self.speed

    def snapshot(self) -> dict[str, float | bool]:
        """Everything that changes, as plain values."""
        return {name: value for name, value in vars(self).items() if name != "part"}

    def restore(self, values: dict[str, float | bool]) -> None:
        """Go back to a snapshot."""
        for name, value in values.items():
            setattr(self, name, value)
