"""Belts that are one travel along a path, whose grousers touch the ground by themselves.

Such a belt is no part of PyBullet's world, but for its mass, which is in the link that carries it: it goes
through sub-steps of its own before each of PyBullet's steps (`parent_links`, `segtrack.compliant.beside`). It
touches the terrain as it is described; the vehicle's body touches it as PyBullet has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pybullet
from numpy.typing import NDArray

from segtrack.bullet.belts.parent_links import ParentLinks, allocate_frames, next_step
from segtrack.bullet.model import (
    Belt,
    BeltGroup,
    BeltReading,
    Motor,
    Push,
    TrackBuilder,
    TrackJoints,
    no_links,
)
from segtrack.compliant import (
    NONE,
    CarryingJoints,
    GrouserReading,
    SavedBelt,
    VehicleBelts,
    allocate_joints,
    place_joints,
)
from segtrack.description import belt_designs, vehicle_links
from segtrack.errors import DivergedError
from segtrack.ground import (
    FrameMounts,
    LinkMasses,
    ParentFrames,
    add_mean_wrenches,
    pack_ground,
    place_frames,
)
from segtrack.terrain import Terrain

_MOVING = pybullet.JOINT_REVOLUTE, pybullet.JOINT_PRISMATIC


class BeltCarriers:
    """Joints between the root of a vehicle and the links that carry its belts.

    Attributes:
        joints: The joints as kernels read them.
    """

    joints: CarryingJoints

    def __init__(self, client: int, body: int, parent_links: Sequence[int]) -> None:
        """Find the joints before the links (indices of PyBullet's, -1 is the root) that carry belts."""
        self._client, self._body = client, body
        count = pybullet.getNumJoints(body, physicsClientId=client)
        info = [pybullet.getJointInfo(body, j, physicsClientId=client) for j in range(count)]
        self._indices = sorted({j for link in parent_links for j in _before(info, link)})
        self._motors: list[Motor | None] = [None] * len(self._indices)
        joints = allocate_joints(len(self._indices), len(parent_links), 1 + count)
        places = {link: j for j, link in enumerate(self._indices)}
        for j, link in enumerate(self._indices):
            dynamics = pybullet.getDynamicsInfo(body, link, physicsClientId=client)
            joints.links[j] = 1 + link
            joints.slides[j] = info[link][2] == pybullet.JOINT_PRISMATIC
            joints.own_origins[j], _ = pybullet.invertTransform(dynamics[3], dynamics[4])
            joints.own_axes[j] = info[link][13]
            joints.parents[j] = places.get(next(iter(_before(info, info[link][16])), NONE), NONE)
            low, high = info[link][8:10]
            joints.limits[j] = (low, high) if low <= high else (-np.inf, np.inf)
            joints.carried[j] = [link in _before(info, other) for other in range(-1, count)]
        for t, link in enumerate(parent_links):
            joints.belt_joints[t] = places.get(next(iter(_before(info, link)), NONE), NONE)
        self.joints = joints

    def connect(self, motors: Mapping[int, Motor]) -> None:
        """Take the motors of the vehicle's joints, by PyBullet's index; a joint without one is locked."""
        self._motors = [motors.get(joint) for joint in self._indices]

    def read(self, motions: NDArray[np.float64], masses: LinkMasses, step: float) -> None:
        """Take over the joints as they are now, and what their motors will do in the next step [s].

        Args:
            motions: Motions of the vehicle's links (L, `LINK_STATE`).
            masses: Their masses.
            step: Duration of the step [s].
        """
        if not self._indices:
            return
        joints = self.joints
        place_joints(motions, masses, joints)
        states = pybullet.getJointStates(self._body, self._indices, physicsClientId=self._client)
        for j, (motor, (position, speed, *_)) in enumerate(zip(self._motors, states, strict=True)):
            joints.positions[j], joints.speeds[j] = position, speed
            aim, force, load = (speed, np.inf, 0.0) if motor is None else motor(position, step)
            joints.aims[j], joints.largest_forces[j], joints.loads[j] = aim, force, load


def _before(info: Sequence[tuple], link: int) -> list[int]:
    """Indices of the joints that move between a link and the root, the nearest to the link first."""
    found = []
    while link >= 0:
        if info[link][2] in _MOVING:
            found.append(link)
        link = info[link][16]
    return found


MAX_TIME_STEP = 0.01
"""Largest engine time step with compliant belts [s]."""
MAX_SUB_STEP = 0.001
"""Largest step of the belts [s]; that of the native engine's preset `exact`."""


def compliant_builder(name: str) -> TrackBuilder:
    """Return the builder of the track models `compliant` and `surface`."""
    return TrackBuilder(no_links, CompliantBelt, partial(CompliantBeltGroup, smooth=name == "surface"))


class CompliantBelt(Belt):
    """One of the belts of a group."""

    _group: CompliantBeltGroup
    _index: int

    def __init__(self, client: int, track: TrackJoints) -> None:
        """Take a loaded track; what moves is made with the belts of the whole vehicle."""
        self.track_joints = track

    def join(self, group: CompliantBeltGroup, index: int) -> None:
        """Be the belt with an index in a group."""
        self._group, self._index = group, index

    @property
    def segment_phases(self) -> list[float]:
        """The travel [m]: the belt has no segments."""
        return [float(self._group.belts.motion.travels[self._index])]

    @property
    def points(self) -> NDArray[np.float64]:
        """Contact points in the world (n, 3) [m]."""
        group, frames = self._group, self._group.read_frames()
        points = group.belts.designs[self._index].points(self.segment_phases[0])
        return np.asarray(points @ frames.rotations[self._index].T + frames.positions[self._index])

    def read_grousers(self) -> GrouserReading:
        """Contacts with the ground now."""
        return self._group.belts.read(self._group.read_frames(), self._index)

    def set_motor_command(self, speed: float, limit: float) -> None:
        """Command the drive: a target speed of the belt [m/s] and a force limit [N]."""
        motion = self._group.belts.motion
        motion.targets[self._index], motion.limits[self._index] = speed, limit

    def roll_back(self, phase: float) -> float:
        """Return the phase unchanged: a belt that rides its path is never set back."""
        return phase

    def set_speed(self, speed: float) -> None:
        """Let the belt run at a speed [m/s]."""
        self._group.belts.set_speed(self._index, speed)

    def reset_to_mount(self) -> None:
        """Bring the belt to rest on its link; its contacts are forgotten."""
        self._group.put_elsewhere(self._index)

    def set_friction(self, friction: float) -> None:
        """Set the track's friction along it against terrain of friction 1; that across keeps its ratio."""
        self._group.belts.motion.frictions[self._index] = friction

    def snapshot(self) -> SavedBelt:
        """Travel, speed and contacts."""
        return self._group.belts.save(self._index)

    def restore(self, snapshot: SavedBelt) -> None:
        """Go back to a snapshot, with the vehicle where it was."""
        self._group.belts.restore(self._index, snapshot)


class CompliantBeltGroup(BeltGroup):
    """All the compliant belts of a vehicle.

    Attributes:
        belts: Belts with their state.
    """

    belts: VehicleBelts

    def __init__(self, client: int, body: int, belts: tuple[CompliantBelt, ...], smooth: bool) -> None:
        """Lay the belts out on their links.

        Args:
            client: PyBullet's id of the client.
            body: PyBullet's id of the vehicle.
            belts: Belts of its tracks.
            smooth: Leave grousers out, and let the belts' faces move in their speed alone: `surface`.
        """
        self._client = client
        self._links = ParentLinks(client, body)
        self._carriers = BeltCarriers(client, body, [b.track_joints.parent_link for b in belts])
        mounts = [self._links.mount((b.track_joints.parent_link,), b.spec.mount) for b in belts]
        self._mounts = FrameMounts(*(np.concatenate([m[i] for m in mounts]) for i in range(3)))
        self._frames = allocate_frames(len(belts))
        self._wrenches = np.zeros((len(self._links.masses.masses), 6))
        vehicle = belts[0].track_joints.vehicle
        self._name = vehicle.name
        designs = belt_designs(vehicle, vehicle_links(vehicle).mass, smooth)
        self.belts = VehicleBelts(designs, self._carriers.joints, MAX_SUB_STEP)
        for i, belt in enumerate(belts):
            belt.join(self, i)
        self._time = 0.0

    def read(self) -> list[BeltReading]:
        """Read the state of all belts, in track order."""
        travels, speeds, forces, *_ = self.belts.motion
        return list(map(BeltReading, travels.tolist(), speeds.tolist(), forces.tolist()))

    def read_frames(self) -> ParentFrames:
        """The track frames, now."""
        place_frames(self._links.read(), self._mounts, self._frames)
        return self._frames

    def advance(self, damping_rate: float, push: Push | None) -> None:
        """Take all belts through the time of PyBullet's next step, and apply what they do to the vehicle."""
        duration, gravity = next_step(self._client, MAX_TIME_STEP, f"compliant belts of {self._name}")
        motions, wrenches = self._links.read(), self._wrenches
        place_frames(motions, self._mounts, self._frames)
        vehicle, behind = self._links.compose(motions, gravity), self._links.behind
        self._links.feel(motions, vehicle, duration, damping_rate, push)
        self._carriers.read(motions, self._links.masses, duration)
        span = behind + duration / 2
        coupling = self.belts.advance(self._frames, vehicle, behind, span, damping_rate)
        wrenches[:] = 0.0
        add_mean_wrenches(motions, self._mounts, coupling, span, wrenches)
        self._time += duration if damping_rate == 0 else 0.0
        if not np.isfinite(wrenches).all():
            raise DivergedError(self._name, self._time, "its state is not finite")
        self._links.apply(motions, vehicle, wrenches, span, duration)

    def snapshot(self) -> Any:
        """Memory of what has acted on the vehicle from outside."""
        return self._links.snapshot()

    def restore(self, snapshot: Any) -> None:
        """Go back to a snapshot, with the vehicle where it was."""
        self._links.restore(snapshot)

    def connect(self, motors: Mapping[int, Motor]) -> None:
        """Take the motors of joints, of which some carry belts."""
        self._carriers.connect(motors)

    def put_elsewhere(self, belt: int) -> None:
        """Bring a belt to rest on its link; its contacts, and what acted on the vehicle, are forgotten."""
        self.belts.place(belt)
        self._links.forget()

    def update_terrain(self, terrains: Sequence[Terrain]) -> None:
        """Let the belts stand on these terrains."""
        self._links.weigh()
        self.belts.set_ground(pack_ground(terrains))
