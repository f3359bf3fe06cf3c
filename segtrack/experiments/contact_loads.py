"""Contact loads of a vehicle: read during a ride in steady motion, and as a share of its weight at rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from segtrack.description import VehicleDescription, without_warning_of_low_shapes
from segtrack.engine import FrameMotion, find_track_model
from segtrack.errors import InvalidValueError, Phrase
from segtrack.geometry import GRAVITY, PlanarContacts, rotation_of
from segtrack.robot import Robot, Track
from segtrack.terrain import Plane
from segtrack.world import World


@dataclass(frozen=True, eq=False)
class ContactLoads:
    """Contact points of a vehicle's tracks, in its body frame.

    Attributes:
        points: Positions (n, 3) [m].
        normal_forces: Normal forces of the ground (n,) [N].
        directions: Unit forward direction of each point's track, in the ground plane (n, 3).
        belt_speeds: Speed of each point's face backwards along its direction, relative to the vehicle
            (n,) [m/s]. The tip of a grouser on an arc is faster than the belt.
        friction: Coefficients along and across the track (n, 2) [-].
    """

    points: NDArray[np.float64]
    normal_forces: NDArray[np.float64]
    directions: NDArray[np.float64]
    belt_speeds: NDArray[np.float64]
    friction: NDArray[np.float64]

    @classmethod
    def joined(cls, parts: Sequence[ContactLoads], share: float = 1.0) -> ContactLoads:
        """Concatenate contacts with loads scaled by `share`; 1 / m gives the mean over m instants."""
        columns = (np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(cls))
        joined = cls(*columns)
        return replace(joined, normal_forces=joined.normal_forces * share)

    def planar(self, reference: ArrayLike) -> PlanarContacts:
        """Project the contacts onto the body's x-y plane, about a reference point (2,) [m]."""
        directions = self.directions[:, :2]
        return PlanarContacts(
            points=self.points[:, :2] - np.asarray(reference),
            loads=self.normal_forces,
            friction=self.friction,
            directions=directions / np.linalg.norm(directions, axis=1, keepdims=True),
            belt_speeds=self.belt_speeds,
        )


def contact_loads(robot: Robot) -> ContactLoads:
    """Read the contact loads of a robot on flat ground, after the latest step.

    Raises:
        InvalidValueError: Nothing touches the ground, or something else than a track does.
        DisconnectedError: The PyBullet client is gone.
    """
    match find_track_model(robot.track_model).contacts:
        case "shoes":
            touches = [_of_shoes(track) for track in robot.tracks.values()]
        case "grousers":
            readings = [(track, track.read_grousers()) for track in robot.tracks.values()]
            touches = [_Touch(t, r.points, r.normal_force, r.slip_velocity) for t, r in readings]
        case "links":
            touches = [
                _Touch(robot.tracks[belt.track], belt.points, belt.normal_forces, belt.velocities)
                for belt in robot.read_belt_contacts()
            ]
    if not any(len(touch.points) for touch in touches):
        raise InvalidValueError(f"contacts of {robot.name}", "at least one", Phrase("none"))
    body = robot.body_motion()
    return ContactLoads.joined([_in_body(body, touch) for touch in touches])


@dataclass(frozen=True, eq=False)
class _Touch:
    """Contacts of a track: points (n, 3) [m], normal forces (n,) [N], velocities of its face (n, 3) [m/s]."""

    track: Track
    points: NDArray[np.float64]
    normal_forces: NDArray[np.float64]
    velocities: NDArray[np.float64]


def _of_shoes(track: Track) -> _Touch:
    """Contacts of a link chain, with half of each shoe's load at either lateral edge of its face.

    A shoe that turns with its vehicle moves the more forward the farther an edge is to one side: its
    reading's slip velocity is that of the middle.
    """
    design, reading = track.chain_design, track.read_chain()
    down = reading.ground_force > 0
    axes = Rotation.from_quat(reading.orientations).as_matrix()[down]
    half = np.array([tread.width / 2 for tread in design.treads])[design.kinds][down]
    aside, middles = half[:, None] * axes[:, :, 1], reading.positions[down]
    velocities = np.einsum("nij,nj->ni", axes[:, :, :2], reading.slip_velocity[down])
    turning = np.cross(reading.angular_velocities[down], aside)
    return _Touch(
        track,
        np.concatenate([middles + aside, middles - aside]),
        np.tile(reading.ground_force[down] / 2, 2),
        np.concatenate([velocities + turning, velocities - turning]),
    )


