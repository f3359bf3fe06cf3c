"""Start of a replay, at rest at the log's first pose or rolling through it, and its check against the log."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from segtrack.courses import Wall, Zone
from segtrack.description import VehicleDescription
from segtrack.errors import SegtrackError
from segtrack.geometry import rpy_of
from segtrack.logs.mapping import LoadedTerrain, stand
from segtrack.logs.replay.alignment import AlignedLog, flippers_at
from segtrack.logs.replay.path import Place, Shift, first_speeds, odometry_arc
from segtrack.logs.replay.settings import ReplayScene, ReplaySettings
from segtrack.logs.statistics import noise_of
from segtrack.robot import CONSTANT, Robot, RobotState, Signal
from segtrack.world import World, height_of

ROLLING = 0.02
"""A log whose belts are faster than this when it begins is one that begins in motion [m/s]."""
_ACCELERATION = 1.0
"""Acceleration of belts to their first speed before a log that begins in motion [m/s^2]."""
_RUN_UP = 0.3
"""Time for which they hold it before the log begins, besides three times the lag of their drives [s]."""


class RunUp(NamedTuple):
    """Run-up of a log that begins in motion.

    Attributes:
        place: Pose at which it begins, for belts that do not slip.
        ramp: Time in which the belts get to their speeds [s].
        hold: Time for which they hold them [s].
    """

    place: Place
    ramp: float
    hold: float


def place_vehicle(
    world: World,
    scene: ReplayScene,
    vehicle: VehicleDescription,
    start: Place,
    flippers: Mapping[str, float],
) -> Robot:
    """Build a scene's terrain in an empty world, and put a vehicle just above it.

    Args:
        world: The world.
        scene: Terrain, and track model.
        vehicle: The scene's, or a variant of it.
        start: Pose of the body frame.
        flippers: Angles by name [rad].
    """
    for terrain in scene.terrain.terrains:
        world.add_terrain(terrain)
    return world.add_vehicle(
        vehicle, track_model=scene.track_model, position=start[:2], yaw=start.yaw, flippers=flippers
    )


def run_up(
    vehicle: VehicleDescription, flippers: Mapping[str, float], start: Place, speeds: Sequence[float]
) -> RunUp | None:
    """The run-up through a pose, flippers at angles [rad], belts at speeds, left and right [m/s].

    None for belts that stand.
    """
    fastest = max(map(abs, speeds))
    if fastest <= ROLLING:
        return None
    ramp = fastest / _ACCELERATION
    hold = _RUN_UP + 3 * max(track.spec.drive.lag for track in vehicle.mounted_tracks())
    behind = odometry_arc(vehicle, flippers, speeds, ramp / 2 + hold)
    return RunUp(Shift.between(behind, start).of(Place(0.0, 0.0, 0.0)), ramp, hold)


def bring_to_start(world: World, robot: Robot, start: Place, speeds: Sequence[float]) -> None:
    """Let a robot settle at a place, or roll to it, so that its belts have their speeds there [m/s]."""
    world.settle()
    flippers = {name: flipper.angle for name, flipper in robot.flippers.items()}
    rolling = run_up(robot.description, flippers, start, speeds)
    if rolling is None:
        return
    place, ramp, hold = rolling
    at_rest = world.save()
    for _ in range(2):
        world.restore(at_rest)
        world.place_on_terrain(robot, *place)
        world.settle()
        steps = round(ramp / world.time_step)
        for k in range(steps + 1):
            left, right = (speed * min((k + 1) / max(steps, 1), 1.0) for speed in speeds)
            robot.set_belt_speed(left, right)
            world.run(world.time_step if k < steps else hold)
        state = robot.state
        # The second time it begins as much farther as it fell short of its start by slip.
        reached = Place(state.position[0], state.position[1], state.yaw)
        place = Shift.between(reached, start).of(place)
    world.remove_snapshot(at_rest)


_SAMPLES = 41
"""Places along each side of a vehicle at which the ground under it is looked at."""
_END = _SAMPLES // 3
"""So many of them are an end or a side."""
_LINE = 1e-3
"""Width of the line along which walls are looked for between a vehicle and its obstacle [m]."""

Array = NDArray[np.float64]


class StandingPlace:
    """Box around an upright vehicle at a place of a terrain.

    Attributes:
        place: Pose of the body frame.
        low: Smallest corner of the box in the body frame (3,) [m].
        high: Largest corner likewise.
        terrain: Ground and walls.
        face: World x of the obstacle that it drives at along +x [m]; infinite without one.
    """

    def __init__(self, place: Place, low: Array, high: Array, terrain: LoadedTerrain, face: float) -> None:
        """Take a box at a place."""
        self.place, self.low, self.high, self.terrain, self.face = place, low, high, terrain, face

    @property
    def size(self) -> Array:
        """Extents along the body's axes (3,) [m]."""
        return self.high - self.low

    @cached_property
    def _points(self) -> tuple[Array, Array]:
        """World x and y, rows from the rear to the front, columns from the right to the left [m]."""
        along, across = (np.linspace(self.low[i], self.high[i], _SAMPLES) for i in (0, 1))
        return self._in_world(*np.meshgrid(along, across, indexing="ij"))

    def _in_world(self, along: Array, across: Array) -> tuple[Array, Array]:
        cosine, sine = math.cos(self.place.yaw), math.sin(self.place.yaw)
        x = self.place.x + cosine * along - sine * across
        return x, self.place.y + sine * along + cosine * across

    @cached_property
    def heights(self) -> Array:
        """Heights of the ground under it, walls left out, in rows from the rear to the front [m]."""
        return height_of(self.terrain.driven_on, *self._points)

    @property
    def ground(self) -> float:
        """Height of the highest ground under it before its obstacle, walls left out [m]."""
        middle = float(height_of(self.terrain.driven_on, self.place.x, self.place.y))
        return float(self.heights[self._points[0] < self.face].max(initial=middle))

    def walls_inside(self) -> Iterator[Wall]:
        """Yield the walls that it would be inside of if it stood on its ground."""
        x, y = self._in_world(*((self.low + self.high) / 2)[:2, None])
        length, width, height = self.size.tolist()
        space = Zone(
            float(x[0]), float(y[0]), self.place.yaw, length, width, self.ground, self.ground + height
        )
        return self._overlapping(space)

    def walls_ahead(self) -> Iterator[Wall]:
        """Yield the walls between its middle and its obstacle."""
        if not math.isfinite(self.face):
            return iter(())
        reach = max(self.face - self.place.x, _LINE)
        top = self.ground + float(self.size[2])
        line = Zone(self.place.x + reach / 2, self.place.y, 0.0, reach, _LINE, self.ground, top)
        return self._overlapping(line)

    def _overlapping(self, space: Zone) -> Iterator[Wall]:
        for wall in self.terrain.walls:
            own = Zone(wall.x, wall.y, wall.yaw, wall.length, wall.width, wall.bottom, wall.top)
            if space.overlaps(own):
                yield wall

    def without_walls(self) -> str | None:
        """Change of the terrain that frees it of walls that it is inside of or behind; None without any.

        Walls beside it come first: where these are too near, those at the ends of its lane are, too.
        """
        walls = [*self.walls_inside(), *self.walls_ahead()]
        if not walls:
            return None
        corners = [self._corners(wall) for wall in walls]
        beside = [np.abs(across).min() for along, across in corners if np.ptp(along) > np.ptp(across)]
        if beside:
            takes = max(abs(self.low[1]), abs(self.high[1]))
            near = f"a wall is {min(beside):.2f} m beside the vehicle's middle, which takes {takes:.2f} m"
            return f"widen the lane: {near}"
        along = corners[0][0]
        if along.mean() < 0 or math.isfinite(self.face):
            by = f"{along.max() - self.low[0]:.2f} m"
            return (
                f"lengthen the terrain by {by} behind the start, as a wall ends it so far before the "
                "vehicle's rear (or leave that wall out: `walls: {start: false}`)"
            )
        return f"move the wall into which the vehicle's front reaches by {self.high[0] - along.min():.2f} m"

    def _corners(self, wall: Wall) -> tuple[Array, Array]:
        """Distances ahead and to the left of the body frame of the corners of a wall (4,) [m]."""
        signs = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]]) / 2
        along, across = (signs * [wall.length, wall.width]).T
        turn, back = complex(math.cos(wall.yaw), math.sin(wall.yaw)), -self.place.yaw
        corners = turn * (along + 1j * across) + complex(wall.x - self.place.x, wall.y - self.place.y)
        corners = corners * complex(math.cos(back), math.sin(back))
        return corners.real, corners.imag

    def unevenness(self) -> str:
        """Largest difference of the ground under it from that under its middle, in words."""
        middle = float(np.median(self.heights))
        ends = {
            "rear": self.heights[:_END],
            "front": self.heights[-_END:],
            "right": self.heights[:, :_END],
            "left": self.heights[:, -_END:],
        }
        apart = {
            name: max(float(part.max()) - middle, float(part.min()) - middle, key=abs)
            for name, part in ends.items()
        }
        end = max(apart, key=lambda name: abs(apart[name]))
        side = "above" if apart[end] > 0 else "below"
        return f"under its {end} the ground is {abs(apart[end]):.2f} m {side} that under its middle"


