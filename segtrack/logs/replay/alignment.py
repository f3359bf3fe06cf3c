"""A log put into its terrain's frame: x, y and yaw at the event of its touching or meeting an obstacle."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from segtrack.description import (
    BoxShape,
    CylinderShape,
    GrouserShape,
    MeshShape,
    PlacedTrack,
    TrackSpec,
    TrapezoidShape,
    VehicleDescription,
    body_points,
    place_tracks,
)
from segtrack.errors import InvalidValueError, LogFileError, Phrase, UnknownNameError
from segtrack.geometry import normal_of, tangent_of
from segtrack.logs.mapping import RestPose, Rise, stand
from segtrack.logs.replay.path import AVERAGED, Belts, Place, Shift, belts_of, logged_path, way_of
from segtrack.logs.replay.settings import ReplayScene, ReplaySettings
from segtrack.logs.statistics import noise_of
from segtrack.robot import Motion

_SPACING = 0.0005
"""Distance of the points by which a belt is drawn [m]."""
_ON_GROUSERS = 0.002
"""Largest distance of the points by which a grouser is drawn [m]."""
_PHASES = 48
"""Number of equally likely phases of the grousers."""


class Touch(NamedTuple):
    """A vehicle at its first touch.

    Attributes:
        x: Place of the body frame's origin in the world, as a mean over all phases of the grousers [m].
        std: Standard deviation of that for an unknown phase [m].
    """

    x: float
    std: float


def first_touch(vehicle: VehicleDescription, flippers: Mapping[str, float], obstacle: Rise) -> Touch | None:
    """Roll a vehicle up to an obstacle, without slip, on level ground, at each phase of its grousers.

    Args:
        vehicle: Vehicle that rolls.
        flippers: Angles by name [rad]; 0 if not given.
        obstacle: Obstacle ahead.

    Returns:
        None if nothing of the vehicle is low enough to touch it.
    """
    stance = stand(vehicle, flippers)
    first = Touch(obstacle.distance(stance.place(body_points(vehicle))), 0.0)
    tracks = [_TrackAhead(track, stance, obstacle) for track in place_tracks(vehicle, flippers)]
    for track in sorted(tracks, key=lambda track: track.least):
        if track.least < first.x:
            first = min(first, track.touch())
    return first if math.isfinite(first.x) else None


class _TrackAhead:
    """A track that comes to an obstacle, `least` [m] away if there were grousers everywhere."""

    def __init__(self, track: PlacedTrack, stance: RestPose, obstacle: Rise) -> None:
        self._track, self._stance, self._obstacle = track, stance, obstacle
        self._spec = track.mounted.spec
        path, grousers = self._spec.belt_path, self._spec.grousers
        along = np.linspace(0.0, path.perimeter, 2 + int(path.perimeter / _SPACING))
        faces, outwards = path.point(along), normal_of(path.heading(along))
        self._face = self._bound(faces)
        self.least = self._bound(faces + (grousers.height if grousers is not None else 0.0) * outwards)

    def _bound(self, points: Array) -> float:
        """Way of the body to the obstacle [m] for points of the track's plane (n, 2)."""
        return self._obstacle.distance(self._stance.place(self._track.frame.plane_points(points)))

    def touch(self) -> Touch:
        """Return the place of the body as the track touches."""
        if self._spec.grousers is None:
            return Touch(self._face, 0.0)
        step = self._spec.period / _PHASES
        grousers = _grousers(self._spec, step * np.arange(_PHASES))
        bounds = np.array([min(self._face, self._bound(points)) for points in grousers])
        # From just out of reach the body goes as far as the belt, until it is at the bound of that travel.
        ways = np.arange(_PHASES + 1)
        reached, touches = bounds.min() + step * ways, []
        for phase in range(_PHASES):
            ahead = bounds[(phase + ways) % _PHASES]
            at = int(np.argmax(reached >= ahead))
            touches.append(np.clip(ahead[at], reached[at] - step, reached[at]))
        return Touch(float(np.mean(touches)), float(np.std(touches)))


