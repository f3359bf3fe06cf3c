"""All compliant belts of a vehicle that somebody else's engine moves: to advance, read, save and restore."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from segtrack.compliant.belt import BeltDesign, BeltMotion, check_ground, pack_belts
from segtrack.compliant.beside import CROWDED, begin_step, read_belts, run_belts
from segtrack.compliant.beside_equations import Beside
from segtrack.compliant.candidates import Candidates, Room, allocate_candidates
from segtrack.compliant.carrying_joints import CarryingJoints
from segtrack.compliant.memory import (
    SavedSections,
    allocate_belt_memory,
    copy_memory,
    forget_all,
    forget_sections,
    restore_sections,
    save_sections,
)
from segtrack.compliant.report import REPORT, ContactReport
from segtrack.ground import (
    MAX_EDGES,
    MAX_SOLIDS_PER_POINT,
    ROOT,
    CompositeBody,
    CouplingImpulses,
    Ground,
    ParentFrames,
    Reaction,
    allocate_contacts,
    allocate_equations,
    allocate_loads,
    pack_ground,
    room_for_contacts,
)
from segtrack.kernels import exponential, rounded


@dataclass(frozen=True, eq=False)
class GrouserReading:
    """Contacts of a belt with the ground at an instant; arrays are read-only, a row for each of n contacts.

    Attributes:
        points: Places in the world (n, 3) [m].
        grousers: Index of the grouser along the belt; -1 for the belt's face (n,).
        normal_force: Sum over the surfaces that a point touches (n,) [N].
        tangential_force: Friction, on the belt, in the world (n, 3) [N].
        force: Force of the ground on the belt, normal and tangential, in the world; of contacts that come
            apart in the next step the tangential one alone (n, 3) [N].
        slip_velocity: Velocity over the ground in the world (n, 3) [m/s].
        sinkage: Depth of the point in the ground, which on rigid ground is elastic (n,) [m].
        pressure: Normal force over the area that the point stands for, of its footing: the tip of its
            grouser, or the belt's face; 0 at an edge of the ground (n,) [Pa].
        footing_width: Smaller side of that face, in soil the b of p = (k_c / b + k_phi) z^n, which is
            `pressure` of `sinkage` at rest where that is `max_sinkage` (n,) [m].
        footing_length: Its larger side (n,) [m].
        bed_stiffness: Pressure over sinkage on rigid ground, which no soil's slope exceeds (n,) [N/m^3].
        max_sinkage: Greatest sinkage in soil since the point touched; below it soil unloads by Wong's
            repetitive loading (n,) [m].
        grouser_count: Number of the belt's grousers.
    """

    points: NDArray[np.float64]
    grousers: NDArray[np.intp]
    normal_force: NDArray[np.float64]
    tangential_force: NDArray[np.float64]
    force: NDArray[np.float64]
    slip_velocity: NDArray[np.float64]
    sinkage: NDArray[np.float64]
    pressure: NDArray[np.float64]
    footing_width: NDArray[np.float64]
    footing_length: NDArray[np.float64]
    bed_stiffness: NDArray[np.float64]
    max_sinkage: NDArray[np.float64]
    grouser_count: int

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    @classmethod
    def from_report(cls, report: ContactReport, belt: BeltDesign, first: int) -> GrouserReading:
        """Read the contacts of a belt, whose arrays are made read-only.

        Args:
            report: Contacts of the belt alone.
            belt: The belt.
            first: Index of the belt's first section.
        """
        own = report.parts - first
        sides = np.array([section.sides[0] for section in belt.sections])
        areas = np.array([section.areas.sum() for section in belt.sections])
        kinds = belt.kinds[own]
        return cls(
            points=report.places,
            grousers=np.where(own < belt.grouser_count, own, -1),
            normal_force=report.normal_forces,
            tangential_force=report.tangential_forces,
            force=report.forces,
            slip_velocity=report.velocities,
            sinkage=report.depths,
            pressure=report.pressures,
            footing_width=sides[kinds],
            footing_length=(areas / sides)[kinds],
            bed_stiffness=belt.law.stiffness * belt.lengths[own] / areas[kinds],
            max_sinkage=report.max_sinkages,
            grouser_count=belt.grouser_count,
        )

    @property
    def load(self) -> NDArray[np.float64]:
        """Normal force on each grouser (grouser_count,) [N]; what the belt's face carries is left out."""
        on = self.grousers >= 0
        load = np.zeros(self.grouser_count)
        np.add.at(load, self.grousers[on], self.normal_force[on])
        return load


