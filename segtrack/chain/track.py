"""A track that moves: the state of its chain, wheels and ground contacts, advanced together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from segtrack.chain.carrier import Carriers, Reaction
from segtrack.chain.design import TrackDesign
from segtrack.chain.ground import Ground, ground_of
from segtrack.chain.ground_state import GroundMotion, ground_motion_of, room_on_ground
from segtrack.chain.ground_tread import treads_of
from segtrack.chain.hubs import WheelMotion
from segtrack.chain.loads import room_for
from segtrack.chain.readings import ChainReading, read_track
from segtrack.chain.stability import check_sub_step
from segtrack.chain.state import ChainState, state_along
from segtrack.chain.sub_step import Motion
from segtrack.chain.track_step import Exchange, Underfoot, Undergear, run_track
from segtrack.errors import DivergedError

_DRAINAGE, _PULL, _LONGEST, _SLOW = 150.0, 2e-3, 200, 1e-4
"""A chain is tensioned with this drainage [1/s] in steps of this duration [s], at most so many, until
all its shoes are slower than this [m/s]."""
_PARTED = 0.25
"""A joint whose two markers are this many pitches apart has parted."""


_LOSSES = (
    "its position is not finite",
    "its joint to the next link has parted",
    "the chain has come off its wheels",
)


class Impulse(NamedTuple):
    """What a track has done to one of its carriers in a step.

    Attributes:
        point: Where the carrier's track frame was at the beginning, in the world (3,) [m].
        force: Mean (3,) [N].
        torque: Mean about the point (3,) [N m].
    """

    point: NDArray[np.float64]
    force: NDArray[np.float64]
    torque: NDArray[np.float64]


@dataclass(frozen=True)
class TrackSnapshot:
    """Everything of a track that changes, with arrays of its own."""

    chain: ChainState
    wheels: WheelMotion
    ground: GroundMotion
    torque: float


class TrackChain:
    """One track: a chain of shoes around its wheels, on its ground.

    Attributes:
        design: What it is made of.
        state: Where its shoes are and how they move.
        wheels: The same of its wheels.
        torque: Mean torque of the drive on its wheel in the last step [N m].
    """

    def __init__(self, design: TrackDesign, carriers: Carriers, sub_step: float | None = None) -> None:
        """Lay the chain around the wheels, at rest.

        Args:
            design: What it is made of.
            carriers: Track frame of each carrier of its wheels; the first one carries the drive.
            sub_step: Largest to take [s]; the largest stable one if not given.

        Raises:
            InvalidValueError: The sub-step is too large for the track.
        """
        self.design = design
        self.largest_sub_step = design.largest_sub_step if sub_step is None else sub_step
        check_sub_step(self.largest_sub_step, design.largest_sub_step)
        chain, gear = design.chain, design.undercarriage
        self._frames, self._loads = room_for(chain)
        self._treads = treads_of(design.treads, design.kinds)
        self._gear = Undergear(
            gear.tables(chain.shoe),
            gear.teeth(),
            *gear.at_rest(chain.count),
            np.zeros((len(gear.wheels), chain.count), dtype=np.intp),
            np.zeros(len(gear.wheels), dtype=np.intp),
        )
        self._carriers = Carriers(*(array.copy() for array in carriers))
        count = len(carriers.position)
        self._reaction = Reaction(*np.zeros((2, count, 3)))
        self._exchange = Exchange(*np.zeros((3, count, 3)))
        self.torque, self._grip = 0.0, design.grip
        self.state = state_along(chain, design.hinges)
        self.set_ground(ground_of(()))
        self._rest = self._relaxed()
        self.lay(carriers)

    @property
    def wheels(self) -> WheelMotion:
        """The wheels' state."""
        return self._gear.motion

    @property
    def travel(self) -> float:
        """Way that the driven wheel has moved the chain [m]."""
        turned = float(self.wheels.angles[self.design.undercarriage.driven]) - self.design.seat
        return turned * self.design.pitch_radius

    @property
    def speed(self) -> float:
        """Speed at which the driven wheel moves the chain [m/s]."""
        axle = self._carriers.rotation[0, :, 1]
        turning = float(self.wheels.speeds[self.design.undercarriage.driven] - self._carriers.spin[0] @ axle)
        return turning * self.design.pitch_radius

    def set_ground(self, ground: Ground) -> None:
        """Let it stand on other ground; what its contacts remember is forgotten."""
        loads, nearby = room_on_ground(ground, self._treads)
        motion = ground_motion_of(self._treads)
        margin = self.design.chain.shoe.pitch
        self._foot = Underfoot(ground, self._treads, self._grip, motion, loads, nearby, margin)

    def set_friction(self, friction: float) -> None:
        """Let its shoes have another friction on the ground."""
        self._grip = self._grip._replace(friction=friction)
        self._foot = self._foot._replace(grip=self._grip)

    def lay(self, carriers: Carriers) -> None:
        """Lay the tensioned chain around its wheels, at rest, where its carriers are."""
        self._follow(carriers)
        time, laid, turn = self.state.time, self._rest.chain, carriers.rotation[0]
        self.restore(self._rest)
        self.state.time = time
        self.state.positions[:] = laid.positions @ turn.T + carriers.position[0]
        self.state.orientations[:] = _turned(turn, laid.orientations)
        self.set_ground(self._foot.ground)

    def advance(
        self,
        carriers: Carriers,
        duration: float,
        gravity: Sequence[float],
        speed: float,
        limit: float,
        drainage: float = 0.0,
    ) -> list[Impulse]:
        """Go on for a step of whoever moves the carriers.

        Args:
            carriers: Where they are at its beginning; they go on by the velocities that they have.
            duration: Of the step [s].
            gravity: In the world (3,) [m/s^2].
            speed: Of the chain that the drive shall reach [m/s].
            limit: Of the drive's force along the chain [N].
            drainage: Rate at which velocities decay besides [1/s], see `statics`.

        Returns:
            What it does to each carrier.

        Raises:
            DivergedError: A link is at no finite place any more, or the chain has parted or come off.
        """
        self._follow(carriers)
        design = self.design
        count = math.ceil(duration / self.largest_sub_step * (1 - 1e-9))
        sub_step = duration / count
        radius, mass = design.pitch_radius, design.chain.shoe.mass
        self.torque, lost, why = run_track(
            self._motion(),
            design.chain.joints,
            self._frames,
            self._loads,
            design.chain.constants,
            (mass * gravity[0], mass * gravity[1], mass * gravity[2]),
            self._carriers,
            self._reaction,
            self._gear,
            self._foot,
            self._exchange,
            speed / radius,
            limit * radius,
            sub_step,
            count,
            math.exp(-drainage * sub_step),
            _PARTED * design.chain.shoe.pitch,
            design.treads[0].width,
        )
        self.state.time += duration
        if lost >= 0:
            raise DivergedError(f"chain link {lost}", self.state.time, _LOSSES[why])
        points, impulses, turns = self._exchange
        return [
            Impulse(point.copy(), impulse / duration, turn / duration)
            for point, impulse, turn in zip(points, impulses, turns, strict=True)
        ]

    def read(self, carriers: Carriers) -> ChainReading:
        """How it is loaded and how it stands on the ground, now that its carriers are there."""
        return read_track(self.design, self.state, self._gear, self._foot, carriers, self.torque)

    def snapshot(self) -> TrackSnapshot:
        """Everything that changes."""
        wheels = WheelMotion(*(array.copy() for array in self.wheels))
        return TrackSnapshot(self.state.copy(), wheels, self._foot.motion.copy(), self.torque)

    def restore(self, snapshot: TrackSnapshot) -> None:
        """Go back to a snapshot that was taken on the same ground."""
        self.state, self.torque = snapshot.chain.copy(), snapshot.torque
        for arrays, kept in ((self.wheels, snapshot.wheels), (self._foot.motion, snapshot.ground)):
            for array, values in zip(arrays, kept, strict=True):
                array[...] = values

    @property
    def points(self) -> NDArray[np.float64]:
        """Markers of all shoes in the world (n k, 3) [m]."""
        markers = self._treads.markers[self._treads.kinds]
        return (
            np.einsum("nij,nkj->nki", self.state.rotations, markers) + self.state.positions[:, None]
        ).reshape(-1, 3)

    def _relaxed(self) -> TrackSnapshot:
        """The chain around its wheels in the track frame, tensioned, drained of energy, without gravity."""
        count = len(self._carriers.position)
        still = Carriers(np.zeros((count, 3)), np.tile(np.eye(3), (count, 1, 1)), *np.zeros((2, count, 3)))
        self.wheels.angles[self.design.undercarriage.driven] = self.design.seat
        for _ in range(_LONGEST):
            self.advance(still, _PULL, (0.0, 0.0, 0.0), 0.0, math.inf, _DRAINAGE)
            if np.abs(self.state.velocities).max() < _SLOW:
                break
        self.state.velocities[:] = self.state.spins[:] = self.wheels.speeds[:] = self.wheels.slide_speeds[
            :
        ] = 0.0
        self.state.time = 0.0
        return self.snapshot()

    def _motion(self) -> Motion:
        state = self.state
        return Motion(state.positions, state.orientations, state.velocities, state.spins)

    def _follow(self, carriers: Carriers) -> None:
        for mine, given in zip(self._carriers, carriers, strict=True):
            mine[...] = given


def _turned(rotation: NDArray[np.float64], orientations: NDArray[np.float64]) -> NDArray[np.float64]:
    """Euler parameters (n, 4), ordered (x, y, z, w), after a rotation (3, 3)."""
    return (Rotation.from_matrix(rotation) * Rotation.from_quat(orientations)).as_quat()
