"""Setup of an event: vehicle, obstacle, driver, and what Koerner 2024 leaves open."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, TypeAlias

from segtrack.description import VehicleDescription
from segtrack.engine import EngineName
from segtrack.errors import InvalidValueError, finite
from segtrack.experiments.climb import RunSetup
from segtrack.robot import Robot
from segtrack.terrain import FLOOR_REACH, Terrain

_MAY_BE_0 = ("run_up", "rest", "step_rest", "step_clearance", "past", "heading_gain", "offset_gain")


@dataclass(frozen=True)
class Assumptions:
    """Settings of events, with the paper's values where it gives them.

    Attributes:
        peak_limit: Largest vertical acceleration at the driver's place over gravity (4.2.1) [-].
        power_limit: Largest absorbed power [W], from NG-NRMM (not in the paper).
        low_pass: Cut-off frequency of filtered peaks [Hz]; the paper takes unfiltered ones.
        run_up: Time before the obstacle at the event's speed (4.2.1) [s].
        rest: Time at rest before driving [s].
        step_rest: Time at rest before a step (4.2.2) [s].
        step_clearance: Distance from the step at the start; "as close as possible" in the paper [m].
        time_limit: Time from the start to pass an obstacle (4.2.2, for steps) [s]; longer if the path takes
            longer at the event's speed.
        patience: Multiple of the path's duration at the event's speed, after which the event is given up [-].
        stall_time: Time without progress after which a vehicle is stuck [s].
        past: Time driven on behind the obstacle, in which the vehicle lands [s].
        gap_speed: Speed at a gap (4.2.3) [m/s].
        trapezoid_speed: Speed at trapezoids; not in the paper [m/s].
        contact_distance: Clearance below which a hull counts as touching the ground [m].
        heading_gain: Difference of belt speeds over their mean, per heading off the line [1/rad]; the
            paper does not give its driver's gains.
        offset_gain: Difference of belt speeds over their mean, per distance from the line [1/m].
    """

    peak_limit: float = 2.5
    power_limit: float = 6.0
    low_pass: float = 30.0
    run_up: float = 3.0
    rest: float = 0.5
    step_rest: float = 2.0
    step_clearance: float = 0.05
    time_limit: float = 20.0
    patience: float = 3.0
    stall_time: float = 5.0
    past: float = 1.0
    gap_speed: float = 0.36
    trapezoid_speed: float = 1.0
    contact_distance: float = 0.001
    heading_gain: float = 1.0
    offset_gain: float = 0.5

    def __post_init__(self) -> None:
        """Refuse numbers outside of their physical range.

        Raises:
            InvalidValueError: One is not finite, or below its least.
        """
        for name, value in vars(self).items():
            if finite(name, value) < 0:
                raise InvalidValueError(name, "at least 0", value)
            if value == 0 and name not in _MAY_BE_0:
                raise InvalidValueError(name, "above 0", value)


@dataclass(frozen=True)
class EventObstacle(ABC):
    """Base class of event obstacles, which begin at x = 0 on flat ground at z = 0."""

    name: ClassVar[str]
    size_name: ClassVar[str]
    """Attribute that a search for the largest obstacle raises."""

    @abstractmethod
    def terrain(self, before: float, behind: float) -> Terrain:
        """Return the terrain with the obstacle.

        Args:
            before: Length of flat ground before the obstacle [m].
            behind: Length of flat ground behind the obstacle [m].
        """

    @property
    @abstractmethod
    def end(self) -> float:
        """World x beyond which a vehicle has passed the obstacle, with all its parts [m]."""

    @property
    @abstractmethod
    def title(self) -> str:
        """Name of the obstacle, with its size."""

    def speed(self, assumptions: Assumptions) -> float:
        """Default belt speed of the event [m/s]; larger than any drive's for full speed."""
        return math.inf

    @property
    def room(self) -> float:
        """Length of flat ground needed before and behind the obstacle [m]."""
        return FLOOR_REACH

    @property
    def from_rest(self) -> bool:
        """True if the vehicle starts from rest right before the obstacle."""
        return False

    @property
    def size(self) -> float:
        """Size of the obstacle, which a search raises, in its own unit."""
        return float(getattr(self, self.size_name))

    def of_size(self, size: float) -> EventObstacle:
        """Return the obstacle with another size."""
        return replace(self, **{self.size_name: size})

    def _above_zero(self, *names: str) -> None:
        for name in names:
            what = f"{name} of a {self.name} [m]"
            if finite(what, getattr(self, name)) <= 0:
                raise InvalidValueError(what, "above 0", getattr(self, name))


Driver: TypeAlias = Callable[[Robot, float], object]
"""Function that commands a robot at a time since it began to drive [s]; called before each control period.

The first call is at 0, before the first step, with the vehicle at rest, or at the event's speed if it begins
with that."""

_LARGEST_STEER = 0.5
"""Largest difference of a side's belt speed from their mean, over the mean [-]."""


class BeltSpeedDriver:
    """Driver at a constant mean belt speed that steers along the line y = 0, heading along x."""

    def __init__(self, speed: float, assumptions: Assumptions) -> None:
        """Drive at a belt speed [m/s]."""
        self._speed, self._gains = speed, (assumptions.heading_gain, assumptions.offset_gain)

    def __call__(self, robot: Robot, time: float) -> None:
        """Command belt speeds that steer to the line."""
        state = robot.state
        steer = self._gains[0] * state.yaw + self._gains[1] * state.position[1]
        steer = min(max(steer, -_LARGEST_STEER), _LARGEST_STEER)
        robot.set_belt_speed(left=self._speed * (1.0 + steer), right=self._speed * (1.0 - steer))


@dataclass(frozen=True)
class EventSetup(RunSetup):
    """Vehicle, obstacle and simulation of an event.

    Attributes:
        vehicle: Bundled name, path of a vehicle file, or a description.
        obstacle: Obstacle.
        speed: Belt speed, clipped to what the drives can do [m/s]; the event's own if not given.
        friction: Friction coefficient of every track in place of the file's [-]; the terrain's factor is 1.
        flippers: Angle of all front flippers [rad]; `experiments.FRONT_FLIPPERS_DEG` if not given.
        rear_flippers: Angle of all rear flippers [rad]; `experiments.REAR_FLIPPERS_DEG` if not given.
        driver_position: Driver's place in the body frame (3,) [m]; the vehicle file's if not given.
        track_model: Name of the track model; the engine's default if not given.
        engine: Name of the engine; by default one that runs the track model.
        preset: Name of the engine's preset; by default its own.
        time_step: Time step in place of the preset's [s].
        assumptions: Settings that the paper leaves open.
        driver: Function from a belt speed [m/s] to a driver; by default `BeltSpeedDriver`.

    Raises:
        UnknownNameError: No such engine or track model.
        InvalidValueError: The engine does not run the track model.
    """

    vehicle: str | Path | VehicleDescription
    obstacle: EventObstacle
    speed: float | None = None
    friction: float | None = None
    flippers: float | None = None
    rear_flippers: float | None = None
    driver_position: tuple[float, float, float] | None = None
    track_model: str | None = None
    engine: EngineName | None = None
    preset: str | None = None
    time_step: float | None = None
    assumptions: Assumptions = field(default_factory=Assumptions)
    driver: Callable[[float], Driver] | None = None