TILTED = math.radians(3.0)
"""Difference of pitch or roll that no sensor explains [rad], besides what grousers under one end alone tilt
a vehicle by, and the noise of the log."""
LIFTED = 0.03
"""Difference of height or place that no contact explains [m], besides the height of the grousers."""
_AT_FIRST = 0.3
"""Time from the log's beginning in which its pose is taken [s]."""
_NOISES, _NOISES_OF_ONE = 2.0, 4.0
"""Standard deviations of the log's samples by which its pose may be off: the median of four or more in that
time, and a single one."""


class StartPoseError(SegtrackError):
    """A vehicle that does not stand on its terrain as its log says where that begins."""

    def __init__(self, log: str, place: str, findings: Sequence[str], remedies: Sequence[str]) -> None:
        """Say where which log begins, what was expected and found there, and what would mend it."""
        self.log, self.place = log, place
        self.findings, self.remedies = tuple(findings), tuple(remedies)
        found, mends = "; ".join(self.findings), "; or ".join(self.remedies)
        super().__init__(f"{log}: the vehicle does not stand as logged {place}: {found}. To mend it: {mends}")


def check_start(log: AlignedLog, settings: ReplaySettings, scene: ReplayScene) -> None:
    """Refuse a log at whose beginning the vehicle cannot stand on its terrain as logged.

    If it rolls there, the place where its run-up begins is checked, too. A fixed body is never refused.

    Args:
        log: Log in the terrain's frame.
        settings: Settings of the replay.
        scene: Vehicle, terrain and engine of the settings.

    Raises:
        StartPoseError: It is inside or behind a wall, stands on something, hangs in the air or is tilted.
        DivergedError: It cannot be brought to rest.
    """
    if scene.vehicle.body.fixed:
        return
    flippers = flippers_at(log.motion, scene.vehicle, settings.flippers, log.begin)
    rolling = run_up(scene.vehicle, flippers, log.start, first_speeds(log.motion, log.begin))
    _check_at(log, settings, scene, flippers, log.start, "where it begins")
    if rolling is not None:
        _check_at(log, settings, scene, flippers, rolling.place, "where its run-up begins")


