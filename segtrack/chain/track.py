"""One track as a link chain: its state, to advance, read, save and restore."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from segtrack.chain.design import TrackDesign
from segtrack.chain.readings import ChainPose, ChainReading, read_pose, read_track
from segtrack.chain.running_gear_arrays import RunningGearState
from segtrack.chain.shoe_contact import allocate_terrain_contact
from segtrack.chain.shoe_dynamics import allocate_work_arrays
from segtrack.chain.shoe_state import ChainState, circulate, state_along
from segtrack.chain.stability import check_sub_step
from segtrack.chain.track_step import TrackArrays
from segtrack.ground import (
    ContactHistory,
    CouplingImpulses,
    Ground,
    ParentFrames,
    Reaction,
    drift_parents,
    follow_frames,
    pack_ground,
    pack_treads,
)
from segtrack.kernels import Packed, overwrite, rounded

_LOOK_EVERY = 0.05
"""Time between two looks for skipped teeth [s]."""
_MAX_JOINT_GAP = 0.25
"""Distance of a joint's bushing from its pin at which the joint has failed, per pitch."""


@dataclass(frozen=True)
class TrackSnapshot:
    """Everything of a track that changes, with arrays of its own.

    Attributes:
        chain: State of the shoes.
        wheels: State of the wheels.
        contacts: Memory of the contacts with the terrain.
        parents: Parent links of the wheels, as the chain knows them.
        torque: Mean torque of the drive in the last step [N m].
        earlier_travel: Travel before the chain was last assembled [m].
    """

    chain: ChainState
    wheels: RunningGearState
    contacts: ContactHistory
    parents: ParentFrames
    torque: float
    earlier_travel: float


