"""Runs of events, from rest until the obstacle is passed or the vehicle is stuck; one, or two together."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from segtrack.description import VehicleDescription
from segtrack.errors import DivergedError, InvalidValueError, finite, finite_vector
from segtrack.experiments.climb import TrajectoryRecorder, flipper_angles, up_of
from segtrack.experiments.event_limits import LimitSensor, LimitState, read_chains
from segtrack.experiments.event_result import (
    END,
    PITCHED,
    SHAKEN,
    ChainInstants,
    DriverPlace,
    EventOutcome,
    EventResult,
    LimitHistory,
    Ridden,
    chains_at,
)
from segtrack.experiments.event_setup import BeltSpeedDriver, EventSetup
from segtrack.experiments.track_histories import ChainHistory
from segtrack.robot import Robot
from segtrack.world import World

CONTROL_TIME = 0.02
"""Time between two commands of the driver, and between two samples of everything but acceleration [s]."""
_PROGRESS = 0.005
"""Way that counts as progress [m]."""


@dataclass(frozen=True)
class EventProgress:
    """Running event, as passed to observers after each sample.

    Attributes:
        world: World of the event.
        robot: Robot at the obstacle.
        fraction: Elapsed fraction of the time limit [-].
    """

    world: World
    robot: Robot
    fraction: float


EventObserver = Callable[[EventProgress], object]


class EventInterrupted(KeyboardInterrupt):
    """Ctrl-C during an event; carries the result so far."""

    def __init__(self, result: EventResult) -> None:
        """Keep the result so far, with outcome `interrupted`."""
        super().__init__()
        self.result = result


def run_event(setup: EventSetup, *, observer: EventObserver | None = None) -> EventResult:
    """Run an event: drive a vehicle at an obstacle.

    Args:
        setup: Vehicle, obstacle and simulation.
        observer: Function called after each sample.

    Returns:
        Result of the event. Being stuck is a result, not an error, and so is a simulation that diverges.

    Raises:
        SegtrackError: The setup cannot be: no such vehicle or preset, no flippers where an angle is given,
            a number that is not finite or out of range.
        EventInterrupted: Ctrl-C.
    """
    vehicle = setup.load_vehicle()
    engine, _ = setup.resolved
    with World(setup.preset, engine=engine, time_step=setup.time_step, resettable=False) as world:
        attempt = _Passage(setup, vehicle, world)
        try:
            return attempt.result(attempt.drive(observer))
        except KeyboardInterrupt:
            raise EventInterrupted(attempt.result("interrupted")) from None
        except DivergedError as error:
            return attempt.result("diverged", str(error))


class _Passage:
    """One run: the robot before its obstacle, and the samples so far."""

    def __init__(self, setup: EventSetup, vehicle: VehicleDescription, world: World) -> None:
        self.setup, self.vehicle, self.world = setup, vehicle, world
        obstacle, given = setup.obstacle, setup.assumptions
        longest = 0.5 / given.low_pass
        angles = flipper_angles(vehicle, setup.flippers, setup.rear_flippers)
        own = setup.speed if setup.speed is not None else obstacle.speed(given)
        if setup.speed is not None and finite("speed [m/s]", setup.speed) <= 0:
            raise InvalidValueError("speed [m/s]", "greater than 0", setup.speed)
        self.speed = min(own, *(track.spec.drive.top_speed for track in vehicle.mounted_tracks()))
        self.robot = world.add_vehicle(
            vehicle, track_model=setup.resolved[1], position=(0.0, 0.0, 0.0), flippers=angles
        )
        if world.time_step >= longest:  # PyBullet's default depends on the vehicle.
            expected = f"below {longest:.4g}, for the low pass of {given.low_pass:g} Hz"
            raise InvalidValueError("time_step [s]", expected, world.time_step)
        low, high = self.robot.bounds()
        self.length = length = high[0] - low[0]
        run_up = given.step_clearance if obstacle.from_rest else given.run_up * self.speed
        run_up = min(run_up, obstacle.room - length)
        behind = (given.past + given.run_up) * self.speed + 2.0 * length
        self.terrain = obstacle.terrain(run_up + 2.0 * length, behind)
        world.add_terrain(self.terrain)
        world.place_on_terrain(self.robot, x=-run_up - high[0], y=0.0)
        self.rest = given.step_rest if obstacle.from_rest else given.rest
        way = run_up + length + obstacle.end + obstacle.size
        self.time_limit = self.rest + max(given.time_limit, given.patience * way / self.speed)
        self.driver = _driver_place(self.robot, setup)
        self.drive_by = (
            setup.driver(self.speed) if setup.driver is not None else BeltSpeedDriver(self.speed, given)
        )
        self.sensor = LimitSensor(self.robot, self.terrain, given.contact_distance)
        self.recorder = TrajectoryRecorder(self.robot)
        self.instants = ChainInstants(self.robot)
        self.velocities: list[float] = []
        self.begin = 0.0
        self.states: list[tuple[float, LimitState]] = []
        self.reached = self.passed = math.inf
        self.stall = math.inf
        self.progress = (-math.inf, 0.0)
        """Farthest x of the body [m] that counted as progress, and when that was [s]."""
        self.elapsed = -clock.perf_counter()

    def drive(self, observer: EventObserver | None) -> EventOutcome:
        """Rest, then drive until the outcome is decided."""
        self.world.settle()
        self._sample()
        self.world.run(self.rest)
        self.begin = self.world.time
        self._sample()
        self.velocities.append(self._vertical_velocity())
        if not self.setup.obstacle.from_rest:
            self.robot.set_velocity(self.speed)
        steps = max(1, round(CONTROL_TIME / self.world.time_step))
        outcome: EventOutcome | None = None
        while outcome is None:
            self.drive_by(self.robot, self.world.time - self.begin)
            self.world.run(
                steps * self.world.time_step,
                on_step=lambda: self.velocities.append(self._vertical_velocity()),
            )
            outcome = self._decide()
            if observer is not None:
                observer(EventProgress(self.world, self.robot, self.world.time / self.time_limit))
        return outcome

    def _vertical_velocity(self) -> float:
        return float(self.robot.body_motion().velocity_at(self.driver.position)[2])

    def _sample(self) -> None:
        self.recorder.sample(self.world.time)
        self.states.append((self.world.time, self.sensor.read()))

    def _keep_chains(self, now: float, pitch: float) -> None:
        """Keep the chains' latest readings if this is one of the instants to keep."""
        measures = {END: now}
        if self.reached < math.inf:
            shaken = np.abs(np.diff(self.velocities[-1 - round(CONTROL_TIME / self.world.time_step) :]))
            measures |= {PITCHED: abs(pitch), SHAKEN: float(shaken.max())}
        self.instants.sample(now, self.sensor.chains, measures)

    def _decide(self) -> EventOutcome | None:
        """Outcome if the run is decided now, else None."""
        self._sample()
        now, state = self.world.time, self.robot.state
        low, high = self.robot.bounds()
        if high[0] >= 0.0:
            self.reached = min(self.reached, self.states[-2][0])  # It crossed since.
        self._keep_chains(now, state.pitch)
        if up_of(state) < 0.0:
            return "tipped over"
        given, obstacle = self.setup.assumptions, self.setup.obstacle
        if low[0] >= obstacle.end:
            self.passed = min(self.passed, now)
        if self.passed < math.inf:
            at_its_end = high[0] >= obstacle.end + obstacle.room - self.length
            return "passed" if now >= self.passed + given.past or at_its_end else None
        if state.position[0] > self.progress[0] + _PROGRESS:
            self.progress = state.position[0], now
        stalled = now >= self.progress[1] + given.stall_time
        return "stuck" if stalled or now >= self.time_limit else None

    def result(self, outcome: EventOutcome, reason: str = "") -> EventResult:
        """Return the result so far."""
        motion, step = self.recorder.motion(), self.world.time_step
        velocities = np.array(self.velocities)
        acceleration = np.diff(velocities) / step
        times = self.begin + step * np.arange(1.0, len(acceleration) + 1.0)
        end = self.begin + step * len(acceleration)
        instants, states = zip(*self.states, strict=True)
        window = min(self.reached, end), end
        return EventResult(
            setup=self.setup,
            engine=self.world.engine_name,
            track_model=self.robot.track_model,
            preset=self.world.preset,
            vehicle=self.vehicle,
            driver=self.driver,
            speed=self.speed,
            outcome=outcome,
            duration=self.world.time,
            time_limit=self.time_limit,
            real_time_factor=self.world.time / max(self.elapsed + clock.perf_counter(), 1e-9),
            ridden=Ridden(times, acceleration, step, window, self.setup.assumptions.low_pass),
            limits=LimitHistory(
                np.array(instants),
                np.array([state.found for state in states], dtype=bool),
                *(np.array([getattr(s, name) for s in states]) for name in ("slip", "drive", "clearance")),
            ),
            motion=motion,
            chains=self.instants.histories(),
            terrain=self.terrain,
            reason=reason,
        )


