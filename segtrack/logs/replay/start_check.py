"""Check of a replay's start: the vehicle at rest on its terrain, against the log's first pose.

A wall under its tail, an obstacle under its nose or a lane that is too narrow would else be driven from, and
count as an error of the simulation. The vehicle is put at the start as a replay does, settles, and its
pitch, roll and height are compared with what the log says of its first moments, and with what the ground
allows. Terrain and log then say what would mend it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from segtrack.errors import SegtrackError
from segtrack.geometry import rpy_of
from segtrack.logs.noise import noise_of
from segtrack.logs.replay.alignment import AlignedLog, flippers_at
from segtrack.logs.replay.path import Place, first_speeds
from segtrack.logs.replay.settings import ReplayScene, ReplaySettings
from segtrack.logs.replay.standing_place import StandingPlace
from segtrack.logs.replay.start import place_vehicle, run_up
from segtrack.logs.replay.touch import stand
from segtrack.robot import CONSTANT, RobotState, Signal
from segtrack.world import World

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
    """Refuse a log whose vehicle does not stand on its terrain as it says where it begins.

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