def _grousers(spec: TrackSpec, travels: NDArray[np.floating]) -> Array:
    """Points of all grousers in the track's plane at belt travels (m,) [m]: (m, n, 2) [m]."""
    assert spec.grousers is not None
    path, shapes = spec.belt_path, [_profile(shape) for shape in spec.grousers.shapes]
    at = np.array([footprint.coordinate for footprint in spec.footprints()]) + travels[:, None]
    places = path.point(at.ravel()).reshape(*at.shape, 1, 2)
    headings, points = path.heading(at.ravel()).reshape(at.shape), []
    for first, shape in enumerate(shapes):
        mine = np.s_[:, first :: len(shapes)]
        along, outwards = (axis(headings[mine])[:, :, None] for axis in (tangent_of, normal_of))
        own = places[mine] + shape[:, :1] * along + shape[:, 1:] * outwards
        points.append(own.reshape(len(travels), -1, 2))
    return np.concatenate(points, axis=1)


def _profile(shape: GrouserShape) -> Array:
    """Points along and above the belt on a grouser's outline (n, 2) [m]."""
    match shape.kind:
        case BoxShape(length=length, height=height):
            corners = np.array(
                [(-length / 2, 0), (-length / 2, height), (length / 2, height), (length / 2, 0)]
            )
        case TrapezoidShape(base=base, top=top, height=height):
            corners = np.array([(-base / 2, 0), (-top / 2, height), (top / 2, height), (base / 2, 0)])
        case CylinderShape(radius=radius):
            angles = np.linspace(-np.pi / 2, np.pi / 2, 13)
            corners = radius * np.stack([np.sin(angles), np.cos(angles)], axis=1)
        case MeshShape() as mesh:
            points = np.array(mesh.hull.vertices)[:, [0, 2]]
            corners = points[ConvexHull(points).vertices]
    sides = np.diff(corners, axis=0)
    counts = 1 + (np.linalg.norm(sides, axis=1) / _ON_GROUSERS).astype(int)
    return np.concatenate(
        [
            start + np.linspace(0.0, 1.0, count + 1)[:, None] * side
            for start, side, count in zip(corners, sides, counts, strict=False)
        ]
    )