def _in_body(body: FrameMotion, touch: _Touch) -> ContactLoads:
    """Transform contacts to the body frame; the face's velocity becomes relative to the vehicle."""
    spec, parent, n = touch.track.spec, touch.track.parent_motion(), len(touch.points)
    axle = parent.rotation @ rotation_of(spec.mount.rpy)[:, 1]
    forward = np.cross(axle, body.rotation[:, 2])
    forward /= np.linalg.norm(forward)
    along = spec.contact.friction
    return ContactLoads(
        points=(touch.points - body.position) @ body.rotation,
        normal_forces=touch.normal_forces,
        directions=np.tile(forward @ body.rotation, (n, 1)),
        belt_speeds=(parent.velocities_at(touch.points) - touch.velocities) @ forward,
        friction=np.tile([along, along * spec.contact.lateral_ratio], (n, 1)),
    )


SAMPLE = 0.02
"""Time between two readings, about [s]."""


@dataclass(frozen=True, eq=False)
class Ride:
    """Motion and contact loads of a robot over n intervals of time.

    Attributes:
        time: Times at which intervals begin, and the end of the last one (n + 1,) [s].
        positions: Positions of the body frame in the world at these times (n + 1, 3) [m].
        rotations: Rotations from the body frame to the world at these times (n + 1, 3, 3).
        loads: Contact loads at the end of each interval (n,).
        real_time_factor: Simulated over elapsed time, without the time of reading [-].
    """

    time: NDArray[np.float64]
    positions: NDArray[np.float64]
    rotations: NDArray[np.float64]
    loads: tuple[ContactLoads, ...]
    real_time_factor: float

    def twists(self, point: ArrayLike) -> NDArray[np.float64]:
        """Velocity of a body point along the body's x and y [m/s], and yaw rate about its z [rad/s], (n, 3).

        Args:
            point: Point, in the body frame (3,) [m].

        Returns:
            For each interval (n, 3) [m/s, m/s, rad/s].
        """
        times = np.diff(self.time)
        paths = np.diff(self.positions + self.rotations @ np.asarray(point), axis=0)
        axes = (self.rotations[1:] + self.rotations[:-1]) / 2
        velocities = np.einsum("nij,ni->nj", axes, paths) / times[:, None]
        turned = np.swapaxes(self.rotations[:-1], 1, 2) @ self.rotations[1:]
        rates = Rotation.from_matrix(turned).as_rotvec()[:, 2] / times
        return np.column_stack([velocities[:, :2], rates])

    def windows(self, size: int) -> list[tuple[NDArray[np.float64], ContactLoads]]:
        """Mean loads over windows of `size` intervals, with the body's axes (3, 3) at mid-window."""
        found = []
        for begin in range(0, len(self.loads), size):
            loads = self.loads[begin : begin + size]
            middle = self.rotations[begin + 1 + len(loads) // 2 - (len(loads) > 1)]
            found.append((middle, ContactLoads.joined(loads, 1 / len(loads))))
        return found


def watch(world: World, robot: Robot, seconds: float) -> Ride:
    """Simulate a world for a time, and read a robot on flat ground every `SAMPLE` and at the end.

    Args:
        world: World of the robot.
        robot: Robot to read.
        seconds: Duration [s].

    Raises:
        InvalidValueError: Nothing touches the ground at a reading, or something else than tracks does.
    """
    count = max(1, round(seconds / SAMPLE))
    steps = np.round(np.linspace(0, seconds, count + 1) / world.time_step)
    times, states, loads, elapsed = [world.time], [robot.state], list[ContactLoads](), 0.0
    for interval in np.diff(steps) * world.time_step:
        world.run(interval)
        elapsed += interval / world.real_time_factor
        times.append(world.time)
        states.append(robot.state)
        loads.append(contact_loads(robot))
    return Ride(
        time=np.array(times),
        positions=np.array([state.position for state in states]),
        rotations=Rotation.from_quat([state.orientation for state in states]).as_matrix(),
        loads=tuple(loads),
        real_time_factor=float((times[-1] - times[0]) / elapsed),
    )


_SETTLING, _READ = 0.9, 0.1
"""Time before the loads are read, and time over which their mean is taken [s]."""


def belt_share(vehicle: VehicleDescription) -> float:
    """Measure the fraction of a vehicle's weight on its belts at rest on flat ground [-], flippers at 0.

    The native engine lets it settle for a second. The rest is on other shapes of its body.

    Raises:
        SegtrackError: The native engine cannot build it, or it diverges.
    """
    shares = []
    with without_warning_of_low_shapes(), World(engine="native") as world:
        world.add_terrain(Plane())
        robot = world.add_vehicle(vehicle, track_model="compliant")
        world.run(_SETTLING)
        until = world.time + _READ
        while world.time < until:
            world.step()
            loads = [np.sum(track.read_grousers().load) for track in robot.tracks.values()]
            shares.append(float(np.sum(loads)) / (robot.mass * GRAVITY))
    return float(np.mean(shares))
