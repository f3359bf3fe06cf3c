"""Traction: steady drives on flat ground and slopes, sliding, and drawbar pull."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.chain import TrackDesign
from segtrack.engine import resolve
from segtrack.experiments.track_histories import has_chains
from segtrack.geometry import GRAVITY
from segtrack.robot import Robot
from segtrack.terrain import Plane
from segtrack.world import World

SLIDING = 0.005
"""A braked vehicle that is faster than this down the slope slides [m/s]."""
SLIPS = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02)
"""Slip ratios at which a hitch is pulled [-]."""
_HITCH_STIFFNESS, _HITCH_DAMPING = 2000.0, 400.0
"""Of the spring between body and hitch [N/m], [N s/m]."""


@dataclass(frozen=True)
class SteadyDrive:
    """Samples of a drive at constant belt speed.

    Attributes:
        time: Time since the first sample (n,) [s].
        speed: Speed of the body along its path (n,) [m/s].
        force: Total force of the drives (n,) [N].
        slip: Slip ratio, 1 - way / belt travel, over all samples [-].
        slope: Slope driven up [rad].
        weight: Weight of the vehicle [N].
        real_time_factor: Simulated over elapsed time [-].
        design: Chain design of the first track; None for other track models.
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
        """Mean speed of the body [m/s]."""
        return float(self.speed.mean())

    @property
    def speed_deviation(self) -> float:
        """Standard deviation of the speed [m/s]."""
        return float(self.speed.std())

    @property
    def mean_force(self) -> float:
        """Mean total force of the drives [N]."""
        return float(self.force.mean())

    @property
    def traction(self) -> NDArray[np.float64]:
        """Traction of the ground, from the body's acceleration and slope (n - 4,) [N]."""
        smooth = np.convolve(self.speed, np.full(5, 0.2), "valid")
        acceleration = np.gradient(smooth, self.time[1] - self.time[0])
        return self.weight * (acceleration / GRAVITY + math.sin(self.slope))

    @property
    def shoe_rate(self) -> float:
        """Rate at which shoes of a link chain pass a fixed point [1/s]; 0 without one."""
        return self.mean_speed / self.design.chain.shoe.pitch if self.design is not None else 0.0

    @property
    def ripple_of_shoes(self) -> float:
        """Fraction of the speed's variance at multiples of the shoe rate [-]; 0 without a link chain."""
        power = np.abs(np.fft.rfft(self.speed - self.mean_speed)) ** 2
        if self.design is None or not power.any():
            return 0.0
        width = 1.0 / (len(self.speed) * (self.time[1] - self.time[0]))
        order = np.arange(len(power)) * width / self.shoe_rate
        near = (np.abs(order - np.round(order)) * self.shoe_rate <= width) & (np.round(order) > 0)
        return float(power[near].sum() / power.sum())


@dataclass(frozen=True)
class Slide:
    """Samples of a braked vehicle on a slope that steepens until it slides.

    Attributes:
        slope: Slope of the ground (n,) [rad].
        speed: Speed down the slope (n,) [m/s].
        moved: Distance down the slope (n,) [m].
    """

    slope: NDArray[np.float64]
    speed: NDArray[np.float64]
    moved: NDArray[np.float64]

    @property
    def onset(self) -> int:
        """Index of the sample at which sliding begins; the last one if it holds."""
        still = np.flatnonzero(self.speed < SLIDING)
        return min(int(still[-1]) + 1, len(self.slope) - 1) if len(still) else 0

    @property
    def angle(self) -> float:
        """Slope at which sliding begins [rad]; the last one if it holds."""
        return float(self.slope[self.onset])

    @property
    def crept(self) -> float:
        """Distance moved before the onset of sliding [m]."""
        return float(self.moved[max(self.onset - 1, 0)])


SLOPE = math.radians(20.0)
"""Slope that is driven up [rad]."""
SPEED = 0.3
"""Commanded belt speed [m/s]."""
SAMPLE = 0.002
"""Time between two samples [s]."""
REST = 0.4
"""Time that the vehicle stands before it drives [s]."""
SPIN_UP = 0.8
"""Time that it drives before it is measured [s]."""
RAMP = 0.5
"""Time in which a slope or a hitch's speed comes to its value [s]."""