def _check_at(
    log: AlignedLog,
    settings: ReplaySettings,
    scene: ReplayScene,
    flippers: Mapping[str, float],
    place: Place,
    words: str,
) -> None:
    x, y, yaw = (round(value, 2) + 0.0 for value in (place.x, place.y, math.degrees(place.yaw)))
    at = f"x = {x:.2f} m, y = {y:.2f} m, yaw = {yaw:.0f} deg"
    where = f"{words} on {scene.terrain.name}, at {at}"
    with World(engine=scene.engine, time_step=settings.time_step, resettable=False) as world:
        robot = place_vehicle(world, scene, scene.vehicle, place, flippers)
        robot.reset_base_pose((0.0, 0.0, 0.0))
        low, high = map(np.array, robot.bounds())
        world.place_on_terrain(robot, *place)
        world.settle()
        meets = scene.terrain.obstacle if log.event is not None else None
        face = meets.x if meets is not None else math.inf
        standing = StandingPlace(place, low, high, scene.terrain, face)
        found = _Standing(log, settings, scene, flippers, standing, robot.state)
        findings = list(found.findings())
        if findings:
            raise StartPoseError(log.motion.name, where, findings, list(found.remedies()))


class _Logged(NamedTuple):
    """A quantity in a log's first moments: its median, and by how much that may be off."""

    value: float
    margin: float

    @classmethod
    def of(cls, signal: Signal, begin: float) -> _Logged:
        """The quantity of a signal of one column, from a time on [s]."""
        values = signal.values[(signal.times >= begin) & (signal.times <= begin + _AT_FIRST)]
        if not len(values):
            values = np.atleast_1d(signal.at(begin))
        known = signal.std
        if known is None and len(values) < (_NOISES_OF_ONE / _NOISES) ** 2:
            known = noise_of(signal.values)
        noises = max(_NOISES, _NOISES_OF_ONE / math.sqrt(len(values)))
        return cls(float(np.median(values)), noises * max(float(np.std(values)), known or 0.0))