_SOLIDS, _EDGES, _CONTACTS = 8, 16, 64
"""Room for what is near one section, and for lanes of contacts, at first."""


@dataclass(frozen=True)
class SavedBelt:
    """Everything of one belt that changes, but for what its drive is told.

    Attributes:
        motion: Travel [m], speed [m/s], drive force [N] and turning about the axle [rad/s] (4,).
        position: Position of its parent frame at the end of the last step, in the world (3,) [m].
        rotation: Rotation of that frame to the world (3, 3).
        changes: Changes of its velocity [m/s] and angular velocity [rad/s] in the last sub-step (2, 3).
        speed_change: Change of the speed in that sub-step if the drive was at its limit, else infinity [m/s].
        memory: Memory of its contacts.
    """

    motion: NDArray[np.float64]
    position: NDArray[np.float64]
    rotation: NDArray[np.float64]
    changes: NDArray[np.float64]
    speed_change: float
    memory: SavedSections


class VehicleBelts:
    """The T belts of a vehicle, on their ground.

    Attributes:
        designs: Designs of the belts.
        arrays: The belts as kernels read them.
        motion: State of the belts; what drives are told is written there.
        max_sub_step: Largest sub-step [s].
    """

    def __init__(self, designs: Sequence[BeltDesign], joints: CarryingJoints, max_sub_step: float) -> None:
        """Begin at rest, on no ground; the joints that carry belts are moved and commanded by the engine."""
        self.designs, self.max_sub_step = tuple(designs), max_sub_step
        self.arrays = rounded(pack_belts(self.designs))
        count = len(self.designs)
        self.motion = BeltMotion(**{name: np.zeros(count) for name in BeltMotion._fields})._replace(
            slack=np.zeros(1)
        )
        self.motion.frictions[:] = [design.law.friction for design in self.designs]
        # Every section has a place: there is one vehicle, and nothing to grow.
        self._sections, self._points = max(len(self.arrays.kinds), 1), self.arrays.points.shape[1]
        self._memory = allocate_belt_memory(self._sections, self._points, self._sections)
        self._work = Beside(
            ParentFrames(np.full((count, 3), math.inf), np.zeros((count, 3, 3)), *np.zeros((2, count, 3))),
            Reaction(*np.zeros((2, count, 3))),
            CouplingImpulses(*np.zeros((3, count, 3))),
            np.zeros((3, 3)),
            allocate_loads(count, count),
            allocate_equations(ROOT + count + len(joints.links)),
            joints,
            np.zeros(3),
            np.zeros(count),
            np.zeros(5, dtype=np.intp),
            np.zeros((count, 3)),
            np.zeros((count, 3)),
            np.full(count, math.inf),
            allocate_contacts(_CONTACTS),
        )
        self._candidates = self._allocate(_SOLIDS, _EDGES)
        self._report = np.zeros((0, REPORT))
        self._ground = pack_ground(())

    def set_ground(self, ground: Ground) -> None:
        """Stand on other ground; contacts are forgotten.

        Raises:
            InvalidValueError: Soil under belts whose faces stand still.
        """
        check_ground(ground, self.designs)
        self._ground = ground
        forget_all(self._memory)
        self._look_again()

    def advance(
        self,
        parents: ParentFrames,
        vehicle: CompositeBody,
        behind: float,
        duration: float,
        damping_rate: float = 0.0,
    ) -> CouplingImpulses:
        """Take all belts through a step of the engine that moves the vehicle.

        Belts live in the engine's staggered time, as chains do (`chain.advance.advance_tracks`).

        Args:
            parents: Track frames at the step's beginning.
            vehicle: All links as one rigid body.
            behind: Time by which belts are behind the parent frames [s].
            duration: Time that they take [s].
            damping_rate: Rate at which velocities decay besides [1/s].

        Returns:
            Impulses of the belts on the parent frames; overwritten by the next call.
        """
        count = max(1, math.ceil(duration / self.max_sub_step * (1 - 1e-9)))
        sub_step = duration / count
        begin_step(self.arrays, self.motion, self._work, parents, behind, duration, sub_step)
        while True:
            run_belts(
                self._ground,
                self.arrays,
                self.motion,
                self._candidates,
                self._memory,
                self._work,
                vehicle,
                self._report,
                sub_step,
                count,
                exponential(-damping_rate * sub_step),
            )
            _, outcome, solids, edges, contacts = self._work.outcome.tolist()
            if outcome != CROWDED:
                return self._work.coupling
            room = self._candidates
            self._candidates = self._allocate(
                max(2 * solids, room.solids.shape[1]), max(2 * edges, room.edges.shape[1])
            )
            if contacts > room_for_contacts(self._work.contacts):
                self._work = self._work._replace(contacts=allocate_contacts(2 * contacts))

    def place(self, belt: int) -> None:
        """Bring a belt to rest on its link, which was put elsewhere; its contacts are forgotten."""
        self.motion.speeds[belt] = self.motion.forces[belt] = self.motion.axle_rates[belt] = 0.0
        self._begin_anew(belt)
        forget_sections(self._memory, *self._span(belt))
        self._look_again()

    def set_speed(self, belt: int, speed: float) -> None:
        """Let a belt run at a speed [m/s] on its link, whose velocity was set; contacts go on."""
        self.motion.speeds[belt], self.motion.axle_rates[belt] = speed, 0.0
        self._begin_anew(belt)

    def read(self, parents: ParentFrames, belt: int) -> GrouserReading:
        """Contacts of one belt with the ground, where the parent frames are now; nothing is changed."""
        rows = np.zeros((self._sections * (self._points + 2 * MAX_EDGES), REPORT))
        room = allocate_contacts(len(rows) * MAX_SOLIDS_PER_POINT)
        work = self._work._replace(parents=parents, contacts=room)
        near = self._allocate(len(self._ground.bounds), len(self._ground.edges))
        memory = allocate_belt_memory(self._sections, self._points, self._sections)
        copy_memory(memory, self._memory)
        read_belts(self._ground, self.arrays, self.motion, near, memory, work, rows)
        design, first = self.designs[belt], int(self.arrays.section_starts[belt])
        return GrouserReading.from_report(ContactReport.of(rows).of_group(belt), design, first)

    def save(self, belt: int) -> SavedBelt:
        """Everything of one belt that changes."""
        motion = np.array([values[belt] for values in self.motion[:4]])
        position, rotation = (array[belt].copy() for array in self._work.parents[:2])
        changes = np.array([self._work.changes[belt], self._work.turns[belt]])
        speed_change = float(self._work.belt_changes[belt])
        memory = save_sections(self._memory, *self._span(belt))
        return SavedBelt(motion, position, rotation, changes, speed_change, memory)

    def restore(self, belt: int, saved: SavedBelt) -> None:
        """Go back to a saved state of one belt, on the same ground."""
        for values, value in zip(self.motion[:4], saved.motion, strict=True):
            values[belt] = value
        parents = self._work.parents
        parents.positions[belt], parents.rotations[belt] = saved.position, saved.rotation
        self._work.changes[belt], self._work.turns[belt] = saved.changes
        self._work.belt_changes[belt] = saved.speed_change
        restore_sections(self._memory, *self._span(belt), saved.memory)
        self._look_again()

    def _begin_anew(self, belt: int) -> None:
        """Take the parent frame of a belt from the engine in its next step, and forget the last sub-step."""
        self._work.parents.positions[belt] = self._work.belt_changes[belt] = math.inf
        self._work.changes[belt] = self._work.turns[belt] = 0.0

    def _span(self, belt: int) -> tuple[int, int]:
        """First section of a belt, and the one behind its last."""
        first, last = self.arrays.section_starts[belt : belt + 2].tolist()
        return first, last

    def _look_again(self) -> None:
        """Let what is near be looked for anew before the next sub-step."""
        self.motion.slack[0] = 0.0

    def _allocate(self, solids: int, edges: int) -> Candidates:
        room, segments = Room(self._sections, solids, edges, 0), len(self.arrays.segments)
        return Candidates(
            *(array[0] for array in allocate_candidates(1, room, 0, len(self.designs), segments))
        )