@contextmanager
def standing(vehicle: str, track_model: str | None) -> Iterator[tuple[World, Robot]]:
    """Yield a vehicle at rest on flat ground, and its world."""
    engine, track_model = resolve(None, track_model)
    with World("exact", engine=engine) as world:
        world.add_terrain(Plane())
        robot = world.add_vehicle(vehicle, track_model=track_model)
        world.run(REST)
        yield world, robot


def lean(world: World, slope: float) -> None:
    """Tilt gravity backwards, as on a slope [rad]."""
    world.set_gravity((-GRAVITY * math.sin(slope), 0.0, -GRAVITY * math.cos(slope)))


def mean_travel(robot: Robot) -> float:
    """Mean belt travel of all tracks [m]."""
    return float(np.mean([track.travel for track in robot.tracks.values()]))


def total_force(robot: Robot) -> float:
    """Total force of the drives [N]."""
    return sum(track.force for track in robot.tracks.values())


TILT_RATE = math.radians(1.0)
"""Rate at which a slope grows steeper [rad/s]."""


def drive_steadily(
    vehicle: str,
    track_model: str | None = None,
    *,
    slope: float = 0.0,
    seconds: float = 1.5,
) -> SteadyDrive:
    """Drive straight at `SPEED`, and sample the drive.

    Args:
        vehicle: Bundled name or path of a vehicle file.
        track_model: Track model; the engine's default if not given.
        slope: Slope to drive up [rad].
        seconds: Duration of the samples [s].
    """
    with standing(vehicle, track_model) as (world, robot):
        lean(world, slope)
        robot.set_belt_speed(SPEED, SPEED)
        world.run(SPIN_UP)
        begin, travel = robot.state.position[0], mean_travel(robot)
        speeds, forces, elapsed = [], [], 0.0
        for _ in range(round(seconds / SAMPLE)):
            world.run(SAMPLE)
            elapsed += SAMPLE / world.real_time_factor
            speeds.append(robot.state.velocity[0])
            forces.append(total_force(robot))
        way = robot.state.position[0] - begin
        return SteadyDrive(
            time=SAMPLE * np.arange(1.0, len(speeds) + 1.0),
            speed=np.array(speeds),
            force=np.array(forces),
            slip=1.0 - way / (mean_travel(robot) - travel),
            slope=slope,
            weight=robot.mass * GRAVITY,
            real_time_factor=len(speeds) * SAMPLE / elapsed,
            design=next(iter(robot.tracks.values())).chain_design if has_chains(robot) else None,
        )


def slide_down(
    vehicle: str,
    track_model: str | None = None,
    *,
    begin: float,
    end: float,
    rate: float = TILT_RATE,
) -> Slide:
    """Brake the belts and raise the slope until the vehicle slides.

    Args:
        vehicle: Bundled name or path of a vehicle file.
        track_model: Track model; the engine's default if not given.
        begin: Slope at the beginning [rad].
        end: Largest slope [rad].
        rate: Rate at which the slope rises [rad/s].
    """
    with standing(vehicle, track_model) as (world, robot):
        for slope in np.linspace(0.0, begin, 50):
            lean(world, slope)
            world.run(RAMP / 50)
        world.run(REST)
        start, rows = robot.state.position[0], []
        for slope in np.arange(begin, end, rate * SAMPLE):
            lean(world, slope)
            world.run(SAMPLE)
            rows.append((slope, -robot.state.velocity[0], start - robot.state.position[0]))
            if rows[-1][1] > 10 * SLIDING:
                break
        return Slide(*np.array(rows).T)


@dataclass(frozen=True)
class ShoeSlip:
    """Slip velocity of link chains' shoes on the ground: mean weighted by load, over time.

    Attributes:
        mean: Mean slip velocity, backwards positive [m/s].
        deviation: Standard deviation of the slip velocity [m/s].
        lagging: Fraction of the weight on shoes that do not slip backwards [-].
    """

    mean: float
    deviation: float
    lagging: float


