"""What a vehicle's tracks do for it on flat ground, on a slope and at a hitch.

All of it on rigid ground of friction 1, so that a track's friction is what acts. A slope is flat
ground under gravity that leans backwards, the vehicle's x axis pointing up it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.design import TrackDesign
from segtrack.experiments.chain_history import has_chains
from segtrack.robot import Robot
from segtrack.terrain import Plane
from segtrack.world import World

GRAVITY = 9.81
"""[m/s^2]"""
SPEED = 0.3
"""Commanded belt speed [m/s]."""
SLOPE = math.radians(20.0)
"""That is driven up [rad]."""
SLIPS = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02)
"""At which a hitch is pulled [-]."""
TILT_RATE = math.radians(1.0)
"""At which a slope grows steeper [rad/s]."""
SLIDING = 0.005
"""A braked vehicle that is faster than this down the slope slides [m/s]."""
_SAMPLE = 0.002
_REST, _SPIN_UP = 0.4, 0.8
_RAMP = 0.5
_HITCH_STIFFNESS, _HITCH_DAMPING = 2000.0, 400.0


@dataclass(frozen=True)
class SteadyDrive:
    """A vehicle whose belts run at constant speed.

    Attributes:
        time: Since the first sample (n,) [s].
        speed: Of the body along its way (n,) [m/s].
        force: Of all drives together (n,) [N].
        slip: 1 - way / belt travel over all samples [-].
        slope: That is driven up [rad].
        weight: Of the vehicle [N].
        real_time_factor: Simulated over elapsed time.
        design: Of its first track, if that is a link chain.
    """

    time: NDArray[np.float64]
    speed: NDArray[np.float64]
    force: NDArray[np.float64]
    slip: float
    slope: float
    weight: float
    real_time_factor: float
    design: TrackDesign | None

    @property
    def mean_speed(self) -> float:
        """Of the speed [m/s]."""
        return float(self.speed.mean())

    @property
    def speed_deviation(self) -> float:
        """Standard deviation of the speed [m/s]."""
        return float(self.speed.std())

    @property
    def mean_force(self) -> float:
        """Of the force [N]."""
        return float(self.force.mean())

    @property
    def traction(self) -> NDArray[np.float64]:
        """What the ground gives, if all of the vehicle moves as its body does (n - 4,) [N]."""
        smooth = np.convolve(self.speed, np.full(5, 0.2), "valid")
        acceleration = np.gradient(smooth, self.time[1] - self.time[0])
        return self.weight * (acceleration / GRAVITY + math.sin(self.slope))

    @property
    def shoe_rate(self) -> float:
        """How many shoes of a link chain pass in a second [1/s]; 0 without one."""
        return self.mean_speed / self.design.chain.shoe.pitch if self.design is not None else 0.0

    @property
    def ripple_of_shoes(self) -> float:
        """Share of the speed's variance at whole multiples of the shoes' rate [-]; 0 without a link chain."""
        power = np.abs(np.fft.rfft(self.speed - self.mean_speed)) ** 2
        if self.design is None or not power.any():
            return 0.0
        width = 1.0 / (len(self.speed) * (self.time[1] - self.time[0]))
        order = np.arange(len(power)) * width / self.shoe_rate
        near = (np.abs(order - np.round(order)) * self.shoe_rate <= width) & (np.round(order) > 0)
        return float(power[near].sum() / power.sum())


@dataclass(frozen=True)
class Slide:
    """A braked vehicle on ground that grows steeper until it slides.

    Attributes:
        slope: (n,) [rad]
        speed: Down the slope (n,) [m/s].
        moved: Down the slope (n,) [m].
    """

    slope: NDArray[np.float64]
    speed: NDArray[np.float64]
    moved: NDArray[np.float64]

    @property
    def onset(self) -> int:
        """Number of the sample at which it begins to slide; the last one if it holds."""
        still = np.flatnonzero(self.speed < SLIDING)
        return min(int(still[-1]) + 1, len(self.slope) - 1) if len(still) else 0

    @property
    def angle(self) -> float:
        """Slope at which it begins to slide [rad]; the last one if it holds."""
        return float(self.slope[self.onset])

    @property
    def crept(self) -> float:
        """How far it moved until then [m]."""
        return float(self.moved[max(self.onset - 1, 0)])


@dataclass(frozen=True)
class ShoeSlip:
    """How shoes of link chains slip over the ground that they stand on: means over the weight and time.

    Attributes:
        mean: Slip velocity, backwards positive [m/s].
        deviation: Its standard deviation [m/s].
        lagging: Share of the weight on shoes that do not slip backwards [-].
    """

    mean: float
    deviation: float
    lagging: float


@dataclass(frozen=True)
class Pull:
    """A vehicle that drags a hitch along at constant speed.

    Attributes:
        slip: 1 - way / belt travel [-].
        pull: Mean force on the hitch [N].
        drive: Mean force of all drives together [N].
        shoes: How those of link chains slip; None for other tracks.
    """

    slip: float
    pull: float
    drive: float
    shoes: ShoeSlip | None


def drive_steadily(
    vehicle: str, track_model: str, *, slope: float = 0.0, seconds: float = 1.5
) -> SteadyDrive:
    """Drive straight at `SPEED`, on the flat or up a slope [rad], and write down so many seconds."""
    with _standing(vehicle, track_model) as (world, robot):
        _lean(world, slope)
        robot.set_belt_speed(SPEED, SPEED)
        world.run(_SPIN_UP)
        begin, travel = robot.state.position[0], _travel(robot)
        speeds, forces, elapsed = [], [], 0.0
        for _ in range(round(seconds / _SAMPLE)):
            world.run(_SAMPLE)
            elapsed += _SAMPLE / world.real_time_factor
            speeds.append(robot.state.velocity[0])
            forces.append(_force(robot))
        way = robot.state.position[0] - begin
        return SteadyDrive(
            time=_SAMPLE * np.arange(1.0, len(speeds) + 1.0),
            speed=np.array(speeds),
            force=np.array(forces),
            slip=1.0 - way / (_travel(robot) - travel),
            slope=slope,
            weight=robot.mass * GRAVITY,
            real_time_factor=len(speeds) * _SAMPLE / elapsed,
            design=next(iter(robot.tracks.values())).chain_design if has_chains(robot) else None,
        )


def slide_down(vehicle: str, track_model: str, *, begin: float, end: float, rate: float = TILT_RATE) -> Slide:
    """Brake the belts; let the slope grow from `begin` to `end` [rad], or until the vehicle slides away."""
    with _standing(vehicle, track_model) as (world, robot):
        for slope in np.linspace(0.0, begin, 50):
            _lean(world, slope)
            world.run(_RAMP / 50)
        world.run(_REST)
        start, rows = robot.state.position[0], []
        for slope in np.arange(begin, end, rate * _SAMPLE):
            _lean(world, slope)
            world.run(_SAMPLE)
            rows.append((slope, -robot.state.velocity[0], start - robot.state.position[0]))
            if rows[-1][1] > 10 * SLIDING:
                break
        return Slide(*np.array(rows).T)


def pull_hitch(
    vehicle: str, track_model: str, *, slips: tuple[float, ...] = SLIPS, seconds: float = 0.5
) -> tuple[Pull, ...]:
    """Let the belts run at `SPEED` and hold the body back by a spring to a hitch that is slower.

    The spring is drawn at a hitch that stands; then the hitch moves at `1 - slip` of the belts'
    speed, for one slip after the other. Falling slips find the pull drawn already.

    Args:
        vehicle: Bundled name or path of a vehicle file.
        track_model: Of all its tracks.
        slips: Wanted, falling [-].
        seconds: Measured at each [s].
    """
    with _standing(vehicle, track_model) as (world, robot):
        hitch = _Hitch(world, robot)
        robot.set_belt_speed(SPEED, SPEED)
        world.run(_SPIN_UP, on_step=hitch.hold)
        return tuple(hitch.measure(SPEED * (1.0 - slip), seconds) for slip in slips)


class _Hitch:
    """A spring and damper from the body to a hitch that moves along x."""

    def __init__(self, world: World, robot: Robot) -> None:
        self._world, self._robot = world, robot
        self._place, self._speed = robot.state.position[0], 0.0
        self._pulls: list[float] = []
        self._drives: list[float] = []

    def hold(self) -> None:
        """Pull the body back in the next step."""
        state = self._robot.state
        self._place += self._speed * self._world.time_step
        stretch, rate = state.position[0] - self._place, state.velocity[0] - self._speed
        pull = _HITCH_STIFFNESS * stretch + _HITCH_DAMPING * rate
        self._robot.apply_force((-pull, 0.0, 0.0), state.position)
        self._pulls.append(pull)
        self._drives.append(_force(self._robot))

    def measure(self, speed: float, seconds: float) -> Pull:
        """Move at a speed [m/s] and take means over some time [s] once that is steady."""
        robot, self._speed = self._robot, speed
        self._world.run(_RAMP, on_step=self.hold)
        begin, travel = robot.state.position[0], _travel(robot)
        shoes: list[NDArray[np.float64]] = []
        self._pulls, self._drives = [], []
        for _ in range(round(seconds / (10 * _SAMPLE))):
            self._world.run(10 * _SAMPLE, on_step=self.hold)
            if has_chains(robot):
                shoes.append(_loads_and_slips(robot))
        slip = 1.0 - (robot.state.position[0] - begin) / (_travel(robot) - travel)
        return Pull(
            slip,
            float(np.mean(self._pulls)),
            float(np.mean(self._drives)),
            _shoe_slip(np.concatenate(shoes)) if shoes else None,
        )


@contextmanager
def _standing(vehicle: str, track_model: str) -> Iterator[tuple[World, Robot]]:
    """A vehicle that has come to rest on flat ground."""
    with World() as world:
        world.add_terrain(Plane())
        robot = world.add_vehicle(vehicle, track_model=track_model)
        world.run(_REST)
        yield world, robot


def _lean(world: World, slope: float) -> None:
    world.set_gravity((-GRAVITY * math.sin(slope), 0.0, -GRAVITY * math.cos(slope)))


def _travel(robot: Robot) -> float:
    return float(np.mean([track.travel for track in robot.tracks.values()]))


def _force(robot: Robot) -> float:
    return sum(track.force for track in robot.tracks.values())


def _loads_and_slips(robot: Robot) -> NDArray[np.float64]:
    """Of the shoes on the ground, now: force [N] and slip velocity, backwards positive [m/s], (n, 2)."""
    chains = [track.read_chain() for track in robot.tracks.values()]
    # A shoe's x axis points backwards on the ground.
    table = np.concatenate(
        [np.column_stack([chain.ground_force, chain.slip_velocity[:, 0]]) for chain in chains]
    )
    return table[table[:, 0] > 0]


def _shoe_slip(shoes: NDArray[np.float64]) -> ShoeSlip:
    load, slip = shoes.T
    share = load / load.sum()
    mean = float(share @ slip)
    return ShoeSlip(mean, math.sqrt(share @ (slip - mean) ** 2), float(share[slip <= 0].sum()))