class _Standing:
    """A vehicle that has settled where it was put, and what the log says of it."""

    def __init__(
        self,
        log: AlignedLog,
        settings: ReplaySettings,
        scene: ReplayScene,
        flippers: Mapping[str, float],
        place: StandingPlace,
        state: RobotState,
    ) -> None:
        self._log, self._place, self._state = log, place, state
        self._in_place = settings.frame == "terrain"
        known = {*log.motion.flippers, *settings.flippers}
        self._unknown = [name for name in scene.vehicle.flippers if name not in known]
        self._rest = stand(scene.vehicle, flippers)
        self._turned = stand(scene.vehicle, {name: -angle for name, angle in flippers.items()})
        shapes = [track.spec.grousers for track in scene.vehicle.mounted_tracks()]
        self._grousers = max((shape.height for shape in shapes if shape is not None), default=0.0)
        self._level = float(np.ptp(place.heights)) <= self._grousers

    def findings(self) -> Iterator[str]:
        """Yield what contradicts the log or the ground."""
        yield from self._tilts().values()
        yield from self._height()
        moved = math.dist(self._state.position[:2], self._place.place[:2])
        if moved > LIFTED + 2 * self._grousers:
            yield f"it slides by {moved:.2f} m before it is at rest"
        if any(self._place.walls_ahead()):
            yield "a wall is between it and its obstacle"

    def _tilts(self) -> dict[str, str]:
        """What contradicts the log or the ground of pitch and roll."""
        length, width = self._place.size[:2].tolist()
        pitch = self._tilt("pitch", self._state.pitch, self._rest.pitch, length)
        roll = self._tilt("roll", self._state.roll, 0.0, width)
        return {name: found for name, each in (("pitch", pitch), ("roll", roll)) for found in each}

    def _tilt(self, name: str, got: float, on_level: float, base: float) -> Iterator[str]:
        """Yield a difference of pitch or roll, for a base on which it stands [m]."""
        signal = self._log.motion.angle(name)
        if signal is not None:
            (expected, margin), source = _Logged.of(signal, self._log.begin), "as logged"
        elif self._level:
            expected, margin, source = on_level, 0.0, "as its ground is level"
        else:
            return
        reach = TILTED + math.atan2(self._grousers, base) + margin
        if abs(math.remainder(got - expected, 2 * math.pi)) > reach:
            bounds = f"{_degrees(expected)} +- {_degrees(reach)} deg"
            yield f"its {name} must be {bounds} {source}, got {_degrees(got)} deg at rest"

    def _height(self) -> Iterator[str]:
        reach = LIFTED + self._grousers
        above = self._state.position[2] - self._rest.height - self._place.ground
        if above > reach:
            yield f"it stands on something {above:.2f} m above its ground"
        position = self._log.motion.signals.get("position")
        # Positions in the plane have one height, which is none.
        at_start = self._place.place == self._log.start
        if not self._in_place or not at_start or position is None or np.ptp(position.values[:, 2]) == 0:
            return
        heights = replace(position, values=position.values[:, 2])
        expected, margin = _Logged.of(heights, self._log.begin)
        off = expected - self._state.position[2]
        if abs(off) > reach + margin:
            how = "hangs in the air" if off > 0 else "is inside the ground"
            rest = f"where it is at rest at {self._state.position[2]:.2f} m"
            yield f"it {how} by {abs(off):.2f} m: its height must be {expected:.2f} m as logged, {rest}"

    def remedies(self) -> Iterator[str]:
        """Yield what in the terrain, the log or the mapping would mend it."""
        without_walls = self._place.without_walls()
        if without_walls is not None:
            yield without_walls
        elif not self._level:
            yield f"correct the terrain: {self._place.unevenness()}"
        else:
            yield from self._on_level_ground()
        yield "let the log begin elsewhere (`start` in the mapping) or correct its `event`"

    def _on_level_ground(self) -> Iterator[str]:
        if self._unknown:
            yield f"give the angles of flippers of which the log has none: {', '.join(self._unknown)}"
        if all(self._log.motion.angle(name) is None for name in self._tilts()):
            return
        if (pitch := self._log.motion.angle("pitch")) is not None:
            logged, turned = _Logged.of(pitch, self._log.begin).value, self._turned.pitch
            if abs(turned - logged) < TILTED < abs(self._rest.pitch - logged):
                line = "`positive` in the mapping's flipper_angle"
                yield f"turn the sign of the flippers that it stands on ({line}): then {_degrees(turned)} deg"
        rpy = self._mounting()
        if rpy is None:
            yield "make the terrain slope: the ground is level"
        else:
            line = f"rpy: [{', '.join(f'{angle + 0.0:.4f}' for angle in rpy)}]"
            yield f"make the terrain slope, or turn the sensor: the ground is level, and `{line}` would fit"

    def _mounting(self) -> tuple[float, float, float] | None:
        """Roll, pitch and yaw of the attitude's sensor by which the vehicle stands as logged [rad].

        The log has the body's orientation as W q inv(M), for a sensor that is turned by M. Another one of
        the same heading, B, takes the sensor to be turned by inv(B) W q.
        """
        signals = self._log.motion.signals
        angles = [signals.get(name) for name in ("roll", "pitch", "yaw")]
        if "orientation" in signals and angles[:2] == [None, None]:
            rpy = signals["orientation"].sensor_rpy
        else:
            found = [angle for angle in angles if angle is not None and angle.source != CONSTANT]
            if len(found) < len(angles) or len({angle.source for angle in found}) > 1:
                return None
            rpy = found[0].sensor_rpy
        roll, pitch = (
            _Logged.of(angle, self._log.begin).value
            for angle in map(self._log.motion.angle, ("roll", "pitch"))
            if angle is not None
        )
        mapped = Rotation.from_euler("ZYX", rpy[::-1])
        logged = Rotation.from_euler("ZYX", [0.0, -pitch, roll])
        stands = Rotation.from_euler("ZYX", [0.0, -self._state.pitch, self._state.roll])
        return rpy_of((stands.inv() * logged * mapped).as_matrix())


def _degrees(angle: float) -> str:
    return f"{round(math.degrees(angle), 1) + 0.0:.1f}"
