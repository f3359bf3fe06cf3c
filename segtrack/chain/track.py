"""A track that moves: the state of its chain, wheels and ground contacts, advanced together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from segtrack.chain.design import TrackDesign
from segtrack.chain.parent_frames import Carriers, Exchange, Reaction
from segtrack.chain.readings import ChainReading, read_track
from segtrack.chain.running_gear.arrays import Undergear, WheelMotion
from segtrack.chain.shoe_candidates import allocate_contact_arrays, allocate_shoe_history
from segtrack.chain.shoes.loads import room_for
from segtrack.chain.shoes.state import ChainState, state_along
from segtrack.chain.shoes.sub_step import Motion
from segtrack.chain.stability import check_sub_step
from segtrack.chain.track_arrays import Track, Underfoot
from segtrack.ground.history import ContactHistory
from segtrack.ground.pack import Ground, pack_ground
from segtrack.ground.tread import pack_treads

_PARTED = 0.25
"""A joint whose two markers are this many pitches apart has parted."""


@dataclass(frozen=True)
class TrackSnapshot:
    """Everything of a track that changes, with arrays of its own."""

    chain: ChainState
    wheels: WheelMotion
    ground: ContactHistory
    torque: float
    before: float


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
        check_sub_step(self.largest_sub_step, design.largest_sub_step, f"chain.sub_step of {design.name}")
        chain, gear = design.chain, design.undercarriage
        self._frames, self._loads = room_for(chain)
        self._treads = pack_treads(design.treads, design.kinds)
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
        self.torque, self._before, self._grip = 0.0, 0.0, design.grip
        self.state = state_along(chain, design.hinges)
        self.set_ground(pack_ground(()))
        self.wheels.angles[gear.driven] = design.seat
        self._rest = self.snapshot()
        self.lay(carriers)

    @property
    def wheels(self) -> WheelMotion:
        """The wheels' state."""
        return self._gear.motion

    @property
    def travel(self) -> float:
        """Way that the driven wheel has moved the chain, before it was laid anew included [m]."""
        turned = float(self.wheels.angles[self.design.undercarriage.driven]) - self.design.seat
        return self._before + turned * self.design.pitch_radius

    @property
    def speed(self) -> float:
        """Speed at which the driven wheel moves the chain [m/s]."""
        axle = self._carriers.rotation[0, :, 1]
        turning = float(self.wheels.speeds[self.design.undercarriage.driven] - self._carriers.spin[0] @ axle)
        return turning * self.design.pitch_radius

    @property
    def ground(self) -> Ground:
        """That it stands on."""
        return self._foot.ground

    def set_ground(self, ground: Ground) -> None:
        """Let it stand on other ground; what its contacts remember is forgotten."""
        loads, nearby = allocate_contact_arrays(ground, self._treads)
        motion = allocate_shoe_history(self._treads)
        margin = self.design.chain.shoe.pitch
        self._foot = Underfoot(ground, self._treads, self._grip, motion, loads, nearby, margin)

    def set_friction(self, friction: float) -> None:
        """Let its shoes have another friction on the ground."""
        self._grip = self._grip._replace(friction=friction)
        self._foot = self._foot._replace(grip=self._grip)

    def lay(self, carriers: Carriers) -> None:
        """Lay the chain around its wheels, at rest, where its carriers are.

        It is laid as `tension_tracks` found it, or along its design's hinges.
        """
        self.follow(carriers)
        time, travel = self.state.time, self.travel
        self.restore(self._rest)
        self.state.time, self._before = time, travel - self.travel
        laid, turn = self._rest.chain, carriers.rotation[0]
        self.state.positions[:] = laid.positions @ turn.T + carriers.position[0]
        self.state.orientations[:] = _turned(turn, laid.orientations)
        self.set_ground(self.ground)

    def read(self, carriers: Carriers) -> ChainReading:
        """How it is loaded and how it stands on the ground, now that its carriers are there."""
        return read_track(self.design, self.state, self._gear, self._foot, carriers, self.torque)

    def snapshot(self) -> TrackSnapshot:
        """Everything that changes."""
        wheels = WheelMotion(*(array.copy() for array in self.wheels))
        return TrackSnapshot(self.state.copy(), wheels, self._foot.motion.copy(), self.torque, self._before)

    def restore(self, snapshot: TrackSnapshot) -> None:
        """Go back to a snapshot that was taken on the same ground."""
        self.state, self.torque = snapshot.chain.copy(), snapshot.torque
        self._before = snapshot.before
        for arrays, kept in ((self.wheels, snapshot.wheels), (self._foot.motion, snapshot.ground)):
            for array, values in zip(arrays, kept, strict=True):
                array[...] = values

    def keep_rest(self) -> None:
        """Take its shape, which is at rest in a track frame that is the world's, as the one to lay."""
        for array in (self.state.velocities, self.state.spins, self.wheels.speeds, self.wheels.slide_speeds):
            array[:] = 0.0
        self._before = 0.0
        self._rest = self.snapshot()

    @property
    def points(self) -> NDArray[np.float64]:
        """Markers of all shoes in the world (n k, 3) [m]."""
        markers = self._treads.contact_points[self._treads.kinds]
        return (
            np.einsum("nij,nkj->nki", self.state.rotations, markers) + self.state.positions[:, None]
        ).reshape(-1, 3)

    @property
    def arrays(self) -> Track:
        """Everything that kernels read and write."""
        state, design = self.state, self.design
        return Track(
            Motion(state.positions, state.orientations, state.velocities, state.spins),
            design.chain.joints,
            self._frames,
            self._loads,
            design.chain.constants,
            self._carriers,
            self._reaction,
            self._gear,
            self._foot,
            self._exchange,
            _PARTED * design.chain.shoe.pitch,
            design.treads[0].width,
        )

    def follow(self, carriers: Carriers) -> None:
        """Take over where carriers are."""
        for mine, given in zip(self._carriers, carriers, strict=True):
            mine[...] = given


def _turned(rotation: NDArray[np.float64], orientations: NDArray[np.float64]) -> NDArray[np.float64]:
    """Euler parameters (n, 4), ordered (x, y, z, w), after a rotation (3, 3)."""
    return (Rotation.from_matrix(rotation) * Rotation.from_quat(orientations)).as_quat()
