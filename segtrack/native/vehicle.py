"""A vehicle of the native engine: what all track models have in common."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segtrack.compliant import Candidates, Room, allocate_candidates, room_of
from segtrack.description import Frame, VehicleDescription
from segtrack.description.joints import JointTree
from segtrack.engine import (
    ABSURD_SPEED,
    ActuatorState,
    BeltState,
    Bodies,
    FrameMotion,
    JointState,
    Lifetime,
    Pedals,
    VehicleModel,
    what_diverged,
)
from segtrack.errors import DivergedError
from segtrack.geometry import quaternion_of
from segtrack.ground import ROOT, Ground, allocate_contact_history, allocate_contacts, pack_ground
from segtrack.kernels import Packed, Vector
from segtrack.native.hull import HULL_PARTS, HullArrays
from segtrack.native.joint_arrays import OFFSET, RATIO
from segtrack.native.kinematics import largest_speed, move_links
from segtrack.native.step import CROWDED, NOT_FINITE, TOO_FAST
from segtrack.native.tree import (
    TreeArrays,
    VehicleState,
    allocate_state,
    allocate_tree_work,
    changes_at_rest,
)


def what_diverged_natively(
    state: VehicleState, joints: Sequence[str], belts: Sequence[str], reach: float
) -> str:
    """Say which part of a vehicle diverged, where its body is, and the likely cause.

    Args:
        state: The vehicle's state.
        joints: Names of its joints, flippers first.
        belts: Names of its belts.
        reach: Farthest of any part from the root's centre of mass [m].
    """
    pose = float(state.position.sum() + state.orientation.sum())
    speeds = {
        "its body": float(np.linalg.norm(state.velocity)) + 0.0 * pose,
        "the rotation of its body": float(reach * np.linalg.norm(state.angular_velocity)),
    }
    for name, speed, angle in zip(joints, state.joint_speeds, state.joint_angles, strict=True):
        speeds[f"joint {name}"] = reach * float(speed) + 0.0 * float(angle)
    for name, speed, travel in zip(belts, state.speeds, state.travels, strict=True):
        speeds[f"belt {name}"] = float(speed) + 0.0 * float(travel)
    return what_diverged(speeds, state.position.tolist(), state.velocity.tolist())


FIRST_ROOM = 8, 16, 64
"""Solids and edges near one part, and lanes of contacts, that there is room for, at first."""
NEAR = 0.3
"""Share of sections for which there is room near anything, at first [-]."""


class NativeVehicle(VehicleModel):
    """One vehicle, alone in its arrays.

    Attributes:
        tree: Its links as kernels read them.
        state: State of the vehicle; the first axis of each array has length 1.
        done: Steps that it has taken of those that `advance` is to take (1,).
        lifetime: Lifetime of its world, after which it is read and no longer commanded.
    """

    def __init__(
        self,
        description: VehicleDescription,
        track_model: str,
        tree: TreeArrays,
        hull: HullArrays,
        reach: float,
        tip_speed: float,
        sections: int,
        segments: int,
        joint_tree: JointTree,
    ) -> None:
        """Allocate what changes, the body frame at the origin.

        Args:
            description: Vehicle to build.
            track_model: Track model of its belts.
            tree: Its links.
            hull: Convex solids of its links.
            reach: Farthest of any part from the root's centre of mass [m].
            tip_speed: Largest speed of a belt's part over its vehicle, per belt speed [-].
            sections: Sections of all belts.
            segments: Segments of all belts' paths.
            joint_tree: Joints of the body's URDF that move.
        """
        self.description, self.track_model, self.tree = description, track_model, tree
        self._reach, self._tip_speed = reach, tip_speed
        joints, tracks = len(tree.joint_parents), len(tree.belt_links)
        self.state = allocate_state(1, joints, tracks)
        self._view = VehicleState(*(array[0] for array in self.state))
        self._hulls, self._segments, self._sections = len(hull.links), segments, sections
        self._history = allocate_contact_history(len(hull.points), self._hulls * HULL_PARTS, (1,))
        room = Room(math.ceil(NEAR * sections), *FIRST_ROOM)
        self._candidates, self._work = self._allocate(room), allocate_tree_work(tree, room.contacts)
        self.done, self._outcome = np.zeros(1, dtype=np.intp), np.zeros((1, 5), dtype=np.intp)
        self._ground: Ground = pack_ground(())
        self._grounds = Packed.of(self._ground)
        self._packed: Packed | None = None
        self._reading: Packed | None = None
        self.state.frictions[0] = [t.spec.contact.friction for t in description.mounted_tracks()]
        self._joint_tree, self.joint_designs = joint_tree, joint_tree.joints
        self._track_parents = [
            joint_tree.carried(track.spec.mount.parent).frame
            for track in description.mounted_tracks()
            if track.flipper is None
        ]
        self._flippers, self.lifetime = len(description.flippers), Lifetime()

    def __getstate__(self) -> dict[str, Any]:
        """Return everything but views, which copies of the arrays would not share memory with."""
        views = "_view", "_one", "_packed", "_reading"
        return {name: value for name, value in vars(self).items() if name not in views}

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        """Take what a copied or pickled vehicle had, with a view of its own arrays."""
        vars(self).update(attributes)
        self._view = VehicleState(*(array[0] for array in self.state))
        self._packed = self._reading = None

    def _commanded(self, what: str = "command") -> VehicleState:
        """Return its state, without the axis of vehicles, to write commands and settings to.

        Raises:
            DisconnectedError: Its world is closed.
        """
        self.lifetime.require_open(f"{what} {self.description.name}")
        return self._view

    def belt_state(self, track: int) -> BeltState:
        """A belt after the latest step."""
        state = self._view
        return BeltState(
            float(state.travels[track]),
            float(state.speeds[track]),
            float(state.forces[track]),
            float(state.energies[track]),
        )

    def belt_command(self, track: int) -> float:
        """Commanded belt speed [m/s], the last one while pedals rule."""
        return float(self._view.commands[track])

    def belt_pedals(self, track: int) -> Pedals | None:
        """Throttle and brake that rule a belt's drive; None where a commanded speed does."""
        rule, throttle, brake = self._view.pedals[track].tolist()
        return Pedals(throttle, brake) if rule == 1.0 else None

    def command_belts(self, tracks: slice, speeds: NDArray[np.float64] | Sequence[Any]) -> None:
        """Command speeds of some tracks [m/s]."""
        state = self._commanded()
        state.commands[tracks], state.pedals[tracks] = speeds, 0.0

    def command_pedals(self, tracks: slice, pedals: NDArray[np.float64] | Sequence[Any]) -> None:
        """Let throttle and brake rule the drives of some tracks."""
        rows = self._commanded().pedals[tracks]
        rows[:, 0], rows[:, 1:] = 1.0, pedals

    def set_friction(self, track: int, friction: float) -> None:
        """Set a track's friction along it; that across keeps its ratio."""
        self._commanded().frictions[track] = friction

    def scale_drive(self, track: int, factor: float) -> None:
        """Make a track's drive `factor` times as strong as described."""
        self._commanded().drive_factors[track] = factor

    def joint_state(self, joint: int) -> JointState:
        """A joint after the latest step."""
        state = self._view
        return JointState(
            float(state.joint_angles[joint]),
            float(state.joint_speeds[joint]),
            float(state.joint_torques[joint]),
        )

    def command_joint(self, joint: int, as_speed: bool, value: float) -> None:
        """Let a flipper's motor, or a servo, move a joint."""
        self._commanded().joint_commands[joint] = as_speed, value

    def _place_joints(self, angles: Mapping[str, float]) -> None:
        """Set flippers to angles [rad] by name, 0 where none is given, and other joints where they start."""
        for joint, name in enumerate(self.description.flippers):
            self.place_joint(joint, angles.get(name, 0.0))
        for joint, design in enumerate(self.joint_designs, start=self._flippers):
            if design.mimicry is None:
                self.place_joint(joint, design.initial_position)

    def place_joint(self, joint: int, position: float) -> None:
        """Set a joint to a position [rad] or [m] at once, at rest, with those that follow it."""
        state, joints = self._commanded("place a joint of"), self.tree.joints
        moved = [(joint, position)]
        for follower in np.flatnonzero(joints.leaders == joint).tolist():
            ratio, offset = joints.settings[follower, [RATIO, OFFSET]].tolist()
            moved.append((follower, offset + ratio * position))
        for j, place in moved:
            state.joint_angles[j] = state.joint_references[j] = place
            state.joint_speeds[j] = state.joint_torques[j] = state.last_changes[ROOT + j] = 0.0
            state.joint_commands[j] = 0.0, place
        state.last_changes[ROOT + len(state.joint_speeds) :] = math.inf
        self.reset_belts()

    def advance(self, gravity: Vector, time_step: float, count: int, decay: float, time: float) -> None:
        """Take steps until `done` of them have been taken, `count` in all.

        Args:
            gravity: Gravity in the world [m/s^2].
            time_step: [s]
            count: Number of steps.
            decay: Fraction of velocities that damping leaves in a step.
            time: Simulated time before them, for messages [s].

        Raises:
            DivergedError: It is no longer finite, or absurdly fast.
        """
        while True:
            self._take_steps(gravity, time_step, count, decay)
            if self._outcome[0, 0] != CROWDED:
                break
            self._make_room()
        when = time + int(self.done[0]) * time_step
        if self._outcome[0, 0] == NOT_FINITE:
            reason = f"its state is not finite: {self._what_diverged()}"
            raise DivergedError(self.description.name, when, reason)
        if self._outcome[0, 0] == TOO_FAST:
            fastest = largest_speed(self.tree, self._work, self._reach, self._tip_speed, self._view)
            reason = f"a part of it is faster than {ABSURD_SPEED:g} m/s, up to {fastest:.3g} m/s"
            raise DivergedError(self.description.name, when, f"{reason}: {self._what_diverged()}")

    def _what_diverged(self) -> str:
        """Say which part diverged, and why that may be."""
        joints = (*self.description.flippers, *(joint.name for joint in self.joint_designs))
        belts = [track.name for track in self.description.mounted_tracks()]
        return what_diverged_natively(self._view, joints, belts, self._reach)

    @property
    def solutions(self) -> int:
        """Times that the equations of its steps, or sub-steps, were solved so far."""
        return int(self._work.solutions[0])

    @abstractmethod
    def _take_steps(self, gravity: Vector, time_step: float, count: int, decay: float) -> None:
        """Take steps until `count` have been taken, or the outcome says why not; see `advance`."""

    def _allocate(self, room: Room) -> Candidates:
        """Lists of candidates, of nothing yet."""
        return allocate_candidates(1, room, self._hulls, len(self.tree.belt_links), self._segments)

    def _make_room(self) -> None:
        """Take lists of candidates that hold what is near now, and some more."""
        wanted, room = self._outcome[0, 1:].tolist(), room_of(self._candidates, self._work.contacts)
        room = room.grown(Room(*wanted), self._sections)
        self._packed, self._candidates = None, self._allocate(room)
        self._work = self._work._replace(contacts=allocate_contacts(room.contacts))
        self.forget_candidates()

    def check_ground(self, ground: Ground) -> None:
        """Refuse ground that the track model cannot be on; all can be on any unless they say so."""

    def forget_candidates(self) -> None:
        """Let what is near be looked for anew before the next step."""
        self.state.slack[:] = 0.0

    def set_ground(self, ground: Ground) -> None:
        """Stand on other ground; contacts are forgotten."""
        self._ground, self._grounds, self._reading = ground, Packed.of(ground), None
        self.forget_contacts()

    def forget_contacts(self) -> None:
        """Forget all contacts, as of a vehicle that was put where it is."""
        self._history.solid_ids[:] = -1
        self._history.edge_ids[:] = -1
        self.forget_candidates()

    def reset_belts(self) -> None:
        """Put the belts where their links are, at rest, touching nothing yet."""
        self.forget_contacts()

    def place_links(self) -> None:
        """Find where links and track frames are now."""
        move_links(self.tree, self._view, self._work)

    def track_motion(self, track: int) -> FrameMotion:
        """Pose and velocity of the link that a track is mounted on."""
        motion = self.link_motion(int(self.tree.belt_links[track]))
        if track >= len(self._track_parents):  # On a flipper, which is a link of the tree.
            return motion
        # The URDF's link may be held by one of the tree.
        parent = Frame(motion.rotation, motion.position) @ self._track_parents[track]
        return motion._replace(
            position=parent.origin, rotation=parent.rotation, orientation=quaternion_of(parent.rotation)
        )

    def link_motion(self, link: int = 0) -> FrameMotion:
        """Return pose and velocity of a link's frame; 0 is the body."""
        move_links(self.tree, self._view, self._work)
        work, rotation = self._work, self._work.rotations[link].copy()
        center = work.centers[link].copy()
        x, y, z, w = self._view.orientation.tolist()
        return FrameMotion(
            position=center - rotation @ self.tree.centers[link],
            orientation=quaternion_of(rotation) if link else (x, y, z, w),
            rotation=rotation,
            center=center,
            velocity=work.velocities[link].copy(),
            angular_velocity=work.angular_velocities[link].copy(),
        )

    def read_actuators(self) -> ActuatorState:
        """Return the state of all belts, flippers and joints in one reading."""
        state, flippers = self._view, self._flippers
        return ActuatorState(
            state.travels.copy(),
            state.speeds.copy(),
            state.forces.copy(),
            state.energies.copy(),
            state.joint_angles[:flippers].copy(),
            state.joint_speeds[:flippers].copy(),
            state.joint_torques[:flippers].copy(),
            state.joint_angles[flippers:].copy(),
            state.joint_speeds[flippers:].copy(),
            state.joint_torques[flippers:].copy(),
        )

    def link_poses(self) -> NDArray[np.float64]:
        """Frames of the links of `link_names` in the world: origin [m], quaternion (x, y, z, w), (n, 7)."""
        self.place_links()  # Once for all of them.
        rotations = self._work.rotations
        origins = self._work.centers - np.einsum("lij,lj->li", rotations, self.tree.centers)
        frames = [Frame(*pose) for pose in zip(rotations, origins, strict=True)]
        tree, first = self._joint_tree, self._flippers
        places = [tree.carried(name) for name in self.description.body.link_names]
        on_body = [frames[1 + first + p.joint if p.joint >= 0 else 0] @ p.frame for p in places]
        own = [*on_body, *frames[1 : 1 + first]]
        return np.array([[*frame.origin.tolist(), *quaternion_of(frame.rotation)] for frame in own])

    def link_frame(self, name: str) -> Frame:
        """Frame of a link of the body's URDF, or of a flipper, in the world."""
        if name in self.description.flippers:
            motion = self.link_motion(1 + list(self.description.flippers).index(name))
            return Frame(motion.rotation, motion.position)
        place = self._joint_tree.carried(name)
        motion = self.link_motion(1 + self._flippers + place.joint if place.joint >= 0 else 0)
        return Frame(motion.rotation, motion.position) @ place.frame

    body_motion = link_motion

    def bodies(self) -> Bodies:
        """All links, belts at rest on them."""
        self.place_links()
        tree, work = self.tree, self._work
        spins = np.einsum("lji,lj->li", work.rotations, work.angular_velocities)
        turning = np.einsum("li,lij,lj->", spins, tree.inertias, spins)
        belts = slice(len(tree.belt_masses))
        axles = work.belt_rotations[belts, :, 1]
        carried = np.sum(axles * work.angular_velocities[tree.belt_links[belts]], axis=1)
        speeds = self.state.speeds[0, belts]
        running = np.sum((tree.belt_masses * speeds + 2 * tree.spin_momenta * carried) * speeds)
        energy = np.sum(tree.masses * np.sum(work.velocities**2, axis=1)) + turning + running
        return Bodies(tree.masses.copy(), work.centers.copy(), work.velocities.copy(), float(energy) / 2)

    def bounds(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Smallest and largest corner (3,) of the box around body, belts and grousers, in the world [m]."""
        self.place_links()
        points = self._outer_points()
        return tuple(points.min(axis=0).tolist()), tuple(points.max(axis=0).tolist())

    @abstractmethod
    def _outer_points(self) -> NDArray[np.float64]:
        """Points (n, 3) of body, belts and grousers in the world, the links in place [m]."""

    def place(self, position: Sequence[float], orientation: Sequence[float]) -> None:
        """Set the body frame's pose in the world, at rest; joints stay as they are."""
        self._commanded("place")
        state = self.state
        state.orientation[0] = orientation
        state.velocity[:] = state.angular_velocity[:] = 0.0
        state.joint_speeds[:] = state.speeds[:] = state.references[:] = 0.0
        state.last_changes[:] = changes_at_rest(state.joint_speeds.shape[1], state.speeds.shape[1])
        state.position[:] = 0.0
        self.place_links()
        state.position[0] = position + np.sum(self._work.rotations[0] * self.tree.centers[0], axis=1)
        self.reset_belts()

    def apply_force(self, force: Sequence[float], point: Sequence[float]) -> None:
        """Apply a force [N] at a point of the world [m] in each step from now on."""
        self._commanded().push[:] = force, point

    @abstractmethod
    def save(self) -> Any:
        """Return everything that changes."""