class TrackChain:
    """One track: a chain of shoes around its wheels, on its terrain.

    Attributes:
        design: Constants of the track.
        max_sub_step: Largest sub-step that it is advanced by [s].
        max_sub_steps_held: Most sub-steps for which its contacts serve before they are found anew.
        state: State of the shoes.
        torque: Mean torque of the drive on its wheel in the last step [N m].
    """

    def __init__(
        self,
        design: TrackDesign,
        parents: ParentFrames,
        sub_step: float | None = None,
        sub_steps_held: int | None = None,
    ) -> None:
        """Assemble the shoes around the wheels, at rest.

        Args:
            design: Constants of the track.
            parents: Parent links of its wheels; the drive is on the first.
            sub_step: Largest to take [s]; the largest stable one if not given.
            sub_steps_held: Most sub-steps for which contacts serve; as `contact_rows.LONGEST` allows if not
                given.

        Raises:
            InvalidValueError: The sub-step is too large for the track.
        """
        self.design = design
        self.max_sub_step = design.max_sub_step if sub_step is None else sub_step
        self.max_sub_steps_held = sys.maxsize if sub_steps_held is None else sub_steps_held
        check_sub_step(self.max_sub_step, design.max_sub_step, f"chain.sub_step of {design.name}")
        chain, count = design.chain, len(parents.positions)
        self._frames, self._loads = allocate_work_arrays(chain)
        self._treads = rounded(pack_treads(design.treads, design.kinds))
        self._running_gear = rounded(design.running_gear.pack(chain.shoe, chain.count))
        self._constants = rounded(chain.constants)
        self._parents = ParentFrames(*(array.copy() for array in parents))
        self._reaction = Reaction(*np.zeros((2, count, 3)))
        self._coupling = CouplingImpulses(*np.zeros((3, count, 3)))
        self.torque, self._earlier_travel = 0.0, 0.0
        self._packed: Packed | None = None
        self._shoe_contact = rounded(design.shoe_contact)._replace(friction=design.shoe_contact.friction)
        self.state = state_along(chain, design.hinges)
        for array in (self.state.positions, self.state.orientations):
            array[:] = rounded(array)
        self.set_ground(pack_ground(()))
        self.wheels.angles[design.running_gear.driven] = rounded(design.initial_sprocket_angle)
        self._assembled = self.snapshot()
        self._first_seat, self._next_look, self._told_skips = 0.0, -math.inf, 0
        self.assemble(parents)
        self._first_seat = self._seat

    @property
    def wheels(self) -> RunningGearState:
        """State of the wheels."""
        return self._running_gear.state

    @property
    def travel(self) -> float:
        """Belt travel by the driven wheel, that before the chain was last assembled included [m]."""
        angle = float(self.wheels.angles[self.design.running_gear.driven])
        return self._earlier_travel + (angle - self.design.initial_sprocket_angle) * self.design.pitch_radius

    @property
    def speed(self) -> float:
        """Belt speed by the driven wheel [m/s]."""
        axle = self._parents.rotations[0, :, 1]
        turning = self._parents.angular_velocities_world[0] @ axle
        return float(self.wheels.speeds[self.design.running_gear.driven] - turning) * self.design.pitch_radius

    def read_tension(self) -> float:
        """Mean tension of joints that are straight within a degree, between shoes that nothing carries [N].

        Where there is none, nan.
        """
        reading = self.read(self._parents)
        along = self.state.rotations[:, :, 0]
        straight = np.sum(along * np.roll(along, 1, axis=0), axis=1) > math.cos(math.radians(1))
        free = (reading.ground_force == 0) & (np.roll(reading.ground_force, 1) == 0)
        return float(reading.tension[straight & free].mean()) if (straight & free).any() else math.nan

    @property
    def skipped_teeth(self) -> int:
        """Teeth that the driven wheel is ahead of the chain since this was assembled; 0 on a drum."""
        count = self.design.chain.count
        ahead = self._seat - self._first_seat
        return round(ahead - count * round(ahead / count))

    @property
    def _seat(self) -> float:
        """Index of the shoe that would be in the middle of the driven wheel's wrap if this had not turned."""
        gear, shoe = self.design.running_gear, self.design.chain.shoe
        if gear.sprocket is None:
            return 0.0
        wheel, rotation = gear.wheels[gear.driven], self._parents.rotations[0]
        bushings = self.state.positions + self.state.rotations @ np.array(shoe.bushing_position)
        x, z = ((bushings - self._parents.positions[0]) @ rotation)[:, [0, 2]].T
        middle = math.atan2(wheel.x - x.mean(), wheel.z - z.mean())
        angles = np.arctan2(x - wheel.x, z - wheel.z) - middle
        angles -= 2 * math.pi * np.round(angles / (2 * math.pi))
        far = np.hypot(x - wheel.x, z - wheel.z) > gear.sprocket.pitch_radius + shoe.pitch
        i = int(np.argmin(np.abs(angles) + 10 * far))
        tooth = 2 * math.pi / gear.sprocket.count
        return i + (float(self.wheels.angles[gear.driven]) - float(angles[i])) / tooth

    def look_for_skips(self) -> int:
        """Teeth skipped, each `_LOOK_EVERY` and where they are twice as many as told before; else 0."""
        if self.state.time < self._next_look:
            return 0
        self._next_look = self.state.time + _LOOK_EVERY
        skipped = self.skipped_teeth
        if abs(skipped) < max(1, 2 * abs(self._told_skips)):
            return 0
        self._told_skips = skipped
        return abs(skipped)

    @property
    def ground(self) -> Ground:
        """Terrain that the track stands on."""
        return self._terrain_contact.ground

    def set_ground(self, ground: Ground) -> None:
        """Let the track stand on other terrain; the memory of its contacts is cleared."""
        margin = self.design.chain.shoe.pitch
        self._terrain_contact = allocate_terrain_contact(ground, self._treads, self._shoe_contact, margin)
        self._packed = None

    def set_friction(self, friction: float) -> None:
        """Set the shoes' friction against terrain of friction 1."""
        if friction == self._shoe_contact.friction:
            return
        parameters, self._packed = self._shoe_contact._replace(friction=friction), None
        self._terrain_contact = self._terrain_contact._replace(parameters=parameters)
        self._shoe_contact = parameters  # Last, so that what was interrupted is done again.

    def set_parent_motion(self, parents: ParentFrames) -> None:
        """Set pose and velocity of the parent links."""
        for own, given in zip(self._parents, parents, strict=True):
            own[...] = given
        parent = self.design.running_gear.wheels[self.design.running_gear.driven].parent
        axle = parents.rotations[parent, :, 1]
        self.wheels.axle_rates[0] = parents.angular_velocities_world[parent] @ axle

    def follow_parents(self, parents: ParentFrames, behind: float, step: float) -> None:
        """Begin a step [s] on parent links that an engine has given, some time [s] behind them."""
        follow_frames(self._parents, parents, behind, step, _MAX_JOINT_GAP * self.design.chain.shoe.pitch)

    def assemble(self, parents: ParentFrames) -> None:
        """Assemble the shoes around the wheels, at rest in the track frame.

        The shape is that of `store_assembled_state`, or follows the design's hinges.
        """
        time, travel = self.state.time, self.travel
        self.restore(self._assembled)
        self.set_parent_motion(parents)
        self.state.time, self._earlier_travel = time, travel - self.travel
        chain, rotation = self._assembled.chain, parents.rotations[0]
        self.state.positions[:] = rounded(chain.positions @ rotation.T + parents.positions[0])
        turned = Rotation.from_matrix(rotation) * Rotation.from_quat(chain.orientations)
        self.state.orientations[:] = rounded(turned.as_quat())
        self.set_ground(self.ground)

    def set_speed(self, speed: float, parents: ParentFrames, behind: float = 0.0) -> None:
        """Let the chain run along itself, and the wheels roll in it, on parent links that only translate.

        Shoes keep their places, and wheels the slides of their tensioners.

        Args:
            speed: Forward on the ground, so that its lower side moves backwards [m/s].
            parents: Parent links of the wheels.
            behind: Time by which it lives behind them, see `chain.advance` [s].
        """
        state, wheels, gear = self.state, self.wheels, self._running_gear.wheels
        state.positions -= behind * (parents.velocities[0] - self._parents.velocities[0])
        self.set_parent_motion(parents)
        state.velocities[:] = 0.0
        for array in (state.angular_velocities_body, *wheels.sliding):
            array[:] = 0.0
        circulate(self.design.chain, state, speed)
        pose, rotations = self.read_pose(parents), state.rotations
        spins = np.einsum("nij,nj->ni", rotations, state.angular_velocities_body)
        for w, center in enumerate(pose.wheels):
            i = int(np.argmin(np.linalg.norm(state.positions - center, axis=1)))
            span = rotations[i] @ np.array(gear.rail_span)
            out = state.positions[i] + rotations[i] @ np.array(gear.rail_start) - center
            out -= out @ span / (span @ span) * span
            axle = parents.rotations[gear.parents[w], :, 1]
            out -= out @ axle * axle
            touched = state.velocities[i] + np.cross(spins[i], center + out - state.positions[i])
            wheels.speeds[w] = touched @ np.cross(axle, out) / (out @ out)
        wheels.speeds[self.design.running_gear.driven] = speed / self.design.pitch_radius
        state.velocities += parents.velocities[0]
        drift_parents(self._parents, -behind)

    def set_tension(self) -> None:
        """Set the tensioners' springs so that they exert their preloads where their wheels are now."""
        self.wheels.slide_origins[:] = self.wheels.slide_positions

    def store_assembled_state(self) -> None:
        """Store the present state, at rest in a track frame that is the world's, for `assemble`."""
        state, wheels = self.state, self.wheels
        for array in (state.velocities, state.angular_velocities_body, wheels.speeds, *wheels.sliding):
            array[:] = 0.0
        self._earlier_travel = 0.0
        self._first_seat = self._seat
        self._assembled = self.snapshot()

    def read(self, parents: ParentFrames) -> ChainReading:
        """Loads in the chain and on its shoes, given the present motion of the parent links."""
        return read_track(
            self.design, self.state, self._running_gear, self._terrain_contact, parents, self.torque
        )

    def read_pose(self, parents: ParentFrames) -> ChainPose:
        """Return the poses of shoes and wheels, given the parent links."""
        return read_pose(self.state, self._running_gear, parents)

    def snapshot(self) -> TrackSnapshot:
        """Everything that changes."""
        wheels = RunningGearState(*(array.copy() for array in self.wheels))
        contacts = self._terrain_contact.history.copy()
        parents = ParentFrames(*(array.copy() for array in self._parents))
        return TrackSnapshot(self.state.copy(), wheels, contacts, parents, self.torque, self._earlier_travel)

    def restore(self, snapshot: TrackSnapshot) -> None:
        """Go back to a snapshot that was taken on the same terrain."""
        self.state, self.torque, self._packed = snapshot.chain.copy(), snapshot.torque, None
        self._earlier_travel = snapshot.earlier_travel
        self._forget_skips()
        history = self._terrain_contact.history
        overwrite(
            (*self.wheels, *history, *self._parents),
            (*snapshot.wheels, *snapshot.contacts, *snapshot.parents),
        )

    def _forget_skips(self) -> None:
        """Tell skipped teeth anew, and look for them in the next step."""
        self._next_look, self._told_skips = -math.inf, 0

    @property
    def contact_points(self) -> NDArray[np.float64]:
        """Contact points of all shoes in the world (n k, 3) [m]."""
        points = self._treads.contact_points[self._treads.kinds]
        return (
            np.einsum("nij,nkj->nki", self.state.rotations, points) + self.state.positions[:, None]
        ).reshape(-1, 3)

    @property
    def arrays(self) -> TrackArrays:
        """Everything that kernels read and write."""
        return TrackArrays(
            shoes=self.state.arrays,
            joints=self.design.chain.joints,
            frames=self._frames,
            loads=self._loads,
            constants=self._constants,
            parents=self._parents,
            reaction=self._reaction,
            running_gear=self._running_gear,
            terrain_contact=self._terrain_contact,
            coupling=self._coupling,
            max_joint_gap=_MAX_JOINT_GAP * self.design.chain.shoe.pitch,
            max_lateral_offset=self.design.treads[0].width,
        )

    @property
    def packed(self) -> Packed:
        """The arrays, packed for kernels that read those of several tracks."""
        if self._packed is None:
            self._packed = Packed.of(self.arrays)
        return self._packed
