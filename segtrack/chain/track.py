"""A track that moves: the state of its chain, wheels and ground contacts, advanced together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from segtrack.chain.carrier import Carriers, Exchange, Reaction, Vehicle, drift_carriers
from segtrack.chain.design import TrackDesign
from segtrack.chain.hubs import WheelMotion
from segtrack.chain.loads import room_for
from segtrack.chain.readings import ChainReading, read_track
from segtrack.chain.shoe_candidates import allocate_contact_arrays, allocate_shoe_history
from segtrack.chain.stability import check_sub_step
from segtrack.chain.state import ChainState, state_along
from segtrack.chain.sub_step import Motion
from segtrack.chain.track_step import Track, Underfoot, Undergear, run_tracks
from segtrack.errors import DivergedError, InvalidValueError, Phrase
from segtrack.ground.history import ContactHistory
from segtrack.ground.pack import Ground, pack_ground
from segtrack.ground.tread import pack_treads

_DRAINAGE, _PULL, _LONGEST, _SLOW = 150.0, 2e-3, 100, 1e-3
"""A chain is tensioned with this drainage [1/s] in steps of this duration [s], at most so many, until
all its shoes are slower than this [m/s]."""
HELD = Vehicle(np.zeros(3), 0.0, np.zeros((3, 3)), (0.0, 0.0, 0.0))
"""Carriers that go on by the velocities that they have."""
_PARTED = 0.25
"""A joint whose two markers are this many pitches apart has parted."""


_LOSSES = (
    "its position is not finite",
    "its joint to the next link has parted",
    "the chain has come off its wheels",
)
_FAR = 1.0
"""An idler that has slid this many pitches has left its track."""


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
    ground: ContactHistory
    torque: float
    before: float


class Drive(NamedTuple):
    """What a track's drive shall do.

    Attributes:
        speed: Of the chain that it shall reach [m/s].
        limit: Of its force along the chain [N].
    """

    speed: float
    limit: float


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
        corners = self._treads.contact_points[self._treads.kinds]
        return (
            np.einsum("nij,nkj->nki", self.state.rotations, corners) + self.state.positions[:, None]
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


def tension_tracks(tracks: Sequence[TrackChain]) -> None:
    """Let chains that were laid along their hinges take the shape that their tensioners give them.

    Without gravity and ground, drained of energy (see `statics`), on carriers that are held. From
    then on `TrackChain.lay` lays them like that.

    Raises:
        InvalidValueError: A chain does not bear it.
    """
    grounds = [track.ground for track in tracks]
    still = []
    for track in tracks:
        track.set_ground(pack_ground(()))
        count = len(track.arrays.carriers.position)
        frames = Carriers(np.zeros((count, 3)), np.tile(np.eye(3), (count, 1, 1)), *np.zeros((2, count, 3)))
        track.lay(frames)
        still.append(frames)
    drives = [Drive(0.0, math.inf)] * len(tracks)
    for _ in range(_LONGEST):
        try:
            advance_tracks(tracks, still, drives, HELD, _PULL, _DRAINAGE)
        except DivergedError as error:
            got = Phrase(f"one that breaks: {error}")
            raise InvalidValueError("chain", "one that bears its tensioner", got) from None
        if max(np.abs(track.state.velocities).max() for track in tracks) < _SLOW:
            break
    for track, ground in zip(tracks, grounds, strict=True):
        track.state.time = 0.0
        track.keep_rest()
        track.set_ground(ground)


def advance_tracks(
    tracks: Sequence[TrackChain],
    carriers: Sequence[Carriers],
    drives: Sequence[Drive],
    vehicle: Vehicle,
    duration: float,
    drainage: float = 0.0,
) -> list[list[Impulse]]:
    """Take all tracks of a vehicle through a step of whoever moves the vehicle.

    Where a force changes velocities first, and these then positions, velocities belong to
    times half a step before those of positions. Chains live in that time: they start half a
    step before their carriers' positions with their velocities, and end half a step after,
    where the next step will start. In the meantime the carriers move as parts of one rigid
    body, so that chains feel at once how the vehicle gives way.

    Args:
        tracks: The vehicle's.
        carriers: Of each, where they are at the step's beginning.
        drives: What each track's drive shall do.
        vehicle: How it gives way.
        duration: Of the step [s].
        drainage: Rate at which velocities decay besides [1/s], see `statics`.

    Returns:
        What each track does to each of its carriers.

    Raises:
        DivergedError: A link is at no finite place any more, or a chain has parted or come off.
    """
    count = max(math.ceil(duration / track.largest_sub_step * (1 - 1e-9)) for track in tracks)
    sub_step = duration / count
    table, losses = np.zeros((len(tracks), 3)), np.zeros((len(tracks), 2), dtype=np.intp)
    for track, places, drive, row in zip(tracks, carriers, drives, table, strict=True):
        track.follow(places)
        radius = track.design.pitch_radius
        row[:2] = drive.speed / radius, drive.limit * radius
    arrays = tuple(track.arrays for track in tracks)
    for own in arrays:
        drift_carriers(own.carriers, -duration / 2)
    push, kept = np.zeros((2, 3)), math.exp(-drainage * sub_step)
    run_tracks(arrays, table, losses, vehicle, push, sub_step, count, kept)
    done = []
    for track, own, torque, (lost, why) in zip(tracks, arrays, table[:, 2], losses, strict=True):
        track.state.time += duration if drainage == 0 else 0.0
        track.torque = float(torque)
        if lost >= 0:
            raise DivergedError(f"chain link {lost} of {track.design.name}", track.state.time, _LOSSES[why])
        slide = float(np.abs(track.wheels.slides).max())
        if slide > _FAR * track.design.chain.shoe.pitch:
            reason = f"it has slid by {slide:.3g} m"
            raise DivergedError(f"idler of {track.design.name}", track.state.time, reason)
        impulses = zip(own.exchange.points, own.exchange.impulses, own.exchange.turns, strict=True)
        done.append([Impulse(p.copy(), f / duration, t / duration) for p, f, t in impulses])
    return done


def _turned(rotation: NDArray[np.float64], orientations: NDArray[np.float64]) -> NDArray[np.float64]:
    """Euler parameters (n, 4), ordered (x, y, z, w), after a rotation (3, 3)."""
    return (Rotation.from_matrix(rotation) * Rotation.from_quat(orientations)).as_quat()