def _driver_place(robot: Robot, setup: EventSetup) -> DriverPlace:
    """Driver's place as given, from the vehicle file, or at the body's centre of mass."""
    if setup.driver_position is not None:
        x, y, z = finite_vector("driver's place [m]", setup.driver_position, 3)
        return DriverPlace((x, y, z), "given")
    if (own := robot.description.driver_position) is not None:
        return DriverPlace(own, "vehicle file")
    body = robot.body_motion()
    x, y, z = (body.rotation.T @ (body.center - body.position)).tolist()
    return DriverPlace((x, y, z), "centre of mass of the body")


@dataclass(frozen=True, eq=False)
class EventInstant:
    """State of a vehicle at one instant of an event.

    Attributes:
        result: Result of the event.
        time: Instant [s].
        chains: History of its link chains with that one sample; None for other track models.
    """

    result: EventResult
    time: float
    chains: ChainHistory | None

    @property
    def sample(self) -> int:
        """Index of the instant in the event's motion."""
        return int(np.argmin(np.abs(self.result.motion.times - self.time)))


def run_beside(
    first: EventSetup,
    second: EventSetup,
    observers: tuple[EventObserver, EventObserver] = (lambda now: None, lambda now: None),
) -> tuple[EventInstant, EventInstant]:
    """Run two events, and return both at the time of the first one's largest pitch.

    That is the largest of its passage, up or down, or the end of an event that does not come to its obstacle.
    The second one is at its end if it ended before.

    Args:
        first: Event that sets the time.
        second: Event for comparison.
        observers: Observers of the first and the second event.

    Raises:
        SegtrackError: A setup cannot be.
        EventInterrupted: Ctrl-C.
    """
    result = run_event(first, observer=observers[0])
    time, kept = result.pitched_time, None

    def watch(now: EventProgress) -> None:
        nonlocal kept
        if now.world.time < time + CONTROL_TIME / 2 and (readings := read_chains(now.robot)):
            kept = chains_at(now.robot, now.world.time, readings)
        observers[1](now)

    other = run_event(second, observer=watch)
    chains = result.chains.get(PITCHED, result.chains.get(END))
    ended = min(time, float(other.motion.times[-1]))
    return EventInstant(result, time, chains), EventInstant(other, ended, kept)
