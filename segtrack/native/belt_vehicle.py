"""A vehicle whose belts are one travel each: track models `compliant` and `surface`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segtrack.compliant import (
    REPORT,
    BeltDesign,
    BeltMemory,
    Candidates,
    ContactReport,
    GrouserReading,
    Room,
    allocate_belt_memory,
    check_ground,
    copy_memory,
    forget_all,
    room_of,
)
from segtrack.description import Links, VehicleDescription, belt_designs, vehicle_links
from segtrack.geometry import MassProperties, rotated, rotations_of
from segtrack.ground import MAX_EDGES, MAX_SOLIDS_PER_POINT, ContactHistory, Ground, allocate_contacts
from segtrack.kernels import Packed, Vector, cross, overwrite, rounded
from segtrack.native.joint_arrays import OFFSET, RATIO
from segtrack.native.kinematics import set_velocity
from segtrack.native.layout import outer_points, vehicle_arrays
from segtrack.native.step import advance
from segtrack.native.tree import OWN, TreeWork, VehicleState, tree_of_one
from segtrack.native.vehicle import NativeVehicle
from segtrack.native.vehicles import VehicleArrays, Vehicles


@dataclass(frozen=True, eq=False)
class BeltKind:
    """A kind of vehicle whose belts are one travel each.

    Attributes:
        description: Its description.
        links: Its links at rest.
        belts: Its belts, in the order of its tracks.
        arrays: Arrays that kernels read.
    """

    description: VehicleDescription
    links: Links
    belts: tuple[BeltDesign, ...]
    arrays: VehicleArrays

    @cached_property
    def initial_positions(self) -> NDArray[np.float64]:
        """Positions of the joints at the start, flippers at 0 (J,) [rad or m]."""
        vehicle, joints = self.description, self.arrays.tree.joints
        own = [joint.initial_position for joint in vehicle.joint_tree.joints]
        start = np.array([0.0] * len(vehicle.flippers) + own)
        following = np.flatnonzero(joints.leaders >= 0)
        ratio, offset = joints.settings[following][:, [RATIO, OFFSET]].T
        start[following] = offset + ratio * start[joints.leaders[following]]
        return start

    @cached_property
    def reflected_mass(self) -> float:
        """Mass that the drives of the body's own tracks reflect [kg]."""
        tracks = zip(self.description.mounted_tracks(), self.links.track_links, strict=True)
        return sum(track.spec.drive.reflected_mass for track, link in tracks if link == 0)

    @cached_property
    def _masses(self) -> NDArray[np.float64]:
        """Mass, centre and inertia of each link, and room for one number (L, 14), not rounded for kernels."""
        return np.array([[*_row(link), 0.0] for link in self.links.masses])

    def weigh_body(
        self,
        own: tuple[NDArray[np.float64], ...],
        state: VehicleState,
        i: int,
        mass: float | None,
        center: NDArray[np.float64] | None,
        inertia: NDArray[np.float64] | None,
    ) -> None:
        """Give the body of one of N vehicles other mass properties; what is not given is its file's.

        Its frame stays where it is and moves as before; contacts keep the stiffness of the file.

        Args:
            own: Masses, centres and inertias of N vehicles of this kind, see `TreeArrays`, and their reaches,
                see `VehicleArrays`, which are changed.
            state: States of them.
            i: Index of the vehicle.
            mass: Mass without belts [kg].
            center: Centre of mass without belts, in the body frame (3,) [m].
            inertia: About this centre, without belts (3, 3) [kg m^2]; if not given, as the mass.
        """
        body, table = self.links.body, self._masses.copy()
        weight, middle = body.mass if mass is None else mass, body.center if center is None else center
        tensor = body.inertia * (weight / body.mass) if inertia is None else inertia
        with_belts = MassProperties.of(weight, middle, tensor) + (self.links.masses[0] - body)
        moved = float(np.linalg.norm(with_belts.center - self.links.masses[0].center))
        table[0] = *_row(with_belts), self.arrays.reaches[0] + moved
        row, (masses, centers, inertias, reaches) = rounded(table)[0], own
        shift = rotated(rotations_of(state.orientation[i : i + 1]), row[None, 1:4] - centers[i, :1])[0]
        state.position[i] += shift
        state.velocity[i] += cross(tuple(state.angular_velocity[i].tolist()), tuple(shift.tolist()))
        masses[i, 0], centers[i, 0], inertias[i, 0] = row[0], row[1:4], row[4:13].reshape(3, 3)
        reaches[i] = row[13]

    @classmethod
    def of(cls, description: VehicleDescription, track_model: str) -> BeltKind:
        """Lay a vehicle out.

        Args:
            description: Vehicle to build.
            track_model: `compliant` or `surface`.
        """
        links = vehicle_links(description)
        belts = belt_designs(description, links.mass, track_model == "surface")
        return cls(description, links, belts, vehicle_arrays(description, links, belts))


