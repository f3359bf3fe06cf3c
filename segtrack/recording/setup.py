"""What is driven, where, and what the driver commands: everything that a drive depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, get_args

from segtrack.engine import EngineName
from segtrack.errors import InvalidValueError, UnknownNameError, finite, finite_vector
from segtrack.world import TRACK_MODELS, resolve

TICK = 0.01
"""Commands are taken, and states published, once in so many seconds of simulated time [s]."""
TIME_STEPS = (0.001, 0.002)
"""Steps of the simulation that a tick consists of [s]."""


@dataclass(frozen=True)
class DriveSetup:
    """What is driven, and where. Two drives of one setup and the same commands are equal to the bit.

    Attributes:
        vehicle: Name of a bundled vehicle, or path of a vehicle file.
        course: Name of a bundled course, or path of a course file.
        setting: Of the course's obstacle, in its own unit; None for the course's own.
        engine: `native` or `pybullet`; None for native where it runs the track model.
        track_model: How tracks are built; None for the engine's default.
        friction: Of the ground; None for the course's.
        soil: Name of the soil that the ground is of; None for the course's.
        payload: Mass on the body besides its own [kg].
        payload_position: Centre of the payload in the body frame (3,) [m]; None for the middle of the
            top of the body's box.
        time_step: 0.001 or 0.002 [s].
        seed: Held for what is random in the station, degraded links; nothing in the simulation is.
    """

    vehicle: str = "quince"
    course: str = "okada-step"
    setting: float | None = None
    engine: EngineName | None = None
    track_model: str | None = None
    friction: float | None = None
    soil: str | None = None
    payload: float = 0.0
    payload_position: tuple[float, float, float] | None = None
    time_step: float = 0.001
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what no drive can have, whatever is installed here.

        Raises:
            InvalidValueError: A value of the wrong kind, or outside what it can be.
            UnknownNameError: No such engine.
        """
        for name in ("vehicle", "course"):
            _check_name(name, getattr(self, name))
        for name in ("track_model", "soil"):
            if getattr(self, name) is not None:
                _check_name(name, getattr(self, name))
        if self.engine is not None and self.engine not in TRACK_MODELS:
            raise UnknownNameError("engine", self.engine, get_args(EngineName))
        if self.setting is not None:
            self._take("setting", finite("setting", self.setting))
        for name, unit in (("friction", "-"), ("payload", "kg")):
            value = getattr(self, name)
            if value is not None:
                self._take(name, finite(what := f"{name} [{unit}]", value))
                if value < 0:
                    raise InvalidValueError(what, "at least 0", value)
        if self.payload_position is not None:
            position = finite_vector("payload_position [m]", self.payload_position, 3)
            self._take("payload_position", position)
        if self.time_step not in TIME_STEPS:
            raise InvalidValueError("time_step [s]", " or ".join(map(str, TIME_STEPS)), self.time_step)
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or not 0 <= self.seed < 2**53:
            raise InvalidValueError("seed", "a whole number from 0, below 2^53", self.seed)

    def resolved(self) -> DriveSetup:
        """The setup with the engine and the track model that it leaves open.

        Raises:
            UnknownNameError: No such track model.
            InvalidValueError: The engine does not run the track model.
            MissingPyBulletError: It takes PyBullet, which is not installed.
        """
        engine = self.engine
        if engine is None and self.track_model in (None, *TRACK_MODELS["native"]):
            engine = "native"
        engine, track_model = resolve(engine, self.track_model)
        return replace(self, engine=engine, track_model=track_model)

    def as_json(self) -> dict[str, Any]:
        """The setup as JSON can hold it."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> DriveSetup:
        """The setup that `as_json` wrote.

        Raises:
            UnknownNameError: A key that no setup has, or no such engine.
            InvalidValueError: A value of the wrong kind, or outside what it can be.
        """
        known = [item.name for item in fields(cls)]
        for name in data:
            if name not in known:
                raise UnknownNameError("key of a drive's setup", name, known)
        return cls(**data)

    def _take(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)


@dataclass(frozen=True)
class Command:
    """What a driver asks of a vehicle, held until the next command.

    Attributes:
        left: Speed of the belts on the left side [m/s].
        right: Speed of the belts on the right side [m/s].
        flipper_speeds: By name, raising positive [rad/s]; a flipper that is not named holds.
        flatten: Move all flippers to 0 rad and hold them there, whatever `flipper_speeds` says.
    """

    left: float = 0.0
    right: float = 0.0
    flipper_speeds: Mapping[str, float] = field(default_factory=dict)
    flatten: bool = False

    def __post_init__(self) -> None:
        """Refuse what is no command.

        Raises:
            InvalidValueError: A speed is not a finite number, or `flatten` is neither true nor false.
        """
        speeds = {
            name: finite(f"speed of flipper {name} [rad/s]", speed)
            for name, speed in self.flipper_speeds.items()
        }
        if not isinstance(self.flatten, bool):
            raise InvalidValueError("flatten", "true or false", self.flatten)
        object.__setattr__(self, "left", finite("left belt speed [m/s]", self.left))
        object.__setattr__(self, "right", finite("right belt speed [m/s]", self.right))
        object.__setattr__(self, "flipper_speeds", MappingProxyType(speeds))

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel between processes: a read-only view of a mapping does not by itself."""
        return type(self), (self.left, self.right, dict(self.flipper_speeds), self.flatten)


def _check_name(what: str, name: object) -> None:
    if not isinstance(name, str) or not name or "\0" in name:
        raise InvalidValueError(what, "a name or the path of a file", name)
