"""The drive of a track: what moves its belt, and how hard."""

from __future__ import annotations

from segtrack.description.base import Checks, NonNegative, Positive, Spec, check, exactly_one, given_one
from segtrack.errors import Problem


class SprocketDrive(Spec):
    """A motor's torque-speed line, at the sprocket."""

    radius: Positive
    """Of the sprocket's pitch circle [m]."""
    stall_torque: Positive
    """At rest [N m]."""
    no_load_speed: Positive
    """At no torque [rad/s]."""


class DriveSpec(Spec):
    """What moves a belt, and how hard: a constant force limit, or a torque-speed line at the sprocket."""

    max_force: Positive | None = None
    """Along the belt [N]."""
    max_speed: Positive | None = None
    """Largest commanded belt speed [m/s]; faster commands are clipped to it."""
    sprocket: SprocketDrive | None = None
    reflected_mass: NonNegative = 0.0
    """Inertia of motor, gearbox and pulleys as the belt feels it [kg]; MuJoCo calls it `armature`. It is part
    of the mass of the body or flipper that carries the track, and simulated as moving with the belt.
    Contacts of a belt much lighter than its vehicle converge slowly."""
    self_locking: bool = False
    """An overloaded drive holds the belt (worm gear) and is not driven back."""
    lag: NonNegative = 0.0
    """Time constant with which the speed that the drive aims at follows the command, of first order [s]."""

    @check
    def _one_law(self) -> Checks:
        yield from exactly_one(self, ("max_force", "sprocket"))

    @check
    def _force_with_speed(self) -> Checks:
        given_one(self, ("max_force", "sprocket"))
        if (self.max_force is None) != (self.max_speed is None):
            yield Problem("", "must have max_speed with max_force and not with sprocket")

    @property
    def stall_force(self) -> float:
        """Largest force on a belt at rest [N]."""
        if self.sprocket is not None:
            return self.sprocket.stall_torque / self.sprocket.radius
        assert self.max_force is not None
        return self.max_force

    @property
    def top_speed(self) -> float:
        """Largest belt speed that can be commanded [m/s]."""
        if self.sprocket is not None:
            return self.sprocket.no_load_speed * self.sprocket.radius
        assert self.max_speed is not None
        return self.max_speed

    def scaled(self, factor: float) -> DriveSpec:
        """A drive that is so many times as strong, and as fast."""
        if self.sprocket is not None:
            torque = self.sprocket.stall_torque * factor
            return self.model_copy(
                update={"sprocket": self.sprocket.model_copy(update={"stall_torque": torque})}
            )
        assert self.max_force is not None
        return self.model_copy(update={"max_force": self.max_force * factor})
