"""Limits that hold a vehicle at an obstacle, from its state: drives, belt slip, contacts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.chain import ChainReading
from segtrack.engine import find_track_model, force_at
from segtrack.errors import InvalidValueError
from segtrack.geometry import rotation_of
from segtrack.robot import Joint, Robot, Track
from segtrack.terrain import Terrain

TORQUE, HULL, FRICTION, FRONT, REAR, ARM = LIMITS = (
    "torque",
    "hull",
    "friction",
    "front wheel",
    "rear wheel",
    "arm at its stop",
)
"""Limits of a vehicle, in the order in which they are named.

| limit | state |
|---|---|
| torque | a drive exerts what it can while its belt is slower than half its command, or half its top speed \
under a throttle |
| hull | the body touches the ground |
| friction | all driven belts on the body slip: slip ratio of `SLIPPING` or more |
| front wheel, rear wheel | the belt on the foremost or rearmost pulley (sprocket, idler) bears on \
something, more than `BESIDE` off the track's downward direction |
| arm at its stop | a joint without a servo, such as a road arm, is at a limit or in a buffer |
"""
AT_LIMIT = 0.98
"""Fraction of its force limit at which a drive is at it [-]."""
SLIPPING = 0.5
"""Slip ratio from which a belt slips [-]."""
BESIDE = math.radians(20.0)
"""Angle about a pulley's axle, from straight down to a contact in front of it or behind it [rad]."""
_NEAR_STOP = 1e-3
"""Distance from a joint's limit at which it is there [rad or m]."""
_SAMPLES = 25
"""Places along a hull at which its distance from the ground is taken, besides corners."""


class LimitState(NamedTuple):
    """State of a vehicle at one instant, with the limits that hold it.

    Attributes:
        found: True for each of `LIMITS` that holds the vehicle (6,).
        slip: Largest slip ratio of the driven belts [-].
        drive: Largest ratio of a drive's force along its command to the full-throttle force [-].
        clearance: Smallest distance of the hull from the ground [m].
    """

    found: tuple[bool, ...]
    slip: float
    drive: float
    clearance: float


class LimitSensor:
    """Sensor of the limits that hold a robot on a terrain."""

    def __init__(self, robot: Robot, terrain: Terrain, contact_distance: float) -> None:
        """Prepare to read a robot on a terrain.

        Args:
            robot: Robot to read.
            terrain: Ground below the robot.
            contact_distance: Clearance below which the hull counts as touching the ground [m].
        """
        self._robot, self._distance = robot, contact_distance
        self.chains: Mapping[str, ChainReading] = {}
        """Readings of the link chains when the state was read last, by track; none of other track models."""
        self._hull = HullClearance(robot, terrain)
        tracks = list(robot.tracks.values())
        driven = [track for track in tracks if track.flipper is None] or tracks
        self._driven = [(track, track.spec.drive.force_table) for track in driven]

    def read(self) -> LimitState:
        """Return the present state."""
        self.chains = read_chains(self._robot)
        torque, slips, loads = False, [], []
        for track, table in self._driven:
            belt, command = track.state, commanded_speed(track)
            ahead = math.copysign(1.0, command)
            load = ahead * belt.force / max(force_at(table, ahead * belt.speed), 1e-9)
            loads.append(load)
            torque |= load >= AT_LIMIT and ahead * belt.speed < abs(command) / 2
            slips.append(track.slip)
        clearance = self._hull.read(self._distance)
        front, rear = self._pulleys_bear()
        found = (
            torque,
            clearance <= 0.0,
            min(slips) >= SLIPPING,
            front,
            rear,
            any(map(_at_stop, self._robot.joints.values())),
        )
        return LimitState(found, max(slips), max(loads), clearance + self._distance)

    def _pulleys_bear(self) -> tuple[bool, bool]:
        """Return whether the body's belts bear load on their front and on their rear pulleys."""
        front = rear = False
        for track, points in contact_points(self._robot, self.chains):
            if track.flipper is not None or not len(points):
                continue
            parent, mount = track.parent_motion(), track.spec.mount
            axes = parent.rotation @ rotation_of(mount.rpy)
            origin = parent.position + parent.rotation @ np.array(mount.xyz)
            x, z = ((points - origin) @ axes)[:, [0, 2]].T
            (x_rear, z_rear), (x_front, z_front) = end_pulleys(track)
            front |= bool(np.any(np.arctan2(x - x_front, z_front - z) > BESIDE))
            rear |= bool(np.any(np.arctan2(x_rear - x, z_rear - z) > BESIDE))
        return front, rear


