"""Drawbar pull of a vehicle that pulls a hitch at given slips."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.experiments.histories import has_chains
from segtrack.experiments.traction import RAMP, SAMPLE, SPEED, SPIN_UP, mean_travel, standing, total_force
from segtrack.robot import Robot
from segtrack.world import World

SLIPS = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02)
"""Slip ratios at which a hitch is pulled [-]."""
_HITCH_STIFFNESS, _HITCH_DAMPING = 2000.0, 400.0


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