RISE = math.radians(1.5)
"""Pitch above its baseline that is a climb, or `OF_LARGEST` of what the log reaches if that is less [rad]."""
OF_LARGEST = 0.3
LEAST_RISE = math.radians(1.0)
"""A log whose pitch rises by less shows no climb in it [rad]."""
NOISES = 6.0
"""A rise must be so many standard deviations of the noise."""
HELD = 0.6
"""A vehicle that moves over the ground at less than this fraction of its belts' way, after it kept up with
them, is held up."""
KEEPING_UP = 0.75
"""A vehicle that moves at more than this fraction of its belts' way keeps up with them."""
SUSTAINED = 0.25
"""Shortest duration of a change that is not noise [s]."""
BEFORE = 0.5
"""Least time before a change in which the traces' lines are found [s]."""
MODEL = 0.005
"""Standard deviation of where a vehicle is at the time that is found, without any noise: from what is seen of
climbs whose touch is known, see docs/topics/logs-replay.md [m]."""
_CHANGES = 50
"""Times at which a change is tried, and again between the neighbours of the best."""
_LEAST = 6
"""Samples that a trace must have: it has up to four unknowns."""
_EXACT = 1e-12
"""Variance of a trace without any noise [rad^2] or [m^2]."""
_SLOWEST = 0.02
"""Belt speed from which a distance is taken to be one in time [m/s]."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Onset:
    """Time at which a log first shows the touch.

    Attributes:
        time: On the log's clock [s].
        std: Its standard deviation: of the fit, and of what a touch looks like [s].
        shown_by: Signals that show it: `pitch`, `way`, or both.
    """

    time: float
    std: float
    shown_by: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Trace:
    """Values (n,) at times (n,) [s] that leave their line, which may slope, upwards at the touch."""

    name: str
    times: Array
    values: Array
    slopes: bool

    @property
    def noise(self) -> float:
        """Standard deviation of what is white of its noise, by second differences."""
        return noise_of(self.values)

    def cut(self, first: float, last: float) -> _Trace:
        """The part from one time to another."""
        inside = (self.times >= first) & (self.times <= last)
        return _Trace(self.name, self.times[inside], self.values[inside], self.slopes)

    def misfit(self, change: float) -> float:
        """Sum of squares of what a bend at a time [s] leaves."""
        since = np.maximum(self.times - change, 0.0)
        line = [np.ones(len(since))] + ([self.times - self.times[0]] if self.slopes else [])
        rises = [[since, since**2], [since], [since**2], []]
        for rise in rises:
            basis = np.stack([*line, *rise], axis=1)
            factors = np.linalg.lstsq(basis, self.values, rcond=None)[0]
            if (factors[len(line) :] >= 0.0).all():
                break
        return float(np.sum((self.values - basis @ factors) ** 2))


def find_onset(motion: Motion, belts: Belts, first: float, last: float) -> Onset | None:
    """Find when a vehicle that drove forwards met something.

    Args:
        motion: Motion with pitch, or with a position or velocity.
        belts: Its.
        first: Time from which it is looked for [s].
        last: Time up to which it is looked for [s].

    Returns:
        None if nothing shows it.
    """
    pitch, following = _pitch(motion, first, last), _following(motion, belts, first, last)
    seen = [_rise(pitch) if pitch is not None else None, _hold_up(following) if following else None]
    changes = [change for change in seen if change is not None]
    if not changes:
        return None
    early, late = min(changes, key=lambda change: change[1])
    traces = [trace.cut(early, late) for trace in (pitch, following and following.behind) if trace]
    traces = [trace for trace in traces if len(trace.times) >= _LEAST]
    if not traces:
        return None
    coarse = np.linspace(early + 0.2 * (late - early), late, _CHANGES)
    spacing = coarse[1] - coarse[0]
    best = coarse[np.argmin(_misfits(traces, coarse))]
    tried = np.unique(np.concatenate([coarse, np.linspace(best - spacing, best + spacing, _CHANGES)]))
    misfits = _misfits(traces, tried)
    likely = tried[misfits <= misfits.min() + 1.0]
    time, std = float(tried[np.argmin(misfits)]), float(np.ptp(likely) / 2 + spacing / _CHANGES)
    return Onset(time, math.hypot(std, MODEL / belt_speed(belts, time)), tuple(t.name for t in traces))


def _misfits(traces: Sequence[_Trace], changes: Array) -> Array:
    """Sums of squares of what bends at times (n,) [s] leave of all traces, each in its noise (n,)."""
    total = np.zeros(len(changes))
    for trace in traces:
        own = np.array([trace.misfit(change) for change in changes.tolist()])
        total += own / max(own.min() / (len(trace.times) - _LEAST + 1), trace.noise**2, _EXACT)
    return total


def _pitch(motion: Motion, first: float, last: float) -> _Trace | None:
    signal = motion.angle("pitch")
    if signal is None:
        return None
    trace = _Trace("pitch", signal.times, signal.values, slopes=False).cut(first, last)
    return trace if len(trace.times) >= _LEAST else None


def _rise(trace: _Trace) -> tuple[float, float] | None:
    """Time before pitch rises, and one at which it surely has [s]."""
    times, noise = trace.times, trace.noise
    begin = times <= times[0] + max(SUSTAINED, 0.05 * (times[-1] - times[0]))
    rise = trace.values - np.median(trace.values[begin])
    largest = float(np.quantile(rise, 0.99))
    level = max(NOISES * noise, min(RISE, OF_LARGEST * largest))
    if largest < max(LEAST_RISE, level):
        return None
    for at in np.flatnonzero(rise > level).tolist():
        while_ = rise[at : max(int(np.searchsorted(times, times[at] + SUSTAINED)), at + 2)]
        if np.mean(while_ > level) > 0.8:
            low = np.flatnonzero(rise[: at + 1] <= 0.1 * level + noise)
            left = float(times[low[-1]]) if len(low) else float(times[0])
            return left - max(BEFORE, float(times[at]) - left), float(times[at])
    return None


class _Following(NamedTuple):
    """A vehicle that follows its belts: times (n,) [s], belt travel and way over the ground (n,) [m]."""

    times: Array
    travel: Array
    way: Array

    @property
    def behind(self) -> _Trace:
        """Lag of the vehicle behind its belts [m]."""
        return _Trace("way", self.times, self.travel - self.way, slopes=True)


def _following(motion: Motion, belts: Belts, first: float, last: float) -> _Following | None:
    way = way_of(motion, belts)
    if way is None:
        return None
    inside = (way.times >= first) & (way.times <= last)
    times = way.times[inside]
    if len(times) < _LEAST:
        return None
    return _Following(times, np.interp(times, belts.times, belts.travel), way.way[inside])


def _hold_up(following: _Following) -> tuple[float, float] | None:
    """Time before a vehicle that kept up with its belts is held up, and one at which it surely is [s]."""
    times, before = following.times, following.times - SUSTAINED
    travel = following.travel - np.interp(before, times, following.travel)
    way = following.way - np.interp(before, times, following.way)
    moving = travel > 0.5 * np.quantile(travel, 0.9)
    kept_up = np.maximum.accumulate(moving & (way > KEEPING_UP * travel))
    for at in np.flatnonzero(kept_up & moving & (way < HELD * travel)).tolist():
        while_ = slice(at, int(np.searchsorted(times, times[at] + SUSTAINED)))
        if (way < KEEPING_UP * travel)[while_][moving[while_]].all():
            return float(times[at]) - 2 * BEFORE, float(times[at])
    return None


def belt_speed(belts: Belts, time: float) -> float:
    """Mean belt speed shortly before a time, and at least `_SLOWEST` [m/s]."""
    travel = np.interp([time - BEFORE, time], belts.times, belts.travel)
    return max(abs(float(travel[1] - travel[0])) / BEFORE, _SLOWEST)


SHORTEST = 0.5
"""A log of less belt motion than this is not replayed [s]."""
_PASSES = 3
"""Iterations that find the time of the touch and the flippers' angles then."""
_CHANGED = 0.02
"""Belts whose speed has changed by more than this no longer go on as they began [m/s]."""
_DRIFT = math.radians(5.0)
"""A log whose heading is further than this from where it goes is remarked on [rad]."""


