"""A vehicle in a running simulation: commands in, state out, and one call before each step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pybullet

from segtrack.bullet.chain_view import ChainView
from segtrack.bullet.engine import client_id, needing
from segtrack.bullet.frames import link_motion, place_base, vector
from segtrack.bullet.loader import load
from segtrack.bullet.model import BeltReading
from segtrack.description import VehicleDescription, load_vehicle
from segtrack.errors import InvalidValueError, UnknownNameError, finite, finite_vector
from segtrack.robot.flipper import FlipperJoint
from segtrack.robot.track import Track
from segtrack.terrain import Terrain

_FAR = 1e3
"""Distance at which bodies touch nothing [m]."""

_MOVING = (pybullet.JOINT_REVOLUTE, pybullet.JOINT_PRISMATIC)

_ANGLE = "angle of flipper {} [rad]"


@dataclass(frozen=True)
class RobotState:
    """Where a robot is and how it moves.

    Attributes:
        position: Of the body frame in the world (3,) [m].
        orientation: Of the body frame in the world, quaternion (x, y, z, w).
        velocity: Of the body's centre of mass in the world (3,) [m/s].
        angular_velocity: Of the body in the world (3,) [rad/s].
        roll: About the body's x axis [rad].
        pitch: Of the body's x axis above the horizontal, nose up positive [rad].
        yaw: About the world's z axis [rad].
    """

    position: tuple[float, float, float]
    orientation: tuple[float, float, float, float]
    velocity: tuple[float, float, float]
    angular_velocity: tuple[float, float, float]
    roll: float
    pitch: float
    yaw: float


class Robot:
    """A vehicle that has been added to a simulation.

    Attributes:
        description: What it was built from.
        body: PyBullet's number of its multibody.
        links: PyBullet's link number by link name; the root is -1.
        tracks: Its tracks by full name.
        flippers: Its flippers by name.
    """

    def __init__(
        self,
        client: int,
        description: VehicleDescription,
        track_model: str,
        position: Sequence[float],
        orientation: Sequence[float],
        flipper_angles: Mapping[str, float],
    ) -> None:
        """Build the vehicle; users call `attach` or `World.add_vehicle`."""
        self._client = client
        built = load(client, description, track_model, position, orientation)
        self.description, self.body, self.links = description, built.body, built.links
        self.tracks = {track.name: Track(client, track) for track in built.tracks}
        self._bodies = (self.body, *(body for track in built.tracks for body in track.bodies))
        self._tracks = tuple(self.tracks.values())
        self.flippers = {
            f.name: FlipperJoint(client, self.body, f, self._carried(f.name)) for f in built.flippers
        }
        self._belts = built.belts
        self._restored: list[BeltReading] | None = None
        for name, flipper in self.flippers.items():
            flipper.place(flipper_angles.get(name, 0.0))
        for track in self.tracks.values():
            track.seat()
        self._view = ChainView(client, built.tracks)

    @property
    def client_number(self) -> int:
        """PyBullet's number of its client."""
        return self._client

    @property
    def name(self) -> str:
        """Name of the vehicle."""
        return self.description.name

    @property
    def mass(self) -> float:
        """Of all its links [kg]."""
        with needing(self._client, f"weigh {self.name}"):
            infos = [pybullet.getDynamicsInfo(*n, physicsClientId=self._client) for n in self.all_links()]
        return float(
            sum(info[0] for info in infos) + sum(track.belt.shoes.masses.sum() for track in self._tracks)
        )

    @property
    def state(self) -> RobotState:
        """Where it is and how it moves, now."""
        body = link_motion(self._client, self.body, -1)
        rotation = body.rotation
        return RobotState(
            position=vector(body.position),
            orientation=body.orientation,
            velocity=vector(body.velocity),
            angular_velocity=vector(body.angular_velocity),
            roll=math.atan2(rotation[2, 1], rotation[2, 2]),
            pitch=math.asin(min(max(rotation[2, 0], -1.0), 1.0)),
            yaw=math.atan2(rotation[1, 0], rotation[0, 0]),
        )

    @property
    def energy(self) -> float:
        """Work that all belt drives have done [J]."""
        return sum(track.energy for track in self.tracks.values())

    def set_belt_speed(self, left: float, right: float) -> None:
        """Command the belts of each side, flippers' included; a belt in the middle gets the mean [m/s].

        Faster commands than a drive's top speed are clipped to it.

        Raises:
            InvalidValueError: A command is not a finite number.
        """
        speeds = {
            "left": finite("left belt speed [m/s]", left),
            "right": finite("right belt speed [m/s]", right),
        }
        speeds["center"] = (speeds["left"] + speeds["right"]) / 2
        for track in self.tracks.values():
            track.set_speed(speeds[track.side])

    def drive(self, linear: float, angular: float) -> None:
        """Command a twist as if no belt slipped sideways.

        Args:
            linear: Forward [m/s].
            angular: About the body's z axis, left positive [rad/s].

        Raises:
            InvalidValueError: A command is not a finite number.
        """
        linear, angular = finite("linear speed [m/s]", linear), finite("angular speed [rad/s]", angular)
        self.set_belt_speed(linear - angular * self._gauge("left"), linear - angular * self._gauge("right"))

    def set_flippers(self, **angles: float) -> None:
        """Move flippers to angles [rad], by name; tips raised positive, clipped to their limits.

        Raises:
            UnknownNameError: There is no such flipper.
            InvalidValueError: An angle is not a finite number.
        """
        chosen = [(self._flipper(name), finite(_ANGLE.format(name), angle)) for name, angle in angles.items()]
        for flipper, angle in chosen:
            flipper.set_angle(angle)

    def set_flipper_speeds(self, **speeds: float) -> None:
        """Turn flippers at speeds [rad/s], by name; raising positive, clipped to their fastest.

        Raises:
            UnknownNameError: There is no such flipper.
            InvalidValueError: A speed is not a finite number.
        """
        what = "speed of flipper {} [rad/s]"
        chosen = [(self._flipper(name), finite(what.format(name), speed)) for name, speed in speeds.items()]
        for flipper, speed in chosen:
            flipper.set_speed(speed)

    def before_step(self, drainage: float = 0.0) -> None:
        """Read the belts, roll back those that are due, and tell the drives. Call once before each step.

        Args:
            drainage: Rate at which the speed of a chain's shoes and wheels decays besides, while a
                robot is brought to rest [1/s].

        Raises:
            DisconnectedError: The client is gone.
        """
        # Called each step: a plain `try` is a microsecond cheaper than `needing`.
        try:
            readings = self._restored if self._restored is not None else self._belts.read()
            self._restored = None
            for track, reading in zip(self._tracks, readings, strict=True):
                track.account(reading)
            self._belts.advance(drainage)
        except pybullet.error:
            client_id(self._client, f"step {self.name}")
            raise
        self._view.refresh()

    def shown(self) -> AbstractContextManager[None]:
        """Let what is no body of PyBullet's, shoes of link chains, be seen while a picture is taken."""
        return self._view.shown()

    @property
    def base_velocity(self) -> tuple[float, ...]:
        """Velocity of the body's centre of mass, then those of belts' own bodies (3 n,) [m/s]."""
        with needing(self._client, f"watch {self.name}"):
            moving = [pybullet.getBaseVelocity(b, physicsClientId=self._client)[0] for b in self._bodies]
        return tuple(v for velocity in moving for v in velocity)

    def bounds(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Smallest and largest corner of the box around all its links, in the world [m]."""
        with needing(self._client, f"measure {self.name}"):
            boxes = [pybullet.getAABB(*link, physicsClientId=self._client) for link in self.all_links()]
        boxes += [(point, point) for track in self._tracks for point in track.belt.points.tolist()]
        lows, highs = zip(*boxes, strict=True)
        return tuple(map(min, zip(*lows, strict=True))), tuple(map(max, zip(*highs, strict=True)))

    def place(self, position: Sequence[float], orientation: Sequence[float] = (0.0, 0.0, 0.0, 1.0)) -> None:
        """Put the body frame at a pose in the world, at rest; joints stay as they are.

        Args:
            position: (3,) [m].
            orientation: Quaternion (x, y, z, w).

        Raises:
            InvalidValueError: Not so many finite numbers, or a quaternion of zeros.
        """
        pose = _pose(position, orientation)
        with needing(self._client, f"place {self.name}"):
            place_base(self._client, self.body, *pose)
        for track in self.tracks.values():
            track.seat()

    def set_ground(self, terrains: Sequence[Terrain]) -> None:
        """Tell belts that PyBullet does not move, a link chain's, what ground there is."""
        self._belts.set_ground(terrains)

    def forget_contacts(self) -> None:
        """Let Bullet drop what it keeps of this robot's contacts; to be called before a state is restored.

        A saved state holds contact points, but not the order of contacts between the parts of two
        links, on which what the solver finds depends. New contacts always come in one order.
        """
        for body in self._bodies:
            place_base(self._client, body, (0.0, 0.0, _FAR * (1 + body)), (0.0, 0.0, 0.0, 1.0))
        pybullet.performCollisionDetection(physicsClientId=self._client)

    def snapshot(self) -> dict[str, Any]:
        """What PyBullet's saved state does not hold: commands and accounts."""
        with needing(self._client, f"save {self.name}"):
            readings = self._restored if self._restored is not None else self._belts.read()
        return {
            "readings": readings,
            "tracks": {name: track.snapshot() for name, track in self.tracks.items()},
            "flippers": {name: flipper.snapshot() for name, flipper in self.flippers.items()},
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go back to a snapshot, together with PyBullet's own state."""
        # PyBullet's saved state lacks the motors' forces of the last step.
        self._restored = snapshot["readings"]
        for name, values in snapshot["tracks"].items():
            self.tracks[name].restore(values)
        for name, command in snapshot["flippers"].items():
            self.flippers[name].restore(command)

    def _flipper(self, name: str) -> FlipperJoint:
        if name not in self.flippers:
            raise UnknownNameError(f"flipper of {self.name}", name, self.flippers)
        return self.flippers[name]

    def all_links(self) -> list[tuple[int, int]]:
        """PyBullet's body and link number of each of its links."""
        return [
            (b, n)
            for b in self._bodies
            for n in range(-1, pybullet.getNumJoints(b, physicsClientId=self._client))
        ]

    @property
    def moving_joints(self) -> dict[int, list[int]]:
        """PyBullet's numbers of the joints that can move, by body."""
        client, joints = self._client, dict[int, list[int]]()
        for body in self._bodies:
            count = pybullet.getNumJoints(body, physicsClientId=client)
            kinds = [pybullet.getJointInfo(body, j, physicsClientId=client)[2] for j in range(count)]
            joints[body] = [j for j, kind in enumerate(kinds) if kind in _MOVING]
        return joints

    def _carried(self, flipper: str) -> list[Track]:
        """The tracks that sit on a flipper."""
        return [track for track in self.tracks.values() if track.belt.jointed.mounted.flipper == flipper]

    def _gauge(self, side: str) -> float:
        """Mean y of a side's tracks on the body, or of its flippers if there are none [m]."""
        tracks = [t for t in self.description.mounted_tracks() if t.side == side]
        tracks = [t for t in tracks if t.flipper is None] or tracks
        return sum(t.y for t in tracks) / len(tracks) if tracks else 0.0


def attach(
    client: Any,
    vehicle: str | Path | VehicleDescription,
    *,
    track_model: str = "segments",
    position: Sequence[float] = (0.0, 0.0, 0.0),
    orientation: Sequence[float] = (0.0, 0.0, 0.0, 1.0),
    flippers: Mapping[str, float] | None = None,
    terrain: Sequence[Terrain] = (),
) -> Robot:
    """Add a vehicle to a running PyBullet program, which keeps its own loop and settings.

    The program calls `robot.before_step()` before each `stepSimulation()`. Solver settings
    that the numbers in the README hold for are set by `segtrack.configure(client)`.

    Args:
        client: A `BulletClient`, a client number, or the module `pybullet`.
        vehicle: Bundled name, path of a vehicle file, or a description.
        track_model: How tracks are built: segments, smooth, wheels:N, plates or chain.
        position: Of the body frame in the world (3,) [m].
        orientation: Of the body frame in the world, quaternion (x, y, z, w).
        flippers: Angles to start at, by name [rad]; 0 if not given.
        terrain: What shoes of a link chain stand on; PyBullet's own bodies they do not touch.

    Returns:
        The robot.

    Raises:
        DisconnectedError: The client is not connected.
        UnknownNameError: No such vehicle, track model or flipper.
        VehicleFileError: The vehicle file has mistakes.
        InvalidValueError: Not a client, or a number that is not finite.
    """
    description = vehicle if isinstance(vehicle, VehicleDescription) else load_vehicle(vehicle)
    number = client_id(client, f"attach {description.name}")
    pose = _pose(position, orientation)
    if flippers is not None and not isinstance(flippers, Mapping):
        raise InvalidValueError("flippers", "angles by name", flippers)
    for name, angle in (flippers or {}).items():
        if name not in description.flippers:
            raise UnknownNameError(f"flipper of {description.name}", name, description.flippers)
        finite(_ANGLE.format(name), angle)
    robot = Robot(number, description, track_model, *pose, flippers or {})
    robot.set_ground(terrain)
    return robot


def _pose(
    position: Sequence[float], orientation: Sequence[float]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Position (3,) [m] and unit quaternion (x, y, z, w)."""
    quaternion = finite_vector("orientation", orientation, 4)
    norm = math.hypot(*quaternion)
    if norm == 0:
        raise InvalidValueError("orientation", "a quaternion (x, y, z, w) of some length", orientation)
    return finite_vector("position [m]", position, 3), tuple(value / norm for value in quaternion)