def _row(mass: MassProperties) -> list[float]:
    """Mass [kg], centre [m] and inertia about it [kg m^2], thirteen numbers."""
    return [mass.mass, *mass.center.tolist(), *mass.inertia.ravel().tolist()]


_NO_REPORT = np.zeros((0, REPORT))
"""Report for steps: nothing is read."""
_FIRST = np.zeros(1, dtype=np.intp)
"""Index of the ground of a vehicle that is alone."""


def _of_its_own(arrays: VehicleArrays) -> VehicleArrays:
    """Arrays of a kind, with such as a vehicle has by itself in memory of their own."""
    tree = arrays.tree._replace(**{name: getattr(arrays.tree, name).copy() for name in OWN})
    return arrays._replace(tree=tree, reaches=arrays.reaches.copy())


def _one_of(arrays: VehicleArrays) -> VehicleArrays:
    """Arrays of N = 1 vehicles, which share the memory of one's."""
    return arrays._replace(
        tree=tree_of_one(arrays.tree), drives=arrays.drives[None], reaches=arrays.reaches[None]
    )


@dataclass(frozen=True)
class SavedBeltVehicle:
    """Everything of a vehicle that changes, with arrays of its own."""

    state: VehicleState
    history: ContactHistory
    memory: BeltMemory
    own: tuple[NDArray[np.float64], ...]