@dataclass(frozen=True, eq=False)
class AlignedLog:
    """A log in its terrain's frame.

    Attributes:
        motion: The log; its positions, orientations and yaw are turned about z and shifted in x and y.
        begin: Time from which it is replayed, on its own clock [s].
        end: Time up to which it is replayed [s].
        start: Pose of the body frame at the beginning, in the world.
        event: Time of the first touch [s]; None where log and terrain were put together at the start.
        event_std: Standard deviation of that time [s]; 0 for one that was given.
        x_std: Standard deviation of the log's place along x: of the event's time, and of the unknown phase
            of the grousers [m]; 0 where nothing was moved, or without an event.
        shown_by: Signals that showed the event: `pitch`, `way` (over the ground, against the belts'),
            `position` (in the terrain's frame) or `given`; empty without an event.
        notes: Remarks, a sentence each.
    """

    motion: Motion
    begin: float
    end: float
    start: Place
    event: float | None = None
    event_std: float = 0.0
    x_std: float = 0.0
    shown_by: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def align(motion: Motion, settings: ReplaySettings) -> AlignedLog:
    """Put a log into its terrain's frame.

    At the first touch the vehicle's foremost point, with its flippers as they are then, is at the obstacle,
    and the vehicle is taken to look straight at it, in the middle. Without an event the log's first
    pose is put at the terrain's start. A log whose positions are relative to the terrain is not moved.

    Args:
        motion: The log.
        settings: Settings of the replay.

    Raises:
        SegtrackError: A file of the settings cannot be read or has mistakes.
        UnknownNameError: The log has a flipper that the vehicle lacks.
        InvalidValueError: The terrain has no rise where the first touch is asked for, the time that is given
            for it is outside the log, or a log without positions is said to be in the terrain's frame.
        LogFileError: The log has no belts or too little of them, or never shows the touch.
    """
    return align_in(motion, settings, settings.load())