@dataclass(frozen=True)
class Pull:
    """Steady state of a vehicle that pulls a hitch at constant speed.

    Attributes:
        slip: Slip ratio, 1 - way / belt travel [-].
        pull: Mean force on the hitch [N].
        drive: Mean total force of the drives [N].
        shoes: Slip of the shoes of link chains; None for other tracks.
    """

    slip: float
    pull: float
    drive: float
    shoes: ShoeSlip | None


def pull_hitch(
    vehicle: str,
    track_model: str | None = None,
    *,
    slips: tuple[float, ...] = SLIPS,
    seconds: float = 0.5,
) -> tuple[Pull, ...]:
    """Pull a hitch of constant speed by a spring, with the belts at `SPEED`, for each slip.

    The spring is drawn at a hitch that stands; then the hitch moves at `1 - slip` of the belts'
    speed, for one slip after the other. Falling slips find the pull drawn already.

    Args:
        vehicle: Bundled name or path of a vehicle file.
        track_model: Track model; the engine's default if not given.
        slips: Slip ratios to measure at, decreasing [-].
        seconds: Duration of the measurement at each slip [s].
    """
    with standing(vehicle, track_model) as (world, robot):
        hitch = _Hitch(world, robot)
        robot.set_belt_speed(SPEED, SPEED)
        world.run(SPIN_UP, on_step=hitch.hold)
        return tuple(hitch.measure(SPEED * (1.0 - slip), seconds) for slip in slips)


class _Hitch:
    """Spring and damper between the body and a hitch that moves along x."""

    def __init__(self, world: World, robot: Robot) -> None:
        self._world, self._robot = world, robot
        self._place, self._speed = robot.state.position[0], 0.0
        self._pulls: list[float] = []
        self._drives: list[float] = []

    def hold(self) -> None:
        """Apply the hitch's force to the body for the next step."""
        state = self._robot.state
        self._place += self._speed * self._world.time_step
        stretch, rate = state.position[0] - self._place, state.velocity[0] - self._speed
        pull = _HITCH_STIFFNESS * stretch + _HITCH_DAMPING * rate
        self._robot.apply_force((-pull, 0.0, 0.0), state.position)
        self._pulls.append(pull)
        self._drives.append(total_force(self._robot))

    def measure(self, speed: float, seconds: float) -> Pull:
        """Move at a speed [m/s], and average over a duration [s] once the pull is steady."""
        robot, self._speed = self._robot, speed
        self._world.run(RAMP, on_step=self.hold)
        begin, travel = robot.state.position[0], mean_travel(robot)
        shoes: list[NDArray[np.float64]] = []
        self._pulls, self._drives = [], []
        for _ in range(round(seconds / (10 * SAMPLE))):
            self._world.run(10 * SAMPLE, on_step=self.hold)
            if has_chains(robot):
                shoes.append(_loads_and_slips(robot))
        slip = 1.0 - (robot.state.position[0] - begin) / (mean_travel(robot) - travel)
        return Pull(
            slip,
            float(np.mean(self._pulls)),
            float(np.mean(self._drives)),
            _shoe_slip(np.concatenate(shoes)) if shoes else None,
        )


def _loads_and_slips(robot: Robot) -> NDArray[np.float64]:
    """Normal loads [N] and slip velocities, backwards positive [m/s], of the touching shoes (n, 2)."""
    chains = [track.read_chain() for track in robot.tracks.values()]
    # A shoe's x axis points backwards on the ground.
    table = np.concatenate(
        [np.column_stack([chain.ground_force, chain.slip_velocity[:, 0]]) for chain in chains]
    )
    return table[table[:, 0] > 0]


def _shoe_slip(shoes: NDArray[np.float64]) -> ShoeSlip:
    load, slip = shoes.T
    fraction = load / load.sum()
    mean = float(fraction @ slip)
    return ShoeSlip(mean, math.sqrt(fraction @ (slip - mean) ** 2), float(fraction[slip <= 0].sum()))