class BeltVehicle(NativeVehicle):
    """A vehicle with belts that are one travel each.

    Attributes:
        arrays: Arrays that kernels read.
        belts: Its belts, in the order of its tracks.
    """

    def __init__(
        self,
        description: VehicleDescription,
        track_model: str,
        time_step: float,
        flippers: Mapping[str, float],
    ) -> None:
        """Lay a vehicle out, its body frame at the origin.

        Args:
            description: Vehicle to build.
            track_model: `compliant` or `surface`.
            time_step: Step of the engine [s].
            flippers: Angle of every flipper [rad].
        """
        kind = BeltKind.of(description, track_model)
        self._kind, self._time_step = kind, time_step
        self.belts, self.arrays = kind.belts, _of_its_own(kind.arrays)
        tree, belts, hull, _, (reach,), tip_speed = self.arrays
        self._one = _one_of(self.arrays)
        parts, joints = (len(belts.kinds), len(belts.segments)), description.joint_tree
        super().__init__(description, track_model, tree, hull, reach, tip_speed, *parts, joints)
        self._memory = self._allocate_memory(self._candidates.near.shape[1])
        sections = self._sections * (belts.points.shape[1] + 2 * MAX_EDGES)
        self._rows = sections + len(hull.points) + 2 * self._history.edge_ids.shape[1]
        self._place_joints(flippers)

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        """Take what a copied or pickled vehicle had, with views of its own arrays."""
        super().__setstate__(attributes)
        self._one = _one_of(self.arrays)

    @property
    def mass(self) -> float:
        """Mass of all its links [kg]."""
        return sum(self.tree.masses.tolist())

    @property
    def _own(self) -> tuple[NDArray[np.float64], ...]:
        """Arrays that `set_body` changes, of N = 1 vehicles."""
        tree = self._one.tree
        return tree.masses, tree.centers, tree.inertias, self._one.reaches

    def set_body(
        self,
        mass: float,
        center_of_mass: Sequence[float] | NDArray[np.float64],
        inertia: NDArray[np.float64] | None = None,
    ) -> None:
        """Set mass, centre of mass and inertia of the body.

        Contacts keep the stiffness that follows from the file, and the body frame its pose and its motion.

        Args:
            mass: Mass without belts and flippers [kg]; it must exceed what the drives reflect, which is not
                checked.
            center_of_mass: Centre of mass without belts and flippers, in the body frame (3,) [m].
            inertia: About this centre, without belts and flippers, in the body frame's axes (3, 3) [kg m^2];
                by default the file's, in proportion to the mass.
        """
        self._kind.weigh_body(self._own, self.state, 0, mass, np.array(center_of_mass), inertia)
        self.forget_candidates()

    def scale_flippers(self, factor: float) -> None:
        """Make the flippers' motors `factor` times as strong as described, > 0."""
        self._commanded("change")
        own, file = self._one.tree.max_torques, self._kind.arrays.tree.max_torques
        own[0, : self._flippers] = factor * file[: self._flippers]

    def set_velocity(self, forward: float) -> None:
        """Let all its parts move forward along the body's x axis [m/s]."""
        self._commanded("move")
        self.place_links()
        set_velocity(self.state, self._work, forward)
        self.forget_candidates()

    def _take_steps(self, gravity: Vector, time_step: float, count: int, decay: float) -> None:
        if self._packed is None:
            changing = self.state, self._history, self._memory, self._candidates
            self._packed = self._pack(*changing, self._work, self.done, self._outcome)
        advance(self._packed, self._grounds, _NO_REPORT, 0, 1, gravity, time_step, count, decay)

    def _pack(
        self,
        state: VehicleState,
        history: ContactHistory,
        memory: BeltMemory,
        candidates: Candidates,
        work: TreeWork,
        done: NDArray[np.intp],
        outcome: NDArray[np.intp],
    ) -> Packed:
        given = self._one, _FIRST, state, history, memory, candidates, work, done, outcome
        return Packed.of(Vehicles(*given))

    def _allocate_memory(self, places: int) -> BeltMemory:
        """Memory of belts that touch nothing, with so many places."""
        return allocate_belt_memory(self._sections, self.arrays.belts.points.shape[1], places, (1,))

    def _make_room(self) -> None:
        super()._make_room()
        before, self._memory = self._memory, self._allocate_memory(self._candidates.near.shape[1])
        copy_memory(self._memory, before)

    def forget_contacts(self) -> None:
        """Forget all contacts, as of a vehicle that was put where it is."""
        super().forget_contacts()
        forget_all(self._memory)

    def check_ground(self, ground: Ground) -> None:
        """Refuse ground that the track model cannot be on.

        Raises:
            InvalidValueError: Soil under belts whose faces stand still.
        """
        check_ground(ground, self.belts)

    def _outer_points(self) -> NDArray[np.float64]:
        return outer_points(self.arrays, self.belts, self._view, self._work)

    def save(self) -> SavedBeltVehicle:
        """Return everything that changes."""
        memory = self._allocate_memory(self._memory.sections.shape[1])
        copy_memory(memory, self._memory)
        own = tuple(array.copy() for array in self._own)
        return SavedBeltVehicle(self.state.copy(), self._history.copy(), memory, own)

    def restore(self, saved: SavedBeltVehicle) -> None:
        """Go back to a saved state on the same ground."""
        overwrite((*self.state, *self._history, *self._own), (*saved.state, *saved.history, *saved.own))
        places = saved.memory.sections.shape[1]
        if places > self._memory.sections.shape[1]:
            room = room_of(self._candidates, self._work.contacts)._replace(sections=places)
            self._packed = None
            self._candidates, self._memory = self._allocate(room), self._allocate_memory(places)
        copy_memory(self._memory, saved.memory)
        self.forget_candidates()

    def read_contacts(self) -> ContactReport:
        """Contacts with the ground where the vehicle is now; nothing is changed.

        Contacts are found anew, with what they remember. Their forces are those that the last step exerted.
        """
        if self._reading is None:
            most = self._rows * MAX_SOLIDS_PER_POINT
            room = Room(self._sections, len(self._ground.bounds), len(self._ground.edges), most)
            done, outcome = np.zeros_like(self.done), np.zeros_like(self._outcome)
            changing = self.state.copy(), self._history.copy(), self._allocate_memory(self._sections)
            work = self._work._replace(contacts=allocate_contacts(most))
            self._reading = self._pack(*changing, self._allocate(room), work, done, outcome)
        copied: Any = self._reading.items[0]
        overwrite((*copied.states, *copied.histories), (*self.state, *self._history))
        copy_memory(copied.memories, self._memory)
        copied.states.slack[:] = 0.0
        rows = np.zeros((self._rows, REPORT))
        advance(self._reading, self._grounds, rows, 0, 1, (0.0, 0.0, 0.0), self._time_step, 1, 1.0)
        return ContactReport.of(rows)

    def read_grousers(self, track: int) -> GrouserReading:
        """Contacts of one track with the ground."""
        first = int(self.arrays.belts.section_starts[track])
        return GrouserReading.from_report(self.read_contacts().of_group(track), self.belts[track], first)