def align_in(motion: Motion, settings: ReplaySettings, scene: ReplayScene) -> AlignedLog:
    """Put a log into its terrain's frame, as `align` does, with settings that are loaded."""
    return _Alignment(motion, settings, scene).aligned()


def flippers_at(
    motion: Motion, vehicle: VehicleDescription, otherwise: Mapping[str, float], time: float
) -> dict[str, float]:
    """Angle of every flipper at a time [rad]: as measured, as commanded, or as given otherwise, or 0."""
    angles = {}
    for name in vehicle.flippers:
        keys = (f"flipper_angle.{name}", f"flipper_angle_command.{name}")
        signal = next((motion.signals[key] for key in keys if key in motion.signals), None)
        angles[name] = float(signal.at(time)) if signal is not None else otherwise.get(name, 0.0)
    return angles


class _Alignment:
    """A log, its path in its own frame, and what it is to be put on."""

    def __init__(self, motion: Motion, settings: ReplaySettings, scene: ReplayScene) -> None:
        self.motion, self.settings, self.scene = motion, settings, scene
        for name in motion.flippers:
            if name not in scene.vehicle.flippers:
                raise UnknownNameError(f"flipper of {scene.vehicle.name}", name, scene.vehicle.flippers)
        belts = belts_of(motion)
        if belts is None:
            needed = "belt_speed.left and belt_speed.right, or their commands, at the same time"
            raise LogFileError(motion.name, f"has no belts to drive by: it takes {needed}")
        self.belts = belts
        self.in_place = settings.frame == "terrain"
        if self.in_place and "position" not in motion.signals:
            raise InvalidValueError("frame", "log where the log has no positions", settings.frame)
        self.begin, self.end = self._span()
        self.path = logged_path(motion, belts, scene.vehicle)

    def _span(self) -> tuple[float, float]:
        """Times between which the belts move, and where the vehicle is is known [s]."""
        begin, end = float(self.belts.times[0]), float(self.belts.times[-1])
        position = self.motion.signals.get("position")
        if position is not None:
            begin = max(begin, float(position.times[0]))
        if end - begin < SHORTEST:
            known = "belts" if position is None else "belts and positions"
            there = f"it has {max(end - begin, 0.0):.3g} s of {known}"
            raise LogFileError(self.motion.name, f"is too short: {there}, {SHORTEST:g} s are needed")
        return begin, end

    def aligned(self) -> AlignedLog:
        """The log in its terrain's frame."""
        event, terrain = self.settings.event, self.scene.terrain
        if event == "start" or (event is None and terrain.obstacle is None):
            return self._at_start()
        if terrain.obstacle is None:
            what = "terrain of a log that is aligned at its first touch"
            raise InvalidValueError(what, "one that rises", Phrase(f"level ground, {terrain.name}"))
        onset = self._onset()
        if self.in_place:
            return self._moved(Shift(), onset, 0.0)
        touch = self._touch(onset.time)
        here = self.path.near(onset.time, max(onset.time - AVERAGED, self.begin), onset.time)
        x_std = math.hypot(touch.std, belt_speed(self.belts, onset.time) * onset.std)
        return self._moved(Shift.between(here, Place(touch.x, terrain.start.y, 0.0)), onset, x_std)

    def _at_start(self) -> AlignedLog:
        if self.in_place:
            return self._moved(Shift(), None, 0.0)
        start = self.scene.terrain.start
        here = self.path.near(self.begin, self.begin, self._steady())
        return self._moved(Shift.between(here, Place(start.x, start.y, start.yaw)), None, 0.0)

    def _steady(self) -> float:
        """Time until which the belts go on as they begin [s]."""
        speeds = self.belts.speeds[self.belts.times >= self.begin]
        changed = np.abs(speeds - speeds[0]).max(axis=1) > _CHANGED
        until = self.belts.times[self.belts.times >= self.begin][np.argmax(changed) if changed.any() else -1]
        return float(min(until, self.begin + AVERAGED))

    def _moved(self, shift: Shift, onset: Onset | None, x_std: float) -> AlignedLog:
        return AlignedLog(
            motion=shift.moved(self.motion),
            begin=self.begin,
            end=self.end,
            start=shift.of(self.path.near(self.begin, self.begin, self._steady())),
            event=None if onset is None else onset.time,
            event_std=0.0 if onset is None else onset.std,
            x_std=x_std,
            shown_by=() if onset is None else onset.shown_by,
            notes=tuple(self._notes(onset)),
        )

    def _notes(self, onset: Onset | None) -> Iterator[str]:
        if onset is not None and onset.shown_by == ("way",):
            yield "the first touch is known by its way alone, which shows a touch late if it holds up little"
        way = way_of(self.motion, self.belts)
        if way is not None and self.motion.angle("yaw") is not None:
            drift = math.remainder(way.drift, 2 * math.pi)
            if abs(drift) > _DRIFT:
                yield (
                    f"it goes {math.degrees(drift):.0f} deg to the left of its heading: "
                    "the frames of its positions and of its heading may differ"
                )

    def _onset(self) -> Onset:
        """Time at which the log shows the first touch."""
        event, begin, end = self.settings.event, self.begin, self.end
        if event is not None and not isinstance(event, str):
            if not begin <= event <= end:
                raise InvalidValueError("event [s]", f"within the log, from {begin:g} to {end:g}", event)
            return Onset(float(event), 0.0, ("given",))
        if self.in_place:
            return self._arrival()
        onset = find_onset(self.motion, self.belts, begin, end)
        if onset is not None:
            return onset
        seen = []
        if self.motion.angle("pitch") is not None:
            seen.append("its pitch does not rise")
        if way_of(self.motion, self.belts) is not None:
            seen.append("it does not fall behind its belts")
        reason = " and ".join(seen) or "it has neither pitch nor position nor velocity"
        problem = f"shows no first touch: {reason}; give its time as the event, or start"
        raise LogFileError(self.motion.name, problem)

    def _arrival(self) -> Onset:
        """Time at which the vehicle gets to the obstacle, by positions in the terrain's frame."""
        place, time = self.path.place, self.begin
        inside = (place.times >= self.begin) & (place.times <= self.end)
        times, x = place.times[inside], place.values[inside, 0]
        for _ in range(_PASSES):
            touch = self._touch(time)
            there = np.flatnonzero(x >= touch.x)
            if not len(there):
                far = f"its body gets to x = {x.max():.3g} m, and is at {touch.x:.3g} m as it touches"
                raise LogFileError(self.motion.name, f"never reaches {self.scene.terrain.name}: {far}")
            around = slice(max(int(there[0]) - 1, 0), int(there[0]) + 1)
            time = float(np.interp(touch.x, x[around], times[around]))
        return Onset(time, touch.std / belt_speed(self.belts, time), ("position",))

    def _touch(self, time: float) -> Touch:
        """Pose of the vehicle as it touches the obstacle, with its flippers as they are at a time [s]."""
        obstacle, vehicle = self.scene.terrain.obstacle, self.scene.vehicle
        assert obstacle is not None
        angles = flippers_at(self.motion, vehicle, self.settings.flippers, time)
        touch = first_touch(vehicle, angles, obstacle)
        if touch is None:
            got = Phrase(f"a rise of {obstacle.height:.3g} m")
            raise InvalidValueError(f"terrain for {vehicle.name}", "one that it touches as it comes", got)
        return touch
