"""A vehicle of the native engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.stability import rounded_down
from segtrack.compliant.belt_contact import REPORT
from segtrack.compliant.candidates import Candidates, allocate_candidates
from segtrack.compliant.reading import GrouserReading
from segtrack.description import VehicleDescription
from segtrack.description.compliant_layout import belt_designs
from segtrack.description.links import vehicle_links
from segtrack.engine import FrameMotion, VehicleModel
from segtrack.errors import DivergedError, InvalidValueError, Phrase, UnknownNameError
from segtrack.geometry.rotation import quaternion_of
from segtrack.ground.history import MAX_EDGES, ContactHistory, allocate_contact_history
from segtrack.ground.pack import Ground, pack_ground
from segtrack.ground.vectors import Vector
from segtrack.native.hull import MAX_HULL_EDGES
from segtrack.native.kinematics import move_links
from segtrack.native.layout import vehicle_arrays
from segtrack.native.outline import outer_points
from segtrack.native.parts import NativeFlipper, NativeTrack
from segtrack.native.stability import longest_step
from segtrack.native.state import VehicleState, allocate_state
from segtrack.native.step import (
    ABSURD_SPEED,
    CROWDED,
    DONE,
    NOT_FINITE,
    advance,
    find_candidates,
    gather_forces,
    largest_speed,
)
from segtrack.native.tree import allocate_tree_work
from segtrack.settling import Bodies

TRACK_MODELS = ("compliant", "surface")
_SOLIDS, _EDGES = 8, 16
"""Room for what is near one part, at first."""


@dataclass(frozen=True)
class SavedVehicle:
    """Everything of a vehicle that changes, with arrays of its own."""

    state: VehicleState
    history: ContactHistory


class NativeVehicle(VehicleModel):
    """One vehicle, alone in its arrays.

    Attributes:
        arrays: What kernels read.
        state: What changes; the first axis of each array has length 1.
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
            description: What to build.
            track_model: `compliant` or `surface`.
            time_step: Of the engine [s].
            flippers: Angle of every flipper [rad].

        Raises:
            UnknownNameError: No such track model.
            InvalidValueError: The time step is too long for its contacts.
        """
        if track_model not in TRACK_MODELS:
            raise UnknownNameError("track model of the engine native", track_model, TRACK_MODELS)
        self.description, self.track_model = description, track_model
        links = vehicle_links(description)
        self._mass = sum(mass.mass for mass in links.masses)
        self.belts = belt_designs(description, self._mass, track_model == "surface")
        self.arrays = vehicle_arrays(description, links, self.belts)
        longest = longest_step(self.arrays, links, self.belts)
        if time_step > longest:
            shown = rounded_down(longest)
            expected = f"at most {shown:.3g} for the contact stiffness of {description.name}"
            raise InvalidValueError("time_step [s]", expected, time_step)
        joints, tracks = len(description.flippers), len(self.belts)
        self.state = allocate_state(1, joints, tracks)
        self._view = VehicleState(*(array[0] for array in self.state))
        belts = self.arrays.belts
        self._parts = len(belts.kinds) + 1
        points = belts.points.shape[1] * len(belts.kinds) + len(self.arrays.hull.points)
        # The hull has more edges than a section: slots of further parts.
        self._history = allocate_contact_history(points, self._parts + MAX_HULL_EDGES // MAX_EDGES, (1,))
        self._candidates = allocate_candidates(1, self._parts, tracks + 1, _SOLIDS, _EDGES)
        self._rows = points + 2 * self._history.edge_ids.shape[1]
        self._work = allocate_tree_work(joints + 1, tracks)
        self._done, self._outcome = np.zeros(1, dtype=np.intp), np.zeros(4, dtype=np.intp)
        self._ground: Ground = pack_ground(())
        self.state.frictions[0] = belts.laws[:, 0]
        self.tracks = tuple(
            NativeTrack(self, i, mounted) for i, mounted in enumerate(description.mounted_tracks())
        )
        self.flippers = tuple(
            NativeFlipper(self, i, name, spec) for i, (name, spec) in enumerate(description.flippers.items())
        )
        for flipper in self.flippers:
            flipper.place(flippers.get(flipper.name, 0.0))

    @property
    def mass(self) -> float:
        """Mass of all its links [kg]."""
        return self._mass

    def begin(self) -> None:
        """Begin to count steps anew: `advance` goes on from those that are taken."""
        self._done[0] = 0

    def advance(self, gravity: Vector, time_step: float, count: int, decay: float, time: float) -> None:
        """Take steps until `count` have been taken since `begin`.

        Args:
            gravity: In the world [m/s^2].
            time_step: [s]
            count: Of steps.
            decay: Fraction of velocities that damping leaves in a step.
            time: Simulated time before them, for messages [s].

        Raises:
            DivergedError: It is no longer finite, or absurdly fast.
        """
        while True:
            advance(
                self.arrays,
                self._ground,
                self.state,
                self._history,
                self._candidates,
                self._work,
                self._done,
                self._outcome,
                gravity,
                time_step,
                count,
                decay,
            )
            if self._outcome[0] != CROWDED:
                break
            self._make_room()
        if self._outcome[0] != DONE:
            when = time + int(self._done[0]) * time_step
            reason = "its state is not finite"
            if self._outcome[0] != NOT_FINITE:
                fastest = largest_speed(self.arrays, self._view)
                reason = f"a part of it is faster than {ABSURD_SPEED:g} m/s, up to {fastest:.3g} m/s"
            raise DivergedError(self.description.name, when, reason)

    def _make_room(self) -> None:
        """Take longer lists of candidates, twice what is near one part now."""
        solids, edges = 2 * int(self._outcome[2]), 2 * int(self._outcome[3])
        self._candidates = allocate_candidates(
            1,
            self._parts,
            len(self.belts) + 1,
            max(solids, self._candidates.solids.shape[2]),
            max(edges, self._candidates.edges.shape[2]),
        )
        self.forget_candidates()

    def check_ground(self, ground: Ground) -> None:
        """Refuse ground that the track model cannot be on.

        Raises:
            InvalidValueError: Soil under belts whose faces stand still.
        """
        if self.track_model == "surface" and len(ground.soils):
            got = Phrase("soil, which remembers where it was pressed")
            raise InvalidValueError("ground of track model 'surface'", "rigid", got)

    def forget_candidates(self) -> None:
        """Let what is near be looked for anew before the next step."""
        self.state.slack[:] = 0.0

    def set_ground(self, ground: Ground) -> None:
        """Stand on other ground; contacts are forgotten."""
        self._ground = ground
        self.forget_contacts()

    def forget_contacts(self) -> None:
        """Forget all contacts, as of a vehicle that was put where it is."""
        self._history.solid_ids[:] = -1
        self._history.edge_ids[:] = -1
        self.forget_candidates()

    def place_links(self) -> None:
        """Find where links and track frames are now."""
        move_links(self.arrays.tree, self._view, self._work)

    def link_motion(self, link: int) -> FrameMotion:
        """Pose and velocity of a link's frame; 0 is the body."""
        self.place_links()
        work, rotation = self._work, self._work.rotations[link].copy()
        center = work.centers[link].copy()
        return FrameMotion(
            position=center - rotation @ self.arrays.tree.centers[link],
            orientation=quaternion_of(rotation) if link else self._orientation,
            rotation=rotation,
            center=center,
            velocity=work.velocities[link].copy(),
            angular_velocity=work.angular_velocities[link].copy(),
        )

    @property
    def _orientation(self) -> tuple[float, float, float, float]:
        x, y, z, w = self.state.orientation[0].tolist()
        return x, y, z, w

    def body_motion(self) -> FrameMotion:
        """Pose and velocity of the body frame."""
        return self.link_motion(0)

    def bodies(self) -> Bodies:
        """All links, belts at rest on them."""
        self.place_links()
        tree, work = self.arrays.tree, self._work
        spins = np.einsum("lji,lj->li", work.rotations, work.angular_velocities)
        turning = np.einsum("li,lij,lj->", spins, tree.inertias, spins)
        axles = work.belt_rotations[:, :, 1]
        carried = np.sum(axles * work.angular_velocities[tree.belt_links], axis=1)
        speeds = self.state.speeds[0]
        running = np.sum((tree.belt_masses * speeds + 2 * tree.spin_momenta * carried) * speeds)
        energy = np.sum(tree.masses * np.sum(work.velocities**2, axis=1)) + turning + running
        return Bodies(tree.masses, work.centers.copy(), work.velocities.copy(), float(energy) / 2)

    def bounds(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Smallest and largest corner (3,) of the box around body, belts and grousers, in the world [m]."""
        self.place_links()
        points = outer_points(self.arrays, self.belts, self._view, self._work)
        return tuple(points.min(axis=0).tolist()), tuple(points.max(axis=0).tolist())

    def place(self, position: Sequence[float], orientation: Sequence[float]) -> None:
        """Set the body frame's pose in the world, at rest; joints stay as they are."""
        state = self.state
        state.orientation[0] = orientation
        state.velocity[:] = state.angular_velocity[:] = 0.0
        state.joint_speeds[:] = state.speeds[:] = 0.0
        state.position[:] = 0.0
        self.place_links()
        state.position[0] = position + self._work.rotations[0] @ self.arrays.tree.centers[0]
        self.forget_contacts()

    def apply_force(self, force: Sequence[float], point: Sequence[float]) -> None:
        """Apply a force [N] at a point of the world [m] in each step from now on."""
        self.state.push[0] = force, point

    def save(self) -> SavedVehicle:
        """Return everything that changes."""
        return SavedVehicle(self.state.copy(), self._history.copy())

    def restore(self, saved: SavedVehicle) -> None:
        """Go back to a saved state on the same ground."""
        for mine, values in zip((*self.state, *self._history), (*saved.state, *saved.history), strict=True):
            mine[...] = values
        self.forget_candidates()

    def read_contacts(self) -> NDArray[np.float64]:
        """Contacts with the ground where the vehicle is now (n, `REPORT`); nothing is changed.

        Contacts are found anew, with what they remember, and not sheared: a step of no duration.
        """
        report = np.zeros((self._rows, REPORT))
        memory = ContactHistory(*(array[0].copy() for array in self._history))
        room = len(self._ground.bounds), len(self._ground.edges)
        near = Candidates(
            *(array[0] for array in allocate_candidates(1, self._parts, len(self.belts) + 1, *room))
        )
        self.place_links()
        find_candidates(self.arrays, self._ground, self._view, memory, near, self._work)
        gather_forces(self.arrays, self._ground, self._view, memory, near, self._work, report, 0.0)
        return report[report[:, 3] > 0]

    def read_grousers(self, track: int) -> GrouserReading:
        """Contacts of one track with the ground."""
        rows = self.read_contacts()
        first = int(self.arrays.belts.section_starts[track])
        return GrouserReading.from_report(rows[rows[:, 12] == track], self.belts[track], first)