def commanded_speed(track: Track) -> float:
    """Commanded belt speed [m/s]; for a throttle, the top speed in its direction, or 0."""
    if track.pedals is None:
        return track.command
    throttle = track.pedals.throttle
    return math.copysign(track.spec.drive.top_speed, throttle) if throttle else 0.0


def end_pulleys(track: Track) -> tuple[tuple[float, float], tuple[float, float]]:
    """Centres of a track's rearmost and foremost pulley, x and z in the track frame [m].

    Of a path of explicit segments the ends of its line on the ground, raised by nothing.
    """
    pulleys = track.spec.path.pulleys
    if pulleys is not None:
        places = sorted((pulley.x, pulley.z) for pulley in pulleys)
        return places[0], places[-1]
    path = track.spec.belt_path
    start = sum(segment.length for segment in path.segments[: path.ground])
    ends = path.point(np.array([start, start + path.segments[path.ground].length]))
    (a, b), (c, d) = sorted(map(tuple, ends.tolist()))
    return (a, b), (c, d)


def read_chains(robot: Robot) -> dict[str, ChainReading]:
    """Readings of all link chains by track; empty for other track models."""
    return {name: track.read_chain() for name, track in robot.tracks.items() if track.has_chain}


def contact_points(
    robot: Robot, chains: Mapping[str, ChainReading]
) -> list[tuple[Track, NDArray[np.float64]]]:
    """Points where each belt bears load, in the world (n, 3) [m]; `chains` are link chains' readings."""
    if chains:
        return [(robot.tracks[name], read.positions[read.ground_force > 0]) for name, read in chains.items()]
    if find_track_model(robot.track_model).contacts == "grousers":
        readings = [(track, track.read_grousers()) for track in robot.tracks.values()]
        return [(track, reading.points[reading.normal_force > 0]) for track, reading in readings]
    with suppress(InvalidValueError):  # Something else than a belt touches, too.
        return [(robot.tracks[belt.track], belt.points) for belt in robot.read_belt_contacts()]
    return []


def _at_stop(joint: Joint) -> bool:
    """Return whether a joint without a servo is at a limit or on a buffer."""
    position, design = joint.position, joint.design
    if design.servo is not None:
        return False
    low, high = design.limits
    buffers = [
        side * (position - stop.position) >= 0.0
        for side, stop in zip((-1, 1), design.stops, strict=True)
        if stop is not None
    ]
    return position <= low + _NEAR_STOP or position >= high - _NEAR_STOP or any(buffers)


class HullClearance:
    """Distance of a robot's rigid body from a terrain with a height sampler."""

    def __init__(self, robot: Robot, terrain: Terrain) -> None:
        """Find the body's collision shapes; of a URDF, only on links that no joint moves."""
        self._robot, self._terrain = robot, terrain
        tree = robot.description.joint_tree
        self._shapes = [
            np.asarray(shape.frame.points(shape.corners()))
            for link, shape in robot.description.body.contact_shapes()
            if tree.carried(link).joint < 0
        ]

    def read(self, allowance: float) -> float:
        """Return the smallest height of the body above the ground [m].

        The body is larger by an allowance on all sides [m], so that an upright face is touched, too. Shapes
        are taken in their vertical section along the path, and the ground at the middle of each.
        """
        body = self._robot.body_motion()
        places = (body.position + corners @ body.rotation.T for corners in self._shapes)
        return min((self._of(corners, allowance) for corners in places), default=math.inf)

    def _of(self, corners: NDArray[np.float64], allowance: float) -> float:
        """Smallest height of a shape above the ground [m]; `allowance` widens it on all sides [m]."""
        x, z = lower_outline(corners[:, [0, 2]])
        y = float(corners[:, 1].mean())
        ends = np.array([x[0] - allowance, x[-1] + allowance])
        breaks = [b for b in self._terrain.x_breaks() if ends[0] < b < ends[1]]
        at = np.concatenate([ends, x, np.linspace(ends[0], ends[1], _SAMPLES), breaks])
        below = np.interp(at, x, z) - allowance
        return float(np.min(below - self._terrain.height_at(at, np.full(len(at), y))))


def lower_outline(points: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower boundary of the convex hull of points (n, 2) in x and z [m], by increasing x."""
    lowest: dict[float, float] = {}
    for x, z in points.tolist():
        place = round(x, 9)
        lowest[place] = min(z, lowest.get(place, math.inf))
    hull: list[tuple[float, float]] = []
    for point in sorted(lowest.items()):
        while len(hull) >= 2 and _turn(hull[-2], hull[-1], point) <= 0.0:
            hull.pop()
        hull.append(point)
    across, up = np.array(hull).T
    return across, up


def _turn(a: Sequence[float], b: Sequence[float], c: Sequence[float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
